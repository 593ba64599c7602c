//! `dbtime run --script`: scripts of other tools as workloads of the native command.

use crate::running::Running;
use crate::sandbox::{Ran, Sandbox, count, counts_add_up};
use rustix::process::Signal;

#[test]
fn a_script_is_a_workload_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.write("pick.lua", PICK);
    sandbox.write("pick.sql", "\\set id random(1, :most)\nSELECT n FROM item WHERE id = :id;\n");
    for target in ["sqlite", "mariadb", "postgres"] {
        let line = format!(
            "run --script pick.lua --script-set most=50 --target {target} --rate 200/s \
             --connections 2 --time 1s --warmup 0s --out lua-{target} --json"
        );
        let ran = sandbox.run(&line);
        ran.exits(0);
        let json = ran.json();
        counts_add_up(&json);
        assert_eq!(count(&json, "/counts/completed"), 200, "{json}");
        assert_eq!(json["basis"], "response");
        let statements: Vec<&str> = json["statements"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|statement| statement["fingerprint"].as_str())
            .collect();
        assert_eq!(statements, ["SELECT n FROM item WHERE id=?"], "{target}");
        sandbox.run(&format!("report lua-{target} --text")).fine().prints(&["pick on "]);
    }
    sandbox.run("compare lua-mariadb lua-postgres").fine();
}

/// Makes its own table, and reads a row of it.
const PICK: &str = r#"
sysbench.cmdline.options = { most = { "rows", 10 } }
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)")
  con:bulk_insert_init("INSERT INTO item (id, n) VALUES")
  for id = 1, sysbench.opt.most do
    con:bulk_insert_next(("(%d, 0)"):format(id))
  end
  con:bulk_insert_done()
end
function thread_init()
  con = sysbench.sql.driver():connect()
  pick = con:prepare("SELECT n FROM item WHERE id=?")
  id = pick:bind_create(sysbench.sql.type.INT)
  pick:bind_param(id)
end
function event()
  id:set(sysbench.rand.uniform(1, sysbench.opt.most))
  assert(pick:execute().nrows == 1)
end
"#;

#[test]
fn wrong_scripts_are_refused_with_a_word_on_why() {
    let sandbox = Sandbox::new();
    sandbox.write("x.py", "print(1)");
    sandbox.write("wrong.sql", "\\set x 1 +\nSELECT 1;\n");
    sandbox.write("wrong.lua", "function event( end");
    sandbox.run("run --script x.py").refused(2, &[".sql for pgbench's", ".lua for sysbench's"]);
    sandbox.run("run --script absent.sql").refused(2, &["absent.sql cannot be read"]);
    sandbox.run("run --script absent.lua").refused(2, &["absent.lua"]);
    sandbox.run("run --script wrong.sql").refused(2, &["wrong.sql:1", "^"]);
    sandbox.run("run --script wrong.lua").refused(2, &["wrong.lua:1"]);
    sandbox.run("run atm --script wrong.lua").refused(2, &["cannot be used with"]);
}

#[test]
fn what_scripts_print_stands_beside_a_report_and_not_in_its_json() {
    let sandbox = Sandbox::new();
    sandbox.write("echo.lua", "os.execute('echo aside')\nfunction event() end");
    let line = "run --script echo.lua --transactions 3 --connections 1 --warmup 0s --no-record";
    let ran = sandbox.run(&format!("{line} --json"));
    counts_add_up(&ran.json());
    assert!(ran.err.contains("aside"), "{ran:?}");
    assert!(sandbox.run(line).out.contains("aside"));
}

#[test]
fn a_script_that_gives_up_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("shell.sql", "\\shell true\nSELECT 1;\n");
    let ran = sandbox.run(
        "run --script shell.sql --target postgres --transactions 3 --connections 1 --warmup 0s \
         --no-record",
    );
    let why = "100 % of the transactions failed, none by an error of the database";
    ran.exits(3);
    assert!(ran.err.contains("only under `dbtime pgbench --allow-shell`"), "{ran:?}");
    assert!(ran.err.contains(why), "{ran:?}");
}

/// Nothing can take a thread out of its script again.
pub(crate) const COMPUTE: &str =
    "io.open('begun', 'w'):close() for i = 1, 1e12 do local x = i * i end";

#[test]
fn a_run_whose_script_computes_for_ever_ends_by_one_signal() {
    let sandbox = Sandbox::new();
    sandbox.write("computes.lua", &format!("function event() {COMPUTE} end"));
    for line in [
        "run --script computes.lua --connections 1 --warmup 0s --time 1h --out r",
        "run --script computes.lua --connections 1 --rate auto --time 1h --out r",
        "sysbench computes.lua --time=3600 --out=r run",
    ] {
        // Else it takes hours.
        let ran = sandbox.signalled_when_begun(line, Signal::TERM);
        ran.exits(143);
        ran.stderr_has(&["the script of client 0 does not return", "neither reported"]);
        std::fs::remove_file(sandbox.path("begun")).expect("it began");
        assert_eq!(sandbox.left(), ["computes.lua"], "{line}");
    }
}

