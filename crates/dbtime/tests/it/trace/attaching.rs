//! Watching that begins and ends under load: for all programs at once.

use super::*;
use crate::given_server::PRODUCTS;

/// Traces of each kind of connection.
const TRACES: usize = 5;

/// What is attached later than something else misses requests that the other has seen begin: these
/// were taken for aborted.
#[test]
fn no_request_is_taken_for_aborted_where_watching_begins_and_ends() {
    for product in PRODUCTS {
        let (_certificates, server) = encrypted::start(product);
        for is_encrypted in [false, true] {
            let sandbox = Sandbox::new();
            let mode = encrypted::mode(product, is_encrypted);
            let load = sandbox.start(&format!(
                "run --query 'SELECT 1' --connections 8 --rate 4000/s --time 60s --warmup 0s \
                 --protocol prepared --target '{}?{mode}' --no-record",
                server.target_tcp()
            ));
            // It begins after connecting.
            std::thread::sleep(Duration::from_secs(2));
            let is_possible = (0..TRACES).all(|_| is_whole(&sandbox, &server));
            load.interrupt();
            load.end();
            if !is_possible {
                return;
            }
        }
    }
}

/// Whether a trace is permitted here; it has to be clean.
fn is_whole(sandbox: &Sandbox, server: &GivenServer) -> bool {
    let Some(tracer) = Tracer::start(sandbox, server, "--json --strict --time 300ms") else {
        return false;
    };
    let seen = tracer.ended();
    seen.is_clean();
    assert!(seen.counted("ended") > 100, "{}", seen.ledger);
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    true
}
