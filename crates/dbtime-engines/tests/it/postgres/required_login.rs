//! Servers that ask for a login that the target does not allow: they hear nothing of the password.

use crate::postgres::private::patient_bound;
use dbtime_engines::databases;
use dbtime_engines::server::ServerError;
use dbtime_model::Product;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Requests for the password in clear text, and for nothing.
const CLEARTEXT: &[u8] = b"R\0\0\0\x08\0\0\0\x03";
const NOTHING: &[u8] = b"R\0\0\0\x08\0\0\0\0";

/// Asks who wants in for a login, and returns what is said to that.
fn serve(stream: &mut TcpStream, request: &[u8]) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("who wants in");
    let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut startup).expect("the rest of it");
    stream.write_all(request).expect("somebody listens");
    let mut heard = vec![0; 4096];
    // Whoever has had enough of it goes.
    let size = stream.read(&mut heard).unwrap_or(0);
    heard.truncate(size);
    heard
}

/// What a server hears that asks for a login, and why it came to none.
fn asked(require_auth: &str, request: &'static [u8]) -> (Vec<u8>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let url = format!(
        "postgres://me:hush@127.0.0.1:{port}/d?sslmode=disable&require_auth={require_auth}"
    );
    std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            serve(&mut stream, request)
        });
        let target = databases::server(Product::Postgres, &url, &|_| None).expect("a URL");
        let Err(ServerError::Connect { failure, .. }) = target.connect(&patient_bound()) else {
            panic!("somebody was let in by {require_auth}")
        };
        (server.join().expect("no panic"), failure.message)
    })
}

#[test]
fn a_login_that_is_not_allowed_is_refused_by_name_and_nothing_of_it_is_sent() {
    for (require_auth, request) in
        [("scram-sha-256", CLEARTEXT), ("!password", CLEARTEXT), ("!none", NOTHING)]
    {
        let (heard, message) = asked(require_auth, request);
        let named = format!("which require_auth={require_auth} does not allow");
        assert!(message.contains(&named), "{message}");
        assert!(!heard.starts_with(b"p"), "{}", heard.escape_ascii());
    }
    let (heard, _) = asked("password,md5", CLEARTEXT);
    assert_eq!(heard, b"p\0\0\0\x09hush\0");
}
