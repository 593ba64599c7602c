//! What a join needs of a request: a third of it.

use super::request_waits::RequestWaits;
use dbtime_model::traced::{AnswerTaking, ErrorCode, RequestOutcome, TracedRequest};
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts, WireProtocol};
use dbtime_wire::mysql::command;
use std::sync::Arc;

/// Commands of MySQL that execute nothing.
const PREPARATORY_COMMANDS: [u8; 8] = [
    command::QUIT,
    command::PING,
    command::STMT_PREPARE,
    command::STMT_SEND_LONG_DATA,
    command::STMT_CLOSE,
    command::STMT_RESET,
    command::CHANGE_USER,
    command::RESET_CONNECTION,
];

/// A request of the server's side.
#[derive(Clone, Debug)]
pub(super) struct ServedRequest {
    /// The tracer's number of its connection.
    pub(super) connection: u64,
    /// The server's thread that read it.
    pub(super) thread: u32,
    /// When its first byte had been read.
    pub(super) start: MonoNanos,
    /// From the read that brought it to the write that ended its answer.
    pub(super) response: Nanos,
    /// How long it lay unread, where that is known.
    pub(super) server_queue: Option<Nanos>,
    /// What of that its thread could not run, where that is known.
    pub(super) queue_parts: Option<ServerQueueParts>,
    /// Its parts, closed against its response; where they are not known all of it is one.
    pub(super) parts: Parts,
    /// How many statements it executes, as far as they are known; 0: it prepares. One that the
    /// server refused when it was prepared is over with that, as if executed.
    pub(super) executions: u32,
    /// Whether it prepares a statement, which is to be executed after that.
    pub(super) is_preparation: bool,
    /// How long each of several statements took; empty: it has one, or they are not known apart.
    pub(super) lengths: Box<[Nanos]>,
    /// Whether its connection ended before its answer.
    pub(super) is_aborted: bool,
    /// Whom and what it waited for.
    pub(super) waits: Option<Arc<RequestWaits>>,
    /// What the server calls its connection, where that is known.
    pub(super) server_id: Option<u64>,
    /// Rows that it sent or changed, where the answer says.
    pub(super) rows: Option<u64>,
    /// The server's error.
    pub(super) error: Option<ErrorCode>,
    /// When the last of its answer came to the driver's socket, where that was seen.
    pub(super) answer_arrived: Option<MonoNanos>,
    /// How the driver took the answer before it, likewise.
    pub(super) taken: Option<AnswerTaking>,
}

impl ServedRequest {
    pub(super) fn new(request: &TracedRequest) -> Self {
        let mut parts = request.parts;
        match parts.are_unknown() {
            // One number, as where nothing is traced: nothing of it is unexplained.
            true => parts = Parts::only(Part::ServerAndWire, request.response().signed()),
            false => parts.close(request.response()),
        }
        let executions = executions(request).max(u32::from(request.error.is_some()));
        Self {
            connection: request.connection,
            thread: request.thread,
            start: request.start,
            response: request.response(),
            server_queue: request.server_queue,
            queue_parts: request.queue_parts,
            parts,
            executions,
            is_preparation: executions == 0 && prepares(request),
            lengths: lengths(request).unwrap_or_default(),
            is_aborted: request.outcome == RequestOutcome::Aborted,
            waits: RequestWaits::of(request),
            server_id: request.server_id(),
            rows: request.rows,
            error: request.error.clone(),
            answer_arrived: request.answer_arrived,
            taken: request.taken,
        }
    }

    /// When it came to the server's socket; where that is not known, when it was read.
    pub(super) fn arrival(&self) -> MonoNanos {
        self.start - self.server_queue.unwrap_or(Nanos::ZERO)
    }

    /// When the write that ended its answer was over.
    pub(super) fn end(&self) -> MonoNanos {
        self.start + self.response
    }

    /// How many slices [`ServedRequest::split`] makes.
    pub(super) fn slices(&self) -> usize {
        self.lengths.len().max(1)
    }

    /// Splits its parts over its statements in proportion to how long each took: which of them
    /// spent what is not known. The sums are exact: the last has what rounding leaves of each part.
    /// No slice has a negative sum: its own rounding is among what it leaves unexplained.
    pub(super) fn split(&self, slices: &mut Vec<Parts>) {
        let whole = sum(&self.lengths);
        let Some((_, others)) = self.lengths.split_last() else {
            return slices.push(self.parts);
        };
        let mut rest = self.parts;
        let mut time_left = self.response;
        for length in others {
            let share = |ns: i64| proportion(ns, *length, whole);
            let mut slice = Parts::default();
            for part in self.parts.measured().iter() {
                slice.add(part, share(self.parts.get(part)));
            }
            let time = Nanos(share(self.response.signed()).cast_unsigned());
            slice.close(time);
            time_left = time_left - time;
            let given = slice.measured().iter().map(|part| (part, slice.get(part)));
            given.for_each(|(part, ns)| rest.add(part, ns.wrapping_neg()));
            slices.push(slice);
        }
        debug_assert_eq!(rest.total(), time_left.signed());
        slices.push(rest);
    }
}

/// `ns × length / whole`, rounded towards zero.
fn proportion(ns: i64, length: Nanos, whole: i128) -> i64 {
    (i128::from(ns) * i128::from(length.0) / whole) as i64
}

fn sum(lengths: &[Nanos]) -> i128 {
    lengths.iter().map(|length| i128::from(length.0)).sum()
}

/// Whether a request executes something, or the server refused it.
pub(crate) fn executes(request: &TracedRequest) -> bool {
    executions(request) > 0 || request.error.is_some()
}

/// How many statements a request executes, as far as that is known.
fn executions(request: &TracedRequest) -> u32 {
    match (request.protocol, request.command) {
        (WireProtocol::Mysql, command) => u32::from(!PREPARATORY_COMMANDS.contains(&command)),
        (WireProtocol::Postgres, b'Q' | b'F') => 1,
        // How many there was no room for is not known: enough.
        (WireProtocol::Postgres, _) if request.statements.iter().any(|s| s.has_others) => u32::MAX,
        (WireProtocol::Postgres, _) if request.statements.is_empty() => request.executes.min(1),
        (WireProtocol::Postgres, _) => {
            let executes = request.statements.iter().map(|statement| statement.executes);
            executes.fold(0, u32::saturating_add)
        }
    }
}

/// Whether it prepares a statement.
fn prepares(request: &TracedRequest) -> bool {
    match request.protocol {
        WireProtocol::Mysql => request.command == command::STMT_PREPARE,
        WireProtocol::Postgres => request.command == b'P',
    }
}

/// How long each of several statements took, where each is known by itself.
fn lengths(request: &TracedRequest) -> Option<Box<[Nanos]>> {
    let lengths = request.statements.iter().map(|statement| {
        let is_single = statement.executes == 1 && !statement.has_others;
        statement.length.filter(|_| is_single)
    });
    lengths.collect::<Option<Box<[Nanos]>>>().filter(|lengths| sum(lengths) > 0)
}
