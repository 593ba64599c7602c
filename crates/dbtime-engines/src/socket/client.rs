//! One connection that blocks its caller: for loading, looking and setting up. Whatever is asked
//! over it ends by its [`ExchangeBound`].

use super::exchange_bound::{ExchangeBound, OwnExchange};
use super::kept_table::no_room;
use super::protocol::{Protocol, QueryTable};
use super::reactor::SocketReactor;
use super::settings::SocketSettings;
use crate::drive::shard::{Completion, CompletionKind, Reactor, ScriptConnections};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::{MonoNanos, Nanos};
use std::sync::Arc;

/// How long a wait for an answer lasts before it is begun anew.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Bytes of a COPY that may wait to be sent.
const MAX_UNSENT_BYTES: usize = 1 << 20;

/// How many rows a statement changed or returned, or why it failed.
type AnsweredRows = Result<u64, Box<DatabaseFailure>>;

/// What came of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnsweredExchange {
    /// When it was asked.
    pub(crate) sent: MonoNanos,
    /// When the last byte of the answer was there.
    pub(crate) done: MonoNanos,
    /// Rows returned or changed.
    pub(crate) rows: u64,
    /// Bytes of the answer.
    pub(crate) bytes: u64,
}

/// One connection that blocks its caller.
pub struct SocketClient<P: Protocol> {
    reactor: SocketReactor<P>,
    bound: ExchangeBound,
    /// What is being asked, or was last.
    exchange: OwnExchange,
    /// When the last answer was there.
    answered_at: MonoNanos,
    /// Why nothing is asked any more.
    given_up: Option<Box<DatabaseFailure>>,
}

impl<P: Protocol> SocketClient<P> {
    /// Connects, within the time that the settings give it.
    ///
    /// # Errors
    /// When the server cannot be reached or does not let us in, and when `bound` ends it.
    pub fn connect(
        shared: Arc<P::Shared>,
        settings: Arc<SocketSettings>,
        bound: ExchangeBound,
    ) -> Result<Self, Box<DatabaseFailure>> {
        let system =
            |error: rustix::io::Errno| DatabaseFailure::connection("epoll", error.to_string());
        let mut reactor = SocketReactor::new(shared, settings, 1).map_err(system)?;
        let exchange = OwnExchange { since: now(), limit: None, received: 0 };
        match reactor.connect_all(|| bound.interruption().is_some()) {
            (1, _) => {
                Ok(Self { reactor, bound, exchange, answered_at: exchange.since, given_up: None })
            }
            (_, failure) => {
                let hung_up = || DatabaseFailure::connection("closed", "the server hung up");
                let why = bound.interruption().or(failure);
                Err(Box::new(why.unwrap_or_else(hung_up)))
            }
        }
    }

    /// Executes a statement and returns its rows and how many it changed or returned.
    ///
    /// # Errors
    /// What the server says, when the connection is lost, and when `bound` ends it.
    pub fn query(&mut self, sql: &str) -> Result<(QueryTable, u64), Box<DatabaseFailure>> {
        self.send(sql);
        let rows = self.answer();
        self.with_table(rows)
    }

