//! Where a server says what it waits for: the calls of `thd_wait_begin(THD *, int wait)` and
//! `thd_wait_end(THD *)` in its program file. Since MySQL 8 these are functions of C++.
//!
//! The functions themselves are entered for every request, since waiting for the next one is a wait
//! too, and each entry would cost a trap. Those calls go by a jump from functions of the network
//! layer; waits for locks and for SLEEP() are calls, of which each has a probe of its own.

use super::program::ServerProgram;

/// `mov $n, %esi`: the second argument, a constant.
const SECOND_ARGUMENT: u8 = 0xbe;
/// How far before a call its argument is looked for.
const BEFORE: usize = 48;
/// How far behind a wait's beginning its end is looked for.
const BEHIND: usize = 1024;
/// Waiting for a disk: the system calls tell more of that.
const DISK: u8 = 2;

/// Places in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitSites {
    pub(crate) begins: Vec<usize>,
    pub(crate) ends: Vec<usize>,
}

/// The calls in a program.
///
/// # Errors
/// Why there are none, for people.
pub(crate) fn wait_places(program: &ServerProgram) -> Result<WaitSites, String> {
    let of = |name, mangled| program.function(name).or_else(|_| program.function(mangled));
    let begin = of("thd_wait_begin", "_Z14thd_wait_beginP3THDi")?;
    let end = of("thd_wait_end", "_Z12thd_wait_endP3THD")?;
    let mut waits = WaitSites::default();
    let mut last = None;
    let code = program.code()?;
    for (at, target) in program.calls()? {
        if target == begin && constant_before(code, at) != Some(DISK) {
            waits.begins.push(at);
            last = Some(at);
        } else if target == end && last.is_some_and(|begin| at - begin < BEHIND) {
            waits.ends.push(at);
        }
    }
    if waits.begins.is_empty() {
        Err("the program calls them nowhere".to_owned())
    } else {
        Ok(waits)
    }
}

/// The small constant that the second argument is set to nearest before a call.
fn constant_before(code: &[u8], at: usize) -> Option<u8> {
    let before = &code[at.saturating_sub(BEFORE)..at];
    before.windows(5).rev().find_map(|window| match window {
        [SECOND_ARGUMENT, n, 0, 0, 0] => Some(*n),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::{call, program};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_are_found_but_for_those_that_wait_for_a_disk() {
        let mut code = vec![0x90; 10];
        code.extend_from_slice(&[SECOND_ARGUMENT, 3, 0, 0, 0]);
        call(&mut code, 1000);
        call(&mut code, 2000);
        code.extend_from_slice(&[0x90; 2 * BEHIND]);
        // Another one's end.
        call(&mut code, 2000);
        code.extend_from_slice(&[SECOND_ARGUMENT, DISK, 0, 0, 0]);
        call(&mut code, 1000);
        call(&mut code, 3000);
        let functions = [("thd_wait_begin", 1000..1010), ("thd_wait_end", 2000..2010)];
        let found = wait_places(&program(code, &functions));
        assert_eq!(found, Ok(WaitSites { begins: vec![15], ends: vec![20] }));
        assert!(wait_places(&program(vec![], &functions)).expect_err("none").contains("nowhere"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_code(
            code in proptest::collection::vec(any::<u8>(), 0..300), begin in 0u64..300, end: u64
        ) {
            let length = code.len();
            let functions = [("thd_wait_begin", begin..end), ("thd_wait_end", end..begin)];
            let waits = wait_places(&program(code, &functions)).unwrap_or_default();
            prop_assert!(waits.begins.iter().chain(&waits.ends).all(|at| *at < length));
        }
    }
}
