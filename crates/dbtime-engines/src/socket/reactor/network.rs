//! A network that is not there: requests and answers are held back as it would hold them.
//!
//! A client that waits for each answer sees no difference between a request that arrives later by a
//! round trip and both ways that take half of one. Nothing stands between driver and server, so
//! that neither has to pay for it, as both would for a relay on their CPUs.
//!
//! What has arrived stays in the socket until the link has passed it. A server that sends more than
//! the link passes finds the socket full, as it would over a network.

use super::SocketReactor;
use super::held_transfers::{HeldTransfer, HeldTransfers, MAX_WAKE_LATENESS};
use crate::drive::shard::AnswerDelay;
use crate::socket::connection::ConnectionStage;
use crate::socket::link::NetworkLink;
use crate::socket::protocol::Protocol;
use crate::socket::settings::SimulatedNetwork;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use rustix::io::ioctl_fionread;
use std::sync::Arc;

/// Plain text in an encrypted record, at most (RFC 8446, section 5.1).
const MAX_RECORD_BYTES: usize = 16 << 10;

/// What a record has beside it: a header of 5 bytes, its type and a tag of 16 (section 5.2).
const RECORD_OVERHEAD_BYTES: usize = 22;

/// What a network would have under way of one shard's transfers.
#[derive(Debug)]
pub(super) struct ShardNetwork {
    /// How long each request is held back beside its way through the link.
    delay: Nanos,
    /// The same for all shards; `None`: all passes at once.
    pub(super) link: Option<Arc<NetworkLink>>,
    requests: HeldTransfers,
    answers: HeldTransfers,
}

impl ShardNetwork {
    /// A network, with the link that all shards share.
    pub(super) fn new(network: SimulatedNetwork, link: Option<Arc<NetworkLink>>) -> Self {
        // No request is sent by more than half of its delay before its time.
        let max_lead = network.delay.map_or(MAX_WAKE_LATENESS, |delay| Nanos(delay.0 / 2));
        Self {
            delay: network.delay.unwrap_or_default(),
            link,
            requests: HeldTransfers::new(max_lead),
            answers: HeldTransfers::new(MAX_WAKE_LATENESS),
        }
    }

    /// Whether anything is held back.
    #[inline]
    fn is_simulated(&self) -> bool {
        self.link.is_some() || self.delay > Nanos::ZERO
    }

    /// When a wait for the next transfer ends.
    pub(super) fn next(&self) -> Option<MonoNanos> {
        let (requests, answers) = (self.requests.next(), self.answers.next());
        requests.into_iter().chain(answers).min()
    }

    /// When a request of so many bytes, which is ready now, has passed.
    fn request_passes(&self, bytes: usize) -> MonoNanos {
        let present = now();
        let link = self.link.as_ref();
        let passed = link.map_or(present, |link| link.requests.pass(bytes, present).until);
        passed + self.delay
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// Sends requests, or has them wait as long as a network would take.
    #[inline]
    pub(super) fn send(&mut self, id: u32) {
        if self.network.is_simulated() { self.send_behind(id) } else { self.flush(id) }
    }

    /// Has requests wait as long as the network would take.
    #[cold]
    fn send_behind(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let unsent = conn.unsent();
        let payload = unsent.saturating_sub(conn.passing);
        let records = if conn.tls().is_some() { payload.div_ceil(MAX_RECORD_BYTES) } else { 0 };
        let at = self.network.request_passes(payload + records * RECORD_OVERHEAD_BYTES);
        conn.passing = unsent;
        self.network.requests.hold(HeldTransfer { connection: id, epoch: conn.epoch, at });
    }

    /// Sends what the protocol has to say to what was read.
    #[inline]
    pub(super) fn reply(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        if !self.network.is_simulated() || conn.stage != ConnectionStage::Up {
            self.flush(id);
        } else if conn.unsent() > conn.passing {
            // Requests that are held back are not sent along with it.
            self.send(id);
        }
    }

    /// Sends and reads what has been held back for long enough.
    #[cold]
    pub(super) fn pass_due(&mut self, present: MonoNanos) {
        while let Some(due) = self.network.requests.take_due(present) {
            let conn = &self.conns[due.connection as usize];
            // It may have been lost, and may be made again.
            if conn.epoch == due.epoch
                && conn.stage == ConnectionStage::Up
                && conn.has_unsent()
                && !conn.is_blocked
            {
                self.flush(due.connection);
            }
        }
        while let Some(due) = self.network.answers.take_due(present) {
            let conn = &mut self.conns[due.connection as usize];
            if conn.epoch != due.epoch {
                continue;
            }
            if let (Some(late), ConnectionStage::Up) = (conn.arriving.take(), conn.stage) {
                let woken_late = self.lateness.of(0, 1).wait.min(present - due.at);
                let late = AnswerDelay { wait: late.wait + woken_late, ..late };
                self.read_passed(due.connection, late);
            }
        }
    }

    /// Reads what has arrived on a connection, which had been there for so long, as soon as the
    /// link has passed it.
    #[inline]
    pub(super) fn readable(&mut self, id: u32, late: AnswerDelay) {
        if self.network.link.is_some() && self.conns[id as usize].stage == ConnectionStage::Up {
            self.read_passed(id, late);
        } else {
            self.read(id, late);
        }
    }

    /// Reads what the link has passed, and has it pass what came behind that.
    #[cold]
    fn read_passed(&mut self, id: u32, mut late: AnswerDelay) {
        // Epoll says once that there is something: all of it is taken. Of what is encrypted, a read
        // takes a piece.
        while !self.is_held_back(id, late) {
            let before = self.conns[id as usize].received;
            self.read(id, std::mem::take(&mut late));
            let conn = &self.conns[id as usize];
            if conn.stage != ConnectionStage::Up || conn.received == before {
                break;
            }
        }
    }

    /// Whether the link has still to pass all that has arrived and was not read.
    fn is_held_back(&mut self, id: u32, late: AnswerDelay) -> bool {
        let conn = &mut self.conns[id as usize];
        if conn.arriving.is_some() || conn.has_passed() {
            return conn.arriving.is_some();
        }
        let (Some(link), Some(socket)) = (&self.network.link, conn.socket()) else { return false };
        // The end of a connection is as if nothing were there.
        let available = ioctl_fionread(socket).unwrap_or(0);
        let unpassed = (conn.received + available).saturating_sub(conn.passed);
        if unpassed == 0 {
            return false;
        }
        let present = now();
        let passage = link.answers.pass(unpassed as usize, present);
        conn.passed += unpassed;
        // Whoever waits for the link anyway loses nothing while the driver has no CPU.
        let waited = passage.has_waited(present);
        conn.arriving = Some(if waited { AnswerDelay::default() } else { late });
        let at = passage.until;
        self.network.answers.hold(HeldTransfer { connection: id, epoch: conn.epoch, at });
        true
    }
}
