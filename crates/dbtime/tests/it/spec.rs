//! Runs that are written down, and runs of a sweep as processes of their own.

use crate::running::Running;
use crate::sandbox::{PATIENCE, Sandbox, count};
use dbtime_model::study::RecordedStudy;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::time::{Duration, Instant};

const LINE: &str = "run values1 --target 'null:?service=1ms' --transactions 40 --seed 7";

#[test]
fn what_is_printed_can_be_run_and_so_can_its_record() {
    let sandbox = Sandbox::new();
    let printed = sandbox.run(&format!("{LINE} --print-spec")).fine();
    assert!(sandbox.left().is_empty(), "nothing was run");
    sandbox.write("spec.json", &printed.out);
    let first = sandbox.run("run --spec spec.json --json --out r").fine().json();
    assert_eq!(first["spec"], printed.json());
    assert_eq!(count(&first, "/counts/offered"), 40);
    let again = sandbox.run("run --spec r --json --no-record").fine().json();
    assert_eq!(again["spec"], first["spec"]);
    assert_eq!(again["command"], first["command"]);
    let swept = sandbox.run(&format!("{LINE} --sweep connections=1,2 --print-spec")).fine();
    let connections = swept.out.lines().map(|line| {
        let spec: Value = serde_json::from_str(line).expect("a spec");
        spec["load"]["connections"].as_u64()
    });
    assert!(connections.eq([Some(1), Some(2)]));
}

#[test]
fn a_flag_without_a_value_is_swept() {
    let sandbox = Sandbox::new();
    let sweep = "--sweep 'no-budget=true,false connections=2'";
    let swept = sandbox.run(&format!("{LINE} {sweep} --print-spec")).fine();
    let budgets = swept.out.lines().map(|line| {
        let spec: Value = serde_json::from_str(line).expect("a spec");
        spec["window"]["budget"].as_str().map(str::to_owned)
    });
    let budgets: Vec<_> = budgets.collect();
    assert_eq!(budgets, [Some("off".to_owned()), Some("auto".to_owned())]);
}

#[test]
fn what_is_wrong_with_a_spec_is_named() {
    let sandbox = Sandbox::new();
    for (text, cause) in [
        ("{\"load\":{\"conections\":2}}", "there is no field `load.conections`"),
        ("{\"load\":{\"rate\":\"fast\"}}", "--rate: `fast` is no rate"),
        ("{\"window\":{\"time\":\"5 parsecs\"}}", "`parsecs` is no unit"),
        (
            "{\"workload\":{\"name\":\"values1\",\"sha256\":\"00\"}}",
            "restore it, or leave sha256 out",
        ),
        ("{\"load\":{\"connections\":\"2\"}}", "`load.connections` is the text \"2\", and takes"),
        ("{\"schema\":9}", "use a newer dbtime"),
        ("no JSON", "expected"),
    ] {
        sandbox.write("s.json", text);
        sandbox.run("run --spec s.json --no-record").refused(2, &[cause]);
    }
    sandbox.run("run --spec nothing.json").refused(2, &["nothing.json cannot be read"]);
    sandbox.run("run --spec tmp").refused(2, &["--spec tmp is a folder without run.json", "name"]);
    sandbox.write("tmp/plan.json", "{}");
    sandbox.run("run --spec tmp").refused(2, &["several runs: name the folder of one of them"]);
    sandbox.run("run values1 --spec s.json").refused(2, &["--spec", "cannot be used with"]);
    sandbox.run("run --spec s.json --sweep seed=1,2").refused(2, &["cannot be used with"]);
}

