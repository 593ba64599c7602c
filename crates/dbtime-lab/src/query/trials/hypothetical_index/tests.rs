//! What a planner says of an index that is not there: one of tests, and a real PostgreSQL.

use super::super::believed;
use super::*;
use crate::query::advice::{AdviceProposal, ProposedTrial};
use crate::query::copy::server_tests::{bound, shop};
use crate::query::fake_place::{FakeAnswers, FakePlace, request_with};
use crate::query::form_text::FormText;
use crate::query::keys::QueryKeys;
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::SqlDialect;
use dbtime_model::query::QueryAdvice;

const SQL: &str = "CREATE INDEX dbtime_t_a ON t (a)";

/// Where hypopg is, and what the planner says with an index and without, if it is asked.
fn answered(
    sql: &str,
    asked: &[String],
    with: &'static str,
) -> Result<Vec<&'static str>, &'static str> {
    let is_created = asked.iter().any(|sql| sql.contains("hypopg_create_index"));
    match sql {
        "SHOW server_version" => Ok(vec!["15.4"]),
        SCHEMA => Ok(vec!["tools"]),
        "SELECT pg_backend_pid()" => Ok(vec!["7"]),
        _ if sql.contains("hypopg_create_index") => Ok(vec!["<1>btree_t_a"]),
        _ if sql.contains("hypopg_reset") => Ok(vec![""]),
        _ if sql.starts_with("EXPLAIN") && is_created => Ok(vec![with]),
        _ if sql.starts_with("EXPLAIN") => {
            Ok(vec![r#"[{"Plan": {"Node Type": "Seq Scan", "Total Cost": 1234.4}}]"#])
        }
        _ => Err("no such table"),
    }
}

/// What becomes of the index, and what was asked.
fn imagined(answers: FakeAnswers) -> (TriedProposal, Vec<String>) {
    let place = FakePlace::with_answers(SqlDialect::Postgres, answers);
    let tried = imagined_on(&mut place.session());
    (tried, place.questions())
}

fn imagined_on(session: &mut QuerySession<'_>) -> TriedProposal {
    let (request, keys) = (request_with("", &[]), QueryKeys::default());
    let stop = RunStop::default();
    let scene = TrialScene {
        request: &request,
        keys: &keys,
        is_copy: false,
        stop: &stop,
        progress: &|_| {},
    };
    let native = "SELECT b FROM t WHERE a = 1".to_owned();
    let form = SessionForm { text: FormText { native, ..FormText::default() }, prepared: None };
    imagine_index(session, &form, SQL, &scene)
}

fn is_reset(asked: &[String]) -> bool {
    asked.last().is_some_and(|sql| sql == "SELECT tools.hypopg_reset()")
}

#[test]
fn an_index_that_the_planner_uses_has_its_cost_as_evidence() {
    let (tried, asked) = imagined(|sql, asked| {
        let index = r#"[{"Plan": {"Node Type": "Limit", "Total Cost": 12.3, "Plans": [
            {"Node Type": "Index Scan", "Index Name": "<1>btree_t_a", "Total Cost": 12.1}]}}]"#;
        answered(sql, asked, index)
    });
    let TriedProposal::Believed(line) = tried else { panic!("it is of use") };
    assert_eq!(line, "hypopg: the planner's cost falls from 1,234 to 12 with it");
    assert!(is_reset(&asked), "{asked:?}");
}

#[test]
fn an_index_that_is_not_used_or_saves_little_is_dropped() {
    let unused: FakeAnswers = |sql, asked| {
        answered(sql, asked, r#"[{"Plan": {"Node Type": "Seq Scan", "Total Cost": 12.0}}]"#)
    };
    let small: FakeAnswers = |sql, asked| {
        let index = r#"[{"Plan": {"Node Type": "Index Scan", "Index Name": "<1>btree_t_a",
            "Total Cost": 700.0}}]"#;
        answered(sql, asked, index)
    };
    for answers in [unused, small] {
        let (tried, asked) = imagined(answers);
        assert!(matches!(tried, TriedProposal::NoGain));
        assert!(is_reset(&asked), "{asked:?}");
    }
}

