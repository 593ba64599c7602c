//! `dbtime sysbench`: the scripts that come with sysbench, beside sysbench itself on the same
//! servers, and scripts that go wrong.

mod beside;
mod programs;

use crate::given_server::GivenServer;
use crate::sandbox::{Ran, Sandbox, count, number};
use dbtime_model::Product;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

/// How each of them is told where the database is.
fn options(server: &GivenServer, product: Product) -> String {
    let (socket, user) = (server.server.socket().display(), server.server.user());
    let password = server.server.password().reveal();
    match product {
        Product::Postgres => format!(
            "--db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port={} --pgsql-user={user} \
             --pgsql-db=d --pgsql-password={password}",
            server.server.port()
        ),
        _ => format!(
            "--mysql-socket={socket} --mysql-user={user} --mysql-db=d \
             --mysql-password={password}"
        ),
    }
}

fn start(product: Product) -> GivenServer {
    match product {
        Product::Postgres => GivenServer::start(product, &[]),
        _ => GivenServer::start(product, &[("innodb_flush_log_at_trx_commit", "2")]),
    }
}

/// Runs Debian's sysbench.
fn original(sandbox: &Sandbox, line: &str) -> Ran {
    let mut command = Command::new("sysbench");
    command.args(line.split_whitespace());
    sandbox.settle(&mut command);
    let output = command.output().expect("sysbench is installed (make setup-test)");
    Ran::new(line, &output)
}

/// The figures of a report, by the words before them.
fn figures(report: &str) -> BTreeMap<String, f64> {
    let line = |line: &str| {
        let (name, rest) = line.trim().split_once(':')?;
        let digits = |c: char| !c.is_ascii_digit() && c != '.';
        let first = rest.trim().split(digits).next()?.parse().ok()?;
        Some((name.to_owned(), first))
    };
    report.lines().filter_map(line).collect()
}

#[test]
fn stock_scripts_do_what_they_do_under_sysbench() {
    let sandbox = Sandbox::new();
    for product in [Product::Mariadb, Product::Postgres] {
        let server = start(product);
        let at = options(&server, product);
        let table = "--tables=2 --table-size=500";
        sandbox.run(&format!("sysbench oltp_read_write {at} {table} prepare")).with(
            0,
            &[
                "Creating table 'sbtest1'...",
                "Inserting 500 records into 'sbtest2'",
                "Creating a secondary index on 'sbtest2'...",
            ],
        );
        let rows = server.sql("SELECT min(id), max(id), count(*) FROM sbtest2").rows;
        let wanted = ["1", "500", "500"].map(|text| Some(text.to_owned()));
        assert_eq!(rows, [wanted], "{product:?}");
        for script in [
            "oltp_read_write",
            "oltp_read_only",
            "oltp_write_only",
            "oltp_point_select",
            "oltp_update_index",
            "oltp_update_non_index",
            "oltp_delete",
            "oltp_insert",
            "select_random_points",
            "select_random_ranges",
        ] {
            let line = format!("{script} {at} {table} --threads=2 --events=40 --time=30 run");
            let ours = sandbox.run(&format!("sysbench --classic {line}"));
            ours.exits(0);
            let theirs = original(&sandbox, &line);
            theirs.exits(0);
            compare(script, &ours.out, &theirs.out);
        }
        sandbox
            .run(&format!("sysbench oltp_read_write {at} --tables=2 cleanup"))
            .with(0, &["Dropping table 'sbtest1'...", "Dropping table 'sbtest2'..."]);
        let bulk = format!("bulk_insert {at} --threads=2");
        sandbox.run(&format!("sysbench {bulk} prepare")).exits(0);
        let ran = sandbox.run(&format!("sysbench --classic {bulk} --events=3000 --time=30 run"));
        ran.exits(0);
        let rows = server.sql("SELECT count(*) FROM sbtest1").rows[0][0].clone();
        let second = server.sql("SELECT count(*) FROM sbtest2").rows[0][0].clone();
        let sum = [rows, second].into_iter().flatten().map(|n| n.parse::<u64>().expect("a count"));
        assert_eq!(sum.sum::<u64>(), 3000, "{product:?}");
    }
}

