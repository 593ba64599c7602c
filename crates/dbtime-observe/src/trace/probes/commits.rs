//! Where MariaDB's threads wait for each other as they commit, and say nothing of it: it tells of
//! the wait for who writes InnoDB's log (`group_commit_lock::acquire`), but not of these.
//!
//! ```text
//!   net_real_write                            its commit is left to whoever writes InnoDB's log:
//!                                             the answer has to wait until it is on disk (10.6)
//!   THD::wait_for_wakeup_ready                another writes its transaction to the binlog
//!   MYSQL_BIN_LOG::trx_group_commit_leader    it writes to the binlog for others, once those
//!                                             before it have done so
//! ```
//!
//! They wait for a condition, or a mutex, by calls of the system's library: from where they lock to
//! where they unlock, what they wait for has a name. All of them are passed only by commits, the
//! first of them only by one that waits: of ten thousand commits a second each takes a trap at
//! either place.

use super::imports::ProgramImports;
use super::program::ServerProgram;
use crate::kernel_layout::numbers::{WAIT_BINLOG, WAIT_GROUP_COMMIT};

const LOCK: &str = "pthread_mutex_lock";
const WAIT: &str = "pthread_cond_wait";
const UNLOCK: &str = "pthread_mutex_unlock";

/// What the server would say of them (`enum wait`).
const BINLOG: u64 = WAIT_BINLOG as u64;
const GROUP_COMMIT: u64 = WAIT_GROUP_COMMIT as u64;

/// The functions, and what is waited for there: a condition, or else a mutex.
const FUNCTIONS: [(&str, u64, bool); 3] =
    [("net_real_write", GROUP_COMMIT, true), (WAKEUP, GROUP_COMMIT, true), (LEADER, BINLOG, false)];
const LEADER: &str = "_ZN13MYSQL_BIN_LOG23trx_group_commit_leaderEPNS_18group_commit_entryE";

/// MariaDB alone has it.
const WAKEUP: &str = "_ZN3THD21wait_for_wakeup_readyEv";

/// What a function of the program itself is called that locks, where it is one of its own.
const OWN_LOCK: &str = "inline_mysql_mutex_lock";

/// Places in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommitPlaces {
    pub(crate) begins: Vec<usize>,
    /// What is waited for at each of them.
    pub(crate) waits: Vec<u64>,
    pub(crate) ends: Vec<usize>,
}

impl CommitPlaces {
    fn add(&mut self, wait: u64, begins: Vec<usize>, ends: Vec<usize>) {
        self.waits.resize(self.waits.len() + begins.len(), wait);
        self.begins.extend(begins);
        self.ends.extend(ends);
    }
}

/// Whether a program commits so.
pub(super) fn has_commits(program: &ServerProgram) -> bool {
    program.function(WAKEUP).is_ok()
}

/// The places in a program. Those of older versions are fewer.
///
/// # Errors
/// There are none, for people.
pub(crate) fn commit_places(
    program: &ServerProgram,
    imports: &ProgramImports,
) -> Result<CommitPlaces, String> {
    let own_locks = program.functions_like(OWN_LOCK);
    let name = |target| match imports.name(target) {
        None if own_locks.contains(&target) => Some(LOCK),
        name => name,
    };
    let mut places = CommitPlaces::default();
    for (function, wait, is_condition) in FUNCTIONS {
        let calls = program.transfers_of(function).unwrap_or_default();
        let calls: Vec<_> = calls.into_iter().map(|(at, target)| (at, name(target))).collect();
        let found = if is_condition { condition(&calls) } else { mutex(&calls) };
        if let Some((begins, ends)) = found {
            places.add(wait, begins, ends);
        }
    }
    if places.begins.is_empty() {
        Err("the program does not wait for them as expected".to_owned())
    } else {
        Ok(places)
    }
}

/// A call, and the name of what is called, if it is a library's.
type CommitCall<'a> = (usize, Option<&'a str>);

