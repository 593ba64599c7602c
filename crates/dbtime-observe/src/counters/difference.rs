//! What changed between two samples, and what must be known of it: restarts, resets, wrap-arounds.

use super::dialect::{CounterDialect, is_like};
use super::difference_error::DifferenceError;
use super::interval::{self, ServerLife};
use super::products::dialect;
use dbtime_model::counters::{
    CounterDelta, CounterKind, CounterNote, CounterReport, CounterSample, CounterValue,
    CounterValues, SCHEMA,
};
use std::collections::{BTreeMap, BTreeSet};

/// What changed from the first sample to the second, by group and name, unchanged counters
/// included.
///
/// Rates are of counters alone, and of those that count from one sample to the other: none after a
/// reset, none without an interval.
pub fn difference(
    before: &CounterSample,
    after: &CounterSample,
) -> Result<CounterReport, DifferenceError> {
    let (first, second) = (before.source.product, after.source.product);
    if !first.is_comparable(second) {
        return Err(DifferenceError::Products(first, second));
    }
    let interval = interval::between(before, after)?;
    let life = interval::life(before, after, interval);
    let dialect = dialect(second);
    let restart = life == ServerLife::Restarted && dialect.restart_resets;
    let groups: BTreeSet<&String> = before.groups.keys().chain(after.groups.keys()).collect();
    let mut counters = Vec::new();
    for group in groups {
        let first = before.groups.get(group);
        let second = after.groups.get(group);
        let is_reset = restart || is_reset(first, second);
        let of_group = CounterGroup { dialect, name: group, is_reset, life };
        counters.extend(of_group.deltas(first, second));
    }
    counters.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
    let mut report = CounterReport {
        schema: SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        source: after.source.clone(),
        from: before.taken.at.clone(),
        to: after.taken.at.clone(),
        interval_s: interval.map(|interval| interval.seconds),
        interval_from: interval.map(|interval| interval.from),
        transactions: None,
        transactions_from: None,
        notes: interval::notes(before, after, interval, life),
        left_out: 0,
        counters,
    };
    let count = transactions(dialect, &report.counters);
    rates(&mut report, count);
    Ok(report)
}

/// The report with its rates per transaction of these, which somebody else has counted.
pub fn per_transaction_of(mut report: CounterReport, count: u64, from: &str) -> CounterReport {
    rates(&mut report, (count > 0).then(|| (count, from.to_owned())));
    report
}

fn rates(report: &mut CounterReport, transactions: Option<(u64, String)>) {
    (report.transactions, report.transactions_from) = transactions.unzip();
    let seconds = report.interval_s.filter(|seconds| *seconds > 0.0);
    let count = report.transactions.map(|count| count as f64);
    for delta in &mut report.counters {
        let counts = delta.kind == CounterKind::Counter && delta.note != Some(CounterNote::Reset);
        let difference = delta.difference.as_ref().filter(|_| counts);
        let difference = difference.and_then(CounterValue::as_f64);
        let per = |of: Option<f64>| {
            let rate = difference.zip(of).map(|(difference, of)| difference / of);
            rate.filter(|rate| rate.is_finite())
        };
        (delta.per_second, delta.per_transaction) = (per(seconds), per(count));
    }
}

/// Transactions by what counts them first, and the names that did; `None` where that does not span
/// both samples.
fn transactions(dialect: &CounterDialect, counters: &[CounterDelta]) -> Option<(u64, String)> {
    for (group, names) in dialect.transactions {
        let is_one = |delta: &&CounterDelta| {
            names.contains(&delta.name.as_str()) && is_like(&delta.group, group)
        };
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        let mut is_whole = true;
        for delta in counters.iter().filter(is_one) {
            match (&delta.difference, delta.note) {
                (Some(CounterValue::Unsigned(n)), None | Some(CounterNote::Wrapped)) => {
                    let sum = by_name.entry(&delta.name).or_default();
                    *sum = sum.saturating_add(*n);
                }
                _ => is_whole = false,
            }
        }
        by_name.retain(|_, count| *count > 0);
        let total = by_name.values().fold(0u64, |sum, n| sum.saturating_add(*n));
        if !is_whole || total > 0 {
            let names: Vec<&str> = by_name.into_keys().collect();
            return is_whole.then(|| (total, names.join(" + ")));
        }
    }
    None
}

