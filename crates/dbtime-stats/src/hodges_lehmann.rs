//! Medians of differences, which a few odd runs do not move (Hodges and Lehmann 1963).

use crate::ConfidenceInterval;

/// All differences whose median is the change, with what the ranks of them would be by chance.
pub(crate) struct RankTest {
    /// In ascending order.
    differences: Vec<f64>,
    /// In how many ways the test's statistic comes to each number.
    ways: Vec<f64>,
}

impl RankTest {
    /// The signed-rank test of differences of pairs: the means of all pairs of these values, each
    /// with itself included.
    pub(crate) fn paired(values: &[f64]) -> Self {
        let n = values.len();
        let mut means = Vec::with_capacity(n * (n + 1) / 2);
        for (at, one) in values.iter().enumerate() {
            means.extend(values[at..].iter().map(|other| (one + other) / 2.0));
        }
        Self::of(means, signed_ranks(n))
    }

    /// The Mann-Whitney test: all differences of a value of `b` from one of `a`.
    pub(crate) fn unpaired(a: &[f64], b: &[f64]) -> Self {
        let each = b.iter().flat_map(|b| a.iter().map(move |a| b - a));
        Self::of(each.collect(), rank_sums(a.len(), b.len()))
    }

    fn of(mut differences: Vec<f64>, ways: Vec<f64>) -> Self {
        differences.sort_by(f64::total_cmp);
        Self { differences, ways }
    }

    /// The median with the interval that covers at least `level` of all repetitions: those of the
    /// differences that the test does not refuse. `None` where there are too few for that: fewer
    /// than six pairs, or four a side, for 95 %.
    pub(crate) fn interval(&self, level: f64) -> Option<ConfidenceInterval> {
        let all = &self.differences;
        let most = (1.0 - level) / 2.0 * self.ways.iter().sum::<f64>();
        let mut below = 0.0;
        let left_out = self.ways.iter().take_while(|ways| {
            below += **ways;
            below <= most
        });
        let left_out = left_out.count().checked_sub(1)?;
        let [low, high] = [*all.get(left_out)?, *all.get(all.len().checked_sub(1 + left_out)?)?];
        let middle = all.len() / 2;
        let estimate = match all.len() % 2 {
            1 => all[middle],
            _ => (all[middle - 1] + all[middle]) / 2.0,
        };
        (low <= high).then_some(ConfidenceInterval { estimate, low, high, level })
    }

    /// The probability of ranks at least so far from the middle where nothing differs, two-sided;
    /// a difference of zero speaks against a change. It is below 1 − `level` where the interval of
    /// that level has no zero in it.
    pub(crate) fn p_value(&self) -> f64 {
        let [up, down] = [self.tail(|one| one <= 0.0), self.tail(|one| one >= 0.0)];
        (2.0 * up.min(down)).min(1.0)
    }

    /// The probability of ranks by which as few differences lie beyond a bound as do, or fewer,
    /// were the change that bound; one-sided.
    pub(crate) fn tail(&self, is_beyond: impl Fn(f64) -> bool) -> f64 {
        let beyond = self.differences.iter().filter(|difference| is_beyond(**difference)).count();
        self.ways.iter().take(beyond + 1).sum::<f64>() / self.ways.iter().sum::<f64>()
    }
}

/// In how many ways some of the ranks 1 to n add up to each sum.
fn signed_ranks(n: usize) -> Vec<f64> {
    let mut ways = vec![1.0];
    for rank in 1..=n {
        let mut next = ways.clone();
        next.resize(ways.len() + rank, 0.0);
        ways.iter().enumerate().for_each(|(sum, count)| next[sum + rank] += count);
        ways = next;
    }
    ways
}

/// In how many ways `b` values among `a` others have each number of these before them: the
/// coefficients of the Gaussian binomial, a product of (1 - x^(a+k)) / (1 - x^k) for k up to b.
fn rank_sums(a: usize, b: usize) -> Vec<f64> {
    let length = a * b + 1;
    let mut ways = vec![0.0; length];
    ways[0] = 1.0;
    for k in 1..=b {
        for sum in (a + k..length).rev() {
            ways[sum] -= ways[sum - a - k];
        }
        for sum in k..length {
            ways[sum] += ways[sum - k];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ways_are_those_of_counting() {
        assert_eq!(signed_ranks(3), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!(rank_sums(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(rank_sums(15, 15).iter().sum::<f64>(), 155_117_520.0);
    }

    /// Critical values of both tests at 5 %, two-sided (Hollander and Wolfe, Nonparametric
    /// Statistical Methods, tables A.4 and A.6): 0 of six pairs, 8 of ten; 0 of four a side, 23 of
    /// ten.
    #[test]
    fn intervals_leave_out_as_many_as_the_tables_say() {
        let values = |n: u32| (0..n).map(|at| f64::from(1 << at)).collect::<Vec<f64>>();
        for (n, critical) in [(6, 0), (10, 8)] {
            let values = values(n);
            let mut means: Vec<f64> = Vec::new();
            for (at, one) in values.iter().enumerate() {
                means.extend(values[at..].iter().map(|other| (one + other) / 2.0));
            }
            means.sort_by(f64::total_cmp);
            let interval = RankTest::paired(&values).interval(0.95).expect("enough");
            assert_eq!(interval.low, means[critical], "{n}");
        }
        for (n, critical) in [(4, 0), (10, 23)] {
            let (a, b) = (values(n), values(n).iter().map(|one| one * 1.3).collect::<Vec<f64>>());
            let mut all: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
            all.sort_by(f64::total_cmp);
            let interval = RankTest::unpaired(&a, &b).interval(0.95).expect("enough");
            assert_eq!(interval.low, all[critical], "{n}");
        }
    }

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!(RankTest::paired(&[1.0; 5]).interval(0.95), None);
        assert_eq!(RankTest::unpaired(&[1.0; 3], &[1.0; 3]).interval(0.95), None);
        assert_eq!(RankTest::unpaired(&[], &[]).interval(0.95), None);
    }

    /// Of ten pairs with a rank sum of 8 against them: 0.0488 (the same tables); of six a side that
    /// do not overlap 2 / 924.
    #[test]
    fn probabilities_are_those_of_the_tables() {
        let ranks = [-1.0, -2.0, -5.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        assert!((RankTest::paired(&ranks).p_value() - 0.048_828).abs() < 1e-6);
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
        assert!((RankTest::unpaired(&a, &b).p_value() - 2.0 / 924.0).abs() < 1e-12);
        let apart = RankTest::unpaired(&a, &b);
        assert!((apart.tail(|one| one > 15.5) - 1.0 / 924.0).abs() < 1e-12);
        assert!((apart.tail(|one| one < 100.0) - 1.0).abs() < 1e-12);
        assert!((RankTest::paired(&[0.0; 8]).p_value() - 1.0).abs() < 1e-12);
        assert!((RankTest::paired(&[]).p_value() - 1.0).abs() < 1e-12);
    }
}
