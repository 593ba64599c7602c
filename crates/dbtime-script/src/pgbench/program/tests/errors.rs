//! Errors: which are tried again, which abort a client, and what is said of them.

use super::*;
use crate::pgbench::PgbenchScripts;
use crate::pgbench::builtin::BuiltinScript;
use crate::pgbench::dialect::QueryMode;
use dbtime_load::failure::NO_COPY_DATA;
use dbtime_model::{Nanos, SqlDialect};

/// A transaction whose second statement can fail.
const TRANSACTION: &str = "\\set r random(1, 1000000)\nBEGIN;\nUPDATE t SET a = :r;\nEND;";

/// Fails the `UPDATE` so many times.
fn failing(
    mut times: u32,
    failure: DatabaseFailure,
) -> impl FnMut(&str) -> Result<ResultSets, DatabaseFailure> {
    move |step: &str| {
        if times > 0 && step.contains("UPDATE") {
            times -= 1;
            return Err(failure.clone());
        }
        well(step)
    }
}

fn conflict() -> DatabaseFailure {
    failure(ErrorClass::Conflict, "40001", "could not serialize access")
}

/// The only error that was said, or the only kind of message.
fn errors(stage: &Stage) -> Vec<String> {
    let text = |notice| match notice {
        PgbenchNotice::Error(text) => Some(text),
        PgbenchNotice::Info(_) | PgbenchNotice::Line(_) => None,
    };
    stage.said().into_iter().filter_map(text).collect()
}

#[test]
fn a_conflict_is_rolled_back_and_tried_again_with_the_same_numbers() {
    let settings =
        PgbenchSettings { max_tries: 3, verbose_errors: true, ..PgbenchSettings::default() };
    let mut stage = Stage::new(TRANSACTION, settings);
    let log = stage.play(&mut failing(2, conflict()));
    let (begin, update) = (log[0].clone(), log[1].clone());
    let rollback = "query ROLLBACK".to_owned();
    let once = [begin.clone(), update.clone(), rollback];
    let last = [begin, update, "query END;".to_owned(), "done".to_owned()];
    assert_eq!(log, [&once[..], &once[..], &last[..]].concat());
    assert_eq!(stage.program.as_ref().map(|program| program.retries()), Some(2));
    let said: Vec<_> = stage.said();
    let error = "client 0 got an error in command 2 (SQL) of script 0; \
                 ERROR:  could not serialize access";
    assert_eq!(said[0], PgbenchNotice::Info(error.to_owned()));
    let again = "client 0 repeats the transaction after the error (try 1/3)";
    assert_eq!(said[1], PgbenchNotice::Info(again.to_owned()));
    stage.program = None;
    let statistics = stage.script.statistics();
    assert_eq!(statistics.scripts[0].commands[2].retries, 2);
    assert_eq!((statistics.total().retried, statistics.total().retries), (1, 2));
}

#[test]
fn tries_and_time_run_out() {
    let mut stage =
        Stage::new(TRANSACTION, PgbenchSettings { max_tries: 2, ..PgbenchSettings::default() });
    let log = stage.play(&mut failing(9, conflict()));
    assert_eq!(log.len(), 7);
    assert_eq!(log[5..], ["query ROLLBACK", "failed conflict"]);
    stage.program = None;
    let statistics = stage.script.statistics();
    assert_eq!(statistics.total().serialization_failures, 1);
    let command = statistics.scripts[0].commands[2];
    assert_eq!((command.retries, command.failures), (1, 1));
    let late = PgbenchSettings {
        max_tries: 0,
        latency_limit: Some(Nanos(1)),
        ..PgbenchSettings::default()
    };
    let log = Stage::new(TRANSACTION, late).play(&mut failing(9, conflict()));
    assert_eq!(log.len(), 4, "it is late after the first try: {log:?}");
}

