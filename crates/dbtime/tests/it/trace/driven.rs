//! `dbtime run --trace`: what the driver sent is matched with what the server did.

use super::*;
use crate::given_server::PRODUCTS;

/// A run's record; `None` without eBPF.
fn traced(target: &str, options: &str) -> Option<Value> {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&format!(
        "run --query 'SELECT 1' --target '{target}' --time 1s --warmup 100ms --trace --json {options}"
    ));
    let record: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    let warnings = record["validity"]["warnings"].as_array().expect("a list");
    let untraced = warnings.iter().find(|warning| warning["kind"] == "untraced");
    if let Some(untraced) = untraced {
        assert!(untraced["text"].to_string().contains("CAP_BPF"), "{untraced}");
        not_tested(&untraced["text"].to_string());
        return None;
    }
    Some(record)
}

/// Every statement is matched, and its parts are what its response was.
fn is_explained(record: &Value) {
    let join = &record["trace"]["join"];
    let count = |name: &str| join[name].as_u64().expect("a count");
    let statements = count("matched") + count("unmatched") + count("ambiguous");
    assert!(count("matched") > 100, "{join}");
    assert!(count("matched") as f64 >= 0.999 * statements as f64, "{join}");
    let budget = &record["budget_us"];
    let part = |name: &str| budget[name].as_f64();
    for name in ["wire", "server_queue", "cpu", "runq_woken", "lock", "sync"] {
        assert!(part(name).is_some(), "{name}: {budget}");
    }
    assert!(part("cpu") > Some(0.0), "{budget}");
    assert_eq!(part("server_and_wire"), None, "{budget}");
    let parts = budget.as_object().expect("parts by name");
    let sum: f64 =
        parts.iter().filter(|(name, _)| *name != "total").filter_map(|(_, us)| us.as_f64()).sum();
    let total = part("total").expect("a total");
    assert!((sum - total).abs() < 0.01, "{sum}: {budget}");
}

#[test]
fn statements_are_matched_by_socket_and_by_port() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let rate = "--connections 4 --rate 500/s --protocol text";
        for (target, options) in [(server.target(), "--connections 4"), (server.target_tcp(), rate)]
        {
            let Some(record) = traced(&target, options) else { return };
            is_explained(&record);
        }
    }
}
