//! What the driver sent and what the server was seen to do, on their way to the figures of a run.

use super::traced_figures::TracedFigures;
use crate::join::StatementJoiner;
use crate::run_trace::TracedTables;
use crate::statements::StatementLog;
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_machine::now;
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::{JoinCounts, Warning};
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Recorder};

/// Joins both sides, and adds what comes of it to figures and to the file of statements.
pub(super) struct RunJoin {
    joiner: StatementJoiner,
    server: u32,
    /// Before the load has started nothing belongs to the window.
    figures: Option<TracedFigures>,
    /// `None`: there is no record, or the file could not be begun.
    statements: Option<StatementLog>,
}

/// All that has come of a run.
pub(super) struct RunJoinEnd {
    /// `None`: the load has not started.
    pub(super) recorder: Option<Recorder>,
    pub(super) tables: TracedTables,
    pub(super) counts: JoinCounts,
    /// See [`TraceInfo::client_runq_us`](dbtime_model::record::TraceInfo::client_runq_us).
    pub(super) client_runq_us: Option<f64>,
    /// What is wrong with the file of statements.
    pub(super) warnings: Vec<Warning>,
}

impl RunJoin {
    /// Of a run against the server of that number.
    pub(super) fn new(server: u32) -> Self {
        Self { joiner: StatementJoiner::new(), server, figures: None, statements: None }
    }

    /// Writes the statements of the window to this file.
    pub(super) fn write_to(&mut self, statements: StatementLog) {
        self.statements = Some(statements);
    }

    /// The load has started: its figures go to `recorder`.
    pub(super) fn begin(&mut self, recorder: Recorder) {
        if let Some(log) = &mut self.statements {
            log.begin(recorder.window());
        }
        self.figures = Some(TracedFigures::new(recorder, self.server));
    }

    /// Takes what the driver has handed over.
    pub(super) fn exchanges(&mut self, batch: &ExchangeBatch) {
        batch.exchanges.iter().for_each(|exchange| self.joiner.exchange(*exchange));
        batch.transactions.iter().for_each(|driven| self.joiner.transaction(*driven));
    }

    /// Takes requests of the server, and hands on what is decided by now.
    pub(super) fn requests(&mut self, requests: &[TracedRequest]) {
        for request in requests {
            self.joiner.request(request);
            self.figures.iter_mut().for_each(|figures| figures.request(request));
        }
        self.take_decided();
        self.figures.iter_mut().for_each(|figures| figures.settle(now()));
    }

    /// Both sides have handed over what was over before.
    pub(super) fn settle(&mut self, at: MonoNanos) {
        self.joiner.settle(at);
        self.take_decided();
    }

    /// Nothing more comes.
    pub(super) fn finish(mut self, plan: &LoadPlan) -> RunJoinEnd {
        self.joiner.decide_rest();
        self.take_decided();
        let Self { joiner, figures, statements, .. } = self;
        let client_runq_us = figures.as_ref().and_then(TracedFigures::client_runq_us);
        let (recorder, tables) = figures.map(|figures| figures.finish(&plan.workload)).unzip();
        RunJoinEnd {
            recorder,
            tables: tables.unwrap_or_default(),
            counts: joiner.counts(),
            client_runq_us,
            warnings: statements.map(StatementLog::finish).unwrap_or_default(),
        }
    }

    fn take_decided(&mut self) {
        let Self { joiner, figures, statements, .. } = self;
        for joined in joiner.take_joined() {
            if let Some(figures) = figures {
                figures.add(&joined);
            }
            if let Some(log) = statements {
                log.add(&joined.driven, joined.statements, &joined.bare);
            }
        }
        for left_out in joiner.take_left_out() {
            if let Some(log) = statements {
                log.add(&left_out.driven, left_out.statements, &left_out.bare);
            }
        }
    }
}
