//! Networks that delay, slow down and break: a relay, and network namespaces of the tests' own.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::relay::relay;
use crate::sandbox::{Ran, Sandbox, count, counts_add_up, number};
use crate::watched_run::WatchedRun;
use dbtime_model::{Product, WireProtocol};
use dbtime_null_server::{FaultSchedule, ListenAddress, NullServer, NullServerOptions};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

fn target(given: &GivenServer, at: SocketAddr) -> String {
    given.target_at(given.server.user(), "", at)
}

#[test]
fn a_delay_on_the_way_is_in_every_round_trip() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let delay = Duration::from_millis(10);
        let at = relay(Ipv4Addr::LOCALHOST, given.server.port(), delay);
        let json = Sandbox::new()
            .run(&format!(
                "run values1 --target {} --connections 2 --transactions 40 --no-record --json",
                target(&given, at)
            ))
            .fine()
            .json();
        counts_add_up(&json);
        assert_eq!(count(&json, "/counts/completed"), 40, "{}", json["error_messages"]);
        assert!(number(&json, "/latency_us/service/min") >= 20e3, "{}", json["latency_us"]);
        assert!(number(&json, "/latency_us/connect/min") >= 20e3, "{}", json["latency_us"]);
    }
}

/// A network namespace joined to this one by a pair of interfaces; gone with this.
struct Namespace {
    name: String,
    outside: String,
    inside: String,
    address: Ipv4Addr,
}

/// Two of one process at once would be two of one name.
static ONE: Mutex<()> = Mutex::new(());

impl Namespace {
    /// `None` where this user may make none, which is a failure where tests must not be skipped.
    fn new() -> Option<Self> {
        // Other processes have other names, and networks of four addresses each.
        let id = std::process::id() % 0x4000;
        let (name, outside, inside) =
            (format!("dbtime{id}"), format!("dbto{id}"), format!("dbti{id}"));
        let [.., high, low] = (4 * id + 1).to_be_bytes();
        let address = Ipv4Addr::new(10, 201, high, low);
        let space = Self { name, outside, inside, address };
        if !space.ip(&["netns", "add", &space.name]) {
            assert!(std::env::var_os("CI").is_none(), "no network namespace can be made");
            let told = b"\nNOT TESTED: networks that break (needs root and iproute2)\n";
            std::io::Write::write_all(&mut std::io::stderr(), told).expect("stderr is there");
            return None;
        }
        let (name, outside, inside) = (&space.name, &space.outside, &space.inside);
        let other = Ipv4Addr::from_bits(address.to_bits() + 1);
        let (here, there) = (format!("{address}/30"), format!("{other}/30"));
        for words in [
            &["link", "add", outside, "type", "veth", "peer", "name", inside, "netns", name][..],
            &["addr", "add", &here, "dev", outside],
            &["link", "set", outside, "up"],
            &["-n", name, "addr", "add", &there, "dev", inside],
            &["-n", name, "link", "set", inside, "up"],
        ] {
            assert!(space.ip(words), "ip {words:?}");
        }
        Some(space)
    }

    fn ip(&self, words: &[&str]) -> bool {
        Command::new("ip").args(words).output().is_ok_and(|output| output.status.success())
    }

    /// Cuts the network, or mends it.
    fn cut(&self, is_cut: bool) {
        assert!(self.ip(&["link", "set", &self.outside, if is_cut { "down" } else { "up" }]));
    }

    /// Gives connections from within so many local ports.
    fn set_ports(&self, many: u32) {
        let (name, last) = (&self.name, 40_000 + many - 1);
        let set = format!("echo 40000 {last} > /proc/sys/net/ipv4/ip_local_port_range");
        assert!(self.ip(&["netns", "exec", name, "sh", "-c", &set]), "{set}");
    }

    fn start(&self, sandbox: &Sandbox, line: &str) -> std::process::Child {
        self.command(sandbox, line).spawn().expect("dbtime starts")
    }

    fn command(&self, sandbox: &Sandbox, line: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, env!("CARGO_BIN_EXE_dbtime")]);
        command.args(crate::sandbox::words(line));
        sandbox.settle(&mut command);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.ip(&["netns", "del", &self.name]);
        self.ip(&["link", "del", &self.outside]);
    }
}

