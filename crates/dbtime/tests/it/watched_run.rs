//! A run that is let alone until its load has started: what is done to a server or a network then
//! falls into the load, however long a busy machine takes to get there.

use crate::sandbox::{Ran, Sandbox};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output};

/// A run whose load has started.
pub(crate) struct WatchedRun {
    line: String,
    child: Child,
    events: BufReader<ChildStdout>,
}

impl Drop for WatchedRun {
    /// Also where a test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl WatchedRun {
    /// Starts `dbtime LINE --events` and waits until its load has started.
    pub(crate) fn start(sandbox: &Sandbox, line: &str) -> Self {
        let line = format!("{line} --events");
        Self::of(sandbox.command(&line), line)
    }

    /// The same of a command that writes its events.
    pub(crate) fn of(mut command: Command, line: String) -> Self {
        let mut child = command.spawn().expect("dbtime starts");
        let mut events = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut event = String::new();
        while !event.contains("\"started\"") {
            event.clear();
            let length = events.read_line(&mut event).expect("text");
            assert!(length > 0, "`dbtime {line}` ended before its load");
        }
        Self { line, child, events }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the process is there");
    }

    /// Waits until it ends: its record as what it printed, and as said on stderr the reason of its
    /// exit code, which is in its last event.
    pub(crate) fn end(mut self) -> Ran {
        let mut stderr = String::new();
        let mut last = Value::Null;
        for line in self.events.by_ref().lines() {
            last = serde_json::from_str(&line.expect("text")).expect("JSON");
        }
        let mut err = self.child.stderr.take().expect("a pipe");
        err.read_to_string(&mut stderr).expect("text");
        stderr += last["reason"].as_str().unwrap_or_default();
        let stdout = last["record"].to_string().into_bytes();
        let status = self.child.wait().expect("it ends");
        Ran::new(&self.line, &Output { status, stdout, stderr: stderr.into_bytes() })
    }
}
