//! What changed with time over a session, whatever the configuration.

use crate::interval::ConfidenceInterval;
use crate::mean_difference::MeanDifference;

/// The change from the first run to the last as a share, with its 95 % interval: one line through
/// the logarithms of all runs against their times, each configuration with a level of its own
/// (analysis of covariance). Groups of runs of one configuration, each run with its time in any
/// unit and its value. `None`: too few runs, a value without a logarithm, or all at one time.
pub fn session_drift(groups: &[Vec<(f64, f64)>]) -> Option<ConfidenceInterval> {
    let groups: Vec<&Vec<(f64, f64)>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let runs = groups.iter().map(|group| group.len()).sum::<usize>();
    let freedom = runs.checked_sub(groups.len() + 1).filter(|freedom| *freedom > 0)? as f64;
    let all = || groups.iter().flat_map(|group| group.iter());
    if !all().all(|(at, value)| at.is_finite() && *value > 0.0 && value.is_finite()) {
        return None;
    }
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for group in &groups {
        let count = group.len() as f64;
        let mean_x = group.iter().map(|(at, _)| at).sum::<f64>() / count;
        let mean_y = group.iter().map(|(_, value)| value.ln()).sum::<f64>() / count;
        for (at, value) in *group {
            let (x, y) = (at - mean_x, value.ln() - mean_y);
            (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
        }
    }
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let variance = (yy - slope * xy).max(0.0) / freedom;
    let in_a_unit = MeanDifference { mean: slope, error: (variance / xx).sqrt(), freedom };
    let first = all().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    let last = all().map(|(at, _)| *at).fold(f64::NEG_INFINITY, f64::max);
    let over = |slope: f64| (slope * (last - first)).exp_m1();
    Some(in_a_unit.interval(0.95).map(over))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    /// Two configurations, the second faster by a half, ten blocks, all slower by so much at the
    /// end.
    fn session(noise: &mut SeededNoise, change: f64) -> Vec<Vec<(f64, f64)>> {
        let mut run = |at: u32, level: f64| {
            let at = f64::from(at);
            (at, level * (change * at / 19.0 + 0.02 * noise.normal()).exp())
        };
        let one = (0..10).map(|block| run(2 * block, 1000.0)).collect();
        vec![one, (0..10).map(|block| run(2 * block + 1, 1500.0)).collect()]
    }

    #[test]
    fn a_drift_is_in_its_interval_and_none_is_found_in_5_of_100() {
        let mut noise = SeededNoise::new(1);
        let mut found = [0, 0];
        for _ in 0..2000 {
            let drift = session_drift(&session(&mut noise, -0.1)).expect("twenty runs");
            found[0] += u32::from(drift.covers((-0.1f64).exp_m1()));
            let none = session_drift(&session(&mut noise, 0.0)).expect("twenty runs");
            found[1] += u32::from(!none.covers(0.0));
        }
        assert!((1860..1940).contains(&found[0]), "{found:?}");
        assert!((60..140).contains(&found[1]), "{found:?}");
    }

    #[test]
    fn too_few_runs_or_one_time_have_no_drift() {
        assert_eq!(session_drift(&[vec![(0.0, 1.0), (1.0, 2.0)]]), None);
        assert_eq!(session_drift(&[vec![(0.0, 1.0); 5]]), None);
        assert_eq!(session_drift(&[vec![(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]]), None);
        assert_eq!(session_drift(&[]), None);
    }
}
