//! Ctrl-C at every stage: what was measured is reported and recorded whole, or there is no record.

use crate::running::Running;
use crate::sandbox::{Ran, Sandbox, count, counts_add_up, words};
use crate::watched_run::WatchedRun;
use dbtime_model::record::{CheckOutcome, Run, read_run};
use rustix::process::Signal;
use std::process::Command;
use std::time::Duration;

/// After so long the load has begun, also where the driver gets no CPU for a second.
const BEGINNING_MS: u64 = 2000;

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Ended before anything was measured: said so, with the code of the signal, and nothing is left.
fn nothing_measured(sandbox: &Sandbox, ran: Ran, stage: &str) {
    ran.exits(130);
    assert_eq!(ran.out, "", "{ran:?}");
    ran.stderr_has(&["dbtime: interrupted", stage, "once more"]);
    assert!(!sandbox.path("r").exists());
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

/// Ended early: reported, with the code of the signal, and recorded whole.
fn ended_early(sandbox: &Sandbox, ran: Ran) -> Run {
    ran.exits(130);
    is_whole(sandbox, ran)
}

/// What was measured until the end is reported and recorded.
fn is_whole(sandbox: &Sandbox, ran: Ran) -> Run {
    assert!(ran.err.contains("ending"), "{ran:?}");
    let json = ran.json();
    counts_add_up(&json);
    assert_eq!(json["window"]["ended_early"], true);
    assert_eq!(sandbox.left(), ["r"]);
    let run = read_run(&sandbox.path("r")).expect("a whole record");
    assert_eq!(run.record.counts.offered, json["counts"]["offered"].as_u64().expect("a count"));
    sandbox.run("report r --text --details").fine().prints(&["ended"]);
    run
}

#[test]
fn while_a_temporary_target_is_loaded() {
    let sandbox = Sandbox::new();
    let run = sandbox.start("run atm --scale 30 --time 1s --out r");
    sandbox.wait_for(&["tmp", "dbtime-", "atm.db.loading"]);
    pause(50);
    run.interrupt();
    nothing_measured(&sandbox, run.end(), "while loading");
}

#[test]
fn while_init_loads() {
    let sandbox = Sandbox::new();
    let init = sandbox.start("init atm --scale 30 --target sqlite:t.db");
    sandbox.wait_for(&["t.db.loading"]);
    pause(50);
    init.interrupt();
    let ran = init.end().stderr_has(&["dbtime: interrupted while loading"]);
    ran.exits(130);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    let line = "run atm --target sqlite:t.db --no-record";
    sandbox.run(line).refused(3, &["there is no database t.db"]);
    sandbox.run("init atm --target sqlite:t.db").fine();
    assert_eq!(sandbox.left(), ["t.db"]);
}

#[test]
fn while_pgbench_makes_its_tables() {
    let sandbox = Sandbox::new();
    let making = sandbox.start("pgbench -i -s 100 --target sqlite:t.db");
    // The file is there before its tables are begun.
    sandbox.wait_for(&["t.db"]);
    pause(BEGINNING_MS);
    making.interrupt();
    let ran = making.end().stderr_has(&["interrupted while the tables were made"]);
    ran.exits(130);
}

#[test]
fn while_the_flat_out_rate_is_found() {
    let sandbox = Sandbox::new();
    // Before its window, and in it.
    for ms in [300, 2000] {
        let run = sandbox.start("run values1 --target null --rate auto --time 1m --out r");
        sandbox.wait_for(&[".r.partial-"]);
        pause(ms);
        run.interrupt();
        // The window, a minute, has not begun.
        nothing_measured(&sandbox, run.end(), "before the window");
    }
}

#[test]
fn during_the_warm_up() {
    let sandbox = Sandbox::new();
    for target in ["null", "sqlite"] {
        let line = "run values1 --warmup 1m --time 1s --out r --target";
        let run = sandbox.start(&format!("{line} {target}"));
        sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
        pause(300);
        run.interrupt();
        nothing_measured(&sandbox, run.end(), "before the window");
    }
}

/// The signal gives the code before the window too, of one run and of several.
#[test]
fn two_signals_within_half_a_second_end_as_one_does() {
    for runs in ["", "--repeat 2"] {
        let sandbox = Sandbox::new();
        let line = format!("run values1 --target null --warmup 1m --time 1s --out r {runs}");
        let run = sandbox.start(&line);
        run.wait_until_it_catches_interrupts();
        pause(BEGINNING_MS);
        run.signal(Signal::TERM);
        pause(200);
        run.signal(Signal::TERM);
        run.end().exits(143);
    }
}

#[test]
fn during_the_window() {
    // Closed loops and open ones, none of which takes a whole CPU for as long as it is let run.
    for load in [
        "--target null:?service=1ms",
        "--target null --rate 1000/s",
        "--connections 2 --think 1ms",
        "--rate 500/s",
    ] {
        let sandbox = Sandbox::new();
        let line = format!("run values1 {load} --warmup 0s --time 1m --budget-every 1");
        let run = sandbox.start(&format!("{line} --json --out r"));
        sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
        pause(BEGINNING_MS);
        run.interrupt();
        let Run { record, .. } = ended_early(&sandbox, run.end());
        assert!(record.window.measure_s > 0.05 && record.window.measure_s < 30.0, "{line}");
        assert!(record.counts.completed > 0, "{line}");
        let tps = record.counts.completed as f64 / record.window.measure_s;
        assert!((record.throughput_tps - tps).abs() < 1e-6 * tps, "{line}");
        if let Some(rate) = record.load.rate_tps {
            // Of the whole minute it were a multiple; a driver that was late at the end has less,
            // and none has more.
            let offered = record.counts.offered as f64 / record.window.measure_s;
            assert!((0.5 * rate..1.1 * rate).contains(&offered), "{line}: {offered}/s");
        }
    }
}

#[test]
fn with_a_number_of_transactions() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=10ms' --transactions 1000000 --json --out r";
    let run = sandbox.start(line);
    sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    run.interrupt();
    let Run { record, .. } = ended_early(&sandbox, run.end());
    assert!(record.counts.offered < 100_000, "{:?}", record.counts);
}

