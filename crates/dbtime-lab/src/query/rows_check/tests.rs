//! Checks of rows, on a connection that returns what a function says.

use super::super::fake_place::{FakePlace, FakeRows, GIVEN_UP, UNSEEN};
use super::super::form_text::FormText;
use super::*;
use dbtime_model::SqlDialect;
use std::cell::Cell;

/// A failure, whose words have a value.
const FAILS: &str = "22012: it fails near 'hush'";

/// Whether a statement changes rows.
fn writes(sql: &str) -> bool {
    sql.starts_with("UPDATE")
}

fn form_text(name: &str, sql: &str) -> FormText {
    FormText {
        name: name.to_owned(),
        given: sql.to_owned(),
        native: sql.to_owned(),
        parameters: vec!["k".to_owned()],
        order: vec![0],
        writes: writes(sql),
        ..FormText::default()
    }
}

/// A check on a database of this dialect, which is to end with the key of this index, and what was
/// executed besides.
fn checked(
    dialect: SqlDialect,
    [a, b]: [&str; 2],
    keys: &[i64],
    rows: FakeRows,
    stop_at: Option<u64>,
) -> (RowsCheck, Vec<String>) {
    let place = FakePlace::with_rows(dialect, rows);
    let stop = RunStop::default();
    let mut session = place.session();
    let a = session.prepare(&form_text("A", a)).expect("a form");
    let b = session.prepare(&form_text("B", b)).expect("a form");
    let before = place.questions().len();
    let keys: Vec<_> = keys.iter().map(|key| vec![SqlValue::Integer(*key)]).collect();
    let steps = Cell::new(0);
    let progress = |step: QueryProgress| {
        steps.set(steps.get() + 1);
        if stop_at == Some(step.done) {
            stop.at(dbtime_model::MonoNanos(0));
        }
    };
    let plan = RowsPlan { keys, edges: 1, stop: &stop, progress: &progress };
    let check = check_rows(&mut session, [&a, &b], &plan);
    assert!(steps.get() <= plan.keys.len());
    (check, place.questions().split_off(before))
}

fn check_of(forms: [&str; 2], keys: &[i64], rows: FakeRows) -> RowsCheck {
    checked(SqlDialect::Postgres, forms, keys, rows, None).0
}

/// The outcome for one key.
fn outcome_of(forms: [&str; 2], rows: FakeRows) -> RowsOutcome {
    check_of(forms, &[1], rows).outcome
}

fn row(id: i64, name: &str) -> Vec<SqlValue> {
    vec![SqlValue::Integer(id), SqlValue::Text(name.to_owned())]
}

const A: &str = "SELECT id, name FROM a WHERE k = $1";
const B: &str = "SELECT id, name FROM b WHERE k = $1";
const ORDERED_A: &str = "SELECT id, name FROM a WHERE k = $1 ORDER BY id";
const CUT_A: &str = "SELECT id, name FROM a WHERE k = $1 ORDER BY id LIMIT 3";

fn is_a(sql: &str) -> bool {
    sql.contains("FROM a")
}

#[test]
fn the_same_rows_are_counted_over_all_keys() {
    let same = |_: &str, key: &[SqlValue]| match key {
        [SqlValue::Integer(0)] => Ok(Vec::new()),
        _ => Ok(vec![row(1, "x"), row(2, "y")]),
    };
    let check = check_of([A, B], &[1, 2, 0], same);
    assert_eq!(check.outcome, RowsOutcome::Identical);
    assert_eq!((check.keys, check.edge_keys, check.empty_keys, check.rows), (3, 1, 1, 4));
    assert_eq!((check.differing_keys, check.refusal, check.difference), (0, None, None));
    assert_eq!(check.snapshot, "REPEATABLE READ");
    assert!(check.notes.is_empty(), "{:?}", check.notes);
}

