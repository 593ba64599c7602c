//! Sums by what statements are without their literals.

use dbtime_model::traced_totals::{StatementName, Totals, TracedTotals};
use std::collections::BTreeMap;

/// What statements come to whose texts are the same but for literals.
pub(in crate::commands) fn by_fingerprint(totals: &TracedTotals) -> Vec<(String, Totals)> {
    let mut sums = BTreeMap::<String, Totals>::new();
    for row in &totals.statements {
        let mut name = String::new();
        match &row.name {
            StatementName::Text(text) => dbtime_sql::fingerprint(text, &mut name),
            StatementName::PreparedBefore => name.push_str("(prepared before dbtime looked)"),
            StatementName::Several => name.push_str("(several statements before a Sync)"),
            StatementName::Other => name.push_str("(others)"),
        }
        sums.entry(name).or_default().add(&row.totals);
    }
    sums.into_iter().collect()
}
