//! Loading on a stage: what is asked and what is told, without a database.

use super::super::init;
use super::*;
use dbtime_model::{ErrorClass, SqlDialect};

fn loading(dialect: SqlDialect, letters: &str) -> (LoadingScript, Arc<Mutex<Vec<String>>>) {
    let what = Initialization { dialect, ..Initialization::default() };
    let steps = init::steps(letters, &what).expect("steps");
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let loading = LoadingScript::new(steps, &what, move |told| {
        heard.lock().expect("told").push(match told {
            LoadingProgress::Begins(step) => format!("begin {}", step.name),
            LoadingProgress::Loaded { table, done, total } => {
                format!("{} {done}/{total}", table.name())
            }
            LoadingProgress::Ended(step) => format!("end {}", step.name),
        });
    });
    (loading, told)
}

/// The beginnings of all statements, and how many bytes of data they have.
fn walk(script: &LoadingScript) -> Vec<(String, usize)> {
    let mut program = script.crew(0).and_then(|mut crew| crew.program(0)).expect("a program");
    let mut asked = Vec::new();
    let mut note = |step: Step<'_>| match step {
        Step::Ask { request: ConnectionOp::Query(sql), .. } => {
            asked.push((sql.chars().take(60).collect(), 0));
            true
        }
        Step::Ask { request: ConnectionOp::Copy { sql, data }, .. } => {
            asked.push((sql.to_owned(), data.len()));
            true
        }
        step => {
            assert_eq!(step, Step::Done);
            false
        }
    };
    let mut goes_on = note(program.resume(ProgramEvent::Started));
    while goes_on {
        goes_on = note(program.replied(Ok(&mut ResultSets::default())));
    }
    asked
}

#[test]
fn rows_are_copied_to_postgresql() {
    let (script, told) = loading(SqlDialect::Postgres, "g");
    let asked = walk(&script);
    let start = ["begin", "truncate table", "copy pgbench_branches", "copy pgbench_tellers"];
    for (expected, (sql, _)) in start.iter().zip(&asked) {
        assert!(sql.starts_with(expected), "{sql}");
    }
    let accounts =
        asked.iter().filter(|(sql, _)| sql == "copy pgbench_accounts from stdin (freeze)");
    assert_eq!(accounts.clone().count(), 5);
    let bytes: usize = accounts.map(|(_, bytes)| bytes).sum();
    // Numbers from 1 to 100000, each with `\t1\t0\t\n` behind it.
    assert_eq!(bytes, 488_895 + 6 * 100_000);
    assert_eq!(asked.last().map(|(sql, _)| sql.as_str()), Some("commit"));
    let told = told.lock().expect("told");
    assert_eq!(told[..2], ["begin client-side generate", "pgbench_branches 1/1"]);
    assert_eq!(
        told[told.len() - 2..],
        ["pgbench_accounts 100000/100000", "end client-side generate"]
    );
}

#[test]
fn others_get_rows_by_insert() {
    let (script, told) = loading(SqlDialect::Sqlite, "tg");
    let asked = walk(&script);
    let has = |text: &str| asked.iter().filter(|(sql, _)| sql.starts_with(text)).count();
    assert_eq!(has("create table"), 4);
    assert_eq!(has("insert into pgbench_branches(bid,bbalance,filler) values (1,"), 1);
    assert_eq!(has("insert into pgbench_tellers(tid,bid,tbalance,filler) values "), 1);
    assert_eq!(has("insert into pgbench_accounts(aid,bid,abalance,filler)"), 25);
    let told = told.lock().expect("told");
    assert_eq!(
        told[..3],
        ["begin create tables", "end create tables", "begin client-side generate"]
    );
    assert_eq!(told[4..6], ["pgbench_tellers 10/10", "pgbench_accounts 4000/100000"]);
}

#[test]
fn a_failure_ends_it_and_names_the_statement() {
    let (script, _) = loading(SqlDialect::Postgres, "d");
    let mut program = script.crew(0).and_then(|mut crew| crew.program(0)).expect("a program");
    program.resume(ProgramEvent::Started);
    let failure = DatabaseFailure::connection("08006", "it is gone");
    let step = program.replied(Err(&failure));
    assert_eq!(step, Step::Quit { failed: Some(ErrorClass::Connection), all: true });
    let trouble = script.trouble().expect("trouble");
    assert!(
        trouble.starts_with("query failed: it is gone\ndetail: Query was: drop table"),
        "{trouble}"
    );
}
