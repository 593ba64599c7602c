//! A driver that is stopped, or has no CPU: it was late, and the database was not.

use crate::given_server::GivenServer;
use crate::null_server::serve;
use crate::sandbox::{Sandbox, number};
use crate::watched_run::WatchedRun;
use dbtime_model::{Nanos, Product, WireProtocol};
use dbtime_null_server::FaultSchedule;
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

fn length(span: &Value) -> f64 {
    number(span, "/until_s") - number(span, "/from_s")
}

/// No stop of the driver, of which there were three at least, is taken for a stall of the database,
/// of which a noisy machine may have some that nobody made.
fn no_stop_is_a_stall(json: &Value) {
    let spans = |list: &Value| list.as_array().expect("a list").clone();
    let standstills = spans(&json["client"]["standstills"]);
    let stalls = spans(&json["stalls"]);
    let stops: Vec<&Value> = standstills.iter().filter(|span| length(span) > 0.25).collect();
    assert!(stops.len() >= 3, "{standstills:?}");
    for stop in stops {
        let middle = f64::midpoint(number(stop, "/from_s"), number(stop, "/until_s"));
        let is_in =
            |stall: &Value| number(stall, "/from_s") < middle && middle < number(stall, "/until_s");
        assert!(!stalls.iter().any(is_in), "{stop} in {stalls:?}");
    }
}

/// Stops the driver three times while a load of so many a second goes on, and holds the report
/// against what is known: whatever was due in a stop waited half of it on average.
fn is_late_by_its_stops(target: &str, rate: f64) {
    let sandbox = Sandbox::new();
    let line = format!(
        "run values1 --target '{target}' --connections 8 --rate {rate}/s --time 6s --warmup 0s \
         --no-record --no-budget"
    );
    let running = WatchedRun::start(&sandbox, &line);
    std::thread::sleep(Duration::from_millis(500));
    let mut expected_s = 0.0;
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(400));
        running.signal(Signal::STOP);
        // No longer than it stood still, however long this test is kept from its CPU in between.
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(300));
        expected_s += begun.elapsed().as_secs_f64().powi(2) / 2.0 * rate;
        running.signal(Signal::CONT);
    }
    let json = running.end().fine().json();
    let count = number(&json, "/counts/offered");
    let sum_s = |name: &str| number(&json, &format!("/latency_us/{name}/mean")) * count / 1e6;
    let lag = sum_s("lag");
    assert!(lag > 0.9 * expected_s, "{lag} s of lag where {expected_s} s are known");
    // Taken for the queue, the stops would be all of that; others on its CPUs make some of it.
    assert!(sum_s("queue") < 0.1 * lag, "{} s of queue, {lag} s of lag", sum_s("queue"));
    no_stop_is_a_stall(&json);
    assert_eq!(json["validity"]["client_limited"], true);
    let text = json["validity"]["warnings"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("stood still"), "{text}");
    let without = number(&json, "/latency_us/without_lag/p99");
    assert!(without < 0.5 * number(&json, "/latency_us/response/p99"), "{without}");
}

#[test]
fn workers_that_are_stopped_are_late() {
    is_late_by_its_stops("sqlite", 500.0);
}

#[test]
fn shards_that_are_stopped_are_late() {
    is_late_by_its_stops("null:?service=1ms", 500.0);
}

/// A wait for sockets is interrupted as the driver goes on, with the answers that came meanwhile.
#[test]
fn answers_that_came_while_the_driver_was_stopped_waited_for_it() {
    let delay = Nanos::from_millis(50);
    let faults = FaultSchedule { delay: Some(delay), ..FaultSchedule::default() };
    let server = serve(WireProtocol::Postgres, faults);
    let target = server.target(WireProtocol::Postgres).expect("it speaks it");
    let sandbox = Sandbox::new();
    let line = format!(
        "run values1 --target '{target}' --connections 8 --time 4s --warmup 0s --no-record \
         --no-budget --limit 'p99<=300ms'"
    );
    let running = WatchedRun::start(&sandbox, &line);
    let mut expected_s = 0.0;
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(400));
        running.signal(Signal::STOP);
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(400));
        // Each connection has an answer by then, of which the server made it wait for a moment.
        expected_s += 8.0 * (begun.elapsed().as_secs_f64() - delay.as_secs());
        running.signal(Signal::CONT);
    }
    let ran = running.end();
    ran.exits(4);
    let json = ran.json();
    let of = |name: &str| number(&json, name);
    let lag_s = of("/latency_us/lag/mean") * of("/counts/completed") / 1e6;
    assert!(lag_s > 0.5 * expected_s, "{lag_s} s of lag where {expected_s} s are known");
    no_stop_is_a_stall(&json);
}

/// Flat out over many connections the driver hardly waits: it is stopped while it works.
#[test]
fn a_driver_that_is_stopped_at_work_stood_still() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let sandbox = Sandbox::new();
    let line = format!(
        "run --query 'SELECT 1' --target '{}' --connections 64 --time 6s --warmup 0s --no-record \
         --no-budget",
        server.target()
    );
    let running = WatchedRun::start(&sandbox, &line);
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(300));
        running.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(300));
        running.signal(Signal::CONT);
    }
    let json = running.end().fine().json();
    let standstills = json["client"]["standstills"].as_array().expect("a list");
    let long = standstills.iter().filter(|span| length(span) > 0.25);
    assert!(long.count() >= 5, "{standstills:?}");
    no_stop_is_a_stall(&json);
    // A quarter of the window is missing, and no percentile shows it.
    assert_eq!(json["validity"]["grade"], "invalid");
    let warnings = json["validity"]["warnings"].as_array().expect("a list");
    let mut texts = warnings.iter().filter_map(|warning| warning["text"].as_str());
    assert!(texts.any(|text| text.contains("stood still")), "{warnings:?}");
}

/// Of two workers that have an embedded database to themselves none ever waits for an instant.
#[test]
fn a_driver_that_never_waits_stood_still_and_fails_no_limit() {
    let sandbox = Sandbox::new();
    let line = "run values1 --connections 2 --time 3s --warmup 0s --no-record --no-budget \
                --limit 'max<=700ms'";
    let running = WatchedRun::start(&sandbox, line);
    std::thread::sleep(Duration::from_millis(1000));
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(1200));
    running.signal(Signal::CONT);
    let ran = running.end();
    ran.exits(4);
    let json = ran.json();
    let standstills = json["client"]["standstills"].as_array().expect("a list");
    assert!(standstills.iter().any(|span| length(span) > 1.1), "{standstills:?}");
    assert_eq!(json["stalls"].as_array().map(Vec::len), Some(0), "{}", json["stalls"]);
}
