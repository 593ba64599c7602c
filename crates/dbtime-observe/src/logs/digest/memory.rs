//! How much memory 100,000 classes of one record take: the bound of 256 MiB has to hold for the
//! classes while a log is read, and for the digest that is made of them.

use super::early_record::EarlyRecord;
use super::stored_class::StoredClass;
use super::{DigestBuilder, DigestOptions};
use crate::logs::{JoinedRecord, RecordSink};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{
    ClassSample, DigestClass, FigureSummary, LogFigure, NamedCount, NamedValues,
};
use std::borrow::Cow;

/// How many classes there are at most.
const CLASSES: usize = 100_000;

/// What the allocator takes for itself, and to round up, of each piece. Unit: bytes.
const OVERHEAD: usize = 16;

/// The figures that MariaDB's slow log has.
const FIGURES: &[(LogFigure, u64)] = &[
    (LogFigure::LockTime, 1000),
    (LogFigure::RowsSent, 1),
    (LogFigure::RowsExamined, 10),
    (LogFigure::RowsAffected, 0),
    (LogFigure::BytesSent, 63),
];

/// The text of a class.
const TEXT: &str = "SELECT a, b, c FROM t WHERE id = ? AND name = ? ORDER BY b";

fn record() -> JoinedRecord<'static> {
    JoinedRecord {
        class: TEXT,
        text: TEXT.as_bytes(),
        end_us: Some(1_634_000_400_123_456),
        duration: Some(Nanos(5_000_000)),
        user: b"application",
        host: b"10.0.0.127",
        database: b"warehouse",
        figures: FIGURES,
        ..JoinedRecord::default()
    }
}

/// Unit: bytes.
fn of_list<T>(list: &[T]) -> usize {
    if list.is_empty() { 0 } else { size_of_val(list) + OVERHEAD }
}

fn of_names(names: &[NamedCount]) -> usize {
    of_list(names) + names.iter().map(|name| name.name.capacity() + OVERHEAD).sum::<usize>()
}

fn of_values<V>(values: &NamedValues<V>) -> usize {
    values.len() * size_of::<(Cow<'static, str>, V)>() + OVERHEAD
}

/// All that a class of a digest takes.
fn of_class(class: &DigestClass) -> usize {
    let id = class.percona_id.as_ref().map_or(0, |id| id.capacity() + OVERHEAD);
    let texts = class.id.capacity() + class.text.capacity() + 2 * OVERHEAD + id;
    // A bucket and its count.
    let histogram = 2 * (size_of::<u64>() + OVERHEAD);
    let samples = [&class.worst, &class.random].into_iter().flatten();
    let samples =
        samples.map(|sample| size_of::<ClassSample>() + of_values(&sample.figures) + OVERHEAD);
    let names = [&class.users, &class.hosts, &class.databases].map(|names| of_names(names));
    size_of::<DigestClass>()
        + texts
        + histogram
        + of_values(&class.parts_us)
        + of_values::<FigureSummary>(&class.figures)
        + samples.sum::<usize>()
        + names.iter().sum::<usize>()
}

#[test]
fn classes_of_one_record_stay_small_while_a_log_is_read() {
    let record = record();
    let names = record.user.len() + record.host.len() + record.database.len();
    let early = size_of::<EarlyRecord>() + of_list(FIGURES) + names + 2 * OVERHEAD;
    // Lists and tables that have just grown have room for twice as many.
    let places = 2 * (size_of::<(Box<str>, u32)>() + 1) + TEXT.len() + OVERHEAD;
    let percona_id = 32 + OVERHEAD;
    let class = 2 * size_of::<StoredClass>() + early + places + percona_id;
    assert!(size_of::<EarlyRecord>() <= 144, "{}", size_of::<EarlyRecord>());
    assert!(class * CLASSES <= 72 << 20, "{class}");
}

#[test]
fn classes_of_one_record_stay_small_in_a_digest() {
    let mut builder = DigestBuilder::new(DigestOptions::default());
    builder.take(&record());
    let class = &builder.finish().classes[0];
    assert!(class.random.is_none(), "it is the longest one");
    assert!(class.worst.as_ref().is_some_and(|worst| worst.figures.is_empty()));
    // What is behind them is taken apart while they are made.
    let behind = size_of::<(Box<str>, StoredClass)>();
    let bytes = of_class(class) + behind;
    assert!(bytes * CLASSES <= 192 << 20, "{bytes}");
}