#[test]
fn an_error_is_told_as_the_databases_own_client_shows_it() {
    let report = "ERROR:  division by zero\nCONTEXT:  unnamed portal with parameters: $1 = '1'";
    let zero = failure(ErrorClass::Statement, "22012", "division by zero");
    let mut stage = Stage::new(TRANSACTION, PgbenchSettings::default());
    stage.play(&mut failing(1, DatabaseFailure { report: report.into(), ..zero }));
    let place = "client 0 script 0 aborted in command 2 query 0";
    assert_eq!(errors(&stage), [format!("{place}: {report}")]);
}

#[test]
fn passwords_are_repeated_by_no_message() {
    let text = "ALTER ROLE r PASSWORD 'hush' FOO;";
    let piped = format!("\\startpipeline\n{text}\n\\endpipeline");
    let quoting = |words: &str| DatabaseFailure {
        report: format!("ERROR:  {words}").into(),
        position: 30,
        ..failure(ErrorClass::Statement, "42601", words)
    };
    for (text, mode) in [
        (text, QueryMode::Simple),
        (text, QueryMode::Extended),
        (text, QueryMode::Prepared),
        (piped.as_str(), QueryMode::Extended),
        (piped.as_str(), QueryMode::Prepared),
    ] {
        for words in ["syntax error at or near \"hush\"", "syntax error"] {
            let settings = PgbenchSettings { mode, traces: true, ..PgbenchSettings::default() };
            let mut stage = Stage::new(text, settings);
            stage.play(&mut |_: &str| Err(quoting(words)));
            let said = format!("{:?}", stage.said());
            assert!(said.contains("ERROR:  syntax error") && !said.contains("hush"), "{said}");
        }
    }
}

#[test]
fn copy_is_refused_in_the_originals_words() {
    let message = format!("COPY from stdin failed: {NO_COPY_DATA}");
    let mut stage = Stage::new(TRANSACTION, PgbenchSettings::default());
    stage.play(&mut failing(1, failure(ErrorClass::Timeout, "57014", &message)));
    assert_eq!(errors(&stage), ["COPY is not supported in pgbench, aborting"]);
}

#[test]
fn too_many_parameters_are_told_before_anything_is_asked() {
    let mut scripts = PgbenchScripts::default();
    let sql = format!("SELECT{};", " :a".repeat(256));
    scripts.add("e.sql", &sql, 1).expect("a script");
    assert_eq!(scripts.check(QueryMode::Simple, SqlDialect::Postgres), Ok(()));
    let error = scripts.check(QueryMode::Prepared, SqlDialect::Postgres).unwrap_err();
    assert!(error.starts_with("statement has too many arguments (maximum is 255)"), "{error}");
}

#[test]
fn variables_outlive_a_retry() {
    let text = "\\if :n > 0\nSELECT :n;\n\\endif\n\\set n :n + 1\nUPDATE t;";
    let variables = vec![("n".to_owned(), "0".to_owned())];
    let settings = PgbenchSettings { max_tries: 2, variables, ..PgbenchSettings::default() };
    let log = Stage::new(text, settings).play(&mut failing(1, conflict()));
    assert_eq!(log, ["query UPDATE t;", "query SELECT 1;", "query UPDATE t;", "done"]);
}

#[test]
fn each_database_has_its_own_conflicts() {
    let tried = |dialect, failure: DatabaseFailure| {
        let settings = PgbenchSettings { max_tries: 2, dialect, ..PgbenchSettings::default() };
        let mut stage = Stage::new(TRANSACTION, settings);
        let log = stage.play(&mut failing(2, failure));
        stage.program = None;
        let total = stage.script.statistics().total();
        (log.len(), total.deadlock_failures, total.serialization_failures)
    };
    let deadlock = failure(ErrorClass::Conflict, "40P01", "deadlock detected");
    assert_eq!(tried(SqlDialect::Postgres, deadlock), (7, 1, 0));
    let undone = DatabaseFailure {
        code: "1213".to_owned(),
        state: "40001".to_owned(),
        undone: true,
        ..failure(ErrorClass::Conflict, "", "Deadlock found")
    };
    assert_eq!(tried(SqlDialect::Mysql, undone), (5, 1, 0), "it needs no rollback");
    let busy = failure(ErrorClass::Busy, "SQLITE_BUSY", "database is locked");
    assert_eq!(tried(SqlDialect::Sqlite, busy.clone()), (7, 0, 1));
    assert_eq!(tried(SqlDialect::Postgres, busy), (3, 0, 0), "the client is aborted");
}

