//! Plans that SQLite has listed for the statements of a small shop, and older spellings.

use super::super::MAX_DEPTH;
use super::super::tree_text::drawn;
use super::*;
use proptest::prelude::*;
use serde_json::Value;

/// SQLite 3.40.
const PLANS: &str = include_str!("../../../tests/fixtures/plans/sqlite-3.40.jsonl");

fn steps_of(line: &Value) -> Vec<SqliteStep> {
    let steps = line["steps"].as_array().expect("steps");
    let step = |step: &Value| SqliteStep {
        id: step[0].as_i64().expect("a number"),
        parent: step[1].as_i64().expect("a number"),
        detail: step[2].as_str().expect("a text").to_owned(),
        figures: None,
    };
    steps.iter().map(step).collect()
}

fn assert_tree(name: &str, expected: &str) {
    let mut lines = PLANS.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line"));
    let line = lines.find(|line| line["name"] == name).expect("a plan of this name");
    assert_drawn(&steps_of(&line), expected);
}

fn assert_drawn(steps: &[SqliteStep], expected: &str) {
    let plan = sqlite_steps(steps, false).expect("a plan");
    let lines: Vec<&str> = expected.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(drawn(&plan.root).lines().collect::<Vec<_>>(), lines);
}

/// Steps of `ID PARENT DETAIL`.
fn steps(lines: &[(i64, i64, &str)]) -> Vec<SqliteStep> {
    let step = |(id, parent, detail): &(i64, i64, &str)| SqliteStep {
        id: *id,
        parent: *parent,
        detail: (*detail).to_owned(),
        figures: None,
    };
    lines.iter().map(step).collect()
}

#[test]
fn tables_are_scanned_or_searched() {
    assert_tree("scan", "SCAN [table_scan] orders");
    assert_tree(
        "lookup",
        "SEARCH USING INTEGER PRIMARY KEY [index_lookup] orders by INTEGER PRIMARY KEY where rowid=?",
    );
    assert_tree(
        "range",
        "SEARCH USING INDEX [index_range] orders by orders_placed where placed>? AND placed<?",
    );
    assert_tree(
        "index-scan",
        "SCAN USING COVERING INDEX [index_scan] orders by orders_placed covering",
    );
    assert_tree(
        "or",
        r#"
MULTI-INDEX OR [index_merge]
  SEARCH USING INDEX [index_lookup] orders by orders_customer where customer=?
  SEARCH USING INDEX [index_lookup] orders by orders_placed where placed=?
"#,
    );
    assert_tree("constant", "SCAN [values]");
    assert_tree("insert", "no table is read [other]");
}

#[test]
fn loops_are_within_a_join_and_sorts_around_it() {
    assert_tree(
        "join",
        r#"
USE TEMP B-TREE FOR ORDER BY [sort]
  nested loops [nested_loop]
    SCAN [table_scan] c
    SEARCH USING INDEX [index_lookup] o by orders_customer where customer=?
"#,
    );
    assert_tree(
        "group",
        r#"
USE TEMP B-TREE FOR ORDER BY [sort]
  USE TEMP B-TREE FOR GROUP BY [aggregate]
    SCAN [table_scan] orders
"#,
    );
    assert_tree(
        "right",
        r#"
nested loops [nested_loop]
  SCAN [table_scan] c
  SCAN [table_scan] o
  RIGHT-JOIN orders [subquery]
    SCAN [table_scan] o
"#,
    );
}

#[test]
fn subqueries_are_below_what_uses_them() {
    assert_tree(
        "dependent",
        r#"
SCAN USING COVERING INDEX [index_scan] o by orders_customer covering
  CORRELATED SCALAR SUBQUERY 1 [subquery] dependent
    SEARCH USING PRIMARY KEY [index_lookup] item by PRIMARY KEY where orders=?
"#,
    );
    assert_tree(
        "subquery",
        r#"
SEARCH [subquery] t
  CO-ROUTINE [subquery] t
    SCAN USING COVERING INDEX [index_scan] orders by orders_customer covering
"#,
    );
    assert_tree(
        "window",
        r#"
SCAN [subquery] (subquery-2)
  CO-ROUTINE [subquery] (subquery-2)
    USE TEMP B-TREE FOR RIGHT PART OF ORDER BY [sort]
      SCAN USING INDEX [index_scan] orders by orders_customer
"#,
    );
    assert_tree(
        "union",
        r#"
COMPOUND QUERY [union]
  LEFT-MOST SUBQUERY [subquery]
    SEARCH USING COVERING INDEX [index_lookup] orders by orders_customer where customer=? covering
  UNION USING TEMP B-TREE [subquery]
    SCAN [table_scan] customer
"#,
    );
}

#[test]
fn an_index_for_one_execution_is_noted() {
    let automatic = steps(&[(7, 0, "SEARCH b USING AUTOMATIC COVERING INDEX (note=?) LEFT-JOIN")]);
    let plan = sqlite_steps(&automatic, false).expect("a plan");
    assert_eq!((plan.root.index, plan.root.is_covering), (None, true));
    assert_eq!(plan.root.notes, ["left join", "makes the index for this execution alone"]);
    let bloom = steps(&[(3, 0, "BLOOM FILTER ON b (note=?)"), (5, 0, "SCAN a EXISTS")]);
    let plan = sqlite_steps(&bloom, false).expect("a plan");
    assert_eq!(plan.root.notes, ["ends with the first row", "BLOOM FILTER ON b (note=?)"]);
}

