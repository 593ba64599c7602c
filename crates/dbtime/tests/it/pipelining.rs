//! Statements sent before those ahead of them are answered: fewer round trips, and no harm done
//! when one fails or the server goes.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::running::Running;
use crate::sandbox::{PATIENCE, Sandbox, count, counts_add_up, number};
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::Product;
use std::time::{Duration, Instant};

/// Counts two of few rows up, in any order: many deadlocks.
const TALLY: &str = r#"
name = "tally"
description = "Two counters of few are counted up in one transaction"
retry = { on = ["conflict", "busy"], max_tries = 20, backoff = "exp:1ms" }

[[table]]
name = "tally"
rows = 6
columns = [
    { name = "id", type = "integer", primary_key = true, data = "row" },
    { name = "n", type = "bigint", data = 0 },
]

[keys]
one = { uniform = [1, "tally.rows"] }
other = { uniform = [1, "tally.rows"] }

[[operation]]
name = "count"
transaction = "write"
statement = [
    { name = "look", sql = "SELECT n FROM tally WHERE id = :one" },
    { name = "first", sql = "UPDATE tally SET n = n + 1 WHERE id = :one" },
    { name = "second", sql = "UPDATE tally SET n = n + 1 WHERE id = :other" },
]
"#;

fn tally(product: Product, settings: &[(&str, &str)]) -> (GivenServer, Sandbox) {
    let (given, sandbox) = (GivenServer::start(product, settings), Sandbox::new());
    sandbox.write("tally.toml", TALLY);
    sandbox.run(&format!("init tally.toml --target '{}'", given.target())).fine();
    (given, sandbox)
}

fn counted(given: &GivenServer) -> u64 {
    let sum = given.sql("SELECT SUM(n) FROM tally");
    sum.value().expect("a sum").parse().expect("a number")
}

#[test]
fn transactions_that_fail_half_way_leave_nothing_behind() {
    for product in PRODUCTS {
        // PostgreSQL looks for a deadlock only after a second of waiting.
        let settings = [("deadlock_timeout", "10ms")];
        let is_postgres = product == Product::Postgres;
        let (given, sandbox) = tally(product, if is_postgres { &settings } else { &[] });
        let mut completed = 0;
        for protocol in ["text", "prepared"] {
            let line = format!(
                "run tally.toml --target '{}' --connections 8 --transactions 1500 --pipeline \
                 --protocol {protocol} --no-record --json",
                given.target()
            );
            // Whether two deadlock is chance.
            let json = (0..8).find_map(|_| {
                let json = sandbox.run(&line).fine().json();
                counts_add_up(&json);
                completed += count(&json, "/counts/completed");
                (count(&json, "/counts/retries") > 0).then_some(json)
            });
            let json = json.expect("a deadlock in eight runs");
            // BEGIN goes out with the first write; on PostgreSQL everything goes out at once.
            let (least, most) = if is_postgres { (1.0, 2.0) } else { (3.0, 5.0) };
            let trips = number(&json, "/round_trips_per_tx");
            assert!((least..most).contains(&trips), "{trips} round trips, {protocol}");
            let pipelined = format!("{protocol}, pipelined");
            assert_eq!(json["target"]["protocol"], pipelined.as_str());
        }
        assert_eq!(counted(&given), 2 * completed, "what is completed is done, once");
    }
}

/// Returns when so many more are counted up than before.
fn wait_for_more(given: &GivenServer, before: u64, running: &Running) {
    let begun = Instant::now();
    while counted(given) < before + 100 {
        let pid = running.pid();
        assert!(begun.elapsed() < PATIENCE, "process {pid} counts nothing up");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_that_goes_takes_whole_transactions_with_it() {
    for product in PRODUCTS {
        let (mut given, sandbox) = tally(product, &[]);
        // It is interrupted as soon as there is enough: how fast servers start differs.
        let running = sandbox.start(&format!(
            "run tally.toml --target '{}' --connections 6 --rate 300/s --time 200s --warmup 0s \
             --pipeline --no-record --json",
            given.target()
        ));
        wait_for_more(&given, 0, &running);
        given.server.kill();
        std::thread::sleep(Duration::from_millis(500));
        given.server.restart(&|_| {}, &RunStop::default()).expect("it comes back");
        wait_for_more(&given, counted(&given), &running);
        running.interrupt();
        // Whether a tenth failed, which ends it with 3, follows from how long the server was away.
        let ran = running.end();
        assert!([Some(0), Some(3), Some(130)].contains(&ran.code), "{ran:?}");
        let json = ran.json();
        counts_add_up(&json);
        assert!(count(&json, "/connections/lost") > 0, "{}", json["connections"]);
        let (completed, failed) =
            (count(&json, "/counts/completed"), count(&json, "/counts/failed"));
        // Nobody knows of a COMMIT whose answer never came.
        let whole = 2 * completed..=2 * (completed + failed);
        let counted = counted(&given);
        assert!(
            whole.contains(&counted) && counted.is_multiple_of(2),
            "{counted} of {}",
            json["counts"]
        );
    }
}

#[test]
fn reads_that_may_end_their_transaction_let_nothing_go_ahead() {
    let settings = [("transaction_isolation", "SERIALIZABLE")];
    let (given, sandbox) = tally(Product::Mariadb, &settings);
    let run = format!("run tally.toml --target '{}' --transactions 5 --no-record", given.target());
    let told = ["--pipeline cannot be used", "every SELECT locks", "leave out --pipeline"];
    sandbox.run(&format!("{run} --pipeline")).refused(2, &told);
    sandbox.run(&run).fine();
}

#[test]
fn what_is_said_of_servers_needs_one() {
    for flag in [
        "--pipeline",
        "--protocol text",
        "--protocol prepared",
        "--reconnect lost",
        "--statement-timeout 1s",
        "--network-delay 1ms",
        "--server-threads",
    ] {
        for target in ["sqlite", "null"] {
            let line = format!("run values1 --target {target} {flag} --no-record");
            let told = format!("{} is for servers", flag.split(' ').next().expect("a flag"));
            Sandbox::new().run(&line).refused(2, &[&told, "leave it out"]);
        }
    }
    Sandbox::new().run("run values1 --shards 2").refused(2, &["--shards is for servers and null"]);
}
