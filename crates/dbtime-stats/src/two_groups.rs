//! Whether runs fall into two groups, whose mean no run has.

/// Fewer values are never called two groups. Six can be: those of HammerDB's issue 822.
const FEWEST: usize = 6;

/// By how much two groups must explain the values better: the difference of the Bayesian
/// information criteria. Above 10 it is called very strong (Kass and Raftery 1995).
const LEAST_EVIDENCE: f64 = 10.0;

/// How far the groups must be apart, in standard deviations within them.
const LEAST_DISTANCE: f64 = 4.0;

/// Values that fall into two groups. Two groups of equal size six deviations apart are found in 16
/// % of cases with six values, in 57 % with 15, in 97 % with 30; of normal values less than 1 % are
/// called two (4,000 samples each, `tests/it/false_alarms.rs`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSplit {
    /// How many are in the lower group.
    pub lower: usize,
    /// How many are in the higher one.
    pub higher: usize,
    /// The geometric mean of the lower group.
    pub lower_center: f64,
    /// The same of the higher one.
    pub higher_center: f64,
    /// The difference of the Bayesian information criteria.
    pub evidence: f64,
}

impl GroupSplit {
    /// The best split of the values, where it is one: a mixture of two normal distributions of the
    /// logarithms, of the same width, against one; at least two values in each.
    pub fn find(values: &[f64]) -> Option<Self> {
        if values.len() < FEWEST {
            return None;
        }
        let mut logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        if logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        logs.sort_by(f64::total_cmp);
        let splits = (2..=logs.len() - 2).map(|lower| Self::at(&logs, lower));
        let (split, distance) =
            splits.max_by(|(a, _), (b, _)| a.evidence.total_cmp(&b.evidence))?;
        (split.evidence > LEAST_EVIDENCE && distance >= LEAST_DISTANCE).then_some(split)
    }

    /// The split of sorted logarithms behind so many, and how far apart its groups are.
    fn at(logs: &[f64], lower: usize) -> (Self, f64) {
        let n = logs.len() as f64;
        let (low, high) = logs.split_at(lower);
        let ([low_mean, low_squares], [high_mean, high_squares]) = (squares(low), squares(high));
        let within = low_squares + high_squares;
        let share = |group: &[f64]| group.len() as f64 * (group.len() as f64 / n).ln();
        // 2 against 4 parameters: mean and width; and another mean, and the share of the groups.
        let evidence =
            n * (squares(logs)[1] / within).ln() - 2.0 * n.ln() + 2.0 * (share(low) + share(high));
        let distance = (high_mean - low_mean) / (within / (n - 2.0)).sqrt();
        let split = Self {
            lower,
            higher: logs.len() - lower,
            lower_center: low_mean.exp(),
            higher_center: high_mean.exp(),
            evidence,
        };
        (split, distance)
    }
}

/// The mean, and the sum of squared differences from it.
fn squares(values: &[f64]) -> [f64; 2] {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    [mean, values.iter().map(|value| (value - mean) * (value - mean)).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six identical runs of three hours, transactions a minute (HammerDB, issue 822).
    #[test]
    fn six_runs_of_hammerdb_are_two_groups() {
        let runs = [298_998.0, 308_659.0, 474_245.0, 456_699.0, 283_805.0, 449_005.0];
        let split = GroupSplit::find(&runs).expect("two groups");
        assert_eq!((split.lower, split.higher), (3, 3));
        assert!((split.lower_center - 296_976.7).abs() < 1.0, "{split:?}");
        assert!((split.higher_center - 459_862.5).abs() < 1.0, "{split:?}");
        assert!((split.evidence - 12.313).abs() < 1e-3, "{split:?}");
    }

    /// Fifteen runs of a pool of threads with 2,048 connections, transactions a second (Cook, 2009:
    /// "one lucky run"): two groups far apart, for which the evidence is strong and not very strong.
    /// The figures are numpy's.
    #[test]
    fn fifteen_runs_of_a_pool_of_threads_fall_short_of_two_groups() {
        let runs = [
            962.22, 1197.00, 836.50, 963.00, 992.25, 915.71, 919.54, 917.09, 875.09, 1180.62,
            1185.80, 1146.90, 1141.47, 1158.74, 1177.59f64,
        ];
        let mut logs = runs.map(f64::ln);
        logs.sort_by(f64::total_cmp);
        let (split, distance) = GroupSplit::at(&logs, 8);
        assert!((split.lower_center - 921.45).abs() < 0.01, "{split:?}");
        assert!((split.higher_center - 1169.57).abs() < 0.01, "{split:?}");
        assert!((split.evidence - 8.554).abs() < 1e-3, "{split:?}");
        assert!((distance - 5.631).abs() < 1e-3, "{distance}");
        assert_eq!(GroupSplit::find(&runs), None);
    }

    #[test]
    fn one_group_is_none() {
        let even: Vec<f64> = (0..12).map(|at| 100.0 + f64::from(at)).collect();
        assert_eq!(GroupSplit::find(&even), None);
        assert_eq!(GroupSplit::find(&[100.0, 100.1, 200.0, 200.1]), None);
        assert_eq!(GroupSplit::find(&[0.0; 8]), None);
        assert_eq!(GroupSplit::find(&[5.0; 8]), None);
    }
}
