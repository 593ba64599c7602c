//! How much of a response is the driver's own lateness, as far as the figures of a run tell.
//!
//! Lag only lengthens a response: what it adds to a figure is known, for each transaction's is.

use super::{LatencyUs, RunRecord, SpanInfo};
use crate::Nanos;

/// Lag below this cannot matter to anybody: it is what a good machine's timer does.
const LAG_FLOOR: Nanos = Nanos::from_micros(50);

/// The largest share of a figure that may be the driver's lateness.
pub const MAX_LAG_SHARE: f64 = 0.10;

/// A 99th percentile of fewer is the maximum, or nearly so.
const MIN_SAMPLES_FOR_P99: u64 = 300;

/// A figure of the responses, and what it would be without the driver's lag. Unit: microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LagEffect {
    /// As measured.
    pub response_us: f64,
    /// Without the lag of each transaction, at least.
    pub without_us: f64,
}

impl LagEffect {
    /// Which share of the figure is lateness, at most 1.
    pub fn share(self) -> f64 {
        self.share_of(self.response_us)
    }

    /// Whether so much of the figure is lateness that it is another without.
    pub fn is_large(self) -> bool {
        self.is_large_in(self.response_us)
    }

    /// Which share of so long a time is lateness.
    pub(super) fn share_of(self, time_us: f64) -> f64 {
        (self.lag_us() / time_us.max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// Whether so much of so long a time is.
    pub(super) fn is_large_in(self, time_us: f64) -> bool {
        self.lag_us() > LAG_FLOOR.as_micros().max(MAX_LAG_SHARE * time_us)
    }

    fn lag_us(self) -> f64 {
        self.response_us - self.without_us
    }
}

impl RunRecord {
    /// The first percentile of the response that the driver's lateness has made another, with its
    /// name; `None`: neither the median nor the 99th is.
    pub fn late_percentile(&self) -> Option<(&'static str, LagEffect)> {
        // Of few transactions the tail is a single one, such as the first.
        let known = if self.counts.ended() < MIN_SAMPLES_FOR_P99 { 1 } else { 2 };
        let figures = [("median", 50.0), ("99th percentile", 99.0)];
        let effects = figures.into_iter().take(known);
        let mut effects = effects.map(|(name, at)| (name, self.lag_in_percentile(at)));
        effects.find(|(_, effect)| effect.is_large())
    }

    /// What the driver's lag makes of a percentile of the response; where the record has another
    /// one next, of the next higher.
    ///
    /// Shape: `percentile` from 0 to 100, the maximum.
    ///
    /// Where responses lie apart in clusters, a few late ones move a percentile from one to the
    /// next: of the difference no more counts than the lag of all but a few transactions.
    pub fn lag_in_percentile(&self, percentile: f64) -> LagEffect {
        let lag = &self.latency_us.lag;
        match percentile {
            at if at <= 50.0 => self.lag_effect(|set| set.p50, lag.p99, 0.01),
            at if at <= 90.0 => self.lag_effect(|set| set.p90, lag.p99, 0.01),
            at if at <= 95.0 => self.lag_effect(|set| set.p95, lag.p99, 0.01),
            at if at <= 99.0 => self.lag_effect(|set| set.p99, lag.p999, 0.001),
            at if at <= 99.9 => self.lag_effect(|set| set.p999, lag.max, 0.0001),
            _ => self.lag_effect(|set| set.max, lag.max, 0.0),
        }
    }

    /// What the driver's lag makes of the mean response.
    pub fn lag_in_mean(&self) -> LagEffect {
        self.lag_effect(|set| set.mean, self.latency_us.lag.mean, 0.01)
    }

    /// How long the driver stood still in the window, each time. Unit: seconds, above zero.
    pub fn standstill_lengths_s(&self) -> Vec<f64> {
        let begin = self.window.warmup_s;
        let end = begin + self.window.measure_s.max(0.0);
        let within = |at: f64| at.clamp(begin, end);
        let length = |span: &SpanInfo| within(span.until_s) - within(span.from_s);
        let lengths = self.client.standstills.iter().map(length);
        lengths.filter(|length| *length > 0.0).collect()
    }

    /// Which share of the window the driver stood still for.
    pub fn standstill_share(&self) -> f64 {
        let lengths = self.standstill_lengths_s();
        lengths.iter().sum::<f64>() / self.window.measure_s.max(f64::MIN_POSITIVE)
    }

    /// What it makes of a figure, but for so small a share of the transactions no more than
    /// `most_us`.
    fn lag_effect(&self, figure: fn(&LatencyUs) -> f64, most_us: f64, few: f64) -> LagEffect {
        let set = &self.latency_us;
        let response_us = figure(&set.response);
        // A record of before does not know it.
        if set.without_lag == LatencyUs::default() {
            return LagEffect { response_us, without_us: response_us };
        }
        // The lag of what is unfinished is in the difference alone.
        let is_open = self.counts.unfinished as f64 > few * self.counts.ended() as f64;
        let most_us = if is_open { f64::INFINITY } else { most_us };
        let without_us = figure(&set.without_lag).max(response_us - most_us);
        LagEffect { response_us, without_us }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand transactions, one in a hundred of which was late by 4 ms.
    fn late() -> RunRecord {
        let mut record = RunRecord::default();
        record.counts.completed = 1000;
        let set = &mut record.latency_us;
        (set.response.mean, set.without_lag.mean, set.lag.mean) = (1040.0, 1000.0, 40.0);
        (set.response.p50, set.without_lag.p50) = (900.0, 900.0);
        (set.response.p99, set.without_lag.p99) = (6000.0, 2000.0);
        (set.lag.p99, set.lag.p999, set.lag.max) = (4000.0, 4000.0, 4000.0);
        record
    }

    #[test]
    fn lag_is_in_the_figures_of_which_it_is_a_part() {
        let record = late();
        let (name, p99) = record.late_percentile().expect("one is late");
        assert_eq!((name, p99.without_us), ("99th percentile", 2000.0));
        assert!((p99.share() - 2.0 / 3.0).abs() < 1e-9);
        assert!(!record.lag_in_percentile(50.0).is_large());
        let mean = record.lag_in_mean();
        assert_eq!((mean.response_us, mean.without_us), (1040.0, 1000.0));
        assert!(!mean.is_large(), "below the floor, and below a tenth");
    }

    #[test]
    fn of_a_few_transactions_a_single_one_is_the_tail() {
        let mut record = late();
        record.counts.completed = 299;
        assert_eq!(record.late_percentile(), None);
        assert!(record.lag_in_percentile(99.0).is_large(), "whatever is judged of the run");
    }

    #[test]
    fn no_more_counts_than_the_lag_of_all_but_a_few() {
        let mut record = late();
        record.latency_us.lag.p999 = 500.0;
        let effect = record.lag_in_percentile(99.0);
        assert_eq!((effect.without_us, effect.is_large()), (5500.0, false));
        // What is unfinished has its lag in the difference alone.
        record.counts.unfinished = 2;
        assert_eq!(record.lag_in_percentile(99.0).without_us, 2000.0);
    }

    #[test]
    fn a_standstill_counts_as_far_as_it_is_in_the_window() {
        let mut record = RunRecord::default();
        assert_eq!(record.standstill_share(), 0.0, "nor is there a window");
        (record.window.warmup_s, record.window.measure_s) = (3.0, 10.0);
        let span = |from_s, until_s| SpanInfo { from_s, until_s };
        record.client.standstills = vec![span(1.0, 4.0), span(2.0, 2.5), span(12.0, 15.0)];
        assert_eq!(record.standstill_lengths_s(), [1.0, 1.0]);
        assert_eq!(record.standstill_share(), 0.2);
    }

    #[test]
    fn a_record_without_these_figures_is_late_for_nothing() {
        let mut record = late();
        record.latency_us.without_lag = LatencyUs::default();
        assert_eq!(record.late_percentile(), None);
        assert_eq!(record.lag_in_mean().share(), 0.0);
    }
}
