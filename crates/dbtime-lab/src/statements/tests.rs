//! Files of statements, read back with the crate that wrote them.

use super::columns::COLUMNS;
use super::execution_row::ExecutionRow;
use super::row_group_writer::RowGroupWriter;
use super::statement_log::{GROUP_ROWS, MAX_ROWS, StatementLog, WAITING_GROUPS};
use super::statement_names::StatementNames;
use crate::join::{BareStatement, JoinedStatement, ServerAnswer, StatementMatch};
use crate::recorded_join::ClockMapping;
use dbtime_load::workload::Workload;
use dbtime_model::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use dbtime_model::record::WarningKind;
use dbtime_model::recorder::Window;
use dbtime_model::traced::{Blocker, ErrorCode};
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome, Part, Parts, Sample, StatementId};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

const WINDOW: Window = Window { start: MonoNanos(1_000), end: MonoNanos(1_000_000_000) };

fn workload() -> Arc<Workload> {
    Arc::new(Workload::find("tpcb").expect("a shipped one"))
}

fn driven(transaction: u64, due: u64) -> DrivenTransaction {
    let (due, operation, outcome) = (MonoNanos(due), OperationId(0), Outcome::Completed);
    let (late, retries, done) = (Nanos::ZERO, 0, due + Nanos(500));
    let sample = Sample { operation, outcome, due, ready: due, sent: due, done, late, retries };
    DrivenTransaction { transaction, sample, parts: Parts::default(), exchanges: 1 }
}

fn exchange(sent: u64, read: u64) -> StatementExchange {
    StatementExchange {
        key: Some(ConnectionKey::Tcp(([127, 0, 0, 1], 4_711).into())),
        server_id: None,
        transaction: 1,
        statement: Some(StatementId(1)),
        sent: MonoNanos(sent),
        read: MonoNanos(read),
        late: Nanos(7),
    }
}

/// A statement of 300 ns, 7 of which its answer waited for the driver.
fn joined() -> JoinedStatement {
    let amounts = [
        (Part::Client, 9),
        (Part::Wire, 30),
        (Part::Cpu, 200),
        (Part::Lock, 40),
        (Part::Unexplained, -5),
    ];
    let blocker = Blocker {
        server_id: Some(9),
        lock: Some("Transaction".into()),
        statement: Some(Arc::from("COMMIT")),
        length: Nanos(40),
        ..Blocker::default()
    };
    let answer = ServerAnswer {
        server_id: Some(8),
        rows: Some(1),
        error: Some(ErrorCode::Number(1213)),
        blocker: Some(Arc::new(blocker)),
        served: None,
        preemptor: Some(Arc::from("kworker")),
    };
    let (parts, way_out, client_runq) = (Parts::of(&amounts), Some(11), Some(Nanos(6)));
    let (exchange, took, twice) = (exchange(2_000, 2_300), Nanos(274), Nanos(5));
    JoinedStatement { exchange, took, parts, way_out, client_runq, twice, answer }
}

/// The rows of a file, each by the names of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("whole");
    let rows = reader.get_row_iter(None).expect("a schema");
    rows.map(|row| row.expect("a row").into_columns().into_iter().collect()).collect()
}

#[test]
fn a_statement_is_read_back_with_all_that_is_known_of_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("statements.parquet");
    let mut log = StatementLog::create(&path, workload()).expect("it is free");
    log.add(&driven(1, 2_000), vec![joined()], &[]);
    log.begin(WINDOW);
    let exchange = exchange(2_300, 2_400);
    let bare = BareStatement { exchange, outcome: StatementMatch::Unmatched };
    log.add(&driven(2, 2_000), vec![joined()], &[bare]);
    log.add(&driven(3, 10), vec![joined()], &[]);
    assert!(log.finish().is_empty());

    let rows = rows(&path);
    assert_eq!(rows.len(), 2, "only the transaction of the window: {rows:?}");
    let number = |row: usize, name: &str| match rows[row][name] {
        Field::Long(number) => Some(number),
        _ => None,
    };
    let text = |row: usize, name: &str| match &rows[row][name] {
        Field::Str(text) => Some(text.clone()),
        _ => None,
    };
    let instants = ["transaction", "due_ns", "sent_ns", "received_ns", "late_ns", "connection"];
    assert_eq!(instants.map(|name| number(0, name)), [2, 1_000, 1_000, 1_300, 7, 0].map(Some));
    assert_eq!(["client_ns", "client_runq_ns"].map(|name| number(0, name)), [Some(9), Some(6)]);
    let parts = ["wire_ns", "wire_out_ns", "wire_back_ns", "cpu_ns", "lock_ns", "unexplained_ns"];
    assert_eq!(parts.map(|name| number(0, name)), [30, 11, 19, 200, 40, -5].map(Some));
    assert_eq!((number(0, "sync_ns"), number(0, "overlap_ns")), (None, Some(19)));
    let workload = workload();
    let name = workload.executed_statements()[1].name.clone();
    assert_eq!(text(0, "statement"), Some(name.clone()));
    let texts = ["outcome", "match", "error", "lock_name", "lock_holder_statement", "cpu_holder"];
    let expected = ["completed", "matched", "1213", "Transaction", "COMMIT", "kworker"];
    assert_eq!(texts.map(|name| text(0, name)), expected.map(|text| Some(text.to_owned())));
    let ids = ["server_id", "rows", "lock_wait_ns", "lock_holder_id"];
    assert_eq!(ids.map(|name| number(0, name)), [8, 1, 40, 9].map(Some));

    assert_eq!((text(1, "match"), text(1, "statement")), (Some("unmatched".into()), Some(name)));
    assert_eq!((number(1, "sent_ns"), number(1, "received_ns")), (Some(1_300), Some(1_400)));
    let is_null = |name: &&str| rows[1][*name] == Field::Null;
    assert!(parts.iter().chain(&ids).all(is_null), "{:?}", rows[1]);
}

