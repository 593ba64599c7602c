//! Plans and texts that each rule wants, and such that it must not want.

use super::table_facts::ColumnFacts;
use super::*;
use dbtime_model::query::PlanOperation;

const TABLE: &str = "SELECT x FROM events WHERE place = 5 AND day >= '2009-01-01' ORDER BY x";

/// A step of a plan with so many rows kept and removed.
fn step(operation: PlanOperation, relation: &str, kept: f64, removed: f64) -> PlanNode {
    PlanNode {
        operation,
        label: "step".to_owned(),
        relation: Some(relation.to_owned()),
        actual_rows: Some(kept),
        removed_rows: Some(removed),
        cost: Some(50.0),
        ..PlanNode::default()
    }
}

/// A plan whose root has these steps.
fn plan(children: Vec<PlanNode>) -> StatementPlan {
    let root = PlanNode { cost: Some(100.0), children, ..PlanNode::default() };
    StatementPlan { root, ..StatementPlan::default() }
}

fn index(name: &str, columns: &[&str]) -> IndexFacts {
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    let is_primary = name == "PRIMARY";
    IndexFacts { name: name.to_owned(), columns, is_unique: is_primary, is_primary }
}

/// The table `events` with these indexes.
fn events(indexes: Vec<IndexFacts>) -> TableFacts {
    TableFacts { name: "events".to_owned(), rows: Some(1e6), indexes, ..TableFacts::default() }
}

/// What is proposed for a statement on MySQL.
fn proposed(sql: &str, plan: Option<&StatementPlan>, tables: &[TableFacts]) -> Vec<AdviceProposal> {
    let form = FormText { given: sql.to_owned(), ..FormText::default() };
    proposals(&AdviceScene { plan, tables, ..scene(&form) })
}

/// A scene of MySQL 8.0 in which nothing but the statement is known.
fn scene(form: &FormText) -> AdviceScene<'_> {
    AdviceScene {
        form,
        plan: None,
        counters: &[],
        product: Product::Mysql,
        version: ServerVersion { major: 8, minor: 0 },
        tables: &[],
        is_copy: true,
        is_raw: true,
    }
}

/// The proposals of a rule.
fn of_rule<'p>(rule: &str, all: &'p [AdviceProposal]) -> Vec<&'p AdviceProposal> {
    all.iter().filter(|one| one.advice.rule == rule).collect()
}

#[test]
fn a_form_is_advice_where_the_plan_does_what_it_avoids() {
    let repeated = PlanNode {
        is_dependent: true,
        loops: Some(500.0),
        ..step(PlanOperation::Subquery, "b", 1.0, 0.0)
    };
    let once = PlanNode { loops: Some(1.0), ..repeated.clone() };
    let scan = step(PlanOperation::TableScan, "a", 900.0, 100.0);
    let rare = step(PlanOperation::TableScan, "a", 1.0, 999.0);
    let lookup = step(PlanOperation::IndexLookup, "a", 1.0, 0.0);
    let sort = step(PlanOperation::Sort, "a", 10.0, 0.0);
    let distinct = step(PlanOperation::Distinct, "a", 10.0, 0.0);
    for (rule, sql, bad, good) in [
        ("dependent-subquery", "SELECT x FROM a WHERE id IN (SELECT i FROM b)", &repeated, &once),
        ("rare-complement", "SELECT count(*) FROM a WHERE d > 5", &scan, &rare),
        ("function-on-column", "SELECT x FROM a WHERE YEAR(d) = 2024", &scan, &lookup),
        ("or-over-columns", "SELECT x FROM a WHERE b = 1 OR c = 2", &scan, &lookup),
        ("order-by-index", "SELECT x FROM a WHERE t > 5 ORDER BY d LIMIT 3", &sort, &lookup),
        ("union-all", "SELECT x FROM a UNION SELECT y FROM b", &distinct, &lookup),
        ("distinct-join", "SELECT DISTINCT a.x FROM a JOIN b ON b.i = a.i", &distinct, &lookup),
        ("not-in", "SELECT x FROM a WHERE id NOT IN (SELECT i FROM b)", &once, &lookup),
    ] {
        let all = proposed(sql, Some(&plan(vec![bad.clone()])), &[]);
        let found = of_rule(rule, &all);
        assert!(!found.is_empty(), "{rule}");
        assert_eq!((found[0].advice.level, found[0].share), (EvidenceLevel::Plan, 0.5), "{rule}");
        assert!(matches!(found[0].trial, ProposedTrial::Rewrite(_)), "{rule}");
        let none = proposed(sql, Some(&plan(vec![good.clone()])), &[]);
        assert!(of_rule(rule, &none).is_empty(), "{rule}");
        let without = proposed(sql, None, &[]);
        assert_eq!(of_rule(rule, &without)[0].advice.level, EvidenceLevel::Text, "{rule}");
    }
}