/// Its 100th transaction has no end. Each of its statements is answered at once, so that nothing is
/// ever waited for.
const ENDLESS: &str = "function thread_init() con, n = sysbench.sql.driver():connect(), 0 end
    function event()
      n = n + 1
      if n == 100 then io.open('begun', 'w'):close() end
      repeat con:query('SELECT 1') until n < 100
    end";

/// All before the transaction without an end is counted, and so is that one.
fn counts_the_endless_one(ran: &Ran) {
    let json = ran.json();
    counts_add_up(&json);
    let counts = ["completed", "unfinished"].map(|of| count(&json, &format!("/counts/{of}")));
    assert_eq!(counts, [99, 1], "{ran:?}");
}

/// What was measured before is reported.
#[test]
fn a_transaction_without_an_end_ends_with_its_run() {
    for target in ["null", "sqlite"] {
        let sandbox = Sandbox::new();
        sandbox.write("endless.lua", ENDLESS);
        let line = "run --script endless.lua --connections 1 --warmup 0s --time 1h --json --out r";
        let line = format!("{line} --target {target}");
        let ran = sandbox.signalled_when_begun(&line, Signal::INT);
        ran.exits(130);
        counts_the_endless_one(&ran);
    }
}

#[test]
fn a_transaction_without_an_end_ends_after_the_window() {
    let sandbox = Sandbox::new();
    sandbox.write("endless.lua", ENDLESS);
    let line = "run --script endless.lua --connections 1 --warmup 0s --time 1s --json --no-record";
    // At the same time: what is under way has five seconds more.
    let running =
        ["null", "sqlite"].map(|target| sandbox.start(&format!("{line} --target {target}")));
    for ran in running.map(Running::end) {
        counts_the_endless_one(&ran);
        // Unless it began so late that hardly any of the window was left, it is a time without
        // service that lasts to the end.
        let warnings = ran.json()["validity"]["warnings"].clone();
        let warnings = warnings.as_array().expect("a list");
        match warnings.iter().any(|warning| warning["kind"] == "mostly_failed") {
            true => drop(ran.unserved().stderr_has(&["nothing was completed from"])),
            false => ran.exits(0),
        }
    }
}

#[test]
fn a_script_that_computes_for_ever_ends_its_run_and_no_other() {
    let sandbox = Sandbox::new();
    let script = format!(
        "function thread_done() io.open('ran', 'w'):close() end
        function event() if io.open('ran') then {COMPUTE} end end"
    );
    sandbox.write("computes.lua", &script);
    let line = "run --script computes.lua --connections 1 --warmup 0s --transactions 3";
    let line = format!("{line} --repeat 2 --no-record");
    let ran = sandbox.signalled_when_begun(&line, Signal::TERM);
    ran.exits(143);
    assert!(!ran.out.is_empty(), "the run that had ended is shown: {ran:?}");
    ran.stderr_has(&["interrupted: the script of client 0 does not return"]);
}

/// A script that makes a file `begun` in a function, and stays there for an hour.
fn staying_in(function: &str) -> String {
    format!(
        "ffi = require('ffi')
        ffi.cdef 'int usleep(unsigned int);'
        function event() end
        function {function}()
          io.open('begun', 'w'):close()
          for _ = 1, 36000 do ffi.C.usleep(100000) end
        end"
    )
}

#[test]
fn a_signal_gives_the_code_in_each_phase_before_the_window() {
    let run = "run --script stays.lua --connections 1 --warmup 1h --time 1s --no-record --target";
    let sysbench = "sysbench stays.lua --warmup-time=3600 --time=1";
    for (function, targets, command) in [
        ("prepare", &["sqlite"][..], "prepare"),
        ("thread_init", &["null", "sqlite"][..], "run"),
        ("event", &["null", "sqlite"][..], "run"),
    ] {
        let runs = |target: &&str| ["", "--repeat 2"].map(|more| format!("{run} {target} {more}"));
        let runs = targets.iter().flat_map(runs);
        for line in runs.chain([format!("{sysbench} {command}")]) {
            let sandbox = Sandbox::new();
            sandbox.write("stays.lua", &staying_in(function));
            let ran = sandbox.signalled_when_begun(&line, Signal::TERM);
            assert_eq!(ran.code, Some(143), "{function}: {ran:?}");
        }
    }
}
