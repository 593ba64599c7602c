//! Plans that MySQL 5.5.9, 5.6.24 and 9.7.4 and MariaDB 10.2.11, 10.11.19 and 11.8.9 made of one
//! set of statements, over a table of 20,000 events and one of 1,000 users.
//!
//! A file has a section for each statement: `### NAME: SQL`, and what the server answered.

use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};
use dbtime_observe::plans::{
    PlanError, mariadb_json, mysql_json, mysql_json_v2, mysql_table, mysql_tree,
};
use proptest::prelude::*;
use std::path::Path;

/// What reads a file's sections.
type PlanReader = fn(&str, bool) -> Result<StatementPlan, PlanError>;

const FILES: [(&str, PlanReader); 8] = [
    ("mysql-5.5-table.txt", table),
    ("mysql-5.6-json.txt", mysql_json),
    ("mysql-9.7-json-1.txt", mysql_json),
    ("mysql-9.7-json-2.txt", mysql_json_v2),
    ("mysql-9.7-tree.txt", mysql_tree),
    ("mariadb-10.2-json.txt", mariadb_json),
    ("mariadb-10.11-json.txt", mariadb_json),
    ("mariadb-11.8-json.txt", mariadb_json),
];

/// Reads a table as clients print it, with tabs between columns.
fn table(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let cell = |cell: &str| (cell != "NULL").then(|| cell.to_owned());
    let mut rows = text.lines().map(|line| line.split('\t').map(cell).collect::<Vec<_>>());
    let columns = rows.next().unwrap_or_default().into_iter().map(Option::unwrap_or_default);
    let columns: Vec<String> = columns.collect();
    mysql_table(&columns, &rows.collect::<Vec<_>>(), is_raw)
}

/// The names of a file's statements, and what the server answered.
fn sections(file: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans").join(file);
    let text = std::fs::read_to_string(&path).expect("a fixture");
    let section = |section: &str| {
        let (title, answer) = section.split_once('\n').expect("an answer");
        let name = title.split(':').next().expect("a name");
        (name.to_owned(), answer.to_owned())
    };
    text.split("### ").skip(1).map(section).collect()
}

fn reader(file: &str) -> PlanReader {
    let found = FILES.iter().find(|(name, _)| *name == file);
    found.expect("a file of the list").1
}

fn plan(file: &str, name: &str) -> StatementPlan {
    let sections = sections(file);
    let (_, answer) = sections.iter().find(|(found, _)| found == name).expect("a section");
    reader(file)(answer, false).unwrap_or_else(|error| panic!("{file}, {name}: {error}"))
}

/// A plan as lines: what a step does and to what, rows that were expected and returned, executions.
fn drawn(file: &str, name: &str) -> String {
    let mut lines = Vec::new();
    draw(&plan(file, name).root, 0, &mut lines);
    lines.join("\n")
}

fn draw(node: &PlanNode, depth: usize, lines: &mut Vec<String>) {
    let rounded = |number: f64| (number * 100.0).round() / 100.0;
    let mut line = format!("{}{}", "  ".repeat(depth), node.operation.name());
    let words = [("on", &node.relation), ("using", &node.index)];
    for (word, name) in words {
        line.extend(name.iter().map(|name| format!(" {word} {name}")));
    }
    for (word, is_so) in [("covering", node.is_covering), ("dependent", node.is_dependent)] {
        line.extend(is_so.then(|| format!(" ({word})")));
    }
    let figures = [("est", node.estimated_rows), ("act", node.actual_rows), ("x", node.loops)];
    for (word, figure) in figures {
        line.extend(figure.map(|figure| format!(" {word} {}", rounded(figure))));
    }
    lines.push(line);
    node.children.iter().for_each(|child| draw(child, depth + 1, lines));
}

fn assert_drawn(file: &str, name: &str, lines: &[&str]) {
    assert_eq!(drawn(file, name), lines.join("\n"), "{file}, {name}");
}

/// Statements that iterators have no plan of: version 1 of the JSON alone has.
const SINGLE_TABLE_CHANGES: [&str; 2] = ["update", "delete"];

