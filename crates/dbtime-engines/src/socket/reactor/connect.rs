//! Connections are made, given up, and made again.

use super::SocketReactor;
use crate::drive::shard::{AnswerDelay, Completion, CompletionKind, StatementResult};
use crate::socket::connection::{ConnectionStage, SocketConnection};
use crate::socket::io_failure::{IoFailure, timed_out};
use crate::socket::protocol::Protocol;
use crate::socket::tls::{TlsSettings, TlsWish};
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustls::Error;

/// How many connections are being made at once. Servers queue few of them (`back_log` is 80 on
/// MariaDB and 151 on MySQL by default), and one that finds the queue full comes a second late.
const OPENING_MAX: usize = 64;

/// How often it is looked whether connections are still wanted, while they are being made.
const LOOK: Nanos = Nanos::from_millis(50);

/// How often time-outs and pauses are looked at, while there are any.
const SWEEP: Nanos = Nanos::from_millis(5);

impl<P: Protocol> SocketReactor<P> {
    /// Makes all connections; each is tried once, unless the first of them all fail. `stopped` ends
    /// it early. Returns how many are there, and why the first that is not there could not be made.
    pub fn connect_all(&mut self, stopped: impl Fn() -> bool) -> (usize, Option<DatabaseFailure>) {
        let begun = now();
        for id in 0..self.links.len() as u32 {
            self.connect(id);
        }
        let is_underway = |link: &SocketConnection<P>| {
            !matches!(link.stage, ConnectionStage::Up | ConnectionStage::Down)
        };
        while self.links.iter().any(is_underway) && !self.is_hopeless() && !stopped() {
            self.wait_once(now() + LOOK, false);
            self.happened.clear();
        }
        self.connections.opening = self.opened_at - begun;
        let up = self.links.iter().filter(|link| link.stage == ConnectionStage::Up).count();
        (up, self.first_failure.take())
    }

    /// Whether as many attempts as are made at once have failed, and none has not: thousands more
    /// would each wait for their time-out.
    fn is_hopeless(&self) -> bool {
        self.connections.times.count() == 0 && self.connections.failed >= OPENING_MAX as u64
    }

    pub(super) fn connect(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let pause = link.pause();
        link.since = None;
        link.retry_at = now() + pause;
        link.stage = ConnectionStage::Waiting;
        if pause > Nanos::ZERO {
            self.sweep_soon();
        } else if self.opening >= OPENING_MAX {
            self.queued.push_back(id);
        } else {
            self.open(id);
        }
    }

    fn open(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        link.tried = self.nth;
        link.since.get_or_insert_with(now);
        match self.settings.address.open(self.nth) {
            Ok(socket) => {
                link.stage = ConnectionStage::Opening;
                self.opening += 1;
                let events = EventFlags::IN | EventFlags::OUT;
                let added = epoll::add(&self.epoll, &socket, EventData::new_u64(id.into()), events);
                link.socket = Some(socket);
                if let Err(error) = added {
                    self.broken(id, self.said(error));
                }
                self.sweep_soon();
            }
            // A Unix socket says so when the server has too many waiting: it is tried again.
            Err(Errno::AGAIN) => {
                link.retry_at = now() + Nanos::from_millis(1);
                self.sweep_soon();
            }
            Err(error) => {
                link.stage = ConnectionStage::Opening;
                self.opening += 1;
                self.not_opened(id, error);
            }
        }
    }

    /// A socket could not be connected: the next address of the host is tried, as long as none has
    /// worked.
    fn not_opened(&mut self, id: u32, error: Errno) {
        if !self.may_try_another(id) {
            return self.broken(id, self.said(error));
        }
        self.nth = self.nth.max(self.links[id as usize].tried + 1);
        self.opening -= 1;
        self.close(id);
        let link = &mut self.links[id as usize];
        link.since = None;
        link.stage = ConnectionStage::Waiting;
        self.queued.push_back(id);
    }

    /// Whether the host has another address than the one that a link was opened to.
    fn may_try_another(&self, id: u32) -> bool {
        let has_more = self.links[id as usize].tried + 1 < self.settings.address.count();
        has_more && self.connections.times.count() == 0
    }

