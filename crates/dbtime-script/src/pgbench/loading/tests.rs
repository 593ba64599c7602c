//! Loading on a stage: what is asked and what is told, without a database.

use super::super::init;
use super::*;
use dbtime_model::{ErrorClass, SqlDialect};

fn loading(dialect: SqlDialect, letters: &str) -> (LoadingScript, Arc<Mutex<Vec<String>>>) {
    let what = PgbenchTables { dialect, ..PgbenchTables::default() };
    let steps = init::init_steps(letters, &what).expect("steps");
    let progress = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&progress);
    let loading = LoadingScript::new(steps, &what, "shop", move |progress| {
        sink.lock().expect("told").push(match progress {
            LoadingProgress::Begins(step) => format!("begin {}", step.name),
            LoadingProgress::Loaded { table, done, total } => {
                format!("{} {done}/{total}", table.name())
            }
            LoadingProgress::Ended(step) => format!("end {}", step.name),
        });
    });
    (loading, progress)
}

/// The beginnings of all statements, and how many bytes of data they have.
fn walk(script: &LoadingScript) -> Vec<(String, usize)> {
    let mut program =
        script.factory_for_thread(0).and_then(|mut factory| factory.program(0)).expect("a program");
    let mut statements = Vec::new();
    let mut note = |step: ScriptProgramStep<'_>| match step {
        ScriptProgramStep::Perform { op: ConnectionOp::Query(sql), .. } => {
            statements.push((sql.chars().take(60).collect(), 0));
            true
        }
        ScriptProgramStep::Perform { op: ConnectionOp::Copy { sql, data }, .. } => {
            statements.push((sql.to_owned(), data.len()));
            true
        }
        step => {
            assert_eq!(step, ScriptProgramStep::Done);
            false
        }
    };
    let mut goes_on = note(program.resume(ScriptEvent::Started));
    while goes_on {
        goes_on = note(program.replied(Ok(&mut ResultSets::default())));
    }
    statements
}

#[test]
fn rows_are_copied_to_postgresql() {
    let (script, progress) = loading(SqlDialect::Postgres, "g");
    let sql = walk(&script);
    let start = ["begin", "truncate table", "copy pgbench_branches", "copy pgbench_tellers"];
    for (expected, (sql, _)) in start.iter().zip(&sql) {
        assert!(sql.starts_with(expected), "{sql}");
    }
    let accounts = sql.iter().filter(|(sql, _)| sql == "copy pgbench_accounts from stdin (freeze)");
    assert_eq!(accounts.clone().count(), 5);
    let bytes: usize = accounts.map(|(_, bytes)| bytes).sum();
    // Numbers from 1 to 100000, each with `\t1\t0\t\n` behind it.
    assert_eq!(bytes, 488_895 + 6 * 100_000);
    assert_eq!(sql.last().map(|(sql, _)| sql.as_str()), Some("commit"));
    let progress = progress.lock().expect("told");
    assert_eq!(progress[..2], ["begin client-side generate", "pgbench_branches 1/1"]);
    assert_eq!(
        progress[progress.len() - 2..],
        ["pgbench_accounts 100000/100000", "end client-side generate"]
    );
}

#[test]
fn others_get_rows_by_insert() {
    let (script, progress) = loading(SqlDialect::Sqlite, "tg");
    let sql = walk(&script);
    let has = |text: &str| sql.iter().filter(|(sql, _)| sql.starts_with(text)).count();
    assert_eq!(has("create table"), 4);
    assert_eq!(has("insert into pgbench_branches(bid,bbalance,filler) values (1,"), 1);
    assert_eq!(has("insert into pgbench_tellers(tid,bid,tbalance,filler) values "), 1);
    assert_eq!(has("insert into pgbench_accounts(aid,bid,abalance,filler)"), 25);
    let progress = progress.lock().expect("told");
    assert_eq!(
        progress[..3],
        ["begin create tables", "end create tables", "begin client-side generate"]
    );
    assert_eq!(progress[4..6], ["pgbench_tellers 10/10", "pgbench_accounts 4000/100000"]);
}

/// What ends it where its first statement fails.
fn stop_reason(script: &LoadingScript, failure: &DatabaseFailure) -> String {
    let mut program =
        script.factory_for_thread(0).and_then(|mut factory| factory.program(0)).expect("a program");
    program.resume(ScriptEvent::Started);
    let step = program.replied(Err(failure));
    assert_eq!(step, ScriptProgramStep::Quit { failed: Some(failure.class), all: true });
    script.stop_reason().expect("trouble")
}

#[test]
fn a_failure_ends_it_and_names_the_statement() {
    let (script, _) = loading(SqlDialect::Postgres, "d");
    let failure = DatabaseFailure::connection("08006", "it is gone");
    let stop_reason = stop_reason(&script, &failure);
    assert!(
        stop_reason.starts_with("query failed: it is gone\ndetail: Query was: drop table"),
        "{stop_reason}"
    );
}

#[test]
fn a_name_that_the_target_has_stays_in_a_failure() {
    let (script, _) = loading(SqlDialect::Mysql, "d");
    let failure = DatabaseFailure {
        class: ErrorClass::Statement,
        ..DatabaseFailure::connection("1146", "Table 'shop.hush' doesn't exist")
    };
    let stop_reason = stop_reason(&script, &failure);
    let told = "query failed: Table 'shop.?' doesn't exist\ndetail: ";
    assert!(stop_reason.starts_with(told), "{stop_reason}");
}
