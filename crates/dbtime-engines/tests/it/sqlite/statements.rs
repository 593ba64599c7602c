//! Single statements whose rows are looked at, and private copies of databases.

use super::atm::{ACCOUNTS, Bank};
use dbtime_engines::databases::sqlite::{SqliteStatements, SqliteTarget};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{
    CellValue, PreparedForm, RowVisitor, StatementBound, StatementConnection,
};
use dbtime_load::program::SqlValue;
use dbtime_machine::now;
use dbtime_model::{ErrorClass, Nanos, Part, Parts};

/// Numbers up to a bound, made by SQLite itself.
const COUNT_UP: &str = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE \
                        n < ?) SELECT count(*) FROM r";

fn bound(limit: Nanos) -> StatementBound {
    StatementBound { limit, stop: RunStop::default() }
}

fn connect(target: &SqliteTarget) -> SqliteStatements {
    target.statements(&bound(Nanos::from_secs(60))).expect("a connection")
}

/// Writes down what it is shown: `n,name: 1,'a' NULL,2.5`.
#[derive(Default)]
struct WrittenRows(String);

impl RowVisitor for WrittenRows {
    fn begin(&mut self, columns: &[String]) {
        self.0 = format!("{}:", columns.join(","));
    }

    fn cell(&mut self, value: CellValue<'_>) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let value = match value {
            CellValue::Null => "NULL".to_owned(),
            CellValue::Integer(number) => number.to_string(),
            CellValue::Real(number) => format!("{number:?}"),
            CellValue::Text(bytes) => format!("'{}'", text(bytes)),
            CellValue::Bytes(bytes) => format!("x{bytes:02x?}"),
            other => panic!("SQLite has no {other:?}"),
        };
        self.0 += &format!(" {value}");
    }

    fn end_row(&mut self) {
        self.0 += ";";
    }
}

#[test]
fn rows_are_shown_with_their_types() {
    let bank = Bank::new(&[]);
    let mut connection = connect(&bank.target);
    let sql = "SELECT ?2 AS a, ?1 AS b, 2.5 AS c, NULL AS d, x'00ff' AS e, x'' AS f, '' AS g";
    let form = connection.prepare(sql).expect("prepared");
    assert_eq!(form.parameters, Some(2));
    assert_eq!(form.columns, ["a", "b", "c", "d", "e", "f", "g"]);
    let key = [SqlValue::Text("it's".to_owned()), SqlValue::Integer(-7)];
    let mut rows = WrittenRows::default();
    let instants = connection.execute(&form, &key, &mut rows).expect("executed");
    assert_eq!(rows.0, "a,b,c,d,e,f,g: -7 'it's' 2.5 NULL x[00, ff] x[] '';");
    assert_eq!((instants.rows, instants.bytes, instants.unlisted_rows), (1, 22, 0));
    assert!(instants.sent <= instants.done);
    let wrong = connection.execute(&form, &key[..1], &mut ()).expect_err("one is missing");
    assert_eq!(wrong.code, "SQLITE_RANGE");
    connection.forget(form.clone());
    let gone = connection.execute(&form, &key, &mut ()).expect_err("it is forgotten");
    assert_eq!(gone.code, "SQLITE_MISUSE");
    let next = connection.prepare("SELECT 1").expect("prepared");
    assert_eq!(next.handle, form.handle, "handles are used again");
}

#[test]
fn what_is_no_statement_or_several_is_refused() {
    let bank = Bank::new(&[]);
    let mut connection = connect(&bank.target);
    for (sql, words) in [
        ("", "empty"),
        (" -- nothing", "empty"),
        ("SELECT 1; SELECT 2", "several"),
        ("SELECT 1 FROM nowhere", "nowhere"),
    ] {
        let failure = connection.prepare(sql).expect_err(sql);
        assert!(failure.message.contains(words), "{sql}: {failure:?}");
    }
    connection.prepare("SELECT 1; -- the end").expect("a comment is no statement");
}

