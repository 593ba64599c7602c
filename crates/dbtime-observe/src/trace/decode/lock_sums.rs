//! Whose locks statements have waited for, added up.

use crate::kernel_layout::numbers::MIN_LOCK_WAIT_NS;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::Nanos;
use dbtime_model::traced::{Blocker, TracedRequest};
use dbtime_model::traced_totals::{LockWaitTotals, StatementName, TracedLockHolder};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Shorter waits are not added up.
const MIN_WAIT: Nanos = Nanos(MIN_LOCK_WAIT_NS as u64);

/// Rows; further waits share one for each lock.
const MAX_ROWS: usize = 4096;

/// A statement: by its text where that came with it, else by the kernel's number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LockStatement {
    Text(Arc<str>),
    Shape(u64),
    Unknown,
}

impl LockStatement {
    pub(crate) fn of(raw: &RawRequest<'_>, request: &TracedRequest) -> Self {
        match raw.record.shape {
            0 if request.text.is_empty() => Self::Unknown,
            0 => Self::Text(Arc::clone(&request.text)),
            shape => Self::Shape(shape),
        }
    }

    fn name(&self, texts: &mut impl FnMut(u64) -> Option<Arc<str>>) -> StatementName {
        let text = match self {
            Self::Text(text) => Some(Arc::clone(text)),
            Self::Shape(shape) => texts(*shape),
            Self::Unknown => None,
        };
        text.map_or(StatementName::Other, StatementName::Text)
    }
}

/// Which waits share a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LockRow {
    waiter: LockStatement,
    lock: Option<Cow<'static, str>>,
    holder: Option<RowHolder>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RowHolder {
    connection: u64,
    server_id: Option<u64>,
    has_left: bool,
    statement: LockStatement,
}

#[derive(Clone, Copy, Debug, Default)]
struct LockSum {
    count: u64,
    length: Nanos,
    longest: Nanos,
}

#[derive(Debug, Default)]
pub(crate) struct LockSums {
    rows: HashMap<LockRow, LockSum>,
}

impl LockSums {
    /// Adds the wait of a statement; `let_go` is the one that ended it.
    pub(crate) fn add(&mut self, waiter: &LockStatement, blocker: &Blocker, let_go: LockStatement) {
        if blocker.length < MIN_WAIT {
            return;
        }
        let holder = blocker.connection.map(|connection| RowHolder {
            connection,
            server_id: blocker.server_id,
            has_left: blocker.has_left,
            statement: if blocker.has_left { LockStatement::Unknown } else { let_go },
        });
        let row = LockRow { waiter: waiter.clone(), lock: blocker.lock.clone(), holder };
        let is_full = self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&row);
        let row = match is_full {
            true => LockRow { waiter: LockStatement::Unknown, holder: None, ..row },
            false => row,
        };
        let sum = self.rows.entry(row).or_default();
        sum.count += 1;
        sum.length += blocker.length;
        sum.longest = sum.longest.max(blocker.length);
    }

    /// The sums so far, longest first; `texts` knows what the kernel's numbers stand for.
    pub(crate) fn totals(
        &self,
        mut texts: impl FnMut(u64) -> Option<Arc<str>>,
    ) -> Vec<LockWaitTotals> {
        let total = |(row, sum): (&LockRow, &LockSum)| LockWaitTotals {
            statement: row.waiter.name(&mut texts),
            lock: row.lock.clone(),
            holder: row.holder.as_ref().map(|holder| TracedLockHolder {
                connection: holder.connection,
                server_id: holder.server_id,
                has_left: holder.has_left,
                statement: holder.statement.name(&mut texts),
            }),
            count: sum.count,
            length: sum.length,
            longest: sum.longest,
        };
        let mut totals: Vec<LockWaitTotals> = self.rows.iter().map(total).collect();
        totals.sort_by_key(|total| std::cmp::Reverse(total.length));
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Nanos = Nanos(2_000_000);

    fn text(text: &str) -> LockStatement {
        LockStatement::Text(text.into())
    }

    /// A wait for a connection that the server calls by a hundred more.
    fn wait(length: Nanos, connection: u64) -> Blocker {
        let server_id = Some(100 + connection);
        Blocker { length, connection: Some(connection), server_id, ..Blocker::default() }
    }

    #[test]
    fn waits_are_added_up_by_who_let_go() {
        let mut sums = LockSums::default();
        let update = text("UPDATE t");
        sums.add(&update, &wait(LONG, 1), text("COMMIT"));
        sums.add(&update, &wait(Nanos(2 * LONG.0), 1), text("COMMIT"));
        sums.add(&update, &wait(Nanos(LONG.0 / 4), 1), text("COMMIT"));
        sums.add(&LockStatement::Shape(7), &wait(LONG, 9), LockStatement::Unknown);
        let left = Blocker { has_left: true, ..wait(LONG, 8) };
        sums.add(&LockStatement::Unknown, &left, text("an older one"));
        let mut totals = sums.totals(|shape| Some(format!("DELETE {shape}").into()));
        totals[1..].sort_by_key(|total| total.holder.as_ref().map(|holder| holder.connection));
        let [update, left, delete] = &totals[..] else { panic!("{totals:?}") };
        let text = |text: &str| StatementName::Text(text.into());
        assert_eq!((&update.statement, update.count), (&text("UPDATE t"), 2));
        assert_eq!((update.length, update.longest), (Nanos(3 * LONG.0), Nanos(2 * LONG.0)));
        let holder = |total: &LockWaitTotals| {
            let holder = total.holder.as_ref().expect("one let go");
            (holder.statement.clone(), holder.server_id)
        };
        assert_eq!(holder(update), (text("COMMIT"), Some(101)));
        assert_eq!(
            (&delete.statement, holder(delete).0),
            (&text("DELETE 7"), StatementName::Other)
        );
        assert_eq!(holder(left), (StatementName::Other, Some(108)));
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut sums = LockSums::default();
        for number in 1..=MAX_ROWS as u64 + 100 {
            sums.add(&LockStatement::Shape(number), &wait(LONG, 1), LockStatement::Unknown);
        }
        assert!(sums.rows.len() <= MAX_ROWS + 1);
        let all: u64 = sums.totals(|_| None).iter().map(|total| total.count).sum();
        assert_eq!(all, MAX_ROWS as u64 + 100);
    }
}
