//! Load over time, in steps whose length doubles while there are too many.

use super::figures::scaled;
use super::seen::SeenRecord;
use crate::logs::numbers::{DAY_US, SECOND_US};
use dbtime_model::log_digest::{DigestTimeline, TimelineBin};
use std::collections::BTreeMap;

/// The most steps.
const MAX_STEPS: usize = 2048;

/// Of a longer record the rest is left out: times that are wrong by years would leave no step that
/// shows anything. Unit: microseconds.
const LONGEST_US: i64 = DAY_US;

/// The load of a log.
///
/// ```text
///   steps        |    a    |         |         |    b    |
///   a record          ├─────────────────────────────┤
///   partial_us        5         0         0         7
///   full              0        +1         0        -1        from here on so many more
/// ```
///
/// So a record costs the same however long it is, and halving the steps' number is exact.
#[derive(Debug)]
pub(super) struct LoadTimeline {
    step_us: i64,
    steps: BTreeMap<i64, BusyStep>,
    /// The step that the last record ended in, which the next one mostly does too.
    current: Option<(i64, BusyStep)>,
}

/// What is known of a step.
#[derive(Clone, Debug, Default)]
struct BusyStep {
    count: u64,
    errors: u64,
    /// Whether any record shows whether it failed.
    shows_outcome: bool,
    max_ns: u64,
    /// The time of records in it that do not fill it. Unit: microseconds, by weight.
    partial_us: i128,
    /// How many more records fill this step than the one before it, by weight.
    full: i128,
}

impl Default for LoadTimeline {
    fn default() -> Self {
        Self { step_us: SECOND_US, steps: BTreeMap::new(), current: None }
    }
}

impl LoadTimeline {
    /// Adds a record; one without a time is nowhere.
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>) {
        let Some(at_us) = seen.at_us() else { return };
        let weight = i128::from(seen.weight);
        let end = self.enter(at_us);
        let step = &mut self.current.get_or_insert_with(|| (end, BusyStep::default())).1;
        step.count = step.count.saturating_add(seen.weight);
        step.shows_outcome |= seen.shows_outcome;
        if !seen.record.error.is_empty() {
            step.errors = step.errors.saturating_add(seen.weight);
        }
        step.max_ns = step.max_ns.max(seen.duration_ns.unwrap_or(0));
        let Some((start_us, end_us)) = seen.interval_us() else { return };
        let start_us = start_us.max(end_us.saturating_sub(LONGEST_US));
        let start = start_us.div_euclid(self.step_us);
        if start == end {
            step.partial_us += i128::from(end_us - start_us) * weight;
            return;
        }
        step.partial_us += i128::from(end_us.rem_euclid(self.step_us)) * weight;
        step.full -= weight;
        let before = self.step_us - start_us.rem_euclid(self.step_us);
        self.step(start).partial_us += i128::from(before) * weight;
        self.step(start + 1).full += weight;
    }

    /// The load, with its steps in the order of time.
    pub(super) fn finish(mut self, assumed_weight: f64) -> DigestTimeline {
        self.leave();
        while self.filled() > MAX_STEPS {
            self.double();
        }
        let empty = BusyStep::default();
        let mut bins: Vec<TimelineBin> = Vec::new();
        let (mut full, mut next) = (0, 0);
        for (index, step) in &self.steps {
            if full > 0 {
                let between = next..*index;
                bins.extend(between.map(|at| self.bin(at, &empty, full, assumed_weight)));
            }
            full += step.full;
            bins.push(self.bin(*index, step, full, assumed_weight));
            next = index + 1;
        }
        bins.retain(|bin| bin.count > 0 || bin.busy_us > 0.0);
        DigestTimeline { step_s: (self.step_us / SECOND_US).unsigned_abs(), bins }
    }

    fn bin(&self, index: i64, step: &BusyStep, full: i128, assumed_weight: f64) -> TimelineBin {
        let busy_us = step.partial_us + full * i128::from(self.step_us);
        TimelineBin {
            start_us: index.saturating_mul(self.step_us),
            count: scaled(step.count, assumed_weight),
            errors: step.shows_outcome.then(|| scaled(step.errors, assumed_weight)),
            busy_us: busy_us as f64 * assumed_weight,
            max_us: step.max_ns as f64 / 1e3,
        }
    }

    fn step(&mut self, index: i64) -> &mut BusyStep {
        match &mut self.current {
            Some((current, step)) if *current == index => step,
            _ => self.steps.entry(index).or_default(),
        }
    }

    /// Makes the step of an instant the current one.
    fn enter(&mut self, at_us: i64) -> i64 {
        let index = at_us.div_euclid(self.step_us);
        if self.current.as_ref().is_some_and(|(current, _)| *current == index) {
            return index;
        }
        self.leave();
        // Steps may be longer now.
        at_us.div_euclid(self.step_us)
    }

    /// Puts the current step to the others, of which there may then be too many.
    fn leave(&mut self) {
        let Some((index, step)) = self.current.take() else { return };
        self.steps.entry(index).or_default().merge(&step);
        while self.steps.len() > MAX_STEPS {
            self.double();
        }
    }

    /// How many steps have something in them.
    fn filled(&self) -> usize {
        let (mut full, mut next, mut filled) = (0, 0, self.steps.len());
        for (index, step) in &self.steps {
            if full > 0 {
                let between = usize::try_from(*index - next).unwrap_or(0);
                filled = filled.saturating_add(between);
            }
            full += step.full;
            next = index + 1;
        }
        filled
    }

    /// Makes each two steps one.
    fn double(&mut self) {
        let mut doubled: BTreeMap<i64, BusyStep> = BTreeMap::new();
        for (index, mut step) in std::mem::take(&mut self.steps) {
            let place = index.div_euclid(2);
            // What begins or ends with the second half fills the next step from its beginning, and
            // of this one a half.
            if index.rem_euclid(2) == 1 && step.full != 0 {
                step.partial_us += step.full * i128::from(self.step_us);
                doubled.entry(place + 1).or_default().full += std::mem::take(&mut step.full);
            }
            doubled.entry(place).or_default().merge(&step);
        }
        self.steps = doubled;
        self.step_us *= 2;
    }
}

