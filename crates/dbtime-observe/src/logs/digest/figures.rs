//! Numbers of the records of a class, summed up.

use crate::logs::numbers::decimal;
use dbtime_model::log_digest::{
    FigureSummary, FineHistogram, LogFigure, LogFigureUnit, NamedValues,
};
use std::borrow::Cow;

/// The most names of figures that dbtime does not know, in one class.
pub(super) const MAX_UNKNOWN: usize = 32;

/// The longest key and value of such a figure. Unit: bytes.
const MAX_KEY_BYTES: usize = 256;
const MAX_VALUE_BYTES: usize = 64;

/// Figures that dbtime does not know are kept in millionths, so that decimals are not cut.
const MILLIONTHS: f64 = 1e6;

/// One number of the records of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct FigureSums {
    /// How many records have it.
    pub(super) logged: u64,
    /// The same by weight.
    pub(super) weighed: u64,
    /// The sum by weight.
    pub(super) total: u128,
    pub(super) min: u64,
    pub(super) max: u64,
    /// Zero is the most frequent value of most figures, and costs no search.
    zeros: u64,
    positive: FineHistogram,
}

impl FigureSums {
    pub(super) fn add(&mut self, value: u64, weight: u64) {
        self.min = if self.logged == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.logged += 1;
        self.weighed = self.weighed.saturating_add(weight);
        let weighted = u128::from(value).saturating_mul(u128::from(weight));
        self.total = self.total.saturating_add(weighted);
        if value == 0 {
            self.zeros += 1;
        } else {
            self.positive.add(value, 1);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.logged == 0 {
            return;
        }
        self.min = if self.logged == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.logged += other.logged;
        self.weighed = self.weighed.saturating_add(other.weighed);
        self.total = self.total.saturating_add(other.total);
        self.zeros += other.zeros;
        self.positive.merge(&other.positive);
    }

    /// All values that were logged.
    pub(super) fn histogram(&self) -> FineHistogram {
        let mut all = self.positive.clone();
        if self.zeros > 0 {
            all.add(0, self.zeros);
        }
        all
    }

    /// A quantile of these values, whose middle of a bucket is no more than was there.
    pub(super) fn quantile(&self, histogram: &FineHistogram, q: f64) -> f64 {
        histogram.quantile(q).clamp(self.min, self.max) as f64
    }

    /// The summary, in units of so many of the own.
    fn summary(&self, unit: f64, assumed_weight: f64) -> FigureSummary {
        let histogram = self.histogram();
        let quantile = |q| {
            let value = self.quantile(&histogram, q) / unit;
            if self.is_whole(unit) { value.round() } else { value }
        };
        FigureSummary {
            logged: self.logged,
            total: self.total as f64 / unit * assumed_weight,
            min: self.min as f64 / unit,
            max: self.max as f64 / unit,
            p50: quantile(0.5),
            p95: quantile(0.95),
            percona: None,
        }
    }

    /// Whether the values seem to be whole numbers of so many of the own units.
    fn is_whole(&self, unit: f64) -> bool {
        let step = unit as u64;
        let ends = [self.min, self.max].into_iter().all(|value| value.is_multiple_of(step));
        ends && self.total.is_multiple_of(u128::from(step))
    }
}

/// The value of a figure that dbtime does not know, in millionths; `None`: it is not kept.
pub(super) fn unknown_value(key: &[u8], value: &[u8]) -> Option<u64> {
    let is_short = key.len() <= MAX_KEY_BYTES && value.len() <= MAX_VALUE_BYTES;
    decimal(value, MILLIONTHS as u64).filter(|_| is_short).map(|value| value.0)
}

/// A count of records of which each stands for so many.
pub(super) fn scaled(count: u64, assumed_weight: f64) -> u64 {
    if assumed_weight == 1.0 { count } else { (count as f64 * assumed_weight).round() as u64 }
}

/// How many of the units in which a figure is counted here the one in files is.
pub(super) const fn file_unit(figure: LogFigure) -> f64 {
    match figure.unit() {
        LogFigureUnit::Time => 1e3,
        LogFigureUnit::Bytes | LogFigureUnit::Count | LogFigureUnit::Flag => 1.0,
    }
}

/// All numbers of the records of a class but their durations.
#[derive(Clone, Debug)]
pub(super) struct FigureTable {
    /// One more than the place of each figure in `known`; 0: it has none.
    places: [u8; LogFigure::ALL.len()],
    known: Vec<(LogFigure, FigureSums)>,
    unknown: Vec<(Box<[u8]>, FigureSums)>,
    /// Whether there was no room for another unknown one.
    has_more: bool,
}

impl Default for FigureTable {
    fn default() -> Self {
        Self {
            places: [0; LogFigure::ALL.len()],
            known: Vec::new(),
            unknown: Vec::new(),
            has_more: false,
        }
    }
}

impl FigureTable {
    pub(super) fn add(&mut self, figure: LogFigure, value: u64, weight: u64) {
        self.known(figure).add(value, weight);
    }

    /// A key that dbtime does not know: kept where its value is a number without a sign.
    pub(super) fn add_unknown(&mut self, key: &[u8], value: &[u8], weight: u64) {
        let Some(value) = unknown_value(key, value) else { return };
        if let Some(sums) = self.unknown(key) {
            sums.add(value, weight);
        }
    }

