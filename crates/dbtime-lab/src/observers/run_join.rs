//! What the driver sent and what the server was seen to do, on their way to the figures of a run.

use super::lock_holder_totals::LockHolderTotals;
use crate::join::{JoinedTransaction, StatementJoiner};
use crate::statements::StatementLog;
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::{BudgetLockHolder, JoinCounts, Warning};
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Recorder};

/// Joins both sides, and adds what comes of it to figures and to the file of statements.
pub(super) struct RunJoin {
    joiner: StatementJoiner,
    /// Before the load has started nothing belongs to the window.
    figures: Option<TracedFigures>,
    /// `None`: there is no record, or the file could not be begun.
    statements: Option<StatementLog>,
}

/// What comes of the transactions of the window.
struct TracedFigures {
    recorder: Recorder,
    holders: LockHolderTotals,
}

/// All that has come of a run.
pub(super) struct RunJoinEnd {
    /// `None`: the load has not started.
    pub(super) recorder: Option<Recorder>,
    pub(super) lock_holders: Vec<BudgetLockHolder>,
    pub(super) counts: JoinCounts,
    /// What is wrong with the file of statements.
    pub(super) warnings: Vec<Warning>,
}

impl TracedFigures {
    fn add(&mut self, transaction: &JoinedTransaction) {
        transaction.record(&mut self.recorder);
        if self.recorder.window().contains(transaction.driven.sample.due) {
            self.holders.add(transaction);
        }
    }
}

impl RunJoin {
    pub(super) fn new() -> Self {
        Self { joiner: StatementJoiner::new(), figures: None, statements: None }
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
        self.figures = Some(TracedFigures { recorder, holders: LockHolderTotals::default() });
    }

    /// Takes what the driver has handed over.
    pub(super) fn exchanges(&mut self, batch: &ExchangeBatch) {
        batch.exchanges.iter().for_each(|exchange| self.joiner.exchange(*exchange));
        batch.transactions.iter().for_each(|driven| self.joiner.transaction(*driven));
    }

    /// Takes requests of the server, and hands on what is decided by now.
    pub(super) fn requests(&mut self, requests: &[TracedRequest]) {
        requests.iter().for_each(|request| self.joiner.request(request));
        self.take_decided();
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
        let Self { joiner, figures, statements } = self;
        let (recorder, holders) =
            figures.map(|figures| (figures.recorder, figures.holders)).unzip();
        let lock_holders = holders.map(|totals| totals.records(&plan.workload));
        RunJoinEnd {
            recorder,
            lock_holders: lock_holders.unwrap_or_default(),
            counts: joiner.counts(),
            warnings: statements.map(StatementLog::finish).unwrap_or_default(),
        }
    }

    fn take_decided(&mut self) {
        let Self { joiner, figures, statements } = self;
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