impl BusyStep {
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.shows_outcome |= other.shows_outcome;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.partial_us += other.partial_us;
        self.full += other.full;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;
    use dbtime_model::Nanos;

    /// The timeline of records, each by its end and its length in microseconds.
    fn timeline(records: &[(i64, u64)]) -> DigestTimeline {
        let mut load = LoadTimeline::default();
        for (end_us, length_us) in records {
            let record = JoinedRecord {
                end_us: Some(*end_us),
                duration: Some(Nanos::from_micros(*length_us)),
                ..JoinedRecord::default()
            };
            load.add(&SeenRecord::of(&record, 0));
        }
        load.finish(1.0)
    }

    fn busy(timeline: &DigestTimeline) -> f64 {
        timeline.bins.iter().map(|bin| bin.busy_us).sum()
    }

    #[test]
    fn a_record_is_busy_in_each_step_that_it_ran_in() {
        let load = timeline(&[(4_250_000, 3_500_000), (4_500_000, 100_000)]);
        let of_bin = |bin: &TimelineBin| (bin.start_us / SECOND_US, bin.count, bin.busy_us);
        let steps: Vec<(i64, u64, f64)> = load.bins.iter().map(of_bin).collect();
        let expected = [
            (0, 0, 250_000.0),
            (1, 0, 1_000_000.0),
            (2, 0, 1_000_000.0),
            (3, 0, 1_000_000.0),
            (4, 2, 350_000.0),
        ];
        assert_eq!((load.step_s, steps.as_slice()), (1, expected.as_slice()));
        assert_eq!(load.bins[4].max_us, 3_500_000.0);
    }

    #[test]
    fn steps_double_and_lose_nothing() {
        let record = |at: u32| (i64::from(at) * 1_700_000 - 5_000_000, u64::from(at) * 9_770);
        let records: Vec<(i64, u64)> = (0..10_000).map(record).collect();
        let load = timeline(&records);
        assert!(load.bins.len() <= MAX_STEPS && load.step_s.is_power_of_two(), "{}", load.step_s);
        assert_eq!(load.bins.iter().map(|bin| bin.count).sum::<u64>(), 10_000);
        let expected: u64 = records.iter().map(|(_, length)| *length).sum();
        assert!((busy(&load) - expected as f64).abs() < 1.0);
        let starts: Vec<i64> = load.bins.iter().map(|bin| bin.start_us).collect();
        assert!(starts.is_sorted() && starts.iter().all(|us| us % SECOND_US == 0));
    }

    #[test]
    fn times_that_are_wrong_by_centuries_end() {
        let load = timeline(&[(i64::MAX, u64::MAX / 1000), (i64::MIN, 5), (1_000_000, 5)]);
        assert!(load.bins.len() <= MAX_STEPS);
        assert_eq!(load.bins.iter().map(|bin| bin.count).sum::<u64>(), 3);
        let day = timeline(&[(10 * LONGEST_US, 5 * LONGEST_US.unsigned_abs())]);
        assert_eq!(busy(&day), LONGEST_US as f64);
        assert!(day.bins.len() <= MAX_STEPS, "{}", day.bins.len());
    }
}
