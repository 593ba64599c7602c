//! Where records go, and that none is ever half there.

use crate::sandbox::{Sandbox, counts_add_up, names};
use dbtime_model::record::read_run;
use std::fs;

const LINE: &str = "run values1 --target null --transactions 50";

#[test]
fn a_record_is_a_folder_of_open_formats() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{LINE} --out a/b/r")).fine().prints(&["Record: a/b/r\n"]);
    let files = names(&sandbox.path("a/b/r"));
    let wanted = ["latency.hlog", "report.html", "run.json", "series.csv", "transactions.csv"];
    assert_eq!(files, wanted);
    assert_eq!(names(&sandbox.path("a/b")), ["r"]);
    let run = read_run(&sandbox.path("a/b/r")).expect("a whole record");
    assert_eq!(run.record.counts.completed, 50);
    assert_eq!(run.series.iter().map(|row| row.completed).sum::<u64>(), 50);
    assert!(!run.transactions.is_empty());
    let log = fs::read_to_string(sandbox.path("a/b/r/latency.hlog")).expect("a log");
    assert!(log.starts_with("#[Histogram log format version 1.3]"), "{log}");
    assert!(log.lines().any(|line| line.starts_with("Tag=response,")), "{log}");
}

/// On a pool of threads, on shards, and where a number of transactions ends the window.
#[test]
fn every_run_goes_through_every_phase() {
    let sandbox = Sandbox::new();
    let timed = "--time 300ms --warmup 200ms --connections 2";
    for (name, line) in [
        ("pool", format!("run values1 --target sqlite {timed}")),
        ("shards", format!("run values1 --target null {timed} --shards 2")),
        ("counted", "run values1 --target null --transactions 50 --warmup 0s".to_owned()),
    ] {
        sandbox.run(&format!("{line} --out {name}")).fine();
        let record = read_run(&sandbox.path(name)).expect("a whole record").record;
        let phases: Vec<String> = record
            .phases
            .iter()
            .map(|instant| serde_json::to_string(&instant.phase).expect("a name"))
            .collect();
        let all = "prepared connected started window_began window_ended load_ended disconnected";
        assert_eq!(phases.join(" ").replace('"', ""), all, "{name}");
        let at: Vec<f64> = record.phases.iter().map(|instant| instant.at_s).collect();
        assert!(at.is_sorted() && at[0] < 0.0 && at[2] == 0.0, "{name}: {at:?}");
        let window = &record.window;
        assert!((at[3] - window.warmup_s).abs() < 1e-6, "{name}: {at:?}");
        // Where a number of transactions ends it, a busy machine tells that late; its time would be
        // half a minute.
        let room = if name == "counted" { 15.0 } else { 0.02 };
        assert!((at[4] - at[3] - window.measure_s).abs() < room, "{name}: {at:?} {window:?}");
    }
}

