//! What comes of a join: transactions with the server's parts in them, and counts.

use super::request_waits::RequestWaits;
use super::server_answer::ServerAnswer;
use dbtime_model::exchange::{DrivenTransaction, StatementExchange};
use dbtime_model::exemplar::{MAX_STATEMENTS, StatementExemplar};
use dbtime_model::recorder::Recorder;
use dbtime_model::{MonoNanos, Nanos, Parts, StatementId};
use std::sync::Arc;

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
    /// The statements of those groups.
    pub bare: Vec<BareStatement>,
    /// Whom and what its requests waited for, of those that did.
    pub waits: Vec<JoinedWaits>,
    /// How long the driver's threads waited for a CPU while answers were in its sockets, beyond
    /// what is [`Part::Lag`](dbtime_model::Part::Lag); `None`: of some that was not seen.
    pub client_runq: Option<Nanos>,
    /// The driver's lateness that is in other parts too: so much less is
    /// [`Part::Unexplained`](dbtime_model::Part::Unexplained).
    pub twice: Nanos,
}

/// A transaction with a statement that was not matched.
#[derive(Clone, Debug)]
pub struct LeftOutTransaction {
    /// As the driver handed it over.
    pub driven: DrivenTransaction,
    /// Its statements that were matched.
    pub statements: Vec<JoinedStatement>,
    /// The others.
    pub bare: Vec<BareStatement>,
}

/// A statement without parts of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareStatement {
    /// As the driver handed it over.
    pub exchange: StatementExchange,
    /// Why it has none.
    pub outcome: StatementMatch,
}

/// How a statement of the driver was matched with requests of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementMatch {
    /// It has its requests.
    Matched,
    /// It has them together with others, and cannot be told from those.
    Unsplit,
    /// No request was seen.
    Unmatched,
    /// One was seen that contradicts it.
    Ambiguous,
}

impl StatementMatch {
    /// The name used in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Unsplit => "unsplit",
            Self::Unmatched => "unmatched",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// Whom and what a request waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedWaits {
    /// Which statement of the workload; `None`: one of several that were under way together, or a
    /// script's.
    pub statement: Option<StatementId>,
    /// When the first byte of the request had been read.
    pub start: MonoNanos,
    /// When the last byte of its answer had been handed over.
    pub end: MonoNanos,
    /// Whom and what.
    pub waits: Arc<RequestWaits>,
}

/// A statement with what the server did for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedStatement {
    /// As the driver handed it over.
    pub exchange: StatementExchange,
    /// The sum of its parts. Of a statement that was alone on its connection: from sending it until
    /// its answer was read, without what the answer waited for the driver. Statements that were
    /// under way together share that time out among themselves by what the server did for each.
    pub took: Nanos,
    /// Wire, server's queue, the server's parts and what these leave unexplained; and what the
    /// driver took to read its answer, where the arrival of that was seen.
    pub parts: Parts,
    /// How much of [`Part::Wire`](dbtime_model::Part::Wire) was the way to the server; `None`: it
    /// was under way with others, or its arrival was not seen. Unit: nanoseconds.
    pub way_out: Option<i64>,
    /// How long of [`Part::Client`](dbtime_model::Part::Client) the driver's thread waited for a
    /// CPU; `None`: it was under way with others, or that was not seen.
    pub client_runq: Option<Nanos>,
    /// How much less is unexplained, for being the driver's lateness too.
    pub twice: Nanos,
    /// What else is known of it on the server.
    pub answer: ServerAnswer,
}

impl JoinedTransaction {
    /// Adds its parts and those of its statements to a run's budgets, if it belongs to the window.
    pub fn record(&self, recorder: &mut Recorder) {
        let sample = &self.driven.sample;
        if !recorder.window().contains(sample.due) {
            return;
        }
        recorder.record_traced(sample, &self.parts, self.twice, || self.exemplars());
        for JoinedStatement { exchange, took, parts, twice, .. } in &self.statements {
            if let Some(statement) = exchange.statement {
                recorder.traced_statement_parts(statement, *took, parts, *twice);
            }
        }
    }

    /// Its statements, to be kept whole.
    fn exemplars(&self) -> Vec<StatementExemplar> {
        let exemplar = |joined: &JoinedStatement| {
            let StatementExchange { statement, sent, read, late, .. } = joined.exchange;
            let ServerAnswer { served, blocker, preemptor, .. } = joined.answer.clone();
            let parts = joined.parts;
            StatementExemplar { statement, sent, read, late, served, parts, blocker, preemptor }
        };
        self.statements.iter().take(MAX_STATEMENTS).map(exemplar).collect()
    }
}