/// Both counted the same, with the same words, as far as the scripts are not random.
fn compare(script: &str, ours: &str, theirs: &str) {
    let (ours, theirs) = (figures(ours), figures(theirs));
    let names = |figures: &BTreeMap<String, f64>| figures.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs), "{script}");
    assert_eq!(ours["transactions"], 40.0, "{script}");
    let events = ours["transactions"] + ours["ignored errors"];
    let per_event = |name: &str, of: &BTreeMap<String, f64>| of[name] / events;
    for name in ["read", "write", "other", "total"] {
        // An ignored error begins its event anew, and a row may be gone when it is to change.
        let had_errors = ours["ignored errors"] + theirs["ignored errors"] > 0.0;
        let is_by_chance = script == "oltp_delete" && name != "total";
        let room = if had_errors || is_by_chance { 25.0 } else { 0.3 };
        let apart = (per_event(name, &ours) - per_event(name, &theirs)).abs();
        assert!(apart <= room, "{script}: {name} {} and {}", ours[name], theirs[name]);
    }
    if script == "oltp_read_write" && ours["ignored errors"] == 0.0 {
        assert_eq!([ours["read"], ours["total"]], [40.0 * 14.0, 40.0 * 20.0]);
        assert_eq!(ours["write"] + ours["other"], 40.0 * 6.0);
    }
}

#[test]
fn sqlite_holds_the_same_rows_as_a_server() {
    let sandbox = Sandbox::new();
    let server = start(Product::Mariadb);
    let table = "--tables=1 --table-size=300 --rand-seed=7";
    let at = options(&server, Product::Mariadb);
    sandbox.run(&format!("sysbench oltp_read_write {at} {table} prepare")).exits(0);
    let lite = "--db-driver=sqlite --sqlite-db=t.db";
    sandbox.run(&format!("sysbench oltp_read_write {lite} {table} prepare")).fine();
    let there = server.sql("SELECT id, k, c, pad FROM sbtest1 ORDER BY id").rows;
    let file = rusqlite::Connection::open(sandbox.path("t.db")).expect("a database");
    let mut select =
        file.prepare("SELECT id, k, c, pad FROM sbtest1 ORDER BY id").expect("a table");
    let rows = select.query_map([], |row| {
        let numbers: [i64; 2] = [row.get(0)?, row.get(1)?];
        let texts: [String; 2] = [row.get(2)?, row.get(3)?];
        Ok(numbers.map(|n| Some(n.to_string())).into_iter().chain(texts.map(Some)).collect())
    });
    let here: Vec<Vec<Option<String>>> =
        rows.expect("rows").collect::<Result<_, _>>().expect("readable");
    assert_eq!(here.len(), 300);
    assert_eq!(here[299][0].as_deref(), Some("300"));
    assert_eq!(here, there);
    drop(select);
    let line = format!("sysbench oltp_read_write {lite} {table} --threads=2 --events=50 run");
    let ran = sandbox.run(&line);
    ran.exits(0);
    assert!(ran.out.contains("oltp_read_write on sqlite"), "dbtime's own report: {ran:?}");
    assert_eq!(figures(&ran.out)["transactions"], 50.0);
    sandbox.run(&format!("sysbench oltp_read_write {lite} --tables=1 cleanup")).fine();
}

#[test]
fn every_function_works_on_every_engine() {
    let sandbox = Sandbox::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../dbtime-script/tests/lua");
    let run = |at: &str| {
        let line = format!("{folder}/api_sql.lua --compat=1.1 {at} --events=3 --time=0 run");
        let ran = sandbox.run(&format!("sysbench --classic {line}"));
        ran.exits(0);
        assert_eq!(figures(&ran.out)["transactions"], 3.0, "{ran:?}");
    };
    for product in [Product::Mariadb, Product::Postgres] {
        let server = start(product);
        let multiple = if product == Product::Mariadb { "--multiple=on" } else { "" };
        run(&format!("{} {multiple}", options(&server, product)));
    }
    sandbox.write("api.db", "");
    run("--db-driver=sqlite --sqlite-db=api.db --single=on");
}