#[test]
fn literals_are_shown_only_where_they_may_be() {
    let sql = "SELECT x FROM a WHERE b = 'secret' OR c = 2";
    let form = FormText { given: sql.to_owned(), ..FormText::default() };
    let shown = |is_raw| {
        let all = proposals(&AdviceScene { is_raw, ..scene(&form) });
        of_rule("or-over-columns", &all)[0].advice.proposal.join(" ").contains("secret")
    };
    assert!(shown(true) && !shown(false));
}

#[test]
fn a_column_that_may_be_null_is_named() {
    let nullable = ColumnFacts { name: "i".to_owned(), is_nullable: true, distinct: None };
    let table = TableFacts { columns: vec![nullable], ..events(Vec::new()) };
    let sql = "SELECT x FROM a WHERE id NOT IN (SELECT i FROM events)";
    let all = proposed(sql, None, &[table]);
    assert!(of_rule("not-in", &all)[0].advice.caveats.contains(&"i may be NULL".to_owned()));
}

#[test]
fn an_index_is_proposed_where_a_scan_removes_most_of_it() {
    let scan = plan(vec![step(PlanOperation::TableScan, "events", 10.0, 99_990.0)]);
    let all = proposed(TABLE, Some(&scan), &[events(vec![index("by_day", &["day"])])]);
    let created: Vec<&str> =
        of_rule("missing-index", &all).iter().map(|one| one.advice.proposal[0].as_str()).collect();
    assert_eq!(
        created,
        [
            "CREATE INDEX dbtime_events_place_day ON events (place, day)",
            "CREATE INDEX dbtime_events_place_x ON events (place, x)",
            "CREATE INDEX dbtime_events_place_day_x ON events (place, day, x)",
        ]
    );
    let ProposedTrial::Index { drop_sql, .. } = &of_rule("missing-index", &all)[0].trial else {
        panic!("an index is tried");
    };
    assert_eq!(drop_sql, "DROP INDEX dbtime_events_place_day ON events");
    let lookup = plan(vec![step(PlanOperation::IndexLookup, "events", 10.0, 0.0)]);
    let most = plan(vec![step(PlanOperation::TableScan, "events", 900.0, 100.0)]);
    for fine in [lookup, most] {
        let all = proposed(TABLE, Some(&fine), &[events(Vec::new())]);
        assert!(of_rule("missing-index", &all).is_empty());
    }
    let small = TableFacts { rows: Some(20.0), ..events(Vec::new()) };
    assert!(of_rule("missing-index", &proposed(TABLE, Some(&scan), &[small])).is_empty());
}

#[test]
fn an_index_of_innodb_ends_with_the_primary_key_by_itself() {
    let scan = plan(vec![step(PlanOperation::TableScan, "events", 10.0, 99_990.0)]);
    let sql = "SELECT id FROM events WHERE place = 5";
    let created = |key: &[&str]| {
        let all = proposed(sql, Some(&scan), &[events(vec![index("PRIMARY", key)])]);
        let created = of_rule("missing-index", &all).into_iter();
        created.map(|one| one.advice.proposal[0].clone()).collect::<Vec<_>>()
    };
    let alone = "CREATE INDEX dbtime_events_place ON events (place)";
    assert_eq!(created(&["id"]), [alone]);
    assert_eq!(created(&["day", "id"]).len(), 2, "another order than the key's");
}

