//! The time budget: responses of transactions as sums of their parts.

use crate::parts::{Part, PartSet, Parts};
use crate::units::Nanos;

/// Sums of the parts over a number of transactions (or statements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// How many transactions were added.
    pub count: u64,
    /// The sum of their responses. Unit: nanoseconds.
    pub response_ns: u64,
    /// The sum of |unexplained| over single transactions, without what counts twice. Unit:
    /// nanoseconds.
    pub unexplained_abs_ns: u64,
    /// The sum of what is known to be in two parts at once: unexplained is less by as much. Unit:
    /// nanoseconds.
    pub twice_ns: u64,
    /// The sums of their parts.
    pub sums: Parts,
    /// The parts that were measured on each of them.
    measured_on_all: PartSet,
}

impl Budget {
    /// Adds one transaction whose parts were closed against its response.
    #[inline]
    pub fn add(&mut self, response: Nanos, parts: &Parts) {
        self.add_overlapping(response, parts, Nanos::ZERO);
    }

    /// The same of one with so much in two parts at once.
    #[inline]
    pub fn add_overlapping(&mut self, response: Nanos, parts: &Parts, twice: Nanos) {
        self.measured_on_all = match self.count {
            0 => parts.measured(),
            _ => self.measured_on_all.common(parts.measured()),
        };
        self.count += 1;
        // A file may say anything.
        self.response_ns = self.response_ns.saturating_add(response.0);
        let unexplained = parts.get(Part::Unexplained).saturating_add(twice.signed());
        self.unexplained_abs_ns =
            self.unexplained_abs_ns.saturating_add(unexplained.unsigned_abs());
        self.twice_ns = self.twice_ns.saturating_add(twice.0);
        self.sums.add_all(parts);
    }

    /// Adds another budget. Merging is the same as having added its transactions here.
    pub fn merge(&mut self, other: &Self) {
        self.measured_on_all = match (self.count, other.count) {
            (0, _) => other.measured_on_all,
            (_, 0) => self.measured_on_all,
            _ => self.measured_on_all.common(other.measured_on_all),
        };
        self.count += other.count;
        self.response_ns = self.response_ns.saturating_add(other.response_ns);
        self.unexplained_abs_ns = self.unexplained_abs_ns.saturating_add(other.unexplained_abs_ns);
        self.twice_ns = self.twice_ns.saturating_add(other.twice_ns);
        self.sums.add_all(&other.sums);
    }

    /// The parts that were measured on some of them and not on others: of the others they are among
    /// the remainder.
    pub fn partly_measured(&self) -> PartSet {
        self.sums.measured().without(self.measured_on_all)
    }

    /// Σ |unexplained| / Σ response over single transactions; zero when nothing was added. What is
    /// known to count twice is no error, and is left out of unexplained.
    pub fn error(&self) -> f64 {
        if self.response_ns == 0 {
            return 0.0;
        }
        self.unexplained_abs_ns as f64 / self.response_ns as f64
    }

    /// The mean of what counts twice per transaction. Unit: microseconds.
    pub fn mean_twice_us(&self) -> f64 {
        self.twice_ns as f64 / 1e3 / self.count.max(1) as f64
    }

    /// The mean of a part per transaction. Unit: nanoseconds.
    pub fn mean_ns(&self, part: Part) -> f64 {
        self.sums.get(part) as f64 / self.count.max(1) as f64
    }
}

/// How many power-of-two response buckets there are: bucket `b` holds `2^(b-1) <= ns < 2^b`.
pub(crate) const BUCKET_COUNT: usize = 48;

/// Budgets by power-of-two response bucket: a mean cannot explain a p99, these can.
#[derive(Clone, Debug)]
pub struct BudgetCells(Box<[Budget; BUCKET_COUNT]>);

impl Default for BudgetCells {
    fn default() -> Self {
        Self(Box::new([Budget::default(); BUCKET_COUNT]))
    }
}

impl BudgetCells {
    /// The bucket a response falls into; the last one also holds everything above 2^47 ns (39 h).
    #[inline]
    pub(crate) fn bucket(response: Nanos) -> usize {
        ((64 - response.0.leading_zeros()) as usize).min(BUCKET_COUNT - 1)
    }

    /// Adds one transaction, with so much in two parts at once.
    #[inline]
    pub(crate) fn add(&mut self, response: Nanos, parts: &Parts, twice: Nanos) {
        self.0[Self::bucket(response)].add_overlapping(response, parts, twice);
    }

    /// Adds another set of cells.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            mine.merge(theirs);
        }
    }

    /// The cells that hold anything, with the exclusive upper edge of each in nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Nanos, &Budget)> {
        let cells = self.0.iter().enumerate().filter(|(_, cell)| cell.count > 0);
        cells.map(|(bucket, cell)| (Nanos(1 << bucket), cell))
    }

    /// All cells together.
    pub fn total(&self) -> Budget {
        let mut total = Budget::default();
        for cell in self.0.iter() {
            total.merge(cell);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_only_some_have_measured_is_known() {
        let mut budget = Budget::default();
        budget.add(Nanos(5), &Parts::of(&[(Part::Cpu, 3), (Part::Unexplained, 2)]));
        assert_eq!(budget.partly_measured(), PartSet::default());
        let mut other = Budget::default();
        other.add(Nanos(5), &Parts::only(Part::Unexplained, 5));
        budget.merge(&other);
        budget.merge(&Budget::default());
        assert_eq!(budget.partly_measured(), PartSet::of(&[Part::Cpu]));
        assert_eq!(budget.sums.measured(), PartSet::of(&[Part::Cpu, Part::Unexplained]));
    }

    #[test]
    fn errors_of_opposite_sign_do_not_cancel() {
        let mut budget = Budget::default();
        for cpu in [900, 1100] {
            let mut parts = Parts::default();
            parts.add(Part::Cpu, cpu);
            parts.close(Nanos(1000));
            budget.add(Nanos(1000), &parts);
        }
        assert_eq!(budget.sums.get(Part::Unexplained), 0);
        assert!((budget.error() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn what_is_known_to_count_twice_is_no_error() {
        let mut budget = Budget::default();
        for (twice, cpu) in [(300, 1290), (0, 1000)] {
            let mut parts = Parts::only(Part::Cpu, cpu);
            parts.close(Nanos(1000));
            budget.add_overlapping(Nanos(1000), &parts, Nanos(twice));
        }
        assert_eq!(budget.sums.get(Part::Unexplained), -290);
        assert!((budget.error() - 0.005).abs() < 1e-12, "{budget:?}");
        assert!((budget.mean_twice_us() - 0.15).abs() < 1e-12, "{budget:?}");
    }

    proptest! {
        #[test]
        fn merged_cells_equal_one_set(a in prop::collection::vec(0u64..1 << 50, 0..50), b in prop::collection::vec(0u64..1 << 50, 0..50)) {
            let fill = |values: &[u64]| {
                let mut cells = BudgetCells::default();
                for &ns in values {
                    let mut parts = Parts::default();
                    parts.close(Nanos(ns));
                    cells.add(Nanos(ns), &parts, Nanos::ZERO);
                }
                cells
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            let whole = fill(&[a, b].concat());
            prop_assert_eq!(merged.iter().collect::<Vec<_>>(), whole.iter().collect::<Vec<_>>());
        }
    }
}
