//! Targets that are something else, or not to be found: what is there is named.

use crate::given_server::GivenServer;
use crate::sandbox::{Ran, Sandbox};
use dbtime_model::Product;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

/// What answers on a port.
struct Service {
    port: u16,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// One that sends this to its only client, where it `listens` not before that has spoken.
    fn start(sent: &'static [u8], listens: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut heard = [0; 4096];
            // Who has given it up does not matter here.
            let _ = if listens { stream.read(&mut heard) } else { Ok(0) };
            let _ = stream.write_all(sent).and_then(|()| stream.read(&mut heard));
        });
        Self { port, thread: Some(thread) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()) || std::thread::panicking());
    }
}

fn run(target: &str) -> Ran {
    let line = format!("run values1 --target '{target}' --transactions 1 --no-record");
    Sandbox::new().run(&line)
}

#[test]
fn another_service_on_the_port_is_named() {
    let (ssh, http) = (b"SSH-2.0-OpenSSH_9.2p1\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let ours = ["mysql", "postgres"];
    for scheme in ours {
        let service = Service::start(ssh, false);
        let target = format!("{scheme}://u@127.0.0.1:{}/d", service.port);
        run(&target).refused(3, &["an SSH server answers there", "check host"]);
    }
    let service = Service::start(http, true);
    let target = format!("postgres://u@127.0.0.1:{}/d", service.port);
    run(&target).refused(3, &["an HTTP server answers there, not PostgreSQL"]);
    let service = Service::start(http, true);
    let target = format!("mysql://u@127.0.0.1:{}/d?connect-timeout=300ms", service.port);
    run(&target).refused(3, &["within 300 ms: it has not greeted"]);
}

#[test]
fn the_other_kind_of_database_is_named() {
    let given = GivenServer::start(Product::Mariadb, &[]);
    for mode in ["disable", "prefer"] {
        let port = given.server.port();
        let ran = run(&format!("postgres://u@127.0.0.1:{port}/d?sslmode={mode}"));
        ran.refused(3, &["a MySQL or MariaDB server (mysql://) answers there"]);
    }
    let given = GivenServer::start(Product::Postgres, &[]);
    let port = given.server.port();
    let ran = run(&format!("mysql://u@127.0.0.1:{port}/d?connect-timeout=1s"));
    ran.refused(3, &["it has not greeted", "PostgreSQL (postgres://)"]);
}

#[test]
fn a_host_that_is_not_there_is_the_environment_and_no_database_is_usage() {
    for scheme in ["mysql", "postgres"] {
        let ran = run(&format!("{scheme}://u@no-such-host.invalid/d"));
        ran.refused(3, &["cannot find the host no-such-host.invalid", "check its name"]);
    }
    for command in ["run tpcb --transactions 1 --no-record", "init tpcb"] {
        let line = format!("{command} --target mysql://u@127.0.0.1:1/");
        Sandbox::new().run(&line).refused(2, &["names no database", "mysql://USER@HOST/DATABASE"]);
    }
}
