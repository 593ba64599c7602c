//! What scripts and their readers notice of a run, beside sysbench itself.

use super::{figures, options, original, start, words};
use crate::running::HAS_HEARD;
use crate::sandbox::{Ran, Sandbox, count};
use crate::scripts::COMPUTE;
use dbtime_model::Product;
use rustix::process::Signal;
use std::time::{Duration, Instant};

const PAUSE: &str = "local ffi = require('ffi') ffi.cdef 'int usleep(unsigned int);'\n\
                     function event() ffi.C.usleep(2000) end\n";

/// The values of a name in the lines of a hook that prints all its figures.
fn told(ran: &Ran, hook: &str, name: &str) -> Vec<f64> {
    let lines = ran.out.lines().filter(|line| line.starts_with(hook));
    let values = lines.filter_map(|line| line.split(&format!(" {name}=")).nth(1));
    values.map(|rest| rest.split(' ').next().unwrap_or_default().parse().expect(name)).collect()
}

#[test]
fn a_checkpoint_reports_what_there_was_since_the_last() {
    let sandbox = Sandbox::new();
    sandbox.write("pause.lua", PAUSE);
    let show = "local function show(name) return function(stat)
          local all = {}
          for key, value in pairs(stat) do all[#all + 1] = ' ' .. key .. '=' .. value end
          io.write(name .. table.concat(all) .. '\\n')
        end end
        sysbench.hooks.report_intermediate = show('I')
        sysbench.hooks.report_cumulative = show('C')\n";
    sandbox.write("hooks.lua", &format!("{show}{PAUSE}"));
    let times = "--time=3 --report-interval=1 --report-checkpoints=1,2 run";
    // A machine that stands still for a moment in one of them makes their times differ.
    let mut pairs = Vec::new();
    let mut are_alike = || {
        let ours = sandbox.run(&format!("sysbench hooks.lua --classic {times}"));
        let theirs = original(&sandbox, &format!("hooks.lua {times}"));
        let reports = [&ours, &theirs].map(reports_its_seconds);
        let are_alike = report_the_same_times(&ours, &theirs) && reports == [true, true];
        pairs.push([ours, theirs]);
        are_alike
    };
    assert!((0..6).any(|_| are_alike()), "checkpoints differ, six times: {pairs:?}");
    let mut reports = Vec::new();
    let mut is_short = || {
        let plain = sandbox.run(&format!("sysbench pause.lua --classic {times}"));
        // Those of the last second alone.
        let is_short = figures(&plain.out)["total number of events"] < 600.0;
        reports.push(plain);
        is_short && reports.last().is_some_and(|plain| plain.out.contains("3.0"))
    };
    assert!((0..6).any(|_| is_short()), "it took too long, six times: {reports:?}");
}

/// Checkpoints of both tell of seconds that are as long, and of events that took as long.
fn report_the_same_times(ours: &Ran, theirs: &Ran) -> bool {
    [("time_interval", 0.2), ("latency_sum", 0.3)].into_iter().all(|(name, room)| {
        let (ours, theirs) = (told(ours, "C", name), told(theirs, "C", name));
        let apart = ours.iter().zip(&theirs).map(|(one, other)| (one - other).abs());
        (ours.len(), theirs.len()) == (3, 3) && apart.fold(0.0, f64::max) < room
    })
}

/// A checkpoint tells of the events of its second alone, however many the machine makes of them,
/// and the last of when the run was over.
fn reports_its_seconds(ran: &Ran) -> bool {
    assert!(told(ran, "C", "queue_length").is_empty(), "{ran:?}");
    // The last interval may end with the run.
    let has = |name: &str| told(ran, "I", name).len() >= 2;
    let (events, seconds) = (told(ran, "C", "events"), told(ran, "I", "events"));
    let apart = events.iter().zip(&seconds).map(|(one, other)| (one - other).abs() / other);
    let is_its_own = apart.take(2).fold(0.0, f64::max) < 0.5;
    let is_over = told(ran, "C", "time_total").get(2).is_some_and(|s| (s - 3.0).abs() < 0.2);
    has("queue_length") && has("concurrency") && is_its_own && is_over
}

#[test]
fn a_run_that_failed_in_an_event_has_its_done_all_the_same() {
    let sandbox = Sandbox::new();
    let done = "function done() print('done') end\n";
    sandbox.write("event.lua", &format!("function event() error('no') end\n{done}"));
    let init = "function thread_init() error('no') end\nfunction event() end\n";
    sandbox.write("init.lua", &format!("{init}{done}"));
    for (script, has_done) in [("event.lua", true), ("init.lua", false)] {
        let ours = sandbox.run(&format!("sysbench --classic {script} run"));
        let theirs = original(&sandbox, &format!("{script} run"));
        assert_eq!((ours.code, theirs.code), (Some(1), Some(1)));
        assert_eq!(words(&ours.out), words(&theirs.out), "{script}");
        assert_eq!(ours.out.ends_with("done\n"), has_done, "{ours:?}");
    }
}

/// Also those that pause when it fails.
#[test]
fn behind_the_failure_of_a_client_others_come_to_their_end() {
    let sandbox = Sandbox::new();
    let script = "local ffi = require('ffi') ffi.cdef 'int usleep(unsigned int);'
        function event(client)
          ffi.C.usleep(client == 0 and 200000 or 600000)
          if client == 0 then error('no') end
        end
        function thread_done(client) if client == 1 then print('its end') end end";
    sandbox.write("one.lua", script);
    let ran = sandbox.run("sysbench --classic one.lua --threads=2 run");
    assert!(ran.code == Some(1) && ran.out.contains("its end\n"), "{ran:?}");
}

#[test]
fn a_script_ends_all_with_the_status_that_it_says() {
    let sandbox = Sandbox::new();
    let script = "local function leave() print('left') os.exit(tonumber(sysbench.opt.status)) end
        sysbench.cmdline.options = { status = { 'what to end with', 0 } }
        sysbench.cmdline.commands = { leave = { leave } }
        function event() leave() end
        function done() print('done') end";
    sandbox.write("leave.lua", script);
    for status in [0, 5] {
        for command in ["leave", "run"] {
            let line = format!("leave.lua --status={status} {command}");
            let ours = sandbox.run(&format!("sysbench {line}"));
            let theirs = original(&sandbox, &line);
            assert_eq!((ours.code, theirs.code), (Some(status), Some(status)), "{ours:?}");
            assert_eq!(words(&ours.out), words(&theirs.out), "{line}");
        }
    }
}

#[test]
fn what_goes_wrong_at_the_end_of_threads_is_told_once() {
    let sandbox = Sandbox::new();
    let late = "function event() end\nfunction thread_done() error('late') end";
    sandbox.write("late.lua", late);
    let line = "late.lua --threads=4 --events=8 run";
    let classic = sandbox.run(&format!("sysbench --classic {line}"));
    assert_eq!(words(&classic.out), words(&original(&sandbox, line).out));
    assert!(classic.out.contains("(last message repeated 3 times)"), "{classic:?}");
    assert_eq!(classic.err, "");
    let ours = sandbox.run(&format!("sysbench {line}"));
    assert!(!ours.out.contains("traceback"), "{ours:?}");
    assert_eq!(ours.err.matches("stack traceback:").count(), 1, "{ours:?}");
}

#[test]
fn json_has_stdout_to_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("echo.lua", "function event() os.execute('echo out') end");
    let ran = sandbox.run("sysbench echo.lua --events=2 --rand-seed=77 --json run");
    let json = ran.json();
    assert_eq!(count(&json, "/load/seed"), 77);
    assert_eq!(ran.err.matches("out\n").count(), 2, "{ran:?}");
    let json = sandbox.run("sysbench echo.lua --events=1 --json run").json();
    let seed = format!(" --rand-seed={}", count(&json, "/load/seed"));
    let command = json["command"].as_str().expect("a command");
    assert!(command.ends_with(&seed), "{command}");
}