#[test]
fn texts_have_the_rows_of_their_last_result() {
    let bank = Bank::new(&[]);
    let mut connection = connect(&bank.target);
    let mut rows = WrittenRows::default();
    let text = "SELECT 1 AS a; BEGIN; UPDATE account SET balance = 5 WHERE id <= 3; \
                SELECT sum(balance) AS b FROM account; ROLLBACK; ";
    connection.run_text(text, &mut rows).expect("executed");
    assert_eq!(rows.0, "b: 15;");
    let table = connection.table("SELECT 1, 'x', NULL, 0.5").expect("a table");
    let row = [Some("1"), Some("x"), None, Some("0.5")].map(|value| value.map(str::to_owned));
    assert_eq!(table.rows, [row]);
    let long = format!("{COUNT_UP} WHERE n = 0 UNION ALL SELECT zeroblob(9000000)");
    let refused = connection.table(&long.replace('?', "1")).expect_err("it is too long");
    assert_eq!(refused.code, "SQLITE_TOOBIG");
    let plan = connection.table("EXPLAIN QUERY PLAN SELECT * FROM account WHERE id = 1");
    let plan = plan.expect("a plan");
    assert!(plan.rows[0][3].as_deref().is_some_and(|text| text.contains("SEARCH account")));
}

#[test]
fn writes_are_counted_and_taken_back() {
    let bank = Bank::new(&[]);
    let mut connection = connect(&bank.target);
    let form = connection.prepare("UPDATE account SET balance = 1 WHERE id <= ?").expect("fine");
    connection.table("BEGIN").expect("begun");
    let key = [SqlValue::Integer(10)];
    let changed = connection.execute(&form, &key, &mut ()).expect("executed");
    assert_eq!(changed.rows, 10);
    connection.table("ROLLBACK").expect("taken back");
    let sum = connection.table("SELECT sum(balance) FROM account").expect("a sum");
    assert_eq!(sum.value(), Some("0"));
}

#[test]
fn steps_and_counters_are_those_of_one_execution() {
    let bank = Bank::new(&[]);
    let mut connection = connect(&bank.target);
    let sql = "SELECT owner FROM account WHERE balance = ? ORDER BY owner";
    let form = connection.prepare(sql).expect("prepared");
    let key = [SqlValue::Integer(0)];
    for _ in 0..2 {
        connection.execute(&form, &key, &mut ()).expect("executed");
        let counters = connection.last_counters();
        let count = |of: &str| counters.iter().find(|(name, _)| *name == of).expect(of).1;
        assert_eq!((count("FULLSCAN_STEP"), count("SORT")), (ACCOUNTS - 1, 1));
        assert_eq!((count("AUTOINDEX"), count("CACHE_WRITE")), (0, 0));
        assert!(count("VM_STEP") > ACCOUNTS && count("CACHE_HIT") > 0, "{counters:?}");
    }
    assert!(connection.last_steps().is_empty(), "they are not counted unless turned on");
    connection.count_steps(true);
    let form = connection.prepare(sql).expect("prepared");
    for _ in 0..2 {
        connection.execute(&form, &key, &mut ()).expect("executed");
        let steps = connection.last_steps();
        let scan = steps.iter().find(|step| step.name.as_deref() == Some("account"));
        let scan = scan.expect("a scan");
        assert_eq!((scan.loops, scan.rows, scan.detail.as_str()), (1, ACCOUNTS, "SCAN account"));
        assert!(scan.estimated_rows.is_some() && scan.cycles.is_some_and(|cycles| cycles > 0));
        assert!(steps.iter().any(|step| step.detail.contains("ORDER BY")), "{steps:?}");
    }
    connection.count_steps(false);
    connection.execute(&form, &key, &mut ()).expect("executed");
    assert!(connection.last_steps().is_empty());
}

