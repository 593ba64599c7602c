//! The same of connections that are encrypted.

use super::*;
use crate::given_server::{PRODUCTS, patient};
use crate::relay::{Relay, RelayPace};
use crate::tls::Certificates;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// A server that lets its clients encrypt, and wait for locks as long as it takes.
pub(super) fn start(product: Product) -> (Certificates, GivenServer) {
    let certificates = Certificates::of(product);
    let server = certificates.server_by(product, |settings| {
        GivenServer::start(product, &[settings, patient(product)].concat())
    });
    (certificates, server)
}

/// As `--target` takes it, with connections encrypted or not.
pub(super) fn target(product: Product, server: &GivenServer, is_encrypted: bool) -> String {
    format!("{}?{}", server.target_tcp(), mode(product, is_encrypted))
}

/// The part of it that says so.
pub(super) fn mode(product: Product, is_encrypted: bool) -> &'static str {
    match (product, is_encrypted) {
        (Product::Postgres, true) => "sslmode=require",
        (Product::Postgres, false) => "sslmode=disable",
        (_, true) => "ssl-mode=required",
        (_, false) => "ssl-mode=disabled",
    }
}

/// So many requests of a kind: a prime, so that no loop hits it by chance.
pub(super) const EACH: u64 = 307;

/// How often each command came with each text.
///
/// A run asks for a few counters each second, however long it takes.
fn counts(seen: &Seen) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for request in &seen.requests {
        let of = |name: &str| request[name].as_str().expect("a word").to_owned();
        let key = match (is_of_each_second(request), request["outcome"] == "aborted") {
            (false, _) => (of("command"), of("text")),
            (true, false) => continue,
            // Its connection ended with it.
            (true, true) if of("protocol") == "postgres" => ("X:TERMINATE".into(), String::new()),
            (true, true) => ("01:QUIT".into(), String::new()),
        };
        *counts.entry(key).or_default() += 1;
    }
    counts
}

#[test]
fn encrypted_requests_are_those_that_are_not() {
    for product in PRODUCTS {
        let (_certificates, server) = start(product);
        same_as_not_encrypted(product, &server);
    }
}

pub(super) fn same_as_not_encrypted(product: Product, server: &GivenServer) {
    let sandbox = Sandbox::new();
    let mut seen = Vec::new();
    for is_encrypted in [true, false] {
        let target = target(product, server, is_encrypted);
        let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
        for protocol in ["text", "prepared"] {
            let line = format!(
                "run --query 'SELECT 4711' --transactions {EACH} --connections 1 \
                 --protocol {protocol} --target '{target}' --no-record"
            );
            sandbox.run(&line).exits(0);
        }
        let ended = tracer.end();
        assert_eq!(ended.code, Some(0), "{}", ended.ledger);
        ended.is_clean();
        parts_add_up(&ended.requests);
        let answers = ended.requests.iter().filter(|request| {
            request["text"] == "SELECT 4711"
                && request["command"].as_str().is_some_and(|name| !name.ends_with("PREPARE"))
        });
        let odd: Vec<_> = answers.filter(|request| request["rows"] != 1).collect();
        assert!(odd.is_empty(), "{odd:?}");
        seen.push(ended);
    }
    let [encrypted, plain] = [counts(&seen[0]), counts(&seen[1])];
    assert_eq!(encrypted, plain);
    let of = |command: &str| encrypted[&(command.to_owned(), "SELECT 4711".to_owned())];
    match product {
        // The driver tries what it is asked for once.
        Product::Postgres => assert!([EACH, EACH + 2].contains(&of("E:EXECUTE"))),
        _ => assert_eq!(of("17:EXECUTE"), EACH),
    }
}

#[test]
fn an_answer_says_as_much_and_is_as_long() {
    let (_certificates, server) = start(Product::Mariadb);
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let begun = Instant::now();
    for is_encrypted in [true, false] {
        let target = target(Product::Mariadb, &server, is_encrypted);
        for query in ["SELECT SLEEP(0.05)", "SELECT REPEAT(\"x\", 100000)", "SELECT nothing"] {
            let line = format!(
                "run --query '{query}' --transactions 3 --connections 1 --protocol text \
                 --target '{target}' --no-record"
            );
            sandbox.run(&line);
        }
    }
    // On a busy machine a sleep takes longer than it should, but none longer than all.
    let all_us = begun.elapsed().as_micros() as u64;
    let seen = tracer.end();
    seen.is_clean();
    let of = |command: &str, text: &str, name: &str| -> Vec<u64> {
        let is_one = |request: &&Value| request["text"] == text && request["command"] == command;
        let found = seen.requests.iter().filter(is_one);
        found.map(|request| request[name].as_f64().unwrap_or_default() as u64).collect()
    };
    let slept = of("03:QUERY", "SELECT SLEEP(0.05)", "response_us");
    let lengths = 50_000..all_us;
    assert!(slept.len() >= 6 && slept.iter().all(|us| lengths.contains(us)), "{slept:?} {all_us}");
    let bytes = of("03:QUERY", "SELECT REPEAT(\"x\", 100000)", "sent_bytes");
    assert!(bytes.len() >= 6 && bytes.iter().all(|b| *b == bytes[0] && *b > 100_000), "{bytes:?}");
    // The driver finds out before it begins.
    let errors = of("03:QUERY", "PREPARE dbtime_look FROM 'SELECT nothing'", "error");
    assert!(errors.len() >= 2 && errors.iter().all(|error| *error == 1054), "{errors:?}");
}

