//! How far values are from one heap, whatever its shape.

/// By the number of values the distance times its root that one heap stays below in 97.5 % of
/// samples. The heap is a uniform one, of all shapes the one that is taken for two most often
/// (Hartigan and Hartigan 1985); 40,000 samples each.
const LIMITS: [(usize, f64); 7] =
    [(6, 0.428), (7, 0.465), (8, 0.46), (10, 0.465), (15, 0.482), (20, 0.488), (50, 0.485)];

/// Whether sorted values are further from one heap than its samples are in 2.5 % of cases at most.
pub(crate) fn has_two_heaps(sorted: &[f64]) -> bool {
    distance(sorted) * (sorted.len() as f64).sqrt() > limit(sorted.len())
}

/// The limit of so many values, on a line between two of those that are known.
fn limit(count: usize) -> f64 {
    let above = LIMITS.iter().position(|(known, _)| *known >= count);
    let Some(above) = above else { return LIMITS[LIMITS.len() - 1].1 };
    let ((from, low), (to, high)) = (LIMITS[above.saturating_sub(1)], LIMITS[above]);
    match to > from {
        true => low + (high - low) * (count - from) as f64 / (to - from) as f64,
        false => high,
    }
}

/// The least distance of the shares of sorted values below each point from a curve that is convex
/// up to one of the values and concave from it on, as the distribution of one heap is. It is the
/// dip of Hartigan and Hartigan (The Dip Test of Unimodality, 1985), except that the curve may fall
/// at that value, which spares a search.
///
/// Cost: the square of the number of values.
fn distance(sorted: &[f64]) -> f64 {
    let turned: Vec<f64> = sorted.iter().rev().map(|value| -value).collect();
    let (before, behind) = (from_convex(sorted), from_convex(&turned));
    let both = before.iter().zip(behind.iter().rev()).map(|(one, other)| one.max(*other));
    both.fold(f64::INFINITY, f64::min)
}

/// For each of sorted values the distance of the shares below it from a convex curve.
fn from_convex(sorted: &[f64]) -> Vec<f64> {
    let share = |at: usize| at as f64 / sorted.len() as f64;
    let mut hull: Vec<usize> = Vec::new();
    let mut distances = Vec::with_capacity(sorted.len());
    for end in 0..sorted.len() {
        while let [.., one, two] = hull[..] {
            let (run, rise) = (sorted[two] - sorted[one], share(two) - share(one));
            let (next_run, next_rise) = (sorted[end] - sorted[two], share(end) - share(two));
            if run * next_rise > next_run * rise {
                break;
            }
            hull.pop();
        }
        hull.push(end);
        // Half of it: the curve may lie as far above the lowest corners as below the highest.
        distances.push(most_above(sorted, &hull) / 2.0);
    }
    distances
}

/// By how much the share up to a value, itself included, is above the line through the corners at
/// most, for those below the last corner.
fn most_above(sorted: &[f64], hull: &[usize]) -> f64 {
    let n = sorted.len() as f64;
    let mut most = 0.0f64;
    for corners in hull.windows(2) {
        let (from, to) = (corners[0], corners[1]);
        let slope = (to - from) as f64 / n / (sorted[to] - sorted[from]);
        let below = (from..to).filter(|at| sorted[*at] < sorted[hull[hull.len() - 1]]);
        for at in below {
            let line = from as f64 / n + slope * (sorted[at] - sorted[from]);
            most = most.max((at + 1) as f64 / n - line);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    #[test]
    fn two_points_are_as_far_from_one_heap_as_half_of_the_smaller_share() {
        let spread = |count: usize, at: f64| (0..count).map(move |one| at + 1e-6 * one as f64);
        for (lower, higher) in [(3, 3), (5, 20), (10, 40)] {
            let values: Vec<f64> = spread(lower, 0.0).chain(spread(higher, 1.0)).collect();
            let expected = lower.min(higher) as f64 / (lower + higher) as f64 / 2.0;
            assert!((distance(&values) - expected).abs() < 1e-4, "{lower} {higher}");
        }
        assert!(distance(&[5.0; 8]).abs() < 1e-12);
        let even: Vec<f64> = (0..20).map(f64::from).collect();
        assert!((distance(&even) - 0.5 / 20.0).abs() < 1e-9, "{}", distance(&even));
    }

    /// The share of samples of one heap that are taken for two.
    fn alarms(count: usize, mut value: impl FnMut() -> f64) -> f64 {
        let samples = if cfg!(feature = "long") { 40_000 } else { 4000 };
        let found = (0..samples).filter(|_| {
            let mut values: Vec<f64> = (0..count).map(|_| value()).collect();
            values.sort_by(f64::total_cmp);
            has_two_heaps(&values)
        });
        found.count() as f64 / f64::from(samples)
    }

    #[test]
    fn one_heap_of_any_shape_is_taken_for_two_in_at_most_25_of_1000_samples() {
        let mut noise = SeededNoise::new(1);
        for count in [6, 7, 10, 12, 20, 25, 50] {
            let even = alarms(count, || noise.uniform());
            assert!((0.015..0.035).contains(&even), "{count} values: {even}");
            let skewed = alarms(count, || -noise.uniform().ln());
            let tails = alarms(count, || noise.normal() / noise.uniform().max(0.01));
            assert!(skewed < 0.03 && tails < 0.03, "{count} values: {skewed} {tails}");
        }
    }
}
