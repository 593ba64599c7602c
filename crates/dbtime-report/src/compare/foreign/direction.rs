//! Which way a unit is better, where the file does not say so.

/// Units that are times.
const TIMES: [&str; 17] = [
    "ns",
    "us",
    "µs",
    "ms",
    "s",
    "sec",
    "secs",
    "seconds",
    "millis",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "min",
    "minutes",
    "hours",
    "ns/op",
    "sec/op",
];

/// What else less is better of, and ends of such units.
const COSTS: [&str; 8] = ["b", "kb", "mb", "gb", "kib", "mib", "gib", "bytes"];
const COST_END: &str = "/op";

/// Names of what is counted in a time, of which more is better; prefixes may stand before them:
/// `kqps`, `GFLOPS`.
const RATES: [&str; 14] = [
    "tps",
    "qps",
    "rps",
    "ops",
    "iops",
    "fps",
    "bps",
    "ips",
    "tpm",
    "tpmc",
    "flops",
    "bit",
    "throughput",
    "bandwidth",
];
const PREFIXES: [char; 4] = ['k', 'm', 'g', 't'];

/// The times of rates, behind a slash or the word: `MB/s`, `items_per_second`, `ops/ms`.
const PER_TIMES: [&str; 12] =
    ["s", "sec", "second", "seconds", "min", "minute", "h", "hour", "day", "ms", "us", "µs"];

/// What else more is better of.
const SCORES: [&str; 3] = ["score", "points", "speedup"];

/// Whether more of a unit is better; `None`: nothing says which way it is.
pub(super) fn known_direction(unit: &str) -> Option<bool> {
    let unit = bare(unit);
    let is_higher = is_rate(&unit) || SCORES.contains(&unit.as_str());
    let is_cost = COSTS.contains(&unit.as_str()) || unit.ends_with(COST_END);
    let is_lower = TIMES.contains(&unit.as_str()) || is_cost;
    (is_higher || is_lower).then_some(is_higher)
}

/// The same, where less is better of one that is not known.
pub(super) fn is_higher_better(unit: &str) -> bool {
    known_direction(unit).unwrap_or(false)
}

/// Whether a unit is one of times.
pub(super) fn is_time(unit: &str) -> bool {
    TIMES.contains(&bare(unit).as_str())
}

/// What more and less of a unit are called: better, worse.
pub(super) fn words(unit: &str) -> [&'static str; 2] {
    let is_speed = is_rate(&bare(unit)) || is_time(unit);
    if is_speed { ["faster", "slower"] } else { ["better", "worse"] }
}

/// Whether a unit, in small letters, counts something in a time.
fn is_rate(unit: &str) -> bool {
    let unprefixed = unit.strip_prefix(PREFIXES).unwrap_or(unit);
    let words = unit.replace('_', " ");
    let is_per = |time: &&str| {
        let before = words.strip_suffix(*time);
        before.is_some_and(|before| before.ends_with('/') || before.ends_with("per "))
    };
    RATES.contains(&unit) || RATES.contains(&unprefixed) || PER_TIMES.iter().any(is_per)
}

/// The unit in a heading such as `latency (ms)` or `cpu ms`, in small letters.
fn bare(unit: &str) -> String {
    let inside = unit.strip_suffix(')').and_then(|unit| unit.rsplit_once('('));
    let unit = inside.map_or(unit, |(_, inside)| inside).trim();
    unit.strip_prefix("cpu ").unwrap_or(unit).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_better_when_higher() {
        for unit in ["MB/s", "ops/s", "TPS", "items_per_second", "speed (req/s)", "ops/ms"]
            .into_iter()
            .chain(["events/min", "Gbit", "GFLOPS", "fps", "Mops", "kqps", "tx per second"])
        {
            assert_eq!(known_direction(unit), Some(true), "{unit}");
            assert_eq!(words(unit), ["faster", "slower"], "{unit}");
        }
        assert_eq!((known_direction("Score"), words("Score")), (Some(true), ["better", "worse"]));
    }

    #[test]
    fn times_and_costs_are_better_when_lower_and_so_is_what_is_not_known() {
        for unit in ["ns/op", "s", "latency (ms)", "cpu us"] {
            assert_eq!(known_direction(unit), Some(false), "{unit}");
            assert_eq!(words(unit), ["faster", "slower"], "{unit}");
        }
        for unit in ["B/op", "allocs/op", "peak (MiB)"] {
            assert_eq!(known_direction(unit), Some(false), "{unit}");
            assert_eq!(words(unit), ["better", "worse"], "{unit}");
        }
        for unit in ["", "misses", ")", "(", "per", "/"] {
            assert_eq!(known_direction(unit), None, "{unit}");
            assert!(!is_higher_better(unit), "{unit}");
            assert_eq!(words(unit), ["better", "worse"], "{unit}");
        }
    }
}
