//! Which flags of a run go together, wherever they are given.

use super::{FlagShape, RunFlag, find};

/// Refuses what the grammar of a command line would: a flag beside one that it cannot be given
/// with, and one without the flag that it needs. `given` has the names of all that are given, of
/// switches those that are on.
///
/// Errors: which flags they are.
pub(crate) fn check_together(given: &[&str]) -> Result<(), String> {
    for flag in given.iter().filter_map(|name| find(name)) {
        if let Some(other) = flag.conflicts().into_iter().find(|other| given.contains(other)) {
            let other = find(other).map_or_else(String::new, written);
            let written = written(flag);
            return Err(format!("{written} cannot be used with {other}: leave out one of them"));
        }
        if let Some(needed) = flag.needed.filter(|needed| !given.contains(needed)) {
            return Err(format!("{} needs --{needed}: add it, or leave both out", written(flag)));
        }
    }
    Ok(())
}

/// As a command line has it.
fn written(flag: &RunFlag) -> String {
    match flag.shape {
        FlagShape::Positional => "a workload".to_owned(),
        _ => format!("--{}", flag.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str) -> Result<(), String> {
        check_together(&given.split_whitespace().collect::<Vec<_>>())
    }

    /// What the grammar refuses on a command line is refused where a sweep or a study sets it.
    #[test]
    fn what_does_not_go_together_is_named() {
        for (given, why) in [
            ("trace no-budget", "--trace cannot be used with --no-budget"),
            ("no-budget trace", "--trace cannot be used with --no-budget"),
            ("budget-every no-budget", "--no-budget cannot be used with --budget-every"),
            ("workload query", "--query cannot be used with a workload"),
            ("statements no-record", "--statements cannot be used with --no-record"),
            ("workers spec", "--spec cannot be used with --workers"),
            ("workers stacks", "--stacks needs --trace"),
        ] {
            let error = check(given).expect_err(given);
            assert!(error.starts_with(why) && error.lines().count() == 1, "{error}");
        }
        for given in ["workload trace stacks", "query server-set", ""] {
            assert_eq!(check(given), Ok(()), "{given}");
        }
    }
}
