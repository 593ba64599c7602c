//! What the driver sent and what the server was seen to do, on their way to the figures of a run.

use super::cpu_owners::CpuOwners;
use super::stack_totals::FoundStacks;
use super::traced_figures::TracedFigures;
use crate::join::StatementJoiner;
use crate::run_trace::TracedTables;
use crate::statements::StatementLog;
use crate::workload_names::WorkloadNames;
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::{JoinCounts, Warning};
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Recorder};

/// Joins both sides, and adds what comes of it to figures and to the file of statements.
pub(crate) struct RunJoin {
    joiner: StatementJoiner,
    /// `None`: it is a recording.
    server: Option<u32>,
    /// Before the load has started nothing belongs to the window.
    figures: Option<TracedFigures>,
    /// `None`: there is no record, or the file could not be begun.
    statements: Option<StatementLog>,
}

/// All that has come of a run.
pub(crate) struct RunJoinEnd {
    /// `None`: the load has not started.
    pub(crate) recorder: Option<Recorder>,
    pub(crate) tables: TracedTables,
    pub(crate) counts: JoinCounts,
    /// See [`TraceInfo::client_runq_us`](dbtime_model::record::TraceInfo::client_runq_us).
    pub(crate) client_runq_us: Option<f64>,
    /// What is wrong with the file of statements.
    pub(crate) warnings: Vec<Warning>,
}

impl RunJoin {
    /// Of a run against the server of that number.
    pub(crate) fn new(server: u32) -> Self {
        Self { server: Some(server), ..Self::recorded() }
    }

    pub(crate) fn recorded() -> Self {
        let joiner = StatementJoiner::new();
        Self { joiner, server: None, figures: None, statements: None }
    }

    /// As [`StatementJoiner::ignore_arrivals`].
    pub(crate) fn ignore_arrivals(&mut self) {
        self.joiner.ignore_arrivals();
    }

    /// Writes the statements of the window to this file.
    pub(crate) fn write_to(&mut self, statements: StatementLog) {
        self.statements = Some(statements);
    }

    /// The load has started: its figures go to `recorder`.
    pub(crate) fn begin(&mut self, recorder: Recorder) {
        if let Some(log) = &mut self.statements {
            log.begin(recorder.window());
        }
        let owners = self.server.map_or_else(CpuOwners::recorded, CpuOwners::new);
        self.figures = Some(TracedFigures::new(recorder, owners));
    }

    /// Takes what the driver has handed over.
    pub(crate) fn exchanges(&mut self, batch: &ExchangeBatch) {
        batch.exchanges.iter().for_each(|exchange| self.joiner.exchange(*exchange));
        batch.transactions.iter().for_each(|driven| self.joiner.transaction(*driven));
    }

    /// Takes requests of the server that have come by `present`, and hands on what is decided then.
    pub(crate) fn requests(&mut self, requests: &[TracedRequest], present: MonoNanos) {
        for request in requests {
            self.joiner.request(request);
            self.figures.iter_mut().for_each(|figures| figures.request(request));
        }
        self.decide_own();
        self.take_decided();
        self.figures.iter_mut().for_each(|figures| figures.settle(present));
    }

    /// Both sides have handed over what was over before.
    pub(crate) fn settle(&mut self, at: MonoNanos) {
        self.joiner.settle(at);
        self.take_decided();
    }

    /// Nothing more comes; `stacks`: what these are called, where they were traced.
    pub(crate) fn finish(
        mut self,
        names: &WorkloadNames,
        stacks: Option<&FoundStacks>,
    ) -> RunJoinEnd {
        self.decide_own();
        self.joiner.decide_rest();
        self.take_decided();
        let Self { joiner, figures, statements, .. } = self;
        let client_runq_us = figures.as_ref().and_then(TracedFigures::client_runq_us);
        let (recorder, tables) = figures.map(|figures| figures.finish(names, stacks)).unzip();
        RunJoinEnd {
            recorder,
            tables: tables.unwrap_or_default(),
            counts: joiner.counts(),
            client_runq_us,
            warnings: statements.map(StatementLog::finish).unwrap_or_default(),
        }
    }

    /// Finds out which connections are the run's.
    fn decide_own(&mut self) {
        let Self { joiner, figures, .. } = self;
        if let Some(figures) = figures {
            figures.own.decide(|key, server_id| joiner.drives(key, server_id));
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
