//! Which flaws of a run can have changed which of its metrics.
//!
//! A run is in no verdict on a metric that a flaw can have changed by more than a bound, whatever
//! its side, and in the verdicts on all other metrics:
//!
//! | flaw | throughput | response | its parts | the rest |
//! |---|---|---|---|---|
//! | ended early, counts, failures, clients without an answer | any | any | any | any |
//! | responses that are missing by Little's law | – | any | any | – |
//! | a driver that was busy all the time | any | any | – | – |
//! | a driver that was late | a tenth of the clients' time | a tenth of it | – | – |
//! | a driver that stood still | a twentieth of it | by its lag | – | – |
//! | parts that do not add up | – | – | – | – |
//!
//! `any` is however little, `–` however much; both bounds of lag have a floor. What others had of
//! the machine is no affair of a single metric: the gate of a study decides on that.

use super::{
    ArrivalProcess, BudgetUs, LagEffect, LoadMode, PrimaryMetric, RunRecord, Warning, WarningKind,
};

/// The largest share of the throughput that may be missing because the driver stood still or was
/// late.
pub const MAX_STANDSTILL_LOSS: f64 = 0.05;

/// Connections that are at work for this share of the time carry all that their target takes.
const BUSY_SHARE: f64 = 0.9;

/// The warnings that make a run invalid and speak against some metrics alone; all others speak
/// against every one.
const OF_SOME_METRICS: [WarningKind; 5] = [
    WarningKind::ClientLimited,
    WarningKind::BudgetError,
    WarningKind::BudgetMeanWrong,
    WarningKind::LittleWrong,
    WarningKind::StandstillWrong,
];

/// What a metric is of, as far as flaws go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MetricKind {
    /// How many transactions were completed.
    Throughput,
    /// How long they took, with the driver's lateness.
    Response,
    /// Parts of that, which lateness does not lengthen.
    ResponsePart,
    /// What a transaction cost, and what the server holds.
    Cost,
}

impl MetricKind {
    fn of(metric: PrimaryMetric) -> Self {
        match metric.key().as_str() {
            "throughput" => Self::Throughput,
            "mean" | "max" => Self::Response,
            "service-mean" | "service-p99" | "queue-mean" | "lag-mean" => Self::ResponsePart,
            _ if metric.percentile().is_some() => Self::Response,
            _ => Self::Cost,
        }
    }
}

impl RunRecord {
    /// Why the run is in no verdict on this metric; `None`: it is.
    pub fn discount_for(&self, metric: PrimaryMetric) -> Option<String> {
        self.discount_for_all().or_else(|| {
            let flaw = match MetricKind::of(metric) {
                MetricKind::Throughput => self.throughput_flaw(),
                MetricKind::Response => self.response_flaw(metric),
                MetricKind::ResponsePart => self.warned(WarningKind::LittleWrong),
                MetricKind::Cost => None,
            };
            Some(format!("not counted for {}: {}", metric.key(), flaw?))
        })
    }

    /// The share of the throughput that is missing at most because the driver stood still, from
    /// zero to one. Of a schedule no more is missing than was not completed of it; what was due
    /// meanwhile was late.
    pub fn standstill_loss(&self) -> f64 {
        match self.is_scheduled() {
            true => self.standstill_share().min(self.missing_share()),
            false => self.standstill_share(),
        }
    }

    /// The mean of the parts; `None` too where a warning says that they are wrong.
    pub fn trusted_budget(&self) -> Option<&BudgetUs> {
        let is_wrong = |warning: &Warning| {
            matches!(warning.kind, WarningKind::BudgetError | WarningKind::BudgetMeanWrong)
        };
        self.budget_us.as_ref().filter(|_| !self.validity.warnings.iter().any(is_wrong))
    }

    /// What speaks against every metric, and what a record does not explain.
    pub fn discount_for_all(&self) -> Option<String> {
        let of_all = |warning: &&Warning| {
            warning.kind.invalidates() && !OF_SOME_METRICS.contains(&warning.kind)
        };
        let unexplained = || self.validity.reason().filter(|_| self.validity.culprit().is_none());
        let found = self.validity.warnings.iter().find(of_all).map(|warning| warning.text.clone());
        self.early_end().or(found).or_else(unexplained)
    }

