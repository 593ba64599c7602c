//! Whether a series of values, such as the seconds of a window, is of one steady state.

use crate::effective_size::autocorrelation_time;
use crate::interval::ConfidenceInterval;
use crate::mean_difference::MeanDifference;

/// Fewer values than this say nothing: each third has three.
pub const FEWEST_TREND_VALUES: usize = 9;

/// The level of the interval of a trend: one wrong alarm in 100 is rare enough for a thing that is
/// looked at in every run.
const TREND_LEVEL: f64 = 0.99;

/// From so many values on, MSER takes the means of five (MSER-5), which an odd value moves less.
const FEWEST_FOR_BATCHES: usize = 50;

/// The change of a series from its first third to its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesTrend {
    /// The logarithm of the ratio of the last third's mean to the first's, at the level 99 %.
    /// Neighbours in time may be alike: the interval is as wide as that makes it.
    pub change: ConfidenceInterval,
    /// How many of the values are worth one of independent ones: 1 or more.
    pub autocorrelation_time: f64,
    /// How many values at its beginning are better left out, by [`settled_after`]; `None`: it does
    /// not settle.
    pub settled_after: Option<usize>,
}

/// The trend of a series of positive values; `None`: there are fewer than [`FEWEST_TREND_VALUES`],
/// or one is not positive.
pub fn series_trend(values: &[f64]) -> Option<SeriesTrend> {
    if values.len() < FEWEST_TREND_VALUES || !values.iter().all(|value| *value > 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let size = logarithms.len() / 3;
    let thirds = [&logarithms[..size], &logarithms[logarithms.len() - size..]];
    let [first, last] = thirds.map(mean);
    // Noise is what the later values differ by from their line: of a beginning that warms up they
    // are free.
    let rest = line_residuals(&logarithms[size..]);
    let time = autocorrelation_time(&rest);
    let freedom = (rest.len() as f64 / time - 2.0).max(1.0);
    let variance = rest.iter().map(|x| x * x).sum::<f64>() / (rest.len() - 2) as f64;
    let error = (2.0 * variance * time / size as f64).sqrt();
    let change = MeanDifference { mean: last - first, error, freedom }.interval(TREND_LEVEL);
    Some(SeriesTrend { change, autocorrelation_time: time, settled_after: settled_after(values) })
}

/// How many values at the beginning of a series are better left out, so that the mean of the others
/// is known best: White's marginal standard error rule, in the form MSER-5 where there are values
/// enough (White, Cobb and Spratt, A comparison of five steady-state truncation heuristics for
/// simulation, Winter Simulation Conference 2000). `None`: half of them, the most that it leaves
/// out, so that the series is not known to have settled.
pub fn settled_after(values: &[f64]) -> Option<usize> {
    let size = if values.len() >= FEWEST_FOR_BATCHES { 5 } else { 1 };
    let batches: Vec<f64> = values.chunks_exact(size).map(mean).collect();
    // By the sums of what is left, from the end: linear in the number of values.
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (place, value) in batches.iter().enumerate().rev() {
        (count, sum, squares) = (count + 1.0, sum + value, squares + value * value);
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        // Of the few that a longer cut leaves the error is small by chance.
        if 2 * place <= batches.len() && error <= best.0 {
            best = (error, place);
        }
    }
    (2 * (best.1 + 1) <= batches.len()).then_some(best.1 * size)
}

/// What equidistant values differ by from the line that fits them best.
fn line_residuals(values: &[f64]) -> Vec<f64> {
    let (middle, mean) = ((values.len() - 1) as f64 / 2.0, mean(values));
    let places = (0..values.len()).map(|place| place as f64 - middle);
    let squares: f64 = places.clone().map(|place| place * place).sum();
    let slope: f64 = places.clone().zip(values).map(|(place, value)| place * value).sum();
    let slope = slope / squares;
    places.zip(values).map(|(place, value)| value - mean - slope * place).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    /// A second's noise of 5 %, after a beginning that is so much slower and goes by so fast.
    fn warming(noise: &mut SeededNoise, seconds: usize, slower: f64, constant_s: f64) -> Vec<f64> {
        let value = |second: usize| 1.0 - slower * (-(second as f64) / constant_s).exp();
        (0..seconds).map(|second| 1000.0 * value(second) * (0.05 * noise.normal()).exp()).collect()
    }

    #[test]
    fn steady_noise_has_a_trend_in_one_of_a_hundred() {
        let mut noise = SeededNoise::new(1);
        let alarms = (0..2000).filter(|_| {
            let values = warming(&mut noise, 30, 0.0, 1.0);
            !series_trend(&values).expect("long enough").change.covers(0.0)
        });
        let share = alarms.count() as f64 / 2000.0;
        assert!((0.004..0.02).contains(&share), "{share}");
    }

    #[test]
    fn noise_that_lasts_for_seconds_is_no_large_trend() {
        let mut noise = SeededNoise::new(2);
        let alarms = (0..1000).filter(|_| {
            let mut level = 0.0;
            let values: Vec<f64> = (0..60)
                .map(|_| {
                    level = 0.6 * level + 0.05 * noise.normal();
                    1000.0 * f64::exp(level)
                })
                .collect();
            let change = series_trend(&values).expect("long enough").change;
            change.low > 0.1 || change.high < -0.1
        });
        assert_eq!(alarms.count(), 0);
    }

    #[test]
    fn a_cold_start_is_a_trend_and_the_rule_leaves_it_out() {
        let mut noise = SeededNoise::new(3);
        let (mut found, mut cuts) = (0, Vec::new());
        for _ in 0..200 {
            let trend = series_trend(&warming(&mut noise, 60, 0.6, 6.0)).expect("long enough");
            found += u32::from(trend.change.low > 0.0);
            cuts.extend(trend.settled_after);
        }
        assert!(found > 180, "{found}");
        let mean_cut = cuts.iter().sum::<usize>() as f64 / cuts.len() as f64;
        assert!(cuts.len() > 160 && (5.0..25.0).contains(&mean_cut), "{mean_cut} {}", cuts.len());
    }

    /// Oracle: `tests/steady_state_oracle.py`.
    #[test]
    fn the_rule_cuts_where_its_definition_does() {
        let second = |at: u32| {
            let at = f64::from(at);
            1000.0 - 600.0 * (-at / 6.0).exp() + 40.0 * (7.3 * at).sin()
        };
        let values: Vec<f64> = (0..60).map(second).collect();
        assert_eq!(settled_after(&values), Some(25));
        assert_eq!(settled_after(&values[..40]), Some(13));
    }

    #[test]
    fn what_rises_to_the_end_does_not_settle() {
        let rising: Vec<f64> = (0..60).map(|second| 1000.0 + 10.0 * f64::from(second)).collect();
        let trend = series_trend(&rising).expect("long enough");
        assert!(trend.change.low > 0.1, "{trend:?}");
        assert_eq!(trend.settled_after, None);
    }

    #[test]
    fn of_few_values_or_none_nothing_is_said() {
        assert_eq!(series_trend(&[1.0; FEWEST_TREND_VALUES - 1]), None);
        assert_eq!(series_trend(&[0.0; 20]), None);
        let same = series_trend(&[7.0; 20]).expect("long enough");
        assert!(same.change.low.abs() < 1e-9 && same.change.high.abs() < 1e-9, "{same:?}");
        assert_eq!(same.settled_after, Some(0));
    }
}
