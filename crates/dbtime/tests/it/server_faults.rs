//! Servers that die, stand still or come back while a run goes on.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{PATIENCE, Sandbox, count, counts_add_up, number};
use crate::watched_run::WatchedRun;
use dbtime_engines::drive::plan::RunStop;
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// The series of a run has failures in an outage, and what was completed after it.
fn shows_the_outage(series: &str, from: f64, until: f64) {
    let column = |row: &str, at: usize| row.split(',').nth(at).map(str::to_owned);
    let rows: Vec<&str> = series.lines().skip(1).collect();
    let outage = &rows[from as usize..rows.len().min(until.ceil() as usize)];
    let has_failed = |row: &&str| column(row, 4).is_some_and(|failed| failed != "0");
    assert!(outage.iter().any(has_failed), "{series}");
    let is_served = |row: &&str| {
        row.contains("measure") && column(row, 3).is_some_and(|completed| completed != "0")
    };
    // The last second was cut short, and may have nothing.
    let mut after = rows.iter().skip(until.ceil() as usize);
    assert!(after.any(is_served), "{series}");
}

#[test]
fn a_killed_server_that_comes_back_is_an_outage() {
    for product in PRODUCTS {
        let mut given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        // It is interrupted when the server has been back for a while: how fast servers start
        // differs.
        let running = WatchedRun::start(
            &sandbox,
            &format!(
                "run values1 --target '{}' --connections 8 --rate 200/s --time 200s --warmup 0s \
             --out r",
                given.target()
            ),
        );
        pause(0.5);
        given.server.kill();
        pause(1.0);
        given.server.restart(&|_| {}, &RunStop::default()).expect("it comes back");
        pause(5.0);
        running.signal(Signal::INT);
        let ran = running.end();
        let json = ran.json();
        counts_add_up(&json);
        // How many failed follows from how long the server was away.
        let of = |name: &str| count(&json, &format!("/counts/{name}"));
        let is_served = 10 * of("failed") <= of("completed") + of("failed");
        ran.exits(if is_served { 130 } else { 3 });
        assert!(count(&json, "/connections/lost") >= 8, "{}", json["connections"]);
        let from = number(&json, "/connections/outages/0/from_s");
        let until = number(&json, "/connections/outages/0/until_s");
        assert!(until - from > 0.9, "{}", json["connections"]);
        let series = std::fs::read_to_string(sandbox.path("r/series.csv")).expect("a series");
        shows_the_outage(&series, from, until);
        assert!(count(&json, "/counts/completed") > 500, "{}", json["counts"]);
    }
}

#[test]
fn a_server_that_stands_still_delays_and_loses_nothing() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = WatchedRun::start(
            &sandbox,
            &format!(
                "run values1 --target '{}' --connections 8 --rate 100/s --time 5s --warmup 0s \
             --no-record",
                given.target()
            ),
        );
        pause(0.5);
        given.server.pause();
        pause(3.0);
        given.server.resume();
        let json = running.end().fine().json();
        counts_add_up(&json);
        assert_eq!(json["counts"]["failed"], 0, "{}", json["error_messages"]);
        assert_eq!(json["counts"]["unfinished"], 0);
        assert!(number(&json, "/latency_us/response/max") > 2.5e6);
        // It stands in the record as what it was, and the driver has no part in it. A busy machine
        // may have kept the server from its CPU for a while as well.
        let stalls = json["stalls"].as_array().expect("a list");
        let length = |stall: &Value| number(stall, "/until_s") - number(stall, "/from_s");
        assert!(stalls.iter().any(|stall| length(stall) > 2.5), "{stalls:?}");
        let kinds = json["validity"]["warnings"].to_string();
        assert!(kinds.contains("\"stall\""), "{kinds}");
        let part = |name: &str| number(&json, &format!("/budget_us/{name}"));
        // Were the stall taken for the driver's lateness, four fifths of all would be lag. A driver
        // that has itself no CPU for a second is late for a tenth.
        assert!(part("lag") < 0.25 * part("total"), "{}", json["budget_us"]);
    }
}

#[test]
fn a_server_that_never_answers_again_does_not_hold_the_run() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = WatchedRun::start(
            &sandbox,
            &format!(
                "run values1 --target '{}' --connections 4 --time 4s --warmup 0s --no-record",
                given.target()
            ),
        );
        pause(0.5);
        given.server.pause();
        let ran = running.end();
        given.server.resume();
        let told = ["most of the requested work did not happen", "nothing was completed from"];
        let ran = ran.stderr_has(&told);
        assert!(!ran.err.contains("lost"), "its connections stand: {ran:?}");
        let json = ran.with(3, &[]).json();
        counts_add_up(&json);
        assert_eq!(json["counts"]["unfinished"], 4, "{}", json["counts"]);
        // Those that never ended are in the parts with their age.
        let (parts, all) =
            (number(&json, "/budget_us/total"), number(&json, "/latency_us/response/mean"));
        assert!((parts / all - 1.0).abs() < 0.01, "{parts} of {all}");
        assert!(number(&json, "/latency_us/response/max") > 1e6);
        assert!(!json["stalls"][0].is_null(), "{}", json["stalls"]);
    }
}

#[test]
fn a_server_that_stays_away_is_failures_and_no_end() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = WatchedRun::start(
            &sandbox,
            &format!(
                "run values1 --target '{}' --connections 4 --time 3s --warmup 0s --no-record",
                given.target()
            ),
        );
        pause(0.5);
        given.server.kill();
        let json = running.end().with(3, &[]).json();
        counts_add_up(&json);
        assert!(count(&json, "/counts/failed") >= 4, "{}", json["counts"]);
        assert!(json["connections"]["outages"][0]["until_s"].is_null(), "{}", json["connections"]);
        // While nobody listens, attempts are made now and then, not as fast as they fail.
        assert!(count(&json, "/connections/failed") < 2000);
    }
}

/// The server that a run has started and that listens, by its process id.
fn private_server_of(running: &WatchedRun) -> i32 {
    let of = |pid: &i32| {
        let read =
            |name| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let stat = read("stat");
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
        parent == Some(running.pid().to_string().as_str()) && read("cmdline").contains("--port=")
    };
    let begun = Instant::now();
    loop {
        let entries = std::fs::read_dir("/proc").expect("a /proc").flatten();
        let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        if let Some(pid) = pids.find(of) {
            return pid;
        }
        assert!(begun.elapsed() < PATIENCE, "process {} has no server", running.pid());
        pause(0.02);
    }
}

#[test]
fn a_private_server_that_ends_early_is_told() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target mariadb --connections 2 --time 3s --warmup 0s --no-record";
    let running = WatchedRun::start(&sandbox, line);
    let server = rustix::process::Pid::from_raw(private_server_of(&running)).expect("its id");
    pause(0.5);
    rustix::process::kill_process(server, Signal::KILL).expect("it is there");
    let json = running.end().unserved().json();
    counts_add_up(&json);
    assert!(json["server"]["rss_bytes"].is_null(), "of a dead server: {}", json["server"]);
    let warnings = json["validity"]["warnings"].as_array().expect("a list");
    let told = warnings.iter().find(|warning| warning["kind"] == "target").expect("a warning");
    let text = told["text"].as_str().expect("a text");
    assert!(text.contains("had ended before the run did") && text.contains("SIGKILL"), "{text}");
}
