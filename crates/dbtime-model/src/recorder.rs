//! What one thread records while it drives: owned by the thread, merged at the end.
//!
//! Nothing here is shared or locked, and nothing is allocated per transaction.

use crate::exemplar::{Exemplars, StatementExemplar};
use crate::histogram::Histogram;
use crate::outcome::{ErrorClass, Outcome};
use crate::record::CountsInfo;
use crate::sample::{OperationId, Sample, StatementId};
use crate::spans::{TimeSpan, intersection};
use crate::units::{MonoNanos, Nanos};
use crate::{Budget, BudgetCells, Parts};
use hdrhistogram::Counter;
use std::collections::BTreeMap;

mod connection_recorder;
mod ready_waits;
pub use connection_recorder::ConnectionRecorder;
pub use ready_waits::ReadyWaits;

/// The measured window: transactions due (closed: started) in `start..end` belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first instant that belongs to it.
    pub start: MonoNanos,
    /// The first instant after it.
    pub end: MonoNanos,
}

impl Window {
    /// Whether a transaction due at `due` belongs to the window.
    #[inline]
    pub fn contains(&self, due: MonoNanos) -> bool {
        self.start <= due && due < self.end
    }
}

/// The histograms of one operation, or of all.
#[derive(Clone, Debug)]
pub struct Latencies<C: Counter> {
    /// `done − due`.
    pub response: Histogram<C>,
    /// `done − sent`.
    pub service: Histogram<C>,
    /// `ready − due`.
    pub queue: Histogram<C>,
    /// The driver's own lateness.
    pub lag: Histogram<C>,
    /// The response less the lag: what it would have been with a driver that is never late.
    pub without_lag: Histogram<C>,
    /// The age of what never ended, coarsely: it is in the response too, where it is the least that
    /// one took.
    pub unfinished: Histogram<C>,
}

impl<C: Counter> Default for Latencies<C> {
    fn default() -> Self {
        let empty = Histogram::fine;
        Self {
            response: empty(),
            service: empty(),
            queue: empty(),
            lag: empty(),
            without_lag: empty(),
            unfinished: Histogram::coarse(),
        }
    }
}

impl<C: Counter> Latencies<C> {
    /// Counts one ended transaction. Cost: five values.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        self.response.record(sample.response());
        self.service.record(sample.service());
        self.queue.record(sample.queue());
        self.lag.record(sample.lag());
        self.without_lag.record(sample.response() - sample.lag());
    }

    /// Counts one that never ended, with its age.
    pub(crate) fn record_unfinished(&mut self, sample: &Sample) {
        self.response.record(sample.response());
        self.without_lag.record(sample.response() - sample.lag());
        self.unfinished.record(sample.response());
    }

    /// Counts one of which is known that it took at least so long.
    fn record_at_least(&mut self, response: Nanos) {
        self.response.record(response);
        self.without_lag.record(response);
    }
}

impl Latencies<u64> {
    /// Adds another set.
    pub fn merge<D: Counter>(&mut self, other: &Latencies<D>) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.queue.merge(&other.queue);
        self.lag.merge(&other.lag);
        self.without_lag.merge(&other.without_lag);
        self.unfinished.merge(&other.unfinished);
    }
}

/// Everything recorded about one operation.
#[derive(Clone, Debug)]
pub struct OperationRecorder<C: Counter = u32> {
    /// What became of its transactions.
    pub counts: CountsInfo,
    /// Completed within the window, whenever they were due: the throughput. What the rundown
    /// completes after the window is not carried in it.
    pub completed_within: u64,
    /// Their histograms.
    pub latencies: Latencies<C>,
    /// Their budgets by response bucket; only transactions whose parts were measured.
    pub cells: BudgetCells,
    /// Single transactions kept whole.
    pub exemplars: Exemplars,
    /// Think time wanted and taken, of the window, to check the deviation.
    pub think: ThinkCheck,
}

/// Think time wanted by the workload and taken by the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkCheck {
    /// How many pauses.
    pub count: u64,
    /// The sum of what was asked for. Unit: nanoseconds.
    pub requested_ns: u64,
    /// The sum of what it came to. Unit: nanoseconds.
    pub taken_ns: u64,
}

/// Everything recorded about one statement.
#[derive(Clone, Debug)]
pub struct StatementRecorder<C: Counter = u32> {
    /// How often it was executed in the window, failed attempts included.
    pub count: u64,
    /// Rows it returned or changed.
    pub rows: u64,
    /// Messages to the database and back, preparing included.
    pub round_trips: u64,
    /// Time from handing it to the database until its last answer.
    pub service: Histogram<C>,
    /// Its budget, over the executions whose parts were measured.
    pub budget: Budget,
}