#[test]
fn the_most_selective_column_comes_first() {
    let column = |name: &str, distinct| ColumnFacts {
        name: name.to_owned(),
        is_nullable: false,
        distinct: Some(distinct),
    };
    let columns = vec![column("kind", 3.0), column("place", 5000.0)];
    let table = TableFacts { columns, ..events(Vec::new()) };
    let scan = plan(vec![step(PlanOperation::TableScan, "events", 1.0, 99_990.0)]);
    let sql = "SELECT * FROM events WHERE kind = 1 AND place = 2";
    let all = proposed(sql, Some(&scan), &[table]);
    let found = of_rule("missing-index", &all);
    assert_eq!(found.len(), 1);
    let ProposedTrial::Index { columns, .. } = &found[0].trial else { panic!("an index") };
    assert_eq!(columns, &["place", "kind"]);
}

#[test]
fn an_index_that_another_one_begins_with_is_redundant() {
    let indexes = vec![
        index("PRIMARY", &["id"]),
        index("by_day", &["day"]),
        index("by_day_place", &["day", "place"]),
        index("by_day_id", &["day", "place", "id"]),
        index("by_place", &["place"]),
    ];
    let all = proposed(TABLE, None, &[events(indexes)]);
    let found = of_rule("redundant-index", &all);
    let dropped: Vec<&str> = found.iter().map(|one| one.advice.proposal[0].as_str()).collect();
    assert_eq!(dropped, ["DROP INDEX `by_day` ON events", "DROP INDEX `by_day_id` ON events"]);
    let trial = ProposedTrial::Statements {
        run: vec!["ALTER TABLE events ALTER INDEX `by_day` INVISIBLE".to_owned()],
        undo: vec!["ALTER TABLE events ALTER INDEX `by_day` VISIBLE".to_owned()],
    };
    assert_eq!(found[0].trial, trial);
}

#[test]
fn conversions_are_what_the_server_notes() {
    let form = FormText { given: TABLE.to_owned(), ..FormText::default() };
    let noted = |product, note: &str| {
        let plan = StatementPlan { notes: vec![note.to_owned()], ..plan(Vec::new()) };
        let all = proposals(&AdviceScene { product, plan: Some(&plan), ..scene(&form) });
        of_rule("implicit-conversion", &all).len()
    };
    let of_mysql = "Cannot use ref access on index 'k' due to type or collation conversion";
    assert_eq!(noted(Product::Mysql, of_mysql), 1);
    assert_eq!(noted(Product::Mariadb, "Cannot use key part `k` for lookup"), 1);
    assert_eq!(noted(Product::Mysql, "Using where"), 0);
    let cast = |condition: &str| {
        let scan = step(PlanOperation::TableScan, "events", 1.0, 9.0);
        let plan = plan(vec![PlanNode { condition: Some(condition.to_owned()), ..scan }]);
        let product = Product::Postgres;
        let all = proposals(&AdviceScene { product, plan: Some(&plan), ..scene(&form) });
        of_rule("implicit-conversion", &all).len()
    };
    assert_eq!(cast("((code)::numeric = ?)"), 1);
    assert_eq!(cast("((name)::text = ?)"), 0);
    assert_eq!(cast("(code = (?)::numeric)"), 0);
}

#[test]
fn a_spilled_sort_gets_memory_for_this_statement() {
    let spilled = |bytes| PlanNode {
        spilled_bytes: Some(bytes),
        ..step(PlanOperation::Sort, "events", 10.0, 0.0)
    };
    let form = FormText { given: TABLE.to_owned(), ..FormText::default() };
    let of = |bytes| {
        let plan = plan(vec![spilled(bytes)]);
        let product = Product::Postgres;
        proposals(&AdviceScene { product, plan: Some(&plan), ..scene(&form) })
    };
    let all = of(20.0 * 1_048_576.0);
    let ProposedTrial::Setting(switch) = &of_rule("spilled-sort", &all)[0].trial else {
        panic!("a setting is tried");
    };
    assert_eq!(switch.before, ["SET work_mem = '128MB'"]);
    assert_eq!(switch.after, ["RESET work_mem"]);
    assert!(of_rule("spilled-sort", &of(0.0)).is_empty());
    let counters = [ExecutionCounter {
        name: "Sort_merge_passes".to_owned(),
        value: 3.0,
        ..ExecutionCounter::default()
    }];
    let all = proposals(&AdviceScene { counters: &counters, ..scene(&form) });
    assert_eq!(of_rule("spilled-sort", &all)[0].advice.level, EvidenceLevel::Counters);
}

