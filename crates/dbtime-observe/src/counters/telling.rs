//! The counters that tell most.

use super::dialect::{KeyCounter, dialect, is_like};
use dbtime_model::counters::{CounterDelta, CounterKind, CounterNote, CounterReport};
use dbtime_model::record::KeyCounterDelta;

/// The counters of a report that tell most and counted anything, in the order in which they are
/// best read: statements, rows, pages, the log, locks, bytes.
pub fn telling(report: &CounterReport) -> Vec<KeyCounterDelta> {
    let all = dialect(report.source.product).telling.iter();
    all.filter_map(|told| of(told, report)).collect()
}

fn of(told: &KeyCounter, report: &CounterReport) -> Option<KeyCounterDelta> {
    let is_it = |delta: &&CounterDelta| {
        delta.name == told.counter
            && is_like(&delta.group, told.group)
            && delta.kind == CounterKind::Counter
            && delta.note != Some(CounterNote::Reset)
    };
    let deltas = report.counters.iter().filter(is_it);
    let sum: f64 = deltas.filter_map(|delta| delta.difference.as_ref()?.as_f64()).sum();
    (sum > 0.0 && sum.is_finite()).then(|| KeyCounterDelta {
        name: told.label.unwrap_or(told.counter).to_owned(),
        unit: told.unit,
        difference: sum,
        per_transaction: report.transactions.map(|count| sum / count as f64),
        meaning: told.meaning.to_owned(),
        source: told.source.to_owned(),
    })
}
