//! What a shard asks of the connections behind it.

use crate::failure::Failure;
use dbtime_load::program::Value;
use dbtime_model::recorder::Connections;
use dbtime_model::{MonoNanos, Nanos, StatementId};

/// The connections of one shard, and its clock.
pub trait Reactor {
    /// The present instant on the reactor's clock.
    fn now(&self) -> MonoNanos;

    /// Hands a statement to a connection, which is made first where it is not there. `Some`: it has
    /// answered already.
    fn submit(
        &mut self,
        connection: u32,
        statement: StatementId,
        parameters: &[Value],
        wants_row: bool,
    ) -> Option<Answer>;

    /// Waits until something happens or until `until`; adds what happened to `events`.
    fn wait(&mut self, until: MonoNanos, events: &mut Vec<Event>);

    /// The first row of a connection's last answer, when it was wanted.
    fn first_row(&self, connection: u32) -> &[Value];

    /// A connection's transaction has ended.
    fn transaction_ended(&mut self, _connection: u32) {}

    /// A connection's transaction is undone and will be tried again.
    fn transaction_restarts(&mut self, _connection: u32) {}

    /// Nobody waits for a connection's answer any more.
    fn abandon(&mut self, _connection: u32) {}

    /// CPU time and run-queue wait of this thread so far, the latter `None` where it is hidden.
    fn thread_use(&self) -> (Nanos, Option<Nanos>);

    /// What became of the connections, over the whole run.
    fn connections(&mut self) -> Connections {
        Connections::default()
    }
}

/// What happened on a connection.
#[derive(Debug)]
pub struct Event {
    /// Which connection.
    pub connection: u32,
    /// When.
    pub at: MonoNanos,
    /// What.
    pub kind: Happened,
}

/// Kinds of [`Event`].
#[derive(Debug)]
pub enum Happened {
    /// The connection that a statement waited for is there, and the statement is on its way.
    Connected {
        /// When it began to be made; before that was a pause after earlier failures.
        since: MonoNanos,
    },
    /// The statement has been answered.
    Answered(Answer),
}

/// What became of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its rows, or why it failed.
    pub rows: Result<u64, Box<Failure>>,
    /// How often something was sent and waited for: one, and one more where the statement had to
    /// be prepared first; none where it never left.
    pub round_trips: u32,
    /// Warnings or notices that came with it.
    pub warnings: u32,
}

impl Answer {
    /// An answer of so many rows in one round trip.
    pub fn of(rows: u64) -> Self {
        Self { rows: Ok(rows), round_trips: 1, warnings: 0 }
    }

    /// No answer but a failure.
    pub fn failed(failure: Failure) -> Self {
        Self { rows: Err(Box::new(failure)), round_trips: 1, warnings: 0 }
    }
}