impl<C: Counter> Default for StatementRecorder<C> {
    fn default() -> Self {
        Self {
            count: 0,
            rows: 0,
            round_trips: 0,
            service: Histogram::coarse(),
            budget: Budget::default(),
        }
    }
}

/// How often an error occurred, and what the database said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorCount {
    /// How often.
    pub count: u64,
    /// The first one's class.
    pub class: ErrorClass,
    /// The first one's message.
    pub message: String,
}

/// A time of at least a tenth of a second in which connections failed and nothing was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The first failure.
    pub from: MonoNanos,
    /// The first transaction completed again; `None` when the run ended before.
    pub until: Option<MonoNanos>,
}

/// Codes of errors that are told apart. Few of them come in a run, but a server may make up as many
/// as it likes.
const MAX_ERROR_CODES: usize = 200;

/// What one thread recorded in the measured window.
#[derive(Clone, Debug)]
pub struct Recorder<C: Counter = u32> {
    window: Window,
    /// By [`OperationId`].
    pub operations: Vec<OperationRecorder<C>>,
    /// By [`StatementId`].
    pub statements: Vec<StatementRecorder<C>>,
    /// Errors by the database's own code, warm-up left out.
    pub errors: BTreeMap<String, ErrorCount>,
    /// Warnings and notices that came with answers in the window.
    pub warnings: u64,
    /// Connections of the whole run.
    pub connections: ConnectionRecorder,
    /// Times without service, of the whole run.
    pub outages: Vec<Outage>,
    /// Times of at least a tenth of a second in which a thread of the driver stood still when it
    /// should have gone on, of the whole run.
    pub standstills: Vec<TimeSpan>,
    /// How long transactions of the window waited for answers meanwhile, together, where it was not
    /// seen whether these had come: time of the driver's or of the database's.
    pub standstill_waits: Nanos,
    /// How long transactions of the window that were ready waited for a CPU before they were sent,
    /// together; `None`: not measured.
    pub ready_waits: Option<ReadyWaits>,
    /// Times of at least a tenth of a second in which nothing was completed, of several threads by
    /// none of them; `None` as long as nothing was recorded or merged.
    pub quiet: Option<Vec<TimeSpan>>,
    /// Times in which a transaction of at least a tenth of a second was due and not over.
    pub waiting: Vec<TimeSpan>,
    /// Transactions that ended but were due before or after the window.
    pub outside: u64,
    /// Those of them that were due before it and not over when it began.
    pub carried_in: u64,
    /// How long those that never ended were due within the window, together.
    pub unfinished_in_window: Nanos,
    /// Clients that ended before the load did, as one whose script fails does.
    pub quit: u64,
}

/// What is sent within the first twentieth of the window, and within its first second, is the first
/// that its client asks in it.
const FIRST_SHARE: u64 = 20;
const FIRST_TIME: Nanos = Nanos::from_secs(1);

impl<C: Counter> Recorder<C> {
    /// An empty recorder. `seed` decides the random choice of transactions kept whole.
    pub fn new(window: Window, operations: usize, statements: usize, seed: u64) -> Self {
        let operation = |index| OperationRecorder {
            counts: CountsInfo::default(),
            completed_within: 0,
            latencies: Latencies::default(),
            cells: BudgetCells::default(),
            exemplars: Exemplars::new(seed ^ (index as u64) << 48),
            think: ThinkCheck::default(),
        };
        Self {
            window,
            operations: (0..operations).map(operation).collect(),
            statements: (0..statements).map(|_| StatementRecorder::default()).collect(),
            errors: BTreeMap::new(),
            warnings: 0,
            connections: ConnectionRecorder::default(),
            outages: Vec::new(),
            standstills: Vec::new(),
            standstill_waits: Nanos::ZERO,
            ready_waits: None,
            quiet: None,
            waiting: Vec::new(),
            outside: 0,
            carried_in: 0,
            unfinished_in_window: Nanos::ZERO,
            quit: 0,
        }
    }

    /// The window it records.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Counts a transaction that enters the engine.
    #[inline]
    pub fn offered(&mut self, operation: OperationId, due: MonoNanos) {
        if self.window.contains(due) {
            self.operations[operation.0 as usize].counts.offered += 1;
        }
    }

