//! Short runs on every version, each on a private server of its own.

use super::{Version, say, versions};
use crate::sandbox::{Sandbox, count, counts_add_up, number};
use serde_json::Value;

/// What writers may do to each other and is tried again: deadlocks, waits for a lock that take too
/// long, and rows that have changed (1020, since MariaDB 11.6 has innodb_snapshot_isolation).
const MAY_BE: [&str; 5] = ["1020", "1205", "1213", "40001", "40P01"];

#[test]
fn every_version_is_driven_over_either_protocol() {
    for version in versions() {
        for protocol in ["text", "prepared"] {
            for workload in ["atm", "point-select"] {
                drive(&version, workload, protocol);
            }
        }
    }
}

fn drive(version: &Version, workload: &str, protocol: &str) {
    let sandbox = Sandbox::new();
    let target = format!("{}:{}", version.product.name(), version.prefix.display());
    let json = sandbox
        .run(&format!(
            "run {workload} --target '{target}' --protocol {protocol} --connections 4 --time 1s \
             --warmup 200ms --out r --json"
        ))
        .fine()
        .json();
    let what = format!("{} {workload} {protocol}", version.name);
    counts_add_up(&json);
    let done = count(&json, "/counts/completed");
    say(&format!("{what}: {done} transactions"));
    assert!(done > 0, "{what}: {}", json["error_messages"]);
    let errors = json["errors"].as_object().expect("errors by code");
    let is_expected = errors.keys().all(|code| MAY_BE.contains(&code.as_str()));
    assert!(is_expected, "{what}: {}", json["error_messages"]);
    if workload == "point-select" {
        assert!(errors.is_empty(), "{what}: {}", json["error_messages"]);
    }
    recorded(version, &json, protocol, &what);
}

/// Whether the record tells what it was that was measured, and what it counted.
fn recorded(version: &Version, json: &Value, protocol: &str, what: &str) {
    let told = json["target"]["version"].as_str().expect("a version");
    assert!(told.contains(version.text()), "{what}: {told}");
    assert_eq!(json["target"]["protocol"], protocol, "{what}");
    assert!(json["target"]["settings"].as_object().is_some_and(|all| all.len() > 5), "{what}");
    let counters = json["counters"]["key_counters"].as_array().expect("counters");
    assert!(counters.len() > 3, "{what}: {counters:?}");
    let is_rated = |counter: &Value| counter["per_transaction"].as_f64().is_some_and(|n| n > 0.0);
    assert!(counters.iter().all(is_rated), "{what}: {counters:?}");
    assert!(number(json, "/server/cpu_us_per_tx") > 1.0, "{what}");
    let connections = &json["connections"];
    assert_eq!([&connections["lost"], &connections["failed"]], [0, 0], "{what}: {connections}");
}
