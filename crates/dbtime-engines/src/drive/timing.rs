//! One transaction's instants and parts while it is under way, and its record when it ends.

use dbtime_load::program::Ticket;
use dbtime_machine::now;
use dbtime_model::exchange::{DrivenTransaction, ExchangeBatch, StatementExchange};
use dbtime_model::recorder::{Outage, ReadyWaits};
use dbtime_model::series::RunSecond;
use dbtime_model::{
    ErrorClass, MonoNanos, Nanos, Outcome, Part, Parts, Recorder, Sample, StatementId, TimeSpan,
};

use crate::drive::observer::LoadSink;
use crate::drive::plan::PartSampling;
use dbtime_load::failure::DatabaseFailure;

/// What reading the thread's clocks takes at most, when nothing comes in between.
const MAX_CLOCK_READING: Nanos = Nanos::from_micros(2);

/// The driver's own work between two transactions takes no longer; what does is a wait for a CPU.
const MAX_OWN_WORK: Nanos = Nanos::from_micros(5);

/// One transaction's instants and parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransactionTiming {
    /// When it was ready to be sent.
    pub ready: MonoNanos,
    /// When its first statement was handed to the database; zero until then.
    sent: MonoNanos,
    /// When its last answer came.
    done: MonoNanos,
    /// From an answer, or the end of a pause, until what came next.
    between: Nanos,
    /// What answers waited for a driver that had no CPU.
    late: Nanos,
    /// Deliberate pauses, of each kind of [`Part::PAUSES`].
    pauses: [Nanos; Part::PAUSES.len()],
    /// Parts measured inside its statements; only when `sampled`.
    pub parts: Parts,
    /// Whether its costly parts are measured.
    pub sampled: bool,
    /// What measuring delayed its first statement by.
    delay: Nanos,
    /// Its waits for a CPU before it was sent.
    ready_waits: ReadyWaits,
    /// Answered statements that were handed on.
    pub exchanges: u32,
}

impl TransactionTiming {
    /// A transaction that is ready and not yet sent.
    #[inline]
    pub(crate) fn new(ready: MonoNanos, sampled: bool) -> Self {
        Self {
            ready,
            sent: MonoNanos(0),
            done: ready,
            between: Nanos::ZERO,
            late: Nanos::ZERO,
            pauses: [Nanos::ZERO; Part::PAUSES.len()],
            parts: Parts::default(),
            sampled,
            delay: Nanos::ZERO,
            ready_waits: ReadyWaits::default(),
            exchanges: 0,
        }
    }

    /// Reading the thread's clocks held the next statement up from `from` to `to`. Before the first
    /// one that is taken out: the transaction counts as sent and done so much earlier, for else its
    /// lag would be that of the reading. A pause beyond what reading takes is not taken out.
    #[inline]
    pub(crate) fn held_up(&mut self, from: MonoNanos, to: MonoNanos) {
        if !self.has_begun() {
            self.delay = (to - from).min(MAX_CLOCK_READING);
        }
    }

    /// Ready and not yet sent, it waited so long for a CPU. What transactions of this process had
    /// that for is time of the database within the process: this one counts as sent so much
    /// earlier, and the wait is in `runq`.
    #[inline]
    pub(crate) fn waited(&mut self, waits: ReadyWaits) {
        self.ready_waits = waits;
    }

    /// Its waits for a CPU before it was sent, no longer for transactions of this process than it
    /// took until then.
    #[inline]
    fn ready_waits(&self) -> ReadyWaits {
        let ReadyWaits { own, all } = self.ready_waits;
        ReadyWaits { own: own.min(self.begun() - self.ready), all }
    }

    /// A statement took from `sent` to `done`.
    #[inline]
    pub(crate) fn statement(&mut self, sent: MonoNanos, done: MonoNanos) {
        self.goes_on(sent);
        self.done = done;
    }

