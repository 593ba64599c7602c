//! What a search for a rate has tried, which rate is next, and when it gives up.

use dbtime_lab::rate_search::{ProbeOutcome, RateEstimate, RateProbe, RateStep, next_rate};
use dbtime_model::study::FoundRate;
use dbtime_model::units::counted;
use std::ops::ControlFlow;

/// Of the flat-out rate: where the search begins.
pub(super) const FIRST_SHARE: f64 = 0.5;

/// How many runs a search may take, those that do not count too: a bracket, and fresh runs around
/// the rate.
const MOST_RUNS: usize = 100;

/// Runs at one rate of which it is not known whether they met the limit.
const MOST_UNKNOWN: usize = 3;

/// Rates that could not be judged: a machine on which there are so many of them is too busy for the
/// next ones too.
const MOST_UNJUDGED: usize = 3;

/// Fresh runs that were disturbed, however they came out, where fewer count.
const MOST_DISTURBED: usize = 6;

/// Why a run does not count that there is nothing known of.
const NOT_MADE: &str = "it was not made";

/// How a search that gives up begins to say why: for what else the machine did, for windows without
/// a transaction, or else.
const TOO_BUSY: &str = "this machine was too busy to tell";
const TOO_SHORT: &str = "its runs need more time (--time)";
const GAVE_UP: &str = "the search gave up";

/// Of the flat-out rate: transactions hardly ever wait for each other at less, so that lower rates
/// have no shorter responses.
const ALONE_SHARE: f64 = 0.04;

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
    /// Rates of which it is not known whether they meet the limit.
    unjudged: Vec<UnjudgedRate>,
    /// Why each fresh run that was disturbed does not count.
    disturbed: Vec<String>,
    /// How many runs were made, those that do not count too.
    runs: usize,
}

/// A rate at which no run counted.
struct UnjudgedRate {
    rate_tps: f64,
    /// Why the last of them did not.
    reason: UnknownReason,
}

/// Why it is not known whether a run met the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownReason {
    pub(super) text: String,
    pub(super) cause: UnknownCause,
}

/// What keeps runs from counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownCause {
    /// What else the machine did.
    BusyMachine,
    /// No transaction was due in the window.
    EmptyWindow,
    /// Anything else.
    Other,
}

impl UnknownCause {
    /// How a search that gives up for it begins to say why.
    fn begin(self) -> &'static str {
        match self {
            Self::BusyMachine => TOO_BUSY,
            Self::EmptyWindow => TOO_SHORT,
            Self::Other => GAVE_UP,
        }
    }
}

impl UnknownReason {
    /// Of a run that could not be made.
    fn not_made() -> Self {
        Self { text: NOT_MADE.to_owned(), cause: UnknownCause::Other }
    }
}

/// What a run says of its rate.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RateFinding {
    /// The limit over what was measured, of several the least: it was met from 1 on.
    Counted(f64),
    /// What disturbed it cannot have decided whether it met the limit, and may have changed by how
    /// far.
    Disturbed {
        /// Whether it did.
        met: bool,
        /// What that was.
        why: String,
    },
    /// Not known, for this reason.
    Unknown(UnknownReason),
}

impl RateFinding {
    /// What it makes of a run at a rate.
    fn probe(&self, rate_tps: f64, is_fresh: bool) -> RateProbe {
        let (outcome, headroom) = match self {
            Self::Counted(headroom) if *headroom >= 1.0 => (ProbeOutcome::Met, Some(*headroom)),
            Self::Counted(headroom) => (ProbeOutcome::Missed, Some(*headroom)),
            Self::Disturbed { met: true, .. } => (ProbeOutcome::Met, None),
            Self::Disturbed { met: false, .. } => (ProbeOutcome::Missed, None),
            Self::Unknown(_) => (ProbeOutcome::Unjudged, None),
        };
        RateProbe { rate_tps, outcome, headroom, is_fresh }
    }
}

