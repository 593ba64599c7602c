//! Tests of the driver's side on disk.

use super::*;
use crate::exchange::{ConnectionKey, DrivenTransaction, ExchangeBatch, StatementExchange};
use crate::{ErrorClass, Nanos, OperationId, Outcome, Part, Parts, Sample, StatementId};
use proptest::prelude::*;
use std::io::Cursor;
use std::num::NonZeroU64;

fn begin() -> DrivenBegin {
    DrivenBegin {
        version: VERSION,
        clock_id: "b".to_owned(),
        start_ns: 5,
        window_start_ns: 7,
        window_end_ns: u64::MAX,
    }
}

fn exchange(key: Option<ConnectionKey>, sent: u64) -> StatementExchange {
    StatementExchange {
        key,
        server_id: key.map(|_| 11),
        transaction: sent ^ 9,
        statement: Some(StatementId(2)).filter(|_| !sent.is_multiple_of(3)),
        sent: MonoNanos(sent),
        read: MonoNanos(sent.wrapping_add(3)),
        late: Nanos(1),
    }
}

fn driven(outcome: Outcome, at: u64) -> DrivenTransaction {
    let [due, ready, sent, done] = [at, at / 2, at, at / 3].map(MonoNanos);
    let (operation, late, retries) = (OperationId(1), Nanos(3), 4);
    let sample = Sample { operation, outcome, due, ready, sent, done, late, retries };
    let parts = Parts::of(&[(Part::Queue, 0), (Part::Client, 5), (Part::Unexplained, -5)]);
    DrivenTransaction { transaction: at, sample, parts, exchanges: 2 }
}

fn names(operations: usize) -> DrivenNames {
    let statement = |name: &str| DrivenStatementName {
        operation: 0,
        name: name.to_owned(),
        fingerprint: "SELECT ?".to_owned(),
    };
    let operations = vec!["o".to_owned(); operations];
    DrivenNames { operations, statements: ["a", "b", "c"].map(statement).to_vec() }
}

/// A batch of statements sent at these instants.
fn batch(sent: &[u64]) -> ExchangeBatch {
    let keys = [
        None,
        Some(ConnectionKey::Tcp("[::1]:5".parse().expect("an address"))),
        NonZeroU64::new(8).map(ConnectionKey::Unix),
    ];
    let outcomes = [Outcome::Completed, Outcome::Failed(ErrorClass::Busy), Outcome::Unfinished];
    let exchanges = sent.iter().zip(keys.iter().cycle());
    let transactions = sent.iter().zip(outcomes.iter().cycle());
    ExchangeBatch {
        exchanges: exchanges.map(|(sent, key)| exchange(*key, *sent)).collect(),
        transactions: transactions.map(|(at, outcome)| driven(*outcome, *at)).collect(),
    }
}

fn written(batches: &[ExchangeBatch], names: DrivenNames) -> Vec<u8> {
    let mut writer = DrivenWriter::begin(Vec::new(), &begin()).expect("memory");
    batches.iter().for_each(|batch| writer.batch(batch).expect("memory"));
    writer.end(names).expect("memory")
}

/// What a file has, in one batch.
fn read(bytes: &[u8]) -> Result<(DrivenEnd, ExchangeBatch), DrivenFileError> {
    let (found, mut reader) = DrivenReader::begin(Cursor::new(bytes))?;
    assert_eq!(found, begin());
    let mut all = ExchangeBatch::default();
    while let Some(batch) = reader.next()? {
        all.exchanges.extend(batch.exchanges);
        all.transactions.extend(batch.transactions);
    }
    Ok((reader.end().clone(), all))
}

fn failure(bytes: &[u8]) -> String {
    read(bytes).expect_err("no such file").to_string()
}

#[test]
fn what_is_none_says_so() {
    for bytes in [&b""[..], b"SELECT 1\n", b"{\"driven\":{\"version\":9}}\n"] {
        assert!(failure(bytes).contains("format 2"), "{}", failure(bytes));
    }
    let bytes = written(&[batch(&[7])], names(1));
    assert!(failure(&bytes).contains("does not name operation 1"), "{}", failure(&bytes));
    assert!(failure(&bytes[..bytes.len() - 1]).starts_with("it has no end"));
}

#[test]
fn instants_that_no_clock_shows_are_refused() {
    let bytes = written(&[batch(&[7]), batch(&[1 << 62])], names(2));
    let error = failure(&bytes);
    assert!(error.contains("it has a time of more than 73 years"), "{error}");
}

/// Rows without names are read by this program alone: another layout is another version.
#[test]
fn the_seed_for_fuzzing_is_a_file_of_this_version() {
    let seed = include_bytes!("../../../../fuzz/seeds/driven/statements");
    let bytes = written(&[batch(&[1 << 60, 5, 7, 1_234_567])], names(2));
    assert!(seed[..] == bytes, "count VERSION up, and write the seed anew");
}

proptest! {
    // Of some thousand rows each, as a block has.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(
        sent in prop::collection::vec(0..1u64 << 60, 0..3_000), at: prop::sample::Index
    ) {
        let batches = sent.chunks(700).map(batch).collect::<Vec<_>>();
        let bytes = written(&batches, names(2));
        let (end, all) = read(&bytes).expect("as it was written");
        let expected = sent.chunks(700).map(batch).fold(ExchangeBatch::default(), |mut all, one| {
            all.exchanges.extend(one.exchanges);
            all.transactions.extend(one.transactions);
            all
        });
        prop_assert_eq!(format!("{all:?}"), format!("{expected:?}"));
        prop_assert_eq!(end.first_sent_ns, sent.iter().min().copied().unwrap_or(u64::MAX));
        let in_window = sent.iter().filter(|at| (7..u64::MAX).contains(*at)).count() as u64;
        prop_assert_eq!((end.window_transactions, end.names), (in_window, names(2)));
        // Of a file that was cut short nothing is believed.
        let cut = at.index(bytes.len());
        prop_assert!(read(&bytes[..cut]).is_err());
    }
}
