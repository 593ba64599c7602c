//! A server's process from its start to its end.

use super::find::InstalledServer;
use super::log_limit::{EXCESS, LogLimit};
use super::processes::{SharedProcesses, living_in, signal, status_line};
use super::product::ServerPackage;
use dbtime_engines::drive::plan::RunStop;
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// How long a server may take to end as it wants.
const END_TIMEOUT: Duration = Duration::from_secs(20);

/// How long one may take whose data are to be whole.
const SHUT_DOWN_TIMEOUT: Duration = Duration::from_secs(600);

/// How long any of them may take once its run was interrupted: its data are of no use then.
const INTERRUPTED_TIMEOUT: Duration = Duration::from_secs(2);

/// How long one that was told to end at once may take.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Between two looks at a process.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A server's main process, which is this process's child, and those it started itself.
pub(super) struct ServerProcess {
    child: Child,
    package: &'static ServerPackage,
    /// What all its processes run.
    program: PathBuf,
    /// Where all of them live.
    data: PathBuf,
    /// Ends the run that it is for.
    stop: RunStop,
    /// Of what it prints.
    log: Option<LogLimit>,
    /// It hears signals from then on. Before, it may lose one, and has nothing to write.
    has_answered: bool,
    /// None of them is left: who lives there now is somebody else.
    is_over: bool,
    /// What it had in shared memory when it was killed.
    left: SharedProcesses,
}

impl ServerProcess {
    /// A server that has been started, for a run that `stop` ends.
    pub(super) fn new(child: Child, of: &InstalledServer, data: PathBuf, stop: RunStop) -> Self {
        Self {
            child,
            package: of.package,
            program: of.binary.clone(),
            data,
            stop,
            log: None,
            has_answered: false,
            is_over: false,
            left: SharedProcesses::default(),
        }
    }

    /// Bounds what it prints, which is in this log.
    pub(super) fn bound_log(&mut self, log: PathBuf) {
        let (properly, at_once) = self.package.end_signals;
        self.log = Some(LogLimit::of(self.pid(), at_once.unwrap_or(properly), log));
    }

    /// It has let somebody in.
    pub(super) fn note_answer(&mut self) {
        self.has_answered = true;
    }

    /// Of the main process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended; `None` while it lives.
    pub(super) fn ended(&mut self) -> Option<String> {
        let ended = match self.child.try_wait() {
            Ok(status) => status?.to_string(),
            Err(error) => error.to_string(),
        };
        Some(self.log_excess().map_or(ended, str::to_owned))
    }

    /// That it was ended for what it printed, in words; `None`: it was not.
    pub(super) fn log_excess(&self) -> Option<&'static str> {
        self.log.as_ref().filter(|log| log.is_exceeded()).map(|_| EXCESS)
    }

    /// Stops all its processes where they are.
    pub(super) fn pause(&mut self) {
        self.freeze();
        self.others().into_iter().for_each(|pid| signal(pid, Signal::STOP));
    }

    /// Lets them go on.
    pub(super) fn resume(&mut self) {
        self.others().into_iter().for_each(|pid| signal(pid, Signal::CONT));
        if self.ended().is_none() {
            signal(self.pid(), Signal::CONT);
        }
    }

    /// Ends all its processes at once, as a crash does.
    pub(super) fn kill(&mut self) {
        if self.ended().is_none() {
            self.freeze();
            let others = self.others();
            others.iter().chain([&self.pid()]).for_each(|pid| self.left.note(*pid));
            others.into_iter().for_each(|pid| signal(pid, Signal::KILL));
            signal(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
        if !self.is_over {
            self.clear();
        }
        self.is_over = true;
    }

    /// Ends it as its makers want it ended; whatever is left of it is killed, as is one that has
    /// not answered yet.
    pub(super) fn end(&mut self) {
        if self.is_over {
            return;
        }
        if self.has_answered {
            self.resume();
            let (properly, at_once) = self.package.end_signals;
            if !self.ends_within(properly, END_TIMEOUT)
                && let Some(at_once) = at_once
            {
                self.ends_within(at_once, KILL_TIMEOUT);
            }
        }
        self.kill();
    }

    /// Ends it as its makers want it ended, which may take long: it writes what it has in memory.
    /// Whether it ended so; else it is killed.
    pub(super) fn shut_down(&mut self) -> bool {
        let (properly, _) = self.package.end_signals;
        let ends = !self.is_over && self.ends_within(properly, SHUT_DOWN_TIMEOUT);
        let is_proper = ends && self.child.try_wait().is_ok_and(|s| s.is_some_and(|s| s.success()));
        self.kill();
        is_proper
    }

    fn ends_within(&mut self, by: Signal, limit: Duration) -> bool {
        if self.ended().is_none() {
            signal(self.pid(), by);
        }
        self.wait(limit)
    }

    fn wait(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        while self.ended().is_none() {
            let limit = if self.stop.is_set() { limit.min(INTERRUPTED_TIMEOUT) } else { limit };
            if begun.elapsed() > limit {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// Kills what outlived the main process, and waits until it is gone: it holds files, memory
    /// and perhaps the port.
    fn clear(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < KILL_TIMEOUT {
            let left = self.others();
            if left.is_empty() {
                break;
            }
            left.iter().for_each(|pid| signal(*pid, Signal::KILL));
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Stops the main process and waits until it stands still: then it starts no others.
    fn freeze(&mut self) {
        let begun = Instant::now();
        while self.ended().is_none() && begun.elapsed() < KILL_TIMEOUT {
            signal(self.pid(), Signal::STOP);
            if status_line(self.pid(), "State").is_some_and(|state| state.starts_with('T')) {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn others(&self) -> Vec<u32> {
        living_in(&self.data, &self.program).into_iter().filter(|pid| *pid != self.pid()).collect()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
        // One that was started again has removed it itself.
        self.left.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::super::mysql::MYSQL;
    use super::super::product::ServerIdentity;
    use super::*;
    use dbtime_machine::now;
    use std::path::Path;
    use std::process::Command;

    /// A server that notes in its folder that it is told to end, and does not.
    fn deaf_server(folder: &Path, stop: &RunStop) -> ServerProcess {
        let script = "trap ': >told' TERM; : >begun; while :; do sleep 0.1; done";
        let mut shell = Command::new("/bin/sh");
        let child = shell.args(["-c", script]).current_dir(folder).spawn().expect("a shell");
        while !folder.join("begun").exists() {
            std::thread::sleep(POLL_INTERVAL);
        }
        let installed = InstalledServer {
            binary: PathBuf::from("/bin/sh"),
            package: &MYSQL,
            identity: ServerIdentity::read("mysqld  Ver 5.5.9 for x").expect("a version"),
            environment: Vec::new(),
        };
        ServerProcess::new(child, &installed, folder.to_owned(), stop.clone())
    }

    #[test]
    fn one_that_has_not_answered_is_killed_without_a_word() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = deaf_server(folder.path(), &RunStop::default());
        server.end();
        let status = server.ended().expect("it has ended");
        assert!(status.contains("SIGKILL"), "{status}");
        assert!(!folder.path().join("told").exists());
    }

    #[test]
    fn an_interrupted_run_does_not_wait_for_one_that_stays() {
        let (folder, stop) = (tempfile::tempdir().expect("a folder"), RunStop::default());
        let mut server = deaf_server(folder.path(), &stop);
        server.note_answer();
        stop.at(now());
        let begun = Instant::now();
        assert!(!server.shut_down());
        assert!(begun.elapsed() < SHUT_DOWN_TIMEOUT / 2);
        assert!(server.ended().is_some_and(|status| status.contains("SIGKILL")));
    }
}