/// A search run by run: a rate is judged by the first run that is known, of a few at most.
pub(super) struct RateSearch<'a> {
    trials: RateTrials<'a>,
    /// How many runs there were at the present rate.
    tries: usize,
    /// Why the last of them does not count.
    last: UnknownReason,
}

impl<'a> RateSearch<'a> {
    pub(super) fn new(limit: &'a str, flat_out_tps: f64) -> Self {
        let last = UnknownReason::not_made();
        Self { trials: RateTrials::new(limit, flat_out_tps), tries: 0, last }
    }

    /// The rate of the next run; or what the search has come to.
    pub(super) fn next(&self) -> ControlFlow<FoundRate, f64> {
        self.trials.next().map_continue(|(rate_tps, _)| rate_tps)
    }

    /// Takes what the next run has come to; `None`: it could not be made.
    pub(super) fn take(&mut self, finding: Option<RateFinding>) {
        let ControlFlow::Continue((rate_tps, is_fresh)) = self.trials.next() else { return };
        self.tries += 1;
        let known = match finding {
            Some(RateFinding::Unknown(reason)) => {
                self.last = reason;
                None
            }
            known => known,
        };
        if known.is_none() && self.tries < MOST_UNKNOWN {
            return;
        }
        let last = std::mem::replace(&mut self.last, UnknownReason::not_made());
        let finding = known.unwrap_or(RateFinding::Unknown(last));
        self.trials.add(rate_tps, is_fresh, finding, std::mem::take(&mut self.tries));
    }
}

impl<'a> RateTrials<'a> {
    fn new(limit: &'a str, flat_out_tps: f64) -> Self {
        Self {
            limit,
            flat_out_tps,
            probes: Vec::new(),
            unjudged: Vec::new(),
            disturbed: Vec::new(),
            runs: 0,
        }
    }

    /// Which rate is next, and whether by a fresh run; or what the search has come to.
    fn next(&self) -> ControlFlow<FoundRate, (f64, bool)> {
        if let Some(found) = self.at_floor() {
            return ControlFlow::Break(found);
        }
        let step = next_rate(self.flat_out_tps * FIRST_SHARE, &self.probes);
        let (rate_tps, is_fresh) = match step {
            RateStep::Probe(rate) => (rate, false),
            RateStep::Confirm(rate) => (rate, true),
            RateStep::Found(found) => return ControlFlow::Break(self.found(found)),
            RateStep::Vague(estimate) => return ControlFlow::Break(self.vague(estimate)),
            RateStep::Nowhere(rate) => return ControlFlow::Break(self.nowhere(rate)),
            RateStep::Everywhere(rate) => {
                return ControlFlow::Break(self.unknown(format!("even {rate}/s meets it")));
            }
        };
        match self.gives_up() {
            Some(why) => ControlFlow::Break(self.unknown(why)),
            None => ControlFlow::Continue((rate_tps, is_fresh)),
        }
    }

    /// Takes what so many runs at a rate have come to.
    fn add(&mut self, rate_tps: f64, is_fresh: bool, finding: RateFinding, runs: usize) {
        self.runs += runs;
        self.probes.push(finding.probe(rate_tps, is_fresh));
        match finding {
            // What is not known to meet the limit is not the answer.
            RateFinding::Unknown(reason) => self.unjudged.push(UnjudgedRate { rate_tps, reason }),
            RateFinding::Disturbed { why, .. } if is_fresh => self.disturbed.push(why),
            RateFinding::Disturbed { .. } | RateFinding::Counted(_) => {}
        }
    }