#[test]
fn a_network_that_is_cut_is_an_outage_and_not_the_end() {
    let _alone = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for product in PRODUCTS {
        let Some(space) = Namespace::new() else { return };
        let given = GivenServer::start(product, &[]);
        let at = relay(space.address, given.server.port(), Duration::ZERO);
        let sandbox = Sandbox::new();
        let line = format!(
            "run values1 --target {}?{}=2s --connections 4 --rate 100/s --time 12s --warmup 0s \
             --statement-timeout 500ms --no-record --events",
            target(&given, at),
            if product == Product::Postgres { "connect_timeout" } else { "connect-timeout" },
        );
        let running = WatchedRun::of(space.command(&sandbox, &line), line);
        std::thread::sleep(Duration::from_millis(500));
        space.cut(true);
        std::thread::sleep(Duration::from_secs(4));
        space.cut(false);
        let json = running.end().fine().json();
        counts_add_up(&json);
        assert!(count(&json, "/errors/timeout") >= 1, "{}", json["errors"]);
        let from = number(&json, "/connections/outages/0/from_s");
        let until = number(&json, "/connections/outages/0/until_s");
        assert!(from < until && until < 12.0, "{}", json["connections"]);
        assert!(count(&json, "/counts/completed") > 300, "{}", json["counts"]);
    }
}

#[test]
fn a_slow_network_slows_what_is_sent_over_it() {
    let _alone = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some(space) = Namespace::new() else { return };
    let product = Product::Mariadb;
    let given = GivenServer::start(product, &[]);
    let at = relay(space.address, given.server.port(), Duration::ZERO);
    let slow = ["qdisc", "add", "dev", &space.outside, "root", "tbf", "rate", "8mbit"];
    let slow = slow.iter().chain(&["burst", "16kb", "latency", "500ms"]);
    let made = Command::new("tc").args(slow).output().expect("tc is there");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let sandbox = Sandbox::new();
    // 100 kB at 8 Mbit/s take 100 ms.
    let line = format!(
        "run --query 'SELECT REPEAT(\"x\", 100000)' --target {} --connections 1 --transactions 20 \
         --no-record --json",
        target(&given, at)
    );
    let child = space.start(&sandbox, &line);
    let ran = Ran::new(&line, &child.wait_with_output().expect("it ends"));
    let json = ran.fine().json();
    counts_add_up(&json);
    let median = number(&json, "/latency_us/service/p50");
    assert!((70e3..1e6).contains(&median), "{median}");
}

/// The warning of a run about local ports, if it has one.
fn warning_of_ports(json: &Value) -> Option<String> {
    let warnings = json["validity"]["warnings"].as_array().expect("a list");
    let found = warnings.iter().find(|warning| warning["kind"] == "ports")?;
    let remedy = found["remedy"].as_str().expect("a remedy");
    assert!(remedy.contains("ip_local_port_range"), "{remedy}");
    Some(found["text"].as_str().expect("a text").to_owned())
}

/// Each connection that was closed holds its port for a minute.
#[test]
fn local_ports_that_bound_the_rate_are_told() {
    let _alone = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for wire in [WireProtocol::Mysql, WireProtocol::Postgres] {
        let Some(space) = Namespace::new() else { return };
        space.set_ports(200);
        let listen = vec![(wire, ListenAddress::Port(0))];
        let options = NullServerOptions { listen, threads: 1, faults: FaultSchedule::default() };
        let server = NullServer::start(&options).expect("a port is free");
        let target = server.target(wire).expect("it speaks that").to_owned();
        let (_, port) = target.split_once("127.0.0.1:").expect("over TCP");
        let port = port.split('/').next().and_then(|port| port.parse().ok()).expect("a port");
        let at = relay(space.address, port, Duration::ZERO);
        let target = target.replace(&format!("127.0.0.1:{port}"), &at.to_string());
        let run = |transactions: u32| {
            let sandbox = Sandbox::new();
            let line = format!(
                "run values1 --target '{target}' --connections 2 --transactions {transactions} \
                 --reconnect every-transaction --warmup 0s --no-record --json"
            );
            let child = space.start(&sandbox, &line);
            let ran = Ran::new(&line, &child.wait_with_output().expect("it ends"));
            let json = if transactions > 100 { ran.unserved() } else { ran.fine() }.json();
            counts_add_up(&json);
            json
        };
        let few = run(40);
        assert_eq!(count(&few, "/counts/completed"), 40, "{}", few["error_messages"]);
        assert_eq!(warning_of_ports(&few), None);
        let many = run(100);
        assert_eq!(count(&many, "/counts/completed"), 100, "{}", many["error_messages"]);
        let told = warning_of_ports(&many).expect("most ports are taken");
        assert!(told.contains("of 200 local ports") && told.contains("none 0 times"), "{told}");
        let too_many = run(150);
        let refused = count(&too_many, "/errors/EADDRNOTAVAIL");
        assert!(refused >= 10, "{}", too_many["errors"]);
        let told = warning_of_ports(&too_many).expect("all ports are taken");
        assert!(told.contains(&format!("none {refused} times")), "{told}");
        let said = too_many["error_messages"]["EADDRNOTAVAIL"].as_str().expect("explained");
        assert!(said.contains("TIME_WAIT"), "{said}");
    }
}
