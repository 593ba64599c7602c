//! The time budget of every shipped workload on SQLite: its parts add up.

use crate::sandbox::{Ran, Sandbox, count, counts_add_up, number};
use serde_json::Value;

/// The non-null parts add up to the total within 0.1 %.
fn adds_up(budget: &Value, of: &str) {
    let parts = budget.as_object().unwrap_or_else(|| panic!("no budget of {of}"));
    let total = number(budget, "/total");
    let known = parts.iter().filter(|(name, us)| *name != "total" && !us.is_null());
    let sum: f64 = known.map(|(name, us)| us.as_f64().unwrap_or_else(|| panic!("{name}"))).sum();
    assert!((sum - total).abs() <= 1e-3 * total, "{of}: {sum} of {total}: {budget}");
    assert!(total > 0.0, "{of}");
}

fn runs(workload: &str) {
    let sandbox = Sandbox::new();
    // Longer than a busy machine keeps the driver from beginning.
    let json = sandbox.run(&format!("run {workload} --warmup 0s --time 1s --json --out r"));
    let json = json.fine().json();
    assert_eq!(sandbox.left(), ["r"], "the temporary database is gone");
    counts_add_up(&json);
    assert!(count(&json, "/counts/completed") > 0, "{}", json["counts"]);
    assert_eq!(count(&json, "/counts/failed"), 0, "{}", json["errors"]);
    assert_eq!(json["workload"]["name"], workload);
    assert_eq!(json["target"]["engine"], "sqlite");
    adds_up(&json["budget_us"], workload);
    for part in ["cpu", "lock", "io_read", "io_write", "sync", "client", "queue", "lag"] {
        number(&json, &format!("/budget_us/{part}"));
    }
    for part in ["wire", "server_queue", "net", "server_and_wire"] {
        assert_eq!(json["budget_us"][part], Value::Null, "{part} cannot be known");
    }
    let error = number(&json, "/budget_error");
    assert!((0.0..1.0).contains(&error), "{error}");
    for operation in json["operations"].as_array().expect("operations") {
        adds_up(&operation["budget_us"], &operation["name"].to_string());
    }
    assert_eq!(json["budget"]["chosen"], "auto");
    let (every, sampled, of) = (
        number(&json, "/budget/every"),
        number(&json, "/budget/sampled"),
        number(&json, "/budget/of"),
    );
    // Debian 12 and later have what it takes to measure all of them.
    assert_eq!(json["budget"]["method"], "switches");
    assert_eq!((every, sampled), (1.0, of), "{}", json["budget"]);
    mean_of_parts_is_mean_of_all(&json);
}

fn mean_of_parts_is_mean_of_all(json: &Value) {
    let (parts, all) =
        (number(json, "/budget_us/total"), number(json, "/latency_us/response/mean"));
    let how = &json["budget"];
    assert!((parts / all - 1.0).abs() < 0.01, "{parts} of the parts, {all} of all: {how}");
    let off = number(json, "/budget/mean_off_pct");
    assert!(off.abs() < 1.0, "{off}");
}

#[test]
fn workers_that_take_the_cpu_from_each_other_are_measured_too() {
    let sandbox = Sandbox::new();
    let line = "run point-select --connections 8 --warmup 200ms --time 1s --no-record --json";
    let json = sandbox.run(line).json();
    mean_of_parts_is_mean_of_all(&json);
    // Eight threads flat out on fewer CPUs wait for one.
    let cpus = number(&json, "/environment/cpus");
    if cpus < 8.0 {
        let (runq, total) = (number(&json, "/budget_us/runq"), number(&json, "/budget_us/total"));
        assert!(runq > 0.05 * total, "{}", json["budget_us"]);
    }
    // Before they were sent they waited for each other, and for whatever else there was.
    if json["budget"]["method"] == "switches" {
        let own = number(&json, "/client/own_contention_s");
        let all = number(&json, "/client/ready_runq_s");
        assert!(own <= all && (own > 0.0 || cpus >= 8.0), "{}", json["client"]);
    }
    let alone = sandbox.run("run point-select --warmup 0s --time 200ms --no-record --json").json();
    assert_eq!(alone["client"]["own_contention_s"], Value::Null, "it has no other to wait for");
}

/// The C library does not register its threads: they cannot see that they lost the CPU.
const NO_SWITCHES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

#[test]
fn where_switches_cannot_be_seen_probes_measure_a_sample_and_the_report_says_so() {
    let sandbox = Sandbox::new();
    let run = |line: &str| {
        let mut command = sandbox.command(line);
        command.env(NO_SWITCHES.0, NO_SWITCHES.1);
        Ran::new(line, &command.output().expect("dbtime starts"))
    };
    let json = run("run atm --warmup 0s --time 300ms --no-record --json").json();
    assert_eq!(json["budget"]["method"], "probes", "{}", json["budget"]);
    adds_up(&json["budget_us"], "probed");
    number(&json, "/budget/mean_off_pct");
    run("run atm --warmup 0s --time 300ms --no-record --details")
        .prints(&["by probes, which disturb them"]);
    // A window of few transactions has all of them measured.
    let slow = "run atm --rate 200/s --warmup 0s --time 1s --no-record --json";
    let json = run(slow).json();
    let (sampled, of) = (count(&json, "/budget/sampled"), count(&json, "/budget/of"));
    assert_eq!((count(&json, "/budget/every"), sampled), (1, of), "{}", json["budget"]);
}

