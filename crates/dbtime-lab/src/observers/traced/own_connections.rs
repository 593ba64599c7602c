//! Which of the server's connections are the run's: others are somebody else's.
//!
//! A connection is the run's once the driver has handed over a statement of it, which may be later
//! than the server's requests come. So it is asked for some time whether it is.

use dbtime_model::exchange::ConnectionKey;
use dbtime_model::traced::TracedRequest;
use rustc_hash::{FxHashMap, FxHashSet};

/// A run that makes more, one for each transaction, is not asked any more: what cannot be kept must
/// not be taken for somebody else's. Nor must what is still to be asked.
const MAX_KEPT: usize = 1 << 20;
const MAX_UNDECIDED: usize = 4_096;

/// What is not the run's after so many times is not.
const MAX_ROUNDS: u32 = 100;

/// The run's connections by the tracer's numbers, as far as they have been seen.
#[derive(Debug, Default)]
pub(super) struct OwnConnections {
    own: FxHashSet<u64>,
    undecided: FxHashMap<u64, UndecidedConnection>,
}

/// A connection that may turn out to be the run's.
#[derive(Debug)]
struct UndecidedConnection {
    key: ConnectionKey,
    server_id: Option<u64>,
    /// How often it was asked.
    rounds: u32,
}

impl OwnConnections {
    /// This one is the run's.
    pub(super) fn add(&mut self, connection: u64) {
        if self.own.len() < MAX_KEPT {
            self.own.insert(connection);
        }
    }

    /// A request was served on a connection.
    pub(super) fn saw(&mut self, request: &TracedRequest) {
        let connection = request.connection;
        if self.own.contains(&connection) || self.undecided.len() >= MAX_UNDECIDED {
            return;
        }
        if let Some(key) = request.connection_key() {
            let server_id = request.server_id();
            let undecided = UndecidedConnection { key, server_id, rounds: 0 };
            self.undecided.entry(connection).or_insert(undecided);
        }
    }

    /// Asks of those that were seen whether the driver has used them by now.
    pub(super) fn decide(&mut self, mut drives: impl FnMut(ConnectionKey, Option<u64>) -> bool) {
        let Self { own, undecided } = self;
        undecided.retain(|connection, one| {
            let is_own = drives(one.key, one.server_id);
            if is_own && own.len() < MAX_KEPT {
                own.insert(*connection);
            }
            one.rounds += 1;
            !is_own && one.rounds < MAX_ROUNDS
        });
    }

    /// Whether one is somebody else's. Before the run's have been seen nothing is known of any.
    pub(super) fn is_outside(&self, connection: u64) -> bool {
        let is_known = (1..MAX_KEPT).contains(&self.own.len());
        is_known && self.undecided.len() < MAX_UNDECIDED && !self.own.contains(&connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_before_the_first_and_behind_the_last() {
        let mut own = OwnConnections::default();
        assert!(!own.is_outside(7));
        own.add(1);
        assert!(own.is_outside(7) && !own.is_outside(1));
        (2..=MAX_KEPT as u64 + 5).for_each(|number| own.add(number));
        assert!(!own.is_outside(u64::MAX));
    }

    #[test]
    fn a_connection_is_asked_until_it_is_the_run_s_or_is_not() {
        let key = |port| ConnectionKey::Tcp(([127, 0, 0, 1], port).into());
        let undecided = |port| UndecidedConnection { key: key(port), server_id: None, rounds: 0 };
        let mut own = OwnConnections::default();
        own.undecided.extend([(1, undecided(1)), (2, undecided(2))]);
        own.decide(|_, _| false);
        assert_eq!(own.undecided.len(), 2);
        own.decide(|asked, _| asked == key(1));
        assert!(own.is_outside(2) && !own.is_outside(1));
        (0..MAX_ROUNDS).for_each(|_| own.decide(|_, _| false));
        assert!(own.undecided.is_empty());
    }
}