    /// Whether it was sent, or pauses before that.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.sent != MonoNanos(0)
    }

    /// Something begins: before the first it was not sent.
    #[inline]
    fn goes_on(&mut self, at: MonoNanos) {
        if self.has_begun() {
            self.between += at - self.done;
        } else {
            self.sent = at;
        }
    }

    /// The answer that came last had waited so long for the driver.
    #[inline]
    pub(crate) fn late(&mut self, late: Nanos) {
        self.late += late;
    }

    /// Making the connection took from `from` to `to`: time for the server, but no statement's.
    pub(crate) fn connecting(&mut self, from: MonoNanos, to: MonoNanos) {
        self.statement(from, to);
        if self.sampled {
            self.parts.add(Part::ServerAndWire, (to - from).0.cast_signed());
        }
    }

    /// It waits no longer for what it waited for since `since`: an answer or the end of a pause.
    pub(crate) fn broken_off(&mut self, pause: Option<Part>, since: MonoNanos, present: MonoNanos) {
        match pause {
            Some(part) => self.pause(part, since, present),
            None => self.connecting(since, present),
        }
    }

    /// A pause, one of [`Part::PAUSES`], took from `from` to `to`.
    pub(crate) fn pause(&mut self, part: Part, from: MonoNanos, to: MonoNanos) {
        self.goes_on(from);
        debug_assert!(Part::PAUSES.contains(&part), "{part:?} is no pause");
        if let Some(kind) = Part::PAUSES.iter().position(|kind| *kind == part) {
            self.pauses[kind] += to - from;
        }
        self.done = to;
    }

    /// Its script ended at `at`: what it did after its last answer counts too.
    #[inline]
    pub(crate) fn ends(&mut self, at: MonoNanos) {
        if !self.has_begun() {
            self.sent = self.ready;
        }
        self.between += at - self.done;
        self.done = at;
    }

    /// When its last answer came, so far.
    #[inline]
    pub(crate) fn done(&self) -> MonoNanos {
        self.done
    }

    /// The driver's own time between statements, so far: measured from one instant to the next, and
    /// no remainder.
    #[inline]
    pub(crate) fn client(&self) -> Nanos {
        self.between
    }

    /// When it was sent; one that never was has done nothing but wait.
    #[inline]
    fn begun(&self) -> MonoNanos {
        if self.has_begun() { self.sent } else { self.done }
    }

    /// The finished transaction.
    #[inline]
    pub(crate) fn sample(&self, ticket: &Ticket, outcome: Outcome, retries: u32) -> Sample {
        Sample {
            operation: ticket.operation,
            outcome,
            due: ticket.due,
            ready: self.ready,
            sent: self.begun() - self.delay - self.ready_waits().own,
            done: self.done - self.delay,
            late: self.late,
            retries,
        }
    }

    /// The parts of the finished transaction, closed against its response.
    #[inline]
    pub(crate) fn close(&self, sample: &Sample) -> Parts {
        let mut parts = self.parts;
        let others = [
            (Part::Queue, sample.queue()),
            (Part::Lag, sample.lag()),
            (Part::Client, self.client()),
        ];
        for (part, amount) in others {
            parts.add(part, amount.0.cast_signed());
        }
        // By index: iterators over both are not inlined, which costs some percent on `null`.
        for (kind, part) in Part::PAUSES.iter().enumerate() {
            parts.add(*part, self.pauses[kind].0.cast_signed());
        }
        let contended = self.ready_waits().own;
        if contended > Nanos::ZERO {
            parts.add(Part::Runq, contended.signed());
        }
        parts.close(sample.response());
        parts
    }
}

