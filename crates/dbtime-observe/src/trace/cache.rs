//! Where MariaDB looks into its query cache, and where it has found an answer there: calls inside
//! of `Query_cache::send_result_to_client`, which are made only where the cache is on.
//!
//! ```text
//!   try_lock()                   a statement is looked for
//!   move_to_query_list_end()     its answer was there, may be used, and is the latest now
//! ```

use super::program::Program;

const LOOK: &str = "_ZN11Query_cache21send_result_to_clientEP3THDPcj";
const TRY_LOCK: &str = "_ZN11Query_cache8try_lockEP3THDNS_19Cache_try_lock_modeE";
const IS_LATEST: &str = "_ZN11Query_cache22move_to_query_list_endEP17Query_cache_block";

/// Places in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CachePlaces {
    pub(super) searches: Vec<usize>,
    pub(super) hits: Vec<usize>,
}

/// The places in a program.
///
/// # Errors
/// It has no query cache, or one that is not known, for people.
pub(super) fn cache_places(program: &Program) -> Result<CachePlaces, String> {
    let calls = program.calls_of(LOOK)?;
    let of = |function: u64| {
        let calls = calls.iter().filter(|(_, target)| *target == function);
        calls.map(|(at, _)| *at).collect::<Vec<_>>()
    };
    let (searches, hits) = (of(program.function(TRY_LOCK)?), of(program.function(IS_LATEST)?));
    if searches.is_empty() || hits.is_empty() {
        return Err("its query cache does not look as expected".to_owned());
    }
    Ok(CachePlaces { searches, hits })
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
        let functions = [(LOOK, 0..15), (TRY_LOCK, 1000..1001), (IS_LATEST, 2000..2001)];
        let found = cache_places(&program(code, &functions));
        assert_eq!(found, Ok(CachePlaces { searches: vec![0], hits: vec![10] }));
        let without = cache_places(&program(vec![], &functions[1..]));
        assert!(without.expect_err("no cache").contains("does not export"));
        assert!(cache_places(&program(vec![], &functions)).expect_err("odd").contains("expected"));
    }
}
