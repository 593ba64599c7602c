//! Connections are made, given up, and made again.

use super::SocketReactor;
use crate::drive::shard::{AnswerDelay, Completion, CompletionKind, StatementResult};
use crate::socket::connection::{
    ConnectionAttempt, ConnectionStage, SocketChannel, SocketConnection,
};
use crate::socket::io_failure::{IoFailure, timed_out};
use crate::socket::protocol::Protocol;
use crate::socket::tls::{TlsRequirement, TlsSettings};
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::{LoginCount, MonoNanos, Nanos};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{getsockname, sockopt};
use rustls::Error;
use std::net::SocketAddr;
use std::num::NonZeroU64;

/// How many connections are being made at once. Servers queue few of them (`back_log` is 80 on
/// MariaDB and 151 on MySQL by default), and one that finds the queue full comes a second late.
const MAX_CONNECTING: usize = 64;

/// How often it is looked whether connections are still wanted, while they are being made.
const STOP_POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// How often connections are counted, while they are being made.
const COUNT_INTERVAL: Nanos = Nanos::from_millis(250);

/// How often time-outs and pauses are looked at, while there are any.
const SWEEP_INTERVAL: Nanos = Nanos::from_millis(5);

impl<P: Protocol> SocketReactor<P> {
    /// Makes all connections; each is tried once, unless the first of them all fail. `stopped` ends
    /// it early. Returns how many are there, and why the first that is not there could not be made.
    pub fn connect_all(&mut self, stopped: impl Fn() -> bool) -> (usize, Option<DatabaseFailure>) {
        self.connect_counted(stopped, |_| {})
    }

    /// The same; `counted` is given how far they are, again and again and at the end.
    pub(in crate::socket) fn connect_counted(
        &mut self,
        stopped: impl Fn() -> bool,
        mut counted: impl FnMut(LoginCount),
    ) -> (usize, Option<DatabaseFailure>) {
        let begun = now();
        let mut count_at = begun + COUNT_INTERVAL;
        for id in 0..self.conns.len() as u32 {
            self.connect(id);
        }
        let is_underway = |conn: &SocketConnection<P>| {
            !matches!(conn.stage, ConnectionStage::Up | ConnectionStage::Down)
        };
        while self.conns.iter().any(is_underway) && !self.has_given_up() && !stopped() {
            self.wait_once(now() + STOP_POLL_INTERVAL, false);
            self.completions.clear();
            if now() >= count_at {
                counted(self.login_count());
                count_at = now() + COUNT_INTERVAL;
            }
        }
        self.connections.opening = self.last_attempt_at - begun;
        // Those that were made at the same time tell nothing of the ones that were not.
        let made = self.connections.times.count();
        for conn in self.conns.iter_mut().filter(|conn| conn.stage == ConnectionStage::Down) {
            conn.refused_at = conn.refused_at.map(|_| made);
        }
        let count = self.login_count();
        // What is not there by now is waited for no more.
        counted(LoginCount { refused: count.all - count.up, ..count });
        (count.up as usize, self.first_failure.take())
    }

    fn login_count(&self) -> LoginCount {
        let at = |stage: ConnectionStage| self.conns.iter().filter(|c| c.stage == stage).count();
        LoginCount {
            up: at(ConnectionStage::Up) as u32,
            refused: at(ConnectionStage::Down) as u32,
            all: self.conns.len() as u32,
        }
    }

    /// Whether as many attempts as are made at once have failed, and none has not: thousands more
    /// would each wait for their time-out.
    fn has_given_up(&self) -> bool {
        self.connections.times.count() == 0 && self.connections.failed >= MAX_CONNECTING as u64
    }

    pub(super) fn connect(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let pause = conn.pause();
        conn.stage = ConnectionStage::Waiting { since: None, retry_at: now() + pause };
        if pause > Nanos::ZERO {
            self.sweep_soon();
        } else if self.connecting >= MAX_CONNECTING {
            self.queued.push_back(id);
        } else {
            self.open(id, None);
        }
    }