    /// Why it does not go on: more runs on this machine would settle it no better.
    fn gives_up(&self) -> Option<String> {
        let rates = &self.unjudged;
        if rates.len() >= MOST_UNJUDGED {
            let first = rates[0].reason.cause;
            let is_one = rates.iter().all(|rate| rate.reason.cause == first);
            let begin = if is_one { first.begin() } else { GAVE_UP };
            let rate = |rate: &UnjudgedRate| format!("{}/s ({})", rate.rate_tps, rate.reason.text);
            let rates: Vec<String> = rates.iter().map(rate).collect();
            let rates = rates.join(", ");
            return Some(format!(
                "{begin}: none of {MOST_UNKNOWN} runs at each of these rates counts: {rates}"
            ));
        }
        let runs = self.disturbed.len();
        let is_disturbed = runs >= MOST_DISTURBED && runs > self.counted_fresh();
        if let Some(why) = self.disturbed.last().filter(|_| is_disturbed) {
            return Some(format!("{TOO_BUSY}: {runs} runs near the rate do not count ({why})"));
        }
        // The next rate may take as many.
        let is_spent = self.runs + MOST_UNKNOWN > MOST_RUNS;
        is_spent.then(|| format!("{GAVE_UP}: {} runs did not settle it", self.runs))
    }

    /// How many fresh runs count.
    fn counted_fresh(&self) -> usize {
        self.probes.iter().filter(|probe| probe.is_fresh && probe.headroom.is_some()).count()
    }

    /// A rate that two runs have met, at it or above it, and none that is known missed below: one
    /// may meet it by chance.
    fn at_least(&self) -> Option<f64> {
        let lowest_missed = self.rates(ProbeOutcome::Missed).fold(f64::INFINITY, f64::min);
        let met = self.rates(ProbeOutcome::Met).filter(|rate| *rate < lowest_missed);
        let mut met: Vec<f64> = met.collect();
        met.sort_by(|a, b| b.total_cmp(a));
        met.get(1).copied()
    }

    /// The rates of the runs that came out so.
    fn rates(&self, outcome: ProbeOutcome) -> impl Iterator<Item = f64> {
        let those = self.probes.iter().filter(move |probe| probe.outcome == outcome);
        those.map(|probe| probe.rate_tps)
    }

    /// The rate as it was read from runs on both of its sides.
    fn found(&self, found: RateEstimate) -> FoundRate {
        let above = self.rates(ProbeOutcome::Missed).filter(|rate| *rate > found.rate_tps);
        FoundRate {
            rate_tps: Some(found.rate_tps),
            low_tps: Some(found.low_tps),
            high_tps: Some(found.high_tps),
            above_tps: above.reduce(f64::min),
            confirmed: found.fresh_runs as u64,
            ..self.nothing()
        }
    }

    /// The runs near the rate differ too much.
    fn vague(&self, estimate: RateEstimate) -> FoundRate {
        let RateEstimate { low_tps, high_tps, fresh_runs, .. } = estimate;
        let runs = counted(fresh_runs as u64, "run");
        let why = format!(
            "{runs} near it leave it between {low_tps}/s and {high_tps}/s: give them more time \
             (--time)"
        );
        self.unknown(why)
    }

    /// Not even the lowest rate was seen to meet the limit.
    fn nowhere(&self, rate_tps: f64) -> FoundRate {
        match self.unjudged.iter().find(|unjudged| unjudged.rate_tps == rate_tps) {
            Some(unjudged) => self.uncounted(unjudged),
            None => self.missed_by_all(rate_tps),
        }
    }

    /// What it has come to where windows hold no transaction of a rate that low and no rate met the
    /// limit: lower ones tell nothing either.
    fn at_floor(&self) -> Option<FoundRate> {
        let lowest = self.unjudged.last()?;
        let is_met = self.rates(ProbeOutcome::Met).next().is_some();
        if is_met || lowest.reason.cause != UnknownCause::EmptyWindow {
            return None;
        }
        let missed = self.rates(ProbeOutcome::Missed).reduce(f64::min);
        let alone = missed.filter(|rate| *rate <= self.flat_out_tps * ALONE_SHARE);
        Some(alone.map_or_else(|| self.uncounted(lowest), |rate| self.missed_by_all(rate)))
    }

