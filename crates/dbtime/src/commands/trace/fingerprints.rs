//! What statements are without their literals, and sums by that.

use dbtime_model::traced_totals::{LockHolder, StatementName, Totals, TracedTotals};
use dbtime_report::terminal::{LockRelease, StatementLocks};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Texts of which the fingerprint is kept.
const MOST_KEPT: usize = 4096;

/// Makes fingerprints. Those of texts that requests share, as executions of a prepared statement
/// do, are made once.
#[derive(Default)]
pub(in crate::commands) struct Fingerprints {
    scratch: String,
    /// By where the text is, which stays there as long as it is kept here.
    kept: HashMap<usize, (Arc<str>, Arc<str>)>,
}

impl Fingerprints {
    /// The fingerprint of a request's text.
    pub(in crate::commands) fn of(&mut self, text: &Arc<str>) -> Arc<str> {
        if Arc::strong_count(text) == 1 {
            return self.make(text);
        }
        let place = Arc::as_ptr(text).cast::<u8>() as usize;
        if let Some((_, made)) = self.kept.get(&place) {
            return Arc::clone(made);
        }
        let made = self.make(text);
        if self.kept.len() == MOST_KEPT {
            self.kept.clear();
        }
        self.kept.insert(place, (Arc::clone(text), Arc::clone(&made)));
        made
    }

    /// That of a text.
    pub(in crate::commands) fn make(&mut self, text: &str) -> Arc<str> {
        dbtime_sql::fingerprint(text, &mut self.scratch);
        Arc::from(self.scratch.as_str())
    }
}

/// What statements come to whose texts are the same but for literals.
pub(in crate::commands) fn by_fingerprint(totals: &TracedTotals) -> Vec<(String, Totals)> {
    let mut sums = BTreeMap::<String, Totals>::new();
    for row in &totals.statements {
        let name = name_of(&row.name);
        sums.entry(name).or_default().add(&row.totals);
    }
    sums.into_iter().collect()
}

/// Whose locks they waited for, those first that were waited for longest; by the same names.
pub(in crate::commands) fn locks_by_fingerprint(totals: &TracedTotals) -> Vec<StatementLocks> {
    let mut sums = BTreeMap::<_, StatementLocks>::new();
    for row in &totals.lock_waits {
        let statement = name_of(&row.statement);
        let lock = row.lock.as_deref().unwrap_or("lock").to_owned();
        let holder = row.holder.as_ref();
        let release = match holder {
            None => LockRelease::Nobody,
            Some(holder) if holder.has_left => LockRelease::ClientLeft,
            Some(LockHolder { statement: StatementName::Other, .. }) => LockRelease::Unknown,
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
    let mut text = String::new();
    match name {
        StatementName::Text(sql) => dbtime_sql::fingerprint(sql, &mut text),
        StatementName::PreparedBefore => text.push_str("(prepared before dbtime looked)"),
        StatementName::Several => text.push_str("(several statements before a Sync)"),
        StatementName::Other => text.push_str("(others)"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_made_once_and_what_is_not_is_not_kept() {
        let mut fingerprints = Fingerprints::default();
        let shared: Arc<str> = "SELECT 1".into();
        let other = Arc::clone(&shared);
        let made = fingerprints.of(&shared);
        assert_eq!(&*made, "SELECT ?");
        assert!(Arc::ptr_eq(&made, &fingerprints.of(&other)));
        drop((shared, other));
        for number in 0..2 * MOST_KEPT {
            let text: Arc<str> = format!("SELECT {number} FROM t{number}").into();
            let held = (number % 2 == 0).then(|| Arc::clone(&text));
            assert_eq!(*fingerprints.of(&text), *format!("SELECT ? FROM t{number}"));
            drop(held);
        }
        assert!(fingerprints.kept.len() <= MOST_KEPT);
        assert!(fingerprints.kept.values().all(|(text, made)| text.ends_with(&made[9..])));
    }
}
