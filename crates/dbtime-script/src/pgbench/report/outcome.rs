//! What a run measured, as far as a report tells it.

use super::super::options::PartitionOptions;
use super::moments::RunningMoments;

/// What became of transactions: of all, of a script's, or of an interval's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutcomeTally {
    /// Those that are complete.
    pub processed: u64,
    /// Those that were not begun, for they were late already.
    pub skipped: u64,
    /// Those that could not be serialized, and had no tries left.
    pub serialization_failures: u64,
    /// Those that were in a deadlock, and had no tries left.
    pub deadlock_failures: u64,
    /// Those that had more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Of complete transactions. Unit: microseconds.
    pub latency: RunningMoments,
    /// How late they began, with a rate. Unit: microseconds.
    pub lag: RunningMoments,
}

impl OutcomeTally {
    /// Those that failed.
    pub(crate) fn failures(&self) -> u64 {
        self.serialization_failures + self.deadlock_failures
    }

    /// All of them.
    pub(crate) fn total(&self) -> u64 {
        self.processed + self.failures() + self.skipped
    }

    /// Adds another's.
    #[cfg(test)]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.processed += other.processed;
        self.skipped += other.skipped;
        self.serialization_failures += other.serialization_failures;
        self.deadlock_failures += other.deadlock_failures;
        self.retried += other.retried;
        self.retries += other.retries;
        self.latency.merge(&other.latency);
        self.lag.merge(&other.lag);
    }

    /// What was counted since an earlier instant.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            processed: self.processed - earlier.processed,
            skipped: self.skipped - earlier.skipped,
            serialization_failures: self.serialization_failures - earlier.serialization_failures,
            deadlock_failures: self.deadlock_failures - earlier.deadlock_failures,
            retried: self.retried - earlier.retried,
            retries: self.retries - earlier.retries,
            latency: self.latency.since(&earlier.latency),
            lag: self.lag.since(&earlier.lag),
        }
    }
}

/// What a run measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PgbenchOutcome {
    /// The scaling factor, as the tables or the command line say.
    pub scale: u64,
    /// How the accounts are cut up.
    pub partitions: Option<PartitionOptions>,
    /// All transactions.
    pub total: OutcomeTally,
    /// Complete transactions that took longer than the limit.
    pub late: u64,
    /// From the first transaction to the last; connections made before are left out.
    /// Unit: seconds.
    pub duration_s: f64,
    /// What it took to make the connections; with `-C` all of them together. Unit: seconds.
    pub connecting_s: f64,
    /// In the order of the command line.
    pub scripts: Vec<ScriptOutcome>,
}

/// What a run measured of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOutcome {
    /// Its transactions.
    pub tally: OutcomeTally,
    /// Its commands in their order.
    pub commands: Vec<CommandOutcome>,
}

/// What a run measured of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandOutcome {
    /// Its first line.
    pub text: String,
    /// What it took where it did not fail. Unit: microseconds.
    pub latency: RunningMoments,
    /// How often it failed its transaction.
    pub failures: u64,
    /// How often its transaction was tried again.
    pub retries: u64,
}
