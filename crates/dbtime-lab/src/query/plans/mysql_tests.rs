//! What is sent to a server of MySQL's kind for a plan, and what becomes of refusals.

use super::super::fake_place::{FakeAnswers, FakePlace};
use super::super::form_text::FormText;
use super::super::session::SessionForm;
use super::PlanDepth;
use super::mysql::plan_of;
use super::mysql_notes::WARNINGS;
use dbtime_load::program::SqlValue;
use dbtime_model::SqlDialect;
use dbtime_model::query::{PlanOperation, StatementPlan};

/// The values of a row, or a failure.
type FakeAnswer = Result<Vec<&'static str>, &'static str>;

/// The plan of a statement whose parameter is 4711, and what was sent for it.
fn explain(
    answers: FakeAnswers,
    native: &str,
    writes: bool,
) -> (Result<StatementPlan, String>, Vec<String>) {
    let server = FakePlace::with_answers(SqlDialect::Mysql, answers);
    let mut session = server.session();
    let text = FormText {
        native: native.to_owned(),
        parameters: vec!["id".to_owned()],
        order: vec![0],
        writes,
        ..FormText::default()
    };
    let form = SessionForm { text, prepared: None };
    let key = [SqlValue::Integer(4711)];
    let plan = plan_of(&mut session, &form, &key, PlanDepth::Executed, false);
    (plan, server.questions().split_off(1))
}

fn new_mysql(sql: &str, _: &[String]) -> FakeAnswer {
    match sql {
        "SELECT VERSION()" => Ok(vec!["9.7.4"]),
        "SELECT @dbtime_plan" => Ok(vec![r#"{"query_plan": {"operation": "Table scan on t"}}"#]),
        WARNINGS => Ok(vec!["Warning", "1739", "Cannot use ref access on index 'i'"]),
        _ => Ok(Vec::new()),
    }
}

#[test]
fn the_newest_form_goes_through_a_variable() {
    let (plan, sent) = explain(new_mysql, "SELECT * FROM t WHERE id = ?", false);
    let plan = plan.expect("a plan");
    assert_eq!(plan.source, "EXPLAIN ANALYZE FORMAT=JSON");
    assert_eq!(plan.root.operation, PlanOperation::TableScan);
    assert_eq!(plan.notes, ["Cannot use ref access on index 'i'"]);
    let expected = [
        "SET SESSION explain_json_format_version = 2",
        "EXPLAIN ANALYZE FORMAT=JSON INTO @dbtime_plan SELECT * FROM t WHERE id = 4711",
        WARNINGS,
        "SELECT @dbtime_plan",
    ];
    assert_eq!(sent, expected);
}

fn older_mysql(sql: &str, _: &[String]) -> FakeAnswer {
    match sql {
        "SELECT VERSION()" => Ok(vec!["8.0.36"]),
        _ if sql.starts_with("EXPLAIN ANALYZE") => {
            Ok(vec!["-> <not executable by iterator executor>\n"])
        }
        _ if sql.starts_with("EXPLAIN FORMAT=JSON") => {
            Ok(vec![r#"{"query_block": {"table": {"update": true, "table_name": "t"}}}"#])
        }
        _ => Ok(Vec::new()),
    }
}

#[test]
fn a_change_is_taken_back_and_has_the_plan_that_there_is() {
    let (plan, sent) = explain(older_mysql, "UPDATE t SET a = 1 WHERE id = ?", true);
    let plan = plan.expect("a plan");
    assert_eq!(plan.source, "EXPLAIN FORMAT=JSON");
    assert_eq!(plan.root.operation, PlanOperation::Modify);
    assert!(plan.notes.len() == 1 && plan.notes[0].starts_with("EXPLAIN ANALYZE FORMAT=TREE: "));
    let expected = [
        "BEGIN",
        "EXPLAIN ANALYZE FORMAT=TREE UPDATE t SET a = 1 WHERE id = 4711",
        WARNINGS,
        "ROLLBACK",
        "SHOW WARNINGS",
        "EXPLAIN FORMAT=JSON UPDATE t SET a = 1 WHERE id = 4711",
        WARNINGS,
    ];
    assert_eq!(sent, expected);
}

fn mariadb(sql: &str, _: &[String]) -> FakeAnswer {
    match sql {
        "SELECT VERSION()" => Ok(vec!["10.11.19-MariaDB"]),
        _ if sql.starts_with("ANALYZE FORMAT=JSON") => {
            Ok(vec![r#"{"query_block": {"table": {"table_name": "t", "access_type": "ALL"}}}"#])
        }
        _ => Ok(Vec::new()),
    }
}

#[test]
fn notes_of_mariadb_are_on_for_the_plan_alone() {
    let (plan, sent) = explain(mariadb, "SELECT * FROM t WHERE id = ?", false);
    assert!(plan.is_ok());
    let is_setting = |at: &usize| sent[*at].contains("note_verbosity");
    let settings: Vec<usize> = (0..sent.len()).filter(is_setting).collect();
    assert_eq!(settings, [0, sent.len() - 1]);
}

fn oldest_mysql(sql: &str, _: &[String]) -> FakeAnswer {
    if sql == "SELECT VERSION()" { Ok(vec!["5.5.9"]) } else { Err("1064: near '4711'") }
}

#[test]
fn a_statement_without_any_plan_has_reasons_without_its_key() {
    let (plan, sent) = explain(oldest_mysql, "UPDATE t SET a = 1 WHERE id = ?", true);
    let reason = plan.expect_err("none");
    assert!(reason.starts_with("EXPLAIN EXTENDED: ") && !reason.contains("4711"), "{reason}");
    assert_eq!(sent, ["EXPLAIN EXTENDED UPDATE t SET a = 1 WHERE id = 4711"]);
}
