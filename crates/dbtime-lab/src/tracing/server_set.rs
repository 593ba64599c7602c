//! The servers that are watched, as they come and go.

use crate::error::LabError;
use dbtime_observe::trace::{Capture, ServerFilter, TracedServer, servers};
use std::time::{Duration, Instant};

/// So long after its start a server is looked at again, until its TLS library is there.
const NEW_SERVER_WINDOW: Duration = Duration::from_secs(2);

/// The servers that are watched.
pub(super) struct ServerSet {
    filter: ServerFilter,
    servers: Vec<TracedServer>,
    /// Those that have just started, and when they were first looked at.
    young: Vec<(TracedServer, Instant)>,
    /// How much of what is not measured was noted.
    noted: usize,
    /// Whether some may have started before the kernel told of it.
    may_lack: bool,
}

impl ServerSet {
    /// Those that are there now, at least one.
    pub(super) fn find(filter: ServerFilter) -> Result<Self, LabError> {
        let servers = servers(&filter)?;
        Ok(Self { filter, servers, young: Vec::new(), noted: 0, may_lack: true })
    }

    pub(super) fn servers(&self) -> &[TracedServer] {
        &self.servers
    }

    pub(super) fn follows_new(&self) -> bool {
        self.filter.follows_new()
    }

    /// Whether there is none any more, and none to come.
    pub(super) fn is_over(&self) -> bool {
        self.servers.is_empty() && !self.follows_new()
    }

    /// What is not measured, as far as it was not noted before.
    pub(super) fn unavailable(&mut self, capture: &Capture) -> Vec<String> {
        let unavailable = capture.unavailable();
        let new = unavailable.get(self.noted..).unwrap_or_default();
        self.noted = unavailable.len();
        new.iter().map(|(what, why)| format!("not measured: {what} ({why})")).collect()
    }

    /// Takes in those that have started, and lets go of those that have ended. Returns notes on it.
    pub(super) fn poll(&mut self, capture: &mut Capture) -> Result<Vec<String>, LabError> {
        let mut notes = Vec::new();
        let (here, gone): (Vec<_>, Vec<_>) =
            self.servers.drain(..).partition(TracedServer::is_here);
        self.servers = here;
        for server in gone {
            capture.forget(&server);
            notes.push(format!("{}, process {}, has ended", server.program, server.process));
        }
        for server in self.started(capture)? {
            self.servers.retain(|other| other.process != server.process);
            let server = capture.add_started_server(&server)?;
            notes.push(format!(
                "watching {}, process {}, which has just started",
                server.program, server.process
            ));
            self.young.push((server.clone(), Instant::now()));
            self.servers.push(server);
        }
        for (server, since) in std::mem::take(&mut self.young) {
            let is_young = since.elapsed() < NEW_SERVER_WINDOW && server.is_here();
            if is_young && !capture.rescan(&server)? {
                self.young.push((server, since));
            }
        }
        notes.extend(self.unavailable(capture));
        if self.is_over() {
            notes.push("every server that was watched has ended".to_owned());
        }
        Ok(notes)
    }

    /// Those that were not there before.
    fn started(&mut self, capture: &mut Capture) -> Result<Vec<TracedServer>, LabError> {
        if !self.follows_new() {
            return Ok(Vec::new());
        }
        let mut started = capture.started(&self.filter)?;
        if std::mem::take(&mut self.may_lack) {
            // None there: those that were found at first have ended.
            started.extend(capture.servers(&self.filter).unwrap_or_default());
            started.retain(|new| self.servers.iter().all(|known| known.process != new.process));
            started.sort_by_key(|server| server.process);
            started.dedup_by_key(|server| server.process);
        }
        Ok(started)
    }
}
