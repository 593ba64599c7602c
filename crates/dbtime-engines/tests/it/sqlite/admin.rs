//! Loading and checking, and what is said of databases that cannot be used.

use super::atm::{Bank, FETCH, fill_account, load, marker, statements, tables};
use dbtime_engines::databases::sqlite::{
    DatabaseFailure, MeasureLevel, SqliteAdmin, SqliteDatabase, SqliteError, SqliteTarget, check,
};
use dbtime_engines::load_marker::{LoadError, ReplaceScope};
use dbtime_load::program::SqlValue;
use dbtime_model::ErrorClass;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn place() -> (TempDir, SqliteTarget) {
    let folder = tempfile::tempdir().expect("a folder");
    let target = SqliteTarget::new(folder.path().join("bank.db"));
    (folder, target)
}

fn refused(target: &SqliteTarget) -> SqliteError {
    check(target, "bank", &tables(), Some(1)).expect_err("it cannot be used")
}

#[test]
fn a_loaded_database_is_whole() {
    let bank = Bank::new(&[]);
    let found = check(&bank.target, "bank", &tables(), Some(1)).expect("loaded");
    assert_eq!(found, marker());
    let names = fs::read_dir(bank.target.folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    assert_eq!(names.collect::<Vec<_>>(), ["bank.db"]);
    let error = check(&bank.target, "bank", &tables(), Some(10)).expect_err("another scale");
    assert!(error.to_string().contains("dbtime init bank --scale 10"), "{error}");
    let error = check(&bank.target, "shop", &[], None).expect_err("another workload");
    assert!(error.to_string().contains("it holds bank"), "{error}");
}

#[test]
fn a_second_load_replaces_the_first() {
    let bank = Bank::new(&[]);
    let admin = SqliteAdmin::create(&bank.target).expect("a database");
    let replaced = admin.drop_tables(&tables(), &marker(), ReplaceScope::Same).expect("dropped");
    assert_eq!(replaced.as_deref(), Some("its data at scale 1"));
    admin.create_tables(&tables()).expect("tables");
    assert!(matches!(refused(&bank.target), SqliteError::Loaded(LoadError::HalfLoaded { .. })));
    admin.load(&tables()[0], 10, fill_account, |_| true).expect("rows");
    admin.finish(&marker()).expect("a marker");
    check(&bank.target, "bank", &tables(), Some(1)).expect("loaded");
}

#[test]
fn a_load_that_never_ended_leaves_no_database() {
    let (_folder, target) = place();
    let admin = SqliteAdmin::create(&target).expect("a database");
    admin.create_tables(&tables()).expect("tables");
    admin.load(&tables()[0], 10, fill_account, |_| true).expect("rows");
    drop(admin);
    let error = refused(&target);
    assert!(error.to_string().contains("dbtime init bank --target sqlite:"), "{error}");
    load(&target);
    check(&target, "bank", &tables(), Some(1)).expect("loaded");
}

#[test]
fn other_peoples_tables_are_no_data() {
    let (_folder, target) = place();
    let db = rusqlite::Connection::open(&target.path).expect("a database");
    db.execute_batch("CREATE TABLE strange (x)").expect("a table");
    assert!(matches!(refused(&target), SqliteError::Loaded(LoadError::NotLoaded { .. })));
    db.execute_batch("CREATE TABLE account (x)").expect("a table");
    let error = refused(&target).to_string();
    assert!(error.contains("table account was not made for it"), "{error}");
    assert!(error.contains("dbtime init bank --replace --target sqlite:"), "{error}");
}

#[test]
fn a_file_that_is_no_database_is_told_so() {
    let (_folder, target) = place();
    fs::write(&target.path, "a letter to the bank\n".repeat(100)).expect("written");
    assert!(matches!(refused(&target), SqliteError::NotADatabase { .. }));
    let error = SqliteAdmin::create(&target).err().expect("not overwritten");
    assert!(matches!(error, SqliteError::NotADatabase { .. }), "{error}");
}

#[test]
fn a_damaged_database_is_told_so() {
    let bank = Bank::new(&[]);
    let mut bytes = fs::read(&bank.target.path).expect("a file");
    bytes[4096..].fill(0xa5);
    fs::write(&bank.target.path, &bytes).expect("written");
    let mut connection = bank.connect();
    let failure = connection.execute(FETCH, &[SqlValue::Integer(1)], false).expect_err("damaged");
    assert_eq!(failure.class, ErrorClass::Corrupt, "{failure:?}");
    drop(connection);
    bytes[100..4096].fill(0xa5);
    fs::write(&bank.target.path, &bytes).expect("written");
    let error = refused(&bank.target);
    assert!(matches!(error, SqliteError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("dbtime init"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told_so() {
    // Not even root can create files here.
    for folder in ["/proc/self/fdinfo", "/nowhere/at/all"] {
        let target = SqliteTarget::new(Path::new(folder).join("bank.db"));
        let error = SqliteAdmin::create(&target).err().expect("nobody may");
        assert!(matches!(error, SqliteError::Folder { .. }), "{error}");
        assert!(error.to_string().contains(folder), "{error}");
    }
}

#[test]
fn a_file_that_may_only_be_read_is_told_so() {
    if rustix::process::geteuid().is_root() {
        // Root may write everything; the next line of defence is the test above.
        return;
    }
    let bank = Bank::new(&[]);
    let mut permissions = fs::metadata(&bank.target.path).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&bank.target.path, permissions).expect("set");
    let error = bank.database(1).connect(0).err().expect("read only");
    assert!(matches!(error, SqliteError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_full_file_system_is_told_so() {
    let plain = DatabaseFailure::connection("SQLITE_FULL", "database or disk is full");
    let failure = DatabaseFailure { class: ErrorClass::Full, ..plain };
    let bank = Bank::new(&[]);
    let error = SqliteError::from_failure("loading", &bank.target, failure);
    assert!(error.to_string().contains("free space"), "{error}");
}

#[test]
fn loading_is_fast() {
    let (_folder, target) = place();
    let start = std::time::Instant::now();
    let admin = SqliteAdmin::create(&target).expect("a database");
    admin.create_tables(&tables()).expect("tables");
    let mut calls = 0;
    admin
        .load(&tables()[0], 100_000, fill_account, |_| {
            calls += 1;
            true
        })
        .expect("rows");
    admin.create_indexes(&tables()).expect("indexes");
    admin.finish(&marker()).expect("a marker");
    println!("100,000 rows in {:?}", start.elapsed());
    assert_eq!(calls, 10);
    let database = SqliteDatabase::new(target, &statements(), 1, MeasureLevel::Nothing);
    let mut connection = database.connect(0).expect("a connection");
    let last = [SqlValue::Integer(100_000)];
    assert_eq!(connection.execute(FETCH, &last, false).expect("a row"), 1);
    assert!(connection.measured() == dbtime_model::PartSet::default());
}
