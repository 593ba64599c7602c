//! `dbtime query --trace`: where the time of statements goes on a server.

use super::*;
use crate::given_server::PRODUCTS;

/// Statements of each product, the first of which computes and the second of which sleeps for
/// 20 ms.
fn computing_and_sleeping(product: Product) -> [&'static str; 2] {
    match product {
        Product::Postgres => {
            ["SELECT count(*) FROM generate_series(1, 50000)", "SELECT pg_sleep(0.02)"]
        }
        _ => ["SELECT BENCHMARK(20000, SHA2(1, 256))", "SELECT SLEEP(0.02)"],
    }
}

/// A part of an execution of a form. Unit: microseconds.
fn part_us(form: &Value, name: &str) -> f64 {
    let parts = form["parts"].as_array().expect("a list");
    let part = parts.iter().find(|part| part["part"] == name);
    part.and_then(|part| part["mean_us"].as_f64()).unwrap_or_default()
}

/// All parts of an execution of a form. Unit: microseconds.
fn sum_us(form: &Value) -> f64 {
    let parts = form["parts"].as_array().expect("a list");
    parts.iter().filter_map(|part| part["mean_us"].as_f64()).sum()
}

#[test]
fn both_forms_of_a_statement_have_their_own_parts() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let [computing, sleeping] = computing_and_sleeping(product);
        for target in [server.target(), server.target_tcp()] {
            let line = format!(
                "query --query '{computing}' --query '{sleeping}' --target '{target}' --time 300ms \
                 --no-analyze --row-keys 1 --trace --json"
            );
            let ran = sandbox.run(&line);
            ran.exits(0);
            let record = ran.json();
            let notes = record["notes"].to_string();
            if notes.contains("not traced") {
                return not_tested(&notes);
            }
            assert!(!notes.contains("matched"), "{notes}");
            let forms = record["forms"].as_array().expect("a list");
            let [computing, sleeping] = &forms[..] else { panic!("{forms:?}") };
            for form in [computing, sleeping] {
                let mean_us = form["watched_mean_us"].as_f64().expect("it was watched");
                assert!((sum_us(form) - mean_us).abs() < 1e-3 * mean_us, "{form}");
                assert_eq!(part_us(form, "server_and_wire"), 0.0, "{form}");
                assert!(part_us(form, "lock") < 10_000.0, "{form}");
            }
            assert!(part_us(computing, "cpu") > 1_000.0, "{computing}");
            // The server may set its clock and have no CPU before it goes to sleep.
            let slept = ["sleep", "cpu", "runq_preempted"].map(|part| part_us(sleeping, part));
            assert!(slept.iter().sum::<f64>() > 15_000.0, "{sleeping}");
            assert!(part_us(computing, "sleep") < slept[0], "{computing}");
        }
    }
}

#[test]
fn without_a_trace_the_time_on_a_server_is_one_number() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let line = format!(
        "query --query 'SELECT 4711' --target '{}' --time 200ms --no-advice --json",
        server.target()
    );
    let record = sandbox.run(&line).fine().json();
    let form = &record["forms"][0];
    assert_eq!(form["parts"].as_array().map(Vec::len), Some(1), "{form}");
    assert_eq!(part_us(form, "server_and_wire"), form["times"]["mean_us"], "{form}");
    assert!(form["watched_mean_us"].is_null(), "{form}");
    let page = sandbox.run(&line.replace("--json", "--details")).fine();
    assert!(!page.out.contains("Where the time goes"), "{page:?}");
}