    fn throughput_flaw(&self) -> Option<String> {
        let pace = self.pace_flaw().or_else(|| self.warned(WarningKind::StandstillWrong));
        pace.or_else(|| self.standstill_flaw()).or_else(|| match self.load.mode {
            LoadMode::Open => self.missing_flaw(),
            _ => self.cycle_flaw(),
        })
    }

    fn standstill_flaw(&self) -> Option<String> {
        let loss = self.standstill_loss();
        if loss <= MAX_STANDSTILL_LOSS {
            return None;
        }
        let pct = 100.0 * loss;
        Some(format!("the driver stood still, and up to {pct:.0} % of it is missing"))
    }

    /// A schedule is carried however late: what is missing may be missing for that.
    fn missing_flaw(&self) -> Option<String> {
        let missing = self.missing_share().min(self.lateness_loss());
        let is_late = self.late_percentile().is_some() && self.is_scheduled();
        if !is_late || missing <= MAX_STANDSTILL_LOSS {
            return None;
        }
        let pct = 100.0 * missing;
        Some(format!("the driver was late, and up to {pct:.0} % of it is missing"))
    }

    /// The share of a schedule that may be missing because the driver was late. Where all
    /// connections were at work, that is the time for which they waited for it; the target is too
    /// slow for the rest.
    fn lateness_loss(&self) -> f64 {
        let set = &self.latency_us;
        let taken_us = set.service.mean + set.lag.mean;
        let at_work = self.throughput_tps * taken_us / 1e6;
        let connections = self.load.workers.unwrap_or(self.load.connections);
        if connections == 0 || at_work < BUSY_SHARE * f64::from(connections) {
            return 1.0;
        }
        set.lag.mean / taken_us.max(f64::MIN_POSITIVE) + self.standstill_share()
    }

    /// Without its lag a client begins its next transaction so much sooner, and no sooner.
    fn cycle_flaw(&self) -> Option<String> {
        let mean = self.lag_in_mean();
        let cycle_us = mean.response_us + self.load.think_us.unwrap_or(0.0);
        if !mean.is_large_in(cycle_us) {
            return None;
        }
        let pct = 100.0 * mean.share_of(cycle_us);
        Some(format!("the driver's lag makes up to {pct:.0} % of its clients' time"))
    }

    fn response_flaw(&self, metric: PrimaryMetric) -> Option<String> {
        let missing = self.warned(WarningKind::LittleWrong);
        missing.or_else(|| self.pace_flaw()).or_else(|| self.lag_flaw(metric))
    }

    fn lag_flaw(&self, metric: PrimaryMetric) -> Option<String> {
        let effect = self.lag_in(metric);
        if !effect.is_large() {
            return None;
        }
        Some(format!("the driver's lag makes up to {:.0} % of it", 100.0 * effect.share()))
    }

    /// What the driver's lag makes of a metric of the responses, with the answers that may have
    /// waited in its standstills.
    fn lag_in(&self, metric: PrimaryMetric) -> LagEffect {
        match metric.percentile() {
            Some(percentile) => self.lag_in_percentile(percentile),
            None if metric.key() == "max" => self.lag_in_percentile(100.0),
            None => {
                let effect = self.lag_in_mean();
                let waits_us = self.client.standstill_waits_s.unwrap_or(0.0) * 1e6;
                let each_us = waits_us / self.counts.ended().max(1) as f64;
                LagEffect { without_us: effect.without_us - each_us, ..effect }
            }
        }
    }

    /// The driver's own pace, for which no figure says how much of a metric it is. Of lateness,
    /// which is warned of first, each figure has its share.
    fn pace_flaw(&self) -> Option<String> {
        let lateness = usize::from(self.late_percentile().is_some());
        let limited = |warning: &&Warning| warning.kind == WarningKind::ClientLimited;
        let pace = self.validity.warnings.iter().filter(limited).nth(lateness);
        pace.map(|warning| warning.text.clone())
    }

    fn warned(&self, kind: WarningKind) -> Option<String> {
        let found = self.validity.warnings.iter().find(|warning| warning.kind == kind);
        found.map(|warning| warning.text.clone())
    }

    /// Whether transactions were due at instants of their own.
    fn is_scheduled(&self) -> bool {
        self.load.mode == LoadMode::Open && self.load.arrivals != ArrivalProcess::AtOnce
    }

    /// Which share of a schedule was not completed in the window, from 0 to 1.
    fn missing_share(&self) -> f64 {
        let carried = self.throughput_tps * self.window.measure_s;
        (1.0 - carried / (self.counts.offered as f64).max(1.0)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests;
