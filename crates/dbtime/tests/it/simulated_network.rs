//! Networks that the driver simulates, on real servers.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Sandbox, count, counts_add_up, number};
use crate::tls::Certificates;
use crate::watched_run::WatchedRun;
use dbtime_model::Product;
use serde_json::Value;
use std::time::Duration;

/// An answer of 100 kB is 70 packets, and takes 8.37 ms at 100 Mbit/s: 119.5 of them a second.
const LARGE_ANSWER: &str = "--query \"SELECT REPEAT('x', 100000)\" --network-rate 100Mbit/s";

/// What of them passes in a second, at most.
const MAX_LARGE_ANSWERS: f64 = 119.6;

fn run(target: &str, line: &str) -> Value {
    let line = format!("run --target '{target}' --no-record --json --warmup 0s {line}");
    let json = Sandbox::new().run(&line).fine().json();
    counts_add_up(&json);
    json
}

/// Flat out: so many go through the link that it is never free, and no more.
fn fills_the_link(target: &str, flags: &str) {
    let line = format!("{LARGE_ANSWER} --time 2s {flags}");
    // The driver may be without a CPU for a while, in which nothing is passed.
    let mut tried = (0..8).map(|_| {
        let json = run(target, &line);
        let throughput = number(&json, "/throughput_tps");
        assert!(throughput < MAX_LARGE_ANSWERS * 1.02, "{throughput}/s of {line}");
        assert_eq!(count(&json, "/load/network_bits_per_s"), 100_000_000);
        let used = number(&json, "/client/network/answers_pct");
        assert!(used <= 100.0, "{used} % of {line}");
        (throughput, used)
    });
    let mut seen = Vec::new();
    let is_full = tried.any(|(throughput, used)| {
        seen.push((throughput, used));
        let passed = throughput / MAX_LARGE_ANSWERS * 100.0;
        passed > 95.0 && used > 95.0 && (used - passed).abs() < 3.0
    });
    assert!(is_full, "no full link, in eight tries: {seen:?}");
    let sandbox = Sandbox::new();
    let line = format!("run --target '{target}' --out full --warmup 0s {LARGE_ANSWER} --time 1s");
    let ran = sandbox.run(&format!("{line} --details")).fine();
    ran.prints(&["network of 100Mbit/s", "answers took"]);
    sandbox.run("explain full").fine().prints(&["network 100Mbit/s: answers took"]);
}

#[test]
fn answers_pass_at_the_rate_of_the_network() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        fills_the_link(&given.target(), "--connections 4");
        fills_the_link(&given.target_tcp(), "--connections 4 --shards 2 --protocol text");
        // One alone takes its time too, and behind a round trip that as well.
        for (flags, least) in [("", 8.3e3), ("--network-delay 10ms", 13e3)] {
            let line = format!("{LARGE_ANSWER} --connections 1 --transactions 40 {flags}");
            let json = run(&given.target(), &line);
            let median = number(&json, "/latency_us/response/p50");
            assert!((least..60e3).contains(&median), "{median} µs {flags}");
            let part = number(&json, "/budget_us/server_and_wire");
            assert!(part >= least, "{part} µs in its part");
        }
    }
}

/// What is read is decrypted a record at a time, and more than one of them is under way.
#[test]
fn encrypted_answers_pass_at_the_rate_of_the_network() {
    for product in PRODUCTS {
        let certificates = Certificates::of(product);
        let given = certificates.server(product);
        let mode =
            if product == Product::Postgres { "sslmode=require" } else { "ssl-mode=required" };
        let target = format!("{}?{mode}", given.target_tcp());
        fills_the_link(&target, "--connections 4");
        // Pieces of which TCP delivers them end within records.
        for kilobytes in [20, 50, 66, 70, 74, 78, 82] {
            let line = format!(
                "--query \"SELECT REPEAT('x', {kilobytes}000)\" --network-rate 500Mbit/s \
                 --connections 2 --transactions 60 --statement-timeout 20s"
            );
            assert_eq!(count(&run(&target, &line), "/counts/completed"), 60, "{kilobytes} kB");
        }
    }
}

