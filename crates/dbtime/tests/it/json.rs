//! `--json`: one document on stdout with every field that scripts may rely on.

use crate::sandbox::{Ran, Sandbox, counts_add_up};
use serde_json::{Value, json};

const LATENCY: [&str; 9] = ["mean", "stddev", "min", "p50", "p90", "p95", "p99", "p999", "max"];

const PARTS: [&str; 18] = [
    "queue",
    "lag",
    "client",
    "think",
    "backoff",
    "wire",
    "server_queue",
    "cpu",
    "runq",
    "lock",
    "io_read",
    "io_write",
    "sync",
    "net",
    "sleep",
    "other",
    "server_and_wire",
    "unexplained",
];

/// A value of the type a field must have; a text may name two of them.
fn documented() -> Value {
    let latency: Value = LATENCY.map(|name| (name.to_owned(), json!(0))).into_iter().collect();
    let mut budget: Value =
        PARTS.map(|name| (name.to_owned(), json!("number or null"))).into_iter().collect();
    budget["total"] = json!(0);
    json!({
        "schema": 1, "dbtime": "", "command": "", "started_at": "",
        "environment": {"kernel": "", "cpus": 2, "steal_pct": 0.0, "foreign_cpu_pct": 0.0},
        "workload": {"name": "", "scale": 1},
        "target": {"engine": "", "version": "", "settings": {}},
        "load": {
            "mode": "", "rate_tps": "number or null", "jitter_us": "number or null",
            "arrivals": "", "connections": 64, "workers": "number or null",
            "think_us": "number or null", "seed": 1
        },
        "window": {"warmup_s": 5.0, "measure_s": 30.0},
        "basis": "",
        "counts": {
            "offered": 0, "completed": 0, "failed": 0, "dropped": 0, "unfinished": 0,
            "outstanding": 0, "held": 0, "held_failed": 0, "held_unfinished": 0,
            "retries": 0
        },
        "errors": {},
        "throughput_tps": 0.0,
        "latency_us": {"response": latency, "service": latency, "queue": latency, "lag": latency},
        "operations": [{
            "name": "", "count": 0, "share": 1.0, "latency_us": {}, "budget_us": budget,
            "limits": [{"metric": "", "required": 0, "measured": 0, "passed": true}]
        }],
        "statements": [{
            "fingerprint": "", "count": 0, "round_trips": 0, "latency_us": {}, "budget_us": budget
        }],
        "budget_us": budget,
        "budget_error": "number or null",
        "round_trips_per_tx": 0.0,
        "client": {"cpu_us_per_tx": 0.0, "busy": 0.0},
        "server": "object or null",
        "validity": {"valid": true, "client_limited": false, "warnings": []}
    })
}

/// Every documented field is there and of its type.
fn has(found: &Value, wanted: &Value, at: &str) {
    let agrees = match wanted {
        Value::String(kinds) if kinds == "number or null" => found.is_number() || found.is_null(),
        Value::String(kinds) if kinds == "object or null" => found.is_object() || found.is_null(),
        Value::String(_) => found.is_string(),
        Value::Number(_) => found.is_number(),
        Value::Bool(_) => found.is_boolean(),
        Value::Array(_) => found.is_array(),
        Value::Object(_) => found.is_object(),
        Value::Null => found.is_null(),
    };
    assert!(agrees, "{at} is {found}, documented as {wanted}");
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            for (name, wanted) in wanted {
                let field = found.get(name).unwrap_or_else(|| panic!("{at}/{name} is missing"));
                has(field, wanted, &format!("{at}/{name}"));
            }
        }
        (Value::Array(found), Value::Array(wanted)) => {
            for (field, wanted) in found.iter().zip(wanted.iter().cycle()) {
                has(field, wanted, &format!("{at}/0"));
            }
        }
        _ => {}
    }
}

