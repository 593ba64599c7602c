//! What of both files decides about clocks and connections, and stands at their ends.

use super::both_files::BothFiles;
use super::clock_mapping::ClockMapping;
use super::clock_search::{DrivenSpan, ServedInstants, TwoSides};
use super::join_error::JoinError;
use crate::join::executes;
use dbtime_model::driven_file::{DrivenBegin, DrivenFileError, DrivenLine, DrivenNames};
use dbtime_model::exchange::{ConnectionKey, StatementExchange};
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, TraceLine};
use dbtime_model::{MonoNanos, Nanos, OperationId, StatementId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::panic::resume_unwind;
use std::thread;

/// The driver's connections: when the exchanges of each were sent and read, and its number at the
/// server.
#[derive(Default)]
struct DrivenConnections {
    exchanges: FxHashMap<ConnectionKey, Vec<(i64, i64)>>,
    /// Numbers of PostgreSQL's are given again: `None`, of several.
    by_server_id: FxHashMap<u64, Option<ConnectionKey>>,
}

impl DrivenConnections {
    fn add(&mut self, key: ConnectionKey, exchange: &StatementExchange) {
        let instants = (exchange.sent.0.cast_signed(), exchange.read.0.cast_signed());
        self.exchanges.entry(key).or_default().push(instants);
        if let Some(id) = exchange.server_id {
            let known = self.by_server_id.entry(id.into()).or_insert(Some(key));
            *known = known.filter(|known| *known == key);
        }
    }

    /// A connection of the server: by its name, else, where a relay lies between, by its number.
    fn key_of(&self, recorded: &RecordedConnection) -> Option<ConnectionKey> {
        let named = recorded.key.filter(|key| self.exchanges.contains_key(key));
        named.or_else(|| *self.by_server_id.get(&recorded.server_id?)?)
    }
}

/// What the server calls a connection. Its client may come to be known later than its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RecordedConnection {
    number: u64,
    key: Option<ConnectionKey>,
    server_id: Option<u64>,
}

/// The requests of a recording that execute something.
#[derive(Default)]
struct RecordedRequests {
    instants: FxHashMap<RecordedConnection, Vec<ServedInstants>>,
    /// When the first began, and the last ended.
    span: Option<(MonoNanos, MonoNanos)>,
    end: Option<TraceEnd>,
}

impl RecordedRequests {
    fn read(files: &BothFiles) -> Result<Self, JoinError> {
        let mut requests = Self::default();
        let (_, mut reader) = files.recording()?;
        while let Some(line) = reader.next().map_err(|error| files.bad_recording(error))? {
            match line {
                TraceLine::Request(request) if executes(&request) => requests.add(&request),
                TraceLine::End(end) => requests.end = Some(*end),
                TraceLine::Begin(_) | TraceLine::Request(_) => {}
            }
        }
        Ok(requests)
    }

    fn add(&mut self, request: &TracedRequest) {
        let (first, last) = self.span.get_or_insert((request.start, request.end));
        (*first, *last) = ((*first).min(request.start), (*last).max(request.end));
        let connection = RecordedConnection {
            number: request.connection,
            key: request.connection_key(),
            server_id: request.server_id(),
        };
        let queue = request.server_queue.unwrap_or(Nanos::ZERO);
        let start = request.start.0.cast_signed();
        let arrival = start - queue.signed();
        let took = request.end.0.cast_signed() - arrival;
        let instants = ServedInstants { arrival, start, took };
        self.instants.entry(connection).or_default().push(instants);
    }

    /// How many connections there are.
    fn connections(&self) -> usize {
        self.instants.keys().map(|one| one.number).collect::<FxHashSet<_>>().len()
    }
}

