//! The round trip of a network that is not there: requests are held back before they are sent.
//!
//! A client that waits for each answer sees no difference between a request that arrives later by a
//! round trip and both ways that take half of one. Nothing stands between driver and server, so
//! that neither has to pay for it, as both would for a relay on their CPUs.

use super::SocketReactor;
use crate::socket::connection::ConnectionStage;
use crate::socket::protocol::Protocol;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::collections::VecDeque;

/// Requests that are held back, in the order in which they are to be sent: each as long as the
/// others.
#[derive(Debug, Default)]
pub(super) struct DelayedRequests {
    due: VecDeque<(u32, MonoNanos)>,
}

impl DelayedRequests {
    /// That of a connection is to be sent when so much time has passed.
    pub(super) fn hold(&mut self, connection: u32, present: MonoNanos, delay: Nanos) {
        self.due.push_back((connection, present + delay));
    }

    /// A connection whose request is due; it is not returned again.
    pub(super) fn take_due(&mut self, present: MonoNanos) -> Option<u32> {
        let (connection, _) = *self.due.front().filter(|(_, at)| *at <= present)?;
        self.due.pop_front();
        Some(connection)
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<MonoNanos> {
        self.due.front().map(|(_, at)| *at)
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
        while let Some(id) = self.delayed.take_due(present) {
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
        assert_eq!((held.next(), held.take_due(MonoNanos(599))), (Some(MonoNanos(600)), None));
        assert_eq!(held.take_due(MonoNanos(700)), Some(3));
        assert_eq!(held.take_due(MonoNanos(700)), Some(1));
        assert_eq!((held.take_due(MonoNanos(9_000)), held.next()), (None, None));
    }
}
