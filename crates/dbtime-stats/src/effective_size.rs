//! What values that follow each other in time are worth: neighbours are alike, and tell less than
//! as many independent ones.

/// Means of so many batches at least are needed to know their variance.
const FEWEST_BATCHES: usize = 8;

/// How many values are worth one of independent ones, 1 or more: by the variance of the means of
/// batches of 1, 2, 4, … values, which falls as their size where values are independent (batch
/// means: Law, Simulation Modeling and Analysis, chapter 9). 1 where there are under 16 values.
pub fn autocorrelation_time(values: &[f64]) -> f64 {
    let single = variance(values);
    if single <= 0.0 {
        return 1.0;
    }
    let sizes = std::iter::successors(Some(2), |size| Some(2 * size));
    let sizes = sizes.take_while(|size| values.len() / size >= FEWEST_BATCHES);
    let time = |size: usize| size as f64 * variance(&batch_means(values, size)) / single;
    sizes.map(time).fold(1.0, f64::max)
}

/// The means of batches of so many values that follow each other, without what is left at the end.
pub(crate) fn batch_means(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect()
}

pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    squares / values.len().saturating_sub(1).max(1) as f64
}

/// The ranks, from 1 to the number of values, between which a quantile of the population lies with
/// 95 %, by the normal approximation of the binomial distribution (David and Nagaraja, Order
/// Statistics, chapter 7). The values are worth `effective` independent ones of `count`. `None`:
/// there are too few for a rank above it, or below.
///
/// # Panics
/// Where the quantile is not between 0 and 1.
pub fn quantile_ranks(count: u64, effective: f64, quantile: f64) -> Option<(u64, u64)> {
    assert!(0.0 < quantile && quantile < 1.0, "a quantile of {quantile}");
    let half = 1.96 * (effective * quantile * (1.0 - quantile)).sqrt();
    let [low, high] = [effective * quantile - half, effective * quantile + half];
    if low < 1.0 || high > effective {
        return None;
    }
    let rank = |of_effective: f64| of_effective / effective * count as f64;
    Some((rank(low).floor() as u64, rank(high).ceil() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    #[test]
    fn independent_values_are_worth_what_they_are() {
        let mut noise = SeededNoise::new(1);
        let values: Vec<f64> = (0..4096).map(|_| noise.normal()).collect();
        // The largest of the variances of eleven sizes of batch.
        assert!(autocorrelation_time(&values) < 2.5, "{}", autocorrelation_time(&values));
        assert!((autocorrelation_time(&[3.0; 100]) - 1.0).abs() < f64::EPSILON);
        assert!((autocorrelation_time(&[]) - 1.0).abs() < f64::EPSILON);
    }

    /// Oracle: `tests/steady_state_oracle.py`.
    #[test]
    fn the_time_is_that_of_its_definition() {
        let value = |at: u32| (0.37 * f64::from(at)).sin() + (2.1 * f64::from(at * at)).sin();
        let values: Vec<f64> = (0..200).map(value).collect();
        let time = autocorrelation_time(&values);
        assert!((time - 2.504_129_684_739_183).abs() < 1e-9, "{time}");
    }

    /// Of an autoregressive process it is (1 + ρ) / (1 − ρ).
    #[test]
    fn of_alike_neighbours_several_are_worth_one() {
        let mut noise = SeededNoise::new(2);
        let mut level = 0.0;
        let values: Vec<f64> = (0..65_536)
            .map(|_| {
                level = 0.8 * level + noise.normal();
                level
            })
            .collect();
        let time = autocorrelation_time(&values);
        assert!((7.0..16.0).contains(&time), "{time}, by theory 9");
    }

    #[test]
    fn ranks_hold_the_quantile_in_95_of_100_cases() {
        let mut noise = SeededNoise::new(3);
        let (low, high) = quantile_ranks(1000, 1000.0, 0.9).expect("enough");
        assert_eq!((low, high), (881, 919));
        let holds = (0..2000).filter(|_| {
            let below = (0..1000).filter(|_| noise.uniform() < 0.9).count() as u64;
            low <= below && below < high
        });
        let share = holds.count() as f64 / 2000.0;
        assert!((0.93..0.97).contains(&share), "{share}");
        let (low, high) = quantile_ranks(4000, 1000.0, 0.9).expect("enough");
        assert_eq!((low, high), (3525, 3675));
    }

    #[test]
    fn too_few_values_bound_no_quantile() {
        assert_eq!(quantile_ranks(300, 300.0, 0.99), None);
        assert_eq!(quantile_ranks(0, 0.0, 0.5), None);
        assert!(quantile_ranks(400, 400.0, 0.99).is_some());
    }
}
