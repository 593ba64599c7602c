//! The highest rate that meets a limit: which rate to try next, as a pure function of what was
//! tried.
//!
//! A rate that meets the limit and one that misses it are bracketed, and the bracket is halved
//! until its ends are near each other. A single run may meet a limit by chance, so the lower end is
//! confirmed by fresh runs; one of them that misses it makes that rate the upper end.

/// The ends of a bracket that is narrow enough: 5 % apart.
const NARROW: f64 = 1.05;

/// Fresh runs that have to meet the limit.
pub const CONFIRMING_RUNS: usize = 5;

/// How far below the first rate is looked: where even this misses the limit, a single transaction
/// does, or nearly so. And how far above.
const LOWEST: f64 = 1.0 / 64.0;
const HIGHEST: f64 = 1000.0;

/// By which factor the first rate is left as long as nothing meets the limit, or nothing misses it.
const DOWN: f64 = 0.5;
const UP: f64 = 1.5;

/// One run of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateProbe {
    /// The rate. Unit: transactions per second.
    pub rate_tps: f64,
    /// Whether it was carried, and all limits were met.
    pub met: bool,
    /// Whether it was to confirm the rate.
    pub confirms: bool,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateStep {
    /// A run at this rate. Unit: transactions per second.
    Probe(f64),
    /// A run at this rate, to confirm it.
    Confirm(f64),
    /// This rate meets the limit, and the next one, 5 % above it at most, was seen to miss it.
    Found {
        /// The rate.
        rate_tps: f64,
        /// The lowest rate that misses it.
        above_tps: f64,
    },
    /// Even this rate misses it.
    Nowhere(f64),
    /// Even this rate meets it.
    Everywhere(f64),
}

/// The next step, after these runs; the first is at `first_tps`.
pub fn next_rate(first_tps: f64, probes: &[RateProbe]) -> RateStep {
    let missed = probes.iter().filter(|probe| !probe.met).map(|probe| probe.rate_tps);
    let above = missed.fold(f64::INFINITY, f64::min);
    let met = probes.iter().filter(|probe| probe.met && probe.rate_tps < above);
    let below = met.map(|probe| probe.rate_tps).fold(0.0, f64::max);
    match (below > 0.0, above.is_finite()) {
        (false, false) => RateStep::Probe(readable(first_tps)),
        (false, true) if above <= first_tps * LOWEST => RateStep::Nowhere(above),
        (false, true) => RateStep::Probe(readable(above * DOWN)),
        (true, false) if below >= first_tps * HIGHEST => RateStep::Everywhere(below),
        (true, false) => RateStep::Probe(readable(below * UP)),
        (true, true) => between(below, above, probes),
    }
}

fn between(below: f64, above: f64, probes: &[RateProbe]) -> RateStep {
    let middle = readable((below * above).sqrt());
    if above / below > NARROW && below < middle && middle < above {
        return RateStep::Probe(middle);
    }
    let confirmed = probes.iter().filter(|probe| probe.confirms && probe.rate_tps == below);
    match confirmed.count() < CONFIRMING_RUNS {
        true => RateStep::Confirm(below),
        false => RateStep::Found { rate_tps: below, above_tps: above },
    }
}

/// A rate with three digits: it is to be written down.
fn readable(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.log10().floor() - 2.0);
    // Written as text and read again, it has no digits of the division.
    format!("{:.6}", (rate / unit).round() * unit).parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where a run meets the limit up to a rate.
    fn search(first: f64, meets: impl Fn(f64, usize) -> bool) -> (RateStep, Vec<RateProbe>) {
        let mut probes = Vec::new();
        loop {
            let (rate_tps, confirms) = match next_rate(first, &probes) {
                RateStep::Probe(rate) => (rate, false),
                RateStep::Confirm(rate) => (rate, true),
                end => return (end, probes),
            };
            assert!(probes.len() < 200, "{probes:?}");
            let met = meets(rate_tps, probes.len());
            probes.push(RateProbe { rate_tps, met, confirms });
        }
    }

    #[test]
    fn the_rate_is_found_within_5_percent_wherever_it_is() {
        for truth in [16.7, 120.0, 480.0, 999.0, 1000.0, 1001.0, 45_000.0] {
            let (end, probes) = search(1000.0, |rate, _| rate <= truth);
            let RateStep::Found { rate_tps, above_tps } = end else { panic!("{truth}: {end:?}") };
            assert!(rate_tps <= truth && truth < above_tps, "{truth}: {end:?}");
            assert!(above_tps / rate_tps < 1.06, "{truth}: {end:?}");
            assert!(probes.len() < 30, "{truth}: {}", probes.len());
            let confirming = probes.iter().filter(|probe| probe.confirms);
            assert_eq!(confirming.count(), CONFIRMING_RUNS, "{truth}");
        }
    }

    /// At 700/s and above half of the runs miss it.
    #[test]
    fn a_rate_that_was_met_by_chance_is_not_confirmed() {
        let (end, probes) = search(1000.0, |rate, at| rate < 700.0 || at % 2 == 0);
        let RateStep::Found { rate_tps, .. } = end else { panic!("{end:?}") };
        assert!(rate_tps < 740.0, "{rate_tps}");
        let at_it = probes.iter().filter(|probe| probe.rate_tps == rate_tps);
        assert!(at_it.clone().all(|probe| probe.met) && at_it.count() > CONFIRMING_RUNS);
    }

    #[test]
    fn where_nothing_or_all_meets_it_the_search_ends() {
        assert!(matches!(search(500.0, |_, _| false).0, RateStep::Nowhere(rate) if rate < 8.0));
        let (end, _) = search(500.0, |_, _| true);
        assert!(matches!(end, RateStep::Everywhere(rate) if rate >= 500_000.0));
    }

    #[test]
    fn rates_are_readable() {
        assert_eq!(
            [1234.5, 0.37214, 9.999, 120_412.0].map(readable),
            [1230.0, 0.372, 10.0, 120_000.0]
        );
    }
}