/// A thread's recorder and the second it is filling.
pub(crate) struct ThreadRecorder {
    /// What it records of the window.
    pub recorder: Recorder,
    start: MonoNanos,
    second: Box<RunSecond>,
    second_end: MonoNanos,
    sink: Box<dyn LoadSink>,
    sampling: PartSampling,
    /// Ended transactions and statements that are not in the histograms yet, and the part that all
    /// of a statement's time is in, where it is measured and there is one. A database leaves
    /// none of the histograms' memory in the CPU's caches; taken together they miss once, not once
    /// each.
    samples: Vec<EndedTransaction>,
    statements: Vec<(StatementExecution, Option<Part>)>,
    /// Whether statements are handed on one by one.
    pub takes_exchanges: bool,
    exchanges: ExchangeBatch,
    /// When they were handed over last.
    handed_over: MonoNanos,
    /// Time in the window the thread worked for the driver.
    pub driver: Nanos,
    /// When its last transaction ended.
    pub ended: MonoNanos,
    /// When its worker would have been free then, had the driver never been late.
    pub freed: MonoNanos,
    /// The quickest answer that did not wait for the driver.
    quickest: Nanos,
    /// When its last transaction was completed.
    completed: MonoNanos,
    /// The first failure of a connection since then.
    out_since: Option<MonoNanos>,
}

struct EndedTransaction {
    sample: Sample,
    /// Closed against its response; `None`: not measured.
    parts: Option<Parts>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StatementExecution {
    /// By its position in the workload.
    pub statement: StatementId,
    /// From handing it over to its last answer.
    pub took: Nanos,
    /// Rows returned or changed.
    pub rows: u64,
    /// How often something was sent and waited for.
    pub round_trips: u32,
}

/// How many ended transactions, and statements, wait to be counted together: 6 to 10 KiB each.
const SAMPLE_BATCH: usize = 32;
const STATEMENT_BATCH: usize = 256;

/// An answer that waited no longer for the driver is as good as one that did not.
const MAX_UNDISTURBED_DELAY: Nanos = Nanos::from_micros(50);

/// What is shorter is no time without service, and no standstill of the driver.
pub(super) const MIN_STANDSTILL: Nanos = Nanos::from_millis(100);

/// How long statements and transactions are held back, to be handed on together.
const MAX_HELD_BACK: Nanos = Nanos::from_millis(20);

const ONE_SECOND: Nanos = Nanos::from_secs(1);

impl ThreadRecorder {
    /// An empty recorder of a load that starts at `start`.
    pub(crate) fn new(
        recorder: Recorder,
        sampling: PartSampling,
        start: MonoNanos,
        sink: Box<dyn LoadSink>,
    ) -> Self {
        let second = Box::new(RunSecond::new(0));
        let second_end = start + ONE_SECOND;
        let takes_exchanges = sink.takes_exchanges();
        Self {
            takes_exchanges,
            exchanges: ExchangeBatch::default(),
            handed_over: start,
            recorder,
            start,
            second,
            second_end,
            sink,
            sampling,
            samples: Vec::with_capacity(SAMPLE_BATCH),
            statements: Vec::with_capacity(STATEMENT_BATCH),
            driver: Nanos::ZERO,
            ended: start,
            freed: start,
            quickest: Nanos(u64::MAX),
            completed: start,
            out_since: None,
        }
    }

    /// Counts a transaction that has ended after being sent.
    #[inline]
    pub(crate) fn ended(&mut self, ticket: &Ticket, timing: &TransactionTiming, sample: &Sample) {
        if sample.done >= self.second_end {
            self.turn_second(sample.done);
        }
        if sample.outcome == Outcome::Completed {
            if self.out_since.is_some() {
                self.outage_over(sample.done, true);
            }
            if sample.done - self.completed >= MIN_STANDSTILL {
                self.was_quiet(sample.done);
            }
            self.completed = sample.done;
        }
        if sample.response() >= MIN_STANDSTILL {
            self.waited(sample);
        }
        let had_to_wait = sample.ready > self.ended;
        let between = if had_to_wait { Nanos::ZERO } else { sample.lag().min(MAX_OWN_WORK) };
        self.ended = timing.done();
        self.freed = sample.freed(MAX_OWN_WORK);
        let parts = timing.sampled.then(|| timing.close(sample));
        if let (Some(parts), true) = (parts, self.takes_exchanges) {
            self.hand_on(ticket, timing.exchanges, sample, parts);
        }
        self.samples.push(EndedTransaction { sample: *sample, parts });
        if self.samples.len() == SAMPLE_BATCH {
            self.count();
        }
        if self.recorder.window().contains(sample.due) {
            self.driver += timing.client() + between;
            if let Some(waits) = &mut self.recorder.ready_waits {
                *waits += timing.ready_waits();
            }
        }
    }

