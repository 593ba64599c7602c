//! In which order a report of logs has its classes.

use crate::format::finite;
use dbtime_model::log_digest::{DigestClass, DigestTimes};

/// By what classes are ordered, the largest first; those that are alike by their counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassOrder {
    /// Their durations together.
    #[default]
    Total,
    /// How many records they have.
    Count,
    /// The mean duration.
    Mean,
    /// The 99th percentile of the durations.
    P99,
    /// The longest duration.
    Max,
    /// How many records failed.
    Errors,
}

impl ClassOrder {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 6] =
        [Self::Total, Self::Count, Self::Mean, Self::P99, Self::Max, Self::Errors];

    /// The name in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Count => "count",
            Self::Mean => "mean",
            Self::P99 => "p99",
            Self::Max => "max",
            Self::Errors => "errors",
        }
    }

    /// What this order comes to where no record has a duration.
    pub(super) const fn without_times(self) -> Self {
        match self {
            Self::Errors => Self::Errors,
            _ => Self::Count,
        }
    }

    /// The classes in this order.
    pub(super) fn sorted(self, classes: &[DigestClass]) -> Vec<&DigestClass> {
        let mut sorted: Vec<&DigestClass> = classes.iter().collect();
        sorted.sort_by(|a, b| {
            self.value(b).total_cmp(&self.value(a)).then_with(|| b.count.cmp(&a.count))
        });
        sorted
    }

    fn value(self, class: &DigestClass) -> f64 {
        let time = |of: fn(&DigestTimes) -> f64| class.times.as_ref().map_or(0.0, of);
        finite(match self {
            Self::Total => time(|times| times.total_us),
            Self::Count => class.count as f64,
            Self::Mean => time(|times| times.mean_us),
            Self::P99 => time(|times| times.p99_us),
            Self::Max => time(|times| times.max_us),
            // What is not known comes last.
            Self::Errors => class.errors.map_or(-1.0, |errors| errors as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_without_durations_are_ordered_by_their_counts() {
        let class = |count, errors| DigestClass { count, errors, ..DigestClass::default() };
        let classes = [class(1, Some(7)), class(3, Some(0)), class(2, Some(7)), class(9, None)];
        let counts = |order: ClassOrder| {
            order.sorted(&classes).iter().map(|class| class.count).collect::<Vec<_>>()
        };
        assert_eq!(counts(ClassOrder::Total), [9, 3, 2, 1]);
        assert_eq!(ClassOrder::P99.without_times(), ClassOrder::Count);
        assert_eq!(ClassOrder::Errors.without_times(), ClassOrder::Errors);
        assert_eq!(counts(ClassOrder::Errors), [2, 1, 3, 9]);
    }
}
