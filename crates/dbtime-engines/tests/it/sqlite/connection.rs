//! Statements, their counts and failures, and the settings of a connection.

use super::atm::{
    ACCOUNTS, BAD, BEGIN, Bank, COMMIT, CREATE, FETCH, FETCH_ROW, LIMIT_PAGES, ROLLBACK, UPDATE,
    transact,
};
use dbtime_engines::databases::sqlite::{
    SqliteError, SqliteFacts, SqliteFileKind, SqliteTarget, VfsCall, layers,
};
use dbtime_load::program::SqlValue;
use dbtime_model::{ErrorClass, Nanos, StatementId};

#[test]
fn counts_are_exact_in_wal_mode() {
    let bank = Bank::new(&[("synchronous", "full")]);
    let mut connection = bank.connect();
    connection.start_figures();
    (0..23).for_each(|index| transact(&mut connection, index));
    let figures = connection.figures();
    assert_eq!((figures.statements, figures.rows), (23 * 5, 23 * 3));
    // The first commit of a log may also sync the log's header.
    let syncs = figures.io.get(SqliteFileKind::Wal, VfsCall::Sync);
    assert!((23..=24).contains(&syncs.count), "{syncs:?}");
    assert!(syncs.max_ns <= syncs.wall_ns);
    let writes = figures.io.get(SqliteFileKind::Wal, VfsCall::Write);
    assert!(writes.bytes >= 23 * (4096 + 24), "{writes:?}");
    assert_eq!(figures.io.get(SqliteFileKind::Journal, VfsCall::Open).count, 0);
    assert!(figures.io.get(SqliteFileKind::Database, VfsCall::ShmLock).count >= 23 * 2);
    assert!(figures.cache.hits > 23 * 3);
    assert_eq!(figures.naps, 0);
    let layers = layers(&figures, Nanos::from_secs(1));
    assert_eq!(layers[4].operations, Some(syncs.count));
    assert_eq!(layers[0].records, Some(23 * 3));
}

#[test]
fn counts_are_exact_with_a_rollback_journal() {
    let bank = Bank::new(&[("journal_mode", "delete"), ("synchronous", "full")]);
    let mut connection = bank.connect();
    connection.start_figures();
    (0..23).for_each(|index| transact(&mut connection, index));
    let io = connection.figures().io;
    for call in [VfsCall::Open, VfsCall::Delete, VfsCall::Close] {
        assert_eq!(io.get(SqliteFileKind::Journal, call).count, 23, "{call:?}");
    }
    assert_eq!(io.get(SqliteFileKind::Database, VfsCall::Sync).count, 23);
    assert!(io.get(SqliteFileKind::Database, VfsCall::Lock).count >= 23);
    assert_eq!(io.get(SqliteFileKind::Wal, VfsCall::Write).count, 0);
    connection.start_figures();
    assert_eq!(connection.figures().io.records(), []);
}

#[test]
fn rows_are_counted_and_the_first_is_kept() {
    let bank = Bank::new(&[]);
    let mut connection = bank.connect();
    for limit in [7, 3] {
        let rows = connection.execute(FETCH_ROW, &[SqlValue::Integer(limit)], true).expect("rows");
        assert_eq!(rows, limit.cast_unsigned());
        let text = SqlValue::Text("owner 0".to_owned());
        let row =
            [SqlValue::Integer(1), text, SqlValue::Integer(0), SqlValue::Null, SqlValue::Real(0.5)];
        assert_eq!(connection.first_row(), row);
    }
    let none = connection.execute(FETCH_ROW, &[SqlValue::Integer(0)], true).expect("no rows");
    assert_eq!((none, connection.first_row()), (0, &[][..]));
    let update = [SqlValue::Integer(1), SqlValue::Integer(ACCOUNTS.cast_signed())];
    assert_eq!(connection.execute(UPDATE, &update, false).expect("a change"), 1);
    let nobody = [SqlValue::Integer(1), SqlValue::Integer(-1)];
    assert_eq!(connection.execute(UPDATE, &nobody, false).expect("no change"), 0);
    assert_eq!(connection.execute(BEGIN, &[], false).expect("begun"), 0);
}

#[test]
fn failures_have_class_code_and_words() {
    let bank = Bank::new(&[]);
    let mut connection = bank.connect();
    let bad = connection.execute(BAD, &[], false).expect_err("no such table");
    assert_eq!((bad.class, bad.code.as_str()), (ErrorClass::Statement, "SQLITE_ERROR"));
    assert!(bad.message.contains("nowhere"), "{bad:?}");
    let missing = connection.execute(FETCH, &[], false).expect_err("no parameter");
    assert_eq!(missing.code, "SQLITE_RANGE");
    let unknown = connection.execute(StatementId(999), &[], false).expect_err("no statement");
    assert_eq!(unknown.class, ErrorClass::Statement);
    let (statement, _) = connection.prepare_all().expect_err("one is bad");
    assert_eq!(statement, BAD);
    transact(&mut connection, 1);
}