/// What was read of both sides first.
pub(super) struct RecordedSides {
    pub(super) driven: DrivenBegin,
    pub(super) names: DrivenNames,
    pub(super) begin: TraceBegin,
    /// `None`: the recording was cut short.
    pub(super) end: Option<TraceEnd>,
    /// The instants of the connections that both have.
    pub(super) instants: TwoSides,
    /// How many transactions of the window the driver's file has.
    pub(super) transactions: u64,
    /// When the first statement was sent, and the last answer read.
    from: MonoNanos,
    until: MonoNanos,
    /// When the first request was read, and the last over, on the recording's clock.
    recorded: Option<(MonoNanos, MonoNanos)>,
}

impl RecordedSides {
    /// Reads both.
    ///
    /// # Errors
    /// One cannot be read, or they have no connection in common.
    pub(super) fn read(files: &BothFiles) -> Result<Self, JoinError> {
        let (driven, _) = files.driven()?;
        let (begin, _) = files.recording()?;
        let mut sides = Self {
            driven,
            names: DrivenNames::default(),
            begin,
            end: None,
            instants: TwoSides::default(),
            transactions: 0,
            from: MonoNanos(u64::MAX),
            until: MonoNanos(0),
            recorded: None,
        };
        // Each takes a CPU.
        let (driven, requests) = thread::scope(|scope| {
            let requests = scope.spawn(|| RecordedRequests::read(files));
            let driven = sides.read_driven(files);
            (driven, requests.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (driven, requests) = (driven?, requests?);
        let recorded = requests.connections();
        let numbers = sides.number_connections(&driven);
        sides.assign(requests, &driven, &numbers);
        if sides.recorded.is_none() {
            return Err(JoinError::NoRequests { recording: files.recording.clone() });
        }
        if sides.instants.requests.iter().all(Vec::is_empty) {
            let watched = sides.begin.servers.join("; ");
            let run = driven.exchanges.len();
            return Err(JoinError::NoCommonConnection { run, recorded, watched });
        }
        sides.instants.spans = spans(driven.exchanges, &numbers, &sides.instants.requests);
        Ok(sides)
    }

    /// Whether both sides read one clock.
    pub(super) fn is_same_clock(&self) -> bool {
        self.begin.clock_id.as_ref() == Some(&self.driven.clock_id)
    }

    /// Whether a request on the driver's clock is of the time of the run.
    pub(super) fn contains(&self, request: &TracedRequest) -> bool {
        request.end >= self.from && request.start <= self.until
    }

    /// On one clock both have to be of one time.
    pub(super) fn overlaps(&self) -> Result<(), JoinError> {
        let Some((first, last)) = self.recorded else { return Ok(()) };
        if last < self.from {
            return Err(JoinError::NoOverlap { is_before: true, apart: self.from - last });
        }
        if first > self.until {
            return Err(JoinError::NoOverlap { is_before: false, apart: first - self.until });
        }
        Ok(())
    }

    fn read_driven(&mut self, files: &BothFiles) -> Result<DrivenConnections, JoinError> {
        let mut connections = DrivenConnections::default();
        let (mut largest, mut names) = (LargestIds::default(), None);
        let window = self.driven.window();
        let (_, mut reader) = files.driven()?;
        while let Some(line) = reader.next().map_err(|error| files.bad_driven(error))? {
            match line {
                DrivenLine::Statement(exchange) => {
                    largest.statement = largest.statement.max(exchange.statement);
                    self.from = self.from.min(exchange.sent);
                    self.until = self.until.max(exchange.read);
                    let key = exchange.key.filter(|key| self.is_comparable(key));
                    key.into_iter().for_each(|key| connections.add(key, &exchange));
                }
                DrivenLine::Transaction(one) => {
                    largest.operation = largest.operation.max(Some(one.sample.operation));
                    self.transactions += u64::from(window.contains(one.sample.due));
                }
                DrivenLine::End(all) => names = Some(all),
                DrivenLine::Begin(_) => {}
            }
        }
        let names = names.ok_or_else(|| files.bad_driven(DrivenFileError::NoEnd))?;
        largest.are_named(&names).map_err(|error| files.bad_driven(error))?;
        self.names = names;
        Ok(connections)
    }

    /// Where the recording does not cover the run, on the driver's clock: what a reader is told.
    pub(super) fn gap(&self, clock: &ClockMapping) -> Option<String> {
        let begun = self.begin.since;
        let mapped = |at: MonoNanos| MonoNanos(at.0.saturating_add_signed(-clock.offset(at)));
        let late = mapped(begun).0.saturating_sub(self.from.0);
        // One that was cut short ends with its last request.
        let last = self.recorded.map(|(_, last)| last);
        let end = self.end.as_ref().map(|end| begun + end.length).or(last).map(mapped);
        let early = end.map_or(0, |end| self.until.0.saturating_sub(end.0));
        match (Nanos(late), Nanos(early)) {
            (Nanos(0), Nanos(0)) => None,
            (late, Nanos(0)) => Some(format!("it began {late} after the first statement")),
            (Nanos(0), early) => Some(format!("it ended {early} before the last answer")),
            (late, early) => Some(format!(
                "it began {late} after the first statement and ended {early} before the last answer"
            )),
        }
    }

    /// A kernel's number of a socket is that of this kernel alone.
    fn is_comparable(&self, key: &ConnectionKey) -> bool {
        matches!(key, ConnectionKey::Tcp(_)) || self.is_same_clock()
    }

    fn number_connections(
        &mut self,
        driven: &DrivenConnections,
    ) -> FxHashMap<ConnectionKey, usize> {
        self.instants.requests = vec![Vec::new(); driven.exchanges.len()];
        driven.exchanges.keys().copied().zip(0..).collect()
    }

    /// Gives the driver's connections their requests.
    fn assign(
        &mut self,
        requests: RecordedRequests,
        driven: &DrivenConnections,
        numbers: &FxHashMap<ConnectionKey, usize>,
    ) {
        (self.recorded, self.end) = (requests.span, requests.end);
        for (connection, instants) in requests.instants {
            if let Some(key) = driven.key_of(&connection) {
                self.instants.requests[numbers[&key]].extend(instants);
            }
        }
        self.instants.requests.iter_mut().for_each(|all| all.sort_by_key(|one| one.start));
    }
}

/// The largest numbers that the lines of a driver's file have.
#[derive(Default)]
struct LargestIds {
    operation: Option<OperationId>,
    statement: Option<StatementId>,
}

impl LargestIds {
    fn are_named(&self, names: &DrivenNames) -> Result<(), DrivenFileError> {
        let is_beyond = |number: u16, of: usize| usize::from(number) >= of;
        let (operations, statements) = (names.operations.len(), names.statements.len());
        if let Some(OperationId(number)) = self.operation.filter(|id| is_beyond(id.0, operations)) {
            return Err(DrivenFileError::Unnamed { what: "operation", number });
        }
        if let Some(StatementId(number)) = self.statement.filter(|id| is_beyond(id.0, statements)) {
            return Err(DrivenFileError::Unnamed { what: "statement", number });
        }
        Ok(())
    }
}

/// The statements of connections that were recorded; those that were under way together are one.
fn spans(
    exchanges: FxHashMap<ConnectionKey, Vec<(i64, i64)>>,
    numbers: &FxHashMap<ConnectionKey, usize>,
    requests: &[Vec<ServedInstants>],
) -> Vec<DrivenSpan> {
    let mut spans: Vec<DrivenSpan> = Vec::new();
    for (key, mut instants) in exchanges {
        let connection = numbers[&key];
        if requests[connection].is_empty() {
            continue;
        }
        instants.sort_unstable();
        let first = spans.len();
        for (sent, read) in instants {
            match spans[first..].last_mut() {
                Some(last) if sent < last.read => last.read = last.read.max(read),
                _ => spans.push(DrivenSpan { connection, sent, read }),
            }
        }
    }
    spans.sort_by_key(|span| span.sent);
    spans
}
