//! A change that was measured in several sessions: days, machines, starts of one.

use crate::interval::ConfidenceInterval;
use crate::log_ratio::LogRatio;
use crate::mean_difference::MeanDifference;
use crate::multiplicity::SIGNIFICANCE;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Mean squares up to this are of rounding: of logarithms that differ by 1e-12.
const ROUNDING: f64 = 1e-24;

/// By how much the second of two configurations differs from the first, with the session as a
/// level. Changes are shares of the first configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionEffect {
    /// The change in each session; `None`: it has one pair.
    pub each: Vec<Option<ConfidenceInterval>>,
    /// The mean change in these sessions; `None`: each has one pair.
    pub within: Option<ConfidenceInterval>,
    /// What is to be expected of another session: its unit is the session.
    pub over: ConfidenceInterval,
    /// Whether the sessions differ by more than their pairs do, at 5 %.
    pub is_unlike: bool,
}

/// The effect of runs in pairs: of each session the pairs, the first of a pair of the first
/// configuration. Of so many configurations that are compared with one, all intervals of a kind
/// cover their true values in `level` of all repetitions, or more. `None`: fewer than two sessions,
/// one without a pair, or a value that has no logarithm.
///
/// Source: sessions are random effects, whose spread is found by moments; the interval of their
/// mean is by t with one degree of freedom less than there are sessions, and never narrower than
/// without a spread (Knapp and Hartung 2003).
pub fn session_effect(
    sessions: &[Vec<(f64, f64)>],
    level: f64,
    comparisons: usize,
) -> Option<SessionEffect> {
    let levels = SessionLevels::of(sessions)?;
    let interval = |difference| LogRatio(difference).interval_among(level, comparisons);
    let each =
        |pairs: &Vec<(f64, f64)>| Some(LogRatio::paired(pairs)?.interval_among(level, comparisons));
    Some(SessionEffect {
        each: sessions.iter().map(each).collect(),
        within: levels.within().map(interval),
        over: interval(levels.over()),
        is_unlike: levels.p_value().is_some_and(|p| p < SIGNIFICANCE),
    })
}

/// Logarithms of ratios in sessions, as sums of squares.
struct SessionLevels {
    /// How many pairs each session has, and their mean.
    means: Vec<(f64, f64)>,
    pairs: f64,
    /// The mean of all pairs.
    mean: f64,
    /// The mean square of pairs in their sessions; `None`: each session has one.
    within: Option<f64>,
    /// The mean square of the sessions' means, by pairs.
    between: f64,
}

impl SessionLevels {
    fn of(sessions: &[Vec<(f64, f64)>]) -> Option<Self> {
        let logs = |pairs: &Vec<(f64, f64)>| -> Vec<f64> {
            pairs.iter().map(|(a, b)| b.ln() - a.ln()).collect()
        };
        let sessions: Vec<Vec<f64>> = sessions.iter().map(logs).collect();
        let is_finite = sessions.iter().flatten().all(|log| log.is_finite());
        if sessions.len() < 2 || sessions.iter().any(Vec::is_empty) || !is_finite {
            return None;
        }
        let sum = |logs: &Vec<f64>| logs.iter().sum::<f64>();
        let mean_of = |logs: &Vec<f64>| (logs.len() as f64, sum(logs) / logs.len() as f64);
        let means: Vec<(f64, f64)> = sessions.iter().map(mean_of).collect();
        let pairs: f64 = means.iter().map(|(count, _)| count).sum();
        let mean = sessions.iter().map(sum).sum::<f64>() / pairs;
        let of_session = |(logs, (_, mean)): (&Vec<f64>, &(f64, f64))| {
            logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>()
        };
        let squares: f64 = sessions.iter().zip(&means).map(of_session).sum();
        let freedom = pairs - means.len() as f64;
        let of_means = means.iter().map(|(count, of)| count * (of - mean) * (of - mean));
        let between = of_means.sum::<f64>() / (means.len() as f64 - 1.0);
        let within = (freedom > 0.0).then(|| squares / freedom);
        Some(Self { means, pairs, mean, within, between })
    }

    /// One less than there are sessions.
    fn freedom(&self) -> f64 {
        self.means.len() as f64 - 1.0
    }

    fn within(&self) -> Option<MeanDifference> {
        let freedom = self.pairs - self.means.len() as f64;
        let error = (self.within? / self.pairs).sqrt();
        Some(MeanDifference { mean: self.mean, error, freedom })
    }

    /// The variance of sessions beyond what their pairs make of it.
    fn spread(&self) -> f64 {
        let squares: f64 = self.means.iter().map(|(count, _)| count * count).sum();
        let pairs_a_session = (self.pairs - squares / self.pairs) / self.freedom();
        ((self.between - self.within.unwrap_or_default()) / pairs_a_session).max(0.0)
    }

