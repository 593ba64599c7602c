//! Copies of SQLite files: whole, private, gone with what has them.

use super::*;
use crate::query::form_text::FormText;
use crate::query::session::QuerySession;
use dbtime_model::Nanos;
use dbtime_model::query::{PlanNode, StatementPlan};
use std::fs::File;
use std::path::{Path, PathBuf};

const LIMIT: Nanos = Nanos::from_secs(60);

fn bound() -> StatementBound {
    StatementBound { limit: LIMIT, stop: RunStop::default() }
}

fn place_of(path: &Path) -> SqlitePlace {
    SqlitePlace { target: SqliteTarget::new(path), url: path.display().to_string() }
}

fn copied(path: &Path) -> Result<QueryCopy, LabError> {
    copy_of(&place_of(path), &[], &RunStop::default(), &|_| {})
}

/// A database with 1,000 rows in `events`.
fn database(folder: &Path) -> PathBuf {
    let path = folder.join("shop.db");
    File::create(&path).expect("an empty database");
    let target = SqliteTarget::new(&path);
    let mut connection = target.statements(&bound()).expect("a connection");
    let sql = "CREATE TABLE events (id INTEGER PRIMARY KEY, kind INTEGER, note TEXT); \
               CREATE TABLE empty (id INTEGER); \
               WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) \
               INSERT INTO events SELECT n, n % 10, 'note ' || n FROM r;";
    connection.run_text(sql, &mut ()).expect("filled");
    path
}

#[test]
fn a_copy_of_a_file_is_whole_and_private_and_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path());
    let copy = copied(&path).expect("a copy");
    assert_eq!(copy.copy_of(), Some(path.display().to_string()));
    let at = copy.sqlite().expect("a file").path.clone();
    assert!(at != path && at.exists());
    let mut session = QuerySession::open(&copy, &bound(), true).expect("a session");
    let mut value = |sql: &str| {
        let table = session.table(sql).expect(sql);
        table.value().map(str::to_owned)
    };
    assert_eq!(value("SELECT count(*) FROM events").as_deref(), Some("1000"));
    value("DELETE FROM events");
    drop(session);
    drop(copy);
    assert!(!at.exists());
    let again = copied(&path).expect("a copy");
    let mut session = QuerySession::open(&again, &bound(), false).expect("a session");
    let rows = session.table("SELECT count(*) FROM events").expect("rows");
    assert_eq!(rows.value(), Some("1000"));
}

#[test]
fn what_is_not_there_is_not_copied_and_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none.db");
    let error = copied(&path).expect_err("nothing is there");
    assert!(error.to_string().contains("there is no database"), "{error}");
    assert!(!path.exists());
}

#[test]
fn an_index_has_its_price() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path());
    let copy = copied(&path).expect("a copy");
    let mut session = QuerySession::open(&copy, &bound(), true).expect("a session");
    let cost = build_index(&mut session, "events", "CREATE INDEX by_kind ON events (kind)");
    let cost = cost.expect("built");
    assert!(cost.bytes.is_some_and(|bytes| bytes >= 4_096) && cost.build_s > 0.0, "{cost:?}");
    assert!(build_index(&mut session, "events", "CREATE INDEX x ON nowhere (a)").is_err());
}

#[test]
fn tables_are_those_of_plan_and_text_that_are_in_the_catalog() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path());
    let place = place_of(&path);
    let mut session = QuerySession::open(&place, &bound(), false).expect("a session");
    let node = |relation: Option<&str>| PlanNode {
        relation: relation.map(str::to_owned),
        ..PlanNode::default()
    };
    let names = [Some("main.events"), None, Some("EMPTY"), Some("events"), Some("r")];
    let root = PlanNode { children: names.map(node).to_vec(), ..PlanNode::default() };
    let plan = StatementPlan { root, ..StatementPlan::default() };
    let form = |sql: &str| FormText { given: sql.to_owned(), ..FormText::default() };
    assert_eq!(tables_of(&mut session, &form("SELECT 1"), &plan), ["events", "empty"]);
    // `e` and `empty` are what this plan calls events by.
    let root = PlanNode { children: vec![node(Some("e")), node(Some("empty"))], ..node(None) };
    let plan = StatementPlan { root, ..StatementPlan::default() };
    let aliased = form("SELECT 1 FROM events e JOIN Events AS empty ON e.id = :id, nowhere");
    assert_eq!(tables_of(&mut session, &aliased, &plan), ["events"]);
    assert_eq!(tables_of(&mut session, &aliased, &StatementPlan::default()), ["events"]);
}
