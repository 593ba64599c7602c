//! Plans that servers of three versions have written for the statements of a small shop.

use super::super::tree_text::drawn;
use super::*;
use dbtime_model::query::PlanNode;
use proptest::prelude::*;

const VERSIONS: [(&str, &str); 3] = [
    ("9.6", include_str!("../../../tests/fixtures/plans/postgres-9.6.jsonl")),
    ("15", include_str!("../../../tests/fixtures/plans/postgres-15.jsonl")),
    ("18", include_str!("../../../tests/fixtures/plans/postgres-18.jsonl")),
];

/// The plans of a version with their names.
fn plans(version: &str) -> Vec<(String, String)> {
    let (_, lines) = VERSIONS.iter().find(|(name, _)| *name == version).expect("a version");
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("a line");
        (line["name"].as_str().expect("a name").to_owned(), line["plan"].to_string())
    };
    lines.lines().map(read).collect()
}

fn plan(version: &str, name: &str) -> StatementPlan {
    let plans = plans(version);
    let (_, text) = plans.iter().find(|(one, _)| one == name).expect("a plan of this name");
    postgres_json(text, false).expect("a plan")
}

/// The first step with these words.
fn step<'p>(plan: &'p StatementPlan, label: &str) -> &'p PlanNode {
    plan.root.steps().into_iter().find(|step| step.label == label).expect("a step")
}

fn assert_tree(version: &str, name: &str, expected: &str) {
    let tree = drawn(&plan(version, name).root);
    let lines: Vec<&str> = expected.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(tree.lines().collect::<Vec<_>>(), lines, "{version} {name}");
}

#[test]
fn scans_lookups_and_bitmaps_are_told_apart() {
    assert_tree(
        "15",
        "lookup",
        "Index Scan [index_lookup] orders by orders_pkey where (orders.id = ?) est 1 rows 1 x 1",
    );
    assert_tree(
        "15",
        "bitmap-or",
        r#"
Bitmap Heap Scan [index_range] orders est 48 rows 49 x 1
  BitmapOr [index_merge] est 49 x 1
    Bitmap Index Scan [index_lookup] by orders_customer where (orders.customer = ?) est 20 rows 20 x 1
    Bitmap Index Scan [index_lookup] by orders_placed where (orders.placed = ?::date) est 29 rows 29 x 1
"#,
    );
    assert_tree(
        "15",
        "update",
        r#"
Update [modify] orders est 0 rows 0 x 1
  Bitmap Heap Scan [index_range] orders est 20 rows 20 x 1
    Bitmap Index Scan [index_lookup] by orders_customer where (orders.customer = ?) est 20 rows 20 x 1
"#,
    );
}

#[test]
fn joins_have_both_sides() {
    assert_tree(
        "15",
        "nested-loop",
        r#"
Nested Loop [nested_loop] est 60 rows 60 x 1
  Index Scan [index_lookup] customer as c by customer_pkey where (c.id = ANY (?::integer[])) est 3 rows 3 x 1
  Bitmap Heap Scan [index_range] orders as o est 20 rows 20 x 3
    Bitmap Index Scan [index_lookup] by orders_customer where (o.customer = c.id) est 20 rows 20 x 3
"#,
    );
    assert_tree(
        "15",
        "hash-join",
        r#"
HashAggregate [aggregate] est 1000 rows 1000 x 1
  Hash Join [hash_join] where (o.customer = c.id) est 20000 rows 20000 x 1
    Seq Scan [table_scan] orders as o est 20000 rows 20000 x 1
    Hash [materialize] est 1000 rows 1000 x 1
      Seq Scan [table_scan] customer as c est 1000 rows 1000 x 1
"#,
    );
    assert_tree(
        "15",
        "cte",
        r#"
Merge Join [merge_join] where (a.s = b.s) AND (a.customer < b.customer) est 1667 rows 23 x 1 removed 1023
  Sort [sort] est 1000 rows 1000 x 1
    CTE Scan [materialize] big as a est 1000 rows 1000 x 1
      CTE big [subquery] est 1000 rows 1000 x 1
        HashAggregate [aggregate] est 1000 rows 1000 x 1
          Seq Scan [table_scan] orders est 20000 rows 20000 x 1
  Sort [sort] est 1000 rows 1046 x 1
    CTE Scan [materialize] big as b est 1000 rows 1000 x 1
"#,
    );
}

