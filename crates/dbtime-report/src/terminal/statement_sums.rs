//! Sums of statements whose texts are the same but for literals.

use super::statement_locks::{LockRelease, StatementLocks};
use dbtime_model::traced_totals::{StatementName, TraceTotals, TracedLockHolder, TracedTotals};
use std::collections::BTreeMap;

/// What statements come to whose texts are the same but for literals.
pub fn by_fingerprint(totals: &TracedTotals) -> Vec<(String, TraceTotals)> {
    let mut sums = BTreeMap::<String, TraceTotals>::new();
    for row in &totals.statements {
        let name = name_of(&row.name);
        sums.entry(name).or_default().add(&row.totals);
    }
    sums.into_iter().collect()
}

/// Whose locks they waited for, those first that were waited for longest; by the same names.
pub(crate) fn locks_by_fingerprint(totals: &TracedTotals) -> Vec<StatementLocks> {
    let mut sums = BTreeMap::<_, StatementLocks>::new();
    for row in &totals.lock_waits {
        let statement = name_of(&row.statement);
        let lock = row.lock.as_deref().unwrap_or("lock").to_owned();
        let holder = row.holder.as_ref();
        let release = match holder {
            None => LockRelease::Nobody,
            Some(holder) if holder.has_left => LockRelease::ClientLeft,
            Some(TracedLockHolder { statement: StatementName::Other, .. }) => LockRelease::Unknown,
            Some(holder) => LockRelease::Statement(name_of(&holder.statement)),
        };
        let key = (statement.clone(), lock.clone(), release.clone());
        let sum = sums.entry(key).or_insert_with(|| StatementLocks::new(statement, lock, release));
        sum.add(row.count, row.length, row.longest);
        if let Some(holder) = holder {
            sum.add_connection(holder.server_id, holder.connection);
        }
    }
    let mut sums: Vec<StatementLocks> = sums.into_values().collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.length));
    sums
}

/// What statements are called in sums.
fn name_of(name: &StatementName) -> String {
    let name = match name {
        StatementName::Text(fingerprint) => fingerprint.as_ref(),
        StatementName::PreparedBefore => "(prepared before dbtime looked)",
        StatementName::Several => "(several statements before a Sync)",
        StatementName::Other => "(others)",
    };
    name.to_owned()
}