#[test]
fn another_order_is_fine_where_a_has_none() {
    let turned = |sql: &str, _: &[SqlValue]| match is_a(sql) {
        true => Ok(vec![row(1, "x"), row(2, "y")]),
        false => Ok(vec![row(2, "y"), row(1, "x")]),
    };
    assert_eq!(outcome_of([A, B], turned), RowsOutcome::OtherOrder);
    let check = check_of([ORDERED_A, B], &[1], turned);
    assert_eq!((check.outcome, check.notes.len()), (RowsOutcome::OrderDiffers, 0));
    assert_eq!(check.difference.expect("it").rows_b, 2);
    let by_function = "SELECT id, name FROM a WHERE k = $1 ORDER BY lower(name)";
    let check = check_of([by_function, B], &[1], turned);
    assert_eq!((check.outcome, check.differing_keys), (RowsOutcome::OtherOrder, 0));
    let refusal = check.refusal.expect("a reason");
    assert!(refusal.contains("add that to both forms"), "{refusal}");
}

#[test]
fn what_a_limit_cuts_is_not_known_to_be_tied_by_an_order_that_is_no_column() {
    let other = |sql: &str, _: &[SqlValue]| Ok(vec![row(if is_a(sql) { 1 } else { 2 }, "x")]);
    let cut = "SELECT id, name FROM a WHERE k = $1 ORDER BY day LIMIT 1";
    let check = check_of([cut, B], &[1], other);
    assert_eq!(check.outcome, RowsOutcome::Different);
    assert!(check.notes[0].contains("is not known"), "{:?}", check.notes);
}

#[test]
fn values_of_other_types_are_noted_where_they_read_alike() {
    let typed = |sql: &str, _: &[SqlValue]| match is_a(sql) {
        true => Ok(vec![vec![SqlValue::Integer(1), SqlValue::Null]]),
        false => Ok(vec![vec![SqlValue::Text("1".to_owned()), SqlValue::Null]]),
    };
    let check = check_of([A, B], &[1], typed);
    assert_eq!(check.outcome, RowsOutcome::Different);
    assert!(check.notes[0].contains("types differ"), "{:?}", check.notes);
}

#[test]
fn rows_that_the_order_does_not_tell_apart_may_change_places() {
    let tied = |sql: &str, _: &[SqlValue]| match is_a(sql) {
        true => Ok(vec![row(1, "x"), row(2, "y"), row(2, "z")]),
        false => Ok(vec![row(1, "x"), row(2, "z"), row(2, "y")]),
    };
    let check = check_of([ORDERED_A, B], &[1], tied);
    assert_eq!(check.outcome, RowsOutcome::EqualUpToTies);
    assert!(check.notes[0].contains("not determined"), "{:?}", check.notes);
    let cut = |sql: &str, _: &[SqlValue]| match is_a(sql) {
        true => Ok(vec![row(1, "x"), row(2, "y"), row(2, "z")]),
        false => Ok(vec![row(1, "x"), row(2, "z"), row(2, "w")]),
    };
    assert_eq!(outcome_of([CUT_A, B], cut), RowsOutcome::EqualUpToTies);
    assert_eq!(outcome_of([ORDERED_A, B], cut), RowsOutcome::Different);
}

#[test]
fn rows_that_are_there_more_often_are_no_other_rows() {
    let doubled = |sql: &str, _: &[SqlValue]| match is_a(sql) {
        true => Ok(vec![row(1, "x"), row(2, "y")]),
        false => Ok(vec![row(1, "x"), row(2, "y"), row(2, "y"), row(2, "y")]),
    };
    let check = check_of([A, B], &[1, 2], doubled);
    assert_eq!((check.outcome, check.differing_keys), (RowsOutcome::DuplicatesDiffer, 2));
    let difference = check.difference.expect("it");
    assert_eq!((difference.rows_a, difference.rows_b), (2, 4));
    assert_eq!(difference.only_in_b, [[Some("2".to_owned()), Some("y".to_owned())]]);
    assert!(difference.only_in_a.is_empty());
}