#[test]
fn the_parts_of_an_execution_add_up_to_its_time() {
    let bank = Bank::new(&[("journal_mode", "delete"), ("synchronous", "full")]);
    let bound = bound(Nanos::from_secs(60));
    let mut connection = bank.target.measured_statements(&bound).expect("a connection");
    let update = connection.prepare("UPDATE account SET balance = 1 - balance WHERE id = ?");
    let count = connection.prepare(COUNT_UP).expect("prepared");
    let update = update.expect("prepared");
    assert_eq!(connection.last_parts(), None);
    let mut parts_of = |form: &PreparedForm, number| {
        let mut sums = Parts::default();
        for _ in 0..100 {
            let ran = connection.execute(form, &[SqlValue::Integer(number)], &mut ());
            let ran = ran.expect("executed");
            let parts = connection.last_parts().expect("it is measured");
            assert_eq!(parts.total(), (ran.done - ran.sent).signed());
            sums.add_all(&parts);
        }
        sums
    };
    let (written, counted) = (parts_of(&update, 1), parts_of(&count, 3_000));
    assert!(written.get(Part::Cpu) > 0 && written.get(Part::Sync) > 0, "{written:?}");
    assert!(counted.get(Part::Cpu) > 0 && counted.measured().has(Part::Sync), "{counted:?}");
    assert_eq!((counted.get(Part::Sync), counted.get(Part::IoWrite)), (0, 0));
    let mut plain = connect(&bank.target);
    let form = plain.prepare("SELECT 1").expect("prepared");
    plain.execute(&form, &[], &mut ()).expect("executed");
    assert_eq!(plain.last_parts(), None, "nothing is measured unless it is to be");
}

#[test]
fn a_statement_ends_by_its_timeout_and_by_the_stop() {
    let bank = Bank::new(&[]);
    let bound = bound(Nanos::from_millis(20));
    let mut connection = bank.target.statements(&bound).expect("a connection");
    let form = connection.prepare(COUNT_UP).expect("prepared");
    let endless = [SqlValue::Integer(i64::MAX)];
    let late = connection.execute(&form, &endless, &mut ()).expect_err("it never ends");
    assert_eq!(late.class, ErrorClass::Timeout);
    assert!(late.message.contains("20.0 ms; raise --statement-timeout"), "{late:?}");
    assert!(!connection.is_given_up());
    let short = [SqlValue::Integer(3)];
    connection.execute(&form, &short, &mut ()).expect("the connection goes on");
    bound.stop.at(now());
    let ended = connection.execute(&form, &endless, &mut ()).expect_err("nothing waits for it");
    assert_eq!(ended.class, ErrorClass::Interrupted);
}

#[test]
fn nothing_is_made_where_nothing_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = SqliteTarget::new(folder.path().join("none.db"));
    let error = target.statements(&bound(Nanos::from_secs(1))).err().expect("it is missing");
    assert!(error.to_string().contains("there is no database"), "{error}");
    assert!(!target.path.exists());
}

#[test]
fn a_copy_has_all_rows_and_is_another_database() {
    for journal in ["wal", "delete"] {
        let bank = Bank::new(&[("journal_mode", journal)]);
        let path = bank.target.path.with_extension("copy");
        let mut pages = Vec::new();
        let copy = bank.target.copy_to(&path, &RunStop::default(), &mut |done, all| {
            pages.push((done, all));
        });
        let mut copy = connect(&copy.expect("a copy"));
        let last = pages.last().expect("there are pages");
        assert!(last.0 > 0 && last.0 == last.1, "{pages:?}");
        let count = "SELECT count(*) FROM account";
        let rows = copy.table(count).expect("rows");
        assert_eq!(rows.value(), Some(&*ACCOUNTS.to_string()), "{journal}");
        copy.table("DELETE FROM account").expect("emptied");
        let rows = connect(&bank.target).table(count).expect("rows");
        assert_eq!(rows.value(), Some(&*ACCOUNTS.to_string()), "{journal}");
    }
}

#[test]
fn a_copy_is_ended_by_the_stop() {
    let bank = Bank::new(&[]);
    let mut connection = connect(&bank.target);
    // More than the pages of a step.
    let fill = "CREATE TABLE large AS SELECT zeroblob(8000000) AS bytes";
    connection.run_text(fill, &mut ()).expect("filled");
    let stop = RunStop::default();
    stop.at(now());
    let path = bank.target.path.with_extension("copy");
    let error = bank.target.copy_to(&path, &stop, &mut |_, _| {}).expect_err("it is ended");
    assert!(error.to_string().contains("no longer waits"), "{error}");
}
