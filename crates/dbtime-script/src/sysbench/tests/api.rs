//! Our own scripts, which check by themselves what they get.

use super::super::declared_options;
use super::super::options::{OptionType, OptionValue};
use super::super::stats::SysbenchCounter;
use super::*;
use dbtime_model::SqlDialect;

fn set(settings: &mut SysbenchSettings, name: &str, value: OptionValue) {
    settings.options.values.insert(name.to_owned(), value);
}

fn text(value: &str) -> OptionValue {
    OptionValue::Text(value.to_owned())
}

#[test]
fn sql_works_on_every_database() {
    for driver in [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite] {
        let mut settings = own("api_sql", driver);
        set(&mut settings, "multiple", OptionValue::Bool(driver == SqlDialect::Mysql));
        let stage = Stage::new(settings);
        let client = stage.run(2);
        let database = &client.database;
        let (insert, third) = match driver {
            SqlDialect::Postgres => {
                ("execute INSERT INTO dbtime_api VALUES ($1, $2)", "$1, $2, $3, $4, $5")
            }
            _ => ("execute INSERT INTO dbtime_api VALUES (?, ?)", "?, ?, ?, ?, ?"),
        };
        let inserted = |values: &str| database.count(&format!("{insert} {values}"));
        assert_eq!(inserted("[4, NULL]") + inserted("[5, 17]"), 2);
        assert_eq!(inserted("[9007199254740993, 1]"), 1);
        let texts = format!("execute INSERT INTO dbtime_texts VALUES ({third}) ['longe', '");
        let line = database.log.iter().find(|line| line.starts_with(&texts)).expect("it was sent");
        assert!(line.ends_with("', 2.0, -1, NULL]"), "{line}");
        // Of PostgreSQL sysbench makes no connection anew.
        let connected = if driver == SqlDialect::Postgres { 3 } else { 4 };
        assert_eq!(database.count("connect"), connected);
    }
}

#[test]
fn random_numbers_and_histograms_work() {
    let stage = Stage::own("api_rand", SqlDialect::Mysql);
    stage.run(1);
    assert!(stage.printed().contains("5.456 |****************************************"));
}

#[test]
fn the_environment_is_that_of_sysbench_and_each_client_has_its_own() {
    let mut settings = own("api_environment", SqlDialect::Mysql);
    settings.threads = 2;
    let folder = format!("{}/tests/lua", env!("CARGO_MANIFEST_DIR"));
    set(&mut settings, "folder", text(&folder));
    set(&mut settings, "flag", OptionValue::Bool(true));
    set(&mut settings, "number", OptionValue::Number(1.5));
    let list = ["x", "y"].map(str::to_owned).to_vec();
    set(&mut settings, "list", OptionValue::List(list));
    set(&mut settings, "foreign", text("3"));
    settings.options.are_globals = true;
    let stage = Stage::new(settings);
    let mut clients = stage.clients(2);
    for client in &mut clients {
        stage.expect(Some(Rest::Done), client.phase(ProgramPhase::Open));
    }
    for _ in 0..2 {
        for client in &mut clients {
            let rest = client.event();
            stage.expect(Some(Rest::Done), Some(rest));
        }
    }
    let micros = |micros: u64| Nanos(micros * 1000);
    assert_eq!(clients[0].slept[..4], [10, 20, 30, 500_000].map(micros));
    assert!(stage.printed().starts_with("event\t1\t0\nand 5\nevent\t1\t1\nand 5\nevent\t2\t0\n"));
    assert!(stage.printed().contains("  --bytes=SIZE       how much [1024]\n"));
    assert!(stage.printed().contains("  --ready[=on|off]   whether [on]\n"));
    let counted =
        [SysbenchCounter::Error, SysbenchCounter::Read].map(|counter| stage.totals().get(counter));
    assert_eq!(counted, [2, 2]);
}

#[test]
fn a_script_may_have_its_own_loop() {
    for stops in [true, false] {
        let mut settings = own("thread_run", SqlDialect::Mysql);
        set(&mut settings, "stops", OptionValue::Bool(stops));
        let stage = Stage::new(settings.clone());
        let client = stage.run(3);
        assert_eq!(client.slept, [1000, 2000, 3000].map(Nanos));
        assert_eq!(stage.printed(), "rounds\t3\n");
        set(&mut settings, "most", OptionValue::Number(2.0));
        let stage = Stage::new(settings);
        let mut client = stage.client();
        assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
        assert_eq!(client.event(), Rest::Done);
        let second = client.event();
        let over = Rest::Quit { failed: None, all: false };
        let rest = if stops { client.event() } else { second };
        assert_eq!((rest, client.phase(ProgramPhase::Close)), (over, Some(Rest::Done)));
        assert_eq!(stage.printed(), "rounds\t2\n");
    }
}

