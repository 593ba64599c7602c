//! The tracer beside a run: what the server did for each statement, matched with what the driver
//! sent.

use super::run_join::{RunJoin, RunJoinEnd};
use super::stack_totals::FoundStacks;
use crate::error::LabError;
use crate::observers::RunObserver;
use crate::run_trace::{ServerTracer, TraceFailure, TraceObservation, TracedTables, without_parts};
use crate::statements::StatementLog;
use crate::tracing::{PRIOR_AGE, TraceOptions, TraceOutcome, TraceSession};
use crate::workload_names::WorkloadNames;
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_machine::{BatchThread, now};
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::{SessionsBefore, TraceInfo, Warning};
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::TraceEnd;
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use dbtime_sql::LexicalRules;

/// How often requests are taken from the tracer.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// By then both sides have handed over a statement that is over, however long it took: the driver
/// does as soon as it is answered. What is kept of closed connections is forgotten then.
const SETTLED_AFTER: Nanos = Nanos::from_secs(60);

/// How often closed connections are looked for: that goes through all that were there for a minute.
const SETTLE_INTERVAL: Nanos = Nanos::from_secs(5);

/// A tracer of the server that is driven.
pub(crate) struct RunTracer {
    session: TraceSession,
    join: RunJoin,
    started: Option<MonoNanos>,
    /// The thread that joins gives way to server and driver.
    batch: Option<BatchThread>,
    plan: LoadPlan,
    /// How the server reads the statements' texts.
    rules: LexicalRules,
    /// The server's process, where stacks are traced.
    server: Option<u32>,
    /// What they are called, once the load is over.
    stacks: Option<FoundStacks>,
    next_poll: MonoNanos,
    next_settling: MonoNanos,
    /// When it is looked what others are at since before the watching; `None`: it was.
    before_due: Option<MonoNanos>,
    before: Option<SessionsBefore>,
    /// Why nothing more comes of the tracer.
    failure: Option<(MonoNanos, LabError)>,
    notes: Vec<String>,
}

impl RunTracer {
    /// Watches the server of this process; `stacks`: where its threads are too. `note` is told that
    /// the tracer stands still. To be called before the load connects, so that logins and the
    /// statements that are prepared are seen.
    ///
    /// # Errors
    /// The kernel refuses, or the server is not one that can be watched.
    pub(crate) fn attach(
        server: u32,
        plan: &LoadPlan,
        rules: LexicalRules,
        stacks: bool,
        note: fn(&str),
    ) -> Result<Self, LabError> {
        let options = TraceOptions { stacks, ..TraceOptions::beside_driver(server) };
        let session = TraceSession::beside_run(&options, note)?;
        let notes = session.unavailable().to_vec();
        let before_due = Some(session.since() + PRIOR_AGE);
        Ok(Self {
            session,
            before_due,
            before: None,
            join: RunJoin::new(server),
            started: None,
            batch: None,
            plan: plan.clone(),
            rules,
            server: stacks.then_some(server),
            stacks: None,
            next_poll: now() + POLL_INTERVAL,
            next_settling: now() + SETTLE_INTERVAL,
            failure: None,
            notes,
        })
    }

    /// As [`StatementJoiner::ignore_arrivals`](crate::join::StatementJoiner::ignore_arrivals).
    pub(crate) fn ignore_arrivals(&mut self) {
        self.join.ignore_arrivals();
    }

    /// Writes the statements of the window to this file.
    pub(crate) fn write_to(&mut self, statements: StatementLog) {
        self.join.write_to(statements);
    }

    /// Finds out what stacks are called, while the connections' processes are still there.
    fn find_stacks(&mut self) {
        let Some(server) = self.server.filter(|_| self.failure.is_none()) else { return };
        match self.session.stacks() {
            Ok(table) => self.stacks = Some(FoundStacks::of(&table, server, &self.plan.workload)),
            Err(error) => self.notes.push(format!("not measured: stacks ({error})")),
        }
    }

    /// Looks, once, what others are at since before the watching began.
    fn look_before(&mut self) {
        if self.before_due.take().is_none() || self.failure.is_some() {
            return;
        }
        match self.session.connections().and_then(|_| self.session.prior()) {
            Ok(work) => self.before = Some(SessionsBefore::of(&work)),
            Err(error) => self.failure = Some((now(), error)),
        }
    }

