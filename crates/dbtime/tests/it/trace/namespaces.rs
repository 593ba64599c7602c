//! Servers in namespaces of their own, as in containers: how they are found, and what their clients
//! call their connections.

use super::driven::{is_explained, traced};
use super::logins::those_of_postgresql_are_known;
use super::*;
use crate::given_server::patient_bound;
use crate::raw_postgres::RawPostgres;
use crate::sandbox::{Ran, words};
use dbtime_observe::process::{ProcessSelector, only};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;

/// Is a user with a group, in a network with a loopback interface alone, and then another program.
const ENTER: &str = "ip link set lo up && user=$1 group=$2 && shift 2 && \
                     exec setpriv --reuid \"$user\" --regid \"$group\" --clear-groups -- \"$@\"";

/// A server in a PID and a network namespace of its own, on the data of one that was outside.
struct ContainedServer {
    given: GivenServer,
    /// The parent of its first process.
    outside: Child,
    /// Its process, by the number that it has out here.
    pid: u32,
}

impl ContainedServer {
    /// `None` where this user may make no namespaces.
    fn start(product: Product) -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        let given = GivenServer::start(product, &[]);
        let line = std::fs::read(format!("/proc/{}/cmdline", given.server.pid())).expect("it runs");
        // What it executed when it was first started is not there any more.
        let is_kept = |word: &&[u8]| !word.is_empty() && !word.starts_with(b"--init-file=");
        let line = line.split(|byte| *byte == 0).filter(is_kept);
        let line: Vec<OsString> = line.map(|word| OsString::from_vec(word.to_vec())).collect();
        given.server.kill();
        let outside = Self::enter(&given, &line);
        let mut contained = Self { given, outside, pid: 0 };
        let begun = Instant::now();
        while contained.given.server.server().connect(&patient_bound()).is_err() {
            assert!(begun.elapsed() < PATIENCE, "{line:?} does not answer");
            // It may have found that the one before was not gone yet.
            if contained.outside.try_wait().expect("it was started").is_some() {
                contained.outside = Self::enter(&contained.given, &line);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let socket = contained.given.server.socket().to_owned();
        contained.pid = only(&ProcessSelector::Socket(socket)).expect("it listens");
        Some(contained)
    }

    fn enter(given: &GivenServer, line: &[OsString]) -> Child {
        let data = given.server.data();
        let owner = std::fs::metadata(&data).expect("its data are there");
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", "--net", "sh", "-c", ENTER, "sh"]);
        command.args([owner.uid().to_string(), owner.gid().to_string()]).args(line);
        command.current_dir(data).env("LC_ALL", "C").stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("there is unshare")
    }

    /// Listens out here, and passes on what comes to the server's port in there.
    fn publish(&self) -> u16 {
        let network = File::open(format!("/proc/{}/ns/net", self.pid)).expect("it runs");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        let inside = self.given.server.port();
        std::thread::spawn(move || {
            // A socket stays in the network that it was made in.
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(network.as_fd(), kind).expect("this is root");
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, inside)) else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let both = |stream: &TcpStream| stream.try_clone().expect("a second handle");
                    let (mut from, mut to) = (both(from), both(to));
                    std::thread::spawn(move || {
                        // Either end may be gone at any time.
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(std::net::Shutdown::Write);
                    });
                }
            }
        });
        port
    }

    /// Sends a signal to the first process of its namespace; whether there is one.
    fn signal(&self, signal: Signal) -> bool {
        let outside = self.outside.id();
        let children = std::fs::read_to_string(format!("/proc/{outside}/task/{outside}/children"));
        let children = children.unwrap_or_default();
        let first = children.split_whitespace().find_map(|first| first.parse().ok());
        first.and_then(Pid::from_raw).is_some_and(|first| kill_process(first, signal).is_ok())
    }
}

impl Drop for ContainedServer {
    /// Also where a test fails. One that ends by itself leaves nothing of what it shares in memory;
    /// with the first process of a namespace all others end.
    fn drop(&mut self) {
        let begun = Instant::now();
        let mut is_there = self.signal(Signal::QUIT);
        while is_there && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
            is_there = matches!(self.outside.try_wait(), Ok(None));
        }
        // Where it was waited for, its number may be another's.
        if is_there {
            self.signal(Signal::KILL);
        }
        let _ = self.outside.kill();
        let _ = self.outside.wait();
    }
}

/// What the server answers to a statement: a number.
fn number(given: &GivenServer, sql: &str) -> u64 {
    given.sql(sql).value().expect("a value").parse().expect("a number")
}