/// What the socket has no room for is given to the library again and again: it counts once.
#[test]
fn a_client_that_reads_slowly_gets_as_many_bytes_and_rows() {
    for product in PRODUCTS {
        let (_certificates, server) = start(product);
        let sandbox = Sandbox::new();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let query = match product {
            Product::Postgres => "SELECT repeat(1::text, 15000000)",
            _ => "SELECT REPEAT(1, 15000000)",
        };
        let mut client = sandbox.start(&format!(
            "run --query '{query}' --transactions 8 --time 100s --warmup 0s --connections 1 \
             --protocol text --target '{}' --no-record",
            target(product, &server, true)
        ));
        // It stops reading every 20 ms until it has them all, from before it connects, and for
        // longer than it takes the server to make an answer and to fill the buffers between them.
        client.wait_until_it_catches_interrupts();
        while !client.has_ended() {
            client.signal(rustix::process::Signal::STOP);
            std::thread::sleep(Duration::from_millis(100));
            client.signal(rustix::process::Signal::CONT);
            std::thread::sleep(Duration::from_millis(20));
        }
        client.end();
        let seen = tracer.end();
        let answers: Vec<&Value> = seen
            .requests
            .iter()
            .filter(|one| one["text"] == query && one["outcome"] == "ended")
            .filter(|one| one["command"].as_str().is_some_and(|name| name.ends_with("QUERY")))
            .collect();
        let slow = answers.iter().filter(|one| part_ms(one, "net") > 10.0).count();
        assert!(slow >= 3, "{product:?}: {slow} of {}", answers.len());
        let bytes = |one: &&Value| one["sent_bytes"].as_u64().expect("bytes");
        let odd =
            |one: &&&Value| !(15_000_000..15_010_000).contains(&bytes(one)) || one["rows"] != 1;
        let odd: Vec<_> = answers.iter().filter(odd).collect();
        assert!(odd.is_empty(), "{product:?}: {} of {}: {:?}", odd.len(), answers.len(), odd[0]);
    }
}

#[test]
fn connections_that_were_encrypted_before_are_followed() {
    for product in PRODUCTS {
        let (_certificates, server) = start(product);
        let sandbox = Sandbox::new();
        let target = target(product, &server, true);
        let running = sandbox.start(&format!(
            "run --query 'SELECT 4712' --rate 200/s --time 300s --warmup 0s --connections 3 \
             --protocol prepared --target '{target}' --no-record"
        ));
        driven::wait_for_thread(running.pid(), "load");
        std::thread::sleep(Duration::from_secs(2));
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let command = if product == Product::Postgres { "E:EXECUTE" } else { "17:EXECUTE" };
        tracer.until_printed(command, 200);
        running.interrupt();
        running.end().exits(130);
        let seen = tracer.end();
        seen.adds_up();
        for trouble in ["tls", "unparsed", "resync", "pipelined_over", "unread"] {
            assert_eq!(seen.counted(trouble), 0, "{trouble}: {}", seen.ledger);
        }
        let executed: Vec<&Value> =
            seen.requests.iter().filter(|request| request["command"] == command).collect();
        assert!(executed.len() > 100, "{}", seen.ledger);
        let others: Vec<_> = executed.iter().filter(|one| one["text"] != "SELECT 4712").collect();
        assert!(others.is_empty(), "{product:?}: {others:?}");
    }
}

/// Its state goes with the socket, but not before who serves it has found out.
#[test]
fn a_request_whose_connection_is_reset_is_counted() {
    for product in PRODUCTS {
        let (_certificates, server) = start(product);
        let sandbox = Sandbox::new();
        let relay = Relay::start(Ipv4Addr::LOCALHOST, server.server.port(), RelayPace::default());
        let target = server.target_at(server.server.user(), "", relay.at);
        let (sleep, sleeping) = match product {
            Product::Postgres => ("pg_sleep(4)", "pg_stat_activity WHERE query"),
            _ => ("SLEEP(4)", "information_schema.processlist WHERE info"),
        };
        // Not this question itself, nor what the driver tries before.
        let sleepers = format!("SELECT COUNT(*) FROM {sleeping} LIKE 'SELECT {sleep}%'");
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let client = sandbox.start(&format!(
            "run --query 'SELECT {sleep}' --transactions 1 --time 100s --connections 1 \
             --protocol text --target '{target}?{}' --no-record",
            mode(product, true)
        ));
        let are_there = || server.sql(&sleepers).rows[0][0].as_deref() != Some("0");
        let patience = Instant::now() + PATIENCE;
        while !are_there() {
            assert!(Instant::now() < patience, "nothing sleeps");
            std::thread::sleep(Duration::from_millis(50));
        }
        relay.reset();
        while are_there() {
            assert!(Instant::now() < patience, "it sleeps for ever");
            std::thread::sleep(Duration::from_millis(50));
        }
        client.interrupt();
        client.end();
        let seen = tracer.end();
        seen.adds_up();
        assert!(seen.counted("aborted") >= 1, "{product:?}: {}", seen.ledger);
    }
}