    /// Executes a statement that builds or moves data, which may take as long as it takes.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn build(&mut self, sql: &str) -> AnsweredRows {
        self.begin(sql, None);
        self.answer()
    }

    /// Sends a statement and does not wait.
    pub fn send(&mut self, sql: &str) {
        self.begin(sql, Some(self.bound.limit()));
    }

    /// The answer to what was sent, waited for until then: where that is over, only looked for.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn answer_by(
        &mut self,
        until: MonoNanos,
    ) -> Option<Result<(QueryTable, u64), Box<DatabaseFailure>>> {
        let rows = self.look(until)?;
        Some(self.with_table(rows))
    }

    /// Executes a `COPY … FROM STDIN` with what `more` appends to the buffer, until it appends
    /// nothing. Returns the rows.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn copy(&mut self, sql: &str, mut more: impl FnMut(&mut Vec<u8>)) -> AnsweredRows {
        self.begin(sql, None);
        let mut data = Vec::new();
        loop {
            data.clear();
            more(&mut data);
            self.reactor.data(0, (!data.is_empty()).then_some(&data));
            if data.is_empty() {
                return self.answer();
            }
            while self.reactor.unsent(0) > MAX_UNSENT_BYTES {
                // It ended before its data did: it failed.
                if let (_, Some(rows)) = self.wait_once(now() + POLL_INTERVAL) {
                    return rows;
                }
            }
        }
    }

    /// Does what a script could ask for; `arrived` looks at the connection's side of the protocol
    /// behind every wait, before more is read.
    ///
    /// # Errors
    /// As [`Self::query`]. A connection that was lost is not made anew.
    pub(crate) fn perform(
        &mut self,
        op: ConnectionOp<'_>,
        mut arrived: impl FnMut(&mut P),
    ) -> Result<AnsweredExchange, Box<DatabaseFailure>> {
        if let Some(failure) = &self.given_up {
            return Err(failure.clone());
        }
        self.exchange_begins(Some(self.bound.limit()));
        let rows = match self.reactor.perform(0, op) {
            Some(done) => {
                self.answered_at = now();
                done.rows
            }
            None => loop {
                let (_, rows) = self.wait_once(now() + POLL_INTERVAL);
                arrived(self.reactor.protocol_mut(0));
                if let Some(rows) = rows {
                    break rows;
                }
            },
        };
        let OwnExchange { since: sent, received, .. } = self.exchange;
        let bytes = self.reactor.received(0).saturating_sub(received);
        let done = self.answered_at;
        self.unless_lost(rows).map(|rows| AnsweredExchange { sent, done, rows, bytes })
    }

    /// The same answer; where the connection was lost with it, nothing is asked any more.
    pub(crate) fn unless_lost<T>(
        &mut self,
        answer: Result<T, Box<DatabaseFailure>>,
    ) -> Result<T, Box<DatabaseFailure>> {
        if let Err(failure) = &answer
            && !self.reactor.is_up(0)
        {
            self.given_up.get_or_insert_with(|| failure.clone());
        }
        answer
    }

    /// Whether nothing is asked any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.is_some()
    }

    /// What names the connection at both of its ends; `None`: the system does not name it.
    pub(crate) fn key(&self) -> Option<ConnectionKey> {
        self.reactor.connection_key(0)
    }

    /// The connection's side of the protocol, for what the server said of itself.
    pub fn protocol(&self) -> &P {
        self.reactor.protocol(0)
    }

    /// The same, to tell it what becomes of rows.
    pub(crate) fn protocol_mut(&mut self) -> &mut P {
        self.reactor.protocol_mut(0)
    }

    /// What it is encrypted by: `off`, or version and cipher.
    pub fn encryption(&self) -> String {
        self.reactor.encryption(0)
    }

    /// Sends a question whose answer may take so long.
    fn begin(&mut self, sql: &str, limit: Option<Nanos>) {
        self.exchange_begins(limit);
        if self.given_up.is_none() {
            self.reactor.query(0, sql);
        }
    }

    fn exchange_begins(&mut self, limit: Option<Nanos>) {
        let received = self.reactor.received(0);
        self.exchange = OwnExchange { since: now(), limit, received };
    }

    fn answer(&mut self) -> AnsweredRows {
        loop {
            if let Some(rows) = self.look(now() + POLL_INTERVAL) {
                return rows;
            }
        }
    }

    /// The answer, where it comes until then.
    fn look(&mut self, until: MonoNanos) -> Option<AnsweredRows> {
        loop {
            match self.wait_once(until) {
                (_, Some(rows)) => return Some(rows),
                (true, None) => return None,
                (false, None) => {}
            }
        }
    }

    /// Waits for the server once, until then at the latest. Returns whether it is past that, and
    /// the answer where it has come: it has also where the exchange may not go on.
    fn wait_once(&mut self, until: MonoNanos) -> (bool, Option<AnsweredRows>) {
        if let Some(failure) = &self.given_up {
            return (true, Some(Err(failure.clone())));
        }
        let is_over = self.reactor.wait_once(until, false);
        let answered = |event: Completion| match event.kind {
            CompletionKind::Answered(answer) => Some((event.at, answer.rows)),
            CompletionKind::Connected { .. } => None,
        };
        if let Some((at, rows)) = self.reactor.take_completions().into_iter().find_map(answered) {
            self.answered_at = at;
            return (is_over, Some(rows));
        }
        let excess = self.bound.excess(&self.exchange, self.reactor.received(0));
        (is_over, excess.map(|failure| Err(self.give_up(failure))))
    }

    /// An exchange may not go on: nothing that came of it later would belong to another question.
    fn give_up(&mut self, failure: DatabaseFailure) -> Box<DatabaseFailure> {
        self.reactor.give_up(0, failure.clone());
        self.given_up.insert(Box::new(failure)).clone()
    }

    /// Rows with their number, where there were not too many.
    fn with_table(
        &mut self,
        rows: AnsweredRows,
    ) -> Result<(QueryTable, u64), Box<DatabaseFailure>> {
        let rows = rows?;
        match self.reactor.take_table(0) {
            Some(table) => Ok((table, rows)),
            None => Err(Box::new(no_room())),
        }
    }
}