    /// How long an answer that took so long waited for the driver, where it may have been `late`:
    /// when it came is not known to the microsecond, and an answer that waited is taken for no
    /// quicker than the quickest that did not.
    #[inline]
    pub(crate) fn delay_of(&mut self, late: Nanos, took: Nanos) -> Nanos {
        if late < MAX_UNDISTURBED_DELAY {
            self.quickest = self.quickest.min(took - late);
        }
        late.min(took - self.quickest)
    }

    /// The driver was to wake at `due` and did at `woken`: a long lateness is noted, and returned.
    #[inline]
    pub(crate) fn woken(&mut self, due: MonoNanos, woken: MonoNanos) -> Option<TimeSpan> {
        let late = (woken - due >= MIN_STANDSTILL).then_some(TimeSpan { from: due, until: woken });
        self.recorder.standstills.extend(late);
        late
    }

    /// Counts a transaction that entered the engine.
    #[inline]
    pub(crate) fn offered(&mut self, ticket: &Ticket) {
        self.recorder.offered(ticket.operation, ticket.due);
    }

    /// Counts a transaction that the backlog policy gave up, and returns what its client is told.
    pub(crate) fn dropped(&mut self, ticket: &Ticket, now: MonoNanos) -> Sample {
        self.not_begun(ticket, Outcome::Dropped, now)
    }

    /// Counts a transaction that was never sent.
    pub(crate) fn not_sent(&mut self, ticket: &Ticket, outcome: Outcome, now: MonoNanos) {
        self.not_begun(ticket, outcome, now);
    }

    fn not_begun(&mut self, ticket: &Ticket, outcome: Outcome, now: MonoNanos) -> Sample {
        self.recorder.offered(ticket.operation, ticket.due);
        let done = now.max(ticket.due);
        let timing = TransactionTiming::new(done, self.sampling.includes(ticket.index));
        let sample = timing.sample(ticket, outcome, 0);
        self.recorder.record(&sample);
        if outcome == Outcome::Unfinished && sample.response() >= MIN_STANDSTILL {
            self.waited(&sample);
        }
        if timing.sampled && outcome == Outcome::Unfinished {
            // It has waited for its turn all its life.
            let parts = timing.close(&sample);
            self.recorder.record_parts(&sample, &parts);
            if self.takes_exchanges {
                self.hand_on(ticket, 0, &sample, parts);
            }
        }
        sample
    }

    /// Takes an answered statement to be handed on.
    pub(crate) fn exchange(&mut self, exchange: StatementExchange) {
        self.exchanges.exchanges.push(exchange);
    }

    /// Takes a transaction that is over, to be handed on behind its statements.
    fn hand_on(&mut self, ticket: &Ticket, exchanges: u32, sample: &Sample, parts: Parts) {
        let (transaction, sample) = (ticket.index, *sample);
        let driven = DrivenTransaction { transaction, sample, parts, exchanges };
        self.exchanges.transactions.push(driven);
    }

    /// Hands over what has been held back for long enough.
    #[inline]
    pub(crate) fn hand_over(&mut self, present: MonoNanos) {
        if self.takes_exchanges && present - self.handed_over >= MAX_HELD_BACK {
            self.handed_over = present;
            self.sink.take_exchanges(std::mem::take(&mut self.exchanges));
        }
    }

