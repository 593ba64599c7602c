//! Sums from which means and deviations are told, without keeping the values.

/// Sums from which a mean and a deviation are told. Unit: of what is added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunningMoments {
    /// How many values.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub sum_of_squares: f64,
    /// The least; 0 where there is none.
    pub least: f64,
    /// The most; 0 where there is none.
    pub most: f64,
}

impl RunningMoments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.least = if self.count == 0 { value } else { self.least.min(value) };
        self.most = if self.count == 0 { value } else { self.most.max(value) };
        self.count += 1;
        self.sum += value;
        self.sum_of_squares += value * value;
    }

    /// Adds all values of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count > 0 {
            self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
            self.most = if self.count == 0 { other.most } else { self.most.max(other.most) };
        }
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// What was added since an earlier instant; the least and the most stay as they are.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            count: self.count - earlier.count,
            sum: self.sum - earlier.sum,
            sum_of_squares: self.sum_of_squares - earlier.sum_of_squares,
            ..*self
        }
    }

    /// The same values, each times `factor`: in another unit.
    pub fn times(&self, factor: f64) -> Self {
        Self {
            count: self.count,
            sum: self.sum * factor,
            sum_of_squares: self.sum_of_squares * factor * factor,
            least: self.least * factor,
            most: self.most * factor,
        }
    }

    /// The mean; no number where nothing was added.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The standard deviation of all values, which are no sample of more.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        // Rounding may bring the difference of two like numbers below zero.
        (self.sum_of_squares / self.count as f64 - mean * mean).max(0.0).sqrt()
    }

    /// Sum, sum of squares, least and most, as a log has them.
    pub(in crate::pgbench) fn columns(&self) -> String {
        let Self { sum, sum_of_squares, least, most, .. } = self;
        format!("{sum:.0} {sum_of_squares:.0} {least:.0} {most:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_add_up() {
        let (mut all, mut part) = (RunningMoments::default(), RunningMoments::default());
        [1.0, 5.0].into_iter().for_each(|value| all.add(value));
        let earlier = all;
        [3.0, 7.0].into_iter().for_each(|value| part.add(value));
        all.merge(&part);
        all.merge(&RunningMoments::default());
        assert_eq!((all.count, all.mean(), all.least, all.most), (4, 4.0, 1.0, 7.0));
        assert_eq!(format!("{:.3}", all.deviation()), "2.236");
        assert_eq!((all.since(&earlier).count, all.since(&earlier).mean()), (2, 5.0));
        assert!(RunningMoments::default().mean().is_nan());
        let times = all.times(1e3);
        assert_eq!((times.count, times.mean(), times.least, times.most), (4, 4e3, 1e3, 7e3));
        assert!((times.deviation() - 1e3 * all.deviation()).abs() < 1e-9);
    }

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        let (mut left, mut right) = (RunningMoments::default(), RunningMoments::default());
        [2.0, 4.0].into_iter().for_each(|value| left.add(value));
        [6.0].into_iter().for_each(|value| right.add(value));
        left.merge(&right);
        left.merge(&RunningMoments::default());
        assert_eq!((left.count, left.least, left.most, left.mean()), (3, 2.0, 6.0, 4.0));
        assert!((left.deviation() - (8f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
