//! What was required and what was measured: the limits of workload and command line, and two
//! checks that every mix and every think time gets (Faban's deviation checks).

use crate::judge::{NoiseBound, StandstillBound};
use dbtime_load::workload::Operation;
use dbtime_model::record::{
    Check, CheckDoubt, CheckMetric, CheckOrigin, CheckUnit, CountsInfo, OperationSummary,
    ThinkSummary,
};
use dbtime_model::recorder::{Latencies, OperationRecorder};
use dbtime_model::spec::{LimitMetric, WorkloadLimit};
use dbtime_model::units::{count_sum, percentile_share};
use dbtime_model::{Histogram, Nanos};

/// How far an operation's share may be off its weight, in percent points, unless the workload says
/// otherwise (Faban's default).
const MAX_MIX_DEVIATION_PCT: f64 = 2.0;

/// How far the mean think time may be off what was asked for, in percent (Faban's default).
const MAX_THINK_DEVIATION_PCT: f64 = 2.0;

/// Fewer transactions than this say nothing about a mix or a mean.
const MIN_TRANSACTIONS: u64 = 1000;

/// The whole of a run, of which its operations are parts.
pub(crate) struct RunTotals<'a> {
    pub(crate) latencies: &'a Latencies<u64>,
    pub(crate) counts: &'a CountsInfo,
    /// Transactions that were completed within the window.
    pub(crate) completed_within: u64,
    /// The length of the window.
    pub(crate) window_s: f64,
    /// What the machine did beside it.
    pub(crate) noise: NoiseBound,
    /// The most that the driver's standstills can have held up.
    pub(crate) standstills: StandstillBound,
    /// Errors, of all operations, of which a wait can have been the reason.
    pub(crate) errors_of_waits: u64,
    /// What there would have been more of; `None` where the run went on to its end.
    pub(crate) rest: Option<RunRest>,
    /// How much of what was asked for was there to be served.
    pub(crate) demand: CheckedDemand,
}

/// What of a load bounds what can be said of it, on whatever machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckedDemand {
    /// Whether transactions were due at instants of their own, each of a given operation.
    pub(crate) is_open: bool,
    /// The largest throughput that was asked for; `None`: no bound is known. Unit: transactions per
    /// second.
    pub(crate) most_tps: Option<f64>,
    /// How many clients waited for one answer in all of the window, or had no connection.
    pub(crate) unserved: u64,
    /// How many transactions more there would have been, had those that never ended taken no longer
    /// than the others: in a closed loop they kept their clients from them.
    pub(crate) kept_back: u64,
}

/// How many transactions clients would have added to so many in the share of their time that they
/// waited in vain.
pub(crate) fn kept_back(transactions: u64, share: f64) -> u64 {
    // Where none ended there is no number to go by, and where all waited no bound.
    let share = share.clamp(0.0, 1.0);
    (transactions as f64 * share / (1.0 - share)).ceil() as u64
}

/// The largest throughput of so many clients, each of which pauses for so long at least between two
/// transactions, over such a window; `None`: they need not pause.
pub(crate) fn most_with_pauses(clients: u32, pause: Nanos, window: Nanos) -> Option<f64> {
    (pause > Nanos::ZERO).then(|| {
        let each = 1.0 + window.as_secs() / pause.as_secs();
        f64::from(clients) * each / window.as_secs()
    })
}

/// What a run that was ended early has not measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunRest {
    /// How many transactions the whole run would have offered; `None`: nobody knows.
    pub(crate) planned: Option<f64>,
}

impl RunRest {
    /// How many of the whole run's transactions may miss a limit that a share of them may miss.
    fn allowed(self, share: f64) -> f64 {
        self.planned.map_or(f64::INFINITY, |planned| share * planned)
    }
}

