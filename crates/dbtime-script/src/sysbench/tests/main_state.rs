//! The main state: a body, and tasks one after another.

use super::super::options::OptionValue;
use super::super::{MainScript, MainState, MainTask, ScriptDeclarations, SysbenchError};
use super::*;
use dbtime_model::SqlDialect;
use std::thread::JoinHandle;

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

/// A main state on a thread of its own, as an engine drives it.
struct Main {
    declared: Option<ScriptDeclarations>,
    state: MainState,
    thread: JoinHandle<Vec<String>>,
    printed: Arc<Mutex<String>>,
}

impl Main {
    fn start(
        settings: SysbenchSettings,
        tid: u32,
        failing: Option<(&'static str, &'static str)>,
    ) -> Self {
        let printed = Arc::<Mutex<String>>::default();
        let to = Arc::clone(&printed);
        let output = ScriptOutput::new(move |text| to.lock().expect("no panic").push_str(text));
        let (script, state) =
            MainScript::new(SysbenchSettings { output, ..settings }, true, tid).expect("a script");
        let thread = std::thread::spawn(move || {
            let mut factory = script.factory_for_thread(0).expect("a factory");
            let program = factory.program(0).expect("a program");
            assert!(factory.program(1).is_err());
            let (database, second) = (Database::default(), Database::default());
            let mut client = Client { program, database, second, slept: Vec::new(), index: 0 };
            if let Some((op, code)) = failing {
                client.database.fail(op, code, "HY000");
            }
            if client.phase(ProgramPhase::Open) == Some(Rest::Done) {
                assert_eq!(client.event(), Rest::Done);
            }
            client.database.log
        });
        let declared = state.declared();
        Self { declared, state, thread, printed }
    }

    fn does(&self, task: MainTask) -> Result<bool, SysbenchError> {
        self.state.answer(task, || ()).expect("it is there")
    }

    fn give(&self, name: &str, value: &str) {
        let mut options = super::super::ScriptOptions::default();
        options.values.insert(name.to_owned(), OptionValue::Text(value.to_owned()));
        assert_eq!(self.does(MainTask::Options(Box::new(options))), Ok(false));
    }

    /// What it printed, and what it asked the database.
    fn end(self) -> (String, Vec<String>) {
        drop(self.state);
        let log = self.thread.join().expect("no panic");
        let printed = self.printed.lock().expect("no panic").clone();
        (printed, log)
    }
}

/// A script that is in no file.
fn written(source: &str) -> SysbenchSettings {
    SysbenchSettings {
        source: Some(source.into()),
        ..SysbenchSettings::new("-", SqlDialect::Mysql)
    }
}

#[test]
fn what_a_function_sets_is_there_for_the_next_and_the_body_runs_once() {
    let main = Main::start(
        written(
            "print('body', sysbench.opt, sysbench.cmdline.script_path)
             local con = sysbench.sql.driver():connect()
             con:query('SELECT 1')
             function init() set = sysbench.opt.size end
             function prepare() con:query('CREATE TABLE t') print('prepare') return false end
             function done() print('done', set) end",
        ),
        0,
        None,
    );
    let declared = main.declared.clone().expect("it is fine");
    assert_eq!(declared.functions, ["init", "done", "prepare"]);
    main.give("size", "9");
    assert_eq!(main.does(MainTask::Function("init")), Ok(true));
    assert_eq!(main.does(MainTask::Function("event")), Ok(false));
    assert!(main.does(MainTask::Command("prepare".to_owned())).is_ok());
    assert_eq!(main.does(MainTask::Function("done")), Ok(true));
    let (printed, log) = main.end();
    assert_eq!(printed, "body\tnil\tnil\nprepare\ndone\t9\n");
    assert_eq!(log, ["connect", "query SELECT 1", "query CREATE TABLE t"]);
}

