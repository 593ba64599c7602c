//! What a request waited for in the server's socket, as far as that was seen.

use crate::growing::growing;
use crate::{Nanos, Part, Parts};
use serde::{Deserialize, Serialize};

/// Parts of a request's time in the server's socket. Microseconds in which the thread that then
/// read it could not run; for the rest it slept, served an earlier request or, in a pool, was not
/// yet its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerQueueParts {
    /// Runnable, with another thread on the CPU.
    pub runq_preempted: Nanos,
    /// Woken, and not yet on a CPU.
    pub runq_woken: Nanos,
    /// At the CPU limit of its control group.
    pub throttled: Nanos,
    /// Stopped by a signal, a debugger or a freezer.
    pub stopped: Nanos,
}

impl ServerQueueParts {
    /// Each with its part.
    pub fn named(&self) -> [(Part, Nanos); 4] {
        let Self { runq_preempted, runq_woken, throttled, stopped } = *self;
        [
            (Part::RunqPreempted, runq_preempted),
            (Part::RunqWoken, runq_woken),
            (Part::Throttled, throttled),
            (Part::Stopped, stopped),
        ]
    }

    /// As much of these as there is in a time in the socket. They may be longer together than what
    /// counts of that time: none of it is there twice then.
    #[must_use]
    pub fn within(&self, queue: Nanos) -> Self {
        let mut rest = queue;
        let mut share_of = |length: Nanos| {
            let share = length.min(rest);
            rest = rest - share;
            share
        };
        Self {
            runq_preempted: share_of(self.runq_preempted),
            runq_woken: share_of(self.runq_woken),
            throttled: share_of(self.throttled),
            stopped: share_of(self.stopped),
        }
    }

    /// Adds a time in the socket to parts: each of these, where they are known, to its own, and
    /// what is left to `server_queue`.
    pub fn divide(known: Option<&Self>, queue: Nanos, parts: &mut Parts) {
        let within = known.map(|known| known.within(queue));
        let mut rest = queue;
        for (part, share) in within.iter().flat_map(Self::named) {
            parts.add(part, share.signed());
            rest = rest - share;
        }
        parts.add(Part::ServerQueue, rest.signed());
    }

    /// Whether clocks can have shown them; a file may say anything.
    pub(crate) fn are_possible(&self) -> bool {
        self.named().iter().all(|(_, length)| length.is_possible())
    }
}

growing! { ServerQueueParts { runq_preempted, runq_woken, throttled, stopped } }

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> ServerQueueParts {
        ServerQueueParts {
            runq_preempted: Nanos(1),
            runq_woken: Nanos(20),
            throttled: Nanos(300),
            stopped: Nanos(4_000),
        }
    }

    /// What a time in the socket is divided into.
    fn divided(queue: u64) -> Parts {
        let mut divided = Parts::only(Part::RunqWoken, 7);
        ServerQueueParts::divide(Some(&parts()), Nanos(queue), &mut divided);
        assert_eq!(divided.total(), queue.cast_signed() + 7);
        divided
    }

    #[test]
    fn what_is_left_of_the_time_in_the_socket_is_the_queue() {
        let amounts = [
            (Part::RunqPreempted, 1),
            (Part::RunqWoken, 27),
            (Part::Throttled, 300),
            (Part::Stopped, 4_000),
            (Part::ServerQueue, 679),
        ];
        assert_eq!(divided(5_000), Parts::of(&amounts));
    }

    #[test]
    fn no_time_in_the_socket_counts_twice() {
        assert_eq!(divided(121).get(Part::Throttled), 100);
        assert_eq!((divided(121).get(Part::Stopped), divided(0).get(Part::ServerQueue)), (0, 0));
    }

    #[test]
    fn parts_of_a_time_in_the_socket_are_no_longer_than_it() {
        assert_eq!(parts().within(Nanos(5_000)), parts());
        let within = parts().within(Nanos(121));
        let expected = ServerQueueParts { throttled: Nanos(100), stopped: Nanos(0), ..parts() };
        assert_eq!((within, within.within(Nanos(121))), (expected, expected));
    }

    #[test]
    fn of_a_time_in_the_socket_nothing_else_may_be_known() {
        let mut divided = Parts::default();
        ServerQueueParts::divide(None, Nanos(5), &mut divided);
        assert_eq!(divided, Parts::only(Part::ServerQueue, 5));
    }

    #[test]
    fn sums_and_differences_are_those_of_each() {
        let mut sum = parts();
        sum += parts();
        assert_eq!(sum - parts(), parts());
        assert_eq!(parts() - sum, ServerQueueParts::default());
    }
}
