//! What traced statements came to between two readings of the same tables.
//!
//! Rows may have been replaced meanwhile: what they had goes to those that have no row, and has not
//! come since. What a row has is therefore compared with what that very row had, and what was in
//! rows that are gone with what those without a row have.

use crate::traced::QueryCache;
use crate::traced_totals::{
    LockWaitTotals, Preemption, RowNumber, StatementTotals, TraceTotals, TracedTotals,
};
use std::collections::HashMap;

/// A row, and which kind of its statements.
type TotalsKey = (RowNumber, bool, QueryCache);

fn kind(row: &StatementTotals) -> TotalsKey {
    (row.row, row.was_preempted, row.cache)
}

impl TracedTotals {
    /// What has come since the tables were read `before`; rows to which nothing has come are not
    /// there. Shape: no row may be there twice in either.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut earlier: HashMap<TotalsKey, &TraceTotals> =
            before.statements.iter().map(|row| (kind(row), &row.totals)).collect();
        let mut others = Vec::new();
        let mut statements = Vec::new();
        for row in &self.statements {
            let known = earlier.remove(&kind(row));
            if row.row == RowNumber::default() {
                others.push((row, known));
                continue;
            }
            let totals = known.map_or_else(|| row.totals.clone(), |known| row.totals.since(known));
            statements.push(StatementTotals { totals, ..row.clone() });
        }
        for (row, known) in others {
            let mut had = known.cloned().unwrap_or_default();
            let gone = earlier.iter().filter(|((_, was_preempted, cache), _)| {
                (*was_preempted, *cache) == (row.was_preempted, row.cache)
            });
            gone.for_each(|(_, totals)| had.add(totals));
            statements.push(StatementTotals { totals: row.totals.since(&had), ..row.clone() });
        }
        statements.retain(|row| row.totals.count > 0 || !row.totals.files.is_empty());
        let preemptors = preemptors_since(&self.preemptors, &before.preemptors);
        let lock_waits = lock_waits_since(&self.lock_waits, &before.lock_waits);
        Self { statements, preemptors, lock_waits, replaced: self.replaced }
    }
}

/// Of the longest the one of all times is kept.
fn lock_waits_since(now: &[LockWaitTotals], before: &[LockWaitTotals]) -> Vec<LockWaitTotals> {
    let mut since = now.to_vec();
    for row in &mut since {
        let is_like = |before: &&LockWaitTotals| {
            (&before.statement, &before.lock, &before.holder)
                == (&row.statement, &row.lock, &row.holder)
        };
        if let Some(before) = before.iter().find(is_like) {
            row.count = row.count.saturating_sub(before.count);
            row.length = row.length - before.length;
        }
    }
    since.retain(|row| row.count > 0);
    since.sort_by_key(|row| std::cmp::Reverse(row.length));
    since
}

fn preemptors_since(now: &[Preemption], before: &[Preemption]) -> Vec<Preemption> {
    let mut since = now.to_vec();
    for row in &mut since {
        if let Some(before) = before.iter().find(|before| before.name == row.name) {
            row.count = row.count.saturating_sub(before.count);
            row.length = row.length - before.length;
        }
    }
    since.retain(|row| row.count > 0);
    since.sort_by_key(|row| std::cmp::Reverse(row.length));
    since
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nanos;
    use crate::traced_totals::StatementName;

    fn row(statement: u64, since: u64, count: u64) -> StatementTotals {
        let (name, row) = match statement {
            0 => (StatementName::Other, RowNumber::default()),
            _ => {
                let text = StatementName::Text(format!("SELECT {statement}").into());
                (text, RowNumber { statement, since })
            }
        };
        let totals = TraceTotals { count, response: Nanos(10 * count), ..TraceTotals::default() };
        StatementTotals { row, totals, ..StatementTotals::nothing_of(name) }
    }

    fn of(statements: Vec<StatementTotals>) -> TracedTotals {
        TracedTotals { statements, ..TracedTotals::default() }
    }

    #[test]
    fn what_has_lost_its_row_has_not_come_since() {
        let before = of(vec![row(0, 0, 100), row(1, 0, 7), row(2, 0, 5), row(3, 0, 9)]);
        // One has lost its row; one has too, and has got another; one was never shown.
        let now = of(vec![row(0, 0, 100 + 7 + 5 + 2), row(2, 1, 6), row(3, 0, 9), row(4, 1, 1)]);
        let since = now.since(&before);
        assert_eq!(since.statements, [row(2, 1, 6), row(4, 1, 1), row(0, 0, 2)]);
        assert_eq!(since.all().count, now.all().count - before.all().count);
        assert_eq!(now.since(&now).statements, []);
        assert_eq!(now.since(&TracedTotals::default()).all(), now.all());
    }

    #[test]
    fn kinds_of_a_statement_are_compared_with_their_own() {
        let preempted = |count| StatementTotals { was_preempted: true, ..row(1, 0, count) };
        let others = |count| StatementTotals { was_preempted: true, ..row(0, 0, count) };
        let before = of(vec![row(1, 0, 3), preempted(2), others(1), row(0, 0, 1)]);
        let now = of(vec![row(0, 0, 5), others(3)]);
        assert_eq!(now.since(&before).statements, [row(0, 0, 1)]);
    }

    #[test]
    fn pre_emptors_are_those_of_the_time_between() {
        let by = |name: &str, count| Preemption {
            name: Some(name.to_owned()),
            count,
            length: Nanos(10 * count),
        };
        let of = |preemptors| TracedTotals { preemptors, ..TracedTotals::default() };
        let before = of(vec![by("a", 9), by("b", 1)]);
        let now = of(vec![by("a", 9), by("b", 3), by("c", 4)]);
        assert_eq!(now.since(&before).preemptors, [by("c", 4), by("b", 2)]);
    }
}
