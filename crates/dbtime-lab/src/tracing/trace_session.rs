//! One watching of servers, from attaching to what it came to.

use super::cost_limiter::CostLimiter;
use super::holder_watch::{HolderOptions, HolderWatch};
use super::server_set::ServerSet;
use super::trace_recording::{NewTraceFile, TraceRecording};
use crate::error::LabError;
use dbtime_machine::now;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, VERSION};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::{
    AttachedPrograms, Capture, CaptureConfig, CaptureResult, HeldSignals, ServerFilter,
    TracedServer,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// What is watched, and what becomes of it.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// Which servers.
    pub servers: ServerFilter,
    /// Only requests of this user are added up.
    pub user: Option<String>,
    /// Only those in this database are.
    pub database: Option<String>,
    /// Whether requests are handed on one by one.
    pub hands_on: bool,
    /// Whether they are added up.
    pub adds_up: bool,
    /// Whether texts keep their literals.
    pub keeps_literals: bool,
    /// Requests whose text holds this are marked.
    pub pattern: Option<String>,
    /// The step of the coarse distribution; `None`: powers of two.
    pub step: Option<Nanos>,
    /// Room for requests that nobody has taken yet. Unit: bytes. Shape: a power of two.
    pub buffer_bytes: u32,
    /// Where watching takes more than this share of one CPU, it does less. Unit: percent.
    pub max_cost_pct: Option<f64>,
    /// A new file for everything that is seen.
    pub record: Option<PathBuf>,
}

impl TraceOptions {
    fn stream(&self, follows_new: bool) -> CaptureConfig {
        let is_reduced = self.max_cost_pct.is_some();
        CaptureConfig {
            user: self.user.clone(),
            database: self.database.clone(),
            is_on: self.hands_on,
            // What is too dear to be handed on is added up.
            adds_up: self.adds_up || is_reduced,
            follows_unix: self.servers.ports.is_empty(),
            follows_new,
            step: self.step.map_or(0, |step| (step.0 / 1000) as u32),
            buffer: self.buffer_bytes,
            keeps_literals: self.keeps_literals,
            pattern: self.pattern.clone(),
        }
    }
}

/// What has come since the last look.
#[derive(Debug, Default)]
pub struct TraceProgress {
    /// Requests that have ended, unless they are recorded.
    pub requests: Vec<TracedRequest>,
    /// What there is to know.
    pub notes: Vec<String>,
}

/// What a watching came to.
pub struct TraceOutcome {
    /// Requests that nobody has taken, unless they are recorded.
    pub requests: Vec<TracedRequest>,
    /// What it came to in all.
    pub end: TraceEnd,
    /// Why the recording is not whole; `None`: it is, or there is none.
    pub unrecorded: Option<LabError>,
    /// What there is to know.
    pub notes: Vec<String>,
    /// Programs that count nothing any more, and go when this is dropped, which may take seconds.
    pub attached: AttachedPrograms,
}

/// Servers that are watched.
pub struct TraceSession {
    capture: Capture,
    servers: ServerSet,
    limiter: Option<CostLimiter>,
    recording: Option<TraceRecording>,
    zone: TimeZone,
    began: String,
    follows_unix: bool,
    keeps_literals: bool,
    /// The step of the coarse distribution; zero: powers of two.
    step: Nanos,
}

impl TraceSession {
    /// Begins to watch. `install_signals` is called while signals are held, as soon as somebody is
    /// there to whom they are of use. To be called before there are other threads: this process
    /// has no rights afterwards.
    ///
    /// # Errors
    /// No server is there, the kernel refuses, or the file cannot be made; then nothing is left.
    pub fn attach<S>(
        options: &TraceOptions,
        holders: &HolderOptions,
        install_signals: impl FnOnce() -> S,
    ) -> Result<(Self, HolderWatch, S), LabError> {
        let servers = ServerSet::find(options.servers.clone())?;
        let stream = options.stream(servers.follows_new());
        let mut holders = HolderWatch::connect(holders)?;
        // What is opened is opened with the rights of whoever asks for it: later there are none.
        let file = options.record.as_deref().map(NewTraceFile::create).transpose()?;
        let (zone, held) = (TimeZone::system(), HeldSignals::hold());
        let capture = Capture::attach(servers.servers(), &stream)?;
        let signals = install_signals();
        drop(held);
        let began = wall_clock(&zone);
        holders.list_sessions(&capture, servers.servers());
        let limiter = options.max_cost_pct;
        let limiter = limiter.map(|most| CostLimiter::new(most, stream.is_on, capture.since()));
        let follows_unix = stream.follows_unix;
        let mut session = Self {
            capture,
            servers,
            limiter,
            recording: None,
            zone,
            began,
            follows_unix,
            keeps_literals: options.keeps_literals,
            step: options.step.unwrap_or(Nanos::ZERO),
        };
        let heading = session.heading();
        session.recording = file.map(|file| TraceRecording::begin(file, &heading)).transpose()?;
        Ok((session, holders, signals))
    }