#[test]
fn subqueries_are_dependent_where_they_are_executed_for_each_row() {
    assert_tree(
        "18",
        "dependent",
        r#"
Bitmap Heap Scan [index_range] orders as o est 408 rows 380 x 1
  Bitmap Index Scan [index_range] by orders_customer where (o.customer < ?) est 408 rows 380 x 1
  SubPlan 1 [subquery] est 1 rows 1 x 380 dependent
    Aggregate [aggregate] est 1 rows 1 x 380
      Bitmap Heap Scan [index_range] item est 3 rows 1.5 x 380
        Bitmap Index Scan [index_lookup] by item_pkey where (item.orders = o.id) est 3 rows 1.5 x 380
"#,
    );
    assert_tree(
        "15",
        "hashed-subplan",
        r#"
Seq Scan [table_scan] customer where (NOT (hashed SubPlan 1)) est 500 rows 980 x 1 removed 20
  SubPlan 1 [subquery] est 400 rows 400 x 1
    Seq Scan [table_scan] orders where (orders.state = ?::bpchar) est 400 rows 400 x 1 removed 19600
"#,
    );
    assert_tree(
        "18",
        "init-plan",
        r#"
Seq Scan [table_scan] orders where (orders.total > (InitPlan 1).col1) est 6667 rows 1220 x 1 removed 18780
  InitPlan 1 [subquery] est 1 rows 1 x 1
    Aggregate [aggregate] est 1 rows 1 x 1
      Seq Scan [table_scan] orders as orders_1 est 20000 rows 20000 x 1
"#,
    );
}

#[test]
fn sets_of_rows_are_put_together() {
    assert_tree(
        "9.6",
        "except",
        r#"
HashSetOp Except [other] est 1000 rows 857 x 1
  Append [union] est 20143 rows 20143 x 1
    Subquery Scan [subquery] *SELECT* 1 est 20000 rows 20000 x 1
      Seq Scan [table_scan] orders est 20000 rows 20000 x 1
    Subquery Scan [subquery] *SELECT* 2 est 143 rows 143 x 1
      Seq Scan [table_scan] customer where (customer.region = ?) est 143 rows 143 x 1 removed 857
"#,
    );
    assert_tree(
        "9.6",
        "recursive",
        r#"
Aggregate [aggregate] est 1 rows 1 x 1
  CTE Scan [materialize] n est 31 rows 50 x 1
    CTE n [subquery] est 31 rows 50 x 1
      Recursive Union [union] est 31 rows 50 x 1
        Result [values] est 1 rows 1 x 1
        WorkTable Scan [materialize] n as n_1 where (n_1.i < ?) est 3 rows 1 x 50
"#,
    );
}

/// Times are told of a loop, and those of several processes lie beside each other.
#[test]
fn times_are_those_of_all_loops_and_of_one_process() {
    assert_tree(
        "15",
        "parallel",
        r#"
Finalize GroupAggregate [aggregate] est 2 rows 2 x 1
  Gather Merge [parallel] est 4 rows 6 x 1
    Sort [sort] est 2 rows 2 x 3
      Partial HashAggregate [aggregate] est 2 rows 2 x 3
        Parallel Seq Scan [table_scan] orders where (orders.total > ?::numeric) est 8278 rows 6625 x 3 removed 42
"#,
    );
    let is_near = |time: Option<f64>, expected: f64| {
        assert!(time.is_some_and(|time| (time - expected).abs() < 0.01), "{time:?}, {expected}");
    };
    let parallel = plan("15", "parallel");
    is_near(step(&parallel, "Parallel Seq Scan").time_us, 3781.0);
    is_near(step(&parallel, "Gather Merge").time_us, 30_249.0);
    assert_eq!(step(&parallel, "Gather Merge").notes, ["2 workers planned, 2 launched"]);
    let dependent = plan("18", "dependent");
    is_near(step(&dependent, "SubPlan 1").time_us, 380.0 * 8.0);
    assert!(dependent.planning_us.is_some() && dependent.execution_us.is_some());
    let estimated = plan("18", "dependent-estimated");
    assert!(estimated.root.steps().iter().all(|step| step.time_us.is_none()));
    assert!(step(&estimated, "SubPlan 1").is_dependent);
    assert_eq!(estimated.execution_us, None);
    assert_eq!(estimated.shape, dependent.shape);
}

/// Own times add up to the time of the whole.
#[test]
fn the_time_of_a_with_counts_once() {
    for (version, _) in VERSIONS {
        let plan = plan(version, "cte");
        let own: f64 = plan.root.steps().iter().filter_map(|step| step.own_time_us()).sum();
        let whole = plan.root.time_us.expect("a time");
        assert!((own / whole - 1.0).abs() < 0.01, "{version}: {own} of {whole}");
    }
    let unread = r#"{"Plan": {"Node Type": "Result", "Plans": [{"Node Type": "Seq Scan",
        "Parent Relationship": "InitPlan", "Subplan Name": "CTE gone"}]}}"#;
    let plan = postgres_json(unread, false).expect("a plan");
    assert_eq!(plan.root.children[0].label, "CTE gone");
}

