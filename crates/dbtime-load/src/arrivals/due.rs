//! When the arrivals of a rate are wanted: its cumulative count, inverted.

use dbtime_model::Nanos;
use dbtime_model::spec::Rate;

/// When arrival `x` (fractional in between) is wanted, in seconds, where the load lasts `length`
/// seconds (only a ramp needs to know). Never NaN; infinite if it never comes.
pub(super) fn due_s(rate: &Rate, x: f64, length: f64) -> f64 {
    match rate {
        Rate::Constant(rate) => x / rate,
        Rate::Steps(steps) => due_in_steps(steps, x),
        Rate::Ramp(from, to) => due_in_ramp(*from, *to, length, x),
    }
}

fn due_in_steps(steps: &[(Nanos, f64)], x: f64) -> f64 {
    let mut before = 0.0;
    for (index, (from, rate)) in steps.iter().enumerate() {
        let from = from.as_secs();
        let Some((until, _)) = steps.get(index + 1) else {
            return from + (x - before) / rate;
        };
        let within = (until.as_secs() - from) * rate;
        if x < before + within {
            return from + (x - before) / rate;
        }
        before += within;
    }
    f64::INFINITY
}

/// Λ(t) = from·t + (to − from)·t²/(2·length); solved for t in the form that does not cancel.
fn due_in_ramp(from: f64, to: f64, length: f64, x: f64) -> f64 {
    let slope = (to - from) / length.max(1e-9);
    let root = from * from + 2.0 * slope * x;
    if root < 0.0 {
        return f64::INFINITY;
    }
    2.0 * x / (from + root.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cumulative_counts_match_the_rate() {
        let steps: Rate = "0s:100/s,10s:500/s".parse().expect("steps");
        assert!((due_s(&steps, 1000.0, 20.0) - 10.0).abs() < 1e-9);
        assert!((due_s(&steps, 1500.0, 20.0) - 11.0).abs() < 1e-9);

        let ramp = Rate::Ramp(100.0, 300.0);
        // Λ(10 s) of a ramp over 10 s is the mean rate times 10.
        assert!((due_s(&ramp, 2000.0, 10.0) - 10.0).abs() < 1e-9);
        let down = Rate::Ramp(300.0, 100.0);
        assert!((due_s(&down, 2000.0, 10.0) - 10.0).abs() < 1e-9);
        assert!(due_s(&down, 1e9, 10.0).is_infinite());
    }
}