#[test]
fn a_failed_commit_is_over_but_on_sqlite() {
    let mut fails = |step: &str| match step {
        "query END;" => Err(conflict()),
        step => well(step),
    };
    let log = |dialect, fails: &mut Answer<'_>| {
        Stage::new(TRANSACTION, PgbenchSettings { dialect, ..PgbenchSettings::default() })
            .play(fails)
    };
    assert_eq!(log(SqlDialect::Postgres, &mut fails)[3..], ["failed conflict"]);
    let expected = ["query ROLLBACK", "failed conflict"];
    assert_eq!(log(SqlDialect::Sqlite, &mut fails)[3..], expected);
}

#[test]
fn a_name_that_the_target_has_stays_in_a_message() {
    let (dialect, target) = (SqlDialect::Mysql, "shop".to_owned());
    let settings = PgbenchSettings { dialect, target, ..PgbenchSettings::default() };
    let mut stage = Stage::new(TRANSACTION, settings);
    let missing = failure(ErrorClass::Statement, "1146", "Table 'shop.hush' doesn't exist");
    stage.play(&mut failing(1, missing));
    let told = errors(&stage);
    assert!(told.concat().ends_with("Table 'shop.?' doesn't exist"), "{told:?}");
}

#[test]
fn any_other_error_aborts_the_client() {
    let mut stage =
        Stage::new(TRANSACTION, PgbenchSettings { max_tries: 5, ..PgbenchSettings::default() });
    let wrong = failure(ErrorClass::Statement, "22012", "division by zero");
    let log = stage.play(&mut failing(1, wrong));
    assert_eq!(log[2..], ["quit statement"]);
    let error = "client 0 script 0 aborted in command 2 query 0: ERROR:  division by zero";
    assert_eq!(errors(&stage), [error]);
    assert_eq!(stage.script.stop_reason(), None);
    assert_eq!(stage.script.aborted(), [error]);
    assert_eq!(stage.script.aborted(), [error]);
    let mut stage = Stage::new(TRANSACTION, PgbenchSettings::default());
    let log = stage.play(&mut failing(1, DatabaseFailure::connection("EPIPE", "broken pipe")));
    assert_eq!(log[2..], ["quit connection"]);
    let error = "client 0 aborted in command 2 (SQL) of script 0; \
                 perhaps the backend died while processing: broken pipe";
    assert_eq!(errors(&stage), [error]);
}

#[test]
fn a_failed_pipeline_is_rolled_back_and_filled_anew() {
    let text = "\\startpipeline\nBEGIN;\nUPDATE t;\nEND;\n\\endpipeline";
    let settings =
        PgbenchSettings { mode: QueryMode::Extended, max_tries: 2, ..PgbenchSettings::default() };
    let log = Stage::new(text, settings).play(&mut failing(1, conflict()));
    let pipeline = "pipeline with BEGIN;|with UPDATE t;|with END;";
    assert_eq!(log, [pipeline, "query ROLLBACK", pipeline, "done"]);
}

