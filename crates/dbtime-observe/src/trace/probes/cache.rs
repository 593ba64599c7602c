//! Where MariaDB, and MySQL up to 5.7, look into their query cache, and where they have found an
//! answer there: calls inside of `Query_cache::send_result_to_client`, which are made only where
//! the cache is on.
//!
//! ```text
//!   try_lock()                   a statement is looked for
//!   move_to_query_list_end()     its answer was there, may be used, and is the latest now
//!   net_real_write()             it is sent, piece by piece; older compilers leave only that call
//! ```

use super::program::ServerProgram;

const SEND_RESULT: &str = "_ZN11Query_cache21send_result_to_clientEP3THDPcj";
/// MariaDB's and MySQL's.
const TRY_LOCK: [&str; 2] =
    ["_ZN11Query_cache8try_lockEP3THDNS_19Cache_try_lock_modeE", "_ZN11Query_cache8try_lockEb"];
/// The first of them that is called.
const FOUND: [&str; 2] =
    ["_ZN11Query_cache22move_to_query_list_endEP17Query_cache_block", "net_real_write"];

/// Places in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CachePlaces {
    pub(crate) searches: Vec<usize>,
    pub(crate) hits: Vec<usize>,
}

/// The places in a program.
///
/// # Errors
/// It has no query cache, or one that is not known, for people.
pub(crate) fn cache_places(program: &ServerProgram) -> Result<CachePlaces, String> {
    let calls = program.calls_of(SEND_RESULT)?;
    let of = |name: &str| {
        let function = program.function(name).ok();
        let calls = calls.iter().filter(|(_, target)| Some(*target) == function);
        calls.map(|(at, _)| *at).collect::<Vec<_>>()
    };
    let called = |names: [&str; 2]| names.into_iter().map(of).find(|calls| !calls.is_empty());
    let places = called(TRY_LOCK).zip(called(FOUND));
    let (searches, hits) =
        places.ok_or_else(|| "its query cache does not look as expected".to_owned())?;
    Ok(CachePlaces { searches, hits })
}

/// Whether a program has such a cache; those that have none are not asked.
pub(super) fn has_cache(program: &ServerProgram) -> bool {
    program.function(SEND_RESULT).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::{call, program};
    use super::*;

    #[test]
    fn searches_and_hits_are_calls_of_the_function_that_looks() {
        let mut code = Vec::new();
        for target in [1000, 3000, 2000, 2000] {
            call(&mut code, target);
        }
        let functions = [(SEND_RESULT, 0..15), (TRY_LOCK[0], 1000..1001), (FOUND[0], 2000..2001)];
        let found = cache_places(&program(code.clone(), &functions));
        assert_eq!(found, Ok(CachePlaces { searches: vec![0], hits: vec![10] }));
        let older = [(SEND_RESULT, 0..15), (TRY_LOCK[1], 1000..1001), (FOUND[1], 3000..3001)];
        let found = cache_places(&program(code, &older));
        assert_eq!(found, Ok(CachePlaces { searches: vec![0], hits: vec![5] }));
        let without = cache_places(&program(vec![], &functions[1..]));
        assert!(without.expect_err("no cache").contains("does not export"));
        assert!(cache_places(&program(vec![], &functions)).expect_err("odd").contains("expected"));
    }
}
