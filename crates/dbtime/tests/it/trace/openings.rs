//! Connections behind a proxy, and such as hide their requests or have none.

use super::*;
use crate::raw_postgres::RawPostgres;
use std::io::Read;
use std::net::TcpStream;

#[test]
fn requests_behind_a_proxy_are_seen_with_their_client() {
    let server = GivenServer::start(Product::Mariadb, &[("proxy_protocol_networks", "localhost")]);
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let line = b"PROXY TCP4 127.0.0.1 127.0.0.1 4711 3306\r\n";
    let addresses = [127, 0, 0, 1, 127, 0, 0, 1, 0x12, 0x67, 0x0c, 0xea];
    let binary = [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"[..], &addresses].concat();
    for header in [&line[..], &binary] {
        RawClient::behind_a_proxy(&server, header).query("DO 4711");
    }
    let seen = tracer.end();
    seen.is_clean();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    let asked = seen.requests.iter().filter(|one| one["text"] == "DO 4711");
    let clients: Vec<_> = asked.map(|one| one["client"].as_str()).collect();
    assert_eq!(clients, [Some("127.0.0.1:4711"); 2]);
}

/// Says something over TCP, and waits until the server has closed the connection.
fn say(server: &GivenServer, said: &[u8]) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.server.port())).expect("it listens");
    stream.write_all(said).expect("it takes that");
    // What it has not read by then resets the connection.
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn a_connection_that_is_not_understood_is_counted_and_makes_a_trace_incomplete() {
    let reasons = [(Product::Mariadb, "other_protocol"), (Product::Postgres, "unparsed")];
    for (product, reason) in reasons {
        let server = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        say(&server, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let seen = tracer.end();
        seen.is_clean();
        assert_eq!((seen.code, seen.counted(reason)), (Some(4), 1), "{}", seen.ledger);
    }
}

#[test]
fn a_request_that_comes_together_with_the_end_of_a_login_is_seen() {
    let server = GivenServer::start(Product::Postgres, &[]);
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    drop(RawPostgres::connect_asking(&server, "SELECT 4711"));
    let seen = tracer.end();
    seen.is_clean();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    assert_eq!(seen.one("SELECT 4711")["rows"], 1);
}

#[test]
fn a_compressed_connection_makes_a_trace_incomplete() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let mut client = Command::new("mariadb");
    client.arg(format!("--defaults-file={}", server.server.login_file().display()));
    let out = client.args(["--compress", "--execute=DO 1"]).output().expect("it is installed");
    assert!(out.status.success(), "{out:?}");
    let seen = tracer.end();
    seen.is_clean();
    assert_eq!((seen.code, seen.counted("compressed")), (Some(4), 1), "{}", seen.ledger);
}

#[test]
fn who_only_cancels_or_asks_for_encryption_leaves_a_trace_complete() {
    const CANCELS: &[u8] = &[0, 0, 0, 16, 4, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 2];
    const ASKS_TLS: &[u8] = &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f];
    let server = GivenServer::start(Product::Postgres, &[]);
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    say(&server, CANCELS);
    let mut stream = TcpStream::connect(("127.0.0.1", server.server.port())).expect("it listens");
    stream.write_all(ASKS_TLS).expect("it takes that");
    stream.read_exact(&mut [0]).expect("yes or no");
    drop(stream);
    let seen = tracer.end();
    seen.is_clean();
    let counts = ["cancels", "unparsed", "started"].map(|name| seen.counted(name));
    assert_eq!((seen.code, counts), (Some(0), [1, 0, 0]), "{}", seen.ledger);
}
