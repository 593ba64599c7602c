//! The single transactions of a run that are kept whole, as the record has them.

use crate::summary::outcome;
use dbtime_model::driven_file::DrivenNames;
use dbtime_model::exemplar::{Exemplar, ServedTimes, StatementExemplar};
use dbtime_model::record::{
    BudgetLockHolder, BudgetUs, ExemplarKind, TransactionRow, TransactionStatement,
};
use dbtime_model::recorder::Recorder;
use dbtime_model::traced::Blocker;
use dbtime_model::{MonoNanos, Nanos};

/// A longer text of a holder's statement is cut. Unit: characters.
const MAX_HOLDER: usize = 200;

/// Of each operation the slowest, slowest first, and a random choice. Instants are those since the
/// load started, at `start`.
pub(crate) fn transactions(
    recorder: &Recorder<u64>,
    start: MonoNanos,
    names: &DrivenNames,
) -> Vec<TransactionRow> {
    let mut rows = Vec::new();
    for (recorded, operation) in recorder.operations.iter().zip(&names.operations) {
        let row = |kept: ExemplarKind, kept_whole: &Exemplar| {
            let Exemplar { sample, parts, statements } = kept_whole;
            let statements = statements.iter().map(|s| statement(s, start, names)).collect();
            TransactionRow {
                kept,
                operation: operation.clone(),
                outcome: outcome(sample.outcome).to_owned(),
                due_us: since(sample.due, start),
                ready_us: Some(since(sample.ready, start)),
                sent_us: Some(since(sample.sent, start)),
                retries: sample.retries,
                budget: BudgetUs::from_parts(parts),
                statements,
            }
        };
        let exemplars = &recorded.exemplars;
        rows.extend(exemplars.slowest().iter().map(|kept| row(ExemplarKind::Slowest, kept)));
        rows.extend(exemplars.random().iter().map(|kept| row(ExemplarKind::Random, kept)));
    }
    rows
}

fn since(at: MonoNanos, start: MonoNanos) -> f64 {
    (at - start).as_micros()
}

fn statement(
    kept: &StatementExemplar,
    start: MonoNanos,
    names: &DrivenNames,
) -> TransactionStatement {
    let StatementExemplar { statement, sent, read, late, served, parts, blocker, preemptor } = kept;
    let name = statement.and_then(|id| names.statements.get(usize::from(id.0)));
    let mut row = TransactionStatement {
        name: name.map(|one| one.name.clone()).unwrap_or_default(),
        sent_us: since(*sent, start),
        read_us: since(*read, start),
        late_us: late.as_micros(),
        cpu_holder: preemptor.as_deref().unwrap_or_default().to_owned(),
        budget: BudgetUs::from_parts(parts),
        ..TransactionStatement::default()
    };
    if let Some(ServedTimes { connection, thread, arrived, start: began, end }) = served {
        row.connection = Some(*connection);
        row.thread = Some(*thread);
        row.arrived_us = arrived.map(|at| since(at, start));
        row.began_us = Some(since(*began, start));
        row.ended_us = Some(since(*end, start));
    }
    if let Some(blocker) = blocker.as_deref().filter(|blocker| blocker.length > Nanos::ZERO) {
        row.lock_wait_us = Some(blocker.length.as_micros());
        row.lock = blocker.lock.as_deref().unwrap_or_default().to_owned();
        row.holder = holder(blocker);
        row.holder_thread = blocker.thread;
    }
    row
}

/// Who let a lock go, with the tracer's number of the connection.
fn holder(blocker: &Blocker) -> String {
    let connection = blocker.connection.map(|number| format!("connection #{number}"));
    match (&blocker.statement, blocker.thread, connection) {
        (Some(fingerprint), _, connection) => {
            let mut fingerprint = fingerprint.to_string();
            if let Some((at, _)) = fingerprint.char_indices().nth(MAX_HOLDER) {
                fingerprint.truncate(at);
                fingerprint.push('…');
            }
            match connection {
                Some(connection) => format!("{fingerprint} ({connection})"),
                None => fingerprint,
            }
        }
        (None, None, _) => BudgetLockHolder::NOBODY.to_owned(),
        (None, Some(_), Some(connection)) => format!("{connection}, statement unknown"),
        (None, Some(_), None) => BudgetLockHolder::SERVER_THREAD.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_holder_is_named_by_its_statement() {
        let blocker = |statement: Option<&str>, thread, connection| Blocker {
            statement: statement.map(Arc::from),
            thread,
            connection,
            ..Blocker::default()
        };
        let named = holder(&blocker(Some("UPDATE t SET a=?"), Some(5), Some(3)));
        assert_eq!(named, "UPDATE t SET a=? (connection #3)");
        assert_eq!(holder(&blocker(None, Some(5), Some(3))), "connection #3, statement unknown");
        assert_eq!(holder(&blocker(None, Some(5), None)), "a thread of the server");
        assert_eq!(holder(&blocker(None, None, None)), "nobody: a timer or signal ended it");
        let long = holder(&blocker(Some(&"x ".repeat(300)), None, None));
        assert!(long.ends_with('…') && long.chars().count() == MAX_HOLDER + 1, "{long}");
    }
}