#[test]
fn every_plan_is_read_and_has_no_literals() {
    for (file, read) in FILES {
        let sections = sections(file);
        assert!(sections.len() > 30, "{file}");
        let is_iterators = ["mysql-9.7-json-2.txt", "mysql-9.7-tree.txt"].contains(&file);
        for (name, answer) in sections {
            let plan = read(&answer, false);
            if is_iterators && SINGLE_TABLE_CHANGES.contains(&&*name) {
                assert!(plan.is_err(), "{file}, {name}");
                continue;
            }
            let plan = plan.unwrap_or_else(|error| panic!("{file}, {name}: {error}"));
            let text = serde_json::to_string(&plan).expect("it is written");
            for literal in ["Oslo", "Rome", "c42", "%7", "2020"] {
                assert!(!text.contains(literal), "{file}, {name}: {literal} in {text}");
            }
            let raw = read(&answer, true).expect("read before");
            assert_eq!(raw.shape, plan.shape, "{file}, {name}");
            let relations = plan.root.steps().iter().filter(|step| step.relation.is_some()).count();
            let has_none = ["impossible", "min_max", "no_table", "primary_key", "insert_values"];
            assert!(relations > 0 || has_none.contains(&&*name), "{file}, {name}");
        }
    }
}

#[test]
fn a_table_is_put_together_by_the_numbers_of_queries() {
    let file = "mysql-5.5-table.txt";
    assert_drawn(
        file,
        "derived_join",
        &[
            "nested_loop est 125",
            "  table_scan on <derived2> est 125",
            "    materialize",
            "      sort",
            "        materialize",
            "          index_range on events using by_kind est 2498",
            "  index_lookup on u using PRIMARY est 1",
        ],
    );
    assert_drawn(
        file,
        "in_subquery",
        &[
            "table_scan on users est 985",
            "  subquery (dependent)",
            "    index_lookup on events using by_user est 10",
        ],
    );
    assert_drawn(
        file,
        "union",
        &[
            "union on <union1,2>",
            "  index_lookup on users using by_city (covering) est 200",
            "  index_lookup on events using by_kind est 499",
        ],
    );
    assert_eq!(plan(file, "impossible").root.label, "Impossible WHERE");
    assert_eq!(plan(file, "merge_union").root.index.as_deref(), Some("by_user, by_code"));
}

#[test]
fn blocks_of_json_become_a_tree() {
    let file = "mysql-9.7-json-1.txt";
    assert_drawn(
        file,
        "in_subquery",
        &[
            "nested_loop",
            "  table_scan on <subquery2>",
            "    materialize",
            "      index_lookup on events using by_kind est 166.65",
            "  index_lookup on users using PRIMARY est 1",
        ],
    );
    assert_drawn(
        file,
        "group_order",
        &[
            "sort",
            "  aggregate",
            "    nested_loop est 12000",
            "      index_scan on u using by_city (covering) est 1000",
            "      index_lookup on e using by_user est 12",
        ],
    );
    assert_drawn(
        file,
        "scalar_subquery",
        &[
            "index_range on u using PRIMARY (covering) est 49",
            "  subquery (dependent)",
            "    index_lookup on e using by_user est 12",
        ],
    );
    assert_drawn(
        file,
        "join_without_index",
        &["hash_join est 100000", "  table_scan on u est 1000", "  table_scan on v est 100"],
    );
    assert_drawn(
        file,
        "insert_select",
        &["modify on digits", "  index_lookup on users using by_city (covering) est 200"],
    );
    assert_drawn(
        file,
        "update",
        &["modify on events est 20", "  index_range on events using by_user est 20"],
    );
    assert_eq!(plan(file, "group_order").root.cost, Some(4529.0));
    let scan = plan("mysql-5.6-json.txt", "scan").root;
    assert_eq!(scan.condition.as_deref(), Some("(`shop`.`events`.`title` like ?)"));
}

