//! The scripts that come with sysbench. They are not ours, so they are only run where they are
//! installed.

use super::super::declared_options;
use super::super::options::{OptionType, OptionValue};
use super::*;
use dbtime_model::SqlDialect;
use std::path::Path;

fn is_installed() -> bool {
    Path::new("/usr/share/sysbench/oltp_common.lua").is_file()
}

fn settings(name: &str, driver: SqlDialect) -> SysbenchSettings {
    let mut settings = SysbenchSettings::new(name, driver);
    let declared = declared_options(name, Some("run"), CompatMode::V1_0, ScriptOutput::new(|_| {}))
        .unwrap_or_else(|error| panic!("{error}"));
    let values = &mut settings.options.values;
    for option in declared.options.into_iter().flatten() {
        values.insert(option.name, option.default);
    }
    settings
}

fn counts(stage: &Stage) -> [u64; 3] {
    let totals = stage.totals();
    [totals.reads, totals.writes, totals.other]
}

#[test]
fn read_write_has_twenty_statements_an_event() {
    if !is_installed() {
        return;
    }
    for driver in [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite] {
        let stage = Stage::new(settings("oltp_read_write", driver));
        let client = stage.run(10);
        assert_eq!(counts(&stage), [140, 40, 20]);
        let database = &client.database;
        assert_eq!((database.count("prepare"), database.count("close")), (11, 11));
        assert_eq!(database.log.last().map(String::as_str), Some("disconnect"));
        assert_eq!(stage.script.statements().len(), 11);
    }
}

#[test]
fn without_prepared_statements_the_values_are_in_the_text() {
    if !is_installed() {
        return;
    }
    let mut settings = settings("oltp_read_write", SqlDialect::Mysql);
    let mode = OptionValue::Text("disable".to_owned());
    settings.options.values.insert("db_ps_mode".to_owned(), mode);
    let stage = Stage::new(settings);
    let client = stage.run(1);
    assert_eq!(counts(&stage), [14, 4, 2]);
    assert_eq!(client.database.count("prepare"), 0);
    assert_eq!(client.database.count("query SELECT c FROM sbtest1 WHERE id="), 10);
    assert!(client.database.log.iter().all(|line| !line.contains('?')));
}

#[test]
fn every_script_runs() {
    if !is_installed() {
        return;
    }
    for (name, expected) in [
        ("oltp_read_only", [14, 0, 2]),
        ("oltp_write_only", [0, 4, 2]),
        ("oltp_point_select", [1, 0, 0]),
        ("oltp_update_index", [0, 1, 0]),
        ("oltp_update_non_index", [0, 1, 0]),
        ("oltp_insert", [0, 1, 0]),
        ("oltp_delete", [0, 1, 0]),
        ("select_random_points", [1, 0, 0]),
        ("select_random_ranges", [1, 0, 0]),
    ] {
        let stage = Stage::new(settings(name, SqlDialect::Mysql));
        stage.run(1);
        assert_eq!(counts(&stage), expected, "{name}");
    }
}

#[test]
fn bulk_inserts_are_sent_when_they_are_full() {
    if !is_installed() {
        return;
    }
    let stage = Stage::new(settings("bulk_insert", SqlDialect::Mysql));
    let client = stage.run(100_000);
    // Some 13 bytes a row: two full statements and the rest.
    assert_eq!(client.database.count("query INSERT INTO sbtest1 VALUES(1,1),(2,2)"), 1);
    assert_eq!(client.database.count("query INSERT INTO sbtest1 VALUES"), 3);
    assert!(client.database.log.iter().all(|line| line.len() <= 512 * 1024 + 10));
    assert_eq!(stage.script.statements().len(), 1);
}

#[test]
fn commands_run_once_and_quit() {
    if !is_installed() {
        return;
    }
    let quit = Rest::Quit { failed: None, all: false };
    for (name, parallel) in [("prepare", true), ("cleanup", false)] {
        let mut settings = settings("oltp_read_write", SqlDialect::Sqlite);
        settings.command = command(name, parallel);
        let stage = Stage::new(settings);
        let mut client = stage.client();
        stage.expect(Some(Rest::Done), client.phase(ProgramPhase::Open));
        let rest = client.event();
        stage.expect(Some(quit), Some(rest));
        stage.expect(Some(Rest::Done), client.phase(ProgramPhase::Close));
        let word = if name == "prepare" { "query CREATE INDEX k_1" } else { "query DROP TABLE" };
        assert_eq!(client.database.count(word), 1);
        assert!(stage.printed().contains("table 'sbtest1'..."));
        assert!(client.database.log.iter().all(|line| !line.contains("AUTO_INCREMENT")));
    }
}

#[test]
fn what_a_script_declares_is_known_before_it_runs() {
    if !is_installed() {
        return;
    }
    let declared =
        |name| declared_options(name, Some("run"), CompatMode::V1_0, ScriptOutput::new(|_| {}));
    let points = declared("select_random_points").expect("it is fine");
    let options = points.options.expect("it declares some");
    let named = |name: &str| options.iter().find(|option| option.name == name).cloned();
    let size = named("table_size").expect("it is declared");
    assert_eq!((size.kind, size.default), (OptionType::Double, OptionValue::Number(10000.0)));
    assert!(named("random_points").is_some_and(|option| !option.has_validate));
    let commands: Vec<_> =
        points.commands.iter().map(|c| (c.name.as_str(), c.is_parallel)).collect();
    assert_eq!(commands, [("prepare", true), ("prewarm", true)]);
    assert!(points.functions.contains(&"event") && !points.functions.contains(&"thread_run"));
    let without =
        declared_options("oltp_delete", None, CompatMode::V1_0, ScriptOutput::new(|_| {}));
    assert!(without.is_err_and(|error| error.to_string().contains("Command is required")));
    assert!(declared("no_such_script").is_err());
}

#[test]
fn clients_draw_keys_of_their_own() {
    if !is_installed() {
        return;
    }
    let stage = Stage::new(settings("oltp_point_select", SqlDialect::Mysql));
    let mut clients = stage.clients(2);
    let mut logs = Vec::new();
    for client in &mut clients {
        stage.expect(Some(Rest::Done), client.phase(ProgramPhase::Open));
    }
    for client in &mut clients {
        (0..20).for_each(|_| assert_eq!(client.event(), Rest::Done));
        logs.push(client.database.log.clone());
    }
    assert_ne!(logs[0], logs[1]);
    let again = Stage::new(settings("oltp_point_select", SqlDialect::Mysql));
    assert_eq!(again.run(20).database.log[..logs[0].len()], logs[0]);
}
