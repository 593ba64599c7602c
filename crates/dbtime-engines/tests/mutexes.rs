//! SQLite's own mutexes can be timed when nothing has used SQLite before: hence a process of its
//! own.

use dbtime_engines::databases::sqlite::time_mutexes;

#[test]
fn mutexes_are_timed_in_a_fresh_process() {
    assert!(time_mutexes(), "SQLite refused");
    assert!(time_mutexes(), "the second call says the same");
}