#[test]
fn an_interrupt_ends_init_too() {
    let sandbox = Sandbox::new();
    let slow = "function init() for _ = 1, 600 do ffi.C.usleep(100000) end end\n";
    sandbox.write("slow.lua", &format!("{PAUSE}ffi = require('ffi')\n{slow}"));
    let running = sandbox.start("sysbench slow.lua --time=1 run");
    running.wait_until_it_catches_interrupts();
    std::thread::sleep(Duration::from_millis(1000));
    let begun = Instant::now();
    running.interrupt();
    let ran = running.end();
    // Else it takes a minute.
    assert!(begun.elapsed() < Duration::from_secs(30), "{ran:?}");
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(!ran.out.contains("Threads started!"), "{ran:?}");
}

/// The C library's own way has nobody hear of it.
#[test]
fn an_interrupt_is_heard_while_a_script_waits_for_a_program() {
    let sandbox = Sandbox::new();
    let wait = "touch begun; for i in $(seq 1000); do [ -e go ] && break; sleep 0.1; done";
    let script = format!("function prepare() os.execute('{wait}') end\nfunction event() end");
    sandbox.write("waits.lua", &script);
    let mut running = sandbox.start("sysbench waits.lua prepare");
    sandbox.wait_for(&["begun"]);
    running.interrupt();
    running.hear(HAS_HEARD);
    sandbox.write("go", "");
    running.end().exits(130);
}

