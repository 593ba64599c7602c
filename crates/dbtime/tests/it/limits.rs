//! Limits: what is required, what was measured, and the exit code that says whether it held.

use crate::sandbox::{Sandbox, number};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command};

const QUIET: &str = "--warmup 0s --no-record";
/// A second, of which a driver without a CPU does not take nine tenths.
const SERVICE: &str = "run values1 --target 'null:?service=2ms' --connections 4 --time 1s";

#[test]
fn limits_that_hold_pass() {
    let sandbox = Sandbox::new();
    let limits = "--limit 'p90<=1s' --limit 'avg <= 1s' --limit 'errors<=0.1%'";
    let ran = sandbox.run(&format!("{SERVICE} {QUIET} {limits} --details")).fine();
    ran.prints(&["PASSED", "1.00 s"]);
    let json = sandbox.run(&format!("{SERVICE} {QUIET} {limits} --json")).fine().json();
    let checks = json["operations"][0]["limits"].as_array().expect("checks");
    assert_eq!(checks.len(), 3);
    assert!(checks.iter().all(|check| check["passed"] == Value::Bool(true)), "{checks:?}");
    assert_eq!(number(&json, "/operations/0/limits/0/required"), 1e6);
}

#[test]
fn a_limit_that_does_not_hold_fails_with_1() {
    let sandbox = Sandbox::new();
    for (limit, required) in
        [("p90<=1ms", "1.00 ms"), ("p99<=500us", "≤ 500 µs"), ("max<=1.5ms", "≤ 1.5 ms")]
    {
        let line = format!("{SERVICE} --warmup 0s --limit {limit}");
        let ran = sandbox.run(&format!("{line} --no-record --details"));
        let ran = ran.with(1, &["FAILED", required]);
        assert!(!ran.out.contains("PASSED"), "{ran:?}");
        let json = sandbox.run(&format!("{line} --no-record --json")).with(1, &[]).json();
        let check = &json["operations"][0]["limits"][0];
        assert_eq!(check["passed"], Value::Bool(false));
        assert!(number(check, "/measured") > number(check, "/required"), "{check}");
    }
    assert!(sandbox.left().is_empty());
    // It fails, and is recorded all the same.
    let line = format!("{SERVICE} --warmup 0s --limit p90<=1ms --out r --junit limits.xml");
    sandbox.run(&line).with(1, &["FAILED", "Record: r\n"]);
    let junit = fs::read_to_string(sandbox.path("limits.xml")).expect("a file");
    assert!(junit.contains("failures=\"1\"") && junit.contains(": p90\"><failure"), "{junit}");
    fs::remove_file(sandbox.path("limits.xml")).expect("it was there");
    sandbox.run("report r --text").fine().prints(&["FAILED"]);
    assert_eq!(sandbox.left(), ["r"]);
}

/// A CI system would take it for the result of this run.
#[test]
fn no_junit_file_of_before_outlasts_a_run_without_a_result() {
    let sandbox = Sandbox::new();
    sandbox.write("limits.xml", "<testsuites/>");
    let absent = "run values1 --target mysql://u@127.0.0.1:1/d --time 1s --no-record";
    sandbox.run(&format!("{absent} --junit limits.xml")).exits(3);
    let junit = fs::read_to_string(sandbox.path("limits.xml")).expect("a file");
    assert!(junit.contains("errors=\"1\"") && junit.contains("ended without a result"), "{junit}");
    // What cannot be in the folder of the record is refused before anything is measured.
    for name in ["r", "r/run.json", "r/report.html", "./r/more/m.md"] {
        let line = format!("{SERVICE} --time 1h --out r --markdown {name}");
        sandbox.run(&line).refused(2, &[name, "in the record that this run makes", "r/summary.md"]);
    }
    let line = format!("{SERVICE} --time 1h --out r --markdown r/a.md --junit r/a.md");
    sandbox.run(&line).refused(2, &["are one file"]);
    // The folder of a record is not there before its run.
    let line = format!("{SERVICE} --warmup 0s --limit p90<=1ms --out r --junit r/limits.xml");
    sandbox.run(&line).with(1, &["FAILED", "Record: r\n"]);
    let junit = fs::read_to_string(sandbox.path("r/limits.xml")).expect("a file");
    assert!(junit.contains("failures=\"1\""), "{junit}");
    // Nor is it left unfinished for another file that cannot be written.
    let line = format!("{SERVICE} --warmup 0s --limit p90<=1ms --no-record --junit limits.xml");
    let ran = sandbox.run(&format!("{line} --markdown /dev/full"));
    ran.exits(3);
    let ran = ran.stderr_has(&["cannot write /dev/full"]);
    let junit = fs::read_to_string(sandbox.path("limits.xml")).expect("a file");
    assert!(junit.contains("failures=\"1\"") && ran.out.contains("FAILED"), "{junit}");
    // What cannot be written is refused before the load.
    for place in ["none/limits.xml", "tmp"] {
        let ran = sandbox.run(&format!("{SERVICE} {QUIET} --limit 'p90<=1s' --junit {place}"));
        ran.refused(3, &["cannot write", place, "name a file in an existing folder"]);
    }
}

#[test]
fn a_throughput_is_required_of_the_run() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{SERVICE} {QUIET} --limit 'throughput>=100/s'")).with(0, &["PASSED"]);
    sandbox.run(&format!("{SERVICE} {QUIET} --limit 'throughput>=100k/s'")).with(1, &["FAILED"]);
}

