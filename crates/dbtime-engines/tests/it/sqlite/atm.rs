//! A small bank for the tests: three tables, nine statements to a transaction.

use dbtime_engines::databases::sqlite::{
    MeasureLevel, SqliteAdmin, SqliteConnection, SqliteDatabase, SqliteTarget,
};
use dbtime_engines::load_marker::LoadMarker;
use dbtime_load::program::SqlValue;
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_load::workload::{ColumnType, TableIndex, WorkloadColumn, WorkloadTable};
use dbtime_model::{OperationId, StatementId};
use tempfile::TempDir;

pub(crate) const ACCOUNTS: u64 = 1009;
pub(crate) const BEGIN: StatementId = StatementId(0);
pub(crate) const FETCH: StatementId = StatementId(1);
pub(crate) const UPDATE: StatementId = StatementId(2);
pub(crate) const CREATE: StatementId = StatementId(3);
pub(crate) const COMMIT: StatementId = StatementId(4);
pub(crate) const ROLLBACK: StatementId = StatementId(5);
pub(crate) const BEGIN_READ: StatementId = StatementId(6);
pub(crate) const LIMIT_PAGES: StatementId = StatementId(7);
pub(crate) const BAD: StatementId = StatementId(8);
pub(crate) const FETCH_ROW: StatementId = StatementId(9);

pub(crate) fn statements() -> Vec<Statement> {
    let sql = |sql: &str| StatementKind::Sql(sql.to_owned());
    let all = [
        ("begin", StatementKind::Begin { write: true }),
        ("fetch account", sql("SELECT balance FROM account WHERE id = ?1")),
        ("update account", sql("UPDATE account SET balance = balance + ?1 WHERE id = ?2")),
        ("create history", sql("INSERT INTO history (account_id, note) VALUES (?1, ?2)")),
        ("commit", StatementKind::Commit),
        ("rollback", StatementKind::Rollback),
        ("begin read", StatementKind::Begin { write: false }),
        ("limit pages", sql("PRAGMA max_page_count = 40")),
        ("bad", sql("SELECT balance FROM nowhere")),
        ("fetch row", sql("SELECT id, owner, balance, NULL, 0.5 FROM account WHERE id <= ?1")),
    ];
    all.into_iter()
        .map(|(name, kind)| Statement { operation: OperationId(0), name: name.to_owned(), kind })
        .collect()
}

pub(crate) fn tables() -> Vec<WorkloadTable> {
    let column = |name: &str, kind, primary_key, auto| WorkloadColumn {
        name: name.to_owned(),
        kind,
        primary_key,
        auto,
    };
    let table = |name: &str, columns, indexes| WorkloadTable {
        name: name.to_owned(),
        rows: 0,
        per_scale: false,
        columns,
        indexes,
    };
    let account = vec![
        column("id", ColumnType::Integer, true, false),
        column("owner", ColumnType::Char(20), false, false),
        column("balance", ColumnType::BigInt, false, false),
    ];
    let history = vec![
        column("id", ColumnType::BigInt, true, true),
        column("account_id", ColumnType::Integer, false, false),
        column("note", ColumnType::Text, false, false),
    ];
    let by_account = TableIndex {
        name: "history_account".to_owned(),
        columns: vec!["account_id".to_owned()],
        unique: false,
    };
    vec![table("account", account, vec![]), table("history", history, vec![by_account])]
}

pub(crate) fn fill_account(index: u64, row: &mut Vec<SqlValue>) {
    row.clear();
    row.push(SqlValue::Integer(index.cast_signed() + 1));
    row.push(SqlValue::Text(format!("owner {index}")));
    row.push(SqlValue::Integer(0));
}

pub(crate) fn marker() -> LoadMarker {
    LoadMarker { workload: "bank".to_owned(), scale: 1, seed: u64::MAX, version: "test".to_owned() }
}

pub(crate) fn load(target: &SqliteTarget) {
    let admin = SqliteAdmin::create(target).expect("a database");
    let tables = tables();
    admin.create_tables(&tables).expect("tables");
    let mut seen = Vec::new();
    admin
        .load(&tables[0], ACCOUNTS, fill_account, |p| {
            seen.push(p.done);
            true
        })
        .expect("rows");
    assert_eq!(seen.last(), Some(&ACCOUNTS));
    admin.create_indexes(&tables).expect("indexes");
    admin.finish(&marker()).expect("a marker");
}

/// A loaded bank in a folder of its own, on a disk: where temporary files are in memory no sync
/// takes time.
pub(crate) struct Bank {
    pub(crate) target: SqliteTarget,
    _folder: TempDir,
}

impl Bank {
    pub(crate) fn new(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let mut target = SqliteTarget::new(folder.path().join("bank.db"));
        for (name, value) in settings {
            target.set(name, value).expect("a good setting");
        }
        load(&target);
        Self { target, _folder: folder }
    }

    pub(crate) fn database(&self, workers: usize) -> SqliteDatabase {
        SqliteDatabase::new(self.target.clone(), &statements(), workers, MeasureLevel::Budget)
    }

    pub(crate) fn connect(&self) -> SqliteConnection {
        self.database(1).connect(0).expect("a connection")
    }
}

/// The parameters of the statements of transaction `index`.
pub(crate) fn steps(index: u64) -> [(StatementId, Vec<SqlValue>); 5] {
    let account = SqlValue::Integer((index * 7919 % ACCOUNTS).cast_signed() + 1);
    [
        (BEGIN, vec![]),
        (FETCH, vec![account.clone()]),
        (UPDATE, vec![SqlValue::Integer(5), account.clone()]),
        (CREATE, vec![account, SqlValue::Text("withdrawn at the corner".to_owned())]),
        (COMMIT, vec![]),
    ]
}

pub(crate) fn transact(connection: &mut SqliteConnection, index: u64) {
    for (statement, parameters) in steps(index) {
        connection.execute(statement, &parameters, false).expect("executed");
    }
}