#[test]
fn iterators_are_read_as_a_tree_and_as_json() {
    let figures = |user: &str, event: &str| {
        [
            "nested_loop est EST act 1998 x 1".to_owned(),
            format!("  index_lookup on {user} using by_city est 200 act 200 x 1"),
            "  filter est 4.21 act 9.99 x 200".to_owned(),
            format!("    index_lookup on {event} using by_user est EVENTS act 20 x 200"),
        ]
        .join("\n")
    };
    let tree = figures("u", "e").replace("EST", "843").replace("EVENTS", "12.6");
    assert_eq!(drawn("mysql-9.7-tree.txt", "join"), tree);
    let json = figures("users", "events").replace("EST", "842.92").replace("EVENTS", "12.65");
    assert_eq!(drawn("mysql-9.7-json-2.txt", "join"), json);
    assert_drawn(
        "mysql-9.7-tree.txt",
        "scalar_subquery",
        &[
            "filter est 49 act 49 x 1",
            "  index_range on u using PRIMARY (covering) est 49 act 49 x 1",
            "  subquery (dependent) x 49",
            "    aggregate est 1 act 1 x 49",
            "      index_lookup on e using by_user est 12.6 act 20 x 49",
        ],
    );
    assert_drawn(
        "mysql-9.7-json-2.txt",
        "join_without_index",
        &[
            "aggregate est 1 act 1 x 1",
            "  hash_join est 100000 act 6452 x 1",
            "    table_scan on users est 1000 act 1000 x 1",
            "    materialize x 1",
            "      table_scan on users est 1000 act 1000 x 1",
        ],
    );
    let never = plan("mysql-9.7-tree.txt", "cte");
    let never = never.root.steps().into_iter().filter(|step| step.loops == Some(0.0));
    assert_eq!(never.map(|step| step.actual_rows).collect::<Vec<_>>(), [None]);
}

#[test]
fn numbers_of_queries_stay_in_conditions() {
    let tree = plan("mysql-9.7-tree.txt", "any_all").root;
    assert_eq!(tree.children[0].condition.as_deref(), Some("<not>((users.id <= (select #2)))"));
    let json = plan("mariadb-10.11-json.txt", "not_in").root;
    let condition = "!<in_optimizer>(users.`id`,users.`id` in (subquery#2))";
    assert_eq!(json.condition.as_deref(), Some(condition));
}

#[test]
fn times_of_iterators_are_those_of_all_loops() {
    let plan = plan("mysql-9.7-tree.txt", "join");
    assert_eq!(plan.execution_us, Some(8800.0));
    let inner = plan.root.steps()[3].clone();
    assert_eq!(inner.time_us.map(f64::round), Some(7920.0));
}

#[test]
fn tables_of_mariadb_are_joined_whichever_way_they_are_written() {
    for (file, lines) in [
        (
            "mariadb-10.2-json.txt",
            [
                "nested_loop est 2000 act 1998 x 1",
                "  index_lookup on u using by_city est 200 act 200 x 1",
                "  index_lookup on e using by_user est 10 act 9.99 x 200",
            ],
        ),
        (
            "mariadb-10.11-json.txt",
            [
                "nested_loop est 1800 act 1998 x 1",
                "  table_scan on u est 200 act 200 x 1",
                "  index_lookup on e using by_user est 9 act 9.99 x 200",
            ],
        ),
    ] {
        assert_drawn(file, "join", &lines);
    }
}

#[test]
fn parts_of_plans_of_mariadb_have_their_places() {
    let file = "mariadb-10.11-json.txt";
    assert_drawn(
        file,
        "derived_join",
        &[
            "nested_loop est 2000 act 25 x 1",
            "  table_scan on u est 200 act 200 x 1",
            "  index_lookup on <derived2> using key0 est 10 act 0.13 x 200",
            "    materialize x 1",
            "      sort act 125 x 1",
            "        materialize x 1",
            "          index_range on events using by_kind est 2500 act 2500 x 1",
        ],
    );
    assert_drawn(
        file,
        "scalar_subquery",
        &[
            "index_range on u using PRIMARY (covering) est 49 act 49 x 1",
            "  subquery (dependent) x 49",
            "    materialize x 49",
            "      index_lookup on e using by_user est 9 act 20 x 49",
        ],
    );
    assert_drawn(
        file,
        "not_in",
        &[
            "table_scan on users est 800 act 975 x 1",
            "  subquery x 1",
            "    materialize x 1000",
            "      index_lookup on events using by_kind est 500 act 500 x 1",
        ],
    );
    assert_drawn(
        file,
        "join_without_index",
        &[
            "nested_loop est 640000 x 1",
            "  table_scan on u est 800 act 1000 x 1",
            "  table_scan on v est 800 act 1000 x 1",
        ],
    );
    assert_drawn(
        file,
        "update",
        &["modify on events", "  index_range on events using by_user est 20 act 10 x 1"],
    );
    assert_drawn(
        file,
        "three_tables",
        &[
            "nested_loop est 40 act 80 x 1",
            "  nested_loop est 20 act 20 x 1",
            "    index_lookup on u using PRIMARY est 1 x 1",
            "    index_lookup on e using by_user est 20 act 20 x 1",
            "  index_lookup on f using by_code (covering) est 2 act 4 x 20",
        ],
    );
}