    /// Counts an executed statement, and its closed parts where they were measured.
    #[inline]
    pub(crate) fn statement(
        &mut self,
        ticket: &Ticket,
        executed: StatementExecution,
        parts: Option<&Parts>,
    ) {
        if !self.recorder.window().contains(ticket.due) {
            return;
        }
        // Nearly always all is in one part, and can wait with the rest.
        let only = parts.and_then(Parts::only_part);
        if let (Some(parts), None) = (parts, only) {
            self.recorder.statement_parts(executed.statement, executed.took, parts);
        }
        self.statements.push((executed, only));
        if self.statements.len() == STATEMENT_BATCH {
            self.count();
        }
    }

    /// Counts what waits to be counted.
    fn count(&mut self) {
        for EndedTransaction { sample, parts } in self.samples.drain(..) {
            self.second.record(&sample);
            self.recorder.record(&sample);
            if let Some(parts) = parts {
                self.recorder.record_parts(&sample, &parts);
            }
        }
        for (StatementExecution { statement, took, rows, round_trips }, only) in
            self.statements.drain(..)
        {
            self.recorder.statement(statement, took, rows, round_trips);
            if let Some(part) = only {
                let parts = Parts::only(part, took.0.cast_signed());
                self.recorder.statement_parts(statement, took, &parts);
            }
        }
    }

    /// Counts a database error that was seen at `at`.
    #[cold]
    pub(crate) fn error(&mut self, ticket: &Ticket, failure: &DatabaseFailure, at: MonoNanos) {
        let DatabaseFailure { class, code, message, .. } = failure;
        self.recorder.error(ticket.due, *class, code, message);
        if *class == ErrorClass::Connection {
            self.out_since.get_or_insert(at);
        }
    }

    /// Something was completed again, or the run is over. A connection that fails while others go
    /// on is no outage.
    #[cold]
    fn outage_over(&mut self, present: MonoNanos, is_back: bool) {
        let Some(from) = self.out_since.take() else { return };
        if present - self.completed >= MIN_STANDSTILL && from < self.recorder.window().end {
            self.recorder.outages.push(Outage { from, until: is_back.then_some(present) });
        }
    }

    /// Nothing was completed from the last completed transaction until `present`.
    #[cold]
    fn was_quiet(&mut self, present: MonoNanos) {
        let span = TimeSpan { from: self.completed, until: present };
        self.recorder.quiet.get_or_insert_default().push(span);
    }

    /// A transaction took long: what overlaps is one time of waiting.
    #[cold]
    fn waited(&mut self, sample: &Sample) {
        let from = sample.due;
        let until = sample.done;
        match self.recorder.waiting.last_mut() {
            Some(last) if from <= last.until && last.from <= until => {
                (last.from, last.until) = (last.from.min(from), last.until.max(until));
            }
            _ => self.recorder.waiting.push(TimeSpan { from, until }),
        }
    }

    /// Hands the last second over and gives the recorder back.
    pub(crate) fn finish(mut self) -> (Recorder, Nanos, MonoNanos) {
        self.count();
        if self.takes_exchanges {
            self.sink.take_exchanges(std::mem::take(&mut self.exchanges));
        }
        self.was_quiet(now());
        self.outage_over(now(), false);
        self.sink.swap(self.second);
        (self.recorder, self.driver, self.ended)
    }

    #[cold]
    fn turn_second(&mut self, done: MonoNanos) {
        self.count();
        let empty = Box::new(RunSecond::new(0));
        let full = std::mem::replace(&mut self.second, empty);
        self.second = self.sink.swap(full);
        let index = (done - self.start).0 / ONE_SECOND.0;
        self.second.reset(index as u32);
        self.second_end = self.start + Nanos((index + 1) * ONE_SECOND.0);
    }
}

#[cfg(test)]
mod tests;
