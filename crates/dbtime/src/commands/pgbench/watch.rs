//! What is seen of a run while it goes on: lines of progress, and the logs.

use super::log::LogFiles;
use crate::exit::CommandFailure;
use crate::screen;
use dbtime_lab::LoadMoment;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos, Outcome};
use dbtime_script::pgbench::options::BenchmarkOptions;
use dbtime_script::pgbench::report;
use dbtime_script::pgbench::{
    FailureKind, LogEntry, LogOutcome, ObservedTransaction, PgbenchCounts, TransactionObserver,
};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Sees every transaction end.
pub(super) struct PgbenchWatch {
    /// Microseconds from the zero of our clock to 1970, as a difference.
    epoch_us: i64,
    state: Mutex<WatchState>,
}

#[derive(Default)]
struct WatchState {
    tally: PgbenchCounts,
    logs: Option<LogFiles>,
}

impl PgbenchWatch {
    /// Watches a run: its logs are made now.
    pub(super) fn new(
        benchmark: &BenchmarkOptions,
        seed: u64,
    ) -> Result<Arc<Self>, CommandFailure> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let epoch_us = since.as_micros() as i64 - (now().0 / 1000) as i64;
        let logs = benchmark.log.as_ref();
        let logs = logs.map(|log| LogFiles::create(log, benchmark, seed)).transpose()?;
        let state = Mutex::new(WatchState { tally: PgbenchCounts::default(), logs });
        Ok(Arc::new(Self { epoch_us, state }))
    }

    /// What shows transactions to it.
    pub(super) fn observer(self: &Arc<Self>) -> TransactionObserver {
        let watch = Arc::clone(self);
        TransactionObserver::new(move |seen| watch.see(seen))
    }

    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since_1970_us(&self, at: MonoNanos) -> i64 {
        self.epoch_us + (at.0 / 1000) as i64
    }

    fn see(&self, seen: &ObservedTransaction<'_>) {
        let Some(fate) = fate(seen) else { return };
        let sample = seen.sample;
        let entry = LogEntry {
            client: seen.client,
            number: seen.number,
            script: seen.script,
            fate,
            ended_us: self.since_1970_us(sample.done),
            lag_us: whole_us(sample.sent - sample.due),
            retries: seen.tries.saturating_sub(1).into(),
        };
        let mut state = self.state();
        state.tally.add_entry(&entry);
        if let Some(logs) = &mut state.logs {
            logs.record(&entry);
        }
    }

    /// The load begins.
    pub(super) fn begin(&self, benchmark: &BenchmarkOptions, at: MonoNanos) {
        if let (Some(logs), Some(log)) = (&mut self.state().logs, &benchmark.log) {
            logs.begin(log, benchmark, self.since_1970_us(at));
        }
    }

    /// Prints lines of progress from `start` on, until the load has ended.
    pub(super) fn print(
        &self,
        benchmark: &BenchmarkOptions,
        start: MonoNanos,
        moments: &Receiver<LoadMoment>,
    ) {
        let Some(seconds) = benchmark.progress else { return };
        let every = Nanos::from_secs(seconds.into());
        let (mut earlier, mut since, mut due) = (PgbenchCounts::default(), start, start + every);
        while moments.recv_timeout(Duration::from_nanos((due - now()).0))
            == Err(RecvTimeoutError::Timeout)
        {
            let (tally, at) = (self.state().tally, now());
            let now_s = match benchmark.is_progress_timestamped {
                true => self.since_1970_us(at) as f64 / 1e6,
                false => (at - start).as_secs(),
            };
            let interval = tally.since(&earlier);
            let line = report::progress(benchmark, now_s, (at - since).as_secs(), &interval);
            screen::to_stderr(&line);
            (earlier, since, due) = (tally, at, due + every);
        }
    }

    /// The run has ended: writes what is left of the logs.
    pub(super) fn end(&self) -> Result<(), CommandFailure> {
        let now_us = self.since_1970_us(now());
        self.state().logs.as_mut().map_or(Ok(()), |logs| logs.end(now_us))
    }
}

/// What became of a transaction; `None` where pgbench counts it as nothing.
fn fate(seen: &ObservedTransaction<'_>) -> Option<LogOutcome> {
    match (seen.sample.outcome, seen.failure) {
        (Outcome::Completed, _) => Some(LogOutcome::Complete(whole_us(seen.sample.response()))),
        (Outcome::Dropped, _) => Some(LogOutcome::Skipped),
        (Outcome::Failed(_), FailureKind::Serialization) => Some(LogOutcome::Serialization),
        (Outcome::Failed(_), FailureKind::Deadlock) => Some(LogOutcome::Deadlock),
        (Outcome::Failed(_), FailureKind::Other) | (Outcome::Unfinished, _) => None,
    }
}

/// Whole microseconds, as pgbench counts them.
fn whole_us(length: Nanos) -> f64 {
    (length.0 / 1000) as f64
}
