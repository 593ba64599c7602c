//! A mutex within the server.

use super::preload::{compile, environment, number_at, shared_file};
use super::*;

/// How often the mutex was taken so far, and how long was waited for it in all. Unit: microseconds.
fn waited_us(sandbox: &Sandbox) -> (f64, f64) {
    let shared = std::fs::read(sandbox.path("shared")).expect("a file");
    (number_at(&shared, 0) as f64, number_at(&shared, 1) as f64 / 1e3)
}

/// Runs a load of so many connections, each of whose answers takes one mutex in the server; how
/// long it waited for that in the mean of the window. Unit: microseconds.
fn with_mutex(product: Product, connections: u32) -> Option<(ExplainedRun, f64)> {
    let sandbox = Sandbox::new();
    compile(&sandbox, "hot_mutex");
    shared_file(&sandbox, "shared", 4096);
    let variables = [("HOT_MUTEX_FILE", "shared"), ("HOT_MUTEX_US", "1000")];
    let environment = environment(&sandbox, "hot_mutex", &variables);
    let load = format!("--connections {connections} --time 3s {environment}");
    let line = format!("--query 'SELECT 1' --target {} {load}", product.name());
    let mut before = (0.0, 0.0);
    let run = ExplainedRun::of_in(&sandbox, &line, |dbtime| {
        driven::wait_for_thread(dbtime, "load");
        std::thread::sleep(WARM_UP);
        before = waited_us(&sandbox);
    })?;
    let after = waited_us(&sandbox);
    Some((run, (after.1 - before.1) / (after.0 - before.0)))
}

/// One connection has nobody in its way but dbtime's own, which reads counters; of six each waits
/// for five.
#[test]
fn a_mutex_in_the_server_is_the_lock() {
    for product in PRODUCTS {
        is_found(|| {
            let (without, nothing) = with_mutex(product, 1)?;
            let (with, planted) = with_mutex(product, 6)?;
            assert!(planted > 1_000.0, "{planted}");
            // Where the machine takes the CPU from who has the mutex, even one waits for it.
            if nothing >= 0.1 * planted {
                return Some((0.0, planted));
            }
            without.does_not_advise("lock_waits");
            with.advises("lock_waits", &["a mutex inside the server", "execute query: query"]);
            let found = with.part_us("lock") - without.part_us("lock");
            Some(with.if_first("a mutex inside the server", (found, planted - nothing)))
        });
    }
}
