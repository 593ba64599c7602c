//! Two groups of durations in a class, and what differs between them.

use super::figures::{FigureSums, file_unit};
use super::seen::SeenRecord;
use dbtime_model::log_digest::{
    ClassGroups, FineHistogram, GroupDifference, LogFigure, LogFigureUnit,
};
use dbtime_stats::GroupSplit;

/// Classes with fewer records have no groups.
const FEWEST: u64 = 50;

/// So many values stand for all durations of a class: the search costs the square of it.
const VALUES: usize = 256;

/// So many records of a class are kept with their figures.
const KEPT: usize = 128;

/// Of a group at least so many records have to have a figure.
const FEWEST_WITH_FIGURE: usize = 3;

/// Medians that are nearer to each other make no difference.
const LEAST_RATIO: f64 = 2.0;

/// The width of a bucket, as a share of its values.
const BUCKET_SHARE: f64 = 1.0 / 32.0;

/// A record, as it is compared with others of its class.
#[derive(Clone, Debug)]
struct KeptRecord {
    draw: u64,
    duration_ns: u64,
    figures: Box<[(LogFigure, u64)]>,
}

/// Some records of a class by chance: those with the smallest draws, so that their order does not
/// matter.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordReservoir(Vec<KeptRecord>);

impl RecordReservoir {
    /// Looks at a record; returns whether there is one more now.
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>, duration_ns: u64) -> bool {
        let kept =
            || KeptRecord { draw: seen.draw, duration_ns, figures: seen.record.figures.into() };
        if self.0.len() < KEPT {
            self.0.push(kept());
            // The largest draw is the first one.
            if self.0.len() == KEPT {
                self.put_largest_first();
            }
            return true;
        }
        if seen.draw < self.0[0].draw {
            self.0[0] = kept();
            self.put_largest_first();
        }
        false
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn put_largest_first(&mut self) {
        let largest = self.0.iter().enumerate().max_by_key(|(_, kept)| kept.draw);
        if let Some((place, _)) = largest {
            self.0.swap(0, place);
        }
    }

    /// What differs most between records of at least so many nanoseconds and the others.
    fn difference(&self, limit_ns: f64) -> Option<GroupDifference> {
        let differences = LogFigure::ALL.into_iter().filter_map(|figure| {
            let [low, high] = [false, true].map(|is_slow| self.typical(figure, limit_ns, is_slow));
            let (low, high) = (low?, high?);
            let apart = ((high + 1.0) / (low + 1.0)).ln().abs();
            (apart >= LEAST_RATIO.ln()).then_some((apart, figure, low, high))
        });
        let (_, figure, low, high) = differences.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let [lower, higher] = [low, high].map(|value| in_file_unit(figure, value));
        Some(GroupDifference { figure: figure.name().to_owned(), lower, higher })
    }

    /// The median of a figure in a group; of one that is true or false, how many of a hundred are.
    fn typical(&self, figure: LogFigure, limit_ns: f64, is_slow: bool) -> Option<f64> {
        let group = self.0.iter().filter(|kept| (kept.duration_ns as f64 >= limit_ns) == is_slow);
        let value = |kept: &KeptRecord| {
            let found = kept.figures.iter().find(|(own, _)| *own == figure);
            found.map(|(_, value)| *value)
        };
        let mut values: Vec<u64> = group.filter_map(value).collect();
        if values.len() < FEWEST_WITH_FIGURE {
            return None;
        }
        if figure.unit() == LogFigureUnit::Flag {
            let set = values.iter().filter(|value| **value > 0).count();
            return Some(100.0 * set as f64 / values.len() as f64);
        }
        values.sort_unstable();
        Some(values[values.len() / 2] as f64)
    }
}

/// The two groups of a class, where there are two.
pub(super) fn find(times: &FigureSums, kept: &RecordReservoir) -> Option<ClassGroups> {
    if times.logged < FEWEST {
        return None;
    }
    let histogram = times.histogram();
    let values = spaced_values(&histogram, times.logged);
    let split = GroupSplit::find(&values, BUCKET_SHARE)?;
    let lower = split.lower();
    let limit_ns = (values[lower - 1] * values[lower]).sqrt();
    let (mut low, mut high) = (FineHistogram::default(), FineHistogram::default());
    for (middle, count) in histogram.iter() {
        let group = if (middle as f64) < limit_ns { &mut low } else { &mut high };
        group.add(middle, count);
    }
    Some(ClassGroups {
        lower_count: low.count(),
        lower_us: low.quantile(0.5) as f64 / 1e3,
        higher_count: high.count(),
        higher_us: high.quantile(0.5) as f64 / 1e3,
        difference: kept.difference(limit_ns),
    })
}