    /// The requests that have come since the last time.
    fn poll(&mut self) -> Vec<TracedRequest> {
        if self.failure.is_some() {
            return Vec::new();
        }
        match self.session.poll() {
            Ok(progress) => {
                self.notes.extend(progress.notes);
                progress.requests
            }
            Err(error) => {
                self.failure = Some((now(), error));
                Vec::new()
            }
        }
    }
}

/// The kernel does not tell where responses went, for what the first of these says.
fn unsplit(notes: &[String]) -> Warning {
    let why = notes.first().map_or("not measured: the parts of responses", String::as_str);
    without_parts(why.to_owned())
}

impl ServerTracer for RunTracer {
    fn watch(&mut self, is_on: bool) -> bool {
        let watched = self.session.watch(is_on);
        watched.map_err(|error| self.failure.get_or_insert((now(), error))).is_ok()
    }

    fn discard(&mut self) {
        drop(self.poll());
    }

    fn finish(self: Box<Self>) -> TraceObservation {
        let Self {
            session,
            mut join,
            started,
            plan,
            rules,
            stacks,
            mut failure,
            mut notes,
            before,
            ..
        } = *self;
        let (since, lacks_parts) = (session.since(), session.lacks_parts());
        // Without its helper the reader still has what was seen before.
        let (end, reader) = match session.finish() {
            Ok(TraceOutcome { requests, end, notes: last, reader, .. }) => {
                join.requests(&requests, now());
                notes.extend(last);
                (Some(end), Some(reader))
            }
            Err(error) => {
                failure.get_or_insert((now(), error));
                (None, None)
            }
        };
        let names = WorkloadNames::of(&plan.workload, &rules);
        let RunJoinEnd { recorder, mut tables, counts, client_runq_us, mut warnings } =
            join.finish(&names, stacks.as_ref());
        if lacks_parts {
            tables = TracedTables::default();
            warnings.insert(0, unsplit(&notes));
        }
        drop(reader);
        let failed = failure.as_ref().map(|(at, _)| *at - since);
        let (end_length, ledger, cost) = match end {
            Some(TraceEnd { length, ledger, cost, .. }) => (length, Some(ledger), cost),
            None => (Nanos::ZERO, None, None),
        };
        let length = failed.unwrap_or(end_length);
        let stacks = tables.stacks.as_ref().map(|stacks| stacks.info.clone());
        let info = TraceInfo {
            join: counts,
            client_runq_us,
            ledger,
            cost,
            stacks,
            length,
            lock_names: Some(TraceInfo::names_locks(&notes)),
            notes,
            before,
            recording: None,
        };
        let failure = failure.map(|(at, error)| {
            let into_load = started.filter(|start| *start <= at).map(|start| at - start);
            TraceFailure { into_load, error }
        });
        TraceObservation { recorder, tables, info, failure, warnings }
    }
}

impl RunObserver for RunTracer {
    fn reached(&mut self, phase: RunPhase, at: MonoNanos) {
        if phase == RunPhase::Started {
            self.join.begin(self.plan.recorder(at, 0));
            self.started = Some(at);
            // Only now: the threads of the driver, which have started, are none of that kind.
            self.batch = BatchThread::begin().ok();
        }
        if phase == RunPhase::LoadEnded {
            self.look_before();
            self.find_stacks();
        }
    }

    fn next_tick(&self) -> Option<MonoNanos> {
        Some(self.next_poll)
    }

    fn tick(&mut self, present: MonoNanos) {
        let requests = self.poll();
        self.join.requests(&requests, present);
        if self.before_due.is_some_and(|due| present >= due) {
            self.look_before();
        }
        if present >= self.next_settling {
            self.join.settle(MonoNanos(present.0.saturating_sub(SETTLED_AFTER.0)));
            self.next_settling = present + SETTLE_INTERVAL;
        }
        self.next_poll = present + POLL_INTERVAL;
    }

    fn takes_exchanges(&self) -> bool {
        true
    }

    fn exchanges(&mut self, batch: &ExchangeBatch) {
        self.join.exchanges(batch);
    }
}
