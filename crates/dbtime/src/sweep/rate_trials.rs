//! What a search for a rate has tried, which rate is next, and when it gives up.

use dbtime_lab::rate_search::{RateProbe, RateStep, next_rate};
use dbtime_model::study::FoundRate;
use dbtime_model::units::counted;
use std::ops::ControlFlow;

/// Of the flat-out rate: where the search begins.
pub(super) const FIRST_SHARE: f64 = 0.5;

/// How many runs a search may take, those that do not count too: a bracket, its halves, and some
/// rates that were not confirmed.
const MOST_RUNS: usize = 100;

/// Runs at one rate of which nobody knows whether they met the limit.
const MOST_UNKNOWN: usize = 3;

/// Rates that could not be judged: a machine on which there are so many of them is too busy for the
/// next ones too.
const MOST_UNJUDGED: usize = 3;

/// Why a run does not count that there is nothing known of.
const NOT_MADE: &str = "it was not made";

/// How a search that gives up begins to say why.
const GAVE_UP: &str = "the search gave up on this machine";

/// How far a search goes before it gives up.
pub(super) fn plan() -> String {
    format!(
        "the search takes {MOST_RUNS} runs at most, and gives up where {MOST_UNJUDGED} rates cannot \
         be judged by {MOST_UNKNOWN} runs each"
    )
}

/// What a search has tried, and what that comes to.
struct RateTrials<'a> {
    limit: &'a str,
    flat_out_tps: f64,
    probes: Vec<RateProbe>,
    /// Rates of which nobody knows whether they meet the limit.
    unjudged: Vec<UnjudgedRate>,
    /// How many runs were made, those that do not count too.
    runs: usize,
}

/// A rate at which no run counted.
struct UnjudgedRate {
    rate_tps: f64,
    /// Why the last of them did not.
    why: String,
}

impl UnjudgedRate {
    /// Why it is not judged.
    fn text(&self) -> String {
        let Self { rate_tps, why } = self;
        format!("none of {MOST_UNKNOWN} runs at {rate_tps}/s counts ({why})")
    }
}

/// What a run says of its rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RateFinding {
    /// It was carried, and all limits were met.
    Met,
    /// It was not, or one was missed.
    Missed,
    /// Nobody knows, for this.
    Unknown(String),
}

/// A search run by run: a rate is judged by the first run that counts, of a few at most.
pub(super) struct RateSearch<'a> {
    trials: RateTrials<'a>,
    /// How many runs there were at the present rate.
    tries: usize,
    /// Why the last of them does not count.
    last: String,
}

impl<'a> RateSearch<'a> {
    pub(super) fn new(limit: &'a str, flat_out_tps: f64) -> Self {
        Self { trials: RateTrials::new(limit, flat_out_tps), tries: 0, last: NOT_MADE.to_owned() }
    }

    /// The rate of the next run, and whether that is to confirm it; or what the search has come to.
    pub(super) fn next(&self) -> ControlFlow<FoundRate, (f64, bool)> {
        self.trials.next()
    }

    /// Takes what the next run has come to; `None`: it could not be made.
    pub(super) fn take(&mut self, finding: Option<RateFinding>) {
        let ControlFlow::Continue((rate_tps, confirms)) = self.next() else { return };
        self.tries += 1;
        let finding = match finding {
            Some(RateFinding::Unknown(why)) => {
                self.last = why;
                None
            }
            known => known,
        };
        if finding.is_none() && self.tries < MOST_UNKNOWN {
            return;
        }
        let last = std::mem::replace(&mut self.last, NOT_MADE.to_owned());
        let finding = finding.unwrap_or(RateFinding::Unknown(last));
        self.trials.add(rate_tps, confirms, finding, std::mem::take(&mut self.tries));
    }
}

impl<'a> RateTrials<'a> {
    fn new(limit: &'a str, flat_out_tps: f64) -> Self {
        Self { limit, flat_out_tps, probes: Vec::new(), unjudged: Vec::new(), runs: 0 }
    }

