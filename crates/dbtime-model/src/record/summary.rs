//! Latencies, operations and statements of a run, summarised for `run.json`.

use super::budget::{BudgetBucket, BudgetUs};
use super::values::CheckMetric;
use crate::histogram::Histogram;
use crate::recorder::Latencies;
use hdrhistogram::Counter;
use serde::{Deserialize, Serialize, Serializer};

/// A distribution. In microseconds; all zero when nothing was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyUs {
    /// The arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// Smallest.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

impl<C: Counter> From<&Histogram<C>> for LatencyUs {
    fn from(h: &Histogram<C>) -> Self {
        let at = |q| h.quantile(q).as_micros();
        Self {
            mean: h.mean_ns() / 1e3,
            stddev: h.stddev_ns() / 1e3,
            min: h.min().as_micros(),
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: h.max().as_micros(),
        }
    }
}

/// The distributions of a run or an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencySet {
    /// `done − due`.
    pub response: LatencyUs,
    /// `done − sent`, less waits of answers for the driver. Absent where no transaction ended.
    pub service: LatencyUs,
    /// `ready − due`. Likewise.
    pub queue: LatencyUs,
    /// The driver's lateness: `sent − ready`, and those waits. Likewise.
    pub lag: LatencyUs,
    /// `response − lag`.
    pub without_lag: LatencyUs,
    /// Time to connect to a server, over the whole run.
    pub connect: Option<LatencyUs>,
}

/// What is known of transactions none of which ended.
#[derive(Serialize)]
struct UnendedLatencies {
    response: LatencyUs,
    without_lag: LatencyUs,
    connect: Option<LatencyUs>,
}

impl LatencySet {
    /// Writes it without service, queue and lag where no transaction ended: one that did has a
    /// service above zero.
    pub(super) fn as_measured<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.service != LatencyUs::default() {
            return self.serialize(serializer);
        }
        let Self { response, without_lag, connect, .. } = *self;
        UnendedLatencies { response, without_lag, connect }.serialize(serializer)
    }
}

impl<C: Counter> From<&Latencies<C>> for LatencySet {
    fn from(l: &Latencies<C>) -> Self {
        Self {
            response: (&l.response).into(),
            service: (&l.service).into(),
            queue: (&l.queue).into(),
            lag: (&l.lag).into(),
            without_lag: (&l.without_lag).into(),
            connect: None,
        }
    }
}

/// A point of a distribution plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PercentilePoint {
    /// Up to 100, the maximum.
    pub percentile: f64,
    /// Response at or below which it lies.
    pub response_us: f64,
    /// Service time likewise.
    pub service_us: f64,
}

/// One power-of-two bucket of the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistogramBucket {
    /// Exclusive upper edge; the lower edge is half of it.
    pub below_us: f64,
    /// Responses.
    pub count: u64,
}

/// One operation of the workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationSummary {
    /// As in the workload or the script.
    pub name: String,
    /// Completed.
    pub count: u64,
    /// Failed.
    pub failed: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Of all offered transactions, from 0 to 1.
    pub share: f64,
    /// Of all weights.
    #[serde(alias = "share_wanted")]
    pub share_expected: f64,
    /// Its distributions.
    #[serde(serialize_with = "LatencySet::as_measured")]
    pub latency_us: LatencySet,
    /// Mean per sampled transaction.
    pub budget_us: Option<BudgetUs>,
    /// Σ |unexplained| / Σ response over the sampled ones.
    pub budget_error: Option<f64>,
    /// By power-of-two response bucket.
    pub budget_buckets: Vec<BudgetBucket>,
    /// Think time requested and taken.
    pub think: Option<ThinkSummary>,
    /// Requirements on it, and whether they held.
    pub limits: Vec<Check>,
}

/// Think time requested and taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThinkSummary {
    /// Pauses.
    pub count: u64,
    /// Mean set by the workload or `--think`.
    #[serde(alias = "wanted_us")]
    pub requested_us: f64,
    /// Mean taken.
    pub taken_us: f64,
}

/// The unit of a requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckUnit {
    /// Microseconds.
    #[default]
    Us,
    /// Percent.
    Percent,
    /// Per second.
    PerSecond,
}

/// One requirement and what was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    /// As in `p90`, `avg`, `share`.
    pub metric: CheckMetric,
    /// As written: `<= 5ms`, `20 % ± 2`.
    pub text: String,
    /// Of the two values.
    pub unit: CheckUnit,
    /// As required.
    pub required: f64,
    /// As measured.
    pub measured: f64,
    /// With a driver that is never late, where that makes a difference.
    pub without_lag: Option<f64>,
    /// Who required it.
    pub origin: CheckOrigin,
    /// Whether it held.
    pub passed: bool,
    /// Whether that is not known; then it has not `passed`.
    pub undecided: bool,
    /// Why it is undecided.
    pub doubt: Option<CheckDoubt>,
}

/// Why a requirement is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckDoubt {
    /// It would have held without the driver's lateness.
    Lateness,
    /// It would have held without the noise beside the run, or the driver's standstills, at their
    /// worst.
    Noise,
    /// The rest of the run could have changed it.
    EndedEarly,
    /// It held for those served; some clients were not in all of the window.
    Unserved,
    /// It held for what ended; some transactions of the window never did.
    Unfinished,
}

