//! What the command of a study's run leaves in the background: it ends with the run. Its processes
//! are known by the run's folder in their environment, whatever has become of their parents.

use crate::cli::LeftoverRule;
use crate::program_end::{EndingProcess, end_with_descendants, processes_with};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The variable of the folder of a run, which its commands have in their environment.
const RUN_FOLDER: &str = "DBTIME_RUN";

/// The processes of a run, as far as they were started before a command of it.
pub(crate) struct RunLeftovers {
    /// What all of them have in their environment.
    variable: Vec<u8>,
    /// By their numbers, and the ticks at which they were started.
    before: HashSet<(u32, u64)>,
}

impl RunLeftovers {
    /// Those of the run that this process is of; `None`: it is of none.
    pub(crate) fn of_environment() -> Option<Self> {
        Some(Self::of(&std::env::var_os(RUN_FOLDER)?))
    }

    fn of(folder: &OsStr) -> Self {
        let variable = [RUN_FOLDER.as_bytes(), b"=", folder.as_bytes()].concat();
        let before = processes_with(variable.clone()).into_iter().collect();
        Self { variable, before }
    }

    /// Ends those that this rule does not leave, with what they have started.
    pub(crate) fn end(&self, rule: LeftoverRule) {
        let is_to_end = |process: &(u32, u64)| match rule {
            LeftoverRule::Keep => false,
            LeftoverRule::New => !self.before.contains(process),
            LeftoverRule::All => true,
        };
        let left = processes_with(self.variable.clone()).into_iter().filter(is_to_end);
        let left = left.filter_map(|(pid, tick)| EndingProcess::started_at(pid, tick));
        let left: Vec<EndingProcess> = left.collect();
        if !left.is_empty() {
            end_with_descendants(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    #[test]
    fn what_a_command_left_ends_before_what_was_prepared() {
        let folder = format!("/a-run-of-{}", std::process::id());
        let start = || -> Child {
            let mut command = Command::new("sleep");
            command.arg("600").env(RUN_FOLDER, &folder).spawn().expect("it starts")
        };
        let mut prepared = start();
        let leftovers = RunLeftovers::of(folder.as_ref());
        let mut started = start();
        leftovers.end(LeftoverRule::Keep);
        assert!(started.try_wait().expect("it is ours").is_none());
        leftovers.end(LeftoverRule::New);
        assert_eq!(started.wait().expect("it is ours").code(), None, "a signal has ended it");
        assert!(prepared.try_wait().expect("it is ours").is_none());
        leftovers.end(LeftoverRule::All);
        assert_eq!(prepared.wait().expect("it is ours").code(), None, "a signal has ended it");
    }
}