    /// Whether figures were left out for want of room.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.has_more |= other.has_more;
        for (figure, sums) in &other.known {
            self.known(*figure).merge(sums);
        }
        for (key, sums) in &other.unknown {
            if let Some(own) = self.unknown(key) {
                own.merge(sums);
            }
        }
    }

    /// The summaries by name; one of the log that dbtime knows for another figure, maybe of another
    /// unit, is `log_…`.
    pub(super) fn summaries(&self, assumed_weight: f64) -> NamedValues<FigureSummary> {
        let unknown = self.unknown.iter().map(|(key, sums)| {
            let mut name = String::from_utf8_lossy(key).to_ascii_lowercase();
            if LogFigure::ALL.iter().any(|figure| figure.name() == name) {
                name.insert_str(0, "log_");
            }
            (Cow::Owned(name), sums.summary(MILLIONTHS, assumed_weight))
        });
        let known = self.known.iter().map(|(figure, sums)| {
            (Cow::Borrowed(figure.name()), sums.summary(file_unit(*figure), assumed_weight))
        });
        unknown.chain(known).collect()
    }

    fn known(&mut self, figure: LogFigure) -> &mut FigureSums {
        let place = &mut self.places[figure as usize];
        if *place == 0 {
            self.known.push((figure, FigureSums::default()));
            *place = self.known.len() as u8;
        }
        &mut self.known[usize::from(*place) - 1].1
    }

    /// The sums of a key, in whatever case; `None`: there are too many keys.
    fn unknown(&mut self, key: &[u8]) -> Option<&mut FigureSums> {
        let place = self.unknown.iter().position(|(own, _)| own.eq_ignore_ascii_case(key));
        let place = match place {
            Some(place) => place,
            None if self.unknown.len() < MAX_UNKNOWN => {
                self.unknown.push((key.into(), FigureSums::default()));
                self.unknown.len() - 1
            }
            None => {
                self.has_more = true;
                return None;
            }
        };
        Some(&mut self.unknown[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_change_sums_and_no_percentile() {
        let mut sums = FigureSums::default();
        sums.add(0, 1);
        sums.add(0, 1);
        sums.add(10, 100);
        let summary = sums.summary(1.0, 2.0);
        assert_eq!((summary.logged, summary.min, summary.max), (3, 0.0, 10.0));
        assert_eq!((summary.total, summary.p50, summary.p95), (2000.0, 0.0, 10.0));
        assert_eq!(sums.weighed, 102);
    }

    #[test]
    fn figures_for_which_there_is_no_room_are_noted() {
        let table = |keys: usize| {
            let mut table = FigureTable::default();
            (0..keys).for_each(|at| table.add_unknown(format!("K{at}").as_bytes(), b"1", 1));
            (table.summaries(1.0).len(), table.has_more())
        };
        assert_eq!([table(MAX_UNKNOWN), table(40)], [(MAX_UNKNOWN, false), (MAX_UNKNOWN, true)]);
    }

    #[test]
    fn percentiles_of_whole_numbers_are_whole() {
        let summary = |values: &[&[u8]]| {
            let mut table = FigureTable::default();
            values.iter().for_each(|value| table.add_unknown(b"Pages", value, 1));
            table.summaries(1.0)["pages"].clone()
        };
        let whole = summary(&[b"1", b"5", b"5", b"6"]);
        assert_eq!((whole.p50, whole.p95), (5.0, 6.0));
        assert!(summary(&[b"1", b"5", b"5", b"6.5"]).p50 > 5.0);
    }

    #[test]
    fn merging_is_adding_all_to_one() {
        let (mut one, mut other, mut all) =
            (FigureTable::default(), FigureTable::default(), FigureTable::default());
        for value in 0..100u64 {
            let half = if value % 3 == 0 { &mut one } else { &mut other };
            for table in [half, &mut all] {
                table.add(LogFigure::RowsSent, value, 1);
                table.add_unknown(b"Spilled", b"0.25", 2);
            }
        }
        one.merge(&other);
        assert_eq!(one.summaries(1.0), all.summaries(1.0));
        assert_eq!(all.summaries(1.0)["spilled"].total, 50.0);
    }

    #[test]
    fn keys_of_a_log_are_no_figures_of_the_same_name() {
        let mut table = FigureTable::default();
        table.add(LogFigure::CpuTime, 5000, 1);
        table.add_unknown(b"Cpu_time", b"0.25", 1);
        let totals = ["cpu_time", "log_cpu_time"].map(|name| table.summaries(1.0)[name].total);
        assert_eq!(totals, [5.0, 0.25]);
    }

    #[test]
    fn keys_that_differ_in_case_are_one_figure() {
        let mut table = FigureTable::default();
        [&b"Spilled"[..], b"SPILLED"].into_iter().for_each(|key| table.add_unknown(key, b"2", 1));
        let summaries = table.summaries(1.0);
        assert_eq!((summaries.len(), summaries["spilled"].total), (1, 4.0));
    }

    #[test]
    fn unknown_keys_are_bounded_and_texts_are_not_kept() {
        let mut table = FigureTable::default();
        table.add_unknown(b"Plan", b"secret", 1);
        assert!(table.summaries(1.0).is_empty());
        (0..100).for_each(|key: u32| table.add_unknown(key.to_string().as_bytes(), b"1", 1));
        assert_eq!(table.summaries(1.0).len(), MAX_UNKNOWN);
    }
}
