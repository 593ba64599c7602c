//! Parts of live executions in SQLite, and what becomes of those of servers without a trace.

use super::*;
use crate::query::form_text::FormText;
use crate::query::keys::read_keys;
use crate::query::place::{QueryPlace, SqlitePlace};
use crate::query::planned_place::{PlannedPlace, request_with};
use dbtime_engines::databases::sqlite::SqliteTarget;
use dbtime_engines::server::{StatementBound, StatementConnection};
use dbtime_model::query::ExecutionTimes;
use dbtime_model::{Parts, SqlDialect};
use dbtime_sql::LexicalRules;
use std::fs::File;
use std::path::Path;

const READ: &str = "SELECT count(*) FROM t WHERE n > :n";

fn bound() -> StatementBound {
    StatementBound { limit: Nanos::from_secs(60), stop: RunStop::default() }
}

/// A database with 10,000 rows.
fn database(folder: &Path) -> SqlitePlace {
    let path = folder.join("t.db");
    File::create(&path).expect("an empty database");
    let target = SqliteTarget::new(&path);
    let sql = "CREATE TABLE t (n INTEGER); WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + \
               1 FROM r WHERE n < 10000) INSERT INTO t SELECT n % 100 FROM r;";
    let mut connection = target.statements(&bound()).expect("a connection");
    connection.run_text(sql, &mut ()).expect("filled");
    SqlitePlace { target, url: path.display().to_string() }
}

/// What is found out about these forms at a place, with keys `n`.
fn found(place: &dyn QueryPlace, forms: &[&str], trace: bool, stop: &RunStop) -> PartsFinding {
    let mut request = request_with(forms[0], &[("n", "range:1..100")]);
    request.forms.extend(forms[1..].iter().flat_map(|sql| request_with(sql, &[]).forms));
    (request.trace, request.budget) = (trace, Nanos::from_millis(60));
    let mut session = QuerySession::open(place, &bound(), false).expect("a session");
    let rules = LexicalRules::defaults(place.dialect());
    let texts = FormText::parse_all(&request.forms, session.product, &rules).expect("forms");
    let keys = read_keys(&request, &texts, &mut session).expect("keys");
    let prepared = texts.iter().map(|text| session.prepare(text).expect("prepared"));
    let prepared: Vec<SessionForm> = prepared.collect();
    parts_of(&session, &prepared, &keys, &request, stop, &|_| {})
}

fn measured(mean_us: f64) -> QueryForm {
    let times = Some(ExecutionTimes { count: 30, mean_us, ..ExecutionTimes::default() });
    QueryForm { name: "A".to_owned(), times, ..QueryForm::default() }
}

#[test]
fn parts_of_sqlite_add_up_to_the_executions_that_were_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = database(folder.path());
    let write = "UPDATE t SET n = n + 1000 WHERE n = :n";
    let finding = found(&place, &[READ, write], false, &RunStop::default());
    assert!(finding.notes.is_empty(), "{:?}", finding.notes);
    assert_eq!(finding.forms.len(), 2);
    for watched in &finding.forms {
        assert!(watched.count >= FEWEST && watched.sums.get(Part::Cpu) > 0, "{watched:?}");
        assert_eq!(watched.sums.total(), watched.response_ns.cast_signed());
    }
    let forms = vec![QueryForm::default(), QueryForm::default()];
    let mut record = QueryRecord { forms, ..QueryRecord::default() };
    finding.add_to(&mut record);
    for form in &record.forms {
        let sum: f64 = form.parts.iter().map(|part| part.mean_us).sum();
        let mean_us = form.watched_mean_us.expect("it was watched");
        assert!((sum - mean_us).abs() < 1e-6 * mean_us, "{sum} of {mean_us}");
        let order: Vec<Part> = form.parts.iter().map(|part| part.part).collect();
        assert!(order.is_sorted() && order.contains(&Part::Sync), "{order:?}");
    }
    let mut session = QuerySession::open(&place, &bound(), false).expect("a session");
    let changed = session.table("SELECT count(*) FROM t WHERE n > 100").expect("a count");
    assert_eq!(changed.value(), Some("0"), "what is watched is rolled back, too");
}

#[test]
fn nothing_is_watched_once_the_stop_has_come() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = database(folder.path());
    let stop = RunStop::default();
    stop.at(now());
    let finding = found(&place, &[READ], false, &stop);
    assert!(finding.forms.is_empty() && finding.notes.is_empty());
    let mut record = QueryRecord { forms: vec![measured(100.0)], ..QueryRecord::default() };
    finding.add_to(&mut record);
    assert!(record.forms[0].parts.is_empty());
}

#[test]
fn of_a_server_without_a_trace_all_is_one_number() {
    let place = PlannedPlace::new(SqlDialect::Mysql, |_, _, _| Ok(Nanos::from_micros(100)));
    for trace in [false, true] {
        let finding = found(&place, &[READ], trace, &RunStop::default());
        let mut record = QueryRecord { forms: vec![measured(100.0)], ..QueryRecord::default() };
        finding.add_to(&mut record);
        let whole = ExecutionPart { part: Part::ServerAndWire, mean_us: 100.0 };
        assert_eq!(record.forms[0].parts, [whole]);
        assert_eq!(record.forms[0].watched_mean_us, None);
        assert_eq!(record.notes.len(), usize::from(trace), "{:?}", record.notes);
        let is_right = |note: &String| {
            note.starts_with("not traced: no process") && note.ends_with("`server_and_wire`")
        };
        assert!(record.notes.iter().all(is_right), "{:?}", record.notes);
    }
    assert!(place.executed().is_empty(), "nothing is executed in vain");
}

#[test]
fn a_note_names_watched_executions_that_took_longer() {
    let mut watched = Budget::default();
    for _ in 0..3 {
        watched.add(Nanos::from_micros(1500), &Parts::only(Part::Cpu, 1_500_000));
    }
    for (plain_us, words) in [(1000.0, "3 watched executions, which took 1.50 ms"), (1450.0, "")] {
        let mut record = QueryRecord { forms: vec![measured(plain_us)], ..QueryRecord::default() };
        let finding = PartsFinding { forms: vec![watched], ..PartsFinding::default() };
        finding.add_to(&mut record);
        assert_eq!(record.forms[0].watched_mean_us, Some(1500.0));
        assert_eq!(record.notes.is_empty(), words.is_empty(), "{:?}", record.notes);
        assert!(record.notes.iter().all(|note| note.contains(words)), "{:?}", record.notes);
    }
}
