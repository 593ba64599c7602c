//! One connection that blocks its caller: for loading, looking and setting up.

use super::protocol::{Protocol, QueryTable};
use super::reactor::SocketReactor;
use super::settings::SocketSettings;
use crate::drive::shard::{CompletionKind, CompletionSource};
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::sync::Arc;

/// How long a wait for an answer lasts before it is begun anew.
const POLL_INTERVAL: Nanos = Nanos::from_secs(1);

/// Bytes of a COPY that may wait to be sent.
const MAX_UNSENT_BYTES: usize = 1 << 20;

/// One connection that blocks its caller.
pub struct SocketClient<P: Protocol> {
    reactor: SocketReactor<P>,
}

impl<P: Protocol> SocketClient<P> {
    /// Connects.
    ///
    /// # Errors
    /// When the server cannot be reached or does not let us in.
    pub fn connect(
        shared: Arc<P::Shared>,
        settings: Arc<SocketSettings>,
    ) -> Result<Self, Box<DatabaseFailure>> {
        let system =
            |error: rustix::io::Errno| DatabaseFailure::connection("epoll", error.to_string());
        let mut reactor = SocketReactor::new(shared, settings, 1).map_err(system)?;
        match reactor.connect_all(|| false) {
            (1, _) => Ok(Self { reactor }),
            (_, Some(failure)) => Err(Box::new(failure)),
            (_, None) => Err(Box::new(DatabaseFailure::connection("closed", "the server hung up"))),
        }
    }

    /// Executes a statement and returns its rows and how many it changed or returned.
    ///
    /// # Errors
    /// What the server says, and when the connection is lost.
    pub fn query(&mut self, sql: &str) -> Result<(QueryTable, u64), Box<DatabaseFailure>> {
        self.reactor.query(0, sql);
        let rows = self.answer()?;
        Ok((self.reactor.take_table(0), rows))
    }

    /// Sends a statement and does not wait.
    pub fn send(&mut self, sql: &str) {
        self.reactor.query(0, sql);
    }

    /// The answer to what was sent, waited for until then: where that is over, only looked for.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn answer_by(
        &mut self,
        until: MonoNanos,
    ) -> Option<Result<(QueryTable, u64), Box<DatabaseFailure>>> {
        let mut events = Vec::new();
        self.reactor.wait(until, false, &mut events);
        let answer = events.into_iter().find_map(|event| match event.kind {
            CompletionKind::Answered(answer) => Some(answer.rows),
            _ => None,
        })?;
        Some(answer.map(|rows| (self.reactor.take_table(0), rows)))
    }

    /// Executes a `COPY … FROM STDIN` with what `more` appends to the buffer, until it appends
    /// nothing. Returns the rows.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn copy(
        &mut self,
        sql: &str,
        mut more: impl FnMut(&mut Vec<u8>),
    ) -> Result<u64, Box<DatabaseFailure>> {
        self.reactor.query(0, sql);
        let mut data = Vec::new();
        loop {
            data.clear();
            more(&mut data);
            self.reactor.data(0, (!data.is_empty()).then_some(&data));
            if data.is_empty() {
                return self.answer();
            }
            while self.reactor.unsent(0) > MAX_UNSENT_BYTES {
                if !self.reactor.wait_once(now() + POLL_INTERVAL, false) {
                    continue;
                }
                for event in self.reactor.take_completions() {
                    // It ended before its data did: it failed.
                    let CompletionKind::Answered(answer) = event.kind else { continue };
                    return answer.rows;
                }
            }
        }
    }

    /// The connection's side of the protocol, for what the server said of itself.
    pub fn protocol(&self) -> &P {
        self.reactor.protocol(0)
    }

    /// What it is encrypted by: `off`, or version and cipher.
    pub fn encryption(&self) -> String {
        self.reactor.encryption(0)
    }

    fn answer(&mut self) -> Result<u64, Box<DatabaseFailure>> {
        let mut events = Vec::new();
        loop {
            self.reactor.wait(now() + POLL_INTERVAL, false, &mut events);
            for event in events.drain(..) {
                if let CompletionKind::Answered(answer) = event.kind {
                    return answer.rows;
                }
            }
        }
    }
}
