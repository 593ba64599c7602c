//! Whole stacks with their names.

use super::kernel_symbols::{kernel_names, until_switch};
use super::process_symbols::{FunctionName, ProcessSymbols};
use crate::trace::capture::{KeptStack, StackTable};
use blazesym::symbolize::Symbolizer;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;

/// What the kernel does where its functions are a secret.
const SECRET: &str = "[kernel]";

/// A stack with its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedStack {
    /// The outermost first. Functions of the kernel end in `_[k]`; what has no name is
    /// `[FILE]+0xOFFSET`, `[unknown]` or `[kernel]`.
    pub frames: Vec<String>,
    /// Whether all of them have names.
    pub is_named: bool,
}

impl NamedStack {
    /// The frames of a thread that left its CPU: what follows them is the tracer.
    pub fn until_switch(&self) -> &[String] {
        until_switch(&self.frames)
    }
}

/// The names of stacks, by their numbers.
#[derive(Debug, Default)]
pub struct StackNames(FxHashMap<u64, NamedStack>);

impl StackNames {
    /// Finds the names of stacks while the processes are still there that had them. Those of a
    /// process that has ended are looked for in `server`, which has started it. Takes as long as
    /// it takes to read the symbols of the server's program.
    pub fn find(table: &StackTable, server: u32) -> Self {
        let mut names = Self::default();
        let mut kernel = Vec::new();
        let mut processes = BTreeMap::<u32, Vec<&KeptStack>>::new();
        for stack in &table.stacks {
            match stack.addresses.first() {
                Some(first) if *first >= KERNEL => kernel.push(stack),
                _ => processes.entry(stack.process).or_default().push(stack),
            }
        }
        names.add_kernel(&kernel);
        let mut ended = processes.remove(&server).unwrap_or_default();
        for (process, stacks) in processes {
            match ProcessSymbols::of(process) {
                Some(symbols) => names.add(&stacks, |addresses| symbols.names(addresses)),
                None => ended.extend(stacks),
            }
        }
        if let Some(symbols) = ProcessSymbols::of(server) {
            names.add(&ended, |addresses| symbols.names(addresses));
        }
        names
    }

    /// The names of a stack; `None`: it has none, or the process was gone.
    pub fn get(&self, number: u64) -> Option<&NamedStack> {
        self.0.get(&number)
    }

    fn add_kernel(&mut self, stacks: &[&KeptStack]) {
        let symbolizer = Symbolizer::new();
        self.add(stacks, |addresses| {
            let name = |name: Option<String>| {
                let is_known = name.is_some();
                FunctionName { name: name.unwrap_or_else(|| SECRET.to_owned()), is_known }
            };
            kernel_names(&symbolizer, addresses).into_iter().map(name).collect()
        });
        for stack in stacks {
            let Some(named) = self.0.get_mut(&stack.number) else { continue };
            // One name for all of them is enough.
            named.frames.dedup_by(|one, other| one == SECRET && one == other);
        }
    }

    /// Adds stacks, each address of which is looked up once.
    fn add(&mut self, stacks: &[&KeptStack], names: impl Fn(&[u64]) -> Vec<FunctionName>) {
        let mut addresses: Vec<u64> = stacks.iter().flat_map(|stack| places(stack)).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let found = names(&addresses);
        let name = |place: u64| addresses.binary_search(&place).ok().and_then(|at| found.get(at));
        for stack in stacks {
            let functions = places(stack).filter_map(name);
            let is_named = functions.clone().all(|function| function.is_known);
            let mut frames: Vec<_> = functions.map(|function| function.name.clone()).collect();
            frames.reverse();
            self.0.insert(stack.number, NamedStack { frames, is_named });
        }
    }
}

/// Where each function was, the innermost first: a caller at its call, and not behind it, which may
/// be another function.
fn places(stack: &KeptStack) -> impl Iterator<Item = u64> + Clone {
    let call = |(at, address): (usize, &u64)| address.saturating_sub(u64::from(at > 0));
    stack.addresses.iter().enumerate().map(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(process: u32, addresses: Vec<u64>) -> StackTable {
        let stacks = vec![KeptStack { number: 5, process, addresses }];
        StackTable { stacks, ..StackTable::default() }
    }

    #[test]
    fn a_stack_of_a_process_that_has_ended_has_the_names_of_its_server() {
        let here = a_stack_of_a_process_that_has_ended_has_the_names_of_its_server as *const ();
        let outer = function_at as *const () as u64 + 1;
        for process in [std::process::id(), u32::MAX] {
            let table = table(process, vec![here as u64, outer]);
            let names = StackNames::find(&table, std::process::id());
            let NamedStack { frames, is_named } = names.get(5).expect("it is there");
            assert!(frames[0].contains("function_at") && frames[1].contains("has_ended"));
            assert!(*is_named && frames.len() == 2, "{frames:?}");
        }
        assert!(StackNames::find(&table(u32::MAX, vec![1]), u32::MAX).get(5).is_none());
    }

    fn function_at(place: u64) -> u64 {
        std::hint::black_box(place)
    }

    #[test]
    fn what_is_no_function_of_the_kernel_is_the_kernel() {
        let table = table(1, vec![KERNEL, KERNEL + 1, KERNEL + 2]);
        let names = StackNames::find(&table, std::process::id());
        let secret = NamedStack { frames: vec![SECRET.to_owned()], is_named: false };
        assert_eq!(names.get(5), Some(&secret));
    }
}
