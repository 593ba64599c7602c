//! The tracer beside a run: what the server did for each statement, matched with what the driver
//! sent.

use super::RunObserver;
use crate::error::LabError;
use crate::join::StatementJoiner;
use crate::run_trace::{ServerTracer, TraceObservation};
use crate::tracing::{TraceOptions, TraceOutcome, TraceSession};
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_machine::now;
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::TraceInfo;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::TraceEnd;
use dbtime_model::{MonoNanos, Nanos, Recorder, RunPhase};
use dbtime_observe::process::ProcessSelector;
use dbtime_observe::trace::ServerFilter;

/// How often requests are taken from the tracer.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// By then both sides have handed over a statement that is over, however long it took: the driver
/// does as soon as it is answered. What is kept of closed connections is forgotten then.
const SETTLED_AFTER: Nanos = Nanos::from_secs(60);

/// How often closed connections are looked for: that goes through all that were there for a minute.
const SETTLE_INTERVAL: Nanos = Nanos::from_secs(5);

/// Room for requests that were not taken yet. Unit: bytes.
const BUFFER_BYTES: u32 = 8 << 20;

/// A tracer of the server that is driven.
pub(crate) struct RunTracer {
    session: TraceSession,
    joiner: StatementJoiner,
    /// Before the load has started nothing belongs to the window.
    recorder: Option<Recorder>,
    plan: LoadPlan,
    next_poll: MonoNanos,
    next_settling: MonoNanos,
    /// Why nothing more comes of the tracer.
    failure: Option<LabError>,
    notes: Vec<String>,
}

impl RunTracer {
    /// Watches the server of this process. To be called before the load connects, so that logins
    /// and the statements that are prepared are seen.
    ///
    /// # Errors
    /// The kernel refuses, or the server is not one that can be watched.
    pub(crate) fn attach(server: u32, plan: &LoadPlan) -> Result<Self, LabError> {
        let processes = vec![ProcessSelector::Pid(server)];
        let options = TraceOptions {
            servers: ServerFilter { processes, ..ServerFilter::default() },
            hands_on: true,
            buffer_bytes: BUFFER_BYTES,
            ..TraceOptions::default()
        };
        let session = TraceSession::beside_run(&options)?;
        let notes = session.unavailable().to_vec();
        Ok(Self {
            session,
            joiner: StatementJoiner::new(),
            recorder: None,
            plan: plan.clone(),
            next_poll: now() + POLL_INTERVAL,
            next_settling: now() + SETTLE_INTERVAL,
            failure: None,
            notes,
        })
    }

    fn poll(&mut self) {
        if self.failure.is_some() {
            return;
        }
        match self.session.poll() {
            Ok(progress) => {
                self.notes.extend(progress.notes);
                self.take(&progress.requests);
            }
            Err(error) => self.failure = Some(error),
        }
    }

    fn take(&mut self, requests: &[TracedRequest]) {
        requests.iter().for_each(|request| self.joiner.request(request));
        let joined = self.joiner.take_joined();
        if let Some(recorder) = &mut self.recorder {
            joined.for_each(|transaction| transaction.record(recorder));
        }
    }
}

impl ServerTracer for RunTracer {
    fn finish(mut self: Box<Self>) -> Result<TraceObservation, LabError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let Self { session, mut joiner, mut recorder, mut notes, .. } = *self;
        let TraceOutcome { requests, end, notes: last, reader, .. } = session.finish()?;
        requests.iter().for_each(|request| joiner.request(request));
        let (joined, join) = joiner.finish();
        if let Some(recorder) = &mut recorder {
            joined.iter().for_each(|transaction| transaction.record(recorder));
        }
        drop(reader);
        notes.extend(last);
        let TraceEnd { ledger, cost, length, .. } = end;
        let info = TraceInfo { join, ledger, cost: cost.unwrap_or_default(), length, notes };
        Ok(TraceObservation { recorder, info })
    }
}

impl RunObserver for RunTracer {
    fn reached(&mut self, phase: RunPhase, at: MonoNanos) {
        if phase == RunPhase::Started {
            self.recorder = Some(self.plan.recorder(at, 0));
        }
    }

    fn next_tick(&self) -> Option<MonoNanos> {
        Some(self.next_poll)
    }

    fn tick(&mut self, present: MonoNanos) {
        self.poll();
        if present >= self.next_settling {
            self.joiner.settle(MonoNanos(present.0.saturating_sub(SETTLED_AFTER.0)));
            self.next_settling = present + SETTLE_INTERVAL;
        }
        self.next_poll = present + POLL_INTERVAL;
    }

    fn takes_exchanges(&self) -> bool {
        true
    }

    fn exchanges(&mut self, batch: &ExchangeBatch) {
        batch.exchanges.iter().for_each(|exchange| self.joiner.exchange(*exchange));
        batch.transactions.iter().for_each(|driven| self.joiner.transaction(*driven));
    }
}
