//! A process that holds the target of a run, and measures slices on it as they are asked for: one
//! life of a server for all of them.
//!
//! It reads the written form of the run from the first line of its input, and a [`SliceRequest`] a
//! line behind that. The end of its input is the end of the target.

use crate::error::LabError;
use crate::progress::RunProgress;
use crate::run_event::{RunOutcome, SliceRequest};
use crate::run_process::{
    PresentProcess, RunProcess, STOP_INTERVAL, end_at_once, forwarding, outcome, without_outcome,
};
use dbtime_engines::drive::plan::RunStop;
use rustix::process::Pid;
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// How long a server may take to end that is asked to, and how long behind a signal.
const END_TIMEOUT: Duration = Duration::from_secs(60);
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(10);

/// The process, with its target ready. That ends when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldRun {
    child: Child,
    pid: Pid,
    /// `None`: its end was asked for.
    input: Option<ChildStdin>,
    /// Open until it has ended: closed before, it would take this process for gone.
    lines: Option<BufReader<ChildStdout>>,
    _registered: PresentProcess,
}

impl HeldRun {
    /// Starts the process, and blocks until its target is ready; `stop` ends that early. What it
    /// ended with instead is the outcome.
    ///
    /// Errors: as of [`RunProcess::run`].
    pub(crate) fn begin(
        process: &RunProcess,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<Result<Self, RunOutcome>, LabError> {
        let mut child = process.started()?;
        let pid = Pid::from_child(&child);
        let (input, lines) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let mut held = Self { child, pid, input, lines, _registered: PresentProcess::set(pid) };
        held.write_line(&process.document);
        Ok(match held.next_outcome(progress, stop)? {
            RunOutcome::Held => Ok(held),
            other => Err(other),
        })
    }

    /// Has it make a slice, and blocks until that is made; `stop` ends it early.
    ///
    /// Errors: [`LabError::Crashed`], where the process ends without an outcome.
    pub(crate) fn slice(
        &mut self,
        slice: &SliceRequest,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<RunOutcome, LabError> {
        let line = serde_json::to_string(slice);
        let line = line.map_err(|error| LabError::Target(error.to_string()))?;
        self.write_line(&line);
        self.next_outcome(progress, stop)
    }

    /// Asks it to end its target, and does not wait for that.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// One that does not read it has ended, and its status tells.
    fn write_line(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    fn next_outcome(
        &mut self,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<RunOutcome, LabError> {
        let lines = &mut self.lines;
        let read = || lines.as_mut().and_then(|lines| outcome(lines, progress));
        match forwarding(self.pid, stop, read) {
            Some(outcome) => Ok(outcome),
            None => {
                let status = self.child.wait();
                let status = status.map_err(|error| LabError::Target(error.to_string()))?;
                Err(without_outcome(status, stop))
            }
        }
    }

    /// Waits until it has ended, for so long at most; whether it has.
    fn ends_within(&mut self, most: Duration) -> bool {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < most => std::thread::sleep(STOP_INTERVAL),
                Ok(None) => return false,
                // What cannot be waited for is none of this process's.
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

impl Drop for HeldRun {
    fn drop(&mut self) {
        self.close();
        if self.ends_within(END_TIMEOUT) {
            return;
        }
        end_at_once(&[self.pid], SIGNAL_TIMEOUT);
        if !self.ends_within(STOP_INTERVAL) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    /// A shell that holds what is no target.
    fn shell(script: &str) -> RunProcess {
        let arguments = ["-c", script].map(OsString::from).to_vec();
        let document = "{\"spec\":{}}".to_owned();
        RunProcess { program: "sh".into(), arguments, document, ..RunProcess::default() }
    }

    fn begin(script: &str) -> Result<Result<HeldRun, RunOutcome>, LabError> {
        HeldRun::begin(&shell(script), &|_| {}, &RunStop::default())
    }

    #[test]
    fn slices_are_asked_for_one_by_one_and_the_end_of_the_input_is_the_end() {
        let script = "read -r spec; echo '{\"event\":\"held\"}'; \
                      while read -r slice; do \
                      echo '{\"event\":\"failure\",\"exit_code\":3,\"text\":\"one\"}'; done";
        let mut held = begin(script).expect("it starts").expect("it is held");
        let slice = SliceRequest { out: "r".into(), seed: 7 };
        for _ in 0..2 {
            let made = held.slice(&slice, &|_| {}, &RunStop::default()).expect("an outcome");
            assert_eq!(made, RunOutcome::Failure { exit_code: 3, text: "one".to_owned() });
        }
        held.close();
        assert!(held.ends_within(END_TIMEOUT));
    }

    #[test]
    fn what_cannot_be_held_and_what_dies_is_told() {
        let refused = "echo '{\"event\":\"failure\",\"exit_code\":3,\"text\":\"no\"}'; exit 3";
        let outcome = begin(refused).expect("it starts").expect_err("it is not held");
        assert_eq!(outcome, RunOutcome::Failure { exit_code: 3, text: "no".to_owned() });
        let error = begin("exit 70").expect_err("it ended");
        assert!(error.to_string().contains("exit code 70"), "{error}");
        let dies = "read -r spec; echo '{\"event\":\"held\"}'; read -r slice; kill -9 $$";
        let mut held = begin(dies).expect("it starts").expect("it is held");
        let slice = SliceRequest::default();
        let error = held.slice(&slice, &|_| {}, &RunStop::default()).expect_err("it was killed");
        assert!(error.to_string().contains("killed by signal 9"), "{error}");
    }
}
