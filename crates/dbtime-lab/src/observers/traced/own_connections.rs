//! Which of the server's connections are the run's: others are somebody else's.

use rustc_hash::FxHashSet;

/// A run that makes more, one for each transaction, is not asked any more: what cannot be kept must
/// not be taken for somebody else's.
const MAX_KEPT: usize = 1 << 20;

/// The run's connections by the tracer's numbers, as far as they have been seen.
#[derive(Debug, Default)]
pub(super) struct OwnConnections(FxHashSet<u64>);

impl OwnConnections {
    /// This one is the run's.
    pub(super) fn add(&mut self, connection: u64) {
        if self.0.len() < MAX_KEPT {
            self.0.insert(connection);
        }
    }

    pub(super) fn has(&self, connection: u64) -> bool {
        self.0.contains(&connection)
    }

    /// Whether one is somebody else's. Before the run's have been seen nothing is known of any.
    pub(super) fn is_outside(&self, connection: u64) -> bool {
        (1..MAX_KEPT).contains(&self.0.len()) && !self.has(connection)
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
}
