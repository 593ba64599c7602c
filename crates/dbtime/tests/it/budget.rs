//! The time budget of every shipped workload on SQLite: its parts add up.

use crate::sandbox::{Sandbox, count, counts_add_up, number};
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
    let json = sandbox.run(&format!("run {workload} --warmup 0s --time 300ms --json --out r"));
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
    assert!(every >= 1.0 && sampled >= 1.0 && sampled <= of, "{}", json["budget"]);
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
    let sandbox = Sandbox::loaded();
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