/// However runs are made of it, a description is refused before anything is done or written.
#[test]
fn what_no_target_can_have_is_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    for (described, factors, why) in [
        ("values1 --target null", "server-cpus=0", "--server-cpus is for a private server"),
        ("values1", "server-set=a=1", "--server-set is for a private server"),
        ("values1 --target sqlite:t.db", "server-data=x", "--server-data is for a private server"),
        ("values1", "workers=5000", "5000 workers are too many"),
        ("tpcb", "target=mysql://u@127.0.0.1:1/", "names no database"),
        ("values1", "target=mariadb:/nowhere server-set=user=x", "dbtime sets this itself"),
    ] {
        let flags: Vec<String> = factors.split(' ').map(|flag| format!("--{flag}")).collect();
        let whole = format!("run {described} {}", flags.join(" "));
        for line in [
            format!("{whole} --print-spec"),
            format!("{whole} --transactions 1 --repeat 2 --out s"),
            format!("run {described} --transactions 1 --sweep '{factors}' --out s"),
            format!("run {described} --sweep '{factors}' --print-spec"),
            format!("study ab {described} --a '{factors}' --b connections=2 --for 1min"),
        ] {
            sandbox.run(&line).refused(2, &[why]);
        }
        let cells = "[[cell]]\nname = \"a\"\n[[cell]]\nname = \"b\"\n";
        sandbox.write("s.toml", &format!("run = \"{described}\"\n{cells}flags = \"{factors}\"\n"));
        sandbox.run("study plan s.toml").refused(2, &["b: ", why]);
    }
    let restored = "run values1 --target null --transactions 1 --snapshots kept";
    for manner in ["--print-spec", "--sweep connections=1,2 --out s", "--repeat 2 --out s"] {
        let line = format!("{restored} {manner}");
        sandbox.run(&line).refused(2, &["--snapshots is for data that the run loads"]);
    }
    assert_eq!(sandbox.left(), ["s.toml"]);
}

#[test]
fn passwords_are_in_no_spec_and_come_from_beside_it() {
    let sandbox = Sandbox::new();
    for secret in [
        "--target mysql://u:topsecret@127.0.0.1:1/d",
        "--target mariadb:/nowhere --server-env A_TOKEN=topsecret",
    ] {
        let printed = sandbox.run(&format!("run values1 {secret} --print-spec")).fine();
        assert!(!printed.out.contains("topsecret"), "{printed:?}");
    }
    let line = "run values1 --target mysql://u@127.0.0.1:1/d --password-file no.txt --print-spec";
    sandbox.run(line).refused(2, &["--password-file no.txt cannot be read"]);
}

#[test]
fn a_run_of_a_sweep_leaves_nothing_to_the_next() {
    let sandbox = Sandbox::new();
    let whole = std::thread::available_parallelism().expect("CPUs").get() as u64;
    let sweep = "--sweep 'client-cpus=0 connections=1; connections=1'";
    let ran = sandbox.run(&format!("{LINE} {sweep} --no-record --json")).fine();
    let cpus = ran.out.lines().map(|line| {
        let record: Value = serde_json::from_str(line).expect("a record");
        count(&record, "/environment/cpus")
    });
    assert!(cpus.eq([1, whole]), "{ran:?}");
}

#[test]
fn a_run_that_crashes_is_a_failed_one_and_the_others_are_made() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=1ms' --warmup 0s --time 5s --quiet";
    let running = sandbox.start(&format!("{line} --sweep connections=1,2 --out s"));
    sandbox.wait_for(&["s", ".001.partial-", "latency.hlog"]);
    let run = process_of_run(&running);
    kill_process(run, Signal::KILL).expect("it is ours");
    let ran = running.end();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.err.contains("run 1 of 2: the process of the run was killed by signal 9"),
        "{ran:?}"
    );
    assert!(ran.out.contains("FAILED: run 001 (connections=1)"), "{ran:?}");
    let sweep = RecordedStudy::read(&sandbox.path("s")).expect("a sweep");
    assert!(sweep.history.finished.is_some());
    let failed: Vec<_> = sweep.failed_runs().collect();
    let is_told = |reason: &String| reason.contains("signal 9");
    assert!(failed.len() == 1 && failed[0].reason.as_ref().is_some_and(is_told), "{failed:?}");
    assert!(sweep.made_runs().iter().map(|run| &*run.trial.folder).eq(["002"]));
}

#[test]
fn a_run_ends_with_the_sweep_that_was_killed() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=1ms' --warmup 0s --time 10m --quiet";
    let running = sandbox.start(&format!("{line} --sweep connections=1,2 --out s"));
    sandbox.wait_for(&["s", ".001.partial-", "latency.hlog"]);
    let run = process_of_run(&running).as_raw_nonzero();
    running.signal(Signal::KILL);
    running.end();
    let begun = Instant::now();
    while std::fs::read_to_string(format!("/proc/{run}/cmdline")).is_ok_and(|line| !line.is_empty())
    {
        assert!(begun.elapsed() < PATIENCE, "process {run} goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process of the run that a sweep has under way.
fn process_of_run(sweep: &Running) -> Pid {
    let sweep = sweep.pid();
    let children = std::fs::read_to_string(format!("/proc/{sweep}/task/{sweep}/children"));
    let children = children.expect("it runs");
    let child = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    child.and_then(Pid::from_raw).expect("one of its runs")
}