#[test]
fn each_part_of_a_statement_has_a_column() {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    let of_server = [Part::Wire, Part::ServerQueue, Part::Unexplained];
    for part in Part::TRACED.iter().chain(&of_server) {
        let column = format!("{}_ns", part.name());
        assert_eq!(names.iter().filter(|name| **name == column).count(), 1, "{column}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_taken_away() {
    struct FullDisk;
    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("statements.parquet");
    std::fs::write(&path, "half of it").expect("written");
    let mut log =
        StatementLog::write_to(FullDisk, |_| Ok(()), &path, StatementNames::new(workload()))
            .expect("a thread");
    log.begin(WINDOW);
    log.add(&driven(1, 2_000), vec![joined()], &[]);
    let warnings = log.finish();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].kind, WarningKind::StatementsLost);
    assert!(warnings[0].text.contains("no storage space"), "{}", warnings[0].text);
    assert!(!path.exists());
}

/// A disk that writes nothing until it is let.
struct SlowDisk(Receiver<()>);

impl Write for SlowDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A log on a slow disk, which writes once the sender is dropped.
fn slow_log(dir: &Path) -> (Sender<()>, StatementLog) {
    let (go_on, disk) = channel();
    let path = dir.join("statements.parquet");
    let log =
        StatementLog::write_to(SlowDisk(disk), |_| Ok(()), &path, StatementNames::new(workload()));
    let mut log = log.expect("a thread");
    log.begin(WINDOW);
    (go_on, log)
}

/// More rows than there is room for while the disk stands still.
fn overflow(log: &mut StatementLog) {
    // What the thread may have taken, to write and as the next, what waits for it, what waits for
    // room there, and a few.
    let room = (2 + WAITING_GROUPS) * GROUP_ROWS + MAX_ROWS;
    let bare = BareStatement { exchange: exchange(2_000, 2_300), outcome: StatementMatch::Unsplit };
    for transaction in 0..room as u64 + 10 {
        log.add(&driven(transaction, 2_000), Vec::new(), &[bare]);
    }
}

#[test]
fn rows_of_a_recording_wait_for_the_disk() {
    let dir = tempfile::tempdir().expect("a folder");
    let (go_on, mut log) = slow_log(dir.path());
    log.take_recording(ClockMapping::default());
    let disk = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(go_on);
    });
    overflow(&mut log);
    disk.join().expect("a disk");
    assert_eq!(log.finish(), []);
}

#[test]
fn a_disk_that_stands_still_costs_rows_that_are_counted_and_never_holds_up() {
    let dir = tempfile::tempdir().expect("a folder");
    let (go_on, mut log) = slow_log(dir.path());
    overflow(&mut log);
    drop(go_on);
    let warnings = log.finish();
    assert_eq!(warnings.len(), 1);
    let text = &warnings[0].text;
    assert!(text.contains("lacks") && text.contains("did not keep up"), "{text}");
}

/// What a statement takes on disk, parts of a typical load in it.
#[test]
fn a_row_takes_few_bytes() {
    let names = StatementNames::new(workload());
    let mut writer = RowGroupWriter::new(Vec::new(), names).expect("a schema");
    let rows: Vec<_> = (0..GROUP_ROWS as u64)
        .map(|number| {
            let noise =
                |bits: u32| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as i64;
            let mut statement = joined();
            statement.parts = Parts::traced(|_| Nanos::ZERO);
            for (part, bits) in
                [(Part::Wire, 14), (Part::ServerQueue, 13), (Part::Cpu, 16), (Part::RunqWoken, 13)]
            {
                statement.parts.add(part, noise(bits));
            }
            let sent = 2_000 + 100_000 * number;
            let read = sent + statement.parts.total().cast_unsigned();
            statement.exchange = exchange(sent, read);
            ExecutionRow::joined(&driven(number, sent), statement, WINDOW.start, 0)
        })
        .collect();
    writer.write(&rows, || ()).expect("to memory");
    let bytes = writer.finish().expect("to memory").len() as f64 / rows.len() as f64;
    assert!(bytes < 30.0, "{bytes} bytes for a row");
}
