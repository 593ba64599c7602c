//! The highest rate that meets a limit: which rate to try next, as a pure function of what was
//! tried.
//!
//! A rate that meets the limit and one that misses it are bracketed, and the bracket is halved
//! until its ends are near each other. Close to the limit no single run decides: the mean of a
//! queue at 90 % of its capacity differs by a third between windows of ten seconds. So fresh runs
//! follow below and above, and the rate is where a line through the runs near it reaches the limit.
//! The line goes through the headroom, the limit over what was measured: of a queue with random
//! arrivals its reciprocal response falls in a straight line to zero at the capacity, and differs
//! between runs by as much anywhere on that line.

#[cfg(test)]
mod queue;
#[cfg(test)]
mod tests;

use dbtime_stats::line_crossing;

/// The ends of a bracket that is narrow enough: fresh runs correct what single runs made of it.
const NARROW: f64 = 1.25;

/// How far below the first rate is looked: where even this misses the limit, a single transaction
/// does, or nearly so. And how far above.
const LOWEST: f64 = 1.0 / 64.0;
const HIGHEST: f64 = 1000.0;

/// By which factor the first rate is left as long as nothing meets the limit, or nothing misses it.
const DOWN: f64 = 0.5;
const UP: f64 = 1.5;

/// Fresh runs, half of them below the rate and half above: at least, and at most.
const FEWEST_FRESH: usize = 8;
const MOST_FRESH: usize = 24;

/// Half of an interval that is narrow enough to end by, and of one that is none any more. Unit: the
/// rate.
const CLOSE: f64 = 0.03;
const VAGUE: f64 = 0.1;

/// More headroom than this tells no more about where there is none: lines are for near the limit.
const MOST_HEADROOM: f64 = 2.0;

/// As much as a line falls at least over a doubled rate: where responses do not depend on the rate,
/// the next runs are not far from these.
const LEAST_FALL: f64 = 0.3;

/// How far from their middle runs are near, and how far from it the line is followed at once. Unit:
/// the rate.
const NEAR: f64 = 0.25;
const FARTHEST: f64 = 0.1;

/// How often the middle follows the line.
const MOVES: usize = 8;

/// The headroom between the runs on both sides, halved, and how far that may take them from the
/// middle.
const APART_HEADROOM: f64 = 0.35;
const LEAST_APART: f64 = 0.02;
const MOST_APART: f64 = 0.08;

/// Runs up to so many times as far as the next ones are on the line in the end, and those that are
/// no farther than this.
const KEPT_APART: f64 = 2.5;
const KEPT_NEAR: f64 = 0.06;

/// As many runs as there are on each side of what is between them.
const FEWEST_ON_A_SIDE: usize = 2;

/// What a run has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// The rate was carried, and all limits were met.
    Met,
    /// It was not, or one was missed.
    Missed,
    /// Not known.
    Unjudged,
}

/// One run of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateProbe {
    /// The rate. Unit: transactions per second.
    pub rate_tps: f64,
    /// What it has come to.
    pub outcome: ProbeOutcome,
    /// The limit over what was measured, of several limits the least: 1 at the limit, more where it
    /// is met, less where it is missed or the rate was not carried. `None`: the run does not count.
    pub headroom: Option<f64>,
    /// Whether it is one of the fresh runs, behind those of the bracket.
    pub is_fresh: bool,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateStep {
    /// A run at this rate. Unit: transactions per second.
    Probe(f64),
    /// A fresh run at this rate.
    Confirm(f64),
    /// This rate meets the limit, and a higher one does not.
    Found(RateEstimate),
    /// Its runs differ by too much to tell.
    Vague(RateEstimate),
    /// Even this rate misses it.
    Nowhere(f64),
    /// Even this rate meets it.
    Everywhere(f64),
}

/// A rate as it is read from several runs. Unit: transactions per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateEstimate {
    /// The rate.
    pub rate_tps: f64,
    /// Where its 95 % interval begins.
    pub low_tps: f64,
    /// Where that ends.
    pub high_tps: f64,
    /// Fresh runs that count.
    pub fresh_runs: usize,
}

/// The next step, after these runs; the first is at `first_tps`.
pub fn next_rate(first_tps: f64, probes: &[RateProbe]) -> RateStep {
    let bracketing = || probes.iter().filter(|probe| !probe.is_fresh);
    let missed = bracketing().filter(|probe| probe.outcome != ProbeOutcome::Met);
    let above = missed.map(|probe| probe.rate_tps).fold(f64::INFINITY, f64::min);
    let met = bracketing().filter(|probe| probe.outcome == ProbeOutcome::Met);
    let met = met.map(|probe| probe.rate_tps).filter(|rate| *rate < above);
    let below = met.fold(0.0, f64::max);
    let middle = (below * above).sqrt();
    match (below > 0.0, above.is_finite()) {
        (false, false) => RateStep::Probe(readable(first_tps)),
        // Rounded rates may be a little above that.
        (false, true) if above <= first_tps * LOWEST / DOWN.sqrt() => RateStep::Nowhere(above),
        (false, true) => RateStep::Probe(readable(above * DOWN)),
        (true, false) if below >= first_tps * HIGHEST => RateStep::Everywhere(below),
        (true, false) => RateStep::Probe(readable(below * UP)),
        (true, true) if above / below > NARROW => RateStep::Probe(readable(middle)),
        (true, true) => around(middle, probes),
    }
}