#[test]
fn what_others_read_is_where_it_was() {
    let sandbox = Sandbox::new();
    sandbox.write("pause.lua", PAUSE);
    let ran = sandbox.run("sysbench pause.lua --threads=2 --time=4 --report-interval=1 run");
    ran.exits(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], format!("sysbench 1.0.20 (run by dbtime {})", env!("CARGO_PKG_VERSION")));
    assert!(lines.contains(&"Threads started!"), "{ran:?}");
    // After a second, later where the machine stands still, and before the end in any case.
    let parts = |line: &str| {
        let (at, rest) = line.strip_prefix("[ ")?.split_once("s ] thds: 2 eps: ")?;
        Some((at.parse::<u32>().ok()?, rest.contains(" lat (ms,95%): ")))
    };
    let interval = lines.iter().find_map(|line| parts(line));
    assert!(interval.is_some_and(|(at, is_whole)| (1..4).contains(&at) && is_whole), "{ran:?}");
    for words in [
        "Number of threads: 2",
        "General statistics:",
        "    total time:  ",
        "    total number of events:  ",
        "         95th percentile:  ",
        "Threads fairness:",
    ] {
        assert!(ran.out.contains(words), "{words}: {ran:?}");
    }
    assert!(ran.out.contains("pause on null"), "dbtime's own report follows: {ran:?}");
    ran.prints(&["over the window of 4 s; sysbench's rates also count what ended after it"]);
    let classic = sandbox.run("sysbench pause.lua --classic --time=1 --histogram run");
    classic.exits(0);
    assert!(classic.out.contains("Latency histogram (values are in milliseconds)"), "{classic:?}");
    assert!(!classic.out.contains("on null"), "{classic:?}");
    let hooks =
        sandbox.run("sysbench pause.lua --classic --time=4 --report-interval=1 --csv=on run");
    let rows = hooks.out.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let csv = rows.filter(|row| row.len() == 10 && row[1] == "1");
    let mut seconds = csv.filter_map(|row| row[0].parse::<u32>().ok());
    assert!(seconds.next().is_some_and(|at| (1..4).contains(&at)), "{hooks:?}");
    let json = sandbox.run("sysbench pause.lua --time=1 --json run").fine().json();
    assert_eq!(json["workload"]["name"], "pause");
    assert!(count(&json, "/counts/completed") > 50, "{json}");
    assert!(number(&json, "/budget_us/think") > 900.0, "a pause is think time: {json}");
}

/// Pauses a millisecond an event.
const PAUSE: &str = r#"
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned);")
for _, word in pairs(sysbench.cmdline.argv) do
  if word == "--csv=on" then
    sysbench.hooks.report_intermediate = sysbench.report_csv
  end
end
function event() ffi.C.usleep(1000) end
"#;

#[test]
fn an_open_loop_counts_from_the_due_instant() {
    let sandbox = Sandbox::new();
    sandbox.write("pause.lua", PAUSE);
    for how in ["--rate=200", "--tx-rate=200 --tx-jitter=100"] {
        let json =
            sandbox.run(&format!("sysbench pause.lua --threads=8 {how} --time=2 --json run"));
        json.exits(0);
        let json = json.json();
        let (offered, is_steady) = (count(&json, "/counts/offered"), how.contains("tx-rate"));
        let room = if is_steady { 398..=402 } else { 300..=500 };
        assert!(room.contains(&offered), "{how}: {offered} offered");
        assert_eq!(json["load"]["arrivals"], if is_steady { "steady" } else { "poisson" });
        assert_eq!(json["basis"], "response");
    }
}