    /// Opens a socket; `since`: when that began, where it was tried before.
    fn open(&mut self, id: u32, since: Option<MonoNanos>) {
        let since = since.unwrap_or_else(now);
        let attempt = ConnectionAttempt { since, address_index: self.address_index };
        let conn = &mut self.conns[id as usize];
        match self.settings.address.open(self.address_index, &self.settings.keepalive) {
            Ok(socket) => {
                conn.stage = ConnectionStage::Connecting(attempt);
                self.connecting += 1;
                let events = EventFlags::IN | EventFlags::OUT;
                let added = epoll::add(&self.epoll, &socket, EventData::new_u64(id.into()), events);
                conn.channel = Some(SocketChannel::new(socket));
                if let Err(error) = added {
                    self.broken(id, self.describe(error));
                }
                self.sweep_soon();
            }
            // A Unix socket says so when the server has too many waiting: it is tried again.
            Err(Errno::AGAIN) => {
                let retry_at = now() + Nanos::from_millis(1);
                conn.stage = ConnectionStage::Waiting { since: Some(since), retry_at };
                self.sweep_soon();
            }
            Err(error) => {
                conn.stage = ConnectionStage::Connecting(attempt);
                self.connecting += 1;
                self.not_opened(id, attempt, error);
            }
        }
    }

    /// A socket could not be connected: the next address of the host is tried, as long as none has
    /// worked.
    fn not_opened(&mut self, id: u32, attempt: ConnectionAttempt, error: Errno) {
        if !self.may_try_another(attempt) {
            return self.broken(id, self.describe(error));
        }
        self.address_index = self.address_index.max(attempt.address_index + 1);
        self.connecting -= 1;
        self.close(id);
        let conn = &mut self.conns[id as usize];
        // At once, when its turn comes.
        conn.stage = ConnectionStage::Waiting { since: None, retry_at: MonoNanos(0) };
        self.queued.push_back(id);
    }

    /// Whether the host has another address than that of an attempt.
    fn may_try_another(&self, attempt: ConnectionAttempt) -> bool {
        let has_more = attempt.address_index + 1 < self.settings.address.count();
        has_more && self.connections.times.count() == 0
    }