#[test]
fn tables_that_read_each_other_make_no_tree_without_end() {
    let with = |index: usize| {
        format!(
            r#"{{"Node Type":"CTE Scan","CTE Name":"t{}","Parent Relationship":"InitPlan",
            "Subplan Name":"CTE t{index}"}},"#,
            index.wrapping_sub(1)
        )
    };
    let all: String = (0..3000).map(with).collect();
    let text = format!(r#"{{"Plan":{{"Node Type":"Result","Plans":[{all}{{}}]}}}}"#);
    let plan = postgres_json(&text, false).expect("a plan");
    let mut levels = 0;
    let mut level = vec![&plan.root];
    while !level.is_empty() {
        levels += 1;
        level = level.into_iter().flat_map(|step| &step.children).collect();
    }
    assert!((100..300).contains(&levels), "{levels}");
    assert!(plan.root.steps().len() > 6000);
}

#[test]
fn memory_and_temporary_files_are_those_of_the_step_itself() {
    let batches = plan("15", "hash-batches");
    let hash = step(&batches, "Hash");
    assert_eq!(hash.notes, ["16 batches"]);
    assert_eq!(hash.memory_bytes, Some(77.0 * 1024.0));
    assert_eq!(hash.spilled_bytes, Some(45.0 * 8192.0));
    assert_eq!(step(&batches, "Hash Join").spilled_bytes, Some(105.0 * 8192.0));
    assert_eq!(step(&batches, "Seq Scan").spilled_bytes, None);
    let sort = plan("9.6", "sort-disk");
    assert_eq!(sort.root.spilled_bytes, Some(800.0 * 1024.0));
    assert_eq!(
        sort.root.notes,
        ["sort key: item.price, item.product", "sort method: external merge"]
    );
}

#[test]
fn notes_name_conversions_and_what_was_switched_off() {
    // `(name)::text` is how any comparison of a varchar is printed.
    assert!(plan("18", "cast").root.notes.is_empty());
    let text = r#"[{"Plan": {"Node Type": "Seq Scan", "Relation Name": "item", "Alias": "item",
        "Filter": "((item.code)::numeric = 5.5)"}}]"#;
    let cast = postgres_json(text, false).expect("a plan");
    assert_eq!(cast.root.notes, ["compares item.code as numeric"]);
    let disabled = plan("18", "disabled");
    assert!(step(&disabled, "Seq Scan").notes.contains(&"disabled".to_owned()));
    assert!(disabled.notes.contains(&"set for the planner: enable_seqscan = off".to_owned()));
    let text = r#"[{"Plan": {"Node Type": "Result"}, "JIT": {"Functions": 12, "Timing":
        {"Generation": {"Deform": 0.1, "Total": 0.5}, "Total": 45.25}}, "Triggers":
        [{"Trigger Name": "log", "Relation": "t", "Time": 1.5, "Calls": 20}]}, {}]"#;
    assert_eq!(
        postgres_json(text, false).expect("a plan").notes,
        [
            "JIT: 12 functions compiled in 45.25 ms",
            "trigger log: 20 calls in 1.5 ms",
            "a rule adds statements, whose plans are not shown: 1"
        ]
    );
}

#[test]
fn every_plan_of_every_version_is_read_without_literals() {
    for (version, _) in VERSIONS {
        let plans = plans(version);
        assert!(plans.len() > 35, "{version}");
        for (name, text) in plans {
            let plan = postgres_json(&text, false).expect("a plan");
            assert!(!plan.root.label.is_empty(), "{version} {name}");
            let written = serde_json::to_string(&plan).expect("JSON");
            assert!(!written.contains('\''), "{version} {name}: {written}");
            let raw = postgres_json(&text, true).expect("a plan");
            assert_eq!(raw.shape, plan.shape, "{version} {name}");
            assert_eq!(raw.verbatim, Some(text));
        }
    }
}

#[test]
fn what_is_no_plan_is_refused() {
    for text in ["", "[]", "{}", "[\"Utility Statement\"]", "[{\"Plan\"", "1e999"] {
        assert!(postgres_json(text, false).is_err(), "{text}");
    }
    let nested = |depth| format!("{}{{}}{}", r#"{"Plans":["#.repeat(depth), "]}".repeat(depth));
    let many = format!(r#"{{"Plans":[{}{{}}]}}"#, "{},".repeat(super::super::MAX_NODES));
    for plan in [nested(1000), many] {
        assert!(postgres_json(&format!(r#"{{"Plan":{plan}}}"#), false).is_err());
    }
    assert!(postgres_json(&format!(r#"{{"Plan":{}}}"#, nested(40)), false).is_ok());
}

proptest! {
    #[test]
    fn no_text_is_too_much(at in any::<prop::sample::Index>(), put in ".{0,8}") {
        for (_, lines) in VERSIONS {
            let line = lines.lines().nth(at.index(lines.lines().count())).expect("a line");
            let at = at.index(line.len());
            let at = (0..=at).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            let _ = postgres_json(&format!("{}{put}{}", &line[..at], &line[at..]), false);
            let _ = postgres_json(&line[at..], true);
        }
    }
}
