//! How long, how much, and until when: the bound of every exchange with a server that is no load.
//!
//! Loading, looking and setting up have their [`SocketClient`](super::SocketClient), which cannot
//! be made without a bound and asks it after every wait. The statements of a load have limits of
//! their own, and so has making a connection.

use super::io_failure::timed_out;
use crate::drive::plan::RunStop;
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::{ErrorClass, MonoNanos, Nanos};

/// How long an answer may take where nothing is built: what dbtime asks of its own accord takes
/// milliseconds, and seconds where a server is busy or a table is locked.
const ANSWER_TIMEOUT: Nanos = Nanos::from_secs(30);

/// Bytes of an answer, notices included: ten thousand sessions with their statements have a third
/// of it.
const MAX_ANSWER_BYTES: u64 = 8 << 20;

/// What bounds the exchanges over a connection.
#[derive(Clone, Debug)]
pub struct ExchangeBound {
    /// How long an answer may take.
    limit: Nanos,
    /// How long it may be.
    most_bytes: u64,
    /// What ends an exchange before.
    stop: RunStop,
}

impl ExchangeBound {
    /// Each answer comes within half a minute, and all ends with `stop`: what prepares a run.
    pub fn until(stop: &RunStop) -> Self {
        Self::within(ANSWER_TIMEOUT).or_until(stop)
    }

    /// Each answer comes within this time, whatever becomes of a run: what goes on beside it, or
    /// after it.
    pub fn within(limit: Nanos) -> Self {
        Self { limit, most_bytes: MAX_ANSWER_BYTES, stop: RunStop::default() }
    }

    /// The same for answers of any length, none of which is kept.
    #[must_use]
    pub(crate) fn of_any_length(self) -> Self {
        Self { most_bytes: u64::MAX, ..self }
    }

    /// The same, which ends with `stop`.
    #[must_use]
    pub fn or_until(self, stop: &RunStop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// How long an answer may take.
    pub(super) fn limit(&self) -> Nanos {
        self.limit
    }

    /// Why nobody waits any more; `None`: somebody does.
    pub(super) fn interruption(&self) -> Option<DatabaseFailure> {
        self.stop.has_come(now()).then(|| DatabaseFailure {
            class: ErrorClass::Interrupted,
            ..DatabaseFailure::connection("interrupted", "dbtime no longer waits for the answer")
        })
    }

    /// Why an exchange may not go on, over a connection that has received so many bytes; `None`: it
    /// may.
    pub(super) fn excess(&self, exchange: &OwnExchange, received: u64) -> Option<DatabaseFailure> {
        if let Some(interruption) = self.interruption() {
            return Some(interruption);
        }
        if received.saturating_sub(exchange.received) > self.most_bytes {
            return Some(too_long());
        }
        let is_late = |limit: &Nanos| now() - exchange.since > *limit;
        exchange.limit.filter(is_late).map(|limit| timed_out(Some(limit)))
    }
}

/// What the server sends is no answer that dbtime could want.
fn too_long() -> DatabaseFailure {
    let text = format!(
        "the server sends more than {} MiB for an answer of a few kilobytes: is something else \
         between, or in its place?",
        MAX_ANSWER_BYTES >> 20
    );
    DatabaseFailure::connection("protocol", text)
}

/// A question, and how far it is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnExchange {
    /// When it was asked.
    pub(super) since: MonoNanos,
    /// How long the answer may take; `None`: as long as it takes.
    pub(super) limit: Option<Nanos>,
    /// Bytes that the connection had received before.
    pub(super) received: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(limit: Option<Nanos>) -> OwnExchange {
        OwnExchange { since: now(), limit, received: 1000 }
    }

    #[test]
    fn an_exchange_ends_by_time_bytes_or_the_stop() {
        let stop = RunStop::default();
        let bound = ExchangeBound::until(&stop);
        let code = |exchange: &OwnExchange, received| {
            bound.excess(exchange, received).map(|failure| failure.code)
        };
        let patient = asked(Some(ANSWER_TIMEOUT));
        assert_eq!(code(&patient, 1000 + MAX_ANSWER_BYTES), None);
        assert_eq!(code(&patient, 1001 + MAX_ANSWER_BYTES).as_deref(), Some("protocol"));
        let endless = bound.clone().of_any_length();
        assert_eq!(endless.excess(&patient, 1 << 40), None, "nothing of it is kept");
        // As a connection has them that was closed meanwhile.
        assert_eq!(code(&patient, 0), None);
        let long_ago = MonoNanos(0);
        let late = OwnExchange { since: long_ago, ..patient };
        assert_eq!(code(&late, 1000).as_deref(), Some("timeout"));
        assert_eq!(code(&OwnExchange { limit: None, ..late }, 1000), None, "it builds something");
        stop.at(now());
        let failure = bound.excess(&OwnExchange { limit: None, ..late }, 1000).expect("stopped");
        assert_eq!((&*failure.code, failure.class), ("interrupted", ErrorClass::Interrupted));
        let beside = ExchangeBound::within(ANSWER_TIMEOUT);
        assert_eq!(beside.excess(&patient, 1000), None, "the run is no affair of its");
        assert!(beside.or_until(&stop).interruption().is_some());
    }
}
