//! Free ports on the loopback address.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

/// Where servers are put: below the ports that the kernel deals to clients (32768 and up by
/// default), so that no outgoing connection takes one first.
const PORTS: std::ops::Range<u16> = 15_000..32_000;

/// Ports that this process has given away: two servers that start at once get two ports.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port that nobody listens on. It is nobody's until a server binds it: somebody else may come
/// first, then another must be asked for.
///
/// Errors: none of a thousand ports can be bound.
pub(super) fn free() -> io::Result<u16> {
    let random = RandomState::new();
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for attempt in 0..1000 {
        let port = PORTS.start + (random.hash_one(attempt) % PORTS.len() as u64) as u16;
        if !GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
            continue;
        }
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_distinct_and_below_those_of_clients() {
        let ports: Vec<u16> = (0..20).map(|_| free().expect("a port")).collect();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), ports.len());
        assert!(ports.iter().all(|port| PORTS.contains(port)));
    }
}
