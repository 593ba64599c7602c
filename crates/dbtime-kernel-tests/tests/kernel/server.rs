//! A server that is watched: one thread of it, which serves one connection.

use dbtime_kernel_tests::{
    CaptureDetail, CapturePrograms, HostMachine, HostSocket, HostTask, KernelAge,
};
use dbtime_model::WireProtocol;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::TraceTotals;
use dbtime_observe::trace::CaptureConfig;
use dbtime_observe::trace::fuzzing::{
    encrypting_server_row, ledger, requests, server_row, settings, statement,
};
use std::ops::Range;

/// The server's process, and its only thread that is seen.
const PROCESS: u32 = 100;
const PORT: u16 = 5000;

/// Every request is handed over.
pub(crate) fn streamed() -> CaptureConfig {
    CaptureConfig { is_on: true, ..CaptureConfig::default() }
}

pub(crate) struct WatchedServer {
    pub(crate) machine: HostMachine,
    pub(crate) capture: CapturePrograms,
    pub(crate) task: HostTask,
    /// Has the CPU where nobody has it.
    pub(crate) idle: HostTask,
    pub(crate) socket: HostSocket,
    settings: Vec<u8>,
    records: Vec<Vec<u8>>,
}

impl WatchedServer {
    pub(crate) fn new(protocol: WireProtocol, stream: &CaptureConfig) -> Self {
        Self::on(KernelAge::Present, protocol, stream)
    }

    /// On a kernel of this age.
    pub(crate) fn on(age: KernelAge, protocol: WireProtocol, stream: &CaptureConfig) -> Self {
        let mut machine = HostMachine::boot();
        machine.set_age(age);
        let idle = machine.task(0, None, "swapper");
        let task = machine.task(PROCESS, None, "server");
        let features = (age != KernelAge::Older, age == KernelAge::Newer);
        let settings = settings(stream, true, features);
        let capture = CapturePrograms::begin(&mut machine, &settings, CaptureDetail::Everything);
        machine.put("servers", &PROCESS.to_ne_bytes(), &server_row(protocol));
        machine.put("ports", &PORT.to_ne_bytes(), &[1]);
        let socket = machine.socket(PORT, 40_000);
        machine.set_clock(super::timeline::BEGIN);
        machine.run(task, 0);
        Self { machine, capture, task, idle, socket, settings, records: Vec::new() }
    }

    /// There are probes on its TLS library, of which none has been hit.
    pub(crate) fn has_tls_probes(&mut self, protocol: WireProtocol) {
        let row = encrypting_server_row(protocol);
        self.machine.put("servers", &PROCESS.to_ne_bytes(), &row);
    }

    /// The server closes the socket.
    pub(crate) fn closes(&mut self) {
        self.capture.closed(&mut self.machine, self.socket);
    }

    /// The server has read these bytes.
    pub(crate) fn reads(&mut self, bytes: &[u8]) {
        self.capture.read(&mut self.machine, (self.task, self.socket), bytes);
    }

    /// The same, and behind them in its buffer is what it has read before.
    pub(crate) fn reads_before(&mut self, bytes: &[u8], stale: &[u8]) {
        let at = (self.task, self.socket);
        self.capture.read_before(&mut self.machine, at, bytes, stale);
    }

    /// The same, to a place in its buffer.
    pub(crate) fn reads_into(&mut self, buffer: &[u8], read: Range<usize>) {
        let at = (self.task, self.socket);
        self.capture.read_into(&mut self.machine, at, buffer, read);
    }

    /// It finds nothing to read: it has done what there was to do.
    pub(crate) fn finds_nothing(&mut self) {
        const TRY_AGAIN: i32 = -11;
        self.capture.read_nothing(&mut self.machine, (self.task, self.socket), TRY_AGAIN);
    }

    /// It finds that the client has gone.
    pub(crate) fn finds_the_end(&mut self) {
        self.capture.read_nothing(&mut self.machine, (self.task, self.socket), 0);
    }

    /// It finds, as it sends, that the client has gone.
    pub(crate) fn cannot_send(&mut self) {
        const BROKEN_PIPE: i32 = -32;
        self.capture.send_nothing(&mut self.machine, (self.task, self.socket), BROKEN_PIPE);
    }

    /// It has sent these bytes.
    pub(crate) fn sends(&mut self, bytes: &[u8]) {
        self.capture.send(&mut self.machine, (self.task, self.socket), bytes);
    }

    /// It has sent these bytes by a buffer: as often as that is full, and what is left at the end.
    /// Each time the socket takes so many bytes at once.
    pub(crate) fn sends_buffered(&mut self, (room, at_once): (usize, usize), bytes: &[u8]) {
        let mut buffer = vec![0; room];
        for piece in bytes.chunks(room) {
            buffer[..piece.len()].copy_from_slice(piece);
            for from in (0..piece.len()).step_by(at_once) {
                let (at, to) = ((self.task, self.socket), piece.len().min(from + at_once));
                self.capture.send_from(&mut self.machine, at, &buffer, from..to);
            }
        }
    }

    /// Time goes on. Unit: nanoseconds.
    pub(crate) fn passes(&mut self, time: u64) {
        let now = self.machine.clock();
        self.machine.set_clock(now + time);
    }

    /// The watching ends, and what is left is accounted for.
    pub(crate) fn ends(&mut self) {
        self.capture.end(&self.settings);
        self.capture.finalize(&mut self.machine, self.socket);
    }

    /// Requests that were handed over so far.
    pub(crate) fn requests(&mut self) -> Vec<TracedRequest> {
        self.records.extend(self.machine.records());
        requests(self.records.iter().map(Vec::as_slice))
    }

    /// How many records were requests, and how many logins.
    pub(crate) fn records(&mut self) -> (usize, usize) {
        const LOGIN: usize = 168;
        let requests = self.requests().len();
        let logins = self.records.iter().filter(|record| record.len() == LOGIN).count();
        (requests, logins)
    }

    /// Keeps records that were taken.
    pub(crate) fn keep(&mut self, records: Vec<Vec<u8>>) {
        self.records.extend(records);
    }

    /// What was counted so far, on the only CPU.
    pub(crate) fn ledger(&self) -> TraceLedger {
        let rows = self.machine.rows("processors", 0);
        rows.first().map_or_else(TraceLedger::default, |(_, row)| ledger(row))
    }

    /// What statements came to, by the numbers of their shapes.
    pub(crate) fn statements(&self) -> Vec<(u64, TraceTotals)> {
        let rows = self.machine.rows("totals", 0);
        rows.iter().filter_map(|(key, row)| statement(key, row)).collect()
    }
}
