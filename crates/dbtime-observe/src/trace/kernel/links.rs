//! Taking programs away again. Each that goes waits until the kernel knows that nobody runs it,
//! three grace periods of RCU; one behind the other this was half a minute on busy CPUs. Those that
//! wait at the same time wait for the same ones.

use libbpf_rs::Link;
use std::thread;

/// Takes programs away, and comes back when they are.
pub(crate) fn detach_all(links: impl IntoIterator<Item = Link>) {
    thread::scope(|threads| {
        for link in links {
            // Where there is no thread to be had it goes here and now, with what would have run.
            let _ = thread::Builder::new().spawn_scoped(threads, || drop(link));
        }
    });
}

/// The same without waiting for it.
pub(crate) fn detach_aside(links: Vec<Link>) {
    let _ = thread::Builder::new().spawn(|| detach_all(links));
}
