//! Wake-ups that the kernel does not announce.

use super::*;
use crate::given_server::PRODUCTS;
use crate::lock_client::LockClient;
use std::thread;

/// Nearly five thousand sleeps together: some fourteen of them would be missed. Of half as many it
/// would be fewer than three now and then, and nobody would notice.
const CLIENTS: usize = 80;
const SLEEPS: usize = 60;

/// Timers wake sleepers from idle CPUs, where kernels have been met that leave events out of three
/// wake-ups in a thousand: a sleep is none the less no wait for a CPU.
#[test]
fn a_sleep_that_a_timer_ends_is_no_wait_for_a_cpu() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let server = GivenServer::start(product, &[]);
        let sleep = match product {
            Product::Postgres => "SELECT pg_sleep(0.06)",
            _ => "DO SLEEP(0.06)",
        };
        let connect = || LockClient::connect(product, &server);
        let mut clients: Vec<LockClient> = (0..CLIENTS).map(|_| connect()).collect();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        // Each for itself: together they would leave no CPU idle.
        thread::scope(|threads| {
            for client in &mut clients {
                threads.spawn(|| (0..SLEEPS).for_each(|_| client.query(sleep)));
            }
        });
        let seen = tracer.end();
        let slept: Vec<&Value> = seen.requests.iter().filter(|one| one["text"] == sleep).collect();
        assert_eq!(slept.len(), CLIENTS * SLEEPS);
        // What is missed is taken for a wait of one that was woken.
        let is_missed = |one: &&&Value| parts::since_its_clock_ms(one) < 10.0;
        let missed = slept.iter().filter(is_missed).count();
        assert!(missed < 3, "{product:?}: {missed} of {}", slept.len());
    }
}
