//! One watching of servers, from attaching to what it came to: the side of whoever wants to know.

use super::holder_watch::{HolderOptions, HolderWatch};
use super::reader_messages::{ReaderBegin, ReaderCommand, ReaderOutcome, ReaderProgress};
use super::reader_messages::{ReaderStart, TotalsMessage};
use super::reader_process::ReaderProcess;
use super::trace_options::TraceOptions;
use super::wall_clock;
use crate::error::LabError;
use dbtime_model::MonoNanos;
use dbtime_model::lock_picture::ServerSession;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_prior::PriorWork;
use dbtime_model::traced_totals::TracedTotals;
use dbtime_observe::trace::{
    BorrowedTerminal, HeldSignals, StackTable, TracedServer, confine, give_up_rights,
    require_machines_numbers, servers,
};
use jiff::tz::TimeZone;
use std::process::Stdio;

/// What has come since the last look.
#[derive(Debug, Default)]
pub struct TraceProgress {
    /// Requests that have ended, unless they are recorded.
    pub requests: Vec<TracedRequest>,
    /// What there is to know.
    pub notes: Vec<String>,
}

/// What a watching came to.
#[derive(Debug)]
pub struct TraceOutcome {
    /// Requests that nobody has taken, unless they are recorded.
    pub requests: Vec<TracedRequest>,
    /// What it came to in all.
    pub end: TraceEnd,
    /// Why the recording is not whole; `None`: it is, or there is none.
    pub unrecorded: Option<LabError>,
    /// What there is to know.
    pub notes: Vec<String>,
    /// The reader, which detaches its programs. They count nothing any more; dropping this waits
    /// until they are gone, seconds on busy CPUs, so that a report had better be there before.
    pub reader: DetachingReader,
}