/// A fresh run below or above where the rate seems to be, or what all of them have come to.
fn around(middle: f64, probes: &[RateProbe]) -> RateStep {
    let fresh = probes.iter().filter(|probe| probe.is_fresh && probe.headroom.is_some()).count();
    let fit = NearFit::of(middle, probes);
    let is_pair = fresh.is_multiple_of(2);
    if let Some(fit) = fit.filter(|_| is_pair && fresh >= FEWEST_FRESH) {
        let is_close = fit.is_between && fit.half_share <= CLOSE;
        let is_known = fit.is_between && fit.half_share <= VAGUE;
        match (is_close, fresh >= MOST_FRESH) {
            (true, _) => return RateStep::Found(fit.estimate(fresh)),
            (false, true) if is_known => return RateStep::Found(fit.estimate(fresh)),
            (false, true) => return RateStep::Vague(fit.estimate(fresh)),
            (false, false) => {}
        }
    }
    let (rate, apart) = fit.map_or((middle, MOST_APART), |fit| (fit.rate_tps, fit.apart));
    let side = if is_pair { 1.0 - apart } else { 1.0 + apart };
    RateStep::Confirm(readable(rate * side))
}

/// The line through the runs near a rate.
#[derive(Clone, Copy, Debug)]
struct NearFit {
    /// Where it reaches the limit.
    rate_tps: f64,
    /// Half of the interval of that. Unit: the rate.
    half_share: f64,
    /// How far below and above the next runs are. Unit: the rate.
    apart: f64,
    /// Whether runs on both sides have it between them.
    is_between: bool,
}

impl NearFit {
    /// The line near where it itself reaches the limit, beginning at `middle`; `None` with too few
    /// runs.
    fn of(middle: f64, probes: &[RateProbe]) -> Option<Self> {
        let counted = probes.iter().filter_map(|probe| {
            let headroom = probe.headroom.filter(|headroom| !headroom.is_nan())?;
            Some((probe.rate_tps, headroom.clamp(0.0, MOST_HEADROOM)))
        });
        let counted: Vec<(f64, f64)> = counted.collect();
        let mut fit = Self::at(middle, &counted, NEAR)?;
        for _ in 0..MOVES {
            fit = Self::at(fit.rate_tps, &counted, NEAR).unwrap_or(fit);
        }
        let kept = (KEPT_APART * fit.apart).max(KEPT_NEAR);
        fit = Self::at(fit.rate_tps, &counted, kept).unwrap_or(fit);
        // Where responses jump no line goes through them, and no run contradicts another.
        let (met, missed): (Vec<_>, Vec<_>) = counted.iter().partition(|(_, left)| *left >= 1.0);
        let highest_met = met.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
        let lowest_missed = missed.iter().map(|(rate, _)| *rate).fold(f64::INFINITY, f64::min);
        if highest_met < lowest_missed {
            fit.rate_tps = fit.rate_tps.clamp(highest_met, lowest_missed);
        }
        Some(fit)
    }

    /// The line through the runs that are no farther from a rate than this share of it.
    fn at(middle: f64, counted: &[(f64, f64)], farthest: f64) -> Option<Self> {
        let near = counted.iter().map(|(rate, headroom)| (rate / middle - 1.0, *headroom));
        let near: Vec<(f64, f64)> = near.filter(|(off, _)| off.abs() <= farthest).collect();
        let line = line_crossing(&near, 1.0, LEAST_FALL)?;
        let met = near.iter().filter(|(_, headroom)| *headroom >= 1.0).count();
        let has_both_sides = met.min(near.len() - met) >= FEWEST_ON_A_SIDE;
        // The mean of reciprocals is above the reciprocal of the mean: near 1 by the variance. A
        // large one is no matter of noise, but of responses that jump.
        let at = line.at - (line.variance / line.fall).min(CLOSE);
        let moved = at.clamp(-FARTHEST, FARTHEST);
        Some(Self {
            rate_tps: middle * (1.0 + moved),
            half_share: line.half_width / (1.0 + moved),
            apart: (APART_HEADROOM / line.fall).clamp(LEAST_APART, MOST_APART),
            is_between: has_both_sides && at.abs() <= FARTHEST,
        })
    }

    fn estimate(&self, fresh_runs: usize) -> RateEstimate {
        let at = |share: f64| readable(self.rate_tps * share.max(LOWEST));
        RateEstimate {
            rate_tps: at(1.0),
            low_tps: at(1.0 - self.half_share),
            high_tps: at(1.0 + self.half_share),
            fresh_runs,
        }
    }
}

/// A rate with three digits: it is to be written down.
fn readable(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.log10().floor() - 2.0);
    // Written as text and read again, it has no digits of the division.
    format!("{:.6}", (rate / unit).round() * unit).parse().unwrap_or(rate)
}