    /// What stands at the beginning of a recording of it.
    pub fn heading(&self) -> TraceBegin {
        TraceBegin {
            version: VERSION,
            since: self.since(),
            clock: self.began.clone(),
            servers: self.server_names(),
            raw_sql: self.keeps_literals,
            step: self.step,
        }
    }

    /// Leaves this process with the system calls that watching needs: all files are open, all
    /// threads are there.
    ///
    /// # Errors
    /// The kernel has no such filters.
    pub fn confine(&self) -> Result<(), LabError> {
        Ok(self.capture.confine()?)
    }

    /// When the watching began.
    pub fn since(&self) -> MonoNanos {
        self.capture.since()
    }

    /// The time now, by the clock on the wall, for people.
    pub fn clock(&self) -> String {
        wall_clock(&self.zone)
    }

    /// The servers that are watched now.
    pub fn servers(&self) -> &[TracedServer] {
        self.servers.servers()
    }

    /// What they are called, for people.
    pub fn server_names(&self) -> Vec<String> {
        self.servers().iter().map(|server| self.server_name(server)).collect()
    }

    fn server_name(&self, server: &TracedServer) -> String {
        let TracedServer { process, program, ports, .. } = server;
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        let socket = if self.follows_unix { " and its Unix socket" } else { "" };
        let ports = match ports.len() {
            0 => "its Unix socket".to_owned(),
            _ => format!("port {}{socket}", ports.join(", ")),
        };
        format!("{program}, process {process}, {ports}")
    }

    /// What is not measured, as far as it was not said before.
    pub fn unavailable(&mut self) -> Vec<String> {
        self.servers.unavailable(&self.capture)
    }

    /// Whether every server has ended, and none is to come.
    pub fn is_over(&self) -> bool {
        self.servers.is_over()
    }

    /// The kernel's side, for what only some want to know of it.
    pub fn capture(&mut self) -> &mut Capture {
        &mut self.capture
    }

    /// Takes what has come; to be called some times a second. Does not wait.
    ///
    /// # Errors
    /// Nothing can be watched any more, or recorded; what was seen so far is still to be had.
    pub fn poll(&mut self) -> Result<TraceProgress, LabError> {
        self.capture.tend()?;
        let requests = self.capture.take()?;
        let requests = self.record(requests)?;
        let mut notes = Vec::new();
        if let Some(limiter) = &mut self.limiter {
            notes.extend(limiter.check(&mut self.capture)?);
        }
        notes.extend(self.servers.poll(&mut self.capture)?);
        Ok(TraceProgress { requests, notes })
    }

    /// How many statements have ended so far; `None` where requests are only counted, which tells
    /// no statements from others.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub fn statements(&self) -> Result<Option<u64>, LabError> {
        match self.limiter.as_ref().and_then(CostLimiter::added_up) {
            Some(_) => Ok(None),
            None => Ok(Some(self.capture.statements()?)),
        }
    }

    /// Records requests, where there is a recording; else they come back.
    fn record(&mut self, requests: Vec<TracedRequest>) -> Result<Vec<TracedRequest>, LabError> {
        let Some(recording) = &mut self.recording else { return Ok(requests) };
        let added = recording.add(&requests);
        if added.is_err() {
            // Anything behind the gap, the end above all, would hide it.
            self.recording = None;
        }
        added.map(|()| Vec::new())
    }

    /// Ends the watching.
    ///
    /// # Errors
    /// What is left cannot be read.
    pub fn finish(mut self) -> Result<TraceOutcome, LabError> {
        let length = now() - self.since();
        let (zone, is_recorded) = (self.zone.clone(), self.recording.is_some());
        let added_up = self.limiter.as_ref().and_then(CostLimiter::added_up);
        let recording = self.recording.take();
        let CaptureResult { requests, ledger, cost, totals, attached } = self.capture.detach()?;
        let clock = wall_clock(&zone);
        let end = TraceEnd { length, added_up, clock, ledger, cost: Some(cost), totals };
        let written = recording.map(|recording| recording.finish(&requests, &end)).transpose();
        let (note, unrecorded) = match written {
            Ok(note) => (note, None),
            Err(error) => (None, Some(error)),
        };
        let requests = if is_recorded { Vec::new() } else { requests };
        Ok(TraceOutcome { requests, end, unrecorded, notes: note.into_iter().collect(), attached })
    }
}

/// The time of day, where this machine is.
fn wall_clock(zone: &TimeZone) -> String {
    Timestamp::now().to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