/// Durations at equal distances in the order of all, smallest first; those of a bucket lie side by
/// side in it. Unit: nanoseconds, above zero.
fn spaced_values(histogram: &FineHistogram, count: u64) -> Vec<f64> {
    let places = VALUES.min(usize::try_from(count).unwrap_or(VALUES));
    let mut buckets = histogram.iter();
    let (mut middle, mut before, mut until) = (0u64, 0u64, 0u64);
    let mut values = Vec::with_capacity(places);
    for place in 0..places {
        let rank = (place as f64 + 0.5) / places as f64 * count as f64;
        while until as f64 <= rank {
            let Some((value, of_bucket)) = buckets.next() else { break };
            (middle, before, until) = (value, until, until + of_bucket);
        }
        let share = (rank - before as f64) / (until - before).max(1) as f64;
        values.push((middle as f64).max(1.0) * (1.0 + (share - 0.5) * BUCKET_SHARE));
    }
    // Neighbouring buckets of one power of two are narrower towards the next one.
    values.sort_by(f64::total_cmp);
    values
}

/// A typical value as files have it; of flags it is a number of a hundred here.
fn in_file_unit(figure: LogFigure, value: f64) -> f64 {
    match figure.unit() {
        LogFigureUnit::Flag => value / 100.0,
        _ => value / file_unit(figure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;
    use crate::logs::digest::samples::mixed;
    use dbtime_model::Nanos;

    /// The groups of records with these durations in microseconds, each with a number of rows.
    fn groups(records: impl Iterator<Item = (u64, u64)>) -> Option<ClassGroups> {
        let (mut times, mut kept) = (FigureSums::default(), RecordReservoir::default());
        for (at, (us, rows)) in records.enumerate() {
            let figures = [(LogFigure::RowsSent, 1), (LogFigure::RowsExamined, rows)];
            let record = JoinedRecord {
                offset: at as u64,
                duration: Some(Nanos::from_micros(us)),
                figures: &figures,
                ..JoinedRecord::default()
            };
            times.add(us * 1000, 1);
            kept.add(&SeenRecord::of(&record, 0), us * 1000);
        }
        assert!(kept.len() <= KEPT);
        find(&times, &kept)
    }

    /// One of a heap from 100 to 200, other numbers for other places.
    fn around(at: u64) -> u64 {
        let sum: u64 = (0..4).map(|part| mixed(at * 4 + part) % 26).sum();
        100 + sum
    }

    #[test]
    fn slow_ones_are_a_group_with_what_differs() {
        let records = (0..2000).map(|at| match at % 4 {
            0 => (around(at) * 100, 90_112),
            _ => (around(at), 12),
        });
        let found = groups(records).expect("two groups");
        assert_eq!((found.lower_count, found.higher_count), (1500, 500));
        assert!((140.0..160.0).contains(&found.lower_us), "{found:?}");
        assert!((14_000.0..16_000.0).contains(&found.higher_us), "{found:?}");
        let figure = "rows_examined".to_owned();
        let expected = GroupDifference { figure, lower: 12.0, higher: 90_112.0 };
        assert_eq!(found.difference, Some(expected));
    }

    #[test]
    fn one_heap_and_few_records_are_no_groups() {
        assert_eq!(groups((0..2000).map(|at| (around(at), 12))), None);
        assert_eq!(groups((0..2000).map(|_| (150, 12))), None);
        let few = (0..40).map(|at| (if at % 2 == 0 { 10 } else { 90_000 }, 1));
        assert_eq!(groups(few), None);
    }

    #[test]
    fn groups_without_a_difference_have_none() {
        let records = (0..200).map(|at| (around(at) * if at % 2 == 0 { 1 } else { 1000 }, 7));
        assert_eq!(groups(records).expect("two groups").difference, None);
    }

    #[test]
    fn values_have_their_units() {
        assert_eq!(in_file_unit(LogFigure::LockTime, 1_500_000.0), 1500.0);
        assert_eq!(in_file_unit(LogFigure::FullScan, 50.0), 0.5);
        assert_eq!(in_file_unit(LogFigure::RowsExamined, 90_112.0), 90_112.0);
    }
}