#[test]
fn requests_pass_at_the_rate_of_the_network() {
    // 35 packets, 4.19 ms at 100 Mbit/s.
    let sql = format!("SELECT LENGTH('{}')", "x".repeat(50_000));
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let line = format!(
            "--query \"{sql}\" --protocol text --network-rate 100Mbit/s --connections 4 --time 1s"
        );
        let mut seen = Vec::new();
        let mut tried = || {
            let json = run(&given.target(), &line);
            let throughput = number(&json, "/throughput_tps");
            assert!(throughput < 243.0, "{throughput}/s");
            let used = number(&json, "/client/network/requests_pct");
            assert!(number(&json, "/client/network/answers_pct") < 5.0);
            seen.push((throughput, used));
            throughput > 50.0 && (used - throughput / 238.5 * 100.0).abs() < 3.0
        };
        // The driver may be without a CPU for a while.
        assert!((0..8).any(|_| tried()), "{product:?}: too few, in eight tries: {seen:?}");
    }
}

/// The end of a connection is noticed though the link is busy, and new ones go on.
#[test]
fn connections_are_lost_and_made_behind_a_network() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let line = format!(
            "{LARGE_ANSWER} --connections 4 --transactions 60 --reconnect every-transaction"
        );
        assert_eq!(count(&run(&given.target(), &line), "/counts/completed"), 60);
        let line = format!("{LARGE_ANSWER} --connections 4 --time 5s");
        let target = given.target();
        let line = format!("run --target '{target}' --no-record --warmup 0s {line}");
        let sandbox = Sandbox::new();
        let running = WatchedRun::start(&sandbox, &line);
        std::thread::sleep(Duration::from_millis(1000));
        given.sql(match product {
            Product::Postgres => {
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                 WHERE query LIKE '%REPEAT%' AND pid <> pg_backend_pid()"
            }
            _ => "KILL USER root",
        });
        let json = running.end().json();
        counts_add_up(&json);
        assert!(count(&json, "/connections/lost") >= 1, "{}", json["connections"]);
        assert!(number(&json, "/counts/completed") > 200.0, "{}", json["counts"]);
    }
}

#[test]
fn a_rate_that_is_none_is_refused_and_zero_is_no_limit() {
    let sandbox = Sandbox::new();
    let run = "run values1 --target mysql://root@127.0.0.1:1/x";
    sandbox.run(&format!("{run} --network-rate 100MB/s")).refused(2, &["bytes are not bits"]);
    sandbox.run(&format!("{run} --network-rate 100")).refused(2, &["no unit", "1Gbit/s"]);
    sandbox
        .run("run values1 --target sqlite --network-rate 1Gbit/s")
        .refused(2, &["--network-rate", "nothing is sent"]);
    let given = GivenServer::start(Product::Mariadb, &[]);
    let line = "--query 'SELECT 1' --connections 1 --transactions 10 --network-rate 0";
    let json = self::run(&given.target(), line);
    assert_eq!(
        (&json["load"]["network_bits_per_s"], &json["client"]["network"]),
        (&Value::Null, &Value::Null)
    );
}

/// What an abandoned connection had under way does not let the next one's answers through.
#[test]
fn connections_that_are_given_up_take_nothing_along() {
    let given = GivenServer::start(Product::Mariadb, &[]);
    // 20.9 kB with headers take 167 ms: the twentieth would come after 3.3 s, and none is waited
    // for longer than 1.5.
    let line = format!(
        "run --query \"SELECT REPEAT('x', 20000)\" --target '{}' --network-rate 1Mbit/s \
         --connections 20 --statement-timeout 500ms --time 6s --warmup 0s --no-record --json",
        given.target()
    );
    let json = Sandbox::new().run(&line).json();
    counts_add_up(&json);
    let (completed, lost) = (count(&json, "/counts/completed"), count(&json, "/connections/lost"));
    assert!(completed >= 5 && lost >= 5, "{completed} completed, {lost} lost");
    assert!(completed <= 48, "{completed} in 6 s and the run-down");
    let least = number(&json, "/latency_us/service/min");
    assert!(least >= 160e3, "{least} µs");
}
