//! `explain`: the advice on runs that were made, on old records, and what it refuses.

use crate::sandbox::{Ran, Sandbox, number};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What `explain --json` prints of a record, each piece of it checked against the budget.
pub(crate) fn advice(sandbox: &Sandbox, folder: &str) -> Value {
    let text = fs::read_to_string(sandbox.path(folder).join("run.json")).expect("a record");
    let record: Value = serde_json::from_str(&text).expect("JSON");
    let all = sandbox.run(&format!("explain {folder} --json")).fine().json();
    assert_eq!(all["schema"], 1);
    assert_eq!(all["mean_us"], record["budget_us"]["total"]);
    for piece in all["advice"].as_array().expect("a list") {
        let parts = piece["parts"].as_array().expect("a list").iter();
        let us = |part: &Value| record["budget_us"][part.as_str().expect("a name")].as_f64();
        let sum: f64 = parts.filter_map(us).sum();
        let most = number(piece, "/mean/at_most_us");
        assert!((sum.max(0.0) - most).abs() < 1e-6, "{sum}: {piece:#}");
        assert!(most <= number(piece, "/mean/of_us"), "{piece:#}");
        assert!(!piece["steps"].as_array().expect("a list").is_empty(), "{piece:#}");
    }
    all
}

/// The piece of a rule, which is there.
pub(crate) fn of_rule<'a>(all: &'a Value, rule: &str) -> &'a Value {
    let mut pieces = all["advice"].as_array().expect("a list").iter();
    pieces.find(|piece| piece["rule"] == rule).unwrap_or_else(|| panic!("no {rule}: {all:#}"))
}

/// A run on SQLite whose eight clients wait for one worker, as record `r`.
fn queued(sandbox: &Sandbox) -> Ran {
    let line = "run small.toml --target sqlite:t.db  --connections 8 --workers 1 \
                --time 2s --warmup 100ms --details --out r";
    sandbox.run(line).fine()
}

#[test]
fn a_queue_is_explained_by_its_pool() {
    let sandbox = Sandbox::loaded();
    let printed = queued(&sandbox);
    let all = advice(&sandbox, "r");
    let queue = of_rule(&all, "pool_queue");
    // Seven of eight are waiting, on a busy machine also for a driver that is late.
    assert!(number(queue, "/mean/share_pct") > 15.0, "{queue:#}");
    assert!(queue["figures"].to_string().contains("1 worker, busy"), "{queue:#}");
    let text = sandbox.run("explain r").fine();
    let told = ["What to look at or to try next", "1 worker, busy "];
    let text = text.prints(&told);
    assert!(text.out.lines().all(|line| line.chars().count() <= 100), "{text:?}");
    assert_eq!(sandbox.run("explain r/run.json").fine().out, text.out);
    sandbox.run("explain r --html e.html").fine().prints(&["Report: e.html\n"]);
    let page = fs::read_to_string(sandbox.path("e.html")).expect("a page");
    assert!(page.contains("<h2>What to look at or to try next</h2>"), "{page}");
    sandbox.run("explain r --html no/e.html").refused(3, &["cannot write no/e.html"]);
    let markdown = sandbox.run("explain r --markdown").fine();
    markdown.prints(&["\n### What to look at or to try next\n", "1 worker, busy ", "  - → "]);
    // The reports of the run have it too.
    printed.prints(&told);
    let html = fs::read_to_string(sandbox.path("r/report.html")).expect("a page");
    assert!(html.contains("1 worker, busy "), "no advice");
}

#[test]
fn a_record_of_schema_1_is_explained() {
    let sandbox = Sandbox::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/v1/run.json");
    fs::create_dir(sandbox.path("r")).expect("a folder");
    fs::copy(fixture, sandbox.path("r/run.json")).expect("copied");
    let all = advice(&sandbox, "r");
    let pieces = all["advice"].as_array().expect("a list");
    let rules: Vec<_> = pieces.iter().map(|piece| &piece["rule"]).collect();
    assert_eq!(rules, ["log_sync", "server_cpu"]);
    assert!((number(&all["advice"][0], "/mean/at_most_us") - 155.0).abs() < 1e-9);
    assert_eq!(all["slowest"], Value::Null);
    // What the record does not say is not known to be set.
    sandbox.run("explain r").fine().prints(&["at most 155 µs of 410 µs", "synchronous=NORMAL"]);
}

#[test]
fn a_run_without_a_budget_has_a_reason_for_no_advice() {
    let sandbox = Sandbox::loaded();
    let line = "run small.toml --target sqlite:t.db --transactions 20 --no-budget --out r";
    let printed = sandbox.run(line).fine();
    assert!(!printed.out.contains("What to look at"), "{printed:?}");
    sandbox.run("explain r").fine().prints(&["run again without --no-budget"]);
    let all = sandbox.run("explain r --json").fine().json();
    assert_eq!((&all["mean_us"], all["advice"].as_array().map(Vec::len)), (&Value::Null, Some(0)));
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let sandbox = Sandbox::loaded();
    fs::create_dir(sandbox.path("empty")).expect("a folder");
    for line in ["explain none", "explain empty", "explain empty --json"] {
        sandbox.run(line).refused(3, &["holds no run", "run.json"]);
    }
    let line = "run small.toml --target sqlite:t.db --transactions 20 --sweep workers=1,2 --out s";
    sandbox.run(line).fine();
    sandbox.run("explain s").refused(2, &["s is a sweep of 2 runs", "such as s/001"]);
    sandbox.run("explain s/002").fine();
    let whole = fs::read_to_string(sandbox.path("s/002/run.json")).expect("a record");
    sandbox.write("s/002/run.json", &whole[..whole.len() / 2]);
    sandbox.run("explain s/002").refused(3, &["s/002/run.json, line "]);
    sandbox.run("explain").refused(2, &["<RUN>"]);
}

/// A cause that is planted in a server, and seen by a trace.
#[test]
fn sleeps_in_the_server_are_told_from_its_work() {
    for (target, sleep) in [("mariadb", "SLEEP"), ("postgres", "pg_sleep")] {
        let sandbox = Sandbox::new();
        let load = "--connections 2 --transactions 200 --trace --out r --json";
        let line = format!("run --query 'SELECT {sleep}(0.01)' --target {target} {load}");
        let record = sandbox.run(&line).json();
        if record["trace"].is_null() {
            assert!(record["validity"].to_string().contains("CAP_BPF"), "{record:#}");
            return;
        }
        let all = advice(&sandbox, "r");
        let pauses = of_rule(&all, "pauses");
        assert_eq!(pauses["parts"].to_string(), r#"["sleep"]"#);
        assert!(number(pauses, "/mean/at_most_us") > 9_500.0, "{pauses:#}");
        // Beside other tests these may come first, which is true.
        let mut pieces = all["advice"].as_array().expect("pieces").iter();
        let first = pieces.find(|one| one["rule"] != "foreign_cpu");
        assert_eq!(first.map(|one| &one["rule"]), Some(&"pauses".into()), "{all:#}");
    }
}