#[test]
fn mistakes_are_told_as_sysbench_tells_them() {
    let sandbox = Sandbox::new();
    let cases = [
        ("nosuch run", "FATAL: Cannot find benchmark 'nosuch'"),
        ("cpu run", "cpu is a test of sysbench without a database: dbtime has none"),
        ("oltp_read_write --tabels=2 run", "did you mean --tables?"),
        ("oltp_read_write --threads=x run", "threads"),
        ("oltp_read_write dance", "Unknown command: dance"),
        ("empty.lua prepare", "'empty.lua' test does not implement the 'prepare' command."),
        ("nothing.lua run", "cannot find the event() function in nothing.lua"),
        ("wrong.lua run", "wrong.lua:2: attempt to index global 'x' (a nil value)"),
        ("broken.lua run", "broken.lua:1:"),
        ("hungry.lua run", "not enough memory"),
        ("oltp_point_select --mysql-socket=/nowhere/s run", "/nowhere/s"),
        ("oltp_point_select --mysql-host=a,b run", "several servers"),
        ("oltp_point_select --db-driver=sqlite run", "--sqlite-db=PATH"),
        ("made.lua --target=sqlite prepare", "`dbtime run --script SCRIPT.lua --target sqlite`"),
        ("made.lua --target=mariadb cleanup", "cleanup needs a place that stays, such as"),
    ];
    sandbox.write("empty.lua", "function event() end");
    sandbox.write("made.lua", "function event() end function prepare() end cleanup = prepare");
    sandbox.write("nothing.lua", "x = 1");
    sandbox.write("wrong.lua", "function event()\n  x.y = 1\nend");
    sandbox.write("broken.lua", "function event( end");
    let hungry =
        "function event() local t = {} while true do t[#t+1] = ('x'):rep(2^20) .. #t end end";
    sandbox.write("hungry.lua", hungry);
    for (line, wanted) in cases {
        let ran = sandbox.run(&format!("sysbench {line}"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.contains(wanted) || ran.out.contains(wanted), "`{wanted}`: {ran:?}");
    }
}

/// The lines of a report that hold no measured figure.
fn words(out: &str) -> Vec<&str> {
    let is_measured = |line: &str| {
        line.starts_with("sysbench ") || line.starts_with("    ") || line.starts_with("[ ")
    };
    out.lines().filter(|line| !line.is_empty() && !is_measured(line)).collect()
}

#[test]
fn what_ends_badly_says_so_in_sysbenchs_words() {
    let sandbox = Sandbox::new();
    let pause = "local ffi = require('ffi') ffi.cdef 'int usleep(unsigned int);'\n";
    sandbox.write("long.lua", &format!("{pause}function event() ffi.C.usleep(5000000) end"));
    let late = "function init() print('begun') end\nfunction event() end\n\
                function thread_done() error('late') end";
    sandbox.write("late.lua", late);
    sandbox.write("wrong.lua", "function event() error('no') end");
    for (line, code) in [
        ("long.lua --threads=2 --time=1 --forced-shutdown=1 run", 2),
        // There sysbench goes on and ends with 0.
        ("late.lua --events=3 run", 1),
        ("wrong.lua --events=3 run", 1),
    ] {
        let ours = sandbox.run(&format!("sysbench --classic {line}"));
        let theirs = original(&sandbox, line);
        assert_eq!(ours.code, Some(code), "{ours:?}");
        assert_eq!(words(&ours.out), words(&theirs.out), "{line}");
    }
}

#[test]
fn a_script_that_never_comes_back_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("loop.lua", "function event() while true do end end");
    let mut running = sandbox.start("sysbench loop.lua --time=1 run");
    running.hear("no progress: the script of client 0");
    running.interrupt_twice().exits(130);
}

#[test]
fn a_server_that_dies_ends_the_run_with_its_words() {
    let sandbox = Sandbox::new();
    let server = start(Product::Mariadb);
    let at = options(&server, Product::Mariadb);
    sandbox.run(&format!("sysbench oltp_point_select {at} --table-size=100 prepare")).exits(0);
    let line = format!("oltp_point_select {at} --table-size=100 --threads=2 --time=4 run");
    let running = sandbox.start(&format!("sysbench --classic {line}"));
    std::thread::sleep(Duration::from_millis(1500));
    drop(server);
    let ran = running.end();
    // As sysbench does, it tries to connect again until the run is over.
    assert!(ran.code.is_some_and(|code| code <= 1), "{ran:?}");
}

/// A script for sysbench 0.5, which connects by whatever needs a connection first.
const OLD: &str = "\
function set_vars() old_rows = tonumber(old_rows) or 3 end
function prepare()
  set_vars()
  db_query('CREATE TABLE old (id INT PRIMARY KEY, v INT)')
  db_bulk_insert_init('INSERT INTO old VALUES')
  for id = 1, old_rows do db_bulk_insert_next('(' .. id .. ', 0)') end
  db_bulk_insert_done()
  print('prepared', db_driver, old_rows, num_threads, test, sysbench.opt.test)
end
function cleanup() db_query('DROP TABLE old') end
function thread_init()
  set_vars()
  values = { 0, 0 }
  change = db_prepare('UPDATE old SET v = v + ? WHERE id = ?')
  db_bind_param(change, values)
end
function event()
  values[1], values[2] = 1, sb_rand_uniq(1, 1000000) % old_rows + 1
  db_execute(change)
  db_query('SELECT v FROM old WHERE id = 1')
