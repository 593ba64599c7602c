//! What a run adds up for its report: per run, per script and per command, in pgbench's terms.
//!
//! Histograms are the engine's affair; here are only sums.

use super::log::{LogEntry, LogOutcome};
use super::report::RunningMoments;
use dbtime_model::{Outcome, Sample};

/// Why a transaction failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It could not be serialized.
    Serialization,
    /// It was a deadlock's victim.
    Deadlock,
    /// Anything else.
    Other,
}

/// Transactions by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PgbenchCounts {
    /// Completed.
    pub completed: u64,
    /// Given up before they began, because they were late already.
    pub skipped: u64,
    /// Tried more than once.
    pub retried: u64,
    /// Tries beyond the first, of all together.
    pub retries: u64,
    /// Failed: see [`FailureKind::Serialization`].
    pub serialization_failures: u64,
    /// Failed: see [`FailureKind::Deadlock`].
    pub deadlock_failures: u64,
    /// Failed: see [`FailureKind::Other`]. Each has aborted its client, and is not counted by the
    /// original.
    pub other_failures: u64,
    /// Completed, but above the latency limit.
    pub late: u64,
    /// From the due instant to the end of those that completed. Unit: microseconds.
    pub latency: RunningMoments,
    /// From the due instant to the beginning of those that completed. Unit: microseconds.
    pub lag: RunningMoments,
}

impl PgbenchCounts {
    /// Adds a transaction. `limit` is the latency limit in microseconds.
    pub(crate) fn add(
        &mut self,
        sample: &Sample,
        kind: FailureKind,
        tries: u32,
        limit: Option<f64>,
    ) {
        match sample.outcome {
            Outcome::Dropped => return self.skipped += 1,
            Outcome::Unfinished => return,
            Outcome::Completed => {
                // Whole microseconds, as the original counts them.
                let latency = (sample.response().0 / 1000) as f64;
                self.completed += 1;
                self.latency.add(latency);
                self.lag.add(((sample.sent - sample.due).0 / 1000) as f64);
                self.late += u64::from(limit.is_some_and(|limit| latency > limit));
            }
            Outcome::Failed(_) => match kind {
                FailureKind::Serialization => self.serialization_failures += 1,
                FailureKind::Deadlock => self.deadlock_failures += 1,
                FailureKind::Other => self.other_failures += 1,
            },
        }
        if tries > 1 {
            self.retried += 1;
            self.retries += u64::from(tries - 1);
        }
    }

    /// Adds all transactions of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.skipped += other.skipped;
        self.retried += other.retried;
        self.retries += other.retries;
        self.serialization_failures += other.serialization_failures;
        self.deadlock_failures += other.deadlock_failures;
        self.other_failures += other.other_failures;
        self.late += other.late;
        self.latency.merge(&other.latency);
        self.lag.merge(&other.lag);
    }

    /// Adds a transaction as a log has it.
    pub fn add_entry(&mut self, entry: &LogEntry) {
        match entry.fate {
            LogOutcome::Skipped => return self.skipped += 1,
            LogOutcome::Complete(latency_us) => {
                self.completed += 1;
                self.latency.add(latency_us);
                self.lag.add(entry.lag_us);
            }
            LogOutcome::Serialization => self.serialization_failures += 1,
            LogOutcome::Deadlock => self.deadlock_failures += 1,
        }
        self.retried += u64::from(entry.retries > 0);
        self.retries += entry.retries;
    }

    /// What was counted since an earlier instant.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            completed: self.completed - earlier.completed,
            skipped: self.skipped - earlier.skipped,
            retried: self.retried - earlier.retried,
            retries: self.retries - earlier.retries,
            serialization_failures: self.serialization_failures - earlier.serialization_failures,
            deadlock_failures: self.deadlock_failures - earlier.deadlock_failures,
            other_failures: self.other_failures - earlier.other_failures,
            late: self.late - earlier.late,
            latency: self.latency.since(&earlier.latency),
            lag: self.lag.since(&earlier.lag),
        }
    }

    /// Those that failed, as far as the original counts them.
    pub(crate) fn failures(&self) -> u64 {
        self.serialization_failures + self.deadlock_failures
    }

    /// All that the original counts.
    pub(crate) fn total(&self) -> u64 {
        self.completed + self.failures() + self.skipped
    }
}