/// Of a function that waits for a condition, and does nothing else with a mutex: where it locks it
/// and where it lets go of it. In which order these stand in the code is the compiler's business.
fn condition(calls: &[CommitCall<'_>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let all = |sought: &str| -> Vec<usize> {
        calls.iter().filter(|(_, name)| *name == Some(sought)).map(|(at, _)| *at).collect()
    };
    let (begins, ends) = (all(LOCK), all(UNLOCK));
    (!begins.is_empty() && !all(WAIT).is_empty() && !ends.is_empty()).then_some((begins, ends))
}

/// Of a function that locks a mutex before it does anything else: where it does, and what it does
/// next with one.
fn mutex(calls: &[CommitCall<'_>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let ((begin, Some(LOCK)), rest) = calls.split_first()? else { return None };
    let (end, _) = rest.iter().find(|(_, name)| matches!(name, Some(LOCK | UNLOCK)))?;
    Some((vec![*begin], vec![*end]))
}

#[cfg(test)]
mod tests {
    use super::super::imports::tests::imports;
    use super::super::program::tests::{call, program};
    use super::*;
    use proptest::prelude::*;

    /// Where calls of the library lead.
    const AT: i32 = 0x1000;

    fn library() -> ProgramImports {
        imports(0x1000, &[LOCK, WAIT, UNLOCK, "memcpy"])
    }

    #[test]
    fn waits_are_from_where_a_mutex_is_locked_to_where_it_is_not() {
        let mut code = Vec::new();
        // net_real_write: copies, locks, waits, unlocks, all by calls.
        [AT + 48, AT, AT + 16, AT + 32].into_iter().for_each(|to| call(&mut code, to));
        // wait_for_wakeup_ready: leaves by a jump.
        [AT, AT + 16, AT + 32].into_iter().for_each(|to| call(&mut code, to));
        code[30] = 0xe9;
        // trx_group_commit_leader: locks two.
        [AT, AT + 48, AT, AT + 32].into_iter().for_each(|to| call(&mut code, to));
        let functions = [(FUNCTIONS[0].0, 0..20), (WAKEUP, 20..35), (LEADER, 35..55)];
        let whole = program(code.clone(), &functions);
        let found = commit_places(&whole, &library()).expect("there are some");
        assert_eq!(found.begins, [5, 20, 35]);
        assert_eq!(found.waits, [GROUP_COMMIT, GROUP_COMMIT, BINLOG]);
        assert_eq!(found.ends, [15, 30, 45]);
        // Before version 10.6 answers wait for nothing.
        let older = program(code, &[(FUNCTIONS[0].0, 0..5), (WAKEUP, 20..35)]);
        let found = commit_places(&older, &library()).expect("there is one");
        assert_eq!((found.begins, found.ends), (vec![20], vec![30]));
        // It locks by a function of its own.
        let mut code = Vec::new();
        [500, 700, 500, AT + 32].into_iter().for_each(|to| call(&mut code, to));
        let own = (concat!("inline_mysql_mutex_lock", ".constprop.393"), 500..520);
        let found = commit_places(&program(code.clone(), &[own, (LEADER, 0..20)]), &library());
        assert_eq!(found.map(|found| (found.begins, found.ends)), Ok((vec![0], vec![10])));
        // What it does first is something else.
        let other = program(code, &[(LEADER, 0..20)]);
        assert!(commit_places(&other, &library()).is_err());
        assert!(has_commits(&whole) && !has_commits(&program(vec![], &[])));
        assert!(commit_places(&whole, &ProgramImports::default()).is_err(), "nothing is called");
    }

    proptest! {
        #[test]
        fn any_code_may_call(code in proptest::collection::vec(any::<u8>(), 0..200), end: u64) {
            let length = code.len();
            let functions = FUNCTIONS.map(|(name, ..)| (name, 0..end));
            let found = commit_places(&program(code, &functions), &library());
            let found = found.unwrap_or_default();
            prop_assert!(found.begins.iter().chain(&found.ends).all(|at| *at < length));
        }
    }
}
