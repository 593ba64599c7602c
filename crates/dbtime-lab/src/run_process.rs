//! A run in a process of its own: what it pins, limits, allocates and catches ends with it, and so
//! does a crash.
//!
//! The process is this program again. It reads the written form of the run from its standard input,
//! and writes a [`RunEvent`] a line to its standard output. Where that loses its reader,
//! this process is gone, and the run ends.

use crate::error::LabError;
use crate::progress::RunProgress;
use crate::run_event::{RunEvent, RunOutcome};
use dbtime_engines::drive::plan::RunStop;
use dbtime_observe::process::has_ended;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often is looked whether the run is to end.
pub(crate) const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// A signal that comes sooner behind another one is the same to a process of dbtime.
const SIGNAL_GAP: Duration = Duration::from_millis(600);

/// How long a process may take to clean up when everything is given up.
const ABANDON_TIMEOUT: Duration = Duration::from_secs(10);

/// The processes of the present runs: one, or those that hold the targets of a block.
static PRESENT: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// What a process of a run is started with.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunProcess {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// Variables of its environment beside those of this process: passwords.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What it reads: the written form of the run.
    pub(crate) document: String,
    /// The folder that it works in; `None`: that of this process.
    pub(crate) directory: Option<PathBuf>,
}

/// What became of such a process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessResult {
    /// How its run came out.
    pub outcome: RunOutcome,
    /// What it ended with.
    pub exit_code: u8,
}

/// This program; one that was replaced meanwhile is still this one.
pub(crate) fn own_program() -> PathBuf {
    let path = std::env::current_exe().ok().filter(|path| path.exists());
    path.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

impl RunProcess {
    /// Makes the run, and blocks until its process has ended; `stop` ends the run early.
    ///
    /// Errors: [`LabError::Target`] for a process that cannot be started, and
    /// [`LabError::Crashed`] for one that ends without an outcome.
    pub(crate) fn run(
        &self,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<ProcessResult, LabError> {
        let mut child = self.started()?;
        let pid = Pid::from_child(&child);
        let registered = PresentProcess::set(pid);
        if let Some(mut input) = child.stdin.take() {
            // One that does not read it has ended, and its status tells.
            let _ = input.write_all(self.document.as_bytes());
        }
        // Open until it has ended: closed before, it would take this process for gone.
        let mut lines = child.stdout.take().map(BufReader::new);
        let read = || lines.as_mut().and_then(|lines| outcome(lines, progress));
        let outcome = forwarding(pid, stop, read);
        let status = child.wait();
        drop(registered);
        let status = status.map_err(|error| LabError::Target(error.to_string()))?;
        match (outcome, status.code()) {
            (Some(outcome), Some(code)) => {
                Ok(ProcessResult { outcome, exit_code: u8::try_from(code).unwrap_or(u8::MAX) })
            }
            _ => Err(without_outcome(status, stop)),
        }
    }

    /// The process, with its input open.
    ///
    /// Errors: [`LabError::Target`], where it cannot be started.
    pub(crate) fn started(&self) -> Result<Child, LabError> {
        self.spawn().map_err(|error| {
            LabError::Target(format!("the process of the run cannot be started: {error}"))
        })
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Signals from the terminal come by this process, and once.
        command.process_group(0).spawn()
    }
}

/// Holds the number of the process of a present run, as long as it lives.
#[derive(Debug)]
pub(crate) struct PresentProcess(Pid);

impl PresentProcess {
    /// From now on this is one.
    pub(crate) fn set(pid: Pid) -> Self {
        present().push(pid);
        Self(pid)
    }
}

impl Drop for PresentProcess {
    fn drop(&mut self) {
        present().retain(|pid| *pid != self.0);
    }
}

/// Gives up the runs that are under way: their processes remove what they have made. Blocks until
/// all have ended, for some seconds at most.
pub(crate) fn abandon() {
    let pids = present().clone();
    end_at_once(&pids, ABANDON_TIMEOUT);
}

/// Has processes end at once, and remove what they have made. Blocks until all have ended, for so
/// long at most.
pub(crate) fn end_at_once(pids: &[Pid], most: Duration) {
    let interrupt = || {
        for pid in pids {
            // It may have ended by itself.
            let _ = kill_process(*pid, Signal::INT);
        }
    };
    let is_left = |pid: &Pid| !has_ended(pid.as_raw_pid().cast_unsigned());
    let (begun, mut has_repeated) = (Instant::now(), false);
    // The second signal ends one at once; what it is at has had the first, a target that is held
    // has not.
    interrupt();
    while pids.iter().any(is_left) && begun.elapsed() < most {
        std::thread::sleep(STOP_INTERVAL);
        if !has_repeated && begun.elapsed() > SIGNAL_GAP {
            interrupt();
            has_repeated = true;
        }
    }
}

fn present() -> MutexGuard<'static, Vec<Pid>> {
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does some work, and meanwhile hands the wish to end on to a process.
pub(crate) fn forwarding<T>(pid: Pid, stop: &RunStop, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let forward = move || {
            while is_done.recv_timeout(STOP_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if stop.is_set() {
                    // It may have ended by itself.
                    let _ = kill_process(pid, Signal::INT);
                    return;
                }
            }
        };
        let forwarder = std::thread::Builder::new().name("signal".to_owned());
        // Without a thread for it the run goes on to its end.
        let forwarder = forwarder.spawn_scoped(scope, forward);
        let result = work();
        drop(done);
        drop(forwarder);
        result
    })
}

