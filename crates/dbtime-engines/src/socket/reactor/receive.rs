//! What arrives is read, and acted upon.

use super::SocketReactor;
use crate::drive::shard::{Completion, CompletionKind};
use crate::socket::connection::ConnectionStage;
use crate::socket::protocol::{Protocol, ProtocolProgress};
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::MonoNanos;

impl<P: Protocol> SocketReactor<P> {
    /// Reads what has arrived on a link.
    #[inline]
    pub(super) fn readable(&mut self, id: u32) {
        loop {
            let link = &mut self.links[id as usize];
            let received = link.receive(&mut self.buffer);
            if link.is_negotiating && received.is_ok() {
                self.negotiate(id);
            }
            let count = match received {
                Ok(None) => return,
                Ok(Some(0)) => {
                    let text = format!("{} closed the connection", self.settings.address);
                    return self.broken(id, DatabaseFailure::connection("closed", text));
                }
                Ok(Some(count)) => count,
                Err(trouble) => return self.broken(id, self.said(trouble)),
            };
            let buffer = std::mem::take(&mut self.buffer);
            let is_there = self.take_in(id, &buffer[..count]);
            self.buffer = buffer;
            if !is_there {
                return;
            }
            let link = &self.links[id as usize];
            if link.wants_to_send() && !link.is_blocked {
                self.flush(id);
            }
            if count < self.buffer.len() {
                return;
            }
        }
    }

    /// Takes what has arrived, behind what was no whole yet. Returns whether the connection is
    /// still there.
    #[inline]
    fn take_in(&mut self, id: u32, arrived: &[u8]) -> bool {
        let link = &mut self.links[id as usize];
        if link.held.is_empty() {
            let Some(used) = self.feed(id, arrived) else { return false };
            self.links[id as usize].held.extend_from_slice(&arrived[used..]);
        } else {
            let mut held = std::mem::take(&mut link.held);
            held.extend_from_slice(arrived);
            let Some(used) = self.feed(id, &held) else { return false };
            held.drain(..used);
            self.links[id as usize].held = held;
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
            let link = &mut self.links[id as usize];
            let (taken, progress) =
                link.protocol.receive(&self.shared, &input[used..], &mut link.out);
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
        let link = &mut self.links[id as usize];
        match progress {
            ProtocolProgress::More | ProtocolProgress::WantsData => {}
            ProtocolProgress::Encrypt => return self.encrypt(id),
            ProtocolProgress::Answered(answer) => {
                let Some(unanswered) = link.unanswered.checked_sub(1) else {
                    let text = "the server answers what nobody asked";
                    self.broken(id, DatabaseFailure::connection("protocol", text));
                    return false;
                };
                link.unanswered = unanswered;
                link.is_used = !answer.rows.as_ref().is_err_and(|failure| failure.undone);
                let limit = self.settings.statement_timeout.filter(|_| link.unanswered > 0);
                link.deadline = limit.map(|limit| at + limit);
                let kind = CompletionKind::Answered(answer);
                let late = self.late;
                self.happened.push(Completion { connection: id, at, late, kind });
            }
            ProtocolProgress::Connected => {
                link.stage = ConnectionStage::Up;
                link.failures = 0;
                self.opening -= 1;
                self.opened_at = at;
                self.connections.times.record(at - link.since.unwrap_or(at));
                self.execute_pending(id, at);
                return self.links[id as usize].socket.is_some();
            }
            ProtocolProgress::Broken(mut failure) => {
                if link.stage == ConnectionStage::Talking {
                    link.protocol.refused(&mut failure, &self.settings.address, link.tried);
                }
                self.broken(id, *failure);
                return false;
            }
        }
        true
    }
}
