//! The difference between two single runs that is not taken for noise.

use crate::student::t_quantile;

/// The half width of the 95 % interval of the ratio of two further runs of one and the same thing,
/// as a share, by runs of it: 0.02 where two runs that differ by less than 2 % may well be the
/// same. Student's t on logarithms, with the deviation of a difference of two runs. `None`: fewer
/// than two values, or one without a logarithm.
///
/// Source: the prediction interval of a normal variable, Hahn and Meeker, Statistical Intervals
/// (1991), 4.7.
pub fn run_resolution(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if logs.len() < 2 || !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let (count, freedom) = (logs.len() as f64, logs.len() as f64 - 1.0);
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / freedom;
    Some((t_quantile(0.975, freedom) * (2.0 * variance).sqrt()).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    #[test]
    fn two_values_have_the_widest_quantile() {
        // Their deviation is 0.01 / sqrt(2), the quantile of one degree of freedom 12.706.
        let found = run_resolution(&[1.0, 0.01_f64.exp()]).expect("two values");
        assert!((found - 0.12706_f64.exp_m1()).abs() < 1e-4, "{found}");
        assert_eq!(run_resolution(&[1.0; 8]), Some(0.0));
    }

    #[test]
    fn what_has_no_logarithm_has_no_resolution() {
        let none: [f64; 0] = [];
        assert_eq!((run_resolution(&none), run_resolution(&[1.0])), (None, None));
        for other in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(run_resolution(&[1.0, other]), None, "{other}");
        }
    }

    /// Of runs that differ by noise alone, one pair in twenty lies outside.
    #[test]
    fn one_pair_in_twenty_of_equal_runs_lies_outside() {
        let mut noise = SeededNoise::new(7);
        let mut run = || (0.03 * noise.normal()).exp();
        let (mut outside, pairs) = (0, 4_000);
        for _ in 0..pairs {
            let values: Vec<f64> = (0..8).map(|_| run()).collect();
            let found = run_resolution(&values).expect("eight values");
            let ratio: f64 = run() / run();
            outside += u32::from(ratio.ln().abs() > found.ln_1p());
        }
        let share = f64::from(outside) / f64::from(pairs);
        assert!((0.038..0.062).contains(&share), "{share}");
    }
}