impl CheckDoubt {
    /// Whether what was measured meets the requirement, and more could have changed that.
    pub fn is_open(self) -> bool {
        matches!(self, Self::EndedEarly | Self::Unserved | Self::Unfinished)
    }
}

/// Who required something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOrigin {
    /// An old record, which does not say.
    #[default]
    Unknown,
    /// The workload.
    Workload,
    /// The command line.
    Given,
    /// No limit: the mix of operations, and the think times.
    Dbtime,
}

impl Check {
    /// Whether somebody has set it: it is a limit, and not a look at how the load came out.
    pub fn is_limit(&self) -> bool {
        match self.origin {
            CheckOrigin::Workload | CheckOrigin::Given => true,
            CheckOrigin::Dbtime => false,
            // These two were nearly always dbtime's own.
            CheckOrigin::Unknown => !matches!(self.metric, CheckMetric::Share | CheckMetric::Think),
        }
    }

    /// Whether it decides about a run: what dbtime itself looks at does so only where it is missed
    /// beyond doubt, for nobody has asked for it.
    pub fn decides(&self) -> bool {
        self.is_limit() || self.outcome() == CheckOutcome::Failed
    }

    /// How it came out.
    pub fn outcome(&self) -> CheckOutcome {
        match (self.passed, self.undecided) {
            (true, _) => CheckOutcome::Passed,
            (false, true) => CheckOutcome::Undecided,
            (false, false) => CheckOutcome::Failed,
        }
    }

    /// Whether what was measured does not meet it. What an early end leaves open, a client that was
    /// not served, or a transaction that never ended, may be met so far.
    pub fn is_missed(&self) -> bool {
        !self.passed && !self.reason().is_some_and(CheckDoubt::is_open)
    }

    /// Why it is undecided; `None`: it is not.
    pub fn reason(&self) -> Option<CheckDoubt> {
        let is_open = self.outcome() == CheckOutcome::Undecided;
        is_open.then(|| self.doubt.unwrap_or(CheckDoubt::Lateness))
    }
}

/// How a requirement came out; of several, the greatest is how all came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It was met, with whatever lateness of the driver is in it.
    Passed,
    /// Nobody knows ([`CheckDoubt`]).
    Undecided,
    /// It was missed, and would have been with a driver that is never late, on a machine that has
    /// nothing else to do, and in a run that goes on to its end.
    Failed,
}

/// One statement of the workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatementSummary {
    /// Its operation.
    pub operation: String,
    /// In the workload; of a script its text without literals, with `:name` for pgbench's
    /// variables, cut at 120 characters.
    pub name: String,
    /// Its text without literals and parameters (`?`), as `dbtime trace` shows it.
    pub fingerprint: String,
    /// Executions in the window, failed attempts included.
    pub count: u64,
    /// Rows returned or changed.
    pub rows: u64,
    /// Messages to the target and back, with those that prepared it; none for one that went out
    /// with another (`--pipeline`); on an embedded engine `count`.
    pub round_trips: u64,
    /// Time per execution.
    pub latency_us: LatencyUs,
    /// Mean per sampled execution.
    pub budget_us: Option<BudgetUs>,
    /// Σ |unexplained| / Σ time over the sampled ones.
    pub budget_error: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RunRecord;

    #[test]
    fn a_look_of_dbtimes_own_decides_only_where_it_is_missed_beyond_doubt() {
        let check = |origin, undecided| Check { origin, undecided, ..Check::default() };
        let outcome = |checks: &[Check]| {
            let record = RunRecord { limits: checks.to_vec(), ..RunRecord::default() };
            (record.limits_outcome(), record.doubt())
        };
        let late = check(CheckOrigin::Dbtime, true);
        assert_eq!(outcome(std::slice::from_ref(&late)), (None, None));
        let missed = check(CheckOrigin::Dbtime, false);
        assert_eq!(outcome(&[late.clone(), missed]), (Some(CheckOutcome::Failed), None));
        let met = Check { passed: true, ..check(CheckOrigin::Given, false) };
        assert_eq!(outcome(&[met, late]), (Some(CheckOutcome::Passed), None));
        let open = (Some(CheckOutcome::Undecided), Some(CheckDoubt::Lateness));
        assert_eq!(outcome(&[check(CheckOrigin::Given, true)]), open);
    }

    #[test]
    fn records_of_before_call_what_is_expected_and_requested_wanted() {
        let old = r#"{"share_wanted":0.25,"think":{"wanted_us":10.5,"taken_us":11.0}}"#;
        let operation: OperationSummary = serde_json::from_str(old).expect("an old record");
        assert!((operation.share_expected - 0.25).abs() < 1e-9);
        assert!((operation.think.expect("there").requested_us - 10.5).abs() < 1e-9);
        let new = serde_json::to_string(&operation).expect("plain data");
        assert!(!new.contains("wanted"), "{new}");
        assert_eq!(serde_json::from_str::<OperationSummary>(&new).expect("a record"), operation);
    }
}
