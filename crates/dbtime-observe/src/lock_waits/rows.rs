//! Rows of an answer as claims and sessions. A server may answer anything: what cannot be read is
//! left out, and nothing grows without bound.

use super::source::{MAX_CLAIMS, TEXT_LENGTH};
use crate::counters::CounterCell;
use dbtime_model::Nanos;
use dbtime_model::lock_picture::{LockClaim, ServerSession};

/// The cells of a row by the names of their columns.
struct NamedRow<'a> {
    columns: &'a [String],
    cells: &'a [CounterCell],
}

impl NamedRow<'_> {
    fn text(&self, name: &str) -> String {
        let text = self.cell(name).unwrap_or_default();
        // A server cuts its texts by itself; a hostile one would not.
        text.chars().take(TEXT_LENGTH).collect()
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.cell(name)?.trim().parse().ok()
    }

    /// Seconds, which a clock that was set back makes negative.
    fn length(&self, name: &str) -> Option<Nanos> {
        let seconds: f64 = self.number(name)?;
        seconds.is_finite().then(|| Nanos((seconds.clamp(0.0, 1e9) * 1e9) as u64))
    }

    /// MySQL writes the names of columns as it likes.
    fn cell(&self, name: &str) -> Option<&str> {
        let at = self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))?;
        self.cells.get(at)?.as_deref()
    }
}

fn named<'a>(
    columns: &'a [String],
    rows: &'a [Vec<CounterCell>],
) -> impl Iterator<Item = NamedRow<'a>> {
    rows.iter().map(move |cells| NamedRow { columns, cells })
}

/// Who waits for whom.
pub(super) fn claims(columns: &[String], rows: &[Vec<CounterCell>]) -> Vec<LockClaim> {
    let claim = |row: NamedRow<'_>| {
        Some(LockClaim {
            waiter: row.number("waiter")?,
            holder: row.number("holder"),
            lock: row.text("lock"),
            object: row.text("object"),
            length: row.length("waited"),
        })
    };
    named(columns, rows).take(MAX_CLAIMS).filter_map(claim).collect()
}

/// Sessions, so many at most.
pub(super) fn sessions(
    columns: &[String],
    rows: &[Vec<CounterCell>],
    most: usize,
) -> Vec<ServerSession> {
    let session = |row: NamedRow<'_>| {
        Some(ServerSession {
            id: row.number("id")?,
            user: row.text("user"),
            address: row.text("address"),
            database: row.text("database"),
            state: row.text("state"),
            in_state: row.length("in_state"),
            in_transaction: row.length("in_transaction"),
            statement: row.text("statement"),
            thread: row.number("thread"),
        })
    };
    named(columns, rows).take(most).filter_map(session).collect()
}

/// Adds statements to sessions of which the server had none so far.
pub(super) fn add_statements(
    sessions: &mut [ServerSession],
    columns: &[String],
    rows: &[Vec<CounterCell>],
) {
    for row in named(columns, rows).take(MAX_CLAIMS) {
        let id = row.number("id");
        let lacking = sessions.iter_mut().find(|one| Some(one.id) == id);
        if let Some(session) = lacking.filter(|session| session.statement.is_empty()) {
            session.statement = row.text("statement");
        }
    }
}
