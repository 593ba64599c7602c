//! Which operation a transaction is.

use crate::random::{RandomStream, draw};
use dbtime_model::OperationId;

/// The operations by weight. Picking is a pure function of (seed, transaction index).
#[derive(Clone, Debug)]
pub struct Mix {
    /// Upper ends of the operations' parts of the 64-bit range, ascending; the last is its end.
    ends: Vec<u64>,
    shares: Vec<f64>,
}

impl Mix {
    /// The mix of some weights; those that are not above zero and finite count as zero.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let sound = |w: &f64| if w.is_finite() && *w > 0.0 { *w } else { 0.0 };
        let weights: Vec<f64> = weights.iter().map(sound).collect();
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let mut cumulated = 0.0;
        let end = |share: &f64| {
            cumulated += share;
            // A cast saturates: the last end is the end of the range or a rounding error below.
            (cumulated * 2f64.powi(64)) as u64
        };
        Self { ends: shares.iter().map(end).collect(), shares }
    }

    /// The mix of one operation.
    #[cfg(test)]
    pub(crate) fn single() -> Self {
        Self::new(&[1.0])
    }

    /// The operation of a transaction. Cost: about 3 ns, and nothing for one operation.
    #[inline]
    pub fn pick(&self, seed: u64, index: u64) -> OperationId {
        if self.ends.len() <= 1 {
            return OperationId(0);
        }
        let bits = draw(seed, RandomStream::Mix, index);
        let position = self.ends.partition_point(|end| *end <= bits);
        OperationId(position.min(self.ends.len() - 1) as u16)
    }

    /// The share of an operation in all transactions, 0 to 1.
    pub fn share(&self, operation: OperationId) -> f64 {
        self.shares.get(operation.0 as usize).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_come_by_weight() {
        let weights = [45.0, 43.0, 4.0, 4.0, 4.0];
        let mix = Mix::new(&weights);
        let n = 200_000;
        let mut counts = [0f64; 5];
        (0..n).for_each(|index| counts[mix.pick(11, index).0 as usize] += 1.0);
        let expected = |op: usize| mix.share(OperationId(op as u16)) * n as f64;
        let chi2: f64 = (0..5).map(|op| (counts[op] - expected(op)).powi(2) / expected(op)).sum();
        // 4 degrees of freedom: 99.9 % of samples lie below 18.467.
        assert!(chi2 < 18.467, "chi² {chi2}");
    }

    #[test]
    fn one_operation_needs_no_draw() {
        let mix = Mix::new(&[0.5]);
        assert!((0..100).all(|index| mix.pick(1, index) == OperationId(0)));
        assert_eq!(mix.share(OperationId(0)), 1.0);
        assert_eq!(mix.share(OperationId(1)), 0.0);
    }
}