/// Nothing behind it is done, and it is not taken for a whole one.
#[test]
fn in_a_pause_of_a_script() {
    let sandbox = Sandbox::new();
    sandbox.write("pause.sql", "SELECT 1;\n\\sleep 1000 s\nSELECT 2;\n");
    let line = "run --script pause.sql --connections 2 --warmup 0s --time 1h --no-record --target";
    for target in ["postgres", "sqlite"] {
        let run = WatchedRun::start(&sandbox, &format!("{line} {target}"));
        pause(BEGINNING_MS);
        run.signal(Signal::TERM);
        let json = run.end().json();
        let counts = ["/counts/completed", "/counts/unfinished"].map(|name| count(&json, name));
        assert_eq!(counts, [0, 2], "{target}: {json}");
    }
}

/// Another client that waits for it has it at once.
#[test]
fn in_a_pause_of_a_script_that_holds_a_lock() {
    let sandbox = Sandbox::new();
    let script = "\\if :client_id = 1\n\\sleep 500 ms\n\\endif\nBEGIN IMMEDIATE;\n\
                  \\if :client_id = 0\n\\sleep 1000 s\n\\endif\nCOMMIT;\n";
    sandbox.write("hold.sql", script);
    let target = "'sqlite:?busy_timeout=60s'";
    let line = format!("run --script hold.sql --connections 2 --target {target}");
    let line = format!("{line} --warmup 0s --time 1h --no-record");
    let run = WatchedRun::start(&sandbox, &line);
    pause(BEGINNING_MS);
    run.signal(Signal::TERM);
    let json = run.end().json();
    counts_add_up(&json);
    assert_eq!(count(&json, "/counts/unfinished"), 1, "{json}");
}

#[test]
fn during_the_rundown() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=4500ms' --connections 4 --warmup 0s";
    let run = sandbox.start(&format!("{line} --time 200ms --budget-every 1 --json --out r"));
    sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    run.interrupt();
    let ran = run.end();
    unanswered(&ran);
    let Run { record, .. } = read_run(&sandbox.path("r")).expect("a whole record");
    assert_eq!(record.counts.offered, 4, "{:?}", record.counts);
    assert!((record.window.measure_s - 0.2).abs() < 1e-6, "{:?}", record.window);
}

/// Nothing was answered, which no exit code hides.
fn unanswered(ran: &Ran) {
    ran.exits(3);
    assert!(ran.err.contains("most of the requested work did not happen"), "{ran:?}");
    assert_eq!(ran.json()["window"]["ended_early"], true);
}

#[test]
fn a_target_that_never_answers_meets_no_limit() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=10min' --warmup 0s --time 1h --budget-every 1";
    let run = sandbox.start(&format!("{line} --limit 'p99<=1s' --json --out r"));
    sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    run.interrupt();
    unanswered(&run.end());
}

#[test]
fn a_signal_that_comes_by_two_ways_is_one() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target null --warmup 0s --time 1m --budget-every 1 --json --out r";
    let run = sandbox.start(line);
    sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    // As `timeout` does; of two pending signals of one number there would be one. It hears of both
    // when it goes on, however long this test is kept from its CPU in between.
    run.signal(Signal::STOP);
    run.signal(Signal::TERM);
    run.signal(Signal::INT);
    run.signal(Signal::CONT);
    let ran = run.end();
    // Of two that are pending either may be taken first.
    assert!([Some(130), Some(143)].contains(&ran.code), "{ran:?}");
    is_whole(&sandbox, ran);
}