/// Every check of one operation of a run.
pub(crate) fn of_operation(
    operation: &Operation,
    extra: &[WorkloadLimit],
    recorded: &OperationRecorder<u64>,
    summary: &OperationSummary,
    run: &RunTotals<'_>,
) -> Vec<Check> {
    let extra = extra.iter().filter(|limit| !is_of_run(limit));
    let limits = by_origin(&operation.limits, extra);
    let seen = LimitInputs {
        run,
        latencies: &recorded.latencies,
        counts: &recorded.counts,
        share: summary.share,
        throughput_tps: recorded.completed_within as f64 / run.window_s.max(1e-9),
    };
    let mut checks: Vec<Check> = limits.map(|(origin, limit)| seen.check(origin, limit)).collect();
    let has_share = operation.limits.iter().any(|limit| limit.metric == LimitMetric::Share);
    if !has_share && summary.share_expected < 1.0 && run.counts.offered >= MIN_TRANSACTIONS {
        checks.push(of_mix(summary, run.rest));
    }
    let think = summary.think.filter(|think| think.count >= MIN_TRANSACTIONS);
    checks.extend(think.map(|think| of_think(&think)));
    checks
}

/// The share that the weight asks for, kept within Faban's deviation.
fn of_mix(summary: &OperationSummary, rest: Option<RunRest>) -> Check {
    let (expected, measured) = (100.0 * summary.share_expected, 100.0 * summary.share);
    let passed = (measured - expected).abs() <= MAX_MIX_DEVIATION_PCT;
    let doubt = rest.filter(|_| !passed).map(|_| CheckDoubt::EndedEarly);
    Check {
        metric: CheckMetric::Share,
        text: format!("{expected:.1} % ± {MAX_MIX_DEVIATION_PCT}"),
        unit: CheckUnit::Percent,
        origin: CheckOrigin::Dbtime,
        required: expected,
        measured,
        passed,
        undecided: doubt.is_some(),
        doubt,
        ..Check::default()
    }
}

/// The mean think time, kept within Faban's deviation. A pause ends when the driver wakes its
/// client: one without lag is as long as it was to be.
fn of_think(think: &ThinkSummary) -> Check {
    let deviation = 100.0 * (think.taken_us / think.requested_us.max(1e-9) - 1.0);
    let passed = deviation.abs() <= MAX_THINK_DEVIATION_PCT;
    let requested_ms = think.requested_us / 1e3;
    Check {
        metric: CheckMetric::Think,
        text: format!("mean within ± {MAX_THINK_DEVIATION_PCT} % of {requested_ms:.3} ms"),
        unit: CheckUnit::Percent,
        origin: CheckOrigin::Dbtime,
        required: MAX_THINK_DEVIATION_PCT,
        measured: deviation,
        without_lag: Some(0.0),
        passed,
        undecided: !passed,
        doubt: (!passed).then_some(CheckDoubt::Lateness),
    }
}

/// The checks of the whole run: the workload's own, and what the command line requires of no single
/// operation.
pub(crate) fn of_run(
    limits: &[WorkloadLimit],
    extra: &[WorkloadLimit],
    run: &RunTotals<'_>,
) -> Vec<Check> {
    let seen = LimitInputs {
        run,
        latencies: run.latencies,
        counts: run.counts,
        share: 1.0,
        throughput_tps: run.completed_within as f64 / run.window_s.max(1e-9),
    };
    let extra = extra.iter().filter(|limit| is_of_run(limit));
    by_origin(limits, extra).map(|(origin, limit)| seen.check(origin, limit)).collect()
}

/// The workload's own limits and those of the command line.
fn by_origin<'a>(
    own: &'a [WorkloadLimit],
    extra: impl Iterator<Item = &'a WorkloadLimit>,
) -> impl Iterator<Item = (CheckOrigin, &'a WorkloadLimit)> {
    let own = own.iter().map(|limit| (CheckOrigin::Workload, limit));
    own.chain(extra.map(|limit| (CheckOrigin::Given, limit)))
}

/// A throughput is required of the run; everything else holds for each operation.
fn is_of_run(limit: &WorkloadLimit) -> bool {
    limit.metric == LimitMetric::Throughput
}

/// What limits are held against.
struct LimitInputs<'a> {
    run: &'a RunTotals<'a>,
    latencies: &'a Latencies<u64>,
    counts: &'a CountsInfo,
    share: f64,
    throughput_tps: f64,
}

