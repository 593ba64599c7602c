//! One second of a run: what completed in it, how long it took, how busy the machine was.

use crate::histogram::Histogram;
use crate::outcome::Outcome;
use crate::sample::Sample;

/// What one thread saw in one second of the run, warm-up and rundown included.
///
/// A transaction belongs to the second in which it was done.
#[derive(Clone, Debug)]
pub struct RunSecond {
    /// Seconds since the start of the load.
    pub index: u32,
    /// Transactions completed in this second.
    pub completed: u64,
    /// Transactions failed in this second.
    pub failed: u64,
    /// Retries of the transactions that ended in this second.
    pub retries: u64,
    /// Their responses, completed and failed, with two significant digits.
    pub response: Histogram<u32>,
    /// The sum of their service times. Unit: nanoseconds.
    pub service_ns: u64,
}

impl RunSecond {
    /// An empty second.
    pub fn new(index: u32) -> Self {
        Self {
            index,
            completed: 0,
            failed: 0,
            retries: 0,
            response: Histogram::coarse(),
            service_ns: 0,
        }
    }

    /// Empties it for another second and keeps the memory.
    pub fn reset(&mut self, index: u32) {
        self.index = index;
        self.completed = 0;
        self.failed = 0;
        self.retries = 0;
        self.response.clear();
        self.service_ns = 0;
    }

    /// Counts one ended transaction.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        match sample.outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Dropped | Outcome::Unfinished => return,
        }
        self.retries += u64::from(sample.retries);
        self.response.record(sample.response());
        self.service_ns += sample.service().0;
    }

    /// Whether nothing ended in it.
    pub fn is_empty(&self) -> bool {
        self.completed == 0 && self.failed == 0
    }
}