    fn over(&self) -> MeanDifference {
        let (spread, within) = (self.spread(), self.within.unwrap_or_default());
        let variance = |count: f64| spread + within / count;
        // Without any noise all sessions weigh the same.
        let weight = |count: f64| if variance(count) > 0.0 { 1.0 / variance(count) } else { 1.0 };
        let weights: f64 = self.means.iter().map(|(count, _)| weight(*count)).sum();
        let weighted = self.means.iter().map(|(count, mean)| weight(*count) * mean);
        let mean = weighted.sum::<f64>() / weights;
        let squares = self.means.iter().map(|(count, of)| weight(*count) * (of - mean).powi(2));
        let found = squares.sum::<f64>() / self.freedom();
        let expected = if variance(1.0) > 0.0 { 1.0 } else { 0.0 };
        let error = (found.max(expected) / weights).sqrt();
        MeanDifference { mean, error, freedom: self.freedom() }
    }

    /// The probability of sessions at least so unlike where they do not differ (analysis of
    /// variance); `None`: nothing is known of it.
    fn p_value(&self) -> Option<f64> {
        let within = self.within?;
        if self.between <= within.max(ROUNDING) {
            return Some(1.0);
        }
        if within == 0.0 {
            return Some(0.0);
        }
        let freedom = self.pairs - self.means.len() as f64;
        let ratios = FisherSnedecor::new(self.freedom(), freedom).ok()?;
        Some(ratios.sf(self.between / within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    /// The change in each session as a logarithm, and its pairs: in each half a dozen, around 5 %,
    /// with this spread of sessions.
    fn sessions(noise: &mut SeededNoise, count: usize, spread: f64) -> Vec<(f64, Vec<(f64, f64)>)> {
        let mut session = || {
            let change = 0.05 + spread * noise.normal();
            let mut pair = || (100.0, 100.0 * (change + 0.02 * noise.normal()).exp());
            (change, (0..6).map(|_| pair()).collect())
        };
        (0..count).map(|_| session()).collect()
    }

    #[test]
    fn what_another_session_has_is_in_the_interval_over_them() {
        let mut noise = SeededNoise::new(3);
        for (count, spread) in [(2, 0.0), (2, 0.01), (2, 0.05), (5, 0.0), (5, 0.01), (5, 0.05)] {
            let mut covered = [0, 0];
            for _ in 0..2000 {
                let (changes, pairs): (Vec<f64>, Vec<_>) =
                    sessions(&mut noise, count, spread).into_iter().unzip();
                let effect = session_effect(&pairs, 0.95, 1).expect("pairs");
                let mean = changes.iter().sum::<f64>() / count as f64;
                let within = effect.within.expect("several pairs each");
                covered[0] += u32::from(within.covers(mean.exp_m1()));
                covered[1] += u32::from(effect.over.covers(0.05f64.exp_m1()));
            }
            assert!((1860..1940).contains(&covered[0]), "{count} {spread}: {covered:?}");
            assert!(covered[1] >= 1860, "{count} {spread}: {covered:?}");
        }
    }

    #[test]
    fn sessions_that_differ_by_chance_are_alike_in_95_of_100() {
        let mut noise = SeededNoise::new(4);
        let mut unlike = |spread: f64| {
            let found = (0..1000).filter(|_| {
                let sessions = sessions(&mut noise, 4, spread).into_iter();
                let pairs: Vec<_> = sessions.map(|(_, pairs)| pairs).collect();
                session_effect(&pairs, 0.95, 1).expect("pairs").is_unlike
            });
            found.count()
        };
        assert!((25..80).contains(&unlike(0.0)));
        assert!(unlike(0.05) > 900);
    }

    #[test]
    fn a_session_with_one_pair_has_no_interval_of_its_own() {
        let sessions = [vec![(100.0, 104.0)], vec![(100.0, 106.0)]];
        let effect = session_effect(&sessions, 0.95, 1).expect("two sessions");
        assert_eq!((&effect.each[..], effect.within), (&[None, None][..], None));
        // The same as two pairs.
        let pairs = LogRatio::paired(&sessions.concat()).expect("two pairs").interval(0.95);
        assert!((effect.over.low - pairs.low).abs() < 1e-9, "{effect:?}");
        assert!((effect.over.high - pairs.high).abs() < 1e-6, "{effect:?}");
        assert!(!effect.is_unlike);
    }

    #[test]
    fn fewer_than_two_sessions_or_no_logarithm_have_no_effect() {
        let pairs = vec![(100.0, 104.0), (100.0, 105.0)];
        assert_eq!(session_effect(std::slice::from_ref(&pairs), 0.95, 1), None);
        assert_eq!(session_effect(&[pairs.clone(), Vec::new()], 0.95, 1), None);
        assert_eq!(session_effect(&[pairs.clone(), vec![(0.0, 1.0)]], 0.95, 1), None);
        let same = session_effect(&[pairs.clone(), pairs], 0.95, 1).expect("two sessions");
        assert!(!same.is_unlike && same.over.low < 0.045 && same.over.high > 0.045);
        let exact = vec![(100.0, 104.0); 2];
        let exact = session_effect(&[exact.clone(), exact], 0.95, 1).expect("two sessions");
        assert!((exact.over.high - exact.over.low).abs() < 1e-9 && !exact.is_unlike);
        // What rounding makes of equal ratios is no difference.
        let rounded = |count: usize, a: f64| vec![(a, a * 1.1); count];
        let sessions = [rounded(3, 100.0), rounded(5, 0.3), rounded(7, 7e5)];
        let rounded = session_effect(&sessions, 0.95, 1).expect("three sessions");
        assert!(!rounded.is_unlike, "{rounded:?}");
    }
}
