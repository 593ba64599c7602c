//! The reader: a process of its own, which understands what clients send and servers answer. It has
//! no rights, and few system calls; a helper attaches for it.
//!
//! Whatever goes wrong here, by hostile bytes for instance, ends this process alone. It answers
//! commands one behind the other; requests wait in the kernel's buffer until they are polled.

use super::cost_limiter::CostLimiter;
use super::reader_messages::{
    BATCH_REQUESTS, FrameStream, ReaderBegin, ReaderCommand, ReaderError, ReaderOutcome,
    ReaderProgress, ReaderStart, TotalsMessage,
};
use super::server_set::ServerSet;
use super::trace_options::TraceOptions;
use super::trace_recording::{NewTraceFile, TraceRecording};
use super::wall_clock;
use crate::error::LabError;
use dbtime_machine::{BatchThread, now};
use dbtime_model::Nanos;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_batch::RequestBatch;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, VERSION};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_observe::process::boot_id;
use dbtime_observe::trace::{
    AttachedPrograms, Capture, CaptureResult, HeldSignals, MessageChannel, TraceError,
    TracedServer, go_on_without_parent,
};
use jiff::tz::TimeZone;
use serde::Serialize;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Is the reader of the process that has started this one; returns when that has ended or has no
/// more use for it.
///
/// # Errors
/// It was not started by dbtime, or its messages make no sense.
pub fn serve_reader() -> Result<(), LabError> {
    let failed = |error: io::Error| {
        LabError::from(TraceError::Reader(format!("is not started by dbtime: {error}")))
    };
    let channel = MessageChannel::inherited().map_err(failed)?;
    go_on_without_parent().map_err(|error| failed(error.into()))?;
    // Ctrl-C is for all processes of a terminal; the session ends this one.
    let _held = HeldSignals::hold();
    // It gives way to the servers that it watches.
    let _batch = BatchThread::begin();
    // Instead of that of the link it was started by.
    rustix::thread::set_name(c"dbtime-reader").map_err(|error| failed(error.into()))?;
    let Some((start, files)) = channel.receive::<ReaderStart>().map_err(failed)? else {
        return Ok(()); // whoever has started it is gone
    };
    drop(channel);
    let mut files = files.into_iter();
    let stream = files.next().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let mut stream = FrameStream::new(UnixStream::from(stream));
    match CaptureReader::attach(&start, &files.collect::<Vec<_>>()) {
        Ok((reader, begin)) => {
            // A session that is gone is found out by the next message.
            let _ = reply(&mut stream, Ok::<_, LabError>(begin));
            reader.serve(&mut stream);
            Ok(())
        }
        Err(error) => reply::<ReaderBegin, _>(&mut stream, Err(error)).map_err(failed),
    }
}

/// Servers that are watched, and what becomes of what is seen.
struct CaptureReader {
    capture: Capture,
    servers: ServerSet,
    limiter: Option<CostLimiter>,
    recording: Option<TraceRecording>,
    zone: TimeZone,
    /// Those that the session knows.
    known_servers: Vec<TracedServer>,
}

impl CaptureReader {
    /// Begins to watch; this process has no rights afterwards, and few system calls.
    fn attach(start: &ReaderStart, terminal: &[OwnedFd]) -> Result<(Self, ReaderBegin), LabError> {
        let options = &start.options;
        let servers = ServerSet::find(options.servers.clone())?;
        let config = options.capture_config();
        // What is opened is opened with the rights of whoever has started dbtime: later there are
        // none.
        let path = options.record.as_deref().map(Path::new);
        let file = path.map(NewTraceFile::create).transpose()?;
        let zone = TimeZone::system();
        let mut capture = Capture::attach(servers.servers(), &config)?;
        let began = wall_clock(&zone);
        if let Some(process) = start.charged {
            capture.charge(process);
        }
        if !terminal.is_empty() {
            let files: Vec<_> = terminal.iter().map(AsFd::as_fd).collect();
            capture.lend_terminal(&files)?;
        }
        let limiter = options.max_cost_pct;
        let limiter = limiter.map(|most| CostLimiter::new(most, config.is_on, capture.since()));
        let known_servers = servers.servers().to_vec();
        let mut reader = Self { capture, servers, limiter, recording: None, zone, known_servers };
        let heading = reader.heading(options, began);
        reader.recording = file.map(|file| TraceRecording::begin(file, &heading)).transpose()?;
        reader.capture.confine()?;
        let unavailable = reader.servers.unavailable(&reader.capture);
        let begin = ReaderBegin {
            heading,
            servers: reader.known_servers.clone(),
            unavailable,
            lacks_parts: reader.capture.lacks_parts(),
            lacks_activities: reader.capture.lacks_activities(),
        };
        Ok((reader, begin))
    }

    /// What stands at the beginning of a recording.
    fn heading(&self, options: &TraceOptions, began: String) -> TraceBegin {
        let follows_unix = options.servers.ports.is_empty();
        let servers = self.known_servers.iter();
        TraceBegin {
            version: VERSION,
            since: self.capture.since(),
            clock: began,
            clock_id: Some(boot_id()).filter(|id| !id.is_empty()),
            servers: servers.map(|server| server_name(server, follows_unix)).collect(),
            raw_sql: options.keeps_literals,
            step: options.step.unwrap_or(Nanos::ZERO),
        }
    }

