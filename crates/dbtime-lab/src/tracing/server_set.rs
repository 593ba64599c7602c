//! The servers that are watched, as they come and go.

use super::vacant_places::VacantPlaces;
use super::wall_clock;
use crate::error::LabError;
use dbtime_model::Nanos;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_observe::trace::{Capture, ServerFilter, TracedServer, servers};
use jiff::tz::TimeZone;
use std::time::{Duration, Instant};

/// So long after its start a server is looked at again, until its TLS library is there.
const NEW_SERVER_WINDOW: Duration = Duration::from_secs(2);

/// How often it is looked for servers that have ended, and that nobody has asked how they did:
/// these still have their number.
const END_INTERVAL: Duration = Duration::from_secs(1);

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
    /// When the helper looked last who is there.
    looked_at: Instant,
    /// How often somebody was found where another had ended, and how long he may have been there by
    /// then, all together.
    restarts: u64,
    unwatched: Nanos,
}

impl ServerSet {
    /// Those that are there now, at least one.
    pub(super) fn find(filter: ServerFilter) -> Result<Self, LabError> {
        let servers = servers(&filter)?;
        let vacant = VacantPlaces::default();
        Ok(Self {
            filter,
            servers,
            young: Vec::new(),
            noted: 0,
            may_lack: true,
            vacant,
            looked_at: Instant::now(),
            restarts: 0,
            unwatched: Nanos::ZERO,
        })
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

    /// Accounts for the time in which a server was there and not watched.
    pub(super) fn account(&self, ledger: &mut TraceLedger) {
        (ledger.restarts, ledger.unwatched) = (self.restarts, self.unwatched);
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
        let was_here = self.looked_at;
        let looks = was_here.elapsed() >= END_INTERVAL;
        if looks {
            self.looked_at = Instant::now();
        }
        let is_here =
            |server: &TracedServer| server.is_here() && !(looks && capture.has_ended(server));
        let (here, gone): (Vec<_>, Vec<_>) = self.servers.drain(..).partition(is_here);
        self.servers = here;
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
            capture.servers(&ServerFilter { processes, ..self.filter.clone() })
        });
        let mut notes = Vec::new();
        for (server, since) in found {
            if self.servers.iter().any(|known| known.process == server.process) {
                continue;
            }
            let place = server.place.clone();
            let server = TracedServer { place, ..capture.add_started_server(&server)? };
            let unwatched = Nanos(since.elapsed().as_nanos() as u64);
            self.restarts += 1;
            self.unwatched += unwatched;
            notes.push(format!(
                "{}: watching {}, process {}, which listens there now; what it served in the \
                 {unwatched} before may be missing",
                wall_clock(zone),
                server.program,
                server.process,
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
