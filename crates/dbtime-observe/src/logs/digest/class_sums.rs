//! Everything that is summed up of the records of a class.

use super::figures::{FigureSums, FigureTable, scaled};
use super::groups::{self, RecordReservoir};
use super::names::{TopNames, cut_name};
use super::parts::PartSums;
use super::percona::PerconaSums;
use super::samples::SampleKeeper;
use super::seen::SeenRecord;
use dbtime_model::log_digest::{ClassKind, DigestClass, DigestTimes, NamedValues};

/// So many IDs of the server are kept.
const MAX_QUERY_IDS: usize = 8;

/// Records that are compared with others of their class are kept of classes with so many.
const FEWEST_KEPT_OF: u64 = 16;

/// Fewer records of a class have no slowest among them.
const FEWEST_WITH_SLOW: u64 = 20;

/// The sums of a class. Merging is adding all to one, but for names beyond the most frequent.
#[derive(Debug, Default)]
pub(super) struct ClassSums {
    /// `None`: there is no record yet.
    kind: Option<ClassKind>,
    query_ids: Vec<Box<[u8]>>,
    /// How many records, by weight.
    pub(super) count: u64,
    logged: u64,
    /// Of `count`, those of which the log shows whether they failed.
    outcomes: u64,
    errors: u64,
    times: FigureSums,
    /// The sum of the squares by weight. Unit: square nanoseconds.
    squares_ns2: f64,
    parts: PartSums,
    figures: FigureTable,
    pub(super) first_us: Option<i64>,
    pub(super) last_us: Option<i64>,
    samples: SampleKeeper,
    users: TopNames,
    databases: TopNames,
    hosts: TopNames,
    processes: TopNames,
    error_codes: TopNames,
    reservoir: RecordReservoir,
    /// Longer ones are among the slowest. Unit: nanoseconds.
    slow_ns: u64,
    /// At how many records `slow_ns` is worked out again.
    next_slow: u64,
    /// Where classes are grouped as Percona's tools do.
    percona: Option<Box<PerconaSums>>,
}

impl ClassSums {
    /// No sums yet; `has_percona`: with those of Percona's tools.
    pub(super) fn new(has_percona: bool) -> Self {
        let percona = has_percona.then(Box::default);
        Self { percona, next_slow: FEWEST_WITH_SLOW, ..Self::default() }
    }