#[test]
fn the_globals_of_old_scripts_work() {
    let mut settings = own("legacy", SqlDialect::Mysql);
    for (name, value) in
        [("oltp_size", "7"), ("alone", ""), ("mysql_table_engine", "myisam"), ("help", "")]
    {
        set(&mut settings, name, text(value));
    }
    set(&mut settings, "db_driver", text("mysql"));
    set(&mut settings, "threads", OptionValue::Number(2.0));
    settings.options.are_globals = true;
    let stage = Stage::new(settings);
    let database = stage.run(2).database;
    assert_eq!(database.count("connect"), 1);
    assert_eq!(database.count("query INSERT INTO t VALUES(1)"), 2);
    let update = "execute UPDATE t SET c = ? WHERE d = ?";
    assert_eq!(database.count(&format!("{update} [-3, NULL]")), 2);
    assert_eq!(database.count(&format!("{update} [5, 'y']")), 2);
    assert!(stage.printed().contains("ALERT: attempt to call bulk_insert_next() before"));
}

#[test]
fn options_are_declared_with_their_types() {
    let path = own("reports", SqlDialect::Mysql).path;
    let declared =
        declared_options(&path, Some("run"), CompatMode::V1_1, ScriptOutput::new(|_| {}));
    let declared = declared.expect("it is fine");
    assert_eq!(declared.options, None);
    assert_eq!(declared.functions, ["init", "event"]);
    let path = own("options", SqlDialect::Mysql).path;
    let declared =
        declared_options(&path, Some("run"), CompatMode::V1_1, ScriptOutput::new(|_| {}));
    let options = declared.expect("it is fine").options.expect("there are some");
    let kinds: Vec<_> = options.iter().map(|o| (o.name.as_str(), o.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("bytes", OptionType::Size),
            ("file", OptionType::File),
            ("names", OptionType::List),
            ("plain", OptionType::Text),
            ("ready", OptionType::Bool),
            ("size", OptionType::Double),
            ("whole", OptionType::Int),
        ]
    );
    assert_eq!(options[2].default, OptionValue::List(vec!["a".to_owned(), "b".to_owned()]));
    assert!(options[6].has_validate && options[3].default == OptionValue::None);
}

#[test]
fn commands_are_run_by_name() {
    let quit = |failed| Rest::Quit { failed, all: failed.is_some() };
    for (name, rest, stop_reason) in [
        ("say", quit(None), ""),
        ("help", quit(None), ""),
        (
            "refuse",
            quit(Some(ErrorClass::Other)),
            "FATAL: the command 'refuse' said that it failed",
        ),
        ("fail", quit(Some(ErrorClass::Other)), "FATAL: `sysbench.cmdline.call_command' function"),
    ] {
        let settings =
            SysbenchSettings { command: command(name, true), ..own("commands", SqlDialect::Mysql) };
        let stage = Stage::new(settings);
        let mut client = stage.client();
        assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
        assert_eq!(client.event(), rest, "{name}");
        assert!(stage.stop_reason().contains(stop_reason), "{}", stage.stop_reason());
    }
}

#[test]
fn statements_without_rows_give_what_the_version_gives() {
    for compat in [CompatMode::V1_0, CompatMode::V1_1] {
        Stage::new(SysbenchSettings { compat, ..own("results", SqlDialect::Mysql) }).run(1);
    }
}

#[test]
fn a_statement_that_a_script_forgets_is_closed_before_the_next_is_prepared() {
    let client = Stage::own("forgotten", SqlDialect::Mysql).run(5);
    let log = &client.database;
    // Two of thread_init, and one each event; the result still holds the last but one.
    assert_eq!((log.count("prepare"), log.count("close")), (7, 1 + 3), "{:#?}", log.log);
    assert_eq!(log.count("execute"), 10);
}

#[test]
fn one_state_holds_thousands_of_clients() {
    let stage = Stage::own("events", SqlDialect::Mysql);
    let mut clients = stage.clients(9000);
    for client in &mut clients {
        assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    }
    for client in clients.iter_mut().rev() {
        assert_eq!(client.event(), Rest::Done);
    }
    clients.truncate(1);
    assert_eq!(clients[0].event(), Rest::Done);
}
