//! The servers that are watched, as they come and go.

use super::vacant_places::VacantPlaces;
use super::wall_clock;
use crate::error::LabError;
use dbtime_observe::trace::{Capture, ServerFilter, TracedServer, servers};
use jiff::tz::TimeZone;
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
    /// Where servers listened that have ended.
    vacant: VacantPlaces,
    /// When it was looked last who is there.
    looked_at: Instant,
}

impl ServerSet {
    /// Those that are there now, at least one.
    pub(super) fn find(filter: ServerFilter) -> Result<Self, LabError> {
        let servers = servers(&filter)?;
        let vacant = VacantPlaces::default();
        let looked_at = Instant::now();
        Ok(Self { filter, servers, young: Vec::new(), noted: 0, may_lack: true, vacant, looked_at })
    }

    pub(super) fn servers(&self) -> &[TracedServer] {
        &self.servers
    }

    pub(super) fn follows_new(&self) -> bool {
        self.filter.follows_new()
    }

    /// Whether there is none any more, and none to come.
    pub(super) fn is_over(&self) -> bool {
        self.servers.is_empty() && !self.follows_new() && self.vacant.is_empty()
    }

    /// What is not measured, as far as it was not noted before.
    pub(super) fn unavailable(&mut self, capture: &Capture) -> Vec<String> {
        let unavailable = capture.unavailable();
        let new = unavailable.get(self.noted..).unwrap_or_default();
        self.noted = unavailable.len();
        new.iter().map(|(what, why)| format!("not measured: {what} ({why})")).collect()
    }

    /// Takes in those that have started, and lets go of those that have ended. Returns notes on it.
    pub(super) fn poll(
        &mut self,
        capture: &mut Capture,
        zone: &TimeZone,
    ) -> Result<Vec<String>, LabError> {
        let mut notes = Vec::new();
        let (here, gone): (Vec<_>, Vec<_>) =
            self.servers.drain(..).partition(TracedServer::is_here);
        self.servers = here;
        let was_here = std::mem::replace(&mut self.looked_at, Instant::now());
        for server in gone {
            capture.forget(&server);
            let TracedServer { program, process, place, .. } = server;
            let waits = match &place {
                Some(place) => format!("; dbtime waits for the next on {place}"),
                None => String::new(),
            };
            notes.push(format!("{program}, process {process}, has ended{waits}"));
            self.vacant.extend(place, was_here);
        }
        notes.extend(self.fill_places(capture, zone)?);
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

    /// Takes in those that listen where others have ended.
    fn fill_places(
        &mut self,
        capture: &mut Capture,
        zone: &TimeZone,
    ) -> Result<Vec<String>, LabError> {
        let found = self.vacant.search(|place| {
            let processes = vec![place.clone()];
            // Where nobody is, or nobody who is meant, it is looked again.
            capture.servers(&ServerFilter { processes, ..self.filter.clone() }).unwrap_or_default()
        });
        let mut notes = Vec::new();
        for (server, since) in found {
            if self.servers.iter().any(|known| known.process == server.process) {
                continue;
            }
            let place = server.place.clone();
            let server = TracedServer { place, ..capture.add_started_server(&server)? };
            notes.push(format!(
                "{}: watching {}, process {}, which listens there now; what it served in the \
                 {:.1} s since the one before was last seen may be missing",
                wall_clock(zone),
                server.program,
                server.process,
                since.elapsed().as_secs_f64()
            ));
            self.young.push((server.clone(), Instant::now()));
            self.servers.push(server);
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