/// Exactly one document, ended by a newline.
fn document(ran: &Ran) -> Value {
    assert!(ran.out.starts_with('{') && ran.out.ends_with("}\n"), "{ran:?}");
    ran.json()
}

#[test]
fn every_documented_field_is_there() {
    let sandbox = Sandbox::loaded();
    let loads = [
        "--warmup 0s --time 200ms --limit p90<=1h",
        "--rate 500/s --workers 2 --transactions 100 --limit avg<=1h",
        "--connections 4 --think 1ms --transactions 50 --limit errors<=0%",
        "--no-budget --transactions 50",
    ];
    for load in loads {
        let line = format!("run small.toml --target sqlite:t.db {load} --no-record --json");
        let json = document(&sandbox.run(&line).fine());
        let mut wanted = documented();
        if load.starts_with("--no-budget") {
            wanted["budget_us"] = Value::Null;
            for kind in ["operations", "statements"] {
                wanted[kind][0]["budget_us"] = Value::Null;
            }
        }
        has(&json, &wanted, "");
        counts_add_up(&json);
        assert_eq!(json["schema"], 1);
        let command = format!("dbtime {line}").replace("<=", "'<='");
        assert_eq!(
            json["command"].as_str().map(|c| c.replace('\'', "")),
            Some(command.replace('\'', ""))
        );
    }
    assert_eq!(sandbox.left(), ["small.toml", "t.db"]);
}

#[test]
fn the_document_is_what_is_recorded() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target null --transactions 100 --out r --json";
    let printed = document(&sandbox.run(line).fine());
    let recorded = std::fs::read_to_string(sandbox.path("r/run.json")).expect("a record");
    assert_eq!(serde_json::from_str::<Value>(&recorded).expect("JSON"), printed);
}

#[test]
fn the_target_is_recorded_as_it_was_given() {
    let sandbox = Sandbox::loaded();
    for target in ["null", "null:?service=1us", "sqlite", "sqlite:t.db?synchronous=off"] {
        let line = format!("run values1 --target '{target}' --transactions 20 --no-record --json");
        assert_eq!(sandbox.run(&line).fine().json()["target"]["url"], target);
    }
}

#[test]
fn the_recorded_command_repeats_the_run() {
    let sandbox = Sandbox::loaded();
    let line = "run --query 'SELECT '\\''a  b'\\'' AS x' --target 'sqlite:t.db?synchronous=off' \
                --transactions 20 --seed 7 --limit 'p90<=1h' --no-record --json";
    let first = document(&sandbox.run(line).fine());
    let command = first["command"].as_str().expect("a text");
    let again = document(&sandbox.run(command.strip_prefix("dbtime ").expect("its name")).fine());
    assert_eq!(again["command"], first["command"]);
    assert_eq!(again["statements"][0]["fingerprint"], first["statements"][0]["fingerprint"]);
    assert_eq!(again["counts"], first["counts"]);
}

#[test]
fn nothing_is_printed_when_nothing_was_measured() {
    let sandbox = Sandbox::new();
    sandbox.run("run atm --target sqlite:none.db --json --no-record").refused(3, &["dbtime init"]);
    sandbox.run("run atmm --json").refused(2, &["`atm`"]);
}

#[test]
fn no_text_drives_the_terminal() {
    let (sandbox, word) = (Sandbox::new(), "a\u{9b}31m\u{7f}\u{202e}\u{2066}ä表");
    let ran = sandbox.run(&format!("usage --json -- true {word}")).fine();
    assert!(!ran.out.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}']), "{ran:?}");
    assert_eq!(ran.json()["command"], format!("true {word}"));
    let script = format!("run --query 'SELECT 1 -- {word}' --target sqlite --transactions 20");
    let ran = sandbox.run(&format!("{script} --no-record --json")).fine();
    assert!(!ran.out.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}']), "{ran:?}");
    assert!(ran.json()["command"].as_str().expect("a text").contains(word), "{ran:?}");
}
