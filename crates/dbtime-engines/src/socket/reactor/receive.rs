//! What arrives is read, and acted upon.

use super::SocketReactor;
use super::lateness::book_once;
use crate::drive::shard::{AnswerDelay, Completion, CompletionKind};
use crate::socket::connection::ConnectionStage;
use crate::socket::protocol::{Protocol, ProtocolProgress};
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::MonoNanos;

/// Full buffers that are read at once from a connection: a megabyte.
const MAX_READS: usize = 16;

/// Bytes that a server sends before it lets anybody in, certificates included.
const MAX_BYTES_BEFORE_LOGIN: u64 = 256 << 10;

impl<P: Protocol> SocketReactor<P> {
    /// Reads what has arrived on a connection, which had been there for so long.
    #[inline]
    pub(super) fn read(&mut self, id: u32, late: AnswerDelay) {
        let before = self.completions.len();
        self.late = late;
        self.receive_all(id);
        let is_more_awaited = self.conns[id as usize].unanswered > 0;
        book_once(&mut self.completions[before..], is_more_awaited);
    }

    /// Reads what is there, and no more at once than others can wait for: a server that sends
    /// without end holds up neither the other connections nor what ends its own. Epoll says again
    /// that there is more.
    #[inline]
    fn receive_all(&mut self, id: u32) {
        for _ in 0..MAX_READS {
            let conn = &mut self.conns[id as usize];
            let is_limited = conn.has_passed();
            let received = conn.receive(&mut self.buffer);
            if conn.received > MAX_BYTES_BEFORE_LOGIN && conn.stage.since().is_some() {
                return self.never_lets_in(id);
            }
            if conn.is_negotiating() && received.is_ok() {
                self.negotiate(id);
            }
            let count = match received {
                Ok(None) => return,
                Ok(Some(0)) => {
                    let text = format!("{} closed the connection", self.settings.address);
                    return self.broken(id, DatabaseFailure::connection("closed", text));
                }
                Ok(Some(count)) => count,
                Err(failure_cause) => return self.broken(id, self.describe(failure_cause)),
            };
            let buffer = std::mem::take(&mut self.buffer);
            let is_there = self.take_in(id, &buffer[..count]);
            self.buffer = buffer;
            if !is_there {
                return;
            }
            let conn = &self.conns[id as usize];
            let is_all = count < self.buffer.len() || is_limited && !conn.has_passed();
            if conn.has_unsent() && !conn.is_blocked {
                self.reply(id);
            }
            if is_all {
                return;
            }
        }
    }

    /// Whatever is sent before anybody is let in is short, and may be answered.
    #[cold]
    fn never_lets_in(&mut self, id: u32) {
        let text = format!(
            "{} has sent more than {} KiB and not let us in: check host and port",
            self.settings.address,
            MAX_BYTES_BEFORE_LOGIN >> 10
        );
        self.broken(id, DatabaseFailure::connection("protocol", text));
    }

    /// Takes what has arrived, behind what was no whole yet. Returns whether the connection is
    /// still there.
    #[inline]
    fn take_in(&mut self, id: u32, arrived: &[u8]) -> bool {
        let conn = &mut self.conns[id as usize];
        if conn.held.is_empty() {
            let Some(used) = self.feed(id, arrived) else { return false };
            self.conns[id as usize].held.extend_from_slice(&arrived[used..]);
        } else {
            let mut held = std::mem::take(&mut conn.held);
            held.extend_from_slice(arrived);
            let Some(used) = self.feed(id, &held) else { return false };
            held.drain(..used);
            self.conns[id as usize].held = held;
        }
        true
    }

    /// Gives bytes to the protocol for as long as it gets on with them. Returns how many it used;
    /// `None` when the connection is not there any more.
    #[inline]
    fn feed(&mut self, id: u32, input: &[u8]) -> Option<usize> {
        let at = now();
        let mut used = 0;
        while used < input.len() {
            let conn = &mut self.conns[id as usize];
            let (taken, progress) =
                conn.protocol.receive(&self.shared, &input[used..], &mut conn.out);
            used += taken;
            let goes_on = taken > 0
                || !matches!(progress, ProtocolProgress::More | ProtocolProgress::WantsData);
            if matches!(progress, ProtocolProgress::Encrypt) && used < input.len() {
                // Whoever put more behind it wants it taken for encrypted words.
                let text = "the server sent more before the connection was encrypted";
                self.broken(id, DatabaseFailure::connection("tls", text));
                return None;
            }
            if !self.progress(id, progress, at) {
                return None;
            }
            if !goes_on {
                break;
            }
        }
        Some(used)
    }

    /// Acts on what came of bytes. Returns whether the connection is still there.
    #[inline]
    fn progress(&mut self, id: u32, progress: ProtocolProgress, at: MonoNanos) -> bool {
        let conn = &mut self.conns[id as usize];
        match progress {
            ProtocolProgress::More | ProtocolProgress::WantsData => {}
            ProtocolProgress::Encrypt => return self.encrypt(id),
            ProtocolProgress::Answered(answer) => {
                let Some(unanswered) = conn.unanswered.checked_sub(1) else {
                    let text = "the server sent an answer to no request: is something else \
                                between, or in its place?";
                    self.broken(id, DatabaseFailure::connection("protocol", text));
                    return false;
                };
                conn.unanswered = unanswered;
                conn.is_used = !answer.rows.as_ref().is_err_and(|failure| failure.undone);
                let limit = self.settings.statement_timeout.filter(|_| conn.unanswered > 0);
                conn.deadline = limit.map(|limit| at + limit);
                let kind = CompletionKind::Answered(answer);
                let late = self.late;
                self.completions.push(Completion { connection: id, at, late, kind });
            }
            ProtocolProgress::Connected => {
                let since = conn.stage.since().unwrap_or(at);
                conn.stage = ConnectionStage::Up;
                conn.failures = 0;
                conn.was_made = true;
                self.connecting -= 1;
                self.last_attempt_at = at;
                self.connections.times.record(at - since);
                if self.network.link.is_some() {
                    // What the link passes is counted from here on.
                    conn.passed = conn.received;
                    self.listen(id);
                }
                self.execute_pending(id, since, at);
                return self.conns[id as usize].channel.is_some();
            }
            ProtocolProgress::Broken(mut failure) => {
                if let ConnectionStage::Handshaking(attempt) = conn.stage {
                    let address = &self.settings.address;
                    conn.protocol.refused(&mut failure, address, attempt.address_index);
                }
                self.broken(id, *failure);
                return false;
            }
        }
        true
    }
}
