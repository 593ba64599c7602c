//! What a shard asks of the connections behind it.

use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::recorder::ConnectionRecorder;
use dbtime_model::{MonoNanos, Nanos, StatementId};

/// The clock of a thread's connections, and what happens on them.
pub trait CompletionSource {
    /// The present instant on the clock.
    fn now(&self) -> MonoNanos;

    /// Waits until something happens or until `until`; adds what happened to `events`. Something is
    /// due then where it `is_due`: the wait must not end late.
    fn wait(&mut self, until: MonoNanos, is_due: bool, events: &mut Vec<Completion>);
}

/// Connections that execute the statements of a workload.
pub trait StatementConnections: CompletionSource {
    /// Hands a statement to a connection, which is made first where it is not there. `Some`: it has
    /// answered already.
    fn submit(
        &mut self,
        connection: u32,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
    ) -> Option<StatementResult>;

    /// The first row of a connection's last answer, when it was wanted.
    fn first_row(&self, connection: u32) -> &[SqlValue];

    /// Whether a connection takes another statement behind the one under way. What it is handed
    /// from here on goes out with [`Self::release`].
    fn hold(&mut self, _connection: u32) -> bool {
        false
    }

    /// Sends what was held.
    fn release(&mut self, _connection: u32) {}
}

/// Connections that do what a script wants, within the load and outside of it.
pub trait ScriptConnections: CompletionSource {
    /// One connection more, which is not made yet. `None`: there are no others.
    fn add_connection(&mut self) -> Option<u32>;

    /// Asks something of a connection for a script. `Some`: it has answered already.
    fn perform(&mut self, connection: u32, op: ConnectionOp<'_>) -> Option<StatementResult>;

    /// What the last that was asked of a connection has brought back.
    fn results(&mut self, connection: u32) -> &mut ResultSets;
}

/// The connections of one shard over a load.
pub trait Reactor: StatementConnections + ScriptConnections {
    /// CPU time and run-queue wait of this thread so far, the latter `None` where it is hidden.
    fn thread_use(&self) -> (Nanos, Option<Nanos>);

    /// How long the simulated link of all shards was busy until now; `None`: there is none.
    fn link_use(&self) -> Option<LinkUse> {
        None
    }

    /// What names a connection at both of its ends, or did when it was lost last; `None`: it has no
    /// other end, or none that could be named.
    fn connection_key(&self, _connection: u32) -> Option<ConnectionKey> {
        None
    }

    /// What the server calls a connection; `None`: it has no number there.
    fn server_id(&self, _connection: u32) -> Option<u32> {
        None
    }

    /// Whether a connection could not be made when it was tried last, and none could be since: one
    /// that is there serves better, as long as it has nothing else to do.
    fn is_refused(&self, _connection: u32) -> bool {
        false
    }

    /// A connection's transaction has ended.
    fn transaction_ended(&mut self, _connection: u32) {}

    /// A connection's transaction is undone and will be tried again.
    fn transaction_restarts(&mut self, _connection: u32) {}

    /// A connection's client has nothing to ask any more, and others may wait for its place at the
    /// server.
    fn let_go(&mut self, _connection: u32) {}

    /// Nobody waits for a connection's answer any more.
    fn abandon(&mut self, _connection: u32) {}

    /// The load has ended: whoever drops the reactor waits until the database has ended its
    /// sessions too, for a moment at most.
    fn ends(&mut self) {}

    /// What became of the connections, over the whole run.
    fn connections(&mut self) -> ConnectionRecorder {
        ConnectionRecorder::default()
    }
}

/// How long a simulated link was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// Towards the server.
    pub requests: Nanos,
    /// From the server.
    pub answers: Nanos,
}

/// What happened on a connection.
#[derive(Debug)]
pub struct Completion {
    /// Which connection.
    pub connection: u32,
    /// The instant at which the driver came to know of it.
    pub at: MonoNanos,
    /// How long it was there before, because the driver had no CPU to look.
    pub late: AnswerDelay,
    /// A connection that was made, or an answer.
    pub kind: CompletionKind,
}

/// How long an answer waited for a driver that had no CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerDelay {
    /// At the end of the wait in which it came.
    pub wait: Nanos,
    /// While the driver worked before that wait, from `worked_from` on.
    pub work: Nanos,
    /// What was sent later than this did not have to wait for that.
    pub worked_from: MonoNanos,
}

/// When an answer was read, and how long it may have waited for that.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerTime {
    pub(super) read_at: MonoNanos,
    pub(super) delay: AnswerDelay,
}

impl AnswerTime {
    /// Of an answer that was there at once.
    pub(super) fn now(reactor: &impl CompletionSource) -> Self {
        Self { read_at: reactor.now(), delay: AnswerDelay::default() }
    }
}

impl AnswerDelay {
    /// So long at the end of a wait.
    pub fn of_wait(wait: Nanos) -> Self {
        Self { wait, ..Self::default() }
    }

    /// What of it lies between the sending of a statement and the reading of its answer.
    #[inline]
    pub fn between(&self, sent: MonoNanos, read: MonoNanos) -> Nanos {
        let work = if sent < self.worked_from { self.work } else { Nanos::ZERO };
        (self.wait + work).min(read - sent)
    }
}

/// Kinds of [`Completion`].
#[derive(Debug)]
pub enum CompletionKind {
    /// The connection that a statement waited for is there, and the statement is on its way.
    Connected {
        /// When it began to be made; before that was a pause after earlier failures.
        since: MonoNanos,
    },
    /// The statement has been answered.
    Answered(StatementResult),
}

/// What became of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementResult {
    /// Its rows, or why it failed.
    pub rows: Result<u64, Box<DatabaseFailure>>,
    /// Whether the statement left at all.
    pub is_sent: bool,
    /// How often something was sent and waited for: one, one more where the statement had to be
    /// prepared first, and none where it went out with another.
    pub round_trips: u32,
    /// Warnings or notices that came with it.
    pub warnings: u32,
}

impl StatementResult {
    /// An answer of so many rows in one round trip.
    pub fn of(rows: u64) -> Self {
        Self { rows: Ok(rows), is_sent: true, round_trips: 1, warnings: 0 }
    }

    /// What needs no word to the database is done.
    pub fn at_once() -> Self {
        Self { round_trips: 0, ..Self::of(0) }
    }

    /// No answer but a failure.
    pub fn failed(failure: DatabaseFailure) -> Self {
        Self { rows: Err(Box::new(failure)), is_sent: true, round_trips: 1, warnings: 0 }
    }

    /// The statement could not be sent.
    pub fn unsent(failure: DatabaseFailure) -> Self {
        Self { is_sent: false, round_trips: 0, ..Self::failed(failure) }
    }
}
