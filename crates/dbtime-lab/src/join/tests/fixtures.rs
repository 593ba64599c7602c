//! Exchanges, transactions and requests for tests. All times are nanoseconds.

use dbtime_model::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use dbtime_model::traced::{
    ExecutedStatement, QueryCache, RequestOutcome, SessionLogin, TextState, TracedRequest,
};
use dbtime_model::{
    MonoNanos, Nanos, OperationId, Outcome, Part, PartSet, Parts, Sample, StatementId, WireProtocol,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The client's address of a connection by its number.
fn address(connection: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, connection))
}

/// A statement of transaction 1 on a connection.
pub(super) fn exchange(connection: u16, sent: u64, read: u64) -> StatementExchange {
    StatementExchange {
        key: Some(ConnectionKey::Tcp(address(connection))),
        server_id: None,
        transaction: 1,
        statement: Some(StatementId(0)),
        sent: MonoNanos(sent),
        read: MonoNanos(read),
        late: Nanos::ZERO,
    }
}

/// A transaction of these exchanges: due `queue` before its first was sent, and over when its last
/// answer was read. What lies between exchanges is the driver's.
pub(super) fn driven(
    transaction: u64,
    exchanges: &[StatementExchange],
    queue: u64,
) -> DrivenTransaction {
    let sent = exchanges.first().map_or(MonoNanos(100), |first| first.sent);
    let done = exchanges.iter().map(|exchange| exchange.read).max().unwrap_or(sent);
    let (mut served, mut late, mut free) = (Nanos::ZERO, Nanos::ZERO, sent);
    for exchange in exchanges {
        served += exchange.read - exchange.sent.max(free) - exchange.late;
        late += exchange.late;
        free = exchange.read;
    }
    let (operation, outcome, retries) = (OperationId(0), Outcome::Completed, 0);
    let due = sent - Nanos(queue);
    let sample = Sample { operation, outcome, due, ready: sent, sent, done, late, retries };
    let client = (done - sent) - served - late;
    let mut parts = Parts::of(&[
        (Part::Queue, sample.queue().signed()),
        (Part::Lag, sample.lag().signed()),
        (Part::Client, client.signed()),
        (Part::ServerAndWire, served.signed()),
    ]);
    parts.measure(PartSet::of(&Part::PAUSES));
    parts.close(sample.response());
    let exchanges = exchanges.len() as u32;
    DrivenTransaction { transaction, sample, parts, exchanges }
}

/// A request of MySQL's on a connection, with so much CPU; the other parts are nothing.
pub(crate) fn traced(
    connection: u16,
    (start, end): (u64, u64),
    server_queue: Option<u64>,
    cpu: u64,
) -> TracedRequest {
    let client = Some(address(connection));
    let login = SessionLogin { client, ..SessionLogin::default() };
    TracedRequest {
        connection: connection.into(),
        process: 1,
        thread: 1,
        start: MonoNanos(start),
        first_sent: None,
        end: MonoNanos(end),
        login: Some(Arc::new(login)),
        protocol: WireProtocol::Mysql,
        command: 3,
        executes: 0,
        statements: Vec::new(),
        length: 0,
        text: Arc::from(""),
        text_state: TextState::None,
        sent_bytes: 0,
        writes: 1,
        rows: None,
        error: None,
        outcome: RequestOutcome::Ended,
        server_queue: server_queue.map(Nanos),
        queue_parts: None,
        parts: Parts::traced(|part| Nanos(if part == 0 { cpu } else { 0 })),
        other_call: None,
        blocker: None,
        preemptors: Vec::new(),
        files: Vec::new(),
        cache: QueryCache::NotAsked,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

/// The same as a request of PostgreSQL's with several statements of these lengths.
pub(super) fn several(request: TracedRequest, lengths: &[Option<u64>]) -> TracedRequest {
    let statement = |length: &Option<u64>| ExecutedStatement {
        text: Arc::from(""),
        text_state: TextState::None,
        executes: 1,
        rows: None,
        length: length.map(Nanos),
        has_others: false,
    };
    TracedRequest {
        protocol: WireProtocol::Postgres,
        command: b'P',
        executes: lengths.len() as u32,
        statements: lengths.iter().map(statement).collect(),
        ..request
    }
}
