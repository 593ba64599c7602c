//! `dbtime query` on an SQLite database: its record, its report, what it refuses, what it leaves.

use crate::sandbox::{Sandbox, count, number};
use serde_json::Value;

/// A statement of the table that [`Sandbox::loaded`] has, with a key.
const ONE: &str = "query --query 'SELECT count(*) FROM item WHERE id >= :id' \
                   --dict id=range:1..100 --target sqlite:t.db --time 1s";

/// Two forms of a statement, in the files of [`with_forms`].
const TWO: &str = "query a.sql b.sql --dict id=range:1..100 --target sqlite:t.db --time 1s";

/// A sandbox with both forms in files.
fn with_forms(b: &str) -> Sandbox {
    let sandbox = Sandbox::loaded();
    sandbox.write("a.sql", "SELECT n FROM item WHERE id = :id;\n");
    sandbox.write("b.sql", b);
    sandbox
}

/// The same rows, with a count of all pairs of rows beside them.
const SLOWER: &str = "SELECT n FROM item WHERE id = :id \
                      AND (SELECT count(*) FROM item one, item other) > 0";

#[test]
fn a_statement_is_measured_with_its_keys_and_its_plan() {
    let sandbox = Sandbox::loaded();
    let record = sandbox.run(&format!("{ONE} --json")).fine().json();
    assert_eq!(record["schema"], 1);
    let form = &record["forms"][0];
    assert_eq!((form["name"].as_str(), form["source"].as_str()), (Some("A"), Some("--query")));
    assert!(count(form, "/times/count") >= 30, "{form}");
    let order = ["min_us", "p50_us", "p90_us", "p99_us", "max_us"];
    let order = order.map(|name| number(form, &format!("/times/{name}")));
    assert!(order.is_sorted() && order[0] > 0.0, "{order:?}");
    assert_eq!(number(form, "/times/rows"), 1.0);
    assert!(number(form, "/first/execute_us") > 0.0);
    let parts = form["parts"].as_array().expect("a list");
    let sum: f64 = parts.iter().map(|part| number(part, "/mean_us")).sum();
    let watched_us = number(form, "/watched_mean_us");
    assert!(watched_us > 0.0 && (sum - watched_us).abs() < 1e-3 * watched_us, "{form}");
    assert!(parts.iter().any(|part| part["part"] == "cpu"), "{form}");
    assert_eq!(form["plan"]["shape"].as_str().map(str::len), Some(16), "{form}");
    assert_eq!(record["keys"]["sources"][0]["parameter"], "id");
    assert!(record["comparison"].is_null() && record["rows"].is_null());
    assert_eq!(sandbox.left(), ["small.toml", "t.db"]);
}

#[test]
fn a_report_begins_with_what_an_execution_takes() {
    let sandbox = Sandbox::loaded();
    let ran = sandbox.run(ONE).fine();
    assert!(ran.out.starts_with("An execution takes "), "{ran:?}");
    let ran = ran.prints(&["SQLite ", "id from ", "Plan of A", "Executions"]);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{ran:?}");
    sandbox.run(&format!("{ONE} --html a.html")).fine().prints(&["Report: a.html"]);
    let page = std::fs::read_to_string(sandbox.path("a.html")).expect("a page");
    assert!(page.contains("Plan of A"));
    let markdown = sandbox.run(&format!("{ONE} --markdown")).fine();
    assert!(markdown.out.starts_with("## An execution takes "), "{markdown:?}");
}

#[test]
fn of_two_forms_the_slower_one_is_known_and_expectations_decide_the_exit_code() {
    let sandbox = with_forms(SLOWER);
    let record = sandbox.run(&format!("{TWO} --json")).fine().json();
    assert_eq!(record["comparison"]["verdict"], "slower", "{record}");
    assert!(number(&record, "/comparison/ratio/low") > 1.0, "{record}");
    assert_eq!(record["rows"]["outcome"], "identical", "{record}");
    assert!(count(&record, "/rows/edge_keys") > 0, "{record}");
    sandbox.run(&format!("{TWO} --expect-same-rows")).fine().prints(&["--expect-same-rows: met"]);
    let ran = sandbox.run(&format!("{TWO} --expect-faster --expect-same-rows"));
    ran.with(1, &["B takes ", "--expect-faster is not met"]);
}

#[test]
fn rows_that_differ_are_said_first_and_leave_no_value_in_a_file() {
    let sandbox = with_forms("SELECT n + 4711 FROM item WHERE id = :id");
    let ran = sandbox.run(&format!("{TWO} --expect-same-rows --out r.json"));
    let ran = ran.with(1, &["B returns other rows", "Record: r.json"]);
    // Without a terminal there is no screen that values could stay on.
    assert!(!ran.out.contains("4711"), "{ran:?}");
    let text = std::fs::read_to_string(sandbox.path("r.json")).expect("a record");
    let record: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(record["rows"]["outcome"], "different", "{record}");
    assert!(!text.contains("4711"), "{text}");
    let raw = sandbox.run(&format!("{TWO} --raw-sql --json")).fine();
    assert!(raw.out.contains("4711"), "{raw:?}");
}