/// A gate that is cut short is not green, and not the target's failure.
#[test]
fn no_limit_is_met_by_a_part_of_a_run() {
    let ended = |limit: &str, signal: Signal| {
        let sandbox = Sandbox::new();
        let line =
            "run values1 --target 'null:?service=2ms' --connections 4 --warmup 0s --time 10m";
        let run = sandbox.start(&format!("{line} --limit '{limit}' --details --out r"));
        sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
        pause(BEGINNING_MS);
        run.signal(signal);
        let ran = run.end();
        assert!(!ran.out.contains("PASSED"), "{ran:?}");
        let record = read_run(&sandbox.path("r")).expect("a whole record").record;
        assert_eq!(record.window.planned_s, Some(600.0));
        sandbox.run("report r").fine();
        let page = std::fs::read_to_string(sandbox.path("r/report.html")).expect("a page");
        assert!(!page.contains("PASSED"), "{limit}");
        (ran, record.limits_outcome())
    };
    let met = "p95<=1h";
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let (ran, outcome) = ended(met, signal);
        ran.exits(code);
        let ran = ran.stderr_has(&["undecided: the run ended early"]);
        ran.prints(&["UNDECIDED", "of the 600 s of its window"]);
        assert_eq!(outcome, Some(CheckOutcome::Undecided));
    }
    // The longest response stays the longest, however long the run goes on.
    let (ran, outcome) = ended("max<=1ms", Signal::TERM);
    ran.exits(1);
    assert_eq!(outcome, Some(CheckOutcome::Failed));
}

/// A command whose process ignores these signals from the start.
fn ignoring(sandbox: &Sandbox, signals: &str, line: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("trap '' {signals}; exec \"$0\" \"$@\"");
    command.args(["-c", script.as_str(), env!("CARGO_BIN_EXE_dbtime")]).args(words(line));
    sandbox.settle(&mut command);
    command
}

/// As under `nohup`: it outlives its terminal. So does what a script starts with `&`, of Ctrl-C.
#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=2ms' --connections 4 --warmup 0s --time 2s \
                --no-record --events";
    let run = WatchedRun::of(ignoring(&sandbox, "HUP INT TERM", line), line.to_owned());
    [Signal::HUP, Signal::INT, Signal::TERM].into_iter().for_each(|signal| run.signal(signal));
    let json = run.end().fine().json();
    assert_eq!(json["window"]["ended_early"], false);
}

/// Its parent sends it the one that both ignore.
#[test]
fn a_run_of_its_own_process_ends_with_its_parent_whatever_that_ignores() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target null --connections 1 --warmup 0s --time 10m --quiet \
                --repeat 2 --out s";
    let run = Running::start(line, ignoring(&sandbox, "INT", line));
    sandbox.wait_for(&["s", ".001.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    run.signal(Signal::INT);
    run.signal(Signal::TERM);
    run.end().exits(143);
}

#[test]
fn a_search_for_a_rate_that_is_ended_has_found_nothing() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=1ms' --connections 2 --warmup 0s --time 20s";
    let run = sandbox.start(&format!("{line} --find-rate 'p90<=1s' --out f --quiet"));
    sandbox.wait_for(&["f", ".001.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    run.signal(Signal::TERM);
    let ran = run.end();
    ran.exits(143);
    ran.prints(&["not known, for the search was ended"]);
}

#[test]
fn twice_ends_without_a_record_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    // A statement without an end, which a first Ctrl-C waits for.
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
               SELECT COUNT(*) FROM n";
    sandbox.write(
        "w.toml",
        &format!(
            "name = \"w\"\n[[operation]]\nname = \"o\"\n[[operation.statement]]\nsql = \"{sql}\"\n"
        ),
    );
    let run = sandbox.start("run w.toml --warmup 0s --time 1m --budget-every 1 --out r");
    sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
    pause(BEGINNING_MS);
    let ran = run.interrupt_twice();
    let ran = ran.stderr_has(&["once more", "interrupted again: nothing was recorded"]);
    ran.exits(130);
    assert_eq!(sandbox.left(), ["w.toml"]);
}

#[test]
fn a_sweep_shows_the_runs_it_has() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target null --warmup 0s --time 400ms --budget-every 1";
    let run =
        sandbox.start(&format!("{line} --sweep connections=1,2,3,4,5,6,7,8,9 --json --out s"));
    sandbox.wait_for(&["s", "002", "run.json"]);
    run.interrupt();
    let ran = run.end();
    ran.exits(130);
    let documents = ran.out.lines().count();
    assert!((2..9).contains(&documents), "{documents}");
    let mut records = crate::sandbox::names(&sandbox.path("s"));
    // The lists of the sweep stand beside its runs.
    records.retain(|name| sandbox.path("s").join(name).is_dir());
    assert_eq!(records.len(), documents, "{records:?}");
    for record in records {
        read_run(&sandbox.path("s").join(record)).expect("a whole record");
    }
}
