//! The round trip of a network that is not there: requests are held back before they are sent.
//!
//! A client that waits for each answer sees no difference between a request that arrives later by a
//! round trip and both ways that take half of one. Nothing stands between driver and server, so
//! that neither has to pay for it, as both would for a relay on their CPUs.
//!
//! Nor does the driver spin for it: it would take the CPU of a server beside it. Its wake-ups are
//! late, by 90 µs on an idle virtual machine. Requests are due so much earlier, as learnt from
//! those before, and on average they are held back for as long as they are to be.

use super::SocketReactor;
use crate::socket::connection::ConnectionStage;
use crate::socket::protocol::Protocol;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::collections::VecDeque;

/// The share of an error by which the lead follows it, as a divisor.
const LEARNING: i64 = 16;

/// Requests that are held back, in the order in which they are to be sent: each as long as the
/// others.
#[derive(Debug, Default)]
pub(super) struct DelayedRequests {
    /// Connections, with the instants at which their requests should be sent.
    due: VecDeque<(u32, MonoNanos)>,
    /// How much earlier a wait for them ends. Unit: nanoseconds.
    lead: i64,
}

impl DelayedRequests {
    /// That of a connection is to be sent when so much time has passed.
    pub(super) fn hold(&mut self, connection: u32, present: MonoNanos, delay: Nanos) {
        self.due.push_back((connection, present + delay));
    }

    /// A connection whose request is due; it is not returned again.
    pub(super) fn take_due(&mut self, present: MonoNanos, delay: Nanos) -> Option<u32> {
        let next = self.next().filter(|next| *next <= present)?;
        let (connection, at) = self.due.pop_front()?;
        let late = (present - next).0.cast_signed() - (at - next).0.cast_signed();
        // What is late by more was not the wake-up's doing.
        let most = delay.0.cast_signed() / 2;
        self.lead = (self.lead + late.clamp(-most, most) / LEARNING).clamp(0, most);
        Some(connection)
    }

    /// When a wait for the next one ends.
    pub(super) fn next(&self) -> Option<MonoNanos> {
        let (_, at) = self.due.front()?;
        Some(MonoNanos(at.0.saturating_sub(self.lead.unsigned_abs())))
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// Sends requests, or has them wait as long as a network would take.
    #[inline]
    pub(super) fn send(&mut self, id: u32) {
        match self.settings.network_delay {
            None => self.flush(id),
            Some(delay) => self.delayed.hold(id, now(), delay),
        }
    }

    /// Sends the requests that have been held back for long enough.
    #[cold]
    pub(super) fn send_delayed(&mut self, present: MonoNanos) {
        let delay = self.settings.network_delay.unwrap_or(Nanos::ZERO);
        while let Some(id) = self.delayed.take_due(present, delay) {
            let conn = &self.conns[id as usize];
            // It may have been lost, and may be made again.
            if conn.stage == ConnectionStage::Up && conn.has_unsent() && !conn.is_blocked {
                self.flush(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_due_one_after_the_other() {
        let mut held = DelayedRequests::default();
        let delay = Nanos(500);
        held.hold(3, MonoNanos(100), delay);
        held.hold(1, MonoNanos(200), delay);
        assert_eq!(
            (held.next(), held.take_due(MonoNanos(599), delay)),
            (Some(MonoNanos(600)), None)
        );
        assert_eq!(held.take_due(MonoNanos(700), delay), Some(3));
        assert_eq!(held.take_due(MonoNanos(700), delay), Some(1));
        assert_eq!((held.take_due(MonoNanos(9_000), delay), held.next()), (None, None));
    }

    #[test]
    fn late_wake_ups_are_made_up_for() {
        let (mut held, delay) = (DelayedRequests::default(), Nanos(200_000));
        let mut sent_late = Vec::new();
        for number in 0..400u64 {
            let at = MonoNanos(number * 1_000_000);
            held.hold(0, at, delay);
            let woken = MonoNanos(held.next().expect("one").0 + 70_000 + number % 7 * 5_000);
            assert_eq!(held.take_due(woken, delay), Some(0));
            sent_late.push((woken - at).0.cast_signed() - 200_000);
        }
        let last = &sent_late[200..];
        let mean = last.iter().sum::<i64>() / last.len() as i64;
        assert!(mean.abs() < 3_000, "{mean} ns late on average");
        // A pause of the driver is no wake-up, and is not made up for at once.
        held.hold(0, MonoNanos(1_000_000_000), delay);
        held.take_due(MonoNanos(2_000_000_000), delay);
        assert!(held.lead < 100_000, "{}", held.lead);
    }
}
