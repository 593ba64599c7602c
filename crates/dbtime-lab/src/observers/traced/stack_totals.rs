//! Stacks of a run's transactions, by operation and statement.

use crate::join::JoinedTransaction;
use crate::run_trace::TracedStacks;
use dbtime_load::workload::Workload;
use dbtime_model::record::{FoldedStack, FoldedStacks, StackSums, StacksInfo, frame_name};
use dbtime_model::traced_stacks::TracedStack;
use dbtime_model::{Nanos, OperationId, Part, StatementId};
use dbtime_observe::trace::{CpuSampling, NamedStack, StackNames, StackTable};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// More rows than this are not kept: what comes later has one for each part.
const MAX_ROWS: usize = 200_000;

/// The frame of what has no row.
const OTHERS: &str = "[other stacks]";

/// The frame of a statement that is not known apart.
const ANY_STATEMENT: &str = "[any statement]";

/// The frame of a stack that there was none of, or that is lost.
const LOST: &str = "[no stack]";

/// The frame before functions that the thread's own beginning does not lead to.
const CUT: &str = "[cut]";

/// Functions that a thread or a program begins with, or that call it.
const BEGINNINGS: [&str; 8] = [
    "_start",
    "main",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone3",
];

/// What stacks are called, and how they were taken.
#[derive(Debug)]
pub(crate) struct FoundStacks {
    sampling: Option<CpuSampling>,
    lost: u64,
    names: StackNames,
    statements: StatementFrames,
}

impl FoundStacks {
    /// Finds the names of stacks while the server is still there, after the load.
    pub(super) fn of(table: &StackTable, server: u32, workload: &Workload) -> Self {
        let names = StackNames::find(table, server);
        let statements = StatementFrames::of(workload);
        Self { sampling: table.sampling.clone(), lost: table.lost, names, statements }
    }
}

