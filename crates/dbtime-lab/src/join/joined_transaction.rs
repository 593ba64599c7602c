//! What comes of a join: transactions with the server's parts in them, and counts.

use dbtime_model::exchange::DrivenTransaction;
use dbtime_model::recorder::Recorder;
use dbtime_model::traced::Blocker;
use dbtime_model::{MonoNanos, Nanos, Parts, StatementId};

/// A transaction whose statements were all matched.
#[derive(Clone, Debug)]
pub struct JoinedTransaction {
    /// As the driver handed it over.
    pub driven: DrivenTransaction,
    /// Its parts, closed against its response. What is left of
    /// [`Part::ServerAndWire`](dbtime_model::Part::ServerAndWire) was no statement's: connecting
    /// in mid-transaction, or an answer that never came.
    pub parts: Parts,
    /// Its statements in the order in which they were sent; without those of groups that could not
    /// be split ([`JoinCounts::unsplit`](dbtime_model::record::JoinCounts::unsplit)).
    pub statements: Vec<JoinedStatement>,
    /// The longest wait for a lock of each request that waited for one.
    pub lock_waits: Vec<JoinedLockWait>,
}

/// A wait of a statement for a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedLockWait {
    /// Which statement of the workload; `None`: one of several that were under way together, or a
    /// script's.
    pub statement: Option<StatementId>,
    /// How long it was, and who let go.
    pub blocker: Box<Blocker>,
}

/// A statement with what the server did for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedStatement {
    /// Which statement of the workload; `None`: a script's, which has no place in it.
    pub statement: Option<StatementId>,
    /// Before its first byte was handed to the kernel.
    pub sent: MonoNanos,
    /// The sum of its parts. Of a statement that was alone on its connection: from sending it until
    /// its answer was read, without what the answer waited for the driver. Statements that were
    /// under way together share that time out among themselves by what the server did for each.
    pub took: Nanos,
    /// Wire, server's queue, the server's parts and what these leave unexplained.
    pub parts: Parts,
}

impl JoinedTransaction {
    /// Adds its parts and those of its statements to a run's budgets, if it belongs to the window.
    pub fn record(&self, recorder: &mut Recorder) {
        let sample = &self.driven.sample;
        if !recorder.window().contains(sample.due) {
            return;
        }
        recorder.record_parts(sample, &self.parts);
        for JoinedStatement { statement, took, parts, .. } in &self.statements {
            if let Some(statement) = statement {
                recorder.statement_parts(*statement, *took, parts);
            }
        }
    }
}
