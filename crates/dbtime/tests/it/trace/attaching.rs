//! Watching that begins and ends under load: for all programs at once.

use super::*;
use crate::given_server::PRODUCTS;
use crate::sandbox::Running;

/// Traces of each kind of connection.
const TRACES: usize = 3;

const STEADY: &str = "--rate 2000/s";
/// What stands for encrypted connections in a pace.
const TLS: &str = " TLS";

/// Clients of a server; without a rate as fast as they go.
fn load(sandbox: &Sandbox, (product, server): (Product, &GivenServer), pace: &str) -> Running {
    let mode = encrypted::mode(product, pace.contains(TLS));
    let pace = pace.replace(TLS, "");
    sandbox.start(&format!(
        "run --query 'SELECT 1' --connections 8 {pace} --time 300s --warmup 0s --protocol prepared \
         --target '{}?{mode}' --no-record",
        server.target_tcp()
    ))
}

/// Has some traces begin and end while clients are at work. Returns whether eBPF is permitted.
fn traces_are_clean(servers: &[(Product, &GivenServer)], paces: &[&str], options: &str) -> bool {
    let sandboxes: Vec<Sandbox> = paces.iter().map(|_| Sandbox::new()).collect();
    let loads = || servers.iter().zip(paces).zip(&sandboxes);
    let loads: Vec<Running> = loads().map(|((server, pace), at)| load(at, *server, pace)).collect();
    let servers: Vec<&GivenServer> = servers.iter().map(|(_, server)| *server).collect();
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
        assert!(begun.elapsed() < Duration::from_secs(120), "{seen} traces saw requests");
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
    for product in PRODUCTS {
        let (_certificates, server) = encrypted::start(product);
        for pace in [STEADY, &format!("{STEADY}{TLS}")] {
            if !traces_are_clean(&[(product, &server)], &[pace], "") {
                return;
            }
        }
    }
}

#[test]
fn nor_where_two_servers_are_watched_or_clients_go_flat_out() {
    let servers = PRODUCTS.map(|product| (product, encrypted::start(product)));
    let both: Vec<_> = servers.iter().map(|(product, (_, server))| (*product, server)).collect();
    let encrypted_too = format!("{STEADY}{TLS}");
    for paces in [[STEADY, &encrypted_too], [&encrypted_too, STEADY], ["", TLS], [TLS, ""]] {
        // Flat out a reader that shares the CPUs with two loads may be too slow for every request.
        let options = if paces[0].contains(STEADY) { "" } else { "--summary" };
        if !traces_are_clean(&both, &paces, options) {
            return;
        }
    }
}
