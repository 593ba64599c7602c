//! Several tests at once, and the probability below which one of them has a finding.

/// What is less probable than this, were there nothing but chance, is a finding.
///
/// Unit: a probability.
pub const SIGNIFICANCE: f64 = 0.05;

/// The level that each of several intervals needs, for all of them together to have `level` (Šidák
/// 1967; theirs is higher where the estimates hang together, as they do by a common baseline).
///
/// Dunnett's quantiles (1955) are for one error that all share. With an error of their own, which
/// keeps a noisy configuration from widening all intervals, they are too small for few runs: of
/// three identical configurations and five pairs one differs in 7.1 % of studies, and by Šidák's in
/// 4.8 % (`tests/it/false_alarms.rs`).
pub(crate) fn level_of_each(level: f64, comparisons: usize) -> f64 {
    level.powf(1.0 / comparisons.max(1) as f64)
}

/// The probabilities of several tests, adjusted so that one false finding among all of them has the
/// chance that each had alone (Holm 1979).
///
/// Shape: as `p`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let (mut adjusted, mut most) = (vec![0.0; p.len()], 0.0f64);
    for (rank, at) in order.into_iter().enumerate() {
        most = most.max(p[at] * (p.len() - rank) as f64).min(1.0);
        adjusted[at] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R 4.3, `p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")` and of three in another order.
    #[test]
    fn probabilities_are_those_of_r() {
        let near = |found: Vec<f64>, wanted: &[f64]| {
            let pairs = found.iter().zip(wanted);
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        near(holm(&[0.01, 0.02, 0.03, 0.04, 0.05]), &[0.05, 0.08, 0.09, 0.09, 0.09]);
        near(holm(&[0.5, 0.001, 0.02]), &[0.5, 0.003, 0.04]);
        near(holm(&[0.9, 0.8]), &[1.0, 1.0]);
    }
}