impl LimitInputs<'_> {
    fn check(&self, origin: CheckOrigin, limit: &WorkloadLimit) -> Check {
        let counts = self.counts;
        let (response, without_lag) = (&self.latencies.response, &self.latencies.without_lag);
        // Lag only lengthens a response, and keeps a closed loop from asking again.
        let speed_up = response.mean_ns() / without_lag.mean_ns().max(1.0);
        let (measured, best) = match limit.metric {
            LimitMetric::Percentile(p) => {
                let at = |h: &Histogram| h.quantile(percentile_share(p)).0 as f64;
                (at(response), Some(at(without_lag)))
            }
            LimitMetric::Mean => (response.mean_ns(), Some(without_lag.mean_ns())),
            LimitMetric::Max => (response.max().0 as f64, Some(without_lag.max().0 as f64)),
            LimitMetric::Share => (self.share, None),
            LimitMetric::Errors => (self.of_offered(counts.failed), None),
            LimitMetric::Throughput => {
                (self.throughput_tps, Some(self.of_demand(self.throughput_tps * speed_up)))
            }
        };
        // Nothing measured is no proof that a response time holds.
        let shown = counts.completed > 0
            || matches!(limit.metric, LimitMetric::Share | LimitMetric::Throughput);
        let (unit, scale) = match limit.metric {
            LimitMetric::Percentile(_) | LimitMetric::Mean | LimitMetric::Max => {
                (CheckUnit::Us, 1e-3)
            }
            LimitMetric::Share | LimitMetric::Errors => (CheckUnit::Percent, 100.0),
            LimitMetric::Throughput => (CheckUnit::PerSecond, 1.0),
        };
        let holds = shown && limit.passed(measured);
        let is_late = shown && best.is_some_and(|best| limit.passed(best));
        let doubt = match (holds, self.run.rest) {
            (true, Some(_)) => Some(CheckDoubt::EndedEarly),
            (true, None) => self.doubt_of_all(limit),
            (false, _) if is_late => Some(CheckDoubt::Lateness),
            (false, _) if shown && self.noise_may_miss(limit) => Some(CheckDoubt::Noise),
            (false, Some(rest)) if self.may_be_mended(limit, rest) => Some(CheckDoubt::EndedEarly),
            (false, _) => None,
        };
        Check {
            metric: limit.metric.to_string().into(),
            text: limit.required_text(),
            unit,
            origin,
            required: limit.required * scale,
            measured: measured * scale,
            without_lag: best.map(|best| best * scale),
            passed: holds && doubt.is_none(),
            undecided: doubt.is_some(),
            doubt,
        }
    }

    /// Why a limit that is met may be met for some alone: for those that were served, or for what
    /// ended.
    fn doubt_of_all(&self, limit: &WorkloadLimit) -> Option<CheckDoubt> {
        let is_of_all = matches!(limit.metric, LimitMetric::Share | LimitMetric::Throughput);
        if is_of_all {
            None
        } else if self.run.demand.unserved > 0 {
            Some(CheckDoubt::Unserved)
        } else {
            self.unfinished_may_miss(limit).then_some(CheckDoubt::Unfinished)
        }
    }

    /// Whether a limit on responses or errors that is met can be missed by what never ended,
    /// however long that takes, and by what it kept back, however that would have ended.
    fn unfinished_may_miss(&self, limit: &WorkloadLimit) -> bool {
        let Latencies { response, unfinished, .. } = self.latencies;
        let (open, kept_back) = (unfinished.count(), self.run.demand.kept_back);
        if open == 0 && kept_back == 0 {
            return false;
        }
        match limit.metric {
            LimitMetric::Percentile(p) => {
                let required = Nanos(limit.required as u64);
                // What is too long already is among the responses. An age is known to a hundredth.
                let surely = required + Nanos(required.0 / 100);
                let may_be_longer = open.saturating_sub(unfinished.count_above(surely));
                let others = response.count_above(required);
                let longer = count_sum([others, may_be_longer, kept_back]);
                let n = response.count().saturating_add(kept_back);
                let rank = (percentile_share(p) * n as f64).ceil() as u64;
                longer > n.saturating_sub(rank)
            }
            LimitMetric::Errors => {
                let failed = count_sum([self.counts.failed, open, kept_back]);
                let offered = self.counts.offered.saturating_add(kept_back);
                !limit.passed(failed as f64 / offered.max(1) as f64)
            }
            _ => true,
        }
    }

    /// This throughput, or as much of it as was asked for.
    fn of_demand(&self, tps: f64) -> f64 {
        self.run.demand.most_tps.map_or(tps, |most_tps| tps.min(most_tps))
    }

    fn of_offered(&self, count: u64) -> f64 {
        count as f64 / self.counts.offered.max(1) as f64
    }

    /// Whether a limit that was missed could have been met without what went on beside the run and
    /// the driver's standstills: they would have had to add as much to responses, and no more can
    /// they have added than their bounds.
    fn noise_may_miss(&self, limit: &WorkloadLimit) -> bool {
        let NoiseBound { response_s, idle_s, least_left } = self.run.noise;
        let held_up = self.run.standstills.transactions;
        let without_lag = &self.latencies.without_lag;
        let required = Nanos(limit.required as u64);
        let n = without_lag.count();
        // What not even the fastest can have met alone nobody would have.
        let fastest_ns = least_left * without_lag.quantile(0.0).0 as f64;
        let is_disturbed = response_s > 0.0 || held_up > 0;
        let may_meet = is_disturbed && limit.required >= fastest_ns;
        match limit.metric {
            LimitMetric::Percentile(p) => {
                let rank = (percentile_share(p) * n as f64).ceil() as u64;
                may_meet && self.may_be_within(required, n.saturating_sub(rank))
            }
            LimitMetric::Mean => {
                let total_ns = without_lag.mean_ns() * n as f64;
                let held_ns = held_up.min(n) as f64 * self.run.standstills.each.0 as f64;
                may_meet && total_ns - limit.required * n as f64 <= 1e9 * response_s + held_ns
            }
            LimitMetric::Max => may_meet && self.may_be_within(required, 0),
            // What is taken off the time of all clients is left for more transactions.
            LimitMetric::Throughput => {
                let total_s = self.latencies.response.mean_ns() * n as f64 / 1e9;
                let most =
                    self.throughput_tps * total_s / (total_s - idle_s).max(f64::MIN_POSITIVE);
                idle_s > 0.0 && limit.passed(self.of_demand(most))
            }
            // A wait may have become a time limit's failure, but no constraint's.
            LimitMetric::Errors => {
                let of_waits = if response_s > 0.0 { u64::MAX } else { held_up };
                let excused = self.run.errors_of_waits.min(of_waits);
                let others = self.counts.failed.saturating_sub(excused);
                is_disturbed && limit.passed(self.of_offered(others))
            }
            // It may have kept one operation from its turn, where that is no instant.
            LimitMetric::Share => response_s > 0.0 && !self.run.demand.is_open,
        }
    }

    /// Whether all but so many can have been no longer than this: those that standstills held up
    /// are taken for the longest, and none of these is shorter by more than all standstills.
    fn may_be_within(&self, required: Nanos, allowed: u64) -> bool {
        let StandstillBound { transactions, each } = self.run.standstills;
        let without_lag = &self.latencies.without_lag;
        let of_others = without_lag.excess_ns(required, allowed.saturating_add(transactions));
        let of_all = without_lag.excess_ns(required + each, allowed);
        of_others.max(of_all) <= 1e9 * self.run.noise.response_s
    }

    /// Whether the rest of a run could have changed that a limit is missed: what is longer than
    /// allowed stays so, and what has failed has failed.
    fn may_be_mended(&self, limit: &WorkloadLimit, rest: RunRest) -> bool {
        let without_lag = &self.latencies.without_lag;
        let above = || without_lag.count_above(Nanos(limit.required as u64)) as f64;
        match limit.metric {
            LimitMetric::Percentile(p) => above() <= rest.allowed(1.0 - percentile_share(p)),
            LimitMetric::Mean => {
                let total_ns = without_lag.mean_ns() * without_lag.count() as f64;
                total_ns <= rest.allowed(limit.required)
            }
            LimitMetric::Max => above() == 0.0,
            // Where none may fail the number of transactions says nothing.
            LimitMetric::Errors if limit.required == 0.0 => self.counts.failed == 0,
            LimitMetric::Errors => self.counts.failed as f64 <= rest.allowed(limit.required),
            LimitMetric::Throughput => limit.passed(self.of_demand(f64::INFINITY)),
            LimitMetric::Share => true,
        }
    }
}

#[cfg(test)]
mod tests;