    /// Counts a transaction that leaves the engine.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        if sample.outcome == Outcome::Completed && self.window.contains(sample.done) {
            self.operations[sample.operation.0 as usize].completed_within += 1;
        }
        if !self.window.contains(sample.due) {
            self.outside += 1;
            self.reaches_in(sample);
            return;
        }
        let is_held = self.is_over_too_late(sample) && sample.sent <= self.first_until();
        let operation = &mut self.operations[sample.operation.0 as usize];
        let has_failed = matches!(sample.outcome, Outcome::Failed(_));
        let never_ended = sample.outcome == Outcome::Unfinished;
        operation.counts.held += u64::from(is_held);
        operation.counts.held_failed += u64::from(is_held && has_failed);
        operation.counts.held_unfinished += u64::from(is_held && never_ended);
        operation.counts.retries += u64::from(sample.retries);
        match sample.outcome {
            Outcome::Completed => operation.counts.completed += 1,
            Outcome::Failed(_) => operation.counts.failed += 1,
            Outcome::Dropped => {
                operation.counts.dropped += 1;
                return;
            }
            Outcome::Unfinished => {
                // Its age enters the response, so that a stall at the end cannot hide.
                operation.counts.unfinished += 1;
                operation.latencies.record_unfinished(sample);
                self.unfinished_in_window += sample.done.min(self.window.end) - sample.due;
                return;
            }
        }
        operation.latencies.record(sample);
    }

    /// Whether a transaction was not over when the window ended.
    fn is_over_too_late(&self, sample: &Sample) -> bool {
        let is_late = sample.done >= self.window.end || sample.outcome == Outcome::Unfinished;
        is_late && sample.outcome != Outcome::Dropped
    }

    /// Until when a window has just begun.
    fn first_until(&self) -> MonoNanos {
        let Window { start, end } = self.window;
        start + Nanos((end - start).0 / FIRST_SHARE).min(FIRST_TIME)
    }

    /// Counts what a transaction that was due before or after the window has to do with it.
    fn reaches_in(&mut self, sample: &Sample) {
        let Window { start, end } = self.window;
        if sample.due >= start || sample.done < start {
            return;
        }
        self.carried_in += 1;
        if self.is_over_too_late(sample) && sample.sent < start {
            let operation = &mut self.operations[sample.operation.0 as usize];
            operation.counts.outstanding += 1;
            // In the window it took all of that; how long it takes nobody has seen.
            operation.latencies.record_at_least(sample.done.min(end) - start);
        }
    }

    /// Adds the measured parts of a transaction that ended. `parts` must be closed.
    #[inline]
    pub fn record_parts(&mut self, sample: &Sample, parts: &Parts) {
        self.record_traced(sample, parts, Nanos::ZERO, Vec::new);
    }

    /// The same of a transaction that was traced, with so much in two parts at once. Its statements
    /// are made where it is one of those that are kept whole.
    #[inline]
    pub fn record_traced(
        &mut self,
        sample: &Sample,
        parts: &Parts,
        twice: Nanos,
        statements: impl Fn() -> Vec<StatementExemplar>,
    ) {
        if !self.window.contains(sample.due) {
            return;
        }
        let operation = &mut self.operations[sample.operation.0 as usize];
        operation.cells.add(sample.response(), parts, twice);
        operation.exemplars.add(sample, parts, statements);
    }

    /// Counts one executed statement of a transaction that belongs to the window.
    #[inline]
    pub fn statement(
        &mut self,
        statement: StatementId,
        service: Nanos,
        rows: u64,
        round_trips: u32,
    ) {
        let statement = self.of_statement(statement);
        statement.count += 1;
        statement.rows = statement.rows.saturating_add(rows);
        statement.round_trips += u64::from(round_trips);
        statement.service.record(service);
    }

    /// Adds the measured parts of one executed statement of a transaction that belongs to the
    /// window. `parts` must be closed.
    #[inline]
    pub fn statement_parts(&mut self, statement: StatementId, service: Nanos, parts: &Parts) {
        self.traced_statement_parts(statement, service, parts, Nanos::ZERO);
    }

    /// The same of one that was traced, with so much in two parts at once.
    #[inline]
    pub fn traced_statement_parts(
        &mut self,
        statement: StatementId,
        service: Nanos,
        parts: &Parts,
        twice: Nanos,
    ) {
        self.of_statement(statement).budget.add_overlapping(service, parts, twice);
    }

    /// What is recorded of a statement. Scripts have more of them the longer they run.
    #[inline]
    fn of_statement(&mut self, statement: StatementId) -> &mut StatementRecorder<C> {
        let index = statement.0 as usize;
        if index >= self.statements.len() {
            self.statements.resize_with(index + 1, StatementRecorder::default);
        }
        &mut self.statements[index]
    }

    /// Counts a database error by its code, or by its class where there are too many codes; the
    /// first message of each is kept.
    pub fn error(&mut self, due: MonoNanos, class: ErrorClass, code: &str, message: &str) {
        if self.window.contains(due) {
            let is_full = self.errors.len() >= MAX_ERROR_CODES && !self.errors.contains_key(code);
            let key = if code.is_empty() || is_full { class.name() } else { code };
            let new = || ErrorCount { count: 0, class, message: message.to_owned() };
            self.errors.entry(key.to_owned()).or_insert_with(new).count += 1;
        }
    }

    /// Counts warnings that came with an answer.
    pub fn warnings(&mut self, due: MonoNanos, warnings: u32) {
        if self.window.contains(due) {
            self.warnings += u64::from(warnings);
        }
    }

    /// Counts one think-time pause.
    #[inline]
    pub fn think(&mut self, operation: OperationId, at: MonoNanos, requested: Nanos, taken: Nanos) {
        if self.window.contains(at) {
            let think = &mut self.operations[operation.0 as usize].think;
            think.count += 1;
            think.requested_ns += requested.0;
            think.taken_ns += taken.0;
        }
    }

    /// Transactions completed within the window, all operations together.
    pub fn completed_within(&self) -> u64 {
        self.operations.iter().map(|operation| operation.completed_within).sum()
    }

    /// The parts of all operations together.
    pub fn budget(&self) -> Budget {
        let mut total = Budget::default();
        self.operations.iter().for_each(|operation| total.merge(&operation.cells.total()));
        total
    }

    /// The counts of all operations together.
    pub fn counts(&self) -> CountsInfo {
        let mut total = CountsInfo::default();
        self.operations.iter().for_each(|operation| total += operation.counts);
        total
    }

    /// A thread that has ended completes nothing until the others have: what only they had to wait
    /// through would be no time without service.
    pub fn stays_quiet(threads: &mut [&mut Self]) {
        let last = |thread: &&mut Self| Some(thread.quiet.as_ref()?.last()?.until);
        let Some(over) = threads.iter().filter_map(last).max() else { return };
        for thread in threads {
            if let Some(span) = thread.quiet.as_mut().and_then(|quiet| quiet.last_mut()) {
                span.until = over;
            }
        }
    }
}