/// What became of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommandCounts {
    /// How long it took when it succeeded. Unit: seconds. Empty unless asked for.
    pub time: RunningMoments,
    /// Transactions that failed for good in it.
    pub failures: u64,
    /// Transactions that were tried again after it had failed.
    pub retries: u64,
}

/// What became of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptCounts {
    /// Its transactions.
    pub transactions: PgbenchCounts,
    /// Its commands, in their order.
    pub commands: Vec<CommandCounts>,
}

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PgbenchStatistics {
    /// By script.
    pub scripts: Vec<ScriptCounts>,
}

impl PgbenchStatistics {
    /// Nothing has happened yet; `commands` says how many commands each script has.
    pub(crate) fn new(commands: impl Iterator<Item = usize>) -> Self {
        let script = |count| ScriptCounts {
            transactions: PgbenchCounts::default(),
            commands: vec![CommandCounts::default(); count],
        };
        Self { scripts: commands.map(script).collect() }
    }

    /// The transactions of all scripts.
    pub fn total(&self) -> PgbenchCounts {
        let mut total = PgbenchCounts::default();
        self.scripts.iter().for_each(|script| total.merge(&script.transactions));
        total
    }

    /// Adds another one of the same scripts.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, other) in self.scripts.iter_mut().zip(&other.scripts) {
            mine.transactions.merge(&other.transactions);
            for (mine, other) in mine.commands.iter_mut().zip(&other.commands) {
                mine.time.merge(&other.time);
                mine.failures += other.failures;
                mine.retries += other.retries;
            }
        }
    }

    /// Sets everything to nothing, and keeps the room.
    pub(crate) fn clear(&mut self) {
        for script in &mut self.scripts {
            script.transactions = PgbenchCounts::default();
            script.commands.fill(CommandCounts::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::{ErrorClass, MonoNanos, OperationId};

    fn sample(outcome: Outcome) -> Sample {
        Sample {
            operation: OperationId(0),
            outcome,
            due: MonoNanos(1_000_000),
            ready: MonoNanos(1_200_000),
            sent: MonoNanos(1_300_000),
            done: MonoNanos(3_000_999),
            late: dbtime_model::Nanos::ZERO,
            retries: 0,
        }
    }

    #[test]
    fn transactions_are_counted_by_what_became_of_them() {
        let mut statistics = PgbenchStatistics::new([2].into_iter());
        let counts = &mut statistics.scripts[0].transactions;
        counts.add(&sample(Outcome::Completed), FailureKind::Other, 3, Some(1999.0));
        let failed = sample(Outcome::Failed(ErrorClass::Conflict));
        counts.add(&failed, FailureKind::Deadlock, 1, None);
        counts.add(&failed, FailureKind::Serialization, 2, None);
        counts.add(&sample(Outcome::Dropped), FailureKind::Other, 1, None);
        counts.add(&sample(Outcome::Unfinished), FailureKind::Other, 1, None);
        let total = statistics.total();
        assert_eq!((total.completed, total.late, total.skipped), (1, 1, 1));
        assert_eq!((total.retried, total.retries), (2, 3));
        assert_eq!((total.deadlock_failures, total.serialization_failures), (1, 1));
        assert_eq!((total.latency.sum, total.lag.sum), (2000.0, 300.0));
        let mut doubled = statistics.clone();
        doubled.merge(&statistics);
        assert_eq!(doubled.total().latency.count, 2);
        doubled.clear();
        assert_eq!(doubled, PgbenchStatistics::new([2].into_iter()));
    }
}