#[test]
fn the_first_rows_are_shown_that_the_other_side_lacks() {
    let other = |sql: &str, key: &[SqlValue]| match (is_a(sql), key) {
        (_, [SqlValue::Integer(1)]) => Ok(vec![row(1, "x")]),
        (true, _) => Ok((0..9).map(|id| row(id, "x")).collect()),
        (false, _) => Ok((1..9).map(|id| row(id, if id > 5 { "y" } else { "x" })).collect()),
    };
    let check = check_of([A, B], &[1, 2, 3], other);
    assert_eq!((check.outcome, check.differing_keys), (RowsOutcome::Different, 2));
    let difference = check.difference.expect("it");
    assert_eq!(difference.key, [Some("2".to_owned())]);
    assert_eq!(difference.columns, ["id", "name"]);
    let ids = |rows: &[Vec<Option<String>>]| {
        rows.iter().map(|row| row[0].clone().expect("an id")).collect::<Vec<_>>()
    };
    assert_eq!(ids(&difference.only_in_a), ["0", "6", "7"]);
    assert_eq!(ids(&difference.only_in_b), ["6", "7", "8"]);
}

#[test]
fn the_last_digits_of_sums_may_differ() {
    let summed = |sql: &str, _: &[SqlValue]| {
        Ok(vec![vec![SqlValue::Real(if is_a(sql) { 0.1 + 0.2 } else { 0.3 })]])
    };
    assert_eq!(outcome_of([A, B], summed), RowsOutcome::EqualUpToRounding);
    let other = |sql: &str, _: &[SqlValue]| {
        Ok(vec![vec![SqlValue::Real(if is_a(sql) { 0.3001 } else { 0.3 })]])
    };
    assert_eq!(outcome_of([A, B], other), RowsOutcome::Different);
    let wider =
        |sql: &str, _: &[SqlValue]| Ok(vec![vec![SqlValue::Null; if is_a(sql) { 1 } else { 2 }]]);
    assert_eq!(outcome_of([A, B], wider), RowsOutcome::ColumnsDiffer);
}

#[test]
fn what_fails_or_is_not_seen_is_not_compared() {
    let failing = |sql: &str, key: &[SqlValue]| match (key, is_a(sql)) {
        ([SqlValue::Integer(2)], false) | ([SqlValue::Integer(3)], _) => Err(FAILS),
        _ => Ok(vec![row(1, "x")]),
    };
    let (check, log) = checked(SqlDialect::Postgres, [A, B], &[1, 3, 2, 4], failing, None);
    assert_eq!((check.outcome, check.keys), (RowsOutcome::Unchecked, 2));
    let refusal = check.refusal.expect("a reason");
    assert!(refusal.starts_with("B: it fails") && !refusal.contains("hush"), "{refusal}");
    assert!(check.notes[0].contains("both forms fail alike: A: it fails"), "{:?}", check.notes);
    let begun = log.iter().filter(|sql| sql.starts_with("BEGIN")).count();
    assert_eq!(begun, 4, "another transaction behind each failure: {log:?}");
    assert_eq!(log.last().map(String::as_str), Some("ROLLBACK"));

    let seen = |_: &str, _: &[SqlValue]| Ok(vec![row(1, "x")]);
    let check = check_of([A, B], &[1, UNSEEN], seen);
    assert_eq!((check.outcome, check.keys), (RowsOutcome::Unchecked, 1));
    assert!(check.refusal.expect("a reason").contains("too long"));

    let gone = |_: &str, _: &[SqlValue]| Err(GIVEN_UP);
    let check = check_of([A, B], &[1, 2], gone);
    assert_eq!((check.outcome, check.keys), (RowsOutcome::Unchecked, 0));
    assert!(check.refusal.is_some());
}

