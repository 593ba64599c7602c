//! A record as it is kept until its class has sums: all that sums are made of.

use super::class_sums::ClassSums;
use super::figures::unknown_value;
use super::names::cut_name;
use super::seen::SeenRecord;
use crate::logs::JoinedRecord;
use dbtime_model::Nanos;
use dbtime_model::log_digest::{ClassKind, LogFigure};

/// How many names a record has.
const NAMES: usize = 5;

/// A key that dbtime does not know, and its value.
type UnknownPair = (Box<[u8]>, Box<[u8]>);

/// A record without its text, which is added to sums as if it came then.
#[derive(Debug)]
pub(super) struct EarlyRecord {
    offset: u64,
    start_us: Option<i64>,
    end_us: Option<i64>,
    duration: Option<Nanos>,
    process: u64,
    input: u32,
    weight: u32,
    kind: ClassKind,
    shows_outcome: bool,
    /// Where each of the names ends. Unit: bytes.
    ends: [u16; NAMES],
    /// User, host, database, error and ID of the server, one behind the other.
    names: Box<[u8]>,
    figures: Box<[(LogFigure, u64)]>,
    /// Keys that dbtime does not know, with their values, as far as sums have them.
    unknown: Box<[UnknownPair]>,
}

impl EarlyRecord {
    pub(super) fn of(seen: &SeenRecord<'_>) -> Self {
        let record = seen.record;
        let names = [record.user, record.host, record.database, record.error, record.query_id];
        let names = names.map(cut_name);
        let mut end = 0;
        let ends = names.map(|name| {
            end += name.len() as u16;
            end
        });
        let is_kept = |(key, value): &&(&[u8], &[u8])| unknown_value(key, value).is_some();
        let unknown = record.unknown.iter().filter(is_kept);
        Self {
            offset: record.offset,
            start_us: record.start_us,
            end_us: record.end_us,
            duration: record.duration,
            process: record.process,
            input: seen.input,
            weight: record.weight,
            kind: record.kind,
            shows_outcome: seen.shows_outcome,
            ends,
            names: names.concat().into(),
            figures: record.figures.into(),
            unknown: unknown.map(|(key, value)| ((*key).into(), (*value).into())).collect(),
        }
    }

    /// For how many records it stands.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.weight.max(1))
    }

    /// Its time, by weight. Unit: nanoseconds.
    pub(super) fn total_ns(&self) -> u128 {
        self.duration.map_or(0, |duration| u128::from(duration.0) * u128::from(self.weight()))
    }

    /// Adds it to sums.
    pub(super) fn add_to(&self, sums: &mut ClassSums) {
        let unknown: Vec<(&[u8], &[u8])> =
            self.unknown.iter().map(|(key, value)| (&**key, &**value)).collect();
        let [user, host, database, error, query_id] = self.split_names();
        let record = JoinedRecord {
            offset: self.offset,
            kind: self.kind,
            start_us: self.start_us,
            end_us: self.end_us,
            duration: self.duration,
            process: self.process,
            user,
            host,
            database,
            error,
            shows_outcome: self.shows_outcome,
            query_id,
            figures: &self.figures,
            unknown: &unknown,
            weight: self.weight,
            ..JoinedRecord::default()
        };
        sums.add(&SeenRecord::of(&record, self.input), false);
    }

    fn split_names(&self) -> [&[u8]; NAMES] {
        let mut start = 0;
        self.ends.map(|end| {
            let name = &self.names[start..usize::from(end)];
            start = usize::from(end);
            name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_added_as_if_it_came_later() {
        let long = [b'x'; 1000];
        let all = JoinedRecord {
            offset: 4711,
            kind: ClassKind::Statement,
            end_us: Some(1_000_500),
            duration: Some(Nanos(500_700)),
            process: 9,
            user: b"app",
            host: &long,
            error: b"1213",
            query_id: b"-42",
            figures: &[(LogFigure::RowsSent, 7), (LogFigure::LockTime, 30)],
            unknown: &[(b"Spilled", b"1.5"), (b"Plan", b"secret")],
            weight: 3,
            ..JoinedRecord::default()
        };
        let fine = JoinedRecord { shows_outcome: true, ..JoinedRecord::default() };
        for record in [all, fine, JoinedRecord::default()] {
            let seen = SeenRecord::of(&record, 2);
            let (mut early, mut at_once) = (ClassSums::new(false), ClassSums::new(false));
            at_once.add(&seen, false);
            let kept = EarlyRecord::of(&seen);
            kept.add_to(&mut early);
            let class = at_once.digest(2.0);
            assert_eq!(early.digest(2.0), class);
            assert_eq!((kept.weight() * 2, kept.total_ns()), (class.count, at_once.total_ns()));
        }
    }
}