/// Whether PostgreSQL says that a view was reset in between.
fn is_reset(before: Option<&CounterValues>, after: Option<&CounterValues>) -> bool {
    let at =
        |counters: Option<&CounterValues>| counters.and_then(|c| c.get("stats_reset")).cloned();
    before.is_some() && after.is_some() && at(before) != at(after)
}

/// The counters of one group in both samples.
struct CounterGroup<'a> {
    dialect: &'a CounterDialect,
    name: &'a str,
    /// Whether all of them are known to have been set to zero.
    is_reset: bool,
    life: ServerLife,
}

impl CounterGroup<'_> {
    fn deltas(
        &self,
        before: Option<&CounterValues>,
        after: Option<&CounterValues>,
    ) -> Vec<CounterDelta> {
        let all: BTreeSet<&String> =
            before.into_iter().chain(after).flat_map(CounterValues::keys).collect();
        let value = |of: Option<&CounterValues>, name| of.and_then(|c| c.get(name)).cloned();
        all.into_iter()
            .map(|name| self.delta(name, value(before, name), value(after, name)))
            .collect()
    }

    fn delta(
        &self,
        name: &str,
        before: Option<CounterValue>,
        after: Option<CounterValue>,
    ) -> CounterDelta {
        let kind = self.kind(name, before.as_ref(), after.as_ref());
        let (difference, note) = match (&before, &after) {
            (Some(before), Some(after)) if kind == CounterKind::Counter => {
                self.counted(before, after)
            }
            (Some(before), Some(after)) => (after.minus(before), None),
            (None, _) => (None, Some(CounterNote::Appeared)),
            (_, None) => (None, Some(CounterNote::Gone)),
        };
        CounterDelta {
            group: (self.dialect.family)(self.name, name),
            name: name.to_owned(),
            kind,
            before,
            after,
            difference,
            per_second: None,
            per_transaction: None,
            note,
        }
    }

    fn kind(
        &self,
        name: &str,
        before: Option<&CounterValue>,
        after: Option<&CounterValue>,
    ) -> CounterKind {
        let values = || before.into_iter().chain(after);
        if values().any(|value| value.as_f64().is_none()) {
            CounterKind::Text
        } else if values().any(CounterValue::is_negative) || (self.dialect.is_gauge)(name) {
            CounterKind::Gauge
        } else {
            CounterKind::Counter
        }
    }

    /// The difference of a counter, which only ever grows but for these.
    fn counted(
        &self,
        before: &CounterValue,
        after: &CounterValue,
    ) -> (Option<CounterValue>, Option<CounterNote>) {
        let difference = after.minus(before);
        let fell = difference.as_ref().is_none_or(CounterValue::is_negative);
        let reset = (Some(after.clone()), Some(CounterNote::Reset));
        match (before, after) {
            _ if self.is_reset && before.is_zero() && after.is_zero() => (difference, None),
            _ if self.is_reset => reset,
            _ if !fell => (difference, None),
            (CounterValue::Unsigned(before), CounterValue::Unsigned(after)) => {
                match self.wrapped(*before, *after) {
                    Some(difference) => {
                        (Some(CounterValue::Unsigned(difference)), Some(CounterNote::Wrapped))
                    }
                    None => reset,
                }
            }
            _ => reset,
        }
    }

    /// The difference of a counter of 32 bits that went past its end: it was in their last quarter,
    /// it is in the first, and the server has been up all the time.
    fn wrapped(&self, before: u64, after: u64) -> Option<u64> {
        const END: u64 = 1 << 32;
        const QUARTER: u64 = END / 4;
        let is_near = (END - QUARTER..END).contains(&before) && after < QUARTER;
        let can = self.dialect.wraps && self.life != ServerLife::Restarted;
        (is_near && can).then(|| END - before + after)
    }
}