    pub(super) fn sweep_soon(&mut self) {
        let at = now() + SWEEP_INTERVAL;
        self.sweep_at = Some(self.sweep_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Opens what waited for its turn; a sweep opens what has had to pause since.
    #[cold]
    pub(super) fn open_queued(&mut self) {
        let present = now();
        while self.connecting < MAX_CONNECTING {
            let Some(id) = self.queued.pop_front() else { break };
            if let ConnectionStage::Waiting { since, retry_at } = self.conns[id as usize].stage
                && retry_at <= present
            {
                self.open(id, since);
            }
        }
    }

    #[cold]
    pub(super) fn opened(&mut self, id: u32, attempt: ConnectionAttempt) {
        let conn = &mut self.conns[id as usize];
        let Some(socket) = conn.socket() else { return };
        match sockopt::socket_error(socket) {
            Ok(Ok(())) => {
                conn.key = key_of(socket);
                let transport = self.settings.address.transport();
                conn.stage = ConnectionStage::Handshaking(attempt);
                let requirement =
                    self.settings.tls.as_ref().map_or(TlsRequirement::No, TlsSettings::requirement);
                conn.protocol.open(&self.shared, transport, requirement, &mut conn.out);
                self.listen(id);
                self.flush(id);
            }
            Ok(Err(error)) | Err(error) => self.not_opened(id, attempt, error),
        }
    }

    /// Begins to negotiate encryption. Returns whether the connection is still there.
    #[cold]
    pub(super) fn encrypt(&mut self, id: u32) -> bool {
        let conn = &mut self.conns[id as usize];
        // What the protocol has to say goes out before the negotiation.
        let sent = conn.send();
        let tls = match (&self.settings.tls, sent) {
            (_, Err(failure_cause)) => Err(self.describe(failure_cause)),
            (Some(tls), _) => tls.connection().map_err(|e| self.describe(IoFailure::Tls(e))),
            (None, _) => {
                Err(self.describe(IoFailure::Tls(Error::General("not requested".to_owned()))))
            }
        };
        let tls = match tls {
            Ok(tls) => tls,
            Err(failure) => {
                self.broken(id, failure);
                return false;
            }
        };
        if let Some(channel) = &mut self.conns[id as usize].channel {
            channel.encrypt(tls);
        }
        self.flush(id);
        true
    }

    /// Negotiating goes on; once it has ended, so does the conversation.
    #[cold]
    pub(super) fn negotiate(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        if conn.has_negotiated() {
            let certificate = conn.tls().and_then(|tls| tls.peer_certificates());
            let certificate = certificate.and_then(|all| all.first().map(|one| one.to_vec()));
            let begun =
                conn.protocol.encrypted(&self.shared, certificate.as_deref(), &mut conn.out);
            if let Err(failure) = begun {
                return self.broken(id, failure);
            }
        }
        let conn = &self.conns[id as usize];
        if conn.has_unsent() && !conn.is_blocked {
            self.flush(id);
        }
    }

    /// A connection could not be made, or is lost.
    #[cold]
    pub(super) fn broken(&mut self, id: u32, failure: DatabaseFailure) {
        let conn = &mut self.conns[id as usize];
        let made = self.connections.times.count();
        match conn.stage {
            ConnectionStage::Connecting(_) | ConnectionStage::Handshaking(_) => {
                self.connecting -= 1;
                self.last_attempt_at = now();
                self.connections.failed += 1;
                conn.refused(made);
            }
            ConnectionStage::Up => {
                self.connections.lost += 1;
                conn.failures = 0;
            }
            ConnectionStage::Waiting { .. } => {
                self.connections.failed += 1;
                conn.refused(made);
            }
            ConnectionStage::Down => {}
        }
        let unanswered = conn.unanswered;
        let is_awaited = unanswered > 0 || conn.pending.take().is_some();
        if !is_awaited && (conn.is_used || conn.is_scripted) {
            conn.lost = Some(failure.clone());
        }
        conn.is_used = false;
        self.close(id);
        self.first_failure.get_or_insert_with(|| failure.clone());
        if is_awaited {
            // Whatever was under way has failed with it.
            for address_index in 0..unanswered.max(1) {
                let round_trips = u32::from(address_index == 0);
                let answer = match unanswered {
                    0 => StatementResult::unsent(failure.clone()),
                    _ => {
                        StatementResult { round_trips, ..StatementResult::failed(failure.clone()) }
                    }
                };
                let kind = CompletionKind::Answered(answer);
                let late = AnswerDelay::default();
                self.completions.push(Completion { connection: id, at: now(), late, kind });
            }
        }
    }

    /// The server has not answered in time.
    fn login_failed(&mut self, id: u32) {
        if let ConnectionStage::Connecting(attempt) = self.conns[id as usize].stage
            && self.may_try_another(attempt)
        {
            return self.not_opened(id, attempt, Errno::TIMEDOUT);
        }
        let address = &self.settings.address;
        let limit = self.settings.connect_timeout;
        let conn = &self.conns[id as usize];
        let login_hint = if matches!(conn.stage, ConnectionStage::Handshaking(_)) {
            conn.protocol.login_hint()
        } else {
            None
        };
        let login_hint = login_hint.map_or(String::new(), |login_hint| format!(": {login_hint}"));
        let text = format!("{address} did not let us in within {limit}{login_hint}");
        self.broken(id, DatabaseFailure::connection("connect timeout", text));
    }

    /// Looks after time-outs, pauses and turns.
    #[cold]
    pub(super) fn sweep(&mut self, present: MonoNanos) {
        self.sweep_at = None;
        let limit = self.settings.connect_timeout;
        let mut again = false;
        for id in 0..self.conns.len() as u32 {
            let conn = &self.conns[id as usize];
            match conn.stage {
                stage if stage.since().is_some_and(|s| present - s > limit) => {
                    self.login_failed(id);
                    again = true;
                }
                ConnectionStage::Waiting { since, retry_at }
                    if retry_at <= present && self.connecting < MAX_CONNECTING =>
                {
                    self.open(id, since);
                    again = true;
                }
                ConnectionStage::Waiting { .. }
                | ConnectionStage::Connecting(_)
                | ConnectionStage::Handshaking(_) => again = true,
                ConnectionStage::Up if conn.deadline.is_some_and(|by| by <= present) => {
                    self.broken(id, timed_out(self.settings.statement_timeout));
                }
                ConnectionStage::Up if conn.deadline.is_some() => again = true,
                ConnectionStage::Up | ConnectionStage::Down => {}
            }
        }
        if again {
            self.sweep_soon();
        }
    }
}

/// What names a connection at both of its ends, for a tracer on this machine; `None`: the system
/// does not name it.
fn key_of(socket: &OwnedFd) -> Option<ConnectionKey> {
    match SocketAddr::try_from(getsockname(socket).ok()?) {
        Ok(client) => {
            Some(ConnectionKey::Tcp(SocketAddr::new(client.ip().to_canonical(), client.port())))
        }
        Err(_) => NonZeroU64::new(sockopt::socket_cookie(socket).ok()?).map(ConnectionKey::Unix),
    }
}