#[test]
fn what_is_no_command_is_none() {
    let source = "sysbench.cmdline.commands = { a = 'no', b = { nothing }, c = { print } }";
    let main = Main::start(written(source), 0, None);
    let commands = main.declared.clone().expect("it is fine").commands;
    assert_eq!(commands.iter().map(|command| &command.name).collect::<Vec<_>>(), ["c"]);
    main.end();
}

#[test]
fn a_failing_connect_is_the_scripts_to_catch() {
    let source = "local driver = sysbench.sql.driver()
        print(pcall(driver.connect, driver))
        function init() error('late') end";
    let settings = SysbenchSettings { server: "socket '/s'".to_owned(), ..written(source) };
    let main = Main::start(settings, 0, Some(("connect", "2002")));
    assert!(main.declared.is_some());
    let failed = main.does(MainTask::Function("init")).expect_err("it fails").to_string();
    assert!(failed.starts_with("FATAL: `init' function failed: stdin:3: late"), "{failed}");
    // What has failed ends nothing.
    assert_eq!(main.does(MainTask::Function("done")), Ok(false));
    let (printed, _) = main.end();
    assert!(printed.starts_with(
        "FATAL: unable to connect to MySQL server on socket '/s', aborting...\nFATAL: error 2002"
    ));
    assert!(printed.ends_with("false\tconnection creation failed\n"), "{printed}");
}

#[test]
fn a_body_that_fails_and_wrong_declarations_end_it() {
    for source in [
        "error('no')",
        "sysbench.cmdline.options = { {} }",
        "sysbench.cmdline.options = 5",
        "sysbench.cmdline.options = { a = { nil, 5 } }",
        "sysbench.cmdline.options = { a = { 'what', print } }",
    ] {
        let main = Main::start(written(source), 0, None);
        assert_eq!(main.declared, None, "{source}");
        assert!(main.state.answer(MainTask::Function("init"), || ()).is_none());
        main.end();
    }
}

#[test]
fn options_are_validated_by_the_script() {
    let main = Main::start(own("options", SqlDialect::Mysql), 0, None);
    let is_right = |name: &str, text: &str| {
        let task = MainTask::Validate { name: name.to_owned(), text: text.to_owned() };
        main.does(task).expect("it is fine")
    };
    assert!(is_right("size", "-1") && is_right("whole", "1") && !is_right("whole", "0"));
}

#[test]
fn hooks_report_where_init_has_been() {
    for (report, expected) in [
        ("csv", "5,16,5.00,13.00,10.00,2.00,1.00,12.50,0.50,0.00\n"),
        (
            "default",
            "[ 5s ] thds: 16 tps: 5.00 qps: 13.00 (r/w/o: 10.00/2.00/1.00) lat (ms,95%): 12.50 \
             err/s 0.50 reconn/s: 0.00\n",
        ),
    ] {
        let main = Main::start(own("reports", SqlDialect::Mysql), 4, None);
        main.give("report", report);
        assert_eq!(main.does(MainTask::Function("init")), Ok(true));
        let hook = |name| main.does(MainTask::Hook(name, FIGURES.to_vec()));
        assert_eq!(hook("report_intermediate"), Ok(true));
        assert_eq!(hook("report_cumulative"), Ok(true));
        assert_eq!(hook("none"), Ok(false));
        let too_many = main.does(MainTask::Hook("report_cumulative", vec![("events", 100.0)]));
        assert!(too_many.is_err_and(|error| error.to_string().contains("too many")));
        let (printed, _) = main.end();
        let expected = format!("{expected}total\t10\t4\t1\ntotal\t100\t4\t1\n");
        assert_eq!(printed, expected);
    }
}

#[test]
fn the_json_report_is_a_list_that_ends_with_its_state() {
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
    let main = Main::start(own("reports", SqlDialect::Mysql), 4, None);
    main.give("report", "json");
    for _ in 0..2 {
        let hook = MainTask::Hook("report_intermediate", FIGURES.to_vec());
        assert_eq!(main.does(hook), Ok(true));
    }
    assert_eq!(main.end().0, format!("[\n{entry},\n{entry}\n]\n"));
}
