//! A run that is let alone until its load has started: what is done to a server or a network then
//! falls into the load, however long a busy machine takes to get there.

use crate::sandbox::{Ran, Sandbox};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output};

/// A run whose load has started.
pub(crate) struct WatchedRun {
    line: String,
    child: Child,
    events: BufReader<ChildStdout>,
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

    /// Waits until it ends. On its stdout there is nothing but its record.
    pub(crate) fn end(mut self) -> Ran {
        let is_record = |event: &Value| event["event"] == "record";
        let events = self.events.by_ref().lines().map(|line| line.expect("text"));
        let mut events = events.map(|line| serde_json::from_str(&line).expect("JSON"));
        let record =
            events.find(is_record).map_or(String::new(), |event| event["record"].to_string());
        let mut stderr = Vec::new();
        let mut err = self.child.stderr.take().expect("a pipe");
        err.read_to_end(&mut stderr).expect("readable");
        let status = self.child.wait().expect("it ends");
        Ran::new(&self.line, &Output { status, stdout: record.into_bytes(), stderr })
    }
}