/// A reader that detaches its programs and ends.
#[derive(Debug)]
pub struct DetachingReader(#[expect(dead_code, reason = "it goes when this goes")] ReaderProcess);

/// Servers that are watched, by a reader of its own.
#[derive(Debug)]
pub struct TraceSession {
    /// Before the reader: the helper waits for either of both to be given back.
    terminal: Option<BorrowedTerminal>,
    reader: ReaderProcess,
    begin: ReaderBegin,
    is_over: bool,
    zone: TimeZone,
}

impl TraceSession {
    /// Begins to watch. This process keeps its rights, and may do other work; the CPU time of
    /// `charged` is part of what watching costs.
    fn start(
        options: &TraceOptions,
        charged: Option<u32>,
        reader_stderr: Stdio,
        note: fn(&str),
    ) -> Result<Self, LabError> {
        let zone = TimeZone::system();
        let start = ReaderStart { options: options.clone(), charged };
        let (reader, begin, terminal) = ReaderProcess::start(&start, reader_stderr, note)?;
        Ok(Self { terminal, reader, begin, is_over: false, zone })
    }

    /// Begins to watch beside a run, which keeps its rights. `note` as with [`Self::attach`].
    ///
    /// # Errors
    /// No server is there, or the kernel refuses; then nothing is left.
    pub(crate) fn beside_run(options: &TraceOptions, note: fn(&str)) -> Result<Self, LabError> {
        Self::start(options, None, Stdio::inherit(), note)
    }

    /// Begins to watch, from a process that does nothing else: it has no rights afterwards, and
    /// its CPU time is part of what watching costs. `install_signals` is called while signals are
    /// held, as soon as somebody is there to whom they are of use. What a panic of the reader
    /// prints goes to `reader_stderr`; that it stands still while it is waited for is told `note`.
    /// To be called before there are other threads.
    ///
    /// # Errors
    /// No server is there, the login does not succeed, the kernel refuses, or the file cannot be
    /// made; then nothing is left.
    pub fn attach<S>(
        options: &TraceOptions,
        holders: &HolderOptions,
        reader_stderr: Stdio,
        note: fn(&str),
        install_signals: impl FnOnce() -> S,
    ) -> Result<(Self, HolderWatch, S), LabError> {
        require_machines_numbers()?;
        if holders.login.is_some() {
            // A server that is not there is named before a login is tried.
            servers(&options.servers)?;
        }
        let mut holders = HolderWatch::connect(holders)?;
        let held = HeldSignals::hold();
        let charged = Some(std::process::id());
        let mut session = Self::start(options, charged, reader_stderr, note)?;
        give_up_rights()?;
        let signals = install_signals();
        drop(held);
        holders.list_sessions(&mut session)?;
        Ok((session, holders, signals))
    }

    /// Leaves this process with the system calls that showing takes: all files are open, all
    /// threads are there.
    ///
    /// # Errors
    /// The kernel has no such filters.
    pub fn confine(&self) -> Result<(), LabError> {
        Ok(confine(self.reader.waited())?)
    }

    /// The terminal that was lent with [`TraceOptions::borrows_terminal`]; `None` once taken.
    pub fn take_terminal(&mut self) -> Option<BorrowedTerminal> {
        self.terminal.take()
    }

    /// What stands at the beginning of a recording of it.
    pub fn heading(&self) -> &TraceBegin {
        &self.begin.heading
    }

    /// When the watching began.
    pub fn since(&self) -> MonoNanos {
        self.begin.heading.since
    }

    /// The time now, by the clock on the wall, for people.
    pub fn clock(&self) -> String {
        wall_clock(&self.zone)
    }

    /// The servers that are watched now.
    pub fn servers(&self) -> &[TracedServer] {
        &self.begin.servers
    }

    /// Whether the kernel does not tell where responses went: they have no parts.
    pub fn lacks_parts(&self) -> bool {
        self.begin.lacks_parts
    }

    /// Whether the kernel does not show what connections are at: [`Self::connections`] is empty
    /// then, however many there are.
    pub fn lacks_activities(&self) -> bool {
        self.begin.lacks_activities
    }

    /// What is not measured, as known when the watching began; later additions are notes.
    pub fn unavailable(&self) -> &[String] {
        &self.begin.unavailable
    }

    /// Whether every server has ended, and none is to come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes what has come; to be called some times a second. Does not wait.
    ///
    /// # Errors
    /// Nothing can be watched any more, or recorded; what was seen so far is still to be had.
    pub fn poll(&mut self) -> Result<TraceProgress, LabError> {
        let (requests, progress) = self.reader.call_with_requests(&ReaderCommand::Poll)?;
        let ReaderProgress { mut notes, servers, is_over } = progress;
        notes.extend(self.reader.take_stop());
        if let Some(servers) = servers {
            self.begin.servers = servers;
        }
        self.is_over = is_over;
        Ok(TraceProgress { requests, notes })
    }

    /// Ends the watching for now, or goes on with it. Requests that are under way then are wrong or
    /// missing.
    ///
    /// # Errors
    /// The reader has ended.
    pub(crate) fn watch(&mut self, is_on: bool) -> Result<(), LabError> {
        self.reader.call(&ReaderCommand::Watch { is_on })
    }

    /// How many statements have ended so far; `None` where requests are only counted, which tells
    /// no statements from others.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub fn statements(&mut self) -> Result<Option<u64>, LabError> {
        self.reader.call(&ReaderCommand::Statements)
    }

    /// What statements came to so far.
    ///
    /// # Errors
    /// The sums cannot be read.
    pub fn totals(&mut self) -> Result<TracedTotals, LabError> {
        self.reader.call::<TotalsMessage>(&ReaderCommand::Totals).map(TracedTotals::from)
    }

    /// What every connection is at that has sent a request since the watching began.
    ///
    /// # Errors
    /// The kernel does not let it look.
    pub fn connections(&mut self) -> Result<Vec<LiveConnection>, LabError> {
        self.reader.call(&ReaderCommand::Connections)
    }

    /// What sessions were at before the watching began, as far as it goes on. To be called behind
    /// [`connections`](Self::connections): who is among these has left that behind.
    ///
    /// # Errors
    /// The helper has ended.
    pub fn prior(&mut self) -> Result<PriorWork, LabError> {
        self.reader.call(&ReaderCommand::Prior)
    }

    /// All stacks that requests have had so far.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn stacks(&mut self) -> Result<StackTable, LabError> {
        self.reader.call(&ReaderCommand::Stacks)
    }

    /// What was counted so far; nothing is known yet of what is in flight.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub fn ledger(&mut self) -> Result<TraceLedger, LabError> {
        self.reader.call(&ReaderCommand::Ledger)
    }

    /// Names connections from before the watching as a server did in a list that was requested at
    /// `at`.
    ///
    /// # Errors
    /// The reader has ended.
    pub(crate) fn list_sessions(
        &mut self,
        process: u32,
        at: MonoNanos,
        sessions: Vec<ServerSession>,
    ) -> Result<(), LabError> {
        self.reader.call(&ReaderCommand::ListSessions { process, at, sessions })
    }

    /// Ends the watching.
    ///
    /// # Errors
    /// What is left cannot be read.
    pub fn finish(mut self) -> Result<TraceOutcome, LabError> {
        let (requests, mut outcome) =
            self.reader.call_with_requests::<ReaderOutcome>(&ReaderCommand::Finish)?;
        let mut notes = std::mem::take(&mut outcome.notes);
        notes.extend(self.reader.take_stop());
        let unrecorded = outcome.unrecorded.take().map(LabError::from);
        let (end, reader) = (outcome.into_end(), DetachingReader(self.reader));
        Ok(TraceOutcome { requests, end, unrecorded, notes, reader })
    }
}