/// Scripts that abort their client, and what is said then.
const ABORTS: &[(&str, &[&str])] = &[
    (
        "\\set a 1/0",
        &[
            "division by zero",
            "client 0 aborted in command 0 (set) of script 0; evaluation of meta-command failed",
        ],
    ),
    (
        "\\if :nope\n\\endif",
        &[
            "undefined variable \"nope\"",
            "client 0 aborted in command 0 (if) of script 0; evaluation of meta-command failed",
        ],
    ),
    (
        "\\set 1a 2",
        &[
            "set: invalid variable name: \"1a\"",
            "client 0 aborted in command 0 (set) of script 0; assignment of meta-command failed",
        ],
    ),
    (
        "\\sleep :zz",
        &[
            "sleep: undefined variable \"zz\"",
            "client 0 aborted in command 0 (sleep) of script 0; execution of meta-command failed",
        ],
    ),
    (
        "\\set z true\n\\sleep :z",
        &[
            "sleep: invalid sleep time \"true\" for variable \"z\"",
            "client 0 aborted in command 1 (sleep) of script 0; execution of meta-command failed",
        ],
    ),
    (
        "\\startpipeline\n",
        &["client 0 aborted in command 0 (startpipeline) of script 0; \
           cannot use pipeline mode with the simple query protocol"],
    ),
    (
        "\\endpipeline\n",
        &["client 0 aborted in command 0 (endpipeline) of script 0; not in pipeline mode"],
    ),
    ("UPDATE t \\gset", &["client 0 script 0 command 0 query 0: expected one row, got 0"]),
    (
        "SELECT 1 AS 1a \\gset",
        &[
            "gset: invalid variable name: \"1a\"",
            "client 0 script 0 command 0 query 0: error storing into variable 1a",
        ],
    ),
];

#[test]
fn wrong_commands_abort_the_client_in_the_words_of_pgbench() {
    for (text, expected) in ABORTS {
        let mut stage = Stage::new(text, PgbenchSettings::default());
        let log = stage.play(&mut well);
        assert_eq!(log.last().map(String::as_str), Some("quit other"), "{text}");
        assert_eq!(&errors(&stage), expected, "{text}");
    }
}

#[test]
fn nothing_may_stay_open_behind_a_script() {
    let mut stage = Stage::new("BEGIN;", PgbenchSettings::default());
    assert_eq!(stage.play(&mut well), ["query BEGIN;", "quit none"]);
    let error = "client 0 aborted: end of script reached without completing the last transaction";
    assert_eq!(errors(&stage), [error]);
    let extended = || PgbenchSettings { mode: QueryMode::Extended, ..PgbenchSettings::default() };
    let mut stage = Stage::new("\\startpipeline\nSELECT 1;", extended());
    assert_eq!(stage.play(&mut well), ["quit other"]);
    assert_eq!(errors(&stage), ["client 0 aborted: end of script reached with pipeline open"]);
    for (text, flaw) in [
        (
            "\\startpipeline\n\\startpipeline\n",
            "1 (startpipeline) of script 0; already in pipeline mode",
        ),
        (
            "\\startpipeline\nSELECT 1 \\gset\n",
            "1 (gset) of script 0; \\gset is not allowed in pipeline mode",
        ),
    ] {
        let mut stage = Stage::new(text, extended());
        stage.play(&mut well);
        assert_eq!(errors(&stage), [format!("client 0 aborted in command {flaw}")]);
    }
}

#[test]
fn settings_have_to_go_together() {
    let of = |settings: PgbenchSettings| PgbenchScript::new(settings).expect_err("refused");
    assert_eq!(of(PgbenchSettings::default()), "no script is given, use -f or -b");
    let with = |weight| {
        let mut settings = PgbenchSettings::default();
        settings
            .scripts
            .add_builtin(BuiltinScript::SELECT_ONLY, weight, SqlDialect::Sqlite)
            .expect("a script");
        settings
    };
    assert_eq!(of(with(0)), "total script weight must not be zero");
    let mode = QueryMode::Extended;
    let error = of(PgbenchSettings { mode, dialect: SqlDialect::Mysql, ..with(1) });
    assert!(error.ends_with("use -M simple or -M prepared"), "{error}");
    let variables = vec![("1a".to_owned(), "2".to_owned())];
    let error = of(PgbenchSettings { variables, ..with(1) });
    assert_eq!(error, "option: invalid variable name: \"1a\"");
    let script = PgbenchScript::new(PgbenchSettings { threads: 8, ..with(1) }).expect("a script");
    assert_eq!(script.settings().threads, 1);
    let missing =
        script.factory_for_thread(0).and_then(|mut factory| factory.program(1).map(|_| ()));
    assert_eq!(missing, Err("there is no client 1, only 1 of them".to_owned()));
}