#[test]
fn limits_of_the_workload_count_too() {
    let sandbox = Sandbox::new();
    let file = |limit: &str| {
        let text = "name = \"w\"\n[[operation]]\nname = \"o\"\nlimits = [\"LIMIT\"]\n\
                    [[operation.statement]]\nsql = \"SELECT 1\"\n";
        sandbox.write("w.toml", &text.replace("LIMIT", limit));
    };
    let line = "run w.toml --target 'null:?service=1ms' --transactions 50 --no-record";
    file("p90 <= 1s");
    sandbox.run(line).with(0, &["PASSED"]);
    file("p90 <= 100us");
    sandbox.run(&format!("{line} --details")).with(1, &["FAILED", "100 µs"]);
}

#[test]
fn nothing_measured_is_no_proof() {
    let sandbox = Sandbox::loaded();
    let text = "name = \"w\"\n[[operation]]\nname = \"o\"\n\
                [[operation.statement]]\nsql = \"INSERT INTO item VALUES (1, 1)\"\n";
    sandbox.write("w.toml", text);
    let line = "run w.toml --target sqlite:t.db --transactions 20 --no-record --budget-every 1";
    // Nothing of what was asked for happened: that is no matter of limits.
    sandbox.run(line).with(3, &["SQLITE_CONSTRAINT_PRIMARYKEY"]);
    sandbox.run(&format!("{line} --limit 'p90<=1h'")).with(3, &["FAILED"]);
    sandbox.run(&format!("{line} --limit 'errors<=50%'")).with(3, &["FAILED"]);
}

/// Shells that leave nobody a CPU to himself.
struct CpuHogs(Vec<Child>);

impl CpuHogs {
    fn start() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]);
        Self((0..2 * cpus).map(|_| shell.spawn().expect("a shell")).collect())
    }
}

impl Drop for CpuHogs {
    /// Also where a test fails.
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill();
            let _ = hog.wait();
        }
    }
}

#[test]
fn a_limit_missed_for_what_else_the_machine_did_is_undecided() {
    let sandbox = Sandbox::new();
    let hogs = CpuHogs::start();
    // A time slice is longer than this, and a statement much shorter.
    let line = "run values1 --connections 2 --time 1s --warmup 0s --limit 'max<=500us' --json";
    let ran = sandbox.run(&format!("{line} --no-record"));
    drop(hogs);
    ran.exits(4);
    let ran = ran.stderr_has(&["undecided: a limit was missed"]);
    let json = ran.json();
    assert_ne!(json["validity"]["grade"], "sound", "{}", json["validity"]);
    let reasons = json["validity"]["reasons"].as_array().expect("a list");
    let foreign = reasons.iter().find(|reason| reason["kind"] == "foreign_cpu");
    let foreign = foreign.unwrap_or_else(|| panic!("{reasons:?}"));
    assert!(number(foreign, "/share_pct") > number(foreign, "/threshold_pct"), "{foreign}");
    assert_eq!(json["operations"][0]["limits"][0]["passed"], Value::Bool(false));
}

/// At a rate no more can be completed than is due, and of clients that pause no more than they ask.
#[test]
fn a_throughput_that_is_not_asked_for_is_missed_whatever_else_the_machine_did() {
    let sandbox = Sandbox::new();
    let hogs = CpuHogs::start();
    let of = |load: &str| {
        let line = format!("run values1 --connections 2 {load} --time 1s {QUIET}");
        sandbox.run(&format!("{line} --limit 'throughput>=200/s'"))
    };
    let runs = [of("--rate 50/s"), of("--think 50ms")];
    drop(hogs);
    for ran in runs {
        ran.with(1, &["FAILED: 1 of 1 limits missed"]);
    }
}

#[test]
fn strict_refuses_an_invalid_measurement_with_4() {
    let sandbox = Sandbox::new();
    // A closed loop on nothing measures the driver alone.
    let line = "run values1 --target null --warmup 0s --time 300ms --no-record";
    let ran = sandbox.run(line).with(0, &["NOT VALID", "client-limited"]);
    assert!(ran.out.contains('→'), "no remedy in {ran:?}");
    sandbox.run(&format!("{line} --strict")).with(4, &["NOT VALID"]);
    // A limit that is met with lag in it is met; one that is missed for lag alone is undecided.
    sandbox.run(&format!("{line} --limit 'p90<=1s'")).with(0, &["NOT VALID", "PASSED"]);
    let undecided = sandbox.run(&format!("{line} --limit 'p50<=1us'"));
    undecided.stderr_has(&["undecided", "lateness"]).with(4, &["UNDECIDED"]);
    sandbox.run(&format!("{line} --strict --limit 'p90<=1ns'")).with(4, &["FAILED"]);
    let json = sandbox.run(&format!("{line} --strict --json")).with(4, &[]).json();
    assert_eq!(json["validity"]["client_limited"], Value::Bool(true));
    assert_eq!(json["validity"]["valid"], Value::Bool(false));
    // A valid one is fine: a short one, for others may be busy all the time.
    let line = format!("{SERVICE} {QUIET} --connections 1 --time 300ms --strict");
    let mut reasons = Vec::new();
    let is_valid = (0..30).map(|_| sandbox.run(&line)).any(|ran| {
        reasons.push(ran.err);
        ran.code == Some(0)
    });
    assert!(is_valid, "none of thirty: {reasons:?}");
}
