//! What a session that may only read does when a statement writes.

use super::*;
use crate::query::fake_place::{FakePlace, READ_ONLY, request_with};
use dbtime_model::{Nanos, SqlDialect};
use dbtime_sql::LexicalRules;

/// A place that answers these questions with nothing.
fn place(dialect: SqlDialect, answers: &[&str]) -> FakePlace {
    // A server that only reads refuses the first execution.
    let place = FakePlace::new(dialect, |sql, _, nth| match nth {
        0 if sql.starts_with("SELECT") => Err(READ_ONLY),
        _ => Ok(Nanos::ZERO),
    });
    answers.iter().for_each(|sql| place.answer(sql, &[], &[]));
    place
}

fn guarded(session: &mut QuerySession<'_>, sql: &str) -> Result<FormText, LabError> {
    let rules = LexicalRules::defaults(session.product.dialect());
    let texts = FormText::parse_all(&request_with(sql, &[]).forms, session.product, &rules)?;
    let outlines = [StatementOutline::of(sql, &rules)];
    guard_writes(session, &texts, &outlines)?;
    Ok(texts[0].clone())
}

#[test]
fn what_writes_without_showing_it_is_rolled_back() {
    let on = "SET default_transaction_read_only = on";
    let off = "RESET default_transaction_read_only";
    let place = place(SqlDialect::Postgres, &[on, off, "BEGIN", "ROLLBACK"]);
    let mut session = place.session();
    guarded(&mut session, "SELECT f()").expect("a form");
    assert!(session.settings.is_empty() && session.undoes_writes(), "a pooler is between");
    place.answer("SELECT pg_backend_pid()", &["pid"], &["7"]);
    let mut session = place.session();
    let text = guarded(&mut session, "SELECT f()").expect("a form");
    assert!(session.settings == [on] && !session.undoes_writes());
    let form = session.prepare(&text).expect("prepared");
    assert!(!session.is_undone(&text));
    session.execute(&form, &[], &mut ()).expect("executed");
    assert!(session.undoes_writes() && session.has_found_write());
    // What the rollbacks use is not the statement's, although its text shows no write.
    assert!(session.is_undone(&text));
    assert!(session.guard.notes[0].contains("by a function"), "{:?}", session.guard.notes);
    assert_eq!(place.executed().len(), 2);
}

#[test]
fn what_is_committed_is_counted() {
    let place = place(SqlDialect::Sqlite, &[]);
    let mut session = place.session();
    session.commits = true;
    let text = guarded(&mut session, "SELECT f()").expect("a form");
    let form = session.prepare(&text).expect("prepared");
    session.execute(&form, &[], &mut ()).expect_err("the first one fails");
    session.execute(&form, &[], &mut ()).expect("executed");
    let note = session.committed_note().expect("a note");
    assert!(note.starts_with("committed: 1 execution,"), "{note}");
    assert_eq!(place.session().committed_note(), None);
}

#[test]
fn what_shows_that_it_writes_is_rolled_back_from_the_first_time_on() {
    let place = place(SqlDialect::Postgres, &[]);
    let mut session = place.session();
    guarded(&mut session, "INSERT INTO t VALUES (1)").expect("a form");
    assert!(session.undoes_writes() && !session.has_found_write());
    assert!(session.guard.notes[0].starts_with("numbers of sequences"));
    let mut session = place.session();
    guarded(&mut session, "SELECT a FROM t FOR UPDATE").expect("a form");
    assert!(session.undoes_writes() && session.guard.notes.is_empty());
}

#[test]
fn tables_without_transactions_are_refused() {
    let place = place(SqlDialect::Mysql, &[]);
    place.answer(LASTING_TABLES, &["t", "e"], &["log MyISAM"]);
    let mut session = place.session();
    let refusal = guarded(&mut session, "UPDATE `shop`.`Log` SET a = 1").expect_err("refused");
    let refusal = refusal.to_string();
    assert!(refusal.contains("table log has no transactions (MyISAM); --commit"), "{refusal}");
    guarded(&mut session, "UPDATE logs SET log_a = 1").expect("a form");
}

#[test]
fn nothing_is_executed_any_more_once_something_has_stayed() {
    let place = place(SqlDialect::Mysql, &["BEGIN", "ROLLBACK"]);
    place.answer("SHOW WARNINGS", &["l", "c", "m"], &["Warning 1196 words"]);
    let mut session = place.session();
    let text = guarded(&mut session, "UPDATE t SET a = 1").expect("a form");
    let form = session.prepare(&text).expect("prepared");
    for _ in 0..3 {
        let failure = session.execute(&form, &[], &mut ()).expect_err("it stays");
        assert!(failure.code == "1196" && failure.message.contains("without transactions"));
    }
    assert_eq!(place.executed().len(), 1);
}
