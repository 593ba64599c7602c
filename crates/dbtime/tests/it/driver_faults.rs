//! A driver that is stopped, or has no CPU: it was late, and the database was not.

use crate::given_server::GivenServer;
use crate::sandbox::{Sandbox, number};
use dbtime_model::Product;
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Stops the driver three times while a load of so many a second goes on, and holds the report
/// against what is known: whatever was due in a stop waited half of it on average.
fn is_late_by_its_stops(target: &str, rate: f64) {
    let sandbox = Sandbox::new();
    let running = sandbox.start(&format!(
        "run values1 --target '{target}' --connections 8 --rate {rate}/s --time 6s --warmup 0s \
         --no-record --json --no-budget"
    ));
    std::thread::sleep(Duration::from_secs(2));
    let mut expected_s = 0.0;
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(400));
        let begun = Instant::now();
        running.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(300));
        running.signal(Signal::CONT);
        expected_s += begun.elapsed().as_secs_f64().powi(2) / 2.0 * rate;
    }
    let json = running.end().fine().json();
    let count = number(&json, "/counts/offered");
    let sum_s = |name: &str| number(&json, &format!("/latency_us/{name}/mean")) * count / 1e6;
    let lag = sum_s("lag");
    assert!(lag > 0.9 * expected_s, "{lag} s of lag where {expected_s} s are known");
    assert!(sum_s("queue") < 0.02 * lag, "{} s of queue, {lag} s of lag", sum_s("queue"));
    let standstills = json["client"]["standstills"].as_array().expect("a list");
    assert!(standstills.len() >= 3, "{standstills:?}");
    assert!(json["stalls"].as_array().is_some_and(Vec::is_empty), "{}", json["stalls"]);
    assert_eq!(json["validity"]["client_limited"], true);
    let text = json["validity"]["warnings"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("stood still"), "{text}");
    let without = number(&json, "/latency_us/without_lag/p99");
    assert!(without < 0.1 * number(&json, "/latency_us/response/p99"), "{without}");
}

#[test]
fn workers_that_are_stopped_are_late() {
    is_late_by_its_stops("sqlite", 500.0);
}

#[test]
fn shards_that_are_stopped_are_late() {
    is_late_by_its_stops("null:?service=1ms", 500.0);
}

/// Flat out over many connections the driver hardly waits: it is stopped while it works.
#[test]
fn a_driver_that_is_stopped_at_work_stood_still() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let sandbox = Sandbox::new();
    let running = sandbox.start(&format!(
        "run --query 'SELECT 1' --target '{}' --connections 64 --time 6s --warmup 0s --no-record \
         --json --no-budget",
        server.target()
    ));
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(300));
        running.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(300));
        running.signal(Signal::CONT);
    }
    let json = running.end().fine().json();
    let standstills = json["client"]["standstills"].as_array().expect("a list");
    let length = |span: &Value| number(span, "/until_s") - number(span, "/from_s");
    let long = standstills.iter().filter(|span| length(span) > 0.25);
    assert!(long.count() >= 5, "{standstills:?}");
    assert!(json["stalls"].as_array().is_some_and(Vec::is_empty), "{}", json["stalls"]);
}