    pub(super) fn sweep_soon(&mut self) {
        let at = now() + SWEEP;
        self.sweep_at = Some(self.sweep_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Opens what waited for its turn; a sweep opens what has had to pause since.
    #[cold]
    pub(super) fn open_queued(&mut self) {
        let present = now();
        while self.opening < OPENING_MAX {
            let Some(id) = self.queued.pop_front() else { break };
            let link = &self.links[id as usize];
            if link.stage == ConnectionStage::Waiting && link.retry_at <= present {
                self.open(id);
            }
        }
    }

    #[cold]
    pub(super) fn opened(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let Some(socket) = &link.socket else { return };
        match sockopt::socket_error(socket) {
            Ok(Ok(())) => {
                let transport = self.settings.address.transport();
                link.stage = ConnectionStage::Talking;
                let wish = self.settings.tls.as_ref().map_or(TlsWish::No, TlsSettings::wish);
                link.protocol.open(&self.shared, transport, wish, &mut link.out);
                self.listen(id);
                self.flush(id);
            }
            Ok(Err(error)) | Err(error) => self.not_opened(id, error),
        }
    }

    /// Begins to negotiate encryption. Returns whether the connection is still there.
    #[cold]
    pub(super) fn encrypt(&mut self, id: u32) -> bool {
        let link = &mut self.links[id as usize];
        // What the protocol has to say goes out before the negotiation.
        let sent = link.send();
        let tls = match (&self.settings.tls, sent) {
            (_, Err(trouble)) => Err(self.said(trouble)),
            (Some(tls), _) => tls.connection().map_err(|e| self.said(IoFailure::Tls(e))),
            (None, _) => {
                Err(self.said(IoFailure::Tls(Error::General("nobody asked for it".to_owned()))))
            }
        };
        match tls {
            Ok(tls) => {
                let link = &mut self.links[id as usize];
                link.tls = Some(tls);
                link.is_negotiating = true;
                self.flush(id);
                true
            }
            Err(failure) => {
                self.broken(id, failure);
                false
            }
        }
    }

    /// Negotiating goes on; once it has ended, so does the conversation.
    #[cold]
    pub(super) fn negotiate(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        if link.has_negotiated() {
            let certificate = link.tls.as_ref().and_then(|tls| tls.peer_certificates());
            let certificate = certificate.and_then(|all| all.first().map(|one| one.to_vec()));
            let begun =
                link.protocol.encrypted(&self.shared, certificate.as_deref(), &mut link.out);
            if let Err(failure) = begun {
                return self.broken(id, failure);
            }
        }
        let link = &self.links[id as usize];
        if link.wants_to_send() && !link.is_blocked {
            self.flush(id);
        }
    }

    /// A connection could not be made, or is lost.
    #[cold]
    pub(super) fn broken(&mut self, id: u32, failure: DatabaseFailure) {
        let link = &mut self.links[id as usize];
        match link.stage {
            ConnectionStage::Opening | ConnectionStage::Talking => {
                self.opening -= 1;
                self.opened_at = now();
                self.connections.failed += 1;
                link.failures += 1;
            }
            ConnectionStage::Up => {
                self.connections.lost += 1;
                link.failures = 0;
            }
            ConnectionStage::Waiting => {
                self.connections.failed += 1;
                link.failures += 1;
            }
            ConnectionStage::Down => {}
        }
        let unanswered = link.unanswered;
        let is_awaited = unanswered > 0 || link.pending.take().is_some();
        if !is_awaited && (link.is_used || link.is_asked) {
            link.lost = Some(failure.clone());
        }
        link.is_used = false;
        self.close(id);
        self.first_failure.get_or_insert_with(|| failure.clone());
        if is_awaited {
            // Whatever was under way has failed with it.
            for nth in 0..unanswered.max(1) {
                let round_trips = u32::from(nth == 0);
                let answer = match unanswered {
                    0 => StatementResult::unsent(failure.clone()),
                    _ => {
                        StatementResult { round_trips, ..StatementResult::failed(failure.clone()) }
                    }
                };
                let kind = CompletionKind::Answered(answer);
                let late = AnswerDelay::default();
                self.happened.push(Completion { connection: id, at: now(), late, kind });
            }
        }
    }

    /// The server has not answered in time.
    fn not_let_in(&mut self, id: u32) {
        if self.links[id as usize].stage == ConnectionStage::Opening && self.may_try_another(id) {
            return self.not_opened(id, Errno::TIMEDOUT);
        }
        let (address, limit) = (&self.settings.address, self.settings.connect_timeout);
        let link = &self.links[id as usize];
        let doubt =
            if link.stage == ConnectionStage::Talking { link.protocol.doubt() } else { None };
        let doubt = doubt.map_or(String::new(), |doubt| format!(": {doubt}"));
        let text = format!("{address} did not let us in within {limit}{doubt}");
        self.broken(id, DatabaseFailure::connection("connect timeout", text));
    }

    /// Looks after time-outs, pauses and turns.
    #[cold]
    pub(super) fn sweep(&mut self, present: MonoNanos) {
        self.sweep_at = None;
        let mut again = false;
        for id in 0..self.links.len() as u32 {
            let link = &self.links[id as usize];
            match link.stage {
                ConnectionStage::Waiting | ConnectionStage::Opening | ConnectionStage::Talking
                    if link.since.is_some_and(|s| present - s > self.settings.connect_timeout) =>
                {
                    self.not_let_in(id);
                    again = true;
                }
                ConnectionStage::Waiting
                    if link.retry_at <= present && self.opening < OPENING_MAX =>
                {
                    self.open(id);
                    again = true;
                }
                ConnectionStage::Waiting | ConnectionStage::Opening | ConnectionStage::Talking => {
                    again = true
                }
                ConnectionStage::Up if link.deadline.is_some_and(|by| by <= present) => {
                    self.broken(id, timed_out(self.settings.statement_timeout));
                }
                ConnectionStage::Up if link.deadline.is_some() => again = true,
                ConnectionStage::Up | ConnectionStage::Down => {}
            }
        }
        if again {
            self.sweep_soon();
        }
    }
}
