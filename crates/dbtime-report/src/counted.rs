//! What a server counted during a run, as both reports tell it.

use crate::format::{NONE, bytes, clean, count, counted, rate, seconds, us};
use dbtime_model::record::{CounterUnit, CountersInfo, KeyCounterDelta};

/// What stands above it.
pub(crate) const TITLE: &str = "What the server counted, per transaction";

/// A figure in its unit.
fn figure(value: f64, unit: CounterUnit) -> String {
    match unit {
        _ if !value.is_finite() => NONE.to_owned(),
        CounterUnit::Count | CounterUnit::Bytes if value > 0.0 && value < 1e-6 => {
            "< 0.000001".to_owned()
        }
        CounterUnit::Count => rate(value),
        // Less than a byte of each transaction is still something.
        CounterUnit::Bytes if value < 9.5 && value.fract() != 0.0 => format!("{} B", rate(value)),
        CounterUnit::Bytes => bytes(value.round() as u64),
        CounterUnit::Ms => us(value * 1e3),
    }
}

/// Name, figure per transaction, figure in all, meaning.
pub(crate) fn row(counter: &KeyCounterDelta) -> [String; 4] {
    let each = counter.per_transaction.map_or(NONE.to_owned(), |each| figure(each, counter.unit));
    let all = figure(counter.difference, counter.unit);
    [clean(&counter.name), each, all, clean(&counter.meaning)]
}

/// What the figures are of, and what must be known of them.
pub(crate) fn sentences(info: &CountersInfo) -> Vec<String> {
    let interval = info.interval_s.map_or(String::new(), |s| format!(", {} apart", seconds(s)));
    let mut sources: Vec<&str> =
        info.key_counters.iter().map(|counter| counter.source.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut sentences = vec![format!(
        "from two samples{interval}, over {} that ended between them; what others did then is \
         counted too; every counter is in counters.json",
        counted(info.transactions, "transaction"),
    )];
    if !sources.is_empty() {
        sentences.push(format!("defined by: {}", clean(&sources.join("; "))));
    }
    sentences.extend(info.notes.iter().map(|note| clean(note)));
    sentences
}

/// A whole number or a rate with its sign.
pub(crate) fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let magnitude = value.abs();
    let text = if magnitude.fract() == 0.0 && magnitude < 1e15 {
        count(magnitude as u64)
    } else {
        rate(magnitude)
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_their_unit() {
        assert_eq!(figure(5.01, CounterUnit::Count), "5.01");
        assert_eq!(figure(1e-9, CounterUnit::Count), "< 0.000001");
        assert_eq!(figure(0.3, CounterUnit::Bytes), "0.300 B");
        assert_eq!(figure(338.94, CounterUnit::Bytes), "339 B");
        assert_eq!(figure(0.25, CounterUnit::Ms), "250 µs");
        assert_eq!(figure(f64::NAN, CounterUnit::Ms), NONE);
    }

    #[test]
    fn signs_stand_before_the_figure() {
        assert_eq!([-75.0, 1228.0, 0.5, -0.25].map(signed), ["−75", "1,228", "0.500", "−0.250"]);
    }
}
