//! What of both files decides about clocks: when the statements and the requests of the connections
//! that both have were under way.

use super::both_files::BothFiles;
use super::clock_search::{DrivenSpan, ServedInstants, TwoSides};
use super::join_error::JoinError;
use super::recorded_sides::RecordedSides;
use crate::join::executes;
use dbtime_model::Nanos;
use dbtime_model::exchange::{ConnectionKey, StatementExchange};
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::RecordedPart;
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
    fn read(files: &BothFiles, sides: &RecordedSides) -> Result<Self, JoinError> {
        let mut connections = Self::default();
        let (_, mut reader) = files.driven()?;
        while let Some(batch) = reader.next().map_err(|error| files.bad_driven(error))? {
            for exchange in &batch.exchanges {
                let key = exchange.key.filter(|key| sides.is_comparable(key));
                key.into_iter().for_each(|key| connections.add(key, exchange));
            }
        }
        Ok(connections)
    }

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
}

impl RecordedRequests {
    fn read(files: &BothFiles) -> Result<Self, JoinError> {
        let mut requests = Self::default();
        let (_, mut reader) = files.recording()?;
        while let Some(part) = reader.next().map_err(|error| files.bad_recording(error))? {
            if let RecordedPart::Requests(some) = part {
                some.iter().filter(|one| executes(one)).for_each(|one| requests.add(one));
            }
        }
        Ok(requests)
    }

    fn add(&mut self, request: &TracedRequest) {
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

impl TwoSides {
    /// Reads both files.
    ///
    /// # Errors
    /// One cannot be read, or they have no connection in common.
    pub(super) fn read(files: &BothFiles, sides: &RecordedSides) -> Result<Self, JoinError> {
        // Each takes a CPU.
        let (driven, requests) = thread::scope(|scope| {
            let requests = scope.spawn(|| RecordedRequests::read(files));
            let driven = DrivenConnections::read(files, sides);
            (driven, requests.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (driven, requests) = (driven?, requests?);
        if requests.instants.is_empty() {
            return Err(JoinError::NoRequests { recording: files.recording.clone() });
        }
        let recorded = requests.connections();
        let numbers: FxHashMap<_, _> = driven.exchanges.keys().copied().zip(0..).collect();
        let requests = assigned(requests, &driven, &numbers);
        if requests.iter().all(Vec::is_empty) {
            let watched = sides.begin.servers.join("; ");
            let run = driven.exchanges.len();
            return Err(JoinError::NoCommonConnection { run, recorded, watched });
        }
        Ok(Self { spans: spans(driven.exchanges, &numbers, &requests), requests })
    }
}

/// The requests of each of the driver's connections, by its number.
fn assigned(
    requests: RecordedRequests,
    driven: &DrivenConnections,
    numbers: &FxHashMap<ConnectionKey, usize>,
) -> Vec<Vec<ServedInstants>> {
    let mut assigned = vec![Vec::new(); numbers.len()];
    for (connection, instants) in requests.instants {
        if let Some(key) = driven.key_of(&connection) {
            assigned[numbers[&key]].extend(instants);
        }
    }
    assigned.iter_mut().for_each(|all| all.sort_by_key(|one| one.start));
    assigned
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