    /// Which rate is next, and whether that is to confirm it; or what the search has come to.
    fn next(&self) -> ControlFlow<FoundRate, (f64, bool)> {
        let step = next_rate(self.flat_out_tps * FIRST_SHARE, &self.probes);
        let (rate_tps, confirms) = match step {
            RateStep::Probe(rate) => (rate, false),
            RateStep::Confirm(rate) => (rate, true),
            RateStep::Found { rate_tps, above_tps } => {
                return ControlFlow::Break(self.found(rate_tps, above_tps));
            }
            RateStep::Nowhere(rate) => return ControlFlow::Break(self.nowhere(rate)),
            RateStep::Everywhere(rate) => {
                return ControlFlow::Break(self.unknown(format!("even {rate}/s meets it")));
            }
        };
        match self.gives_up() {
            Some(why) => ControlFlow::Break(self.unknown(why)),
            None => ControlFlow::Continue((rate_tps, confirms)),
        }
    }

    /// Takes what so many runs at a rate have come to.
    fn add(&mut self, rate_tps: f64, confirms: bool, finding: RateFinding, runs: usize) {
        self.runs += runs;
        self.probes.push(RateProbe { rate_tps, met: finding == RateFinding::Met, confirms });
        // What nobody knows to meet the limit is not the answer.
        if let RateFinding::Unknown(why) = finding {
            self.unjudged.push(UnjudgedRate { rate_tps, why });
        }
    }

    /// Why it does not go on: more runs on this machine would settle it no better.
    fn gives_up(&self) -> Option<String> {
        let why = match &self.unjudged[..] {
            rates if rates.len() >= MOST_UNJUDGED => {
                let rate = |rate: &UnjudgedRate| format!("{}/s ({})", rate.rate_tps, rate.why);
                let rates: Vec<String> = rates.iter().map(rate).collect();
                format!(
                    "none of {MOST_UNKNOWN} runs at each of these rates counts: {}",
                    rates.join(", ")
                )
            }
            // The next rate may take as many.
            _ if self.runs + MOST_UNKNOWN > MOST_RUNS => {
                format!("{} runs did not settle it", self.runs)
            }
            _ => return None,
        };
        let met = self.highest_met();
        let met = met.map_or(String::new(), |rate| {
            format!("; a run at {rate}/s met it, which too few fresh runs confirm")
        });
        Some(format!("{GAVE_UP}: {why}{met}"))
    }

    /// The highest rate that met the limit, and at or below which no run missed it or was not
    /// judged.
    fn highest_met(&self) -> Option<f64> {
        let missed = self.probes.iter().filter(|probe| !probe.met).map(|probe| probe.rate_tps);
        let lowest = missed.fold(f64::INFINITY, f64::min);
        let met = self.probes.iter().filter(|probe| probe.met).map(|probe| probe.rate_tps);
        met.filter(|rate| *rate < lowest).reduce(f64::max)
    }

    /// A rate was confirmed, and this one above it was not seen to meet the limit.
    fn found(&self, rate_tps: f64, above_tps: f64) -> FoundRate {
        let confirming = |probe: &&RateProbe| probe.confirms && probe.rate_tps == rate_tps;
        let confirmed = self.probes.iter().filter(confirming).count() as u64;
        // A higher one may meet it.
        if let Some(above) = self.unjudged(above_tps) {
            let runs = counted(confirmed, "fresh run");
            let text = above.text();
            return self.unknown(format!("{text}; {rate_tps}/s is confirmed by {runs}"));
        }
        FoundRate {
            rate_tps: Some(rate_tps),
            above_tps: Some(above_tps),
            confirmed,
            ..self.nothing()
        }
    }

    /// Not even the lowest rate was seen to meet the limit.
    fn nowhere(&self, rate_tps: f64) -> FoundRate {
        match self.unjudged(rate_tps) {
            Some(lowest) => self.unknown(lowest.text()),
            None => FoundRate { above_tps: Some(rate_tps), ..self.nothing() },
        }
    }

    fn unjudged(&self, rate_tps: f64) -> Option<&UnjudgedRate> {
        self.unjudged.iter().find(|unjudged| unjudged.rate_tps == rate_tps)
    }

    fn unknown(&self, why: String) -> FoundRate {
        FoundRate { unknown: Some(why), ..self.nothing() }
    }