#[test]
fn older_spellings_mean_the_same() {
    assert_drawn(
        &steps(&[
            (2, 0, "CO-ROUTINE 1"),
            (3, 2, "SCAN TABLE orders AS o USING COVERING INDEX orders_customer"),
            (9, 0, "SCAN SUBQUERY 1 AS t"),
            (
                10,
                0,
                "SEARCH TABLE customer AS c USING INDEX by_name (name=? AND <expr>=?) (~10 rows)",
            ),
            (12, 0, "EXECUTE CORRELATED SCALAR SUBQUERY 2"),
            (14, 12, "SEARCH TABLE item USING INTEGER PRIMARY KEY (rowid=?)"),
            (20, 0, "USE TEMP B-TREE FOR DISTINCT"),
        ]),
        r#"
USE TEMP B-TREE FOR DISTINCT [distinct]
  nested loops [nested_loop]
    SCAN [subquery] SUBQUERY 1 as t
      CO-ROUTINE [subquery] SUBQUERY 1
        SCAN USING COVERING INDEX [index_scan] orders as o by orders_customer covering
    SEARCH USING INDEX [index_lookup] customer as c by by_name where name=? AND <expr>=? est 10
    CORRELATED SCALAR SUBQUERY 2 [subquery] dependent
      SEARCH USING INTEGER PRIMARY KEY [index_lookup] item by INTEGER PRIMARY KEY where rowid=?
"#,
    );
    let docs = steps(&[(4, 0, "SCAN TABLE docs VIRTUAL TABLE INDEX 4:secret words")]);
    assert_drawn(&docs, "SCAN [other] docs");
}

/// Of a loop times are without those of the loops in it, of a subquery with what is below it.
#[test]
fn figures_are_those_of_a_loop_and_times_of_all_below() {
    let figures = |loops, rows, time_us| {
        Some(SqliteFigures { loops, rows, estimated_rows: Some(12.0), time_us: Some(time_us) })
    };
    let mut steps = steps(&[
        (2, 0, "SCAN c"),
        (4, 0, "SEARCH o USING INDEX by_customer (customer=?)"),
        (6, 0, "SCALAR SUBQUERY 1"),
        (8, 6, "SCAN x"),
        (9, 0, "USE TEMP B-TREE FOR ORDER BY"),
    ]);
    steps[0].figures = figures(1, 10, 5.0);
    steps[1].figures = figures(10, 30, 20.0);
    steps[2].figures = figures(1, 0, 9.0);
    steps[3].figures = figures(1, 70, 8.0);
    steps[4].figures = figures(0, 0, 4.0);
    assert_drawn(
        &steps,
        r#"
USE TEMP B-TREE FOR ORDER BY [sort]
  nested loops [nested_loop]
    SCAN [table_scan] c est 12 rows 10 x 1
    SEARCH USING INDEX [index_lookup] o by by_customer where customer=? est 12 rows 3 x 10
    SCALAR SUBQUERY 1 [subquery] x 1
      SCAN [table_scan] x est 12 rows 70 x 1
"#,
    );
    let plan = sqlite_steps(&steps, false).expect("a plan");
    let times: Vec<_> = plan.root.steps().iter().map(|step| step.time_us).collect();
    assert_eq!(times, [38.0, 34.0, 5.0, 20.0, 9.0, 8.0].map(Some));
}

#[test]
fn every_plan_is_read() {
    for line in PLANS.lines() {
        let line: Value = serde_json::from_str(line).expect("a line");
        let steps = steps_of(&line);
        let plan = sqlite_steps(&steps, true).expect("a plan");
        let verbatim = plan.verbatim.expect("its text");
        assert_eq!(verbatim.lines().count(), steps.len(), "{line}");
        assert!(!plan.root.label.is_empty(), "{line}");
    }
}

#[test]
fn steps_that_lie_in_each_other_are_refused() {
    let own = steps(&[(1, 1, "SCAN t")]);
    let circle = steps(&[(1, 2, "SCAN t"), (2, 1, "SCAN u")]);
    let zero = steps(&[(0, 0, "SCAN t")]);
    let deep: Vec<_> = (1..300).map(|id| (id, id - 1, "SETUP")).collect();
    assert!(deep.len() > MAX_DEPTH);
    for wrong in [own, circle, zero, steps(&deep)] {
        assert!(sqlite_steps(&wrong, false).is_err(), "{wrong:?}");
    }
    let sorts: Vec<_> = (1..5000).map(|id| (id, 0, "USE TEMP B-TREE FOR ORDER BY")).collect();
    let plan = sqlite_steps(&steps(&sorts), false).expect("a plan");
    assert_eq!(plan.root.steps().len(), sorts.len());
}

proptest! {
    #[test]
    fn no_steps_are_too_much(
        rows in prop::collection::vec((-3i64..6, -3i64..6, "[A-Z]{4} [a-z(]{0,3} ?[USINGA (=?)]{0,20}"), 0..12),
    ) {
        let rows: Vec<SqliteStep> = rows
            .into_iter()
            .map(|(id, parent, detail)| SqliteStep { id, parent, detail, figures: None })
            .collect();
        let _ = sqlite_steps(&rows, false);
    }
}