#[test]
fn what_rows_are_sorted_by_is_no_condition() {
    let limit = plan("mysql-9.7-tree.txt", "order_limit").root;
    let sort = &limit.children[0];
    assert_eq!((&limit.condition, &sort.condition), (&None, &None));
    assert_eq!(limit.notes, ["? row(s)"]);
    assert!(sort.notes[0].starts_with("by `events`.title, limit"), "{:?}", sort.notes);
}

#[test]
fn figures_of_mariadb_are_rows_times_and_pages() {
    let plan = plan("mariadb-10.11-json.txt", "scan");
    assert_eq!(plan.planning_us.map(f64::round), Some(91.0));
    assert_eq!(plan.execution_us.map(f64::round), Some(2608.0));
    let scan = &plan.root;
    assert_eq!(scan.operation, PlanOperation::TableScan);
    assert_eq!(scan.removed_rows.map(f64::round), Some(18015.0));
    assert_eq!((scan.pages_hit, scan.pages_read), (Some(76.0), Some(0.0)));
    assert_eq!(scan.condition.as_deref(), Some("`events`.title like ?"));
}

#[test]
fn what_is_too_large_is_refused() {
    let tables = r#"{"table": {"table_name": "t", "access_type": "ALL"}},"#.repeat(1000);
    let tables = tables.trim_end_matches(',');
    let wide = format!(r#"{{"query_block": {{"nested_loop": [{tables}]}}}}"#);
    assert!(mysql_json(&wide, false).is_err() && mariadb_json(&wide, false).is_err());
    assert!(mysql_tree(&"-> Limit\n".repeat(20_000), false).is_err());
    let deep: String = (0..1000).map(|level| format!("{}-> a\n", "    ".repeat(level))).collect();
    assert!(mysql_tree(&deep, false).is_err());
    let derived = |n: u32| format!("{n}\tDERIVED\t<derived{}>\tALL\t\n", n + 1);
    let rows: String = (1..20_000).map(derived).collect();
    assert!(table(&format!("id\tselect_type\ttable\ttype\tExtra\n{rows}"), false).is_err());
}

#[test]
fn a_union_without_a_row_of_its_own_is_one() {
    let part = |n: u32| format!("{n}\t{}\tt\tALL\t\n", if n == 1 { "PRIMARY" } else { "UNION" });
    let rows: String = (1..=300).map(part).collect();
    let plan = table(&format!("id\tselect_type\ttable\ttype\tExtra\n{rows}"), false);
    let root = plan.expect("a plan").root;
    assert_eq!(root.operation, PlanOperation::Union);
    assert_eq!(root.children.len(), 300);
}

#[test]
fn what_is_no_plan_is_refused() {
    for (file, read) in FILES {
        for text in ["", "{}", "[]", "null", "EXPLAIN", "id\tselect_type\ttable\ttype\tExtra\n"] {
            assert!(read(text, false).is_err(), "{file}: {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_plans_make_no_reader_panic_or_grow(
        file in 0..FILES.len(),
        section in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let sections = sections(FILES[file].0);
        let mut bytes = sections[section.index(sections.len())].1.clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() * 4).max(1));
        let text = String::from_utf8_lossy(&bytes);
        for (_, read) in FILES {
            if let Ok(plan) = read(&text, false) {
                prop_assert!(plan.root.steps().len() <= text.len());
            }
        }
    }
}