    /// Answers commands until the last one, or until the session is gone, which may be killed at
    /// any time: a recording is to have its end all the same.
    fn serve(mut self, stream: &mut FrameStream<UnixStream>) {
        while let Ok(Some(command)) = stream.receive() {
            let answered = match command {
                ReaderCommand::Poll => reply_with_requests(stream, self.poll()),
                ReaderCommand::Watch { is_on } => reply(stream, self.capture.watch(is_on)),
                ReaderCommand::Statements => reply(stream, self.statements()),
                ReaderCommand::Totals => {
                    reply(stream, self.capture.totals().map(TotalsMessage::from))
                }
                ReaderCommand::Connections => reply(stream, self.capture.connections()),
                ReaderCommand::Prior => reply(stream, self.capture.prior()),
                ReaderCommand::Stacks => reply(stream, self.capture.stacks()),
                ReaderCommand::Ledger => reply(stream, self.ledger()),
                ReaderCommand::ListSessions { process, at, sessions } => {
                    reply(stream, self.capture.list_sessions(process, at, sessions))
                }
                ReaderCommand::Finish => return self.hand_over(stream),
            };
            if answered.is_err() {
                break;
            }
        }
        // Nobody is there to be told of what goes wrong.
        let _ = self.finish();
    }

    /// The last reply. What is attached goes behind it: nobody has to wait for that.
    fn hand_over(self, stream: &mut FrameStream<UnixStream>) {
        let mut attached = None;
        let finished = self.finish().map(|(requests, outcome, programs)| {
            attached = Some(programs);
            (requests, outcome)
        });
        // A session that is gone has no use for it; a recording has its end already.
        let _ = reply_with_requests(stream, finished);
        drop(attached);
    }

    /// Takes what has come.
    fn poll(&mut self) -> Result<(Vec<TracedRequest>, ReaderProgress), LabError> {
        self.capture.poll()?;
        let requests = self.capture.drain()?;
        let requests = self.record(requests)?;
        let mut notes = Vec::new();
        if let Some(limiter) = &mut self.limiter {
            notes.extend(limiter.check(&mut self.capture)?);
        }
        notes.extend(self.servers.poll(&mut self.capture, &self.zone)?);
        let servers = self.servers.servers();
        let servers = (self.known_servers != servers).then(|| servers.to_vec());
        if let Some(servers) = &servers {
            self.known_servers.clone_from(servers);
        }
        let is_over = self.servers.is_over();
        Ok((requests, ReaderProgress { notes, servers, is_over }))
    }

    /// What was counted so far.
    fn ledger(&self) -> Result<TraceLedger, LabError> {
        let mut ledger = self.capture.ledger()?;
        self.servers.account(&mut ledger);
        Ok(ledger)
    }

    /// How many statements have ended; `None` where requests are only counted.
    fn statements(&self) -> Result<Option<u64>, LabError> {
        match self.limiter.as_ref().and_then(CostLimiter::added_up) {
            Some(_) => Ok(None),
            None => Ok(Some(self.capture.statements()?)),
        }
    }

    /// Records requests, where there is a recording; else they come back.
    fn record(&mut self, mut requests: Vec<TracedRequest>) -> Result<Vec<TracedRequest>, LabError> {
        let Some(recording) = &mut self.recording else { return Ok(requests) };
        let added = recording.add(&mut requests);
        if added.is_err() {
            // Anything behind the gap, the end above all, would hide it.
            self.recording = None;
        }
        added.map(|()| Vec::new())
    }

    /// Ends the watching.
    fn finish(mut self) -> Result<(Vec<TracedRequest>, ReaderOutcome, AttachedPrograms), LabError> {
        let length = now() - self.capture.since();
        let (zone, is_recorded) = (self.zone, self.recording.is_some());
        let added_up = self.limiter.as_ref().and_then(CostLimiter::added_up);
        let recording = self.recording.take();
        let CaptureResult { mut requests, mut ledger, cost, totals, helper_stop, attached } =
            self.capture.detach()?;
        self.servers.account(&mut ledger);
        let clock = wall_clock(&zone);
        let end = TraceEnd { length, added_up, clock, ledger, cost: Some(cost), totals };
        let written = recording.map(|recording| recording.finish(&mut requests, &end)).transpose();
        let (note, unrecorded) = match written {
            Ok(note) => (note, None),
            Err(error) => (None, Some(error)),
        };
        let requests = if is_recorded { Vec::new() } else { requests };
        let notes = note.into_iter().chain(helper_stop).collect();
        let outcome = ReaderOutcome::new(end, unrecorded, notes);
        Ok((requests, outcome, attached))
    }
}

fn reply<T: Serialize, E: Into<LabError>>(
    stream: &mut FrameStream<UnixStream>,
    reply: Result<T, E>,
) -> io::Result<()> {
    let reply: Result<T, LabError> = reply.map_err(Into::into);
    stream.send(&reply.map_err(ReaderError::from))?;
    stream.flush()
}

/// A reply behind requests in batches, the last of which is empty.
fn reply_with_requests<T: Serialize>(
    stream: &mut FrameStream<UnixStream>,
    result: Result<(Vec<TracedRequest>, T), LabError>,
) -> io::Result<()> {
    let (mut requests, result) = match result {
        Ok((requests, value)) => (requests, Ok(value)),
        Err(error) => (Vec::new(), Err(error)),
    };
    for batch in requests.chunks_mut(BATCH_REQUESTS) {
        stream.send(&RequestBatch::new(batch))?;
    }
    stream.send(&RequestBatch::new(&mut []))?;
    reply(stream, result)
}

/// What a server is called, for people.
fn server_name(server: &TracedServer, follows_unix: bool) -> String {
    let TracedServer { process, program, ports, .. } = server;
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    let socket = if follows_unix { " and its Unix socket" } else { "" };
    let ports = match ports.len() {
        0 => "its Unix socket".to_owned(),
        _ => format!("port {}{socket}", ports.join(", ")),
    };
    format!("{program}, process {process}, {ports}")
}