    /// What was sought, and no answer.
    fn nothing(&self) -> FoundRate {
        FoundRate {
            limit: self.limit.to_owned(),
            flat_out_tps: self.flat_out_tps,
            ..FoundRate::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a search comes to whose rates, of which 1000/s is flat out, are judged so, and how many
    /// rates it tried.
    fn search(judged: impl Fn(f64) -> RateFinding) -> (FoundRate, usize) {
        let mut trials = RateTrials::new("p90<=1ms", 1000.0);
        loop {
            let (rate_tps, confirms) = match trials.next() {
                ControlFlow::Continue(next) => next,
                ControlFlow::Break(found) => return (found, trials.probes.len()),
            };
            let finding = judged(rate_tps);
            let runs = if let RateFinding::Unknown(_) = finding { MOST_UNKNOWN } else { 1 };
            trials.add(rate_tps, confirms, finding, runs);
        }
    }

    fn noisy() -> RateFinding {
        RateFinding::Unknown("too busy".to_owned())
    }

    #[test]
    fn a_search_on_a_machine_where_no_run_counts_gives_up() {
        let (found, tried) = search(|_| noisy());
        assert_eq!((found.rate_tps, tried), (None, MOST_UNJUDGED));
        let why = found.unknown.expect("it is not known");
        assert!(why.starts_with("the search gave up on this machine: none of 3 runs"), "{why}");
        assert!(why.ends_with("500/s (too busy), 250/s (too busy), 125/s (too busy)"), "{why}");
    }

    #[test]
    fn a_rate_above_which_all_were_judged_is_found_though_some_were_not() {
        let meets = |rate: f64| if rate <= 300.0 { RateFinding::Met } else { RateFinding::Missed };
        let (found, _) = search(|rate| if rate == 500.0 { noisy() } else { meets(rate) });
        let rate = found.rate_tps.expect("found");
        assert!((280.0..=300.0).contains(&rate), "{rate}");
        // Where it depends on one of them, it is told what met it all the same.
        let (found, tried) = search(|rate| if rate > 300.0 { noisy() } else { meets(rate) });
        let why = found.unknown.expect("it is not known");
        let met = "; a run at 297/s met it, which too few fresh runs confirm";
        assert!(why.ends_with(met), "{why}");
        assert!(tried < 10, "{tried}");
    }

    #[test]
    fn a_rate_is_judged_by_the_first_run_that_counts() {
        let mut search = RateSearch::new("p90<=1ms", 1000.0);
        let rate = |search: &RateSearch<'_>| search.next().continue_value().map(|next| next.0);
        search.take(Some(noisy()));
        search.take(None);
        assert_eq!(rate(&search), Some(500.0), "none counts yet");
        search.take(Some(RateFinding::Missed));
        assert_eq!(rate(&search), Some(250.0));
        assert_eq!((search.trials.runs, search.tries), (3, 0));
        for _ in 0..MOST_UNKNOWN {
            search.take(None);
        }
        assert_eq!(search.trials.unjudged[0].why, "it was not made", "of runs at this rate");
        assert_eq!(rate(&search), Some(125.0));
    }

    #[test]
    fn runs_are_bounded_that_settle_nothing() {
        let mut trials = RateTrials::new("p90<=1ms", 1000.0);
        for _ in 0..2 {
            trials.add(500.0, false, RateFinding::Met, MOST_RUNS / 2);
        }
        let ControlFlow::Break(found) = trials.next() else { panic!("it would go on") };
        let why = found.unknown.expect("it is not known");
        assert!(why.contains("100 runs did not settle it; a run at 500/s met it, "), "{why}");
        // What met it once and missed it later did not meet it.
        trials.add(500.0, true, RateFinding::Missed, 1);
        let ControlFlow::Break(found) = trials.next() else { panic!("it would go on") };
        let why = found.unknown.expect("it is not known");
        assert!(why.ends_with("101 runs did not settle it"), "{why}");
    }

    #[test]
    fn a_confirmed_rate_is_not_said_to_be_nothing() {
        let mut trials = RateTrials::new("p90<=1ms", 1000.0);
        trials.add(500.0, false, RateFinding::Met, 1);
        trials.add(510.0, false, noisy(), MOST_UNKNOWN);
        for _ in 0..5 {
            trials.add(500.0, true, RateFinding::Met, 1);
        }
        let ControlFlow::Break(found) = trials.next() else { panic!("it would go on") };
        let why = found.unknown.expect("it is not known");
        let expected = "none of 3 runs at 510/s counts (too busy); 500/s is confirmed by 5 fresh \
                        runs";
        assert_eq!(why, expected);
    }
}
