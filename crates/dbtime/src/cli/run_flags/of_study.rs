//! Which flags of `dbtime run` belong to no run of a study, and what there is in their place.

use super::{FlagClass, RunFlag};

/// Flags of the whole command that `study ab` has beside those of a run.
const OF_PAIR: [&str; 3] = ["out", "json", "quiet"];

impl RunFlag {
    /// Whether `study ab` takes it.
    pub(crate) fn is_of_pair(&self) -> bool {
        self.class == FlagClass::Run || OF_PAIR.contains(&self.name)
    }

    /// Why the runs of a study do not have it, with what to do; `None`: they may.
    pub(crate) fn why_not_of_study(&self) -> Option<&'static str> {
        Some(match (self.name, self.class) {
            (_, FlagClass::Run) => return None,
            ("spec", _) => {
                "a spec is a whole run, so a study could vary nothing in it: give the common \
                 settings of its runs as flags"
            }
            ("print-spec", _) => "it prints a spec and nothing is run: give it to `dbtime run`",
            ("password-file", _) => {
                "a study takes the target's password from DBTIME_PASSWORD, each time it makes \
                 runs: set that variable instead"
            }
            ("strict", _) => "a study drops invalid runs and repeats their blocks: leave it out",
            ("snapshots", _) => {
                "a study keeps snapshots of its data in a folder of its own: leave it out"
            }
            ("out", _) => {
                "its records go into the study's folder: set that folder with `--out` of `dbtime \
                 study run`"
            }
            ("no-record", _) => "a study needs its records: leave it out",
            ("json" | "quiet", _) => "it is for all runs together: give it to `dbtime study run`",
            ("details" | "histogram" | "server-threads", _) => {
                "it is for the report of one run: leave it out, and use `dbtime report RUN --text`"
            }
            ("markdown" | "junit", _) => {
                "it is for the verdicts on all runs: give it to `dbtime study report`"
            }
            (_, FlagClass::Runs) => "a study has its own number of runs: leave it out",
            (_, FlagClass::Command) => "it is for all runs together: leave it out",
            (_, FlagClass::Process) => "it is for the process of a single run: leave it out",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{all, find};
    use super::*;

    #[test]
    fn every_flag_is_of_a_run_or_has_a_reason() {
        for flag in all() {
            let why = flag.why_not_of_study();
            assert_eq!(why.is_none(), flag.class == FlagClass::Run, "{}", flag.name);
        }
        assert!(OF_PAIR.iter().all(|name| find(name).is_some()));
    }
}