/// Whoever ends or cancels one takes that number.
#[test]
fn connections_of_a_postgresql_have_the_numbers_that_its_clients_see() {
    const OWN: &str = "SELECT pg_backend_pid() AS own";
    const HOLDS: &str = "UPDATE l SET id = 1 WHERE id = 1";
    let sandbox = Sandbox::new();
    let Some(server) = ContainedServer::start(Product::Postgres) else { return };
    let options = "--json --raw-sql";
    let Some((tracer, _)) = Tracer::start_of(&sandbox, server.pid, options) else { return };
    let own = number(&server.given, OWN);
    let [mut holder, mut waiter] = [0, 1].map(|_| RawPostgres::connect(&server.given));
    holder.query("CREATE TABLE l (id INT PRIMARY KEY)");
    holder.query("INSERT INTO l VALUES (1)");
    holder.query("BEGIN");
    holder.query(HOLDS);
    waiter.ask("DELETE FROM l WHERE id = 1");
    until_at_rest(server.pid);
    let of_holder = format!("SELECT pid FROM pg_stat_activity WHERE query = '{HOLDS}'");
    let holders = number(&server.given, &of_holder);
    holder.query("COMMIT");
    waiter.answered();
    let seen = tracer.end();
    let one = seen.one(OWN);
    assert_eq!(one["server_id"], own, "{one}");
    assert!(one["process"].is_u64() && one["process"] != own, "it has another out here: {one}");
    let waited = seen.one("DELETE FROM l WHERE id = 1");
    assert_eq!(waited["blocker"]["server_id"], holders, "{waited}");
    assert_eq!(seen.one(HOLDS)["server_id"], holders);
}

/// The server's list of its sessions has their threads by the numbers of its namespace.
#[test]
fn connections_from_before_are_known_by_their_threads_in_a_container_too() {
    let sandbox = Sandbox::new();
    let Some(server) = ContainedServer::start(Product::Mariadb) else { return };
    let mut before = [0, 1].map(|_| RawClient::connect(&server.given));
    let login = server.given.target_as(server.given.server.user(), "", "d");
    let options = format!("--json --raw-sql --login '{login}'");
    let Some((tracer, _)) = Tracer::start_of(&sandbox, server.pid, &options) else { return };
    for client in &mut before {
        client.query(&format!("DO 'number {}'", client.id));
    }
    let ids = before.each_ref().map(|client| client.id);
    let seen = tracer.end();
    for id in ids {
        let one = seen.one(&format!("DO 'number {id}'"));
        assert_eq!(one["server_id"], id, "{one}");
    }
}

/// It is by that number that a list has them.
#[test]
fn sessions_from_before_of_a_postgresql_in_a_container_are_known_by_its_list() {
    let Some(server) = ContainedServer::start(Product::Postgres) else { return };
    those_of_postgresql_are_known(&server.given, server.pid);
}

/// As docker-proxy and the like do; nobody but the server itself tells which it is.
#[test]
fn a_run_is_traced_whose_target_is_a_port_that_is_forwarded_to_a_container() {
    for product in crate::given_server::PRODUCTS {
        let Some(server) = ContainedServer::start(product) else { return };
        let at = format!("127.0.0.1:{}", server.publish());
        let target = server.given.target_at(server.given.server.user(), "", at);
        let load = "--connections 2 --transactions 1000 --warmup 0s";
        let Some(record) = traced(&target, load) else { return };
        is_explained(&record);
        // Whose ends these are nobody can know.
        assert_eq!(record["trace"]["join"]["arrived"], 0, "{}", record["trace"]);
    }
}

#[test]
fn a_port_is_that_of_a_server_in_whatever_network_and_who_only_forwards_is_named() {
    let sandbox = Sandbox::new();
    let Some(server) = ContainedServer::start(Product::Postgres) else { return };
    // Whoever publishes it may do so under the same number.
    let inside = server.given.server.port();
    let _same = TcpListener::bind((Ipv4Addr::LOCALHOST, inside)).expect("nobody has it out here");
    let ran = sandbox.run(&format!("trace -p :{inside} --time 300ms"));
    if ran.err.contains("CAP_BPF") {
        return not_tested(&ran.err);
    }
    ran.exits(0);
    assert!(ran.err.contains(&format!("watching postgres, process {},", server.pid)), "{ran:?}");
    let outside = server.publish();
    let listens = format!("process {}, listens on :{outside}", std::process::id());
    let ran = sandbox.run(&format!("trace -p :{outside}"));
    ran.refused(3, &[&listens, "forwards", "servers here: "]);
}

#[test]
fn within_a_container_dbtime_says_what_it_takes() {
    if !geteuid().is_root() {
        return; // it takes root to make a namespace
    }
    let sandbox = Sandbox::new();
    for line in ["trace", "ps 20ms --exact"] {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_dbtime")]);
        sandbox.settle(command.args(words(line)));
        let ran = Ran::new(line, &command.output().expect("there is unshare"));
        if ran.err.contains("CAP_BPF") {
            return not_tested(&ran.err);
        }
        ran.refused(3, &["PID namespace", "--pid=host", "hostPID: true"]);
    }
}
