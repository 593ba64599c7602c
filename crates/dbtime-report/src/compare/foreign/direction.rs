//! Which way a unit is better, where the file does not say so.

/// Units that are times.
const TIMES: [&str; 10] = ["ns", "us", "µs", "ms", "s", "sec", "seconds", "min", "ns/op", "sec/op"];

/// Names of what is counted in a time, of which more is better.
const RATES: [&str; 6] = ["tps", "qps", "rps", "ops", "iops", "throughput"];

/// Ends of units of the same kind: `MB/s`, `items_per_second`.
const RATE_ENDS: [&str; 4] = ["/s", "/sec", "/second", "_per_second"];

/// Whether more of a unit is better; of one that is not known less is.
pub(super) fn is_higher_better(unit: &str) -> bool {
    let unit = bare(unit);
    RATES.contains(&unit.as_str()) || RATE_ENDS.iter().any(|end| unit.ends_with(end))
}

/// Whether a unit is one of times.
pub(super) fn is_time(unit: &str) -> bool {
    TIMES.contains(&bare(unit).as_str())
}

/// What more and less of a unit are called: better, worse.
pub(super) fn words(unit: &str) -> [&'static str; 2] {
    let is_speed = is_higher_better(unit) || is_time(unit);
    if is_speed { ["faster", "slower"] } else { ["better", "worse"] }
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
    fn rates_are_better_when_higher_and_everything_else_when_lower() {
        for unit in ["MB/s", "ops/s", "TPS", "items_per_second", "speed (req/s)"] {
            assert!(is_higher_better(unit), "{unit}");
            assert_eq!(words(unit), ["faster", "slower"], "{unit}");
        }
        for unit in ["ns/op", "s", "latency (ms)", "cpu us"] {
            assert!(!is_higher_better(unit), "{unit}");
            assert_eq!(words(unit), ["faster", "slower"], "{unit}");
        }
        for unit in ["B/op", "allocs/op", "", "misses", ")", "("] {
            assert!(!is_higher_better(unit), "{unit}");
            assert_eq!(words(unit), ["better", "worse"], "{unit}");
        }
    }
}
