//! Intervals.

/// An estimate with the interval that covers the true value in `level` of all repetitions of the
/// whole experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The estimate.
    pub estimate: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The share, in `0.0..1.0`.
    pub level: f64,
}

impl ConfidenceInterval {
    /// Whether a value lies in it, its ends included.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether all of it is nearer to zero than the margin.
    pub fn is_within(&self, margin: f64) -> bool {
        -margin < self.low && self.high < margin
    }

    /// The same of another scale; the scale must grow with this one.
    #[must_use]
    pub fn map(&self, scale: impl Fn(f64) -> f64) -> Self {
        let [estimate, low, high] = [self.estimate, self.low, self.high].map(scale);
        Self { estimate, low, high, level: self.level }
    }
}
