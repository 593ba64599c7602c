//! What the command of a study's run leaves in the background: it ends with the run. Its processes
//! are known by the run's folder in their environment, whatever has become of their parents.

use crate::cli::LeftoverRule;
use crate::program_end::{
    EndingProcess, end_with_descendants, kill_with_descendants, processes_with,
};
use dbtime_observe::process::{parent_of, start_tick_of};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// The variable of the folder of a run, which its commands have in their environment.
const RUN_FOLDER: &str = "DBTIME_RUN";

/// So many ancestors of a process are looked at: a chain of them that changes meanwhile has an end.
const MOST_ANCESTORS: usize = 64;

/// None is left where so many looks in a row find none: one look may miss a process whose parent
/// ends meanwhile, or that is about to run another program.
const EMPTY_LOOKS: usize = 2;

/// So long it is tried to end all of them: what hangs in the kernel does not end.
const MOST_TIME: Duration = Duration::from_secs(5);

/// The processes of a run, as far as they were started before a command of it.
pub(crate) struct RunLeftovers {
    /// What all of them have in their environment.
    variable: Vec<u8>,
    /// By their numbers, and the ticks at which they were started.
    before: HashSet<(u32, u64)>,
    /// The tick at which this process was started: not all of those that are older are found in
    /// time where there are tens of thousands.
    began_tick: u64,
}

impl RunLeftovers {
    /// Those of the run that this process is of; `None`: it is of none.
    pub(crate) fn of_environment() -> Option<Self> {
        Some(Self::of(&std::env::var_os(RUN_FOLDER)?))
    }

    fn of(folder: &OsStr) -> Self {
        let variable = [RUN_FOLDER.as_bytes(), b"=", folder.as_bytes()].concat();
        let before = processes_with(variable.clone()).into_iter().collect();
        let began_tick = start_tick_of(std::process::id()).unwrap_or(0);
        Self { variable, before, began_tick }
    }

    /// Whether the command has left a process: it was started since, and not by a server that was
    /// there before, whose workers come and go.
    fn is_new(&self, (pid, tick): (u32, u64)) -> bool {
        let was_there = |pid: u32, tick: u64| self.before.contains(&(pid, tick));
        let ancestors = std::iter::successors(parent_of(pid), |pid| parent_of(*pid));
        let ancestors = ancestors.take(MOST_ANCESTORS);
        let mut ancestors = ancestors.filter_map(|pid| Some((pid, start_tick_of(pid)?)));
        let is_older = tick < self.began_tick || was_there(pid, tick);
        !is_older && !ancestors.any(|(pid, tick)| was_there(pid, tick))
    }

    /// Ends those that this rule does not leave, with what they have started.
    pub(crate) fn end(&self, rule: LeftoverRule) {
        match rule {
            LeftoverRule::Keep => {}
            LeftoverRule::New => self.end_those(|process| self.is_new(*process)),
            LeftoverRule::All => self.end_those(|_| true),
        }
    }

    /// Ends these until none is left: some start another one when they are told to end, or when a
    /// child of theirs has ended.
    fn end_those(&self, is_to_end: impl Fn(&(u32, u64)) -> bool) {
        let begun = Instant::now();
        let mut end_all: fn(Vec<EndingProcess>) = end_with_descendants;
        let mut empty_looks = 0;
        while empty_looks < EMPTY_LOOKS && begun.elapsed() < MOST_TIME {
            let left = self.left(&is_to_end);
            if left.is_empty() {
                empty_looks += 1;
                continue;
            }
            empty_looks = 0;
            end_all(left);
            // Only the first are asked to clean up.
            end_all = kill_with_descendants;
        }
    }

    /// Those of these that are there.
    fn left(&self, is_to_end: &impl Fn(&(u32, u64)) -> bool) -> Vec<EndingProcess> {
        let left = processes_with(self.variable.clone()).into_iter().filter(is_to_end);
        left.filter_map(|(pid, tick)| EndingProcess::started_at(pid, tick)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Child, Command, Stdio};

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

    /// A server that was prepared may have others work for it, which are its own.
    #[test]
    fn workers_of_what_was_prepared_end_with_it() {
        let folder = format!("/a-server-of-{}", std::process::id());
        let mut server = Command::new("sh");
        server.args(["-c", "read go; sleep 600 & wait"]).env(RUN_FOLDER, &folder);
        let mut server = server.stdin(Stdio::piped()).spawn().expect("it starts");
        let leftovers = RunLeftovers::of(folder.as_ref());
        let mut stdin = server.stdin.take().expect("a pipe");
        stdin.write_all(b"go\n").expect("it reads");
        let there = || processes_with(leftovers.variable.clone()).len();
        let begun = Instant::now();
        while there() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no worker came");
            std::thread::sleep(Duration::from_millis(10));
        }
        leftovers.end(LeftoverRule::New);
        assert_eq!(there(), 2, "the server and its worker");
        leftovers.end(LeftoverRule::All);
        assert_eq!(server.wait().expect("it is ours").code(), None, "a signal has ended it");
        assert_eq!(there(), 0);
    }

    /// What starts another process in place of one that ended, or in its own place.
    #[test]
    fn supervisors_end_with_what_they_would_start_again() {
        for (at, script) in [
            "while :; do sleep 600; done",
            "trap '' TERM INT HUP; while :; do sleep 600; done",
            "trap '' TERM INT HUP; sleep 600; sleep 600; sleep 600",
            "trap 'sleep 600 & exit' TERM; sleep 600 & wait",
            "trap '(trap \"\" TERM; sleep 600; sleep 600) & exit' TERM; sleep 600 & wait",
        ]
        .into_iter()
        .enumerate()
        {
            let folder = format!("/a-supervisor-{at}-of-{}", std::process::id());
            let leftovers = RunLeftovers::of(folder.as_ref());
            let there = || processes_with(leftovers.variable.clone()).len();
            let mut command = Command::new("sh");
            command.args(["-c", script]).env(RUN_FOLDER, &folder);
            let mut supervisor = command.spawn().expect("it starts");
            let begun = Instant::now();
            while there() < 2 {
                assert!(begun.elapsed() < Duration::from_secs(60), "nothing came: {script}");
                std::thread::sleep(Duration::from_millis(10));
            }
            leftovers.end(LeftoverRule::New);
            supervisor.wait().expect("it is ours");
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(there(), 0, "{script}");
        }
    }
}
