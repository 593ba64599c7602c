//! Every shipped workload parses, and its first transaction is what it was.

use dbtime_load::program::{Program, ProgramEvent, ProgramStep, SqlValue, Ticket};
use dbtime_load::statement::StatementKind;
use dbtime_load::workload::{SHIPPED, Workload};
use dbtime_model::{MonoNanos, OperationId};
use std::fmt::Write as _;

fn find(name: &str) -> Workload {
    Workload::find(name).unwrap_or_else(|error| panic!("{error}"))
}

fn ticket(index: u64, operation: OperationId) -> Ticket {
    Ticket { index, operation, due: MonoNanos(0), client: 0 }
}

/// The statements of a transaction with their parameters, one per line.
fn transaction(workload: &Workload, program: &mut dyn Program, ticket: &Ticket) -> String {
    let mut text = String::new();
    program.start(ticket);
    let mut event = ProgramEvent::Started;
    loop {
        match program.resume(event) {
            ProgramStep::Execute { statement, parameters, .. } => {
                let statement = &workload.statements[statement.0 as usize];
                let shown: Vec<String> = parameters.iter().map(shown).collect();
                let sql = statement.kind.text().replace('\n', " ");
                writeln!(text, "{}: {sql} [{}]", statement.name, shown.join(", ")).expect("text");
            }
            ProgramStep::Sleep(pause) => writeln!(text, "pause {pause}").expect("text"),
            ProgramStep::Done => return text,
        }
        event = ProgramEvent::Answered { rows: 1, first: &[] };
    }
}

fn shown(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "NULL".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => format!("'{text}'"),
    }
}

