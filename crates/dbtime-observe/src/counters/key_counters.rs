//! The key counters of a database: those that a run shows.

use super::dialect::{KeyCounter, is_like};
use super::products::dialect;
use dbtime_model::counters::{CounterDelta, CounterKind, CounterNote, CounterReport};
use dbtime_model::record::KeyCounterDelta;

/// The key counters of a report that counted anything, in the order of reading: statements, rows,
/// pages, the log, locks, bytes.
pub fn key_counters(report: &CounterReport) -> Vec<KeyCounterDelta> {
    let all = dialect(report.source.product).key_counters.iter();
    all.filter_map(|key| of(key, report)).collect()
}

fn of(key: &KeyCounter, report: &CounterReport) -> Option<KeyCounterDelta> {
    let is_it = |delta: &&CounterDelta| {
        delta.name == key.counter
            && is_like(&delta.group, key.group)
            && delta.kind == CounterKind::Counter
            && delta.note != Some(CounterNote::Reset)
    };
    let deltas = report.counters.iter().filter(is_it);
    let sum: f64 = deltas.filter_map(|delta| delta.difference.as_ref()?.as_f64()).sum();
    (sum > 0.0 && sum.is_finite()).then(|| KeyCounterDelta {
        name: key.label.unwrap_or(key.counter).to_owned(),
        unit: key.unit,
        difference: sum,
        per_transaction: report.transactions.map(|count| sum / count as f64),
        meaning: key.meaning.to_owned(),
        source: key.source.to_owned(),
    })
}
