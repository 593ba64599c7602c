//! Servers that die, stand still or come back while a run goes on.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Sandbox, count, counts_add_up, number};
use dbtime_engines::plan::Stop;
use std::time::Duration;

fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

#[test]
fn a_killed_server_that_comes_back_is_an_outage() {
    for product in PRODUCTS {
        let mut given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = sandbox.start(&format!(
            "run values1 --target '{}' --connections 8 --rate 200/s --time 10s --warmup 0s \
             --out r --json",
            given.target()
        ));
        pause(2.5);
        given.server.kill();
        pause(1.0);
        given.server.restart(&|_| {}, &Stop::default()).expect("it comes back");
        let json = running.end().fine().json();
        counts_add_up(&json);
        assert!(count(&json, "/connections/lost") >= 8, "{}", json["connections"]);
        let from = number(&json, "/connections/outages/0/from_s");
        let until = number(&json, "/connections/outages/0/until_s");
        assert!(until - from > 0.9, "{}", json["connections"]);
        let series = std::fs::read_to_string(sandbox.path("r/series.csv")).expect("a series");
        let column = |row: &str, at: usize| row.split(',').nth(at).map(str::to_owned);
        let rows: Vec<&str> = series.lines().skip(1).collect();
        let second = from.ceil() as usize;
        assert!(column(rows[second], 4).is_some_and(|failed| failed != "0"), "{series}");
        let last = rows.iter().rev().find(|row| row.contains("measure")).expect("a last second");
        assert!(column(last, 3).is_some_and(|completed| completed != "0"), "{series}");
        assert!(count(&json, "/counts/completed") > 500, "{}", json["counts"]);
    }
}

#[test]
fn a_server_that_stands_still_delays_and_loses_nothing() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = sandbox.start(&format!(
            "run values1 --target '{}' --connections 8 --rate 100/s --time 8s --warmup 0s \
             --no-record --json",
            given.target()
        ));
        pause(2.0);
        given.server.pause();
        pause(3.0);
        given.server.resume();
        let json = running.end().fine().json();
        counts_add_up(&json);
        assert_eq!(json["counts"]["failed"], 0, "{}", json["error_messages"]);
        assert_eq!(json["counts"]["unfinished"], 0);
        assert!(number(&json, "/latency_us/response/max") > 2.5e6);
    }
}

#[test]
fn a_server_that_never_answers_again_does_not_hold_the_run() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = sandbox.start(&format!(
            "run values1 --target '{}' --connections 4 --time 2s --warmup 0s --no-record --json",
            given.target()
        ));
        pause(1.0);
        given.server.pause();
        let ran = running.end();
        given.server.resume();
        let json = ran.fine().json();
        counts_add_up(&json);
        assert_eq!(json["counts"]["unfinished"], 4, "{}", json["counts"]);
    }
}

#[test]
fn a_server_that_stays_away_is_failures_and_no_end() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let running = sandbox.start(&format!(
            "run values1 --target '{}' --connections 4 --time 3s --warmup 0s --no-record --json",
            given.target()
        ));
        pause(1.5);
        given.server.kill();
        let json = running.end().fine().json();
        counts_add_up(&json);
        assert!(count(&json, "/counts/failed") >= 4, "{}", json["counts"]);
        assert!(json["connections"]["outages"][0]["until_s"].is_null(), "{}", json["connections"]);
        // While nobody listens, attempts are made now and then, not as fast as they fail.
        assert!(count(&json, "/connections/failed") < 2000);
    }
}