impl Recorder<u64> {
    /// Takes the measured parts of transactions and statements from a recorder of the same load,
    /// in the place of its own.
    pub fn replace_parts<D: Counter>(&mut self, other: Recorder<D>) {
        for (mine, theirs) in self.operations.iter_mut().zip(other.operations) {
            (mine.cells, mine.exemplars) = (theirs.cells, theirs.exemplars);
        }
        for statement in &mut self.statements {
            statement.budget = Budget::default();
        }
        for (mine, theirs) in self.statements.iter_mut().zip(other.statements) {
            mine.budget = theirs.budget;
        }
    }

    /// Adds another thread's recorder of the same workload.
    pub fn merge<D: Counter>(&mut self, other: &Recorder<D>) {
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.counts += theirs.counts;
            mine.completed_within += theirs.completed_within;
            mine.latencies.merge(&theirs.latencies);
            mine.cells.merge(&theirs.cells);
            mine.exemplars.merge(&theirs.exemplars);
            mine.think.count += theirs.think.count;
            mine.think.requested_ns += theirs.think.requested_ns;
            mine.think.taken_ns += theirs.think.taken_ns;
        }
        let most = self.statements.len().max(other.statements.len());
        self.statements.resize_with(most, StatementRecorder::default);
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            mine.count += theirs.count;
            mine.rows = mine.rows.saturating_add(theirs.rows);
            mine.round_trips += theirs.round_trips;
            mine.service.merge(&theirs.service);
            mine.budget.merge(&theirs.budget);
        }
        for (code, error) in &other.errors {
            let new = || ErrorCount { count: 0, ..error.clone() };
            self.errors.entry(code.clone()).or_insert_with(new).count += error.count;
        }
        self.warnings += other.warnings;
        self.connections.merge(&other.connections);
        self.outages.extend(&other.outages);
        self.standstills.extend(&other.standstills);
        self.standstill_waits += other.standstill_waits;
        if let Some(theirs) = other.ready_waits {
            *self.ready_waits.get_or_insert_default() += theirs;
        }
        self.waiting.extend(&other.waiting);
        if let Some(theirs) = &other.quiet {
            self.quiet = Some(match self.quiet.take() {
                Some(mine) => intersection(&mine, theirs),
                None => theirs.clone(),
            });
        }
        self.outside += other.outside;
        self.carried_in += other.carried_in;
        self.unfinished_in_window += other.unfinished_in_window;
        self.quit += other.quit;
    }
}

#[cfg(test)]
mod tests;
