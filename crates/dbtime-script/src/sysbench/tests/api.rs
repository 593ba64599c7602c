//! Our own scripts, which check by themselves what they get.

use super::super::options::{OptionType, OptionValue};
use super::super::stats::Counter;
use super::super::{declared_options, refused_option};
use super::*;

fn set(settings: &mut Settings, name: &str, value: OptionValue) {
    settings.options.values.insert(name.to_owned(), value);
}

fn text(value: &str) -> OptionValue {
    OptionValue::Text(value.to_owned())
}

#[test]
fn sql_works_on_every_database() {
    for driver in [Driver::Mysql, Driver::Pgsql, Driver::Sqlite] {
        let mut settings = own("api_sql", driver);
        set(&mut settings, "multiple", OptionValue::Bool(driver == Driver::Mysql));
        let stage = Stage::new(settings);
        let client = stage.run(2);
        let database = &client.database;
        let (insert, third) = match driver {
            Driver::Pgsql => {
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
        assert_eq!(database.count("connect"), 4);
    }
}

#[test]
fn random_numbers_and_histograms_work() {
    let stage = Stage::own("api_rand", Driver::Mysql);
    stage.run(1);
    assert!(stage.printed().contains("5.456 |****************************************"));
}

#[test]
fn the_environment_is_that_of_sysbench_and_each_client_has_its_own() {
    let mut settings = own("api_environment", Driver::Mysql);
    settings.threads = 2;
    let folder = format!("{}/tests/lua", env!("CARGO_MANIFEST_DIR"));
    set(&mut settings, "folder", text(&folder));
    set(&mut settings, "flag", OptionValue::Bool(true));
    set(&mut settings, "number", OptionValue::Number(1.5));
    let list = ["x", "y"].map(str::to_owned).to_vec();
    set(&mut settings, "list", OptionValue::List(list));
    settings.options.globals.insert("foreign".to_owned(), "3".to_owned());
    let stage = Stage::new(settings);
    let mut clients = stage.clients(2);
    for client in &mut clients {
        stage.expect(Some(Rest::Done), client.phase(Phase::Open));
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
    let counted = [Counter::Error, Counter::Read].map(|counter| stage.totals().get(counter));
    assert_eq!(counted, [2, 2]);
}

#[test]
fn a_script_may_have_its_own_loop() {
    for stops in [true, false] {
        let mut settings = own("thread_run", Driver::Mysql);
        set(&mut settings, "stops", OptionValue::Bool(stops));
        let stage = Stage::new(settings.clone());
        let client = stage.run(3);
        assert_eq!(client.slept, [1000, 2000, 3000].map(Nanos));
        assert_eq!(stage.printed(), "rounds\t3\n");
        set(&mut settings, "most", OptionValue::Number(2.0));
        let stage = Stage::new(settings);
        let mut client = stage.client();
        assert_eq!(client.phase(Phase::Open), Some(Rest::Done));
        assert_eq!(client.event(), Rest::Done);
        let second = client.event();
        let over = Rest::Quit { failed: None, all: false };
        let rest = if stops { client.event() } else { second };
        assert_eq!((rest, client.phase(Phase::Close)), (over, Some(Rest::Done)));
        assert_eq!(stage.printed(), "rounds\t2\n");
    }
}

#[test]
fn the_globals_of_old_scripts_work() {
    let stage = Stage::own("legacy", Driver::Mysql);
    let client = stage.run(2);
    assert_eq!(client.database.count("query INSERT INTO t VALUES(1)"), 2);
    let counted = [Counter::Read, Counter::Write].map(|counter| stage.totals().get(counter));
    assert_eq!(counted, [2, 4]);
}

const FIGURES: [(&str, f64); 12] = [
    ("time_total", 5.0),
    ("time_interval", 2.0),
    ("threads_running", 16.0),
    ("latency_pct", 0.0125),
    ("events", 10.0),
    ("reads", 20.0),
    ("writes", 4.0),
    ("other", 2.0),
    ("errors", 1.0),
    ("reconnects", 0.0),
    ("queue_length", 0.0),
    ("concurrency", 0.0),
];

#[test]
fn report_hooks_are_called_in_a_state_of_their_own() {
    for (report, wanted) in [
        ("csv", "5,16,5.00,13.00,10.00,2.00,1.00,12.50,0.50,0.00\n"),
        (
            "default",
            "[ 5s ] thds: 16 tps: 5.00 qps: 13.00 (r/w/o: 10.00/2.00/1.00) lat (ms,95%): 12.50 \
             err/s: 0.50 reconn/s: 0.00\n",
        ),
        ("json", "[\n  {\n    \"time\":    5,\n    \"threads\": 16,\n    \"tps\": 5.00,\n"),
    ] {
        let mut settings = Settings { threads: 4, ..own("reports", Driver::Mysql) };
        set(&mut settings, "report", text(report));
        let stage = Stage::new(settings);
        let reporter = stage.script.reporter().expect("it is fine");
        assert_eq!(reporter.intermediate(&FIGURES), Ok(true));
        reporter.finish().expect("it is fine");
        assert!(stage.printed().starts_with(wanted), "{}", stage.printed());
        assert_eq!(stage.printed().ends_with("  }\n]\n"), report == "json");
        assert_eq!(reporter.cumulative(&FIGURES), Ok(true));
        assert!(stage.printed().ends_with("total\t10\t4\n"));
        let too_many = reporter.cumulative(&[("events", 100.0)]);
        assert!(too_many.is_err_and(|error| error.to_string().contains("too many")));
    }
    let reporter = Stage::own("events", Driver::Mysql).script.reporter().expect("it is fine");
    assert_eq!(reporter.intermediate(&FIGURES), Ok(false));
}

#[test]
fn the_json_report_is_a_list_that_grows() {
    let entry = r#"  {
    "time":    5,
    "threads": 16,
    "tps": 5.00,
    "qps": {
      "total": 13.00,
      "reads": 10.00,
      "writes": 2.00,
      "other": 1.00
    },
    "latency": 12.50,
    "errors": 0.50,
    "reconnects": 0.00
  }"#;
    let mut settings = own("reports", Driver::Mysql);
    set(&mut settings, "report", text("json"));
    let stage = Stage::new(settings);
    let reporter = stage.script.reporter().expect("it is fine");
    reporter.finish().expect("it is fine");
    assert_eq!(stage.printed(), "");
    for _ in 0..2 {
        assert_eq!(reporter.intermediate(&FIGURES), Ok(true));
    }
    reporter.finish().expect("it is fine");
    assert_eq!(stage.printed(), format!("[\n{entry},\n{entry}\n]\n"));
}

#[test]
fn options_are_declared_with_their_types() {
    let path = own("reports", Driver::Mysql).path;
    let declared = declared_options(&path, Some("run"), Compat::V1_1, Output::new(|_| {}));
    let declared = declared.expect("it is fine");
    assert_eq!(declared.options, None);
    assert_eq!(declared.functions, ["event"]);
    let path = own("options", Driver::Mysql).path;
    let declared = declared_options(&path, Some("run"), Compat::V1_1, Output::new(|_| {}));
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
    let refused = |given: &[(&str, &str)]| {
        refused_option(&path, Some("run"), Compat::V1_1, given).expect("it is fine")
    };
    assert_eq!(refused(&[("size", "-1"), ("whole", "1")]), None);
    assert_eq!(refused(&[("size", "-1"), ("whole", "0"), ("nope", "")]), Some(1));
}

#[test]
fn commands_are_run_by_name() {
    let quit = |failed| Rest::Quit { failed, all: failed.is_some() };
    for (name, rest, trouble) in [
        ("say", quit(None), ""),
        ("help", quit(None), ""),
        (
            "refuse",
            quit(Some(ErrorClass::Other)),
            "FATAL: the command 'refuse' said that it failed",
        ),
        ("fail", quit(Some(ErrorClass::Other)), "FATAL: `sysbench.cmdline.call_command' function"),
        ("cleanup", quit(Some(ErrorClass::Other)), "does not implement the 'cleanup' command."),
    ] {
        let settings = Settings { command: command(name, true), ..own("commands", Driver::Mysql) };
        let stage = Stage::new(settings);
        let mut client = stage.client();
        assert_eq!(client.phase(Phase::Open), Some(Rest::Done));
        assert_eq!(client.event(), rest, "{name}");
        assert!(stage.trouble().contains(trouble), "{}", stage.trouble());
    }
}

#[test]
fn statements_without_rows_give_what_the_version_gives() {
    for compat in [Compat::V1_0, Compat::V1_1] {
        Stage::new(Settings { compat, ..own("results", Driver::Mysql) }).run(1);
    }
}

#[test]
fn a_statement_that_a_script_forgets_is_closed_before_the_next_is_prepared() {
    let client = Stage::own("forgotten", Driver::Mysql).run(5);
    let log = &client.database;
    // Two of thread_init, and one each event; the result still holds the last but one.
    assert_eq!((log.count("prepare"), log.count("close")), (7, 1 + 3), "{:#?}", log.log);
    assert_eq!(log.count("execute"), 10);
}

#[test]
fn one_state_holds_thousands_of_clients() {
    let stage = Stage::own("events", Driver::Mysql);
    let mut clients = stage.clients(9000);
    for client in &mut clients {
        assert_eq!(client.phase(Phase::Open), Some(Rest::Done));
    }
    for client in clients.iter_mut().rev() {
        assert_eq!(client.event(), Rest::Done);
    }
    clients.truncate(1);
    assert_eq!(clients[0].event(), Rest::Done);
}