#[test]
fn what_was_not_measured_is_not_zero() {
    let sandbox = Sandbox::loaded();
    // One in four thousand millions of ten: none.
    let line = "run small.toml --target sqlite:t.db --transactions 10 --budget-every 4000000000";
    let json = sandbox.run(&format!("{line} --no-record --json")).fine().json();
    assert_eq!(count(&json, "/budget/sampled"), 0);
    assert_eq!(json["budget"]["mean_off_pct"], Value::Null);
    assert_eq!(json["budget_us"], Value::Null);
    assert_eq!(json["budget_error"], Value::Null);
    sandbox.run(&format!("{line} --no-record")).fine().prints(&["not measured: none of the"]);
}

#[test]
fn what_measuring_costs_is_tried_out() {
    let sandbox = Sandbox::new();
    let line = "run values1 --warmup 0s --time 200ms --no-record";
    // A driver without a CPU for a whole slice of it cannot tell.
    let tried = || sandbox.run(&format!("{line} --json")).json()["budget"]["cost"].clone();
    let told = (0..8).map(|_| tried()).find(|cost| !cost.is_null());
    let cost = &told.expect("a cost, in one of eight");
    assert_eq!(count(cost, "/pairs"), 6, "{cost}");
    assert!(number(cost, "/without_us") > 0.0, "{cost}");
    assert!(number(cost, "/low_us") <= number(cost, "/us"), "{cost}");
    let detailed = format!("{line} --details");
    let is_printed = |_| sandbox.run(&detailed).fine().out.contains("measuring costs");
    assert!((0..8).any(is_printed), "it is printed, in one of eight");
}

#[test]
fn atm() {
    runs("atm");
}

#[test]
fn oltp_read_only() {
    runs("oltp-read-only");
}

#[test]
fn oltp_read_write() {
    runs("oltp-read-write");
}

#[test]
fn point_select() {
    runs("point-select");
}

#[test]
fn report_scan() {
    runs("report-scan");
}

#[test]
fn tpcb() {
    runs("tpcb");
}

#[test]
fn values1() {
    runs("values1");
}

#[test]
fn settings_of_the_target_are_read_back() {
    let sandbox = Sandbox::on_disk().filled();
    for (name, value) in [
        ("synchronous", "off"),
        ("synchronous", "normal"),
        ("synchronous", "full"),
        ("journal_mode", "delete"),
        ("cache_size", "-4000"),
        ("busy_timeout", "250ms"),
        ("immediate", "off"),
    ] {
        let line = format!("run small.toml --target 'sqlite:t.db?{name}={value}'");
        let flags = "--transactions 200 --budget-every 1 --no-record --json";
        let json = sandbox.run(&format!("{line} {flags}")).fine().json();
        assert_eq!(json["target"]["settings"][name], value, "{}", json["target"]);
        assert_eq!(count(&json, "/counts/completed"), 200);
        let sync = number(&json, "/budget_us/sync");
        match value {
            "off" if name == "synchronous" => assert_eq!(sync, 0.0),
            "full" => assert!(sync > 0.0),
            _ => {}
        }
    }
    assert_eq!(sandbox.left(), ["small.toml", "t.db"]);
}

#[test]
fn every_transaction_is_measured_where_that_is_asked_for() {
    let sandbox = Sandbox::loaded();
    let line = "run small.toml --target sqlite:t.db --transactions 500 --no-record --json";
    let one = sandbox.run(&format!("{line} --budget-every 1")).fine().json();
    assert_eq!((count(&one, "/budget/every"), count(&one, "/budget/sampled")), (1, 500));
    assert_eq!(one["budget"]["chosen"], "given");
    adds_up(&one["budget_us"], "every 1");
    let few = sandbox.run(&format!("{line} --budget-every 10")).fine().json();
    let sampled = count(&few, "/budget/sampled");
    assert!((20..90).contains(&sampled), "{sampled} of 500");
    adds_up(&few["budget_us"], "every 10");
}

#[test]
fn without_a_budget_its_parts_are_null_and_not_zero() {
    let sandbox = Sandbox::loaded();
    let line = "run small.toml --target sqlite:t.db --transactions 300 --no-budget";
    let json = sandbox.run(&format!("{line} --no-record --json")).fine().json();
    for field in ["budget_us", "budget_error", "budget"] {
        assert_eq!(json[field], Value::Null, "{field}");
    }
    let operation = &json["operations"][0];
    assert_eq!(operation["budget_us"], Value::Null, "{operation}");
    assert_eq!(json["statements"][0]["budget_us"], Value::Null, "{}", json["statements"]);
    assert!(number(&json, "/latency_us/response/mean") > 0.0);
    sandbox.run(&format!("{line} --out r")).fine().prints(&["small on sqlite"]);
}
