//! What executions of forms took, and what may be said of them.

use super::place::QueryPlace;
use dbtime_engines::server::ExecutionInstants;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::Nanos;
use dbtime_model::query::{
    ExecutionTimes, FirstExecution, FormComparison, FormVerdict, RatioInterval, RatioMethod,
    RowsDecile,
};
use dbtime_sql::StatementShapes;
use dbtime_stats::{ConfidenceInterval, PairGroup, PairedKeys, PairedVerdict};

/// How often intervals cover the truth.
const LEVEL: f64 = 0.95;

/// The executions of one form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FormSamples {
    /// Those that were measured and did not fail, in order.
    executions: Vec<ExecutionInstants>,
    /// The first one on its connection, which is none of them; `None`: it failed.
    pub(crate) first: Option<FirstExecution>,
    /// How many failed, those before the measured ones too.
    pub(crate) failed: u64,
    /// Why the first of them did.
    pub(crate) failure: Option<String>,
    /// How often the form was executed in all: measured or not, failed or not.
    pub(crate) executed: u64,
}

/// The executions of two forms with the same keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PairSamples {
    sides: [FormSamples; 2],
    /// Those of A and B with one key, in order; where one failed there is no pair.
    pairs: Vec<[ExecutionInstants; 2]>,
}

impl FormSamples {
    /// Adds an execution that was measured.
    pub(super) fn add(&mut self, execution: ExecutionInstants) {
        self.executions.push(execution);
    }

    /// Counts an execution that failed.
    pub(super) fn count_failure(&mut self, text: impl FnOnce() -> String) {
        self.failed += 1;
        self.failure.get_or_insert_with(text);
    }

    /// Whether no execution has succeeded, and one has failed.
    pub(super) fn has_only_failures(&self) -> bool {
        self.failed > 0 && self.first.is_none() && self.executions.is_empty()
    }

    /// What they took; `None`: there was none.
    pub(crate) fn times(&self) -> Option<ExecutionTimes> {
        let mut times: Vec<f64> =
            self.executions.iter().map(|one| taken(one).as_micros()).collect();
        times.sort_by(f64::total_cmp);
        let (min_us, max_us) = (*times.first()?, *times.last()?);
        let count = times.len();
        let quantile = |share: f64| times[((share * count as f64).ceil() as usize).max(1) - 1];
        let mean = |value: &dyn Fn(&ExecutionInstants) -> f64| {
            self.executions.iter().map(value).sum::<f64>() / count as f64
        };
        Some(ExecutionTimes {
            count: count as u64,
            mean_us: mean(&|one| taken(one).as_micros()),
            min_us,
            p50_us: quantile(0.5),
            p90_us: quantile(0.9),
            p99_us: quantile(0.99),
            max_us,
            rows: mean(&|one| one.rows as f64),
            bytes: mean(&|one| one.bytes as f64),
        })
    }
}

impl PairSamples {
    /// Of both forms, and of those executions of theirs that are pairs.
    pub(super) fn new(sides: [FormSamples; 2], pairs: Vec<[ExecutionInstants; 2]>) -> Self {
        Self { sides, pairs }
    }

    /// Of two forms that were executed one behind the other with the same keys, from the first on:
    /// what both have executed are pairs. Where one has failures, keys no longer belong together,
    /// and there is none.
    pub(super) fn by_key(a: FormSamples, b: FormSamples) -> Self {
        let is_whole = a.failed == 0 && b.failed == 0;
        let both = a.executions.iter().zip(&b.executions).filter(|_| is_whole);
        let pairs = both.map(|(a, b)| [*a, *b]).collect();
        Self { sides: [a, b], pairs }
    }

    /// What form A (0) or B (1) took.
    ///
    /// # Panics
    /// Of a third one.
    pub(crate) fn side(&self, side: usize) -> FormSamples {
        self.sides[side].clone()
    }

    /// B against A, where `margin` is the smallest change of interest, a share; `None`: there are
    /// too few pairs for an interval.
    pub(crate) fn comparison(&self, margin: f64) -> Option<FormComparison> {
        // A clock may show the same instant twice.
        let time = |one: &ExecutionInstants| taken(one).0.max(1) as f64;
        let times = self.pairs.iter().map(|[a, b]| (time(a), time(b))).collect();
        let keys = PairedKeys::new(times)?;
        let found = keys.ratio(LEVEL)?;
        let rows: Vec<u64> = self.pairs.iter().map(|[a, _]| a.rows).collect();
        Some(FormComparison {
            pairs: keys.count() as u64,
            method: if found.batches > 0 { RatioMethod::Batches } else { RatioMethod::Signs },
            ratio: interval(found.interval),
            median_ratio: keys.median_ratio()?,
            unpaired: keys.unpaired(LEVEL).map(interval),
            faster_share: keys.faster_share(),
            verdict: verdict(keys.verdict(margin)),
            margin,
            batches: found.batches as u64,
            batch_pairs: found.batch_pairs as u64,
            autocorrelation: found.autocorrelation,
            deciles: keys.by_size(&rows).iter().map(decile).collect(),
            lives: 1,
        })
    }
}

