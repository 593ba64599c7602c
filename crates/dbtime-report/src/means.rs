//! Mean parts per transaction with the questions a report asks of them.
//!
//! The record's own type holds the figures of one operation or bucket; this one also holds what
//! several of them come to together.

use crate::format::finite;
use dbtime_model::parts::{PART_COUNT, Part};
use dbtime_model::query::QueryForm;
use dbtime_model::record::BudgetUs;

/// Mean per transaction by part. Unit: microseconds; `None` when a part was not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PartMeans {
    parts: [Option<f64>; PART_COUNT],
    /// The mean response the parts add up to.
    pub(crate) total: f64,
    /// How many transactions it is the mean of; zero when the record does not say.
    pub(crate) count: u64,
}

impl From<&BudgetUs> for PartMeans {
    fn from(budget: &BudgetUs) -> Self {
        Self {
            parts: Part::ALL.map(|part| budget.get(part).map(finite)),
            total: finite(budget.total),
            count: 0,
        }
    }
}

impl From<&QueryForm> for PartMeans {
    fn from(form: &QueryForm) -> Self {
        let mut means = Self::default();
        for part in &form.parts {
            means.parts[part.part as usize] = Some(finite(part.mean_us));
        }
        let mean_us = form.watched_mean_us.or(form.times.map(|times| times.mean_us));
        means.total = mean_us.map_or(0.0, finite);
        means.count = form.times.map_or(0, |times| times.count);
        means
    }
}

impl PartMeans {
    /// The mean over several groups, each weighed by its number of transactions.
    pub(crate) fn of<'a>(groups: impl Iterator<Item = (&'a BudgetUs, u64)>) -> Self {
        let mut sum = Self::default();
        for (budget, count) in groups {
            let weight = count as f64;
            sum.count = sum.count.saturating_add(count);
            sum.total += finite(budget.total) * weight;
            for part in Part::ALL {
                if let Some(us) = budget.get(part) {
                    *sum.parts[part as usize].get_or_insert(0.0) += finite(us) * weight;
                }
            }
        }
        let scale = 1.0 / sum.count.max(1) as f64;
        sum.total *= scale;
        sum.parts.iter_mut().flatten().for_each(|us| *us *= scale);
        sum
    }

    /// One part; `None` when it was not measured.
    pub(crate) fn get(&self, part: Part) -> Option<f64> {
        self.parts[part as usize]
    }

    /// A part's share of the whole in percent; `None` when not measured or the whole is nothing.
    pub(crate) fn share(&self, part: Part) -> Option<f64> {
        self.get(part).filter(|_| self.total > 0.0).map(|us| us / self.total * 100.0)
    }

    /// Whether it is known where the time went: one number for a server and the way to it is none.
    pub(crate) fn are_split(&self) -> bool {
        self.largest().iter().any(|(part, _)| *part != Part::ServerAndWire)
    }

    /// The measured parts that are not zero, and always `unexplained`, in the order of a
    /// transaction's life.
    pub(crate) fn present(&self) -> Vec<(Part, f64)> {
        let shown = |part: Part, us: f64| us != 0.0 || part == Part::Unexplained;
        let parts = Part::ALL.into_iter().filter_map(|part| self.get(part).map(|us| (part, us)));
        parts.filter(|&(part, us)| shown(part, us)).collect()
    }

    /// The parts above zero, largest first.
    pub(crate) fn largest(&self) -> Vec<(Part, f64)> {
        let mut parts = self.present();
        parts.retain(|&(_, us)| us > 0.0);
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }

    /// The parts that were measured and came to nothing.
    pub(crate) fn zero(&self) -> Vec<Part> {
        let zero = |part: &Part| self.get(*part) == Some(0.0) && *part != Part::Unexplained;
        Part::ALL.into_iter().filter(zero).collect()
    }

    /// The parts that were not measured.
    ///
    /// `server_and_wire` is one number for parts that could not be told apart: it is missing from
    /// the list when those were measured, and they are when it was. Kinds of a part are missing
    /// with the whole, and only then.
    pub(crate) fn not_measured(&self) -> Vec<Part> {
        let is_known = |part: &Part| self.get(*part).is_some();
        let has_kinds =
            |part: Part| Part::ALL.iter().any(|kind| kind.whole() == Some(part) && is_known(kind));
        let missing = |part: &Part| {
            let is_figure = !matches!(part, Part::Unexplained | Part::ServerAndWire);
            is_figure && part.whole().is_none() && !is_known(part) && !has_kinds(*part)
        };
        Part::ALL.into_iter().filter(missing).collect()
    }

    /// The sum of the parts above zero: what a stacked bar has room for.
    pub(crate) fn positive(&self) -> f64 {
        self.parts.iter().flatten().filter(|us| **us > 0.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_weighed_and_unmeasured_stays_unmeasured() {
        let budget = |cpu: f64, total: f64| BudgetUs {
            cpu: Some(cpu),
            unexplained: Some(total - cpu),
            total,
            ..BudgetUs::default()
        };
        let (a, b) = (budget(10.0, 20.0), budget(40.0, 40.0));
        let means = PartMeans::of([(&a, 1), (&b, 3)].into_iter());
        assert_eq!(means.get(Part::Cpu), Some(32.5));
        assert_eq!((means.total, means.count, means.get(Part::Wire)), (35.0, 4, None));
        assert_eq!(means.largest()[0].0, Part::Cpu);
    }

    #[test]
    fn a_whole_is_measured_where_its_kinds_are() {
        let means = |budget: &BudgetUs| PartMeans::of([(budget, 1)].into_iter());
        let kinds = BudgetUs { runq_woken: Some(1.0), ..BudgetUs::default() };
        assert!(!means(&kinds).not_measured().contains(&Part::Runq));
        assert!(means(&BudgetUs::default()).not_measured().contains(&Part::Runq));
    }
}