#[test]
fn a_record_is_never_overwritten() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).expect("a folder");
    sandbox.write("file", "mine");
    std::os::unix::fs::symlink("nowhere", sandbox.path("link")).expect("a link");
    for out in ["empty", "file", "link"] {
        let told = [&*format!("{out} exists already"), "another --out"];
        sandbox.run(&format!("{LINE} --out {out}")).refused(2, &told);
    }
    assert_eq!(sandbox.left(), ["empty", "file", "link"]);
    assert_eq!(fs::read_to_string(sandbox.path("file")).expect("kept"), "mine");
    assert!(names(&sandbox.path("empty")).is_empty());
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "mine");
    // A run of a minute would not be over in time.
    let line = "run values1 --target null --time 1m --out";
    let told = ["cannot write the record to file/r", "not a directory"];
    let ran = sandbox.run(&format!("{line} file/r")).refused(3, &told);
    assert_eq!(ran.err.matches("not a directory").count(), 1, "{ran:?}");
    sandbox.run(&format!("{line} /proc/r")).refused(3, &["cannot write the record to /proc/r"]);
    assert_eq!(sandbox.left(), ["file"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_anything_is_touched() {
    let sandbox = Sandbox::new();
    sandbox.write("init.lua", "function init() print('touched') end function event() end");
    for (line, code) in [
        // Whatever came first would complain of a database that is not there.
        ("run atm --target sqlite:none.db --out /proc/r", 3),
        ("run atm --target sqlite:none.db --rate auto --repeat 2 --out /proc/r", 3),
        ("run atm --target sqlite:none.db --sweep connections=1,2 --out /proc/r", 3),
        ("pgbench --target sqlite:none.db --out=/proc/r", 1),
        ("sysbench init.lua --events=1 run --out=/proc/r", 1),
    ] {
        let ran = sandbox.run(line);
        ran.exits(code);
        let told = format!("{}{}", ran.out, ran.err);
        assert!(told.contains("cannot write the record to /proc/r"), "{ran:?}");
        assert!(!told.contains("touched") && !told.contains("none.db"), "{ran:?}");
    }
    assert_eq!(sandbox.left(), ["init.lua"]);
}

#[test]
fn a_sweep_that_fails_leaves_no_folder() {
    let sandbox = Sandbox::new();
    let line = "run atm --target sqlite:none.db --rate auto --repeat 2 --out a/b/s";
    sandbox.run(line).refused(3, &["no database"]);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

#[test]
fn a_record_that_is_removed_meanwhile_costs_no_report() {
    let sandbox = Sandbox::new();
    for json in ["", "--json"] {
        let line = format!("run values1 --target null --warmup 0s --time 4s {json} --out a/r");
        let run = sandbox.start(&line);
        sandbox.wait_for(&["a", ".r.partial-", "latency.hlog"]);
        fs::remove_dir_all(sandbox.path("a")).expect("removed");
        let ran = run.end().stderr_has(&["dbtime: cannot write the record to a/r", "No such file"]);
        ran.exits(3);
        match json {
            "" => drop(ran.prints(&["values1 on null"])),
            _ => counts_add_up(&ran.json()),
        }
        assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    }
}

#[test]
fn without_a_name_records_go_below_the_working_folder() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(LINE).fine();
    sandbox.run("run --query 'SELECT 1' --target null --transactions 5").fine();
    assert_eq!(sandbox.left(), ["dbtime-runs"]);
    let records = names(&sandbox.path("dbtime-runs"));
    assert_eq!(records.len(), 2, "{records:?}");
    let named = |end: &str| records.iter().find(|name| name.ends_with(end)).expect(end).clone();
    let name = named("-values1");
    assert!(first.out.contains(&format!("Record: dbtime-runs/{name}\n")), "{first:?}");
    assert!(first.out.ends_with(&format!("Report: dbtime-runs/{name}/report.html\n")), "{first:?}");
    named("-query");
    for name in &records {
        read_run(&sandbox.path("dbtime-runs").join(name)).expect("a whole record");
    }
}

#[test]
fn two_runs_at_once_have_names_of_their_own() {
    let sandbox = Sandbox::new();
    let running: Vec<_> = (0..3).map(|_| sandbox.start(LINE)).collect();
    for run in running {
        run.end().fine();
    }
    assert_eq!(names(&sandbox.path("dbtime-runs")).len(), 3);
}

#[test]
fn no_record_means_none() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&format!("{LINE} --no-record")).fine();
    assert!(!ran.out.contains("Record:"), "{ran:?}");
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

#[test]
fn a_run_that_fails_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run("run atm --target sqlite:none.db --out r").refused(3, &["no database"]);
    sandbox.run("run atm --target sqlite:none.db --out a/r").refused(3, &["no database"]);
    let query = "run --query 'SELEC 1' --transactions 5 --out r";
    sandbox.run(query).refused(3, &["syntax error"]);
    for name in sandbox.left() {
        assert!(names(&sandbox.path(&name)).is_empty(), "{:?}", names(&sandbox.path(&name)));
    }
}

#[test]
fn a_killed_run_leaves_nothing_that_looks_like_one() {
    let sandbox = Sandbox::new();
    let run = sandbox.start("run values1 --target null --warmup 0s --time 1m --out r");
    sandbox.wait_for(&[".r.partial-", "latency.hlog"]);
    run.kill();
    assert_eq!(run.end().code, None);
    assert!(!sandbox.path("r").exists());
    let half = sandbox.left().into_iter().find(|name| name.contains("partial")).expect("is left");
    sandbox.run(&format!("report {half} --text")).refused(3, &["holds no run", "killed"]);
    sandbox.run(&format!("{LINE} --out r")).fine();
}