/// Reads up to the next outcome; `None` where the output ends before.
pub(crate) fn outcome(
    lines: &mut BufReader<ChildStdout>,
    progress: &(dyn Fn(RunProgress) + Sync),
) -> Option<RunOutcome> {
    for line in lines.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(RunEvent::Progress(event)) => progress(event),
            Ok(RunEvent::Outcome(outcome)) => return Some(outcome),
            // Half a line of a process that was killed.
            Err(_) => {}
        }
    }
    None
}

/// Why a process has no outcome that ended so.
pub(crate) fn without_outcome(status: ExitStatus, stop: &RunStop) -> LabError {
    match stop.is_set() {
        true => LabError::Interrupted(crate::drive::BEFORE_WINDOW),
        false => LabError::Crashed(end_of(status)),
    }
}

/// How a process ended, in words.
fn end_of(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => match Signal::from_named_raw(signal) {
            Some(name) => format!("was killed by signal {signal} ({name:?})"),
            None => format!("was killed by signal {signal}"),
        },
        (None, Some(code)) => format!("ended with exit code {code} and reported no outcome"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn shell(script: &str) -> RunProcess {
        let arguments = ["-c", script].map(OsString::from).to_vec();
        RunProcess { program: "sh".into(), arguments, ..RunProcess::default() }
    }

    #[test]
    fn events_arrive_and_the_last_is_the_outcome() {
        let process = shell(
            "echo '{\"event\":\"server\",\"step\":\"starting\"}'; cat >&2; \
             echo '{\"event\":\"failure\",\"exit_code\":3,\"text\":\"no\"}'; exit 3",
        );
        let seen = AtomicUsize::new(0);
        let count = |_: RunProgress| {
            seen.fetch_add(1, Ordering::Relaxed);
        };
        let result = process.run(&count, &RunStop::default()).expect("it ran");
        assert_eq!((result.exit_code, seen.load(Ordering::Relaxed)), (3, 1));
        let failure = RunOutcome::Failure { exit_code: 3, text: "no".to_owned() };
        assert_eq!(result.outcome, failure);
    }

    #[test]
    fn a_crash_is_told() {
        let quiet = |_: RunProgress| {};
        for (script, cause) in
            [("kill -9 $$", "killed by signal 9"), ("exit 70", "ended with exit code 70")]
        {
            let error = shell(script).run(&quiet, &RunStop::default()).expect_err("it crashed");
            assert!(error.to_string().contains(cause), "{error}");
        }
        let missing = RunProcess { program: "/not/there".into(), ..RunProcess::default() };
        let error = missing.run(&quiet, &RunStop::default()).expect_err("no such program");
        assert!(error.to_string().contains("cannot be started"), "{error}");
    }

    #[test]
    fn a_wish_to_end_is_handed_on() {
        // A job of a shell without job control has this signal ignored, and its children have too.
        let arguments = ["--default-signal=INT", "sleep", "60"].map(OsString::from).to_vec();
        let process = RunProcess { program: "env".into(), arguments, ..RunProcess::default() };
        let stop = RunStop::default();
        stop.at(dbtime_machine::now());
        let error = process.run(&|_| {}, &stop).expect_err("no outcome");
        assert!(matches!(error, LabError::Interrupted(_)), "{error}");
    }
}