end
";

#[test]
fn scripts_for_older_versions_do_what_they_do_under_sysbench() {
    let sandbox = Sandbox::new();
    sandbox.write("old.lua", OLD);
    for product in [Product::Mariadb, Product::Postgres] {
        let server = start(product);
        let at = options(&server, product);
        for script in ["--test=old.lua", "old.lua"] {
            let line = |rest: &str| format!("{script} {at} --old-rows=7 --num-threads=2 {rest}");
            let alike = |ours: &Ran, theirs: &Ran| {
                assert_eq!((ours.code, &ours.err), (Some(0), &theirs.err), "{ours:?} {theirs:?}");
                assert_eq!(words(&ours.out), words(&theirs.out), "{ours:?} {theirs:?}");
            };
            let ours = |rest: &str| sandbox.run(&format!("sysbench --classic {}", line(rest)));
            let theirs = |rest: &str| original(&sandbox, &line(rest));
            let prepared = ours("prepare");
            let ran = ours("--max-requests=40 run");
            alike(&ran, &theirs("--max-requests=40 run"));
            let figures = figures(&ran.out);
            assert_eq!([figures["read"], figures["write"]], [40.0, 40.0], "{ran:?}");
            let sum = server.sql("SELECT SUM(v), COUNT(*) FROM old").rows;
            // Each of them has changed as many.
            let wanted = ["80", "7"].map(|text| Some(text.to_owned()));
            assert_eq!(sum, [wanted], "{product:?}");
            let cleared = ours("cleanup");
            alike(&prepared, &theirs("prepare"));
            alike(&cleared, &theirs("cleanup"));
        }
    }
}

#[test]
fn what_is_around_a_run_is_in_the_main_state() {
    let sandbox = Sandbox::new();
    let around = "print('body', sysbench.opt)
        function init() set = 5 print('init', sysbench.opt.threads) end
        function event() end
        function sysbench.hooks.report_cumulative(stat) print('hook', set, stat.threads_running) end
        function done() print('done', set) end";
    sandbox.write("around.lua", around);
    let number = regex::Regex::new(r"(cmdline\.lua..):\d+:").expect("a regex");
    for line in [
        "around.lua run --events=4",
        "around.lua run --events=4 --verbosity=0",
        "around.lua",
        "around.lua help",
        "around.lua prepare",
        "wrong.lua run",
        "lost.lua --events=1 --mysql-socket=/nowhere/s --verbosity=1 run",
    ] {
        sandbox.write("wrong.lua", "sysbench.cmdline.options = { {} }");
        let lost =
            "function event() local d = sysbench.sql.driver() print(pcall(d.connect, d)) end";
        sandbox.write("lost.lua", lost);
        let ours = sandbox.run(&format!("sysbench --classic {line}"));
        let theirs = original(&sandbox, line);
        let place = |text: &str| number.replace(text, "$1:").into_owned();
        assert_eq!(ours.code, theirs.code, "{ours:?}");
        // What MySQL's own library says about a socket that is not there is its own affair.
        let said = |text: &str| {
            let all = words(text).into_iter().map(place);
            all.filter(|line| !line.starts_with("FATAL: error ")).collect::<Vec<_>>()
        };
        assert_eq!(said(&ours.out), said(&theirs.out), "{line}");
        assert_eq!(ours.err, theirs.err, "{line}");
    }
    let host = "lost.lua --events=1 --mysql-host=no-such-host.invalid --verbosity=1 --classic run";
    sandbox.run(&format!("sysbench {host}")).with(
        0,
        &["on host 'no-such-host.invalid', port 3306", "false\tconnection creation failed"],
    );
}

#[test]
fn a_script_on_stdin_is_no_more_than_its_body() {
    let sandbox = Sandbox::new();
    let source = "print('body') function prepare() print('prepare') end error('end')";
    sandbox.write("body", source);
    for line in ["sysbench - prepare", "sysbench --unknown"] {
        let mut command = sandbox.command(line);
        let body = std::fs::File::open(sandbox.path("body")).expect("it is there");
        let ran = Ran::new(line, &command.stdin(body).output().expect("dbtime starts"));
        ran.exits(1);
        assert!(ran.out.ends_with("body\nFATAL: stdin:1: end\n"), "{ran:?}");
    }
}