#[test]
fn what_differs_at_each_execution_is_refused_and_traps_are_noted() {
    let same = |_: &str, _: &[SqlValue]| Ok(vec![row(1, "x")]);
    let check = check_of([A, "SELECT id, random() FROM b"], &[1], same);
    let refusal = check.refusal.expect("a reason");
    assert!(refusal.starts_with("B ") && refusal.ends_with("random"), "{refusal}");
    assert_eq!((check.outcome, check.keys), (RowsOutcome::Unchecked, 0));
    let check = check_of(["DROP TABLE a", B], &[1], same);
    assert!(check.refusal.expect("a reason").starts_with("A cannot be executed time and again"));
    let not_in = "SELECT id, name FROM a WHERE k NOT IN (SELECT k FROM c) LIMIT 3";
    let check = check_of([not_in, B], &[1], same);
    assert_eq!((check.outcome, check.notes.len()), (RowsOutcome::Identical, 2));
}

#[test]
fn what_writes_is_rolled_back_and_counted() {
    let rows = |sql: &str, key: &[SqlValue]| match (key, sql.contains("more")) {
        ([SqlValue::Integer(2)], true) => Ok(vec![row(1, "x"), row(2, "x")]),
        _ => Ok(vec![row(1, "x")]),
    };
    let forms = ["UPDATE a SET b = 1 WHERE k = $1", "UPDATE more SET b = 1 WHERE k = $1"];
    let (check, log) = checked(SqlDialect::Postgres, forms, &[1], rows, None);
    assert_eq!((check.outcome, check.keys), (RowsOutcome::Unchecked, 0));
    let refusal = check.refusal.expect("a reason");
    assert!(refusal.contains("change as many rows"), "{refusal}");
    let last = check.notes.last().expect("a note");
    assert!(last.contains("no snapshot") && check.snapshot.is_empty(), "{last}");
    assert_eq!(log, ["BEGIN", "ROLLBACK", "BEGIN", "ROLLBACK"]);
    let check = check_of(forms, &[1, 2], rows);
    assert_eq!((check.outcome, check.differing_keys), (RowsOutcome::Different, 1));
    let difference = check.difference.expect("it");
    assert_eq!((difference.rows_a, difference.rows_b), (1, 2));
}

#[test]
fn a_wish_to_end_leaves_what_was_compared() {
    let same = |_: &str, _: &[SqlValue]| Ok(vec![row(1, "x")]);
    let keys = [1, 2, 3, 4];
    let (check, log) = checked(SqlDialect::Postgres, [A, B], &keys, same, Some(1));
    assert_eq!((check.outcome, check.keys), (RowsOutcome::Identical, 2));
    assert_eq!(check.refusal.as_deref(), Some(ENDED));
    assert_eq!(log.last().map(String::as_str), Some("ROLLBACK"));
}

#[test]
fn where_all_is_to_end_that_is_why_there_is_no_snapshot() {
    let stop = RunStop::default();
    assert_eq!(no_snapshot("no room", &stop), "no state of the data can be held: no room");
    stop.at(dbtime_model::MonoNanos(0));
    assert_eq!(no_snapshot("no longer waits", &stop), ENDED);
}

#[test]
fn the_clock_of_mysql_stands_still_meanwhile() {
    let same = |_: &str, _: &[SqlValue]| Ok(vec![row(1, "x")]);
    let forms = [A, B].map(|sql| sql.replace("$1", "?"));
    let forms = [forms[0].as_str(), forms[1].as_str()];
    let (check, log) = checked(SqlDialect::Mysql, forms, &[1], same, None);
    assert_eq!(check.snapshot, "CONSISTENT SNAPSHOT");
    let clock: Vec<_> = log.iter().filter(|sql| sql.starts_with("SET timestamp")).collect();
    assert_eq!(clock, ["SET timestamp = UNIX_TIMESTAMP()", "SET timestamp = DEFAULT"]);
}
