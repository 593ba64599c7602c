//! What became of the connections of a run.

use crate::Nanos;
use crate::histogram::Histogram;

/// What became of connections, over a whole run, the first ones included.
#[derive(Clone, Debug)]
pub struct ConnectionRecorder {
    /// How long the made ones took, from opening the socket to the server's welcome.
    pub times: Histogram<u64>,
    /// Attempts that failed.
    pub failed: u64,
    /// Those that broke after they had been made.
    pub lost: u64,
    /// Those that were tried and could not be made, not once.
    pub never_made: u64,
    /// The server's numbers of those whose statement nobody waited for any more.
    pub abandoned: Vec<u32>,
    /// From the first attempt until each of the first ones had been made or refused.
    pub opening: Nanos,
}

impl Default for ConnectionRecorder {
    fn default() -> Self {
        Self {
            times: Histogram::coarse(),
            failed: 0,
            lost: 0,
            never_made: 0,
            abandoned: Vec::new(),
            opening: Nanos::ZERO,
        }
    }
}

impl ConnectionRecorder {
    /// Adds another thread's.
    pub fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.failed += other.failed;
        self.lost += other.lost;
        self.never_made += other.never_made;
        self.abandoned.extend(&other.abandoned);
        self.opening = self.opening.max(other.opening);
    }
}