/// Sums of stacks.
#[derive(Debug, Default)]
pub(super) struct StackTotals(FxHashMap<StackKey, StackSum>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StackKey {
    part: Part,
    /// The statement and both stacks; `None`: all for which there was no row.
    place: Option<(OperationId, Option<StatementId>, u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct StackSum {
    count: u64,
    length: Nanos,
}

impl StackTotals {
    /// Adds the stacks of a transaction.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction) {
        let operation = transaction.driven.sample.operation;
        for wait in &transaction.waits {
            for TracedStack { part, user, kernel, count, length } in &wait.waits.stacks {
                let place = Some((operation, wait.statement, *user, *kernel));
                let key = StackKey { part: *part, place };
                let is_kept = self.0.len() < MAX_ROWS || self.0.contains_key(&key);
                let key = if is_kept { key } else { StackKey { place: None, ..key } };
                let sum = self.0.entry(key).or_default();
                // One of a recording may be anything, here and below.
                sum.count = sum.count.saturating_add(*count);
                sum.length += *length;
            }
        }
    }

    /// The record's files, and what they come to.
    pub(super) fn records(self, found: &FoundStacks) -> TracedStacks {
        let (mut on_cpu, mut off_cpu) = (FoldedSums::default(), FoldedSums::default());
        for (StackKey { part, place }, sum) in self.0 {
            let is_sample = part == Part::Cpu;
            let mut frames = match place {
                Some((operation, statement, ..)) => found.statements.frames(operation, statement),
                None => vec![OTHERS.to_owned(), ANY_STATEMENT.to_owned()],
            };
            if !is_sample {
                frames.push(part.name().to_owned());
            }
            let quality = place.map(|(.., user, kernel)| {
                let kernel = found.names.get(kernel);
                add_stack(&mut frames, found.names.get(user), kernel, is_sample)
            });
            let sums = if is_sample { &mut on_cpu } else { &mut off_cpu };
            let weight = if is_sample { sum.count } else { sum.length.0 };
            sums.add(frames, quality.unwrap_or_default(), sum.count, weight);
        }
        let sampled = found.sampling.as_ref();
        let per_sample = |sampling: &CpuSampling| 1.0 / f64::from(sampling.per_second);
        let info = StacksInfo {
            sampling: sampled.map(|sampling| sampling.event.clone()),
            samples_per_s: sampled.map(|sampling| sampling.per_second),
            on_cpu: sampled.map(|sampling| on_cpu.info(per_sample(sampling))),
            off_cpu: off_cpu.info(1e-9),
            lost: found.lost,
        };
        let on_cpu = sampled.map(|_| on_cpu.folded(1));
        let folded = FoldedStacks { on_cpu, off_cpu: Some(off_cpu.folded(1_000)) };
        TracedStacks { info, folded }
    }
}

/// What can be said against a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StackQuality {
    is_cut: bool,
    is_unnamed: bool,
}

/// Adds the frames of both stacks.
fn add_stack(
    frames: &mut Vec<String>,
    user: Option<&NamedStack>,
    kernel: Option<&NamedStack>,
    is_sample: bool,
) -> StackQuality {
    if user.is_none() && kernel.is_none() {
        frames.push(LOST.to_owned());
        return StackQuality { is_cut: true, is_unnamed: true };
    }
    let is_beginning = |frame: &String| BEGINNINGS.contains(&&**frame);
    let is_cut = user.is_none_or(|stack| !stack.frames.iter().take(4).any(is_beginning));
    if is_cut {
        frames.push(CUT.to_owned());
    }
    let own = match is_sample {
        true => kernel.map(|stack| &*stack.frames),
        false => kernel.map(NamedStack::until_switch),
    };
    let both = user.map(|stack| &*stack.frames).into_iter().chain(own);
    frames.extend(both.flatten().map(|name| frame_name(name)));
    let is_unnamed = !user.into_iter().chain(kernel).all(|stack| stack.is_named);
    StackQuality { is_cut, is_unnamed }
}

/// The names of operations and statements, as frames.
#[derive(Debug)]
struct StatementFrames {
    operations: Vec<String>,
    statements: Vec<String>,
}

impl StatementFrames {
    fn of(workload: &Workload) -> Self {
        let operations = workload.operations.iter().map(|one| frame_name(&one.name)).collect();
        let statements = workload.executed_statements();
        let statements = statements.iter().map(|one| frame_name(&one.name)).collect();
        Self { operations, statements }
    }

    fn frames(&self, operation: OperationId, statement: Option<StatementId>) -> Vec<String> {
        let operation = self.operations.get(usize::from(operation.0));
        let statement = statement.and_then(|id| self.statements.get(usize::from(id.0)));
        let name = |found: Option<&String>| found.map_or(ANY_STATEMENT, String::as_str).to_owned();
        vec![name(operation), name(statement)]
    }
}

/// Stacks of one kind by their names, and what they come to in all.
#[derive(Debug, Default)]
struct FoldedSums {
    stacks: BTreeMap<Vec<String>, u64>,
    count: u64,
    weight: u64,
    cut: u64,
    unnamed: u64,
}

impl FoldedSums {
    fn add(&mut self, frames: Vec<String>, quality: StackQuality, count: u64, weight: u64) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(self.stacks.entry(frames).or_default(), weight);
        add(&mut self.count, count);
        add(&mut self.weight, weight);
        add(&mut self.cut, u64::from(quality.is_cut) * weight);
        add(&mut self.unnamed, u64::from(quality.is_unnamed) * weight);
    }

    /// `unit`: what a weight of one is, in seconds.
    fn info(&self, unit: f64) -> StackSums {
        let pct = |some: u64| (self.weight > 0).then(|| 100.0 * some as f64 / self.weight as f64);
        StackSums {
            count: self.count,
            time_s: self.weight as f64 * unit,
            cut_pct: pct(self.cut),
            unnamed_pct: pct(self.unnamed),
        }
    }

    /// `unit`: what a weight of one is in the file. What comes to less than half of one is left
    /// out.
    fn folded(self, unit: u64) -> Vec<FoldedStack> {
        let stack = |(frames, weight): (Vec<String>, u64)| {
            let weight = (weight + unit / 2) / unit;
            (weight > 0).then_some(FoldedStack { frames, weight })
        };
        self.stacks.into_iter().filter_map(stack).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_transactions;
    use super::*;
    use crate::join::RequestWaits;
    use dbtime_model::Parts;

    fn waited(stacks: Vec<TracedStack>) -> JoinedTransaction {
        let waits = RequestWaits { stacks, ..RequestWaits::default() };
        test_transactions::waited(Some(StatementId(0)), Parts::default(), waits)
    }

    fn stack(part: Part, user: u64, count: u64, length: u64) -> TracedStack {
        TracedStack { part, user, kernel: 0, count, length: Nanos(length) }
    }

    fn found(per_second: Option<u32>) -> FoundStacks {
        let event = "cpu-clock".to_owned();
        let sampling = per_second.map(|per_second| CpuSampling { event, per_second });
        let statements = StatementFrames::of(&Workload::find("tpcb").expect("a shipped one"));
        FoundStacks { sampling, lost: 3, names: StackNames::default(), statements }
    }

    #[test]
    fn nothing_is_lost_where_rows_are() {
        let mut totals = StackTotals::default();
        let rows = MAX_ROWS as u64 + 5;
        totals.add(&waited((0..rows).map(|user| stack(Part::Sync, user, 1, 2_000)).collect()));
        totals.add(&waited(vec![stack(Part::Cpu, 1, 4, 0), stack(Part::Lock, 1, 1, 300)]));
        let TracedStacks { info, folded } = totals.records(&found(Some(200)));
        let off = folded.off_cpu.expect("it was traced");
        let shown = |stack: &FoldedStack| (stack.frames.join(";"), stack.weight);
        let shown: Vec<_> = off.iter().map(shown).collect();
        let row = |frames: &str, weight: u64| (frames.to_owned(), weight);
        let named = row("tpcb;begin;sync;[no stack]", 2 * MAX_ROWS as u64);
        assert_eq!(shown, [row("[other stacks];[any statement];sync", 10), named]);
        assert_eq!((info.off_cpu.count, info.lost), (rows + 1, 3));
        assert!((info.off_cpu.time_s - (rows * 2_000 + 300) as f64 / 1e9).abs() < 1e-12);
        // Samples find no row either; they are there all the same.
        let on = info.on_cpu.expect("it was sampled");
        assert_eq!(
            (on.count, on.cut_pct, folded.on_cpu.map_or(0, |one| one.len())),
            (4, Some(0.0), 1)
        );
        assert!((on.time_s - 0.02).abs() < 1e-12);
    }

    #[test]
    fn without_samples_there_is_nothing_on_a_cpu() {
        let TracedStacks { info, folded } = StackTotals::default().records(&found(None));
        assert_eq!((info.sampling, info.on_cpu, folded.on_cpu), (None, None, None));
        assert_eq!((info.off_cpu.cut_pct, folded.off_cpu), (None, Some(Vec::new())));
    }

    #[test]
    fn a_stack_is_cut_that_does_not_begin_where_its_thread_does() {
        let named = |frames: &[&str]| NamedStack {
            frames: frames.iter().map(|&frame| frame.to_owned()).collect(),
            is_named: true,
        };
        let kernel = named(&["do_syscall_64_[k]", "__schedule_[k]", "bpf_trace_run4_[k]"]);
        let mut frames = Vec::new();
        let program = named(&["_start", "work"]);
        let quality = add_stack(&mut frames, Some(&program), Some(&kernel), false);
        assert_eq!(quality, StackQuality::default());
        assert_eq!(frames.join(";"), "_start;work;do_syscall_64_[k]");
        frames.clear();
        let quality = add_stack(&mut frames, None, Some(&kernel), true);
        let sampled = "[cut];do_syscall_64_[k];__schedule_[k];bpf_trace_run4_[k]";
        assert_eq!((quality.is_cut, &*frames.join(";")), (true, sampled));
        frames.clear();
        let quality = add_stack(&mut frames, Some(&named(&["work"])), None, true);
        assert_eq!((quality.is_cut, &*frames.join(";")), (true, "[cut];work"));
    }
}
