//! Watching that begins and ends under load: for all programs at once.

use super::*;
use crate::given_server::{PRODUCTS, patient};
use crate::lock_client::LockClient;
use crate::running::Running;
use crate::tls::Certificates;

/// Traces of each kind of connection that have to see requests.
const TRACES: usize = if cfg!(feature = "long") { 5 } else { 1 };

const STEADY: &str = "--connections 8 --rate 1000/s";
/// As fast as it goes: more clients would only delay what attaches.
const FLAT_OUT: &str = "--connections 3";

/// Clients of a server, encrypted or not.
fn load(sandbox: &Sandbox, server: &Encrypting, is_encrypted: bool, pace: &str) -> Running {
    sandbox.start(&format!(
        "run --query 'SELECT 1' {pace} --time 300s --warmup 0s --protocol prepared \
         --target '{}?{}' --no-record",
        server.given.target_tcp(),
        encrypted::mode(server.product, is_encrypted)
    ))
}

/// A server that encrypts where it is asked to.
struct Encrypting {
    product: Product,
    given: GivenServer,
    _certificates: Certificates,
}

impl Encrypting {
    fn start(product: Product) -> Self {
        let (certificates, given) = encrypted::start(product);
        Self { product, given, _certificates: certificates }
    }
}

/// Has some traces begin and end while clients of both kinds are at work on each server. Returns
/// whether eBPF is permitted.
fn traces_are_clean(servers: &[&Encrypting], pace: &str, options: &str) -> bool {
    let products: Vec<Product> = servers.iter().map(|server| server.product).collect();
    holders::note(&format!("{products:?}, {pace} {options}"));
    let sandbox = Sandbox::new();
    let kinds = servers.iter().flat_map(|server| [(server, true), (server, false)]);
    let loads: Vec<Running> =
        kinds.map(|(server, is_encrypted)| load(&sandbox, server, is_encrypted, pace)).collect();
    let servers: Vec<&GivenServer> = servers.iter().map(|server| &server.given).collect();
    let is_possible = traces_see_requests(&servers, options);
    for load in loads {
        load.interrupt();
        load.end();
    }
    is_possible
}

/// Traces until so many have seen requests: the clients take their time to connect, and another
/// test may have the CPUs. Returns whether eBPF is permitted.
fn traces_see_requests(servers: &[&GivenServer], options: &str) -> bool {
    let begun = Instant::now();
    let mut seen = 0;
    while seen < TRACES {
        let Some(requests) = clean_requests(servers, options) else { return false };
        seen += usize::from(requests > 10);
        let is_in_time = seen == TRACES || begun.elapsed() < PATIENCE;
        assert!(is_in_time, "{seen} traces saw requests");
    }
    true
}

/// How many requests ended in a short trace, which has to be clean; `None` without eBPF.
fn clean_requests(servers: &[&GivenServer], options: &str) -> Option<u64> {
    let sandbox = Sandbox::new();
    let others: Vec<u32> = servers[1..].iter().map(|one| one.server.pid()).collect();
    let others: String = others.iter().map(|pid| format!("-p {pid} ")).collect();
    let options = format!("{others}--json --strict --time 300ms {options}");
    let (tracer, _) = Tracer::start_of(&sandbox, servers[0].server.pid(), &options)?;
    let seen = tracer.ended();
    for trouble in ["aborted", "vanished", "unread", "pipelined_over", "resync"] {
        assert_eq!(seen.counted(trouble), 0, "{trouble}: {}", seen.ledger);
    }
    if !options.contains("--summary") {
        ledger_adds_up(&seen.ledger);
    }
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    Some(seen.counted("ended"))
}

/// What is attached later than something else misses requests that the other has seen begin: these
/// were taken for aborted.
#[test]
fn no_request_is_taken_for_aborted_where_watching_begins_and_ends() {
    let servers = PRODUCTS.map(Encrypting::start);
    let [one, other] = &servers;
    // Flat out the loads take all CPUs, and a reader may be too slow for every request.
    let _ = traces_are_clean(&[one], STEADY, "")
        && traces_are_clean(&[other], STEADY, "")
        && traces_are_clean(&[one, other], STEADY, "")
        && traces_are_clean(&[one], FLAT_OUT, "--summary")
        && (!cfg!(feature = "long") || traces_are_clean(&[other], FLAT_OUT, "--summary"));
}

/// Whose request came before has no line until its next one.
#[test]
fn who_was_at_work_before_it_looked_is_spoken_of() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, patient(product)));
        let [mut holder, mut waiter] = [(); 2].map(|()| LockClient::connect(product, &server));
        let table = "CREATE TABLE l (id INT PRIMARY KEY, n INT)";
        for sql in [table, "INSERT INTO l VALUES (1, 0)", "BEGIN", "UPDATE l SET n = 1"] {
            holder.query(sql);
        }
        waiter.send("UPDATE l SET n = 2");
        server.until_waiting(1);
        let Some(mut tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let spoken = "at work before dbtime looked";
        let spoken = if product == Product::Postgres { spoken } else { "before dbtime looked" };
        let lines = lines_until(&mut tracer, spoken, PATIENCE);
        let number = if product == Product::Postgres { ": 1 session" } else { ": up to 1 of 2" };
        assert!(lines.last().is_some_and(|line| line.contains(number)), "{lines:?}");
        holder.query("COMMIT");
        waiter.answered();
        // Its answer is to a request that nobody has seen.
        let seen = tracer.end();
        assert!(seen.requests.iter().all(|one| one["text"] != "UPDATE l SET n = 2"));
    }
}
