//! `dbtime query` on servers: what it leaves behind.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::Sandbox;
use dbtime_model::Product;
use serde_json::Value;

/// A server with a table `log`, and a function `f` that writes into it.
fn with_function(product: Product) -> GivenServer {
    let given = GivenServer::start(product, &[]);
    given.sql("CREATE TABLE log (x INT)");
    given.sql(match product {
        Product::Postgres => {
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS \
             'INSERT INTO log VALUES (1) RETURNING x'"
        }
        _ => "CREATE FUNCTION f() RETURNS INT BEGIN INSERT INTO log VALUES (1); RETURN 1; END",
    });
    given
}

fn rows_of(given: &GivenServer, table: &str) -> u64 {
    let table = given.sql(&format!("SELECT count(*) FROM {table}"));
    table.value().and_then(|count| count.parse().ok()).expect("a count")
}

fn notes(record: &Value) -> String {
    let notes = record["notes"].as_array().into_iter().flatten();
    notes.filter_map(Value::as_str).collect::<Vec<&str>>().join("; ")
}

#[test]
fn what_a_function_writes_is_rolled_back_and_committed_executions_are_counted() {
    for product in PRODUCTS {
        let given = with_function(product);
        let (sandbox, target) = (Sandbox::new(), given.target());
        let line =
            format!("query --query 'SELECT f()' --target {target} --time 200ms --no-advice --json");
        let record = sandbox.run(&line).fine().json();
        assert!(notes(&record).contains("writes by a function"), "{record}");
        assert_eq!(rows_of(&given, "log"), 0, "{product:?}");
        let record = sandbox.run(&format!("{line} --commit")).fine().json();
        let committed = format!("committed: {} executions", rows_of(&given, "log"));
        assert!(notes(&record).replace(',', "").contains(&committed), "{committed}: {record}");
    }
}

#[test]
fn a_table_without_transactions_is_refused_or_changed_once() {
    let given = with_function(Product::Mariadb);
    let (sandbox, target) = (Sandbox::new(), given.target());
    given.sql("CREATE TABLE old (x INT) ENGINE = MyISAM");
    let line =
        |sql: &str| format!("query --query '{sql}' --target {target} --time 200ms --no-advice");
    let ran = sandbox.run(&line("INSERT INTO old VALUES (1)"));
    ran.refused(2, &["table old has no transactions (MyISAM)"]);
    assert_eq!(rows_of(&given, "old"), 0);
    given.sql("CREATE TRIGGER t AFTER INSERT ON log FOR EACH ROW INSERT INTO old VALUES (1)");
    let ran = sandbox.run(&line("INSERT INTO log VALUES (1)"));
    ran.with(3, &["has changed a table without transactions"]);
    assert_eq!((rows_of(&given, "old"), rows_of(&given, "log")), (1, 0));
}
