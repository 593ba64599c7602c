//! A simulated link: when what passes it has passed.
//!
//! All connections of a load share it, as those of a machine share its network card. Each direction
//! passes one transfer after the other, in the order in which they come to it. Counted is what
//! tc-tbf(8) counts on an Ethernet interface: payload and the headers of each packet.

use crate::drive::shard::LinkUse;
use dbtime_model::{BitRate, MonoNanos, Nanos};
use std::sync::atomic::{AtomicU64, Ordering};

/// Headers of a packet: Ethernet 14, IPv4 20, TCP with time stamps 32.
const HEADER_BYTES: u64 = 66;

/// Payload of a full packet: an Ethernet frame carries 1,500 bytes, of which 52 are headers.
const PACKET_PAYLOAD: u64 = 1_448;

/// Both directions of a link.
#[derive(Debug)]
pub(super) struct NetworkLink {
    /// Towards the server.
    pub(super) requests: LinkDirection,
    /// From the server.
    pub(super) answers: LinkDirection,
}

impl NetworkLink {
    /// A link of that rate in each direction.
    pub(super) fn new(rate: BitRate) -> Self {
        let direction = || LinkDirection { rate, ..LinkDirection::default() };
        Self { requests: direction(), answers: direction() }
    }

    /// How long it was busy until now.
    pub(super) fn used(&self, present: MonoNanos) -> LinkUse {
        LinkUse { requests: self.requests.used(present), answers: self.answers.used(present) }
    }
}

/// One direction of a link.
#[derive(Debug, Default)]
pub(super) struct LinkDirection {
    rate: BitRate,
    /// When everything has passed that came to it so far.
    free_at: AtomicU64,
    /// How long all of that takes to pass, without the pauses between.
    taken: AtomicU64,
}

/// A transfer's way through the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkPassage {
    /// When its last bit has passed.
    pub(super) until: MonoNanos,
    /// How long it kept the link busy.
    pub(super) took: Nanos,
}

impl LinkPassage {
    /// Whether a transfer that came at that instant had to wait for others.
    pub(super) fn has_waited(&self, came_at: MonoNanos) -> bool {
        self.until - came_at > self.took
    }
}

impl LinkDirection {
    /// A transfer of so many bytes comes to the link now.
    #[inline]
    pub(super) fn pass(&self, payload: usize, present: MonoNanos) -> LinkPassage {
        let took = self.rate.time_of(with_headers(payload as u64));
        let mut free_at = self.free_at.load(Ordering::Relaxed);
        loop {
            let until = MonoNanos(free_at.max(present.0)) + took;
            let order = Ordering::Relaxed;
            match self.free_at.compare_exchange_weak(free_at, until.0, order, order) {
                Ok(_) => {
                    self.taken.fetch_add(took.0, order);
                    return LinkPassage { until, took };
                }
                Err(earlier) => free_at = earlier,
            }
        }
    }

    /// How long it was busy until now: what has still to pass is not yet part of it.
    fn used(&self, present: MonoNanos) -> Nanos {
        let to_come = MonoNanos(self.free_at.load(Ordering::Relaxed)) - present;
        Nanos(self.taken.load(Ordering::Relaxed)) - to_come
    }
}

/// The bytes of a transfer with the headers of its packets.
#[inline]
fn with_headers(payload: u64) -> u64 {
    payload + payload.div_ceil(PACKET_PAYLOAD) * HEADER_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn transfers_pass_one_after_the_other() {
        let link = NetworkLink::new(BitRate(1_000_000_000));
        // 59 bytes and the headers are 125 bytes: a microsecond.
        let passed = |at| link.answers.pass(59, MonoNanos(at));
        assert_eq!(passed(5_000), LinkPassage { until: MonoNanos(6_000), took: Nanos(1_000) });
        assert_eq!(passed(5_000).until, MonoNanos(7_000));
        assert!(passed(5_000).has_waited(MonoNanos(5_000)));
        // It saves up nothing while it is idle, and the other direction has its own.
        assert_eq!(passed(100_000).until, MonoNanos(101_000));
        assert!(!passed(200_000).has_waited(MonoNanos(200_000)));
        assert_eq!(link.requests.pass(59, MonoNanos(5_000)).until, MonoNanos(6_000));
        let used = |at| link.used(MonoNanos(at));
        let (requests, answers) = (Nanos(1_000), Nanos(5_000));
        assert_eq!(used(300_000), LinkUse { requests, answers });
        assert_eq!(used(200_250).answers, Nanos(4_250), "what has passed so far");
    }

    #[test]
    fn packets_have_headers() {
        assert_eq!([0, 1, 1_448, 1_449].map(with_headers), [0, 67, 1_514, 1_581]);
    }

    proptest! {
        /// However it is shared: no more passes than the rate, and nothing passes before it came.
        #[test]
        fn never_more_than_the_rate(
            transfers in prop::collection::vec((0u64..50_000, 0usize..100_000), 1..200),
            megabits in 1u64..10_000,
        ) {
            let rate = BitRate(megabits * 1_000_000);
            let link = NetworkLink::new(rate);
            let (mut present, mut last, mut busy) = (MonoNanos(1), MonoNanos(1), Nanos::ZERO);
            for (pause, payload) in transfers {
                present = present + Nanos(pause);
                let passage = link.answers.pass(payload, present);
                prop_assert!(passage.until >= present + passage.took && passage.until >= last);
                (last, busy) = (passage.until, busy + passage.took);
            }
            prop_assert!(last - MonoNanos(1) >= busy);
        }
    }
}