#[test]
fn names_are_sorted_and_those_of_the_files() {
    assert!(SHIPPED.is_sorted_by_key(|(name, _)| name));
    for (name, text) in SHIPPED {
        let workload = find(name);
        assert_eq!(workload.name, *name);
        assert!(!workload.description.is_empty(), "{name}");
        assert!(text.starts_with("# "), "{name} must say what it is");
        for scale in [1, 2, 1000] {
            workload.check_scale(scale).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads");
    let files = std::fs::read_dir(folder).expect("the folder of shipped workloads");
    let toml = |f: &std::fs::DirEntry| f.path().extension().is_some_and(|e| e == "toml");
    let count = files.filter(|f| f.as_ref().is_ok_and(toml)).count();
    assert_eq!(count, SHIPPED.len(), "every file of workloads/ needs a line in SHIPPED");
}

#[test]
fn first_transactions_are_as_they_were() {
    for (name, _) in SHIPPED {
        let workload = find(name);
        let mut program = workload.program(1, 42);
        let first = transaction(&workload, program.as_mut(), &ticket(0, OperationId(0)));
        insta::assert_snapshot!(format!("first_{name}"), first);
    }
}

#[test]
fn same_seed_same_statements_in_any_order_and_after_a_retry() {
    for (name, _) in SHIPPED {
        let workload = find(name);
        let mix = workload.mix();
        let run = |program: &mut dyn Program, index| {
            transaction(&workload, program, &ticket(index, mix.pick(7, index)))
        };
        let mut one = workload.program(3, 7);
        let whole: Vec<String> = (0..40).map(|index| run(one.as_mut(), index)).collect();
        // Two shards that take turns, the last first, each transaction cut off and tried again.
        let plan = workload.plan(3, 7);
        let mut shards = [plan.program(), plan.program()];
        for index in (0..40).rev() {
            let shard = shards[index as usize % 2].as_mut();
            shard.start(&ticket(index, mix.pick(7, index)));
            shard.resume(ProgramEvent::Started);
            assert_eq!(run(shard, index), whole[index as usize], "{name} transaction {index}");
        }
        let other =
            transaction(&workload, workload.program(3, 8).as_mut(), &ticket(0, OperationId(0)));
        assert!(name == &"values1" || other != whole[0], "{name} does not depend on the seed");
    }
}

#[test]
fn operations_in_a_transaction_can_be_rolled_back() {
    for (name, _) in SHIPPED {
        let workload = find(name);
        let rules = workload.rules(1);
        for (position, rollback) in rules.rollback.iter().enumerate() {
            let begins = workload.statements.iter().any(|s| {
                s.operation.0 as usize == position && matches!(s.kind, StatementKind::Begin { .. })
            });
            assert_eq!(rollback.is_some(), begins, "{name}");
        }
    }
}

/// Values of the placeholders of one statement, over many transactions.
fn parameters(
    workload: &Workload,
    statement: &str,
    scale: u64,
    transactions: u64,
) -> Vec<Vec<i64>> {
    let mut program = workload.program(scale, 5);
    let mut found = Vec::new();
    for index in 0..transactions {
        program.start(&ticket(index, OperationId(0)));
        let mut event = ProgramEvent::Started;
        while let ProgramStep::Execute { statement: id, parameters, .. } = program.resume(event) {
            if workload.statements[id.0 as usize].name == statement {
                let integer = |v: &SqlValue| if let SqlValue::Integer(n) = v { *n } else { 0 };
                found.push(parameters.iter().map(integer).collect());
            }
            event = ProgramEvent::Answered { rows: 1, first: &[] };
        }
    }
    found
}

#[test]
fn atm_customers_are_local_in_85_of_100() {
    let (scale, n) = (2, 40_000);
    let draws = parameters(&find("atm"), "create history", scale, n);
    let mut local = 0.0;
    let mut away = [0f64; 20];
    for draw in &draws {
        let [account, teller, branch, amount] = draw[..] else { panic!("{draw:?}") };
        assert!((1..=200_000).contains(&account) && (1..=200).contains(&teller));
        assert_eq!(branch, (teller - 1) / 10 + 1);
        assert!((-999_999..=999_999).contains(&amount));
        let home = (account - 1) / 10_000 + 1;
        if home == branch {
            local += 1.0;
        } else {
            away[(home - branch).rem_euclid(20) as usize] += 1.0;
        }
    }
    // Four standard errors of 85 % in 40,000: 0.71 points.
    let share = local / n as f64;
    assert!((share - 0.85).abs() < 0.0072, "{share}");
    // Strangers come from the 19 other branches alike: 18 degrees of freedom, 99.9 % below 42.312.
    let expected = (n as f64 - local) / 19.0;
    let chi2: f64 = away[1..].iter().map(|c| (c - expected).powi(2) / expected).sum();
    assert!(chi2 < 42.312, "chi² {chi2}");
}

#[test]
fn ranges_are_a_hundred_rows_and_points_differ() {
    let workload = find("oltp-read-write");
    for draw in parameters(&workload, "sum range", 1, 50) {
        assert_eq!(draw[1] - draw[0], 99);
    }
    let points = parameters(&workload, "point select", 1, 1);
    let distinct: std::collections::BTreeSet<_> = points.iter().collect();
    assert_eq!((points.len(), distinct.len()), (10, 10));
    let deleted = parameters(&workload, "delete", 1, 50);
    let inserted = parameters(&workload, "insert", 1, 50);
    assert!(deleted.iter().zip(&inserted).all(|(d, i)| d[0] == i[0]));
}

#[test]
fn rows_are_pure_functions_of_their_number() {
    for (name, _) in SHIPPED {
        let workload = find(name);
        for (position, table) in workload.tables.iter().enumerate() {
            let data = workload.table_data(position, 2, 9);
            assert_eq!(data.row_count(), table.row_count(2));
            if data.row_count() == 0 {
                continue;
            }
            let (mut row, mut again) = (Vec::new(), vec![SqlValue::Text("used".into()); 9]);
            for index in [0, 1, data.row_count() - 1, 1] {
                data.fill_row(index, &mut row);
                workload.table_data(position, 2, 9).fill_row(index, &mut again);
                assert_eq!(row, again, "{name} {}", table.name);
                assert_eq!(row.len(), data.columns().len());
            }
        }
    }
}

#[test]
fn sizes_are_plausible() {
    let sizes = find("atm").size(10);
    let account = sizes.iter().find(|size| size.name == "account").expect("an account table");
    assert_eq!(account.rows, 1_000_000);
    assert!((100_000_000..200_000_000).contains(&account.bytes), "{}", account.bytes);
}

#[test]
fn unknown_names_get_the_nearest() {
    let message = |name| Workload::find(name).expect_err("unknown").to_string();
    insta::assert_snapshot!(message("point-slect"), @"no workload is called `point-slect`, did you mean `point-select`? (shipped: atm, oltp-read-only, oltp-read-write, point-select, report-scan, tpcb, values1); give a shipped name or a path to a .toml file");
    // What was meant as a target.
    for text in ["mysql://u:hush@h/d", "host=h password=hush", "mysql:u:hush@h"] {
        let shown = message(text);
        assert!(!shown.contains("hush"), "{shown}");
    }
    insta::assert_snapshot!(message("xyz"), @"no workload is called `xyz` (shipped: atm, oltp-read-only, oltp-read-write, point-select, report-scan, tpcb, values1); give a shipped name or a path to a .toml file");
}

#[test]
fn one_statement_is_a_workload() {
    let workload = Workload::from_sql("SELECT ':x', 1;").expect("one statement");
    let mut program = workload.program(1, 1);
    let text = transaction(&workload, program.as_mut(), &ticket(0, OperationId(0)));
    assert_eq!(text, "query: SELECT ':x', 1 []\n");
    for bad in ["", "SELECT :x", "SELECT ?", "SELECT 1; SELECT 2", "SELECT 'x"] {
        assert!(Workload::from_sql(bad).is_err(), "{bad}");
    }
}

/// Both sides of the comparison with pgbench read the same tables.
#[test]
fn the_benchmark_select_only_has_tables_of_tpcb() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/select-only.toml");
    let (ours, theirs) = (find(path), find("tpcb"));
    assert_eq!(ours.tables.len(), 2);
    for table in &ours.tables {
        let same = theirs.tables.iter().find(|other| other.name == table.name);
        assert_eq!(format!("{table:?}"), format!("{:?}", same.expect("a table of tpcb")));
    }
}