#[test]
fn a_plan_that_has_changed_since_a_record_is_said() {
    let sandbox = Sandbox::loaded();
    let line = "query --query 'SELECT id FROM item WHERE n = :n' --dict n=range:0..3 --time 200ms \
                --no-advice --target sqlite:t.db";
    sandbox.run(&format!("{line} --out old.json")).fine();
    let line = format!("{line} --against old.json --json");
    let change = |record: &Value| record["forms"][0]["plan"]["change"]["is_same"].clone();
    assert_eq!(change(&sandbox.run(&line).fine().json()), true);
    let database = rusqlite::Connection::open(sandbox.path("t.db")).expect("a database");
    database.execute_batch("CREATE INDEX by_n ON item (n)").expect("an index");
    drop(database);
    assert_eq!(change(&sandbox.run(&line).fine().json()), false);
}

#[test]
fn what_a_statement_writes_is_rolled_back_unless_it_is_to_be_committed() {
    let sandbox = Sandbox::loaded();
    let line = "query --query 'UPDATE item SET n = n + 1 WHERE id = :id' --dict id=range:1..100 \
                --target sqlite:t.db --time 200ms --no-advice --json";
    let sum = || {
        let database = rusqlite::Connection::open(sandbox.path("t.db")).expect("a database");
        let sum = database.query_row("SELECT sum(n) FROM item", [], |row| row.get::<_, i64>(0));
        sum.expect("a sum")
    };
    sandbox.run(line).fine();
    assert_eq!(sum(), 0);
    sandbox.run(&format!("{line} --commit")).fine();
    assert!(sum() > 0);
    let dropped = line.replace("UPDATE item SET n = n + 1 WHERE id = :id", "VACUUM");
    let ran = sandbox.run(&dropped.replace("--dict id=range:1..100 ", ""));
    ran.refused(2, &["VACUUM"]);
}

#[test]
fn what_cannot_be_meant_is_refused_before_a_database_is_touched() {
    let sandbox = Sandbox::new();
    sandbox.write("a.sql", "SELECT 1");
    for (line, words) in [
        ("query", "no statement"),
        ("query a.sql", "no database"),
        ("query a.sql --on-copy", "--on-copy FILE"),
        ("query --query 'SELECT 1' --on-copy a.sql", "write the statement first"),
        ("query a.sql --on-copy t.db --target sqlite:t.db", "leave out FILE or --target"),
        ("query a.sql --target sqlite:t.db --expect-faster", "--expect-faster is about two forms"),
        ("query a.sql --target sqlite:t.db --time 0s", "--time 0 leaves no time"),
        ("query a.sql --target sqlite:t.db --dict ids.txt", "write NAME=SOURCE"),
        ("query a.sql --target sqlite:t.db --margin 0", "such as 1%"),
        ("query a.sql --target sqlite:t.db --advice --no-advice", "cannot be used with"),
        ("query a.sql --target sqlite:t.db --json --details", "cannot be used with"),
        ("query a.sql --target sqlite:t.db --out a.sql", "is a file that this command reads"),
        ("query a.sql --target sqlite:t.db --against no.json", "--against no.json: No such"),
        ("query a.sql --against sqlite:t.db --target sqlite:t.db", "is a target"),
    ] {
        sandbox.run(line).refused(2, &[words]);
    }
    sandbox.run("query absent.sql --target sqlite:t.db").refused(3, &["cannot read absent.sql"]);
    sandbox.run("query a.sql --target sqlite:absent.db").refused(3, &["absent.db"]);
    assert_eq!(sandbox.left(), ["a.sql"]);
}

#[test]
fn secrets_of_a_target_are_in_no_complaint() {
    let sandbox = Sandbox::new();
    let target = "mysql://u:hush@127.0.0.1:1/d";
    let ran = sandbox.run(&format!("query --query 'SELECT 1' --target {target}")).refused(3, &[]);
    assert!(!ran.err.contains("hush"), "{ran:?}");
}

#[test]
fn the_help_has_every_flag_under_its_heading() {
    let help = Sandbox::new().run("query --help").fine();
    let headings = ["Statements:", "Measurement:", "Plans and advice:", "Expectations:", "View:"];
    let help = help.prints(&headings);
    help.prints(&["--on-copy [<FILE>]", "--dict <NAME=SOURCE>", "--expect-same-rows"]);
}