/// From the request to the last byte of the answer.
pub(super) fn taken(execution: &ExecutionInstants) -> Nanos {
    execution.done - execution.sent
}

/// What a database says of a statement that failed, without what it repeats of that.
pub(super) fn failure_text(place: &dyn QueryPlace, sql: &str, failure: &DatabaseFailure) -> String {
    let shapes = StatementShapes::of([sql], &place.lexical_rules()).with_names(&place.url());
    shapes.without_repeated(&failure.code, &failure.message).into_owned()
}

fn interval(found: ConfidenceInterval) -> RatioInterval {
    let ConfidenceInterval { estimate, low, high, level } = found;
    RatioInterval { ratio: estimate, low, high, level }
}

fn verdict(found: PairedVerdict) -> FormVerdict {
    match found {
        PairedVerdict::Faster => FormVerdict::Faster,
        PairedVerdict::Slower => FormVerdict::Slower,
        PairedVerdict::Same => FormVerdict::Same,
        PairedVerdict::Undecided => FormVerdict::Undecided,
    }
}

fn decile(group: &PairGroup) -> RowsDecile {
    RowsDecile {
        rows_from: group.from,
        rows_to: group.to,
        pairs: group.pairs as u64,
        ratio: group.ratio,
        faster_share: group.faster_share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::MonoNanos;

    fn execution(us: u64, rows: u64) -> ExecutionInstants {
        let sent = MonoNanos(1_000_000);
        let done = sent + Nanos::from_micros(us);
        ExecutionInstants { sent, done, rows, bytes: 10 * rows, unlisted_rows: 0 }
    }

    #[test]
    fn times_are_those_of_the_executions() {
        let mut samples = FormSamples::default();
        assert_eq!(samples.times(), None);
        (1..=10).rev().for_each(|us| samples.add(execution(us, 2)));
        let times = samples.times().expect("ten executions");
        assert_eq!((times.count, times.min_us, times.max_us), (10, 1.0, 10.0));
        assert_eq!((times.p50_us, times.p90_us, times.p99_us), (5.0, 9.0, 10.0));
        assert_eq!((times.mean_us, times.rows, times.bytes), (5.5, 2.0, 20.0));
    }

    #[test]
    fn the_first_failure_is_kept() {
        let mut samples = FormSamples::default();
        samples.count_failure(|| "first".to_owned());
        samples.count_failure(|| "second".to_owned());
        assert_eq!((samples.failed, samples.failure.as_deref()), (2, Some("first")));
        assert!(samples.has_only_failures());
        samples.add(execution(1, 1));
        assert!(!samples.has_only_failures());
    }

    #[test]
    fn pairs_are_compared_by_their_ratios_and_rows() {
        let pair = |at: u64| {
            let us = 100 * (1 + at % 10);
            [execution(us, at % 10), execution(us / 2 + at % 3, at % 10)]
        };
        let sides = [FormSamples::default(), FormSamples::default()];
        let samples = PairSamples::new(sides.clone(), (0..200).map(pair).collect());
        let found = samples.comparison(0.02).expect("many pairs");
        assert_eq!((found.pairs, found.verdict, found.lives), (200, FormVerdict::Faster, 1));
        assert_eq!(found.method, RatioMethod::Batches);
        assert!((0.49..0.55).contains(&found.ratio.ratio), "{found:?}");
        assert!(found.ratio.high < 0.6 && found.faster_share == 1.0, "{found:?}");
        assert_eq!((found.deciles.len(), found.deciles[0].rows_to), (10, 0));
        let few = PairSamples::new(sides.clone(), (0..9).map(pair).collect());
        let found = few.comparison(0.02).expect("nine pairs");
        assert_eq!((found.method, found.verdict), (RatioMethod::Signs, FormVerdict::Faster));
        assert_eq!(PairSamples::new(sides, (0..5).map(pair).collect()).comparison(0.02), None);
    }

    #[test]
    fn what_takes_no_time_at_all_is_compared() {
        let same = [execution(0, 1), execution(0, 1)];
        let samples = PairSamples::new(Default::default(), vec![same; 40]);
        let found = samples.comparison(0.02).expect("many pairs");
        assert_eq!(found.verdict, FormVerdict::Same);
    }
}