    /// Adds a record; with `is_raw`, samples have its text.
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>, is_raw: bool) {
        let (record, weight) = (seen.record, seen.weight);
        self.take_kind(record.kind);
        self.logged += 1;
        self.count = self.count.saturating_add(weight);
        if seen.shows_outcome {
            self.outcomes = self.outcomes.saturating_add(weight);
        }
        if !record.error.is_empty() {
            self.errors = self.errors.saturating_add(weight);
        }
        if let Some(duration_ns) = seen.duration_ns {
            self.times.add(duration_ns, weight);
            let duration = duration_ns as f64;
            self.squares_ns2 += duration * duration * weight as f64;
            self.parts.add(seen, duration_ns);
        }
        for (figure, value) in record.figures {
            self.figures.add(*figure, *value, weight);
        }
        for (key, value) in record.unknown {
            self.figures.add_unknown(key, value, weight);
        }
        self.take_times(seen.start_us.or(seen.end_us), seen.end_us.or(seen.start_us));
        self.samples.add(seen, is_raw);
        self.take_names(seen);
        if let Some(percona) = &mut self.percona {
            percona.add(seen);
        }
    }

    /// Whether a record of this class is among the slowest hundredth of those before it.
    pub(super) fn is_slow(&mut self, duration_ns: u64) -> bool {
        if self.times.logged < FEWEST_WITH_SLOW {
            return false;
        }
        if self.times.logged >= self.next_slow {
            let limit = self.times.histogram().quantile(0.99);
            // What is in the bucket of the limit is no slower than it.
            self.slow_ns = limit.saturating_add(limit / 32);
            self.next_slow = self.times.logged + self.times.logged / 8 + 4;
        }
        duration_ns > self.slow_ns
    }

    /// Looks at a record that others of its class are compared with; returns whether there is one
    /// more kept now.
    pub(super) fn keep_record(&mut self, seen: &SeenRecord<'_>) -> bool {
        let Some(duration_ns) = seen.duration_ns else { return false };
        self.logged >= FEWEST_KEPT_OF && self.reservoir.add(seen, duration_ns)
    }

    /// Of how many records the log does not show whether they failed, where it shows it of others.
    pub(super) fn without_outcome(&self) -> u64 {
        if self.outcomes == 0 { 0 } else { self.count.saturating_sub(self.outcomes) }
    }

    /// Whether it has figures that dbtime does not know and has no room for.
    pub(super) fn has_more_figures(&self) -> bool {
        self.figures.has_more()
    }

    /// How many records of it are kept for comparing.
    pub(super) fn kept(&self) -> usize {
        self.reservoir.len()
    }

    /// The time of all, by weight. Unit: nanoseconds.
    pub(super) fn total_ns(&self) -> u128 {
        self.times.total
    }

    /// Adds everything that the other has but IDs and records that are compared.
    pub(super) fn merge(&mut self, other: &Self) {
        if let Some(kind) = other.kind {
            self.take_kind(kind);
        }
        self.count = self.count.saturating_add(other.count);
        self.logged += other.logged;
        self.outcomes = self.outcomes.saturating_add(other.outcomes);
        self.errors = self.errors.saturating_add(other.errors);
        self.times.merge(&other.times);
        self.squares_ns2 += other.squares_ns2;
        self.parts.merge(&other.parts);
        self.figures.merge(&other.figures);
        self.take_times(other.first_us, other.last_us);
        self.samples.merge(&other.samples);
        self.users.merge(&other.users);
        self.databases.merge(&other.databases);
        self.hosts.merge(&other.hosts);
        self.processes.merge(&other.processes);
        self.error_codes.merge(&other.error_codes);
    }

    /// The class, without its text and what other classes have to do with it.
    pub(super) fn digest(&self, assumed_weight: f64) -> DigestClass {
        let query_ids = self.query_ids.iter().map(|id| String::from_utf8_lossy(id).into_owned());
        let mut class = DigestClass {
            kind: self.kind.unwrap_or_default(),
            query_ids: query_ids.collect(),
            count: scaled(self.count, assumed_weight),
            logged: self.logged,
            errors: (self.outcomes > 0).then(|| scaled(self.errors, assumed_weight)),
            times: self.digest_times(assumed_weight),
            parts_us: self.parts.parts_us(self.times.total, assumed_weight),
            figures: self.figures.summaries(assumed_weight),
            first_us: self.first_us,
            last_us: self.last_us,
            worst: self.samples.worst(),
            random: self.samples.random(),
            users: self.users.counts(assumed_weight),
            databases: self.databases.counts(assumed_weight),
            hosts: self.hosts.counts(assumed_weight),
            processes: self.processes.counts(assumed_weight),
            error_codes: self.error_codes.counts(assumed_weight),
            ..DigestClass::default()
        };
        if let Some(percona) = &self.percona {
            percona.fill(&mut class);
        }
        if self.logged == 1 {
            // The figures of the class are those of its record.
            let samples = [&mut class.worst, &mut class.random].into_iter().flatten();
            samples.for_each(|sample| sample.figures = NamedValues::default());
        }
        class
    }

    /// Puts the groups of durations into its class, which costs a search.
    pub(super) fn fill_groups(&self, class: &mut DigestClass) {
        class.groups = groups::find(&self.times, &self.reservoir).map(Box::new);
    }

    fn digest_times(&self, assumed_weight: f64) -> Option<DigestTimes> {
        let times = &self.times;
        if times.logged == 0 {
            return None;
        }
        let histogram = times.histogram();
        let at = |q| times.quantile(&histogram, q) / 1e3;
        let total_us = times.total as f64 / 1e3;
        Some(DigestTimes {
            total_us: total_us * assumed_weight,
            mean_us: total_us / times.weighed as f64,
            min_us: times.min as f64 / 1e3,
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: times.max as f64 / 1e3,
            squares_us2: self.squares_ns2 / 1e6 * assumed_weight,
            histogram,
            percona: None,
        })
    }

    fn take_kind(&mut self, kind: ClassKind) {
        let is_same = self.kind.is_none_or(|own| own == kind);
        self.kind = Some(if is_same { kind } else { ClassKind::Mixed });
    }

    fn take_times(&mut self, first_us: Option<i64>, last_us: Option<i64>) {
        if let Some(first) = first_us {
            self.first_us = Some(self.first_us.map_or(first, |own| own.min(first)));
        }
        self.last_us = self.last_us.max(last_us);
    }

    fn take_names(&mut self, seen: &SeenRecord<'_>) {
        let (record, weight) = (seen.record, seen.weight);
        self.users.add(record.user, weight);
        self.databases.add(record.database, weight);
        self.hosts.add(record.host, weight);
        self.processes.add_number(record.process, weight);
        self.error_codes.add(record.error, weight);
        self.take_query_id(record.query_id);
    }

    fn take_query_id(&mut self, id: &[u8]) {
        let id = cut_name(id);
        let is_new = || self.query_ids.iter().all(|own| **own != *id);
        if !id.is_empty() && self.query_ids.len() < MAX_QUERY_IDS && is_new() {
            self.query_ids.push(id.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;
    use dbtime_model::Nanos;
    use dbtime_model::log_digest::LogFigure;

    /// Adds so many records from a place on, each a microsecond longer than the one before.
    fn add(sums: &mut ClassSums, from: u64, count: u64) {
        for at in from..from + count {
            let figures = [(LogFigure::LockTime, 500), (LogFigure::RowsSent, at)];
            let record = JoinedRecord {
                offset: at,
                end_us: Some(at.cast_signed() * 1000),
                duration: Some(Nanos::from_micros(at + 1)),
                user: b"app",
                error: if at % 10 == 0 { b"1213" } else { b"" },
                figures: &figures,
                weight: 2,
                ..JoinedRecord::default()
            };
            sums.add(&SeenRecord::of(&record, 0), false);
        }
    }

    #[test]
    fn a_class_has_its_sums_by_weight_and_its_percentiles_without() {
        let mut sums = ClassSums::new(false);
        add(&mut sums, 0, 100);
        let class = sums.digest(3.0);
        assert_eq!((class.count, class.logged, class.errors), (600, 100, Some(60)));
        let times = class.times.expect("durations");
        assert_eq!((times.total_us, times.mean_us), (30_300.0, 50.5));
        assert_eq!((times.min_us, times.max_us), (1.0, 100.0));
        assert!((times.p50_us - 50.0).abs() < 2.0, "{}", times.p50_us);
        let squares: u64 = (1..=100).map(|us| us * us * 6).sum();
        assert!((times.squares_us2 - squares as f64).abs() < 1e-3);
        assert_eq!(class.parts_us["lock"] + class.parts_us["other"], times.total_us);
        assert_eq!(class.figures["rows_sent"].total, 29_700.0);
        assert_eq!((class.first_us, class.last_us), (Some(-1), Some(99_000)));
        assert_eq!((class.users[0].count, class.error_codes[0].count), (600, 60));
    }

    #[test]
    fn failures_are_unknown_where_no_record_shows_whether_it_failed() {
        let sums = |records: &[(&'static [u8], bool)]| {
            let mut sums = ClassSums::new(false);
            for &(error, shows_outcome) in records {
                let record = JoinedRecord { error, shows_outcome, ..JoinedRecord::default() };
                sums.add(&SeenRecord::of(&record, 0), false);
            }
            (sums.digest(1.0).errors, sums.without_outcome())
        };
        assert_eq!(sums(&[(b"", false), (b"", false)]), (None, 0));
        assert_eq!(sums(&[(b"", true), (b"", true)]), (Some(0), 0));
        assert_eq!(sums(&[(b"1045", false), (b"", false), (b"", false)]), (Some(1), 2));
    }

    #[test]
    fn merging_two_is_adding_all_to_one() {
        let [mut one, mut other, mut all] = [false; 3].map(ClassSums::new);
        add(&mut one, 0, 30);
        add(&mut other, 30, 70);
        add(&mut all, 0, 100);
        one.merge(&other);
        assert_eq!(one.digest(1.0), all.digest(1.0));
    }

    #[test]
    fn the_slowest_are_known_once_there_are_enough() {
        let mut sums = ClassSums::new(false);
        add(&mut sums, 0, 19);
        assert!(!sums.is_slow(u64::MAX));
        add(&mut sums, 19, 81);
        assert!(!sums.is_slow(95_000) && sums.is_slow(110_000));
        let mut even = ClassSums::new(false);
        (0..100).for_each(|_| add(&mut even, 5, 1));
        assert!(!even.is_slow(6000));
    }

    #[test]
    fn kinds_that_differ_are_mixed() {
        let mut sums = ClassSums::new(false);
        for kind in [ClassKind::Statement, ClassKind::Command] {
            sums.add(&SeenRecord::of(&JoinedRecord { kind, ..JoinedRecord::default() }, 0), false);
        }
        let class = sums.digest(1.0);
        assert_eq!((class.kind, class.times, class.count), (ClassKind::Mixed, None, 2));
    }
}
