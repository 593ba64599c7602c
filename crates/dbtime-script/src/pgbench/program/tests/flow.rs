//! The ways through a script that a recorded run does not show.

use super::*;
use crate::pgbench::dialect::QueryMode;
use dbtime_model::SqlDialect;
use std::time::{Duration, Instant};

#[test]
fn values_are_filled_in_or_sent_along() {
    let text = "\\set a 1.5\nSELECT :a, :b, :client_id;";
    let of = |mode, dialect| PgbenchSettings { mode, dialect, ..PgbenchSettings::default() };
    let log = Stage::new(text, PgbenchSettings::default()).play(&mut well);
    assert_eq!(log, ["query SELECT 1.5, :b, 0;", "done"]);
    let log = Stage::new(text, of(QueryMode::Extended, SqlDialect::Postgres)).play(&mut well);
    assert_eq!(log, ["with SELECT $1, $2, $3;\t1.5\t\\N\t0", "done"]);
    let mut stage = Stage::new(text, of(QueryMode::Prepared, SqlDialect::Mysql));
    let execute = "execute 0\t1.5\t\\N\t0";
    assert_eq!(stage.play(&mut well), ["prepare 0 SELECT ?, ?, ?", execute, "done"]);
    assert_eq!(stage.play(&mut well), [execute, "done"], "prepared once");
}

#[test]
fn a_record_says_how_statements_go_where_only_a_script_sends_them_so() {
    let protocol = |mode| {
        let settings = PgbenchSettings { mode, ..PgbenchSettings::default() };
        Stage::new("SELECT 1;", settings).script.protocol()
    };
    assert_eq!(protocol(QueryMode::Extended), Some("text with parameters"));
    assert_eq!([QueryMode::Simple, QueryMode::Prepared].map(protocol), [None; 2]);
}

#[test]
fn rows_are_kept_where_a_script_wants_them() {
    let text = "SELECT 1 AS a \\gset p_\nSELECT 2 AS a;\nSELECT :p_a;";
    let settings = PgbenchSettings { mode: QueryMode::Prepared, ..PgbenchSettings::default() };
    let mut answer =
        |step: &str| Ok(rows(if step.starts_with("executekeep") { "SELECT 9 AS a" } else { "" }));
    let log = Stage::new(text, settings).play(&mut answer);
    assert!(log.contains(&"executekeep 0".to_owned()), "{log:?}");
    assert!(log.contains(&"execute 1".to_owned()), "{log:?}");
    assert_eq!(log[log.len() - 2..], ["execute 2\t9", "done"]);
}

#[test]
fn a_row_without_columns_is_one_row() {
    let mut answer = |_: &str| {
        let mut results = ResultSets::default();
        results.begin_set();
        results.end_row();
        Ok(results)
    };
    let log = Stage::new("SELECT \\gset\nSELECT 1;", PgbenchSettings::default()).play(&mut answer);
    assert_eq!(log.last().map(String::as_str), Some("done"), "{log:?}");
    let mut stage = Stage::new("DROP TABLE t \\gset", PgbenchSettings::default());
    assert_eq!(stage.play(&mut well).last().map(String::as_str), Some("quit other"));
}

#[test]
fn aset_skips_what_is_empty() {
    let text = "SELECT 1 AS a \\; UPDATE t \\; SELECT 2 AS b \\aset\nSELECT :a, :b;";
    let log = Stage::new(text, PgbenchSettings::default()).play(&mut well);
    assert_eq!(log[1..], ["query SELECT 1, 2;", "done"]);
}

#[test]
fn pauses_are_as_long_as_they_say() {
    let text = "\\set n 3\n\\sleep :n ms\n\\sleep -1\n\\sleep 20us\nSELECT 1;";
    let log = Stage::new(text, PgbenchSettings::default()).play(&mut well);
    assert_eq!(log, ["sleep 3ms", "sleep 20us", "query SELECT 1;", "done"]);
}

#[test]
fn a_script_without_sql_lets_others_have_their_turn() {
    let mut stage = Stage::new("\\set a 1\n", PgbenchSettings::default());
    let logs: Vec<_> = (0..3000).flat_map(|_| stage.play(&mut well)).collect();
    assert_eq!(logs.iter().filter(|step| *step == "sleep 0s").count(), 2);
}

#[test]
fn pipelines_are_prepared_before_they_start() {
    let text = "\\startpipeline\nBEGIN;\nSELECT :client_id;\n\\syncpipeline\nEND;\n\\endpipeline\n\
                SELECT 1;";
    let settings = |mode| PgbenchSettings { mode, ..PgbenchSettings::default() };
    let mut stage = Stage::new(text, settings(QueryMode::Prepared));
    let pipeline = "pipeline execute 0|execute 1\t0|sync|execute 2";
    let log = stage.play(&mut well);
    let prepares = ["prepare 0 BEGIN;", "prepare 1 SELECT $1;", "prepare 2 END;"];
    assert_eq!(log[..3], prepares);
    assert_eq!(log[3..], [pipeline, "prepare 3 SELECT 1;", "execute 3", "done"]);
    assert_eq!(stage.play(&mut well), [pipeline, "execute 3", "done"]);
    let log = Stage::new(text, settings(QueryMode::Extended)).play(&mut well);
    assert_eq!(log[0], "pipeline with BEGIN;|with SELECT $1;\t0|sync|with END;");
    let names: Vec<_> = stage.script.statements().into_iter().map(|s| s.kind).collect();
    let last = names.last().map(|kind| kind.text().to_owned());
    assert_eq!(last.as_deref(), Some("SELECT ?;"));
    assert_eq!(stage.script.statement(0, 5).map(|id| id.0), Some(3), "the pipeline");
    assert_eq!(stage.script.statement(0, 0), None);
    let empty = "\\startpipeline\n\\endpipeline\nSELECT 1;";
    let log = Stage::new(empty, settings(QueryMode::Extended)).play(&mut well);
    assert_eq!(log, ["with SELECT 1;", "done"]);
}