#[test]
fn a_command_that_is_to_end_starts_no_further_program() {
    let sandbox = Sandbox::new();
    let wait = "touch begun; for i in $(seq 1000); do [ -e go ] && break; sleep 0.1; done";
    let script = format!(
        "function prepare()
          os.execute('{wait}; touch whole') os.execute('touch second') io.popen('touch third')
        end
        function event() end"
    );
    sandbox.write("several.lua", &script);
    let mut running = sandbox.start("sysbench several.lua prepare");
    sandbox.wait_for(&["begun"]);
    running.signal(Signal::TERM);
    running.hear(HAS_HEARD);
    sandbox.write("go", "");
    running.end().exits(143);
    assert_eq!(sandbox.left(), ["begun", "go", "several.lua", "whole"]);
}

#[test]
fn a_command_that_computes_for_ever_ends_by_one_signal() {
    let sandbox = Sandbox::new();
    for (name, function) in [("prepare", "prepare"), ("cleanup", "cleanup"), ("run", "init")] {
        let script = format!("function {function}() {COMPUTE} end function event() end");
        sandbox.write("computes.lua", &script);
        // Else it takes hours.
        let ran =
            sandbox.signalled_when_begun(&format!("sysbench computes.lua {name}"), Signal::TERM);
        ran.exits(143);
        assert!(ran.err.contains("does not return"), "{ran:?}");
        assert!(!ran.err.contains("client"), "{ran:?}");
        std::fs::remove_file(sandbox.path("begun")).expect("it began");
    }
}

/// A run with a hook that does this, which gets a signal once that has made a file `begun`.
fn signalled_in_hook(hook: &str) -> Ran {
    let sandbox = Sandbox::new();
    let hook = format!("function sysbench.hooks.report_intermediate() {hook} end\n");
    sandbox.write("hook.lua", &format!("{PAUSE}{hook}"));
    let line = "sysbench hook.lua --time=3600 --report-interval=1 run";
    let ran = sandbox.signalled_when_begun(line, Signal::TERM);
    ran.exits(143);
    ran
}

#[test]
fn a_hook_that_computes_for_ever_ends_with_its_run_by_one_signal() {
    signalled_in_hook(COMPUTE).stderr_has(&["does not return"]);
}

#[test]
fn a_hook_that_pauses_for_ever_ends_with_its_run_by_one_signal() {
    let pauses = "io.open('begun', 'w'):close() while true do ffi.C.usleep(1000) end";
    signalled_in_hook(pauses).prints(&["interrupted while a script was at work"]);
}

#[test]
fn a_hook_that_has_come_back_after_long_does_not_cost_the_report() {
    let wait = "n = (n or 0) + 1 if n == 2 then io.open('begun', 'w'):close() end
        ffi.cdef 'int poll(void *, unsigned long, int);'
        -- A signal ends one of them.
        for i = 1, 30 do ffi.C.poll(nil, 0, 100) end";
    signalled_in_hook(wait).prints(&["total number of events"]);
}

#[test]
fn a_script_has_the_status_of_a_program_as_the_c_library_gives_it() {
    let sandbox = Sandbox::new();
    let script = "function prepare()
          print(os.execute('exit 3'), os.execute('kill -9 $$'), os.execute('true'))
        end
        function event() end";
    sandbox.write("status.lua", script);
    let ours = sandbox.run("sysbench status.lua --classic prepare");
    assert!(ours.out.contains("768\t9\t0"), "{ours:?}");
}

#[test]
fn what_fails_is_told_in_the_servers_words_with_what_was_sent() {
    let sandbox = Sandbox::new();
    let script = "function thread_init()
          con = sysbench.sql.driver():connect()
          st = con:prepare('INSERT INTO twice VALUES (?, ?)')
          a, b = st:bind_create(sysbench.sql.type.INT), st:bind_create(sysbench.sql.type.VARCHAR, 9)
          st:bind_param(a, b)
        end
        function sysbench.hooks.sql_error_ignorable(e)
          print(e.sql_errno, e.sql_state, e.sql_errmsg)
        end
        function event() a:set(7) b:set('x') st:execute() end";
    sandbox.write("twice.lua", script);
    for product in [Product::Mariadb, Product::Postgres] {
        let server = start(product);
        let at = options(&server, product);
        server.sql("CREATE TABLE twice (a INT NOT NULL CHECK (a < 5), b VARCHAR(9))");
        for mode in ["disable", "auto"] {
            let line = format!("twice.lua {at} --db-ps-mode={mode} --events=1 run");
            let ours = sandbox.run(&format!("sysbench {line}"));
            let theirs = original(&sandbox, &line);
            assert_eq!((ours.code, theirs.code), (Some(1), Some(1)), "{ours:?}");
            assert_eq!(words(&ours.out), words(&theirs.out), "{line}");
        }
        let fine = "con = sysbench.sql.driver():connect() con:query('SELECT 1')";
        sandbox.write("fine.lua", &format!("function event() {fine} end"));
        let ran = sandbox.run(&format!("sysbench fine.lua {at} --events=1 run"));
        ran.exits(0);
        assert!(!ran.out.contains("statements sent as"), "{ran:?}");
    }
}
