//! A pooler of sessions before PostgreSQL, as PgBouncer is one: so many are served at once; the
//! others wait until one of these has gone, to be let in or for their first answer.

use crate::given_server::GivenServer;
use crate::sandbox::{Sandbox, count, counts_add_up};
use dbtime_model::Product;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// How many sessions can still be served.
#[derive(Default)]
struct SessionPlaces {
    free: Mutex<usize>,
    changed: Condvar,
}

impl SessionPlaces {
    fn take(&self) {
        let free = self.free.lock().expect("no thread has failed");
        let mut free = self.changed.wait_while(free, |free| *free == 0).expect("likewise");
        *free -= 1;
    }

    fn give_back(&self) {
        *self.free.lock().expect("no thread has failed") += 1;
        self.changed.notify_one();
    }
}

/// What a session waits for that has no place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    /// To be let in.
    Login,
    /// Its first answer.
    Answer,
}

/// Serves so many sessions at once, of the server at a port of this machine. Lives as long as the
/// tests.
fn pooler(to: u16, places: usize, waits_for: WaitsFor) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("an address of this machine");
    let at = listener.local_addr().expect("it listens");
    let places = Arc::new(SessionPlaces { free: Mutex::new(places), ..SessionPlaces::default() });
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
            let places = Arc::clone(&places);
            std::thread::spawn(move || serve(client, server, &places, waits_for));
        }
    });
    at
}

/// One session, from its login to its end.
fn serve(
    mut client: TcpStream,
    mut server: TcpStream,
    places: &SessionPlaces,
    waits_for: WaitsFor,
) {
    client.set_nodelay(true).expect("a socket");
    server.set_nodelay(true).expect("a socket");
    let both = |stream: &TcpStream| stream.try_clone().expect("a second handle");
    let is_in = Arc::new(AtomicBool::new(waits_for == WaitsFor::Login));
    let (from, to, tells) = (both(&server), both(&client), Arc::clone(&is_in));
    std::thread::spawn(move || answers(from, to, &tells));
    let mut buffer = [0; 4096];
    let mut is_served = false;
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        if is_in.load(Ordering::SeqCst) && !is_served {
            places.take();
            is_served = true;
        }
        if server.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    if is_served {
        places.give_back();
    }
}

/// What the server says: up to the end of the login a message at a time, with another number for
/// the session than the server's.
fn answers(mut server: TcpStream, mut client: TcpStream, is_in: &AtomicBool) {
    while let Ok(message) = message(&mut server) {
        let is_ready = message[0] == b'Z';
        if is_ready {
            is_in.store(true, Ordering::SeqCst);
        }
        if client.write_all(&message).is_err() || is_ready {
            break;
        }
    }
    let _ = io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
}

/// A message with its type and length.
fn message(server: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut message = vec![0; 5];
    server.read_exact(&mut message)?;
    let length = u32::from_be_bytes([message[1], message[2], message[3], message[4]]) as usize;
    message.resize(length + 1, 0);
    server.read_exact(&mut message[5..])?;
    if message[0] == b'K' {
        // The last byte of the process that the server has for it.
        message[8] ^= 1;
    }
    Ok(message)
}

/// A server behind a pooler with so many places, and what it is as a target.
fn pooled(places: usize, waits_for: WaitsFor) -> (GivenServer, String) {
    let given = GivenServer::start(Product::Postgres, &[]);
    let at = pooler(given.server.port(), places, waits_for);
    let target = given.target_at(given.server.user(), "", at) + "?sslmode=disable";
    (given, target)
}

/// Else those that were not served wait for connections that nobody uses any more, for ever.
#[test]
fn pgbench_ends_although_its_clients_are_more_than_are_served() {
    let (_given, target) = pooled(2, WaitsFor::Answer);
    let sandbox = Sandbox::new();
    sandbox.write("one.sql", "SELECT 1;\n");
    for shards in [1, 2] {
        let line =
            format!("pgbench --target '{target}' -n -c 6 --shards {shards} -T 2 -f one.sql --json");
        let ran = sandbox.run(&line);
        ran.exits(0);
        let json = ran.json();
        counts_add_up(&json);
        assert_eq!(count(&json, "/counts/unfinished"), 0, "{}", json["counts"]);
        assert!(count(&json, "/counts/completed") >= 6, "{}", json["counts"]);
    }
}

/// Whoever waits for a place through the whole window is in no figure of a transaction.
#[test]
fn clients_that_a_pooler_does_not_serve_are_told_and_no_limit_is_met_without_them() {
    let (_given, target) = pooled(2, WaitsFor::Answer);
    let line = format!(
        "run --query 'SELECT 1' --target '{target}' --connections 6 --warmup 1s --time 2s \
         --limit 'p50<=1h' --no-record --json"
    );
    let ran = Sandbox::new().run(&line);
    ran.exits(4);
    assert!(ran.err.contains("no answer in the window"), "{ran:?}");
    let json = ran.json();
    counts_add_up(&json);
    assert_eq!(count(&json, "/counts/outstanding"), 4, "{}", json["counts"]);
    // They waited for the window at least.
    let longest_us = json["latency_us"]["response"]["max"].as_f64().expect("a time");
    assert!(longest_us > 1.99e6, "{longest_us}");
    let reasons = json["validity"]["reasons"].as_array().expect("a list");
    assert!(reasons.iter().any(|reason| reason["kind"] == "outstanding_wrong"), "{reasons:?}");
    assert_eq!(json["operations"][0]["limits"][0]["doubt"], "unserved");
}

/// The only place is the load's, and not that of a connection that looks at counters.
#[test]
fn no_connection_that_looks_takes_the_place_of_the_load() {
    let (_given, target) = pooled(1, WaitsFor::Answer);
    let line = format!(
        "run --query 'SELECT 1' --target '{target}' --connections 1 --time 1s --warmup 0s \
         --no-record --json"
    );
    let json = Sandbox::new().run(&line).json();
    counts_add_up(&json);
    assert!(count(&json, "/counts/completed") > 0, "{}", json["counts"]);
    let warnings = json["validity"]["warnings"].as_array().expect("a list");
    let is_told = |warning: &Value| warning["text"].to_string().contains("a pooler stands before");
    assert!(warnings.iter().any(is_told), "{warnings:?}");
}

/// Nothing else says why a run has not begun.
#[test]
fn logins_that_wait_are_counted_on_stderr() {
    let (_given, target) = pooled(2, WaitsFor::Login);
    let sandbox = Sandbox::new();
    sandbox.write("one.sql", "SELECT 1;\n");
    let target = format!("'{target}&connect_timeout=3600'");
    for line in [
        format!("run --query 'SELECT 1' --target {target} --connections 3 --time 1s --no-record"),
        format!("pgbench --target {target} -n -c 3 -T 1 -f one.sql --classic"),
    ] {
        // Ended with that, for it would wait for an hour.
        sandbox.start(&line).hear("of 3 connections have logged in; ");
    }
}