#[test]
fn statistics_are_made_only_on_a_copy() {
    let form = FormText { given: TABLE.to_owned(), ..FormText::default() };
    let tables = [events(Vec::new())];
    let of = |expected, is_copy| {
        let scan = step(PlanOperation::IndexRange, "events", 1000.0, 0.0);
        let plan = plan(vec![PlanNode { estimated_rows: Some(expected), ..scan }]);
        let known = AdviceScene { plan: Some(&plan), tables: &tables, is_copy, ..scene(&form) };
        let all = proposals(&known);
        of_rule("stale-statistics", &all).first().map(|one| one.trial.clone())
    };
    let run = vec!["ANALYZE TABLE events".to_owned()];
    assert_eq!(of(1.0, true), Some(ProposedTrial::Statements { run, undo: Vec::new() }));
    assert_eq!(of(1e6, false), Some(ProposedTrial::None));
    assert_eq!(of(500.0, true), None);
}

#[test]
fn a_condition_that_keeps_few_of_the_rows_that_were_expected_is_no_matter_of_statistics() {
    let form = FormText { given: TABLE.to_owned(), ..FormText::default() };
    let tables = [events(Vec::new())];
    let scan = step(PlanOperation::TableScan, "events", 27.0, 99_973.0);
    let plan = plan(vec![PlanNode { estimated_rows: Some(99_498.0), ..scan }]);
    let known = AdviceScene { plan: Some(&plan), tables: &tables, ..scene(&form) };
    let has = |scene: AdviceScene<'_>| !of_rule("stale-statistics", &proposals(&scene)).is_empty();
    assert!(!has(known));
    assert!(has(AdviceScene { product: Product::Postgres, ..known }));
}

#[test]
fn statistics_are_not_stale_where_a_limit_ended_the_scan() {
    let form = FormText { given: TABLE.to_owned(), ..FormText::default() };
    let tables = [events(Vec::new())];
    let is_found = |is_cut| {
        let scan = step(PlanOperation::IndexScan, "events", 3.0, 0.0);
        let plan = plan(vec![PlanNode { estimated_rows: Some(1e5), is_cut, ..scan }]);
        let known = AdviceScene { plan: Some(&plan), tables: &tables, ..scene(&form) };
        !of_rule("stale-statistics", &proposals(&known)).is_empty()
    };
    assert!(is_found(false) && !is_found(true));
}

#[test]
fn findings_of_the_text_are_not_tried() {
    let values = vec!["7"; 201].join(", ");
    for (rule, sql) in [
        ("leading-wildcard", "SELECT x FROM t WHERE c LIKE '%a'".to_owned()),
        ("order-by-random", "SELECT x FROM t ORDER BY RAND() LIMIT 1".to_owned()),
        ("offset-paging", "SELECT x FROM t ORDER BY c LIMIT 10 OFFSET 1000".to_owned()),
        ("huge-in-list", format!("SELECT x FROM t WHERE c IN ({values})")),
        ("wide-rows", "SELECT * FROM t".to_owned()),
    ] {
        let all = proposed(&sql, None, &[]);
        assert_eq!(of_rule(rule, &all)[0].trial, ProposedTrial::None, "{rule}");
        assert!(of_rule(rule, &proposed("SELECT x FROM t WHERE c = 1", None, &[])).is_empty());
    }
}

#[test]
fn what_is_about_most_of_the_plan_comes_first() {
    let small = PlanNode { cost: Some(1.0), ..step(PlanOperation::Sort, "a", 10.0, 0.0) };
    let large = PlanNode { cost: Some(90.0), ..step(PlanOperation::TableScan, "a", 1.0, 9.0) };
    let sql = "SELECT x FROM a WHERE t > 5 AND date(c) = '2024-01-01' ORDER BY d LIMIT 3";
    let all = proposed(sql, Some(&plan(vec![small, large])), &[]);
    let rules: Vec<&str> = all.iter().map(|one| one.advice.rule.as_str()).collect();
    assert_eq!(rules, ["function-on-column", "order-by-index"]);
}