#[test]
fn without_hypopg_and_without_a_plan_nothing_is_known() {
    let (tried, asked) = imagined(|sql, asked| match sql {
        SCHEMA => Ok(Vec::new()),
        _ => answered(sql, asked, "no plan"),
    });
    assert!(matches!(tried, TriedProposal::Untried));
    assert_eq!(asked.last().map(String::as_str), Some(SCHEMA));
    let (tried, asked) = imagined(|sql, asked| match sql {
        "SELECT pg_backend_pid()" => Ok(vec!["8"]),
        _ => answered(sql, asked, "no plan"),
    });
    assert!(matches!(tried, TriedProposal::Untried), "a pooler is between");
    assert_eq!(asked.len(), 2, "{asked:?}");
    let (tried, asked) = imagined(|sql, asked| answered(sql, asked, "no plan"));
    assert!(matches!(tried, TriedProposal::Untried));
    assert!(is_reset(&asked), "{asked:?}");
}

#[test]
fn a_note_names_what_the_planner_believes() {
    let advice = QueryAdvice {
        evidence: vec!["a scan".to_owned(), "hypopg: it falls".to_owned()],
        proposal: vec![SQL.to_owned()],
        ..QueryAdvice::default()
    };
    let of = |advice| AdviceProposal { advice, trial: ProposedTrial::None, share: 0.0 };
    let proposals = [of(QueryAdvice::default()), of(advice)];
    assert_eq!(believed(&proposals), format!("; {SQL} (hypopg: it falls)"));
}

#[test]
fn hypopg_is_asked_and_forgets() {
    let (_private, place) = shop(Product::Postgres);
    let mut session = QuerySession::open(&place, &bound(), false).expect("a session");
    for sql in [
        "CREATE SCHEMA tools",
        "CREATE TABLE t (a int, b text)",
        "INSERT INTO t SELECT n, 'x' FROM generate_series(1, 20000) n",
        "ANALYZE t",
    ] {
        session.table(sql).expect(sql);
    }
    assert!(matches!(imagined_on(&mut session), TriedProposal::Untried), "there is no hypopg");
    let made = session.table("CREATE EXTENSION hypopg SCHEMA tools");
    made.expect("make setup-test installs postgresql-15-hypopg on Debian");
    let TriedProposal::Believed(line) = imagined_on(&mut session) else {
        panic!("an index finds the row")
    };
    assert!(line.starts_with("hypopg: the planner's cost falls from "), "{line}");
    let left = session.table("SELECT count(*) FROM tools.hypopg()").expect("a count");
    assert_eq!(left.value(), Some("0"));
}

#[test]
fn postgres_has_a_plan_for_any_values() {
    let (_private, place) = shop(Product::Postgres);
    let mut session = QuerySession::open(&place, &bound(), false).expect("a session");
    session.table("CREATE TABLE t (a int, b text)").expect("a table");
    for (native, is_planned) in [
        ("SELECT b FROM t WHERE a = $1 AND b > $2", true),
        ("DELETE FROM t WHERE a = $1 AND b > $2", true),
        ("SELECT b FROM nowhere WHERE a = $1 AND b > $2", false),
    ] {
        let (native, writes) = (native.to_owned(), native.starts_with("DELETE"));
        let text = FormText { native, order: vec![0, 1], writes, ..FormText::default() };
        let form = SessionForm { text, prepared: None };
        let plan = plan_of(&mut session, &form, &[], PlanDepth::Estimated, false);
        assert_eq!(plan.is_ok(), is_planned, "{plan:?}");
    }
    let left = session.table("SELECT count(*) FROM pg_prepared_statements").expect("a count");
    assert_eq!(left.value(), Some("0"));
}