#[test]
fn statements_are_named_without_literals_and_passwords() {
    let text = "ALTER ROLE r\n  PASSWORD 'hush';\n\\startpipeline\nSELECT 'hush', :a;\n\
                \\endpipeline\nALTER ROLE r PASSWORD 'hushed';\nALTER ROLE r PASSWORD hush x;";
    for dialect in [SqlDialect::Postgres, SqlDialect::Mysql, SqlDialect::Sqlite] {
        let stage = Stage::new(text, PgbenchSettings { dialect, ..PgbenchSettings::default() });
        let statements = stage.script.statements();
        let names: Vec<_> = statements.iter().map(|statement| statement.name.as_str()).collect();
        let pipeline = "\\startpipeline SELECT ?, :a; \\endpipeline";
        assert_eq!(names[..3], ["ALTER ROLE r PASSWORD ?;", "SELECT ?, :a;", pipeline]);
        assert!(!format!("{statements:?}").contains("hush"), "{statements:?}");
    }
}

#[test]
fn a_client_may_connect_anew_each_time() {
    let settings = PgbenchSettings {
        reconnects: true,
        mode: QueryMode::Prepared,
        ..PgbenchSettings::default()
    };
    let mut stage = Stage::new("SELECT 1;", settings);
    for _ in 0..2 {
        let log = stage.play(&mut well);
        assert_eq!(log, ["connect", "prepare 0 SELECT 1;", "execute 0", "disconnect", "done"]);
    }
    assert!(stage.script.connects());
}

#[test]
fn connecting_is_no_part_of_a_latency() {
    let long = Duration::from_millis(20);
    for (is_paced, least) in [(false, 0.0), (true, 20_000.0)] {
        let settings = PgbenchSettings { reconnects: true, is_paced, ..PgbenchSettings::default() };
        let mut stage = Stage::new("SELECT 1;", settings);
        // All its time but what is no part of it, however long that is: a sleep ends when there is
        // a CPU.
        let (begun, mut no_part) = (Instant::now(), Duration::ZERO);
        stage.play(&mut |line| {
            let begun = Instant::now();
            if line == "connect" || line == "disconnect" {
                std::thread::sleep(long);
            }
            if line == "disconnect" || line == "connect" && !is_paced {
                no_part += begun.elapsed();
            }
            well(line)
        });
        stage.program = None;
        let most = (begun.elapsed() - no_part).as_secs_f64() * 1e6 + 1.0;
        let total = stage.script.statistics().total();
        let latency = total.latency.sum;
        assert!((least..most).contains(&latency), "{is_paced} {latency} {most}");
        assert_eq!(total.completed, 1);
        assert!(total.lag.sum >= least, "{}", total.lag.sum);
    }
}

#[test]
fn programs_are_run_only_where_they_may_be() {
    let text = "\\setshell x echo :client_id 2> /dev/null\n\\shell true\nSELECT :x;";
    let mut stage = Stage::new(text, PgbenchSettings::default());
    assert_eq!(stage.play(&mut well), ["quit other"]);
    let Some(PgbenchNotice::Error(first)) = stage.said().into_iter().next() else {
        panic!("an error")
    };
    assert!(first.contains("--allow-shell"), "{first}");
    let settings = PgbenchSettings { allow_shell: true, ..PgbenchSettings::default() };
    assert_eq!(Stage::new(text, settings).play(&mut well), ["query SELECT 0;", "done"]);
}

#[test]
fn debug_is_shown_to_the_listener() {
    let text = "\\set a debug(true)\n\\set b debug(null)\n\\set c debug(1.5)\nSELECT 1;";
    let mut stage = Stage::new(text, PgbenchSettings::default());
    stage.play(&mut well);
    let shown = ["command=1): boolean true", "command=2): null", "command=3): double 1.5"];
    let shown = shown.map(|line| PgbenchNotice::Line(format!("debug(script=0,{line}")));
    assert_eq!(stage.said(), shown);
}

#[test]
fn what_was_done_is_added_up() {
    let text =
        "\\if false\nSELECT 1;\n\\elif true\nSELECT 2;\n\\else\nSELECT 3;\n\\endif\nSELECT 4;";
    let settings = PgbenchSettings { times_commands: true, ..PgbenchSettings::default() };
    let mut stage = Stage::new(text, settings);
    stage.play(&mut well);
    stage.play(&mut well);
    assert_eq!(stage.script.statistics().total().completed, 0, "the client is not done");
    stage.program = None;
    let statistics = stage.script.statistics();
    let counts: Vec<_> = statistics.scripts[0].commands.iter().map(|c| c.time.count).collect();
    assert_eq!(counts, [2, 0, 2, 2, 2, 0, 0, 2]);
    assert_eq!((statistics.total().completed, statistics.total().latency.mean()), (2, 2000.0));
}