    /// Even this rate misses the limit.
    fn missed_by_all(&self, rate_tps: f64) -> FoundRate {
        FoundRate { above_tps: Some(rate_tps), ..self.nothing() }
    }

    /// Nothing lower than this rate is to be tried, and no run at it counts.
    fn uncounted(&self, UnjudgedRate { rate_tps, reason }: &UnjudgedRate) -> FoundRate {
        let (begin, why) = (reason.cause.begin(), &reason.text);
        self.unknown(format!("{begin}: none of {MOST_UNKNOWN} runs at {rate_tps}/s counts ({why})"))
    }

    fn unknown(&self, why: String) -> FoundRate {
        FoundRate { unknown: Some(why), at_least_tps: self.at_least(), ..self.nothing() }
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
            let (rate_tps, is_fresh) = match trials.next() {
                ControlFlow::Continue(next) => next,
                ControlFlow::Break(found) => return (found, trials.probes.len()),
            };
            let finding = judged(rate_tps);
            let runs = if let RateFinding::Unknown(_) = finding { MOST_UNKNOWN } else { 1 };
            trials.add(rate_tps, is_fresh, finding, runs);
        }
    }

    fn noisy() -> RateFinding {
        let text = "too busy".to_owned();
        RateFinding::Unknown(UnknownReason { text, cause: UnknownCause::BusyMachine })
    }

    fn empty() -> RateFinding {
        let text = "no transaction was due in the window".to_owned();
        RateFinding::Unknown(UnknownReason { text, cause: UnknownCause::EmptyWindow })
    }

    /// Of a queue that has no headroom left at 300/s.
    fn counted_run(rate: f64) -> RateFinding {
        RateFinding::Counted(1.0 - 4.0 * (rate / 300.0 - 1.0))
    }

    #[test]
    fn a_search_on_a_machine_where_no_run_counts_gives_up() {
        let (found, tried) = search(|_| noisy());
        assert_eq!((found.rate_tps, tried), (None, MOST_UNJUDGED));
        let why = found.unknown.expect("it is not known");
        assert!(why.starts_with("this machine was too busy to tell: none of 3 runs"), "{why}");
        assert!(why.ends_with("500/s (too busy), 250/s (too busy), 125/s (too busy)"), "{why}");
        assert_eq!(found.at_least_tps, None, "nothing was met");
        // Runs that fail tell nothing of the machine.
        let (found, _) = search(|_| RateFinding::Unknown(UnknownReason::not_made()));
        let why = found.unknown.expect("it is not known");
        assert!(why.starts_with("the search gave up: none of 3"), "{why}");
    }

    /// The windows end a search, and not the machine.
    #[test]
    fn a_search_whose_windows_are_empty_ends_by_what_higher_rates_missed() {
        let (found, _) =
            search(|rate| if rate > 20.0 { RateFinding::Counted(0.4) } else { empty() });
        assert_eq!((found.above_tps, found.unknown), (Some(31.3), None), "a 32nd missed it");
        let (found, tried) =
            search(|rate| if rate > 200.0 { RateFinding::Counted(0.4) } else { empty() });
        let why = found.unknown.expect("lower rates may meet it");
        let told = "its runs need more time (--time): none of 3 runs at 125/s counts (no \
                    transaction was due in the window)";
        assert_eq!((why.as_str(), found.above_tps, tried), (told, None, 3));
    }

    #[test]
    fn a_rate_is_found_with_its_interval_though_one_was_not_judged() {
        let (found, _) = search(|rate| if rate == 500.0 { noisy() } else { counted_run(rate) });
        assert_eq!(found.rate_tps, Some(300.0), "{found:?}");
        let (low, high) = found.low_tps.zip(found.high_tps).expect("an interval");
        assert!(low <= 300.0 && 300.0 <= high, "{found:?}");
        assert!(found.above_tps.is_some_and(|above| above > 300.0), "{found:?}");
        assert_eq!((found.confirmed, found.at_least_tps), (8, None));
    }

    #[test]
    fn a_busy_machine_leaves_what_two_runs_have_met() {
        let met = |rate: f64| RateFinding::Disturbed { met: rate <= 300.0, why: "busy".to_owned() };
        let (found, tried) = search(|rate| if rate > 300.0 { noisy() } else { met(rate) });
        assert_eq!((found.rate_tps, found.at_least_tps), (None, Some(298.0)), "{found:?}");
        assert!(found.unknown.is_some_and(|why| why.starts_with(TOO_BUSY)) && tried <= 10);
        // Runs that meet or miss it whatever disturbed them confirm nothing.
        let (found, _) = search(met);
        assert_eq!((found.rate_tps, found.confirmed), (None, 0), "{found:?}");
        let why = found.unknown.expect("it is not known");
        assert!(why.ends_with("6 runs near the rate do not count (busy)"), "{why}");
        assert!(found.at_least_tps.is_some_and(|rate| (250.0..=300.0).contains(&rate)));
    }

    #[test]
    fn a_machine_that_is_busy_now_and_then_does_not_end_a_search() {
        let mut trials = RateTrials::new("p90<=1ms", 1000.0);
        let busy = || RateFinding::Disturbed { met: true, why: "busy".to_owned() };
        for _ in 0..MOST_DISTURBED {
            trials.add(300.0, true, busy(), 1);
            trials.add(300.0, true, RateFinding::Counted(1.0), 1);
        }
        assert_eq!(trials.gives_up(), None);
        trials.add(300.0, true, busy(), 1);
        let why = trials.gives_up().expect("more were disturbed than count");
        assert!(why.starts_with("this machine was too busy to tell: 7 runs near"), "{why}");
    }

    #[test]
    fn a_rate_is_judged_by_the_first_run_that_is_known() {
        let mut search = RateSearch::new("p90<=1ms", 1000.0);
        let rate = |search: &RateSearch<'_>| search.next().continue_value();
        search.take(Some(noisy()));
        search.take(None);
        assert_eq!(rate(&search), Some(500.0), "none counts yet");
        search.take(Some(RateFinding::Counted(0.5)));
        assert_eq!(rate(&search), Some(250.0));
        assert_eq!((search.trials.runs, search.tries), (3, 0));
        for _ in 0..MOST_UNKNOWN {
            search.take(None);
        }
        let reason = &search.trials.unjudged[0].reason;
        assert_eq!(reason.text, "it was not made", "of runs at this rate");
        assert_eq!(rate(&search), Some(125.0));
    }

    #[test]
    fn runs_are_bounded_that_settle_nothing() {
        let mut trials = RateTrials::new("p90<=1ms", 1000.0);
        for _ in 0..2 {
            trials.add(500.0, false, RateFinding::Counted(2.0), MOST_RUNS / 2);
        }
        let ControlFlow::Break(found) = trials.next() else { panic!("it would go on") };
        assert_eq!(found.at_least_tps, Some(500.0), "two have met it");
        let why = found.unknown.expect("it is not known");
        assert!(why.ends_with("100 runs did not settle it"), "{why}");
        // What met it and missed it later did not meet it.
        trials.add(500.0, true, RateFinding::Counted(0.5), 1);
        let ControlFlow::Break(found) = trials.next() else { panic!("it would go on") };
        assert_eq!(found.at_least_tps, None);
    }

    #[test]
    fn runs_that_differ_too_much_ask_for_more_time() {
        let trials = RateTrials::new("p90<=1ms", 1000.0);
        let (rate_tps, low_tps, high_tps) = (500.0, 400.0, 600.0);
        let found = trials.vague(RateEstimate { rate_tps, low_tps, high_tps, fresh_runs: 24 });
        let why = "24 runs near it leave it between 400/s and 600/s: give them more time (--time)";
        assert_eq!((found.rate_tps, found.unknown.as_deref()), (None, Some(why)));
    }
}