#[test]
fn words_of_a_trigger_are_in_no_failure() {
    let bank = Bank::new(&[]);
    let db = rusqlite::Connection::open(&bank.target.path).expect("a database");
    let body = "SELECT RAISE(ABORT, 'account of hush');";
    db.execute_batch(&format!("CREATE TRIGGER t BEFORE UPDATE ON account BEGIN {body} END"))
        .expect("a trigger");
    let update = [SqlValue::Integer(1), SqlValue::Integer(1)];
    let failed = bank.connect().execute(UPDATE, &update, false).expect_err("it is raised");
    let code = (failed.class, failed.code.as_str());
    assert_eq!(code, (ErrorClass::Constraint, "SQLITE_CONSTRAINT_TRIGGER"));
    assert!(!failed.message.is_empty() && !failed.message.contains("hush"), "{failed:?}");
}

#[test]
fn a_full_database_undoes_nothing_or_says_so() {
    let bank = Bank::new(&[]);
    let mut connection = bank.connect();
    connection.execute(LIMIT_PAGES, &[], false).expect("a limit");
    connection.execute(BEGIN, &[], false).expect("begun");
    let row = [SqlValue::Integer(1), SqlValue::Text("x".repeat(3000))];
    let failure = (0..1000)
        .find_map(|_| connection.execute(CREATE, &row, false).err())
        .expect("forty pages are soon full");
    assert_eq!((failure.class, failure.code.as_str()), (ErrorClass::Full, "SQLITE_FULL"));
    let rollback = connection.execute(ROLLBACK, &[], false);
    assert_eq!(rollback.is_err(), failure.undone, "{failure:?}");
    transact(&mut connection, 1);
}

#[test]
fn settings_are_read_back() {
    let bank = Bank::new(&[
        ("page_size", "8192"),
        ("synchronous", "extra"),
        ("cache_size", "-1000"),
        ("wal_autocheckpoint", "77"),
        ("temp_store", "memory"),
        ("foreign_keys", "off"),
        ("mmap_size", "65536"),
        ("busy_timeout", "70ms"),
    ]);
    let connection = bank.connect();
    let settings = connection.settings();
    let got = |name: &str| settings[name].as_str();
    assert_eq!(
        ["page_size", "synchronous", "cache_size", "wal_autocheckpoint"].map(got),
        ["8192", "extra", "-1000", "77"]
    );
    assert_eq!(
        ["temp_store", "foreign_keys", "mmap_size", "busy_timeout", "journal_mode"].map(got),
        ["memory", "off", "65536", "70ms", "wal"]
    );
    assert_eq!(["immediate", "locking_mode"].map(got), ["on", "normal"]);
    let facts = SqliteFacts::of(&connection, &bank.target);
    assert!(facts.reads_by_page_fault);
    assert!(facts.data_bytes >= ACCOUNTS * 20 && !facts.file_system.is_empty());
    assert!(facts.compile_options.iter().any(|option| option.starts_with("THREADSAFE")));
}

#[test]
fn a_setting_that_does_not_take_is_an_error() {
    let mut bank = Bank::new(&[]);
    bank.target.set("page_size", "16384").expect("a good value");
    let error = bank.database(1).connect(0).err().expect("the page size is fixed");
    assert!(matches!(error, SqliteError::Setting { name: "page_size", .. }), "{error}");
    assert!(error.to_string().contains("dbtime init"), "{error}");
}

#[test]
fn other_connections_may_stay_on_one_thread() {
    let bank = Bank::new(&[("journal_mode", "delete")]);
    let database = bank.database(2);
    let mut first = database.connect(0).expect("a connection");
    let mut second = database.connect(1).expect("a connection");
    (0..4).for_each(|index| transact(&mut first, index));
    drop(first);
    (0..3).for_each(|index| transact(&mut second, index));
    assert_eq!(second.figures().io.get(SqliteFileKind::Journal, VfsCall::Delete).count, 3);
    second.execute(COMMIT, &[], false).expect_err("nothing to commit");
}

#[test]
fn nothing_is_created_by_a_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = SqliteTarget::new(folder.path().join("absent.db"));
    let bank = dbtime_engines::databases::sqlite::SqliteDatabase::new(
        target,
        &[],
        1,
        dbtime_engines::databases::sqlite::MeasureLevel::Nothing,
    );
    let error = bank.connect(0).err().expect("no file");
    assert!(matches!(error, SqliteError::Missing { .. }), "{error}");
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
}
