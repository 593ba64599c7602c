//! Waits for many connections at once, and makes those that are not there.

use super::address::Address;
use super::link::{Link, Pending, Sent, Stage, Trouble};
use super::protocol::{Call, Progress, Protocol, Table, Transport};
use super::tls::{TlsSettings, TlsWish};
use crate::failure::Failure;
use crate::shard::{Answer, Event, Happened, Reactor};
use crate::thread_clock::ThreadClock;
use dbtime_load::program::Value;
use dbtime_model::recorder::Connections;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, StatementId, now};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::time::Timespec;
use std::collections::VecDeque;
use std::sync::Arc;

/// When connections are closed and made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reconnect {
    /// When they are lost.
    #[default]
    WhenLost,
    /// After every transaction.
    EveryTransaction,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub struct SocketSettings {
    /// Where it listens.
    pub address: Address,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// How long a statement may take before its connection is given up.
    pub statement_timeout: Option<Nanos>,
    /// When connections are made anew.
    pub reconnect: Reconnect,
    /// How connections are encrypted; `None`: not.
    pub tls: Option<TlsSettings>,
}

/// How many connections are being made at once. Servers queue few of them (`back_log` is 80 on
/// MariaDB and 151 on MySQL by default), and one that finds the queue full comes a second late.
const OPENING_MAX: usize = 64;

/// The reactor stops sleeping this long before it is wanted, and spins: wake-ups take so long at
/// the 99th percentile.
const SPIN: Nanos = Nanos::from_micros(30);

/// How often time-outs and pauses are looked at, while there are any.
const SWEEP: Nanos = Nanos::from_millis(5);

/// Sockets that are read before the shard looks at its schedule again.
const EVENTS: usize = 64;

/// Bytes read at once.
const BUFFER: usize = 64 << 10;

/// The connections of one shard.
pub struct SocketReactor<P: Protocol> {
    epoll: OwnedFd,
    shared: Arc<P::Shared>,
    settings: Arc<SocketSettings>,
    links: Vec<Link<P>>,
    buffer: Box<[u8]>,
    ready: Vec<epoll::Event>,
    /// Links that are to be opened once fewer are being made.
    queued: VecDeque<u32>,
    opening: usize,
    /// When the last attempt to open one succeeded or failed.
    opened_at: MonoNanos,
    /// When time-outs and pauses are looked at next.
    sweep_at: Option<MonoNanos>,
    /// What happened outside of a wait.
    happened: Vec<Event>,
    connections: Connections,
    /// Which of the host's addresses is used.
    nth: usize,
    first_failure: Option<Failure>,
    clock: ThreadClock,
}

impl<P: Protocol> SocketReactor<P> {
    /// So many connections, none of which is there yet. Belongs to the thread that makes it.
    ///
    /// # Errors
    /// When the system gives no epoll instance.
    pub fn new(
        shared: Arc<P::Shared>,
        settings: Arc<SocketSettings>,
        connections: usize,
    ) -> Result<Self, Errno> {
        let links = (0..connections).map(|_| Link::new(P::new(&shared))).collect();
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            shared,
            settings,
            links,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            ready: Vec::with_capacity(EVENTS),
            queued: VecDeque::new(),
            opening: 0,
            opened_at: MonoNanos(0),
            sweep_at: None,
            happened: Vec::new(),
            connections: Connections::default(),
            nth: 0,
            first_failure: None,
            clock: ThreadClock::new(),
        })
    }

    /// Makes all connections; each is tried once. `stopped` ends it early. Returns how many are
    /// there, and why the first that is not there could not be made.
    pub fn connect_all(&mut self, stopped: impl Fn() -> bool) -> (usize, Option<Failure>) {
        let begun = now();
        for id in 0..self.links.len() as u32 {
            self.connect(id);
        }
        let mut events = Vec::new();
        let is_underway = |link: &Link<P>| !matches!(link.stage, Stage::Up | Stage::Down);
        while self.links.iter().any(is_underway) && !stopped() {
            self.wait(now() + Nanos::from_millis(50), &mut events);
            events.clear();
        }
        self.connections.opening = self.opened_at - begun;
        let up = self.links.iter().filter(|link| link.stage == Stage::Up).count();
        (up, self.first_failure.take())
    }

    /// Executes a text on a connection that is there; the answer comes as an event.
    pub(super) fn query(&mut self, id: u32, sql: &str) {
        let link = &mut self.links[id as usize];
        link.protocol.query(sql, &mut link.out);
        self.sent(id);
    }

    /// Sends data that a COPY waits for.
    pub(super) fn data(&mut self, id: u32, data: Option<&[u8]>) {
        let link = &mut self.links[id as usize];
        link.protocol.data(data, &mut link.out);
        self.flush(id);
    }

    /// Bytes that could not be sent yet.
    pub(super) fn unsent(&self, id: u32) -> usize {
        self.links[id as usize].out.len()
    }

    pub(super) fn take_table(&mut self, id: u32) -> Table {
        self.links[id as usize].protocol.take_table()
    }

    pub(super) fn protocol(&self, id: u32) -> &P {
        &self.links[id as usize].protocol
    }

    fn connect(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let pause = link.pause();
        link.since = now() + pause;
        link.retry_at = link.since;
        link.stage = Stage::Waiting;
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
        match self.settings.address.open(self.nth) {
            Ok(socket) => {
                link.stage = Stage::Opening;
                self.opening += 1;
                let events = EventFlags::IN | EventFlags::OUT;
                let added = epoll::add(&self.epoll, &socket, EventData::new_u64(id.into()), events);
                link.socket = Some(socket);
                if let Err(error) = added {
                    self.broken(id, system_failure(error, &self.settings.address));
                }
                self.sweep_soon();
            }
            // A Unix socket says so when the server has too many waiting: it is tried again.
            Err(Errno::AGAIN) => {
                link.retry_at = now() + Nanos::from_millis(1);
                self.sweep_soon();
            }
            Err(error) => {
                link.stage = Stage::Opening;
                self.opening += 1;
                self.not_opened(id, error);
            }
        }
    }

    /// A socket could not be connected: the next address of the host is tried, as long as none has
    /// worked.
    fn not_opened(&mut self, id: u32, error: Errno) {
        let link = &mut self.links[id as usize];
        let has_more =
            self.connections.times.count() == 0 && link.tried + 1 < self.settings.address.count();
        if !has_more {
            return self.broken(id, system_failure(error, &self.settings.address));
        }
        self.nth = self.nth.max(link.tried + 1);
        self.opening -= 1;
        link.close();
        link.stage = Stage::Waiting;
        self.queued.push_back(id);
    }

    fn sweep_soon(&mut self) {
        let at = now() + SWEEP;
        self.sweep_at = Some(self.sweep_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Opens what waited for its turn.
    fn open_queued(&mut self) {
        while self.opening < OPENING_MAX {
            let Some(id) = self.queued.pop_front() else { break };
            if self.links[id as usize].stage == Stage::Waiting {
                self.open(id);
            }
        }
    }

    /// A connection could not be made, or is lost.
    #[cold]
    fn broken(&mut self, id: u32, failure: Failure) {
        let link = &mut self.links[id as usize];
        match link.stage {
            Stage::Opening | Stage::Talking => {
                self.opening -= 1;
                self.opened_at = now();
                self.connections.failed += 1;
                link.failures += 1;
            }
            Stage::Up => {
                self.connections.lost += 1;
                link.failures = 0;
            }
            Stage::Waiting => {
                self.connections.failed += 1;
                link.failures += 1;
            }
            Stage::Down => {}
        }
        let was_sent = link.is_executing;
        let is_awaited = was_sent || link.pending.take().is_some();
        if !is_awaited && link.is_used {
            link.lost = Some(failure.clone());
        }
        link.is_used = false;
        link.close();
        self.first_failure.get_or_insert_with(|| failure.clone());
        if is_awaited {
            let round_trips = u32::from(was_sent);
            let answer = Answer { round_trips, ..Answer::failed(failure) };
            self.happened.push(Event {
                connection: id,
                at: now(),
                kind: Happened::Answered(answer),
            });
        }
    }

    /// Sends what a link has to send.
    #[inline]
    fn flush(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let was_blocked = link.is_blocked;
        match link.send() {
            Ok(Sent::All) if !was_blocked => {}
            Ok(sent) => {
                link.is_blocked = sent == Sent::Blocked;
                if link.is_blocked != was_blocked {
                    self.listen(id);
                }
            }
            Err(trouble) => self.broken(id, self.failure_of(trouble)),
        }
    }

    #[cold]
    fn failure_of(&self, trouble: Trouble) -> Failure {
        let address = &self.settings.address;
        match trouble {
            Trouble::System(error) => system_failure(error, address),
            Trouble::Tls(text) => tls_failure(&text, address),
        }
    }

    /// Tells the kernel what a link waits for.
    fn listen(&mut self, id: u32) {
        let link = &self.links[id as usize];
        let Some(socket) = &link.socket else { return };
        let mut events = EventFlags::IN;
        if link.is_blocked || link.stage == Stage::Opening {
            events |= EventFlags::OUT;
        }
        if let Err(error) =
            epoll::modify(&self.epoll, socket, EventData::new_u64(id.into()), events)
        {
            self.broken(id, system_failure(error, &self.settings.address));
        }
    }

    /// Executes what waited for the connection.
    fn execute_pending(&mut self, id: u32, at: MonoNanos) {
        let link = &mut self.links[id as usize];
        let since = link.since;
        let Some(pending) = link.pending.take() else { return };
        let kind = Happened::Connected { since };
        self.happened.push(Event { connection: id, at, kind });
        let Pending { statement, parameters, wants_row } = &pending;
        let call = Call {
            statement: *statement,
            parameters: parameters.as_slice(),
            wants_row: *wants_row,
        };
        self.execute(id, call);
    }

    #[inline]
    fn execute(&mut self, id: u32, call: Call<'_>) {
        let link = &mut self.links[id as usize];
        if let Err(failure) = link.protocol.execute(&self.shared, call, &mut link.out) {
            let kind = Happened::Answered(Answer::failed(failure));
            self.happened.push(Event { connection: id, at: now(), kind });
            return;
        }
        self.sent(id);
    }

    /// A statement is to be sent: sends it, and notes by when it must have been answered.
    #[inline]
    fn sent(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        link.is_executing = true;
        if let Some(limit) = self.settings.statement_timeout {
            link.deadline = Some(now() + limit);
            self.sweep_soon();
        }
        self.flush(id);
    }

    #[cold]
    fn opened(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let Some(socket) = &link.socket else { return };
        match sockopt::socket_error(socket) {
            Ok(Ok(())) => {
                let transport = match self.settings.address {
                    Address::Unix(_) => Transport::Unix,
                    Address::Tcp { .. } => Transport::Tcp,
                };
                link.stage = Stage::Talking;
                let wish = self.settings.tls.as_ref().map_or(TlsWish::No, TlsSettings::wish);
                link.protocol.open(&self.shared, transport, wish, &mut link.out);
                self.listen(id);
                self.flush(id);
            }
            Ok(Err(error)) | Err(error) => self.not_opened(id, error),
        }
    }

    /// Reads what has arrived on a link.
    #[inline]
    fn readable(&mut self, id: u32) {
        loop {
            let link = &mut self.links[id as usize];
            let received = link.receive(&mut self.buffer);
            if link.is_negotiating && received.is_ok() {
                self.negotiate(id);
            }
            let count = match received {
                Ok(None) => return,
                Ok(Some(0)) => {
                    let address = &self.settings.address;
                    let text = format!("{address} closed the connection");
                    return self.broken(id, Failure::connection("closed", text));
                }
                Ok(Some(count)) => count,
                Err(trouble) => return self.broken(id, self.failure_of(trouble)),
            };
            let at = now();
            let link = &mut self.links[id as usize];
            if link.held.is_empty() {
                let mut used = 0;
                // The bytes stay in the buffer of the reactor for as long as they are whole.
                while used < count {
                    let link = &mut self.links[id as usize];
                    let input = &self.buffer[used..count];
                    let (taken, progress) =
                        link.protocol.receive(&self.shared, input, &mut link.out);
                    used += taken;
                    let goes_on = taken > 0 || !matches!(progress, Progress::More);
                    if matches!(progress, Progress::Encrypt) && used < count {
                        // Whoever put more behind it wants it taken for encrypted words.
                        let text = "the server sent more before the connection was encrypted";
                        return self.broken(id, Failure::connection("tls", text));
                    }
                    if !self.progress(id, progress, at) {
                        return;
                    }
                    if !goes_on {
                        let rest = &self.buffer[used..count];
                        self.links[id as usize].held.extend_from_slice(rest);
                        break;
                    }
                }
            } else {
                link.held.extend_from_slice(&self.buffer[..count]);
                if !self.read_held(id, at) {
                    return;
                }
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

    /// Reads what had to wait for the rest of it. Returns whether the connection is still there.
    fn read_held(&mut self, id: u32, at: MonoNanos) -> bool {
        loop {
            let link = &mut self.links[id as usize];
            let held = std::mem::take(&mut link.held);
            let (taken, progress) = link.protocol.receive(&self.shared, &held, &mut link.out);
            let rest = &held[taken..];
            link.held = if rest.is_empty() { Vec::new() } else { rest.to_vec() };
            let goes_on =
                (taken > 0 || !matches!(progress, Progress::More)) && !link.held.is_empty();
            if !self.progress(id, progress, at) {
                return false;
            }
            if !goes_on {
                return true;
            }
        }
    }

    /// Acts on what came of bytes. Returns whether the connection is still there.
    #[inline]
    fn progress(&mut self, id: u32, progress: Progress, at: MonoNanos) -> bool {
        let link = &mut self.links[id as usize];
        match progress {
            Progress::More | Progress::WantsData => {}
            Progress::Encrypt => return self.encrypt(id),
            Progress::Answered(answer) => {
                link.is_executing = false;
                link.is_used = !answer.rows.as_ref().is_err_and(|failure| failure.undone);
                link.deadline = None;
                let kind = Happened::Answered(answer);
                self.happened.push(Event { connection: id, at, kind });
            }
            Progress::Connected => {
                link.stage = Stage::Up;
                link.failures = 0;
                self.opening -= 1;
                self.opened_at = at;
                self.connections.times.record(at - link.since);
                self.execute_pending(id, at);
            }
            Progress::Broken(failure) => {
                self.broken(id, *failure);
                return false;
            }
        }
        true
    }

    /// Begins to negotiate encryption. Returns whether the connection is still there.
    #[cold]
    fn encrypt(&mut self, id: u32) -> bool {
        let address = &self.settings.address;
        let link = &mut self.links[id as usize];
        // What the protocol has to say goes out before the negotiation.
        let sent = link.send();
        let tls = match (&self.settings.tls, sent) {
            (_, Err(trouble)) => Err(self.failure_of(trouble)),
            (Some(tls), _) => tls.connection().map_err(|e| tls_failure(&e.to_string(), address)),
            (None, _) => Err(tls_failure("nobody asked for it", address)),
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
    fn negotiate(&mut self, id: u32) {
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

    /// Looks after time-outs, pauses and turns.
    #[cold]
    fn sweep(&mut self, present: MonoNanos) {
        self.sweep_at = None;
        let mut again = false;
        for id in 0..self.links.len() as u32 {
            let link = &self.links[id as usize];
            match link.stage {
                Stage::Waiting | Stage::Opening | Stage::Talking
                    if present - link.since > self.settings.connect_timeout =>
                {
                    let (address, limit) = (&self.settings.address, self.settings.connect_timeout);
                    let text = format!("{address} did not let us in within {limit}");
                    self.broken(id, Failure::connection("connect timeout", text));
                }
                Stage::Waiting if link.retry_at <= present && self.opening < OPENING_MAX => {
                    self.open(id);
                    again = true;
                }
                Stage::Waiting | Stage::Opening | Stage::Talking => again = true,
                Stage::Up if link.deadline.is_some_and(|by| by <= present) => {
                    self.broken(id, timed_out(self.settings.statement_timeout));
                }
                Stage::Up if link.deadline.is_some() => again = true,
                Stage::Up | Stage::Down => {}
            }
        }
        if again {
            self.sweep_soon();
        }
    }

    /// Waits for sockets for at most so long, and reads those that have something.
    #[inline]
    fn poll(&mut self, timeout: Nanos) {
        let timeout = Timespec {
            tv_sec: (timeout.0 / 1_000_000_000).cast_signed(),
            tv_nsec: (timeout.0 % 1_000_000_000).cast_signed(),
        };
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        // Interrupted: whoever waits comes again.
        let _ =
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut ready), Some(&timeout));
        for event in &ready {
            let id = event.data.u64() as u32;
            let flags = event.flags;
            if self.links[id as usize].stage == Stage::Opening {
                self.opened(id);
                continue;
            }
            if self.links[id as usize].is_blocked && flags.contains(EventFlags::OUT) {
                self.flush(id);
            }
            if flags.intersects(EventFlags::IN | EventFlags::ERR | EventFlags::HUP) {
                self.readable(id);
            }
        }
        self.ready = ready;
    }
}

impl<P: Protocol> Reactor for SocketReactor<P> {
    #[inline]
    fn now(&self) -> MonoNanos {
        now()
    }

    #[inline]
    fn submit(
        &mut self,
        connection: u32,
        statement: StatementId,
        parameters: &[Value],
        wants_row: bool,
    ) -> Option<Answer> {
        let link = &mut self.links[connection as usize];
        if let Some(failure) = link.lost.take() {
            // On another socket the statement would run outside of its transaction.
            return Some(Answer { round_trips: 0, ..Answer::failed(failure) });
        }
        if link.stage == Stage::Up {
            self.execute(connection, Call { statement, parameters, wants_row });
        } else {
            let parameters = parameters.to_vec();
            link.pending = Some(Pending { statement, parameters, wants_row });
            if link.stage == Stage::Down {
                self.connect(connection);
            }
        }
        None
    }

    fn wait(&mut self, until: MonoNanos, events: &mut Vec<Event>) {
        loop {
            if !self.queued.is_empty() {
                self.open_queued();
            }
            let present = now();
            // However much there is to do: time-outs and pauses must not starve.
            if self.sweep_at.is_some_and(|at| at <= present) {
                self.sweep(present);
            }
            if !self.happened.is_empty() {
                self.poll(Nanos::ZERO);
                events.append(&mut self.happened);
                return;
            }
            let by = self.sweep_at.map_or(until, |at| at.min(until));
            let left = by - present;
            self.poll(if left > SPIN { left - SPIN } else { Nanos::ZERO });
            if self.happened.is_empty() && present >= until {
                return;
            }
        }
    }

    fn first_row(&self, connection: u32) -> &[Value] {
        self.links[connection as usize].protocol.first_row()
    }

    #[inline]
    fn transaction_ended(&mut self, connection: u32) {
        self.transaction_restarts(connection);
        if self.settings.reconnect == Reconnect::EveryTransaction {
            self.hang_up(connection);
        }
    }

    fn transaction_restarts(&mut self, connection: u32) {
        let link = &mut self.links[connection as usize];
        (link.is_used, link.lost) = (false, None);
    }

    fn abandon(&mut self, connection: u32) {
        let link = &mut self.links[connection as usize];
        if link.is_executing {
            self.connections.abandoned.extend(link.protocol.number());
        }
        if matches!(link.stage, Stage::Opening | Stage::Talking) {
            self.opening -= 1;
        }
        link.pending = None;
        link.close();
    }

    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        let totals = self.clock.thread_totals();
        (totals.cpu, totals.runq)
    }

    fn connections(&mut self) -> Connections {
        std::mem::take(&mut self.connections)
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// Says goodbye and closes a connection that nobody waits for.
    fn hang_up(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        if link.stage != Stage::Up {
            return;
        }
        link.protocol.farewell(&mut link.out);
        // Whoever does not listen to a goodbye finds the connection closed.
        let _ = link.send();
        link.close();
    }
}

impl<P: Protocol> Drop for SocketReactor<P> {
    fn drop(&mut self) {
        for id in 0..self.links.len() as u32 {
            self.hang_up(id);
        }
    }
}

fn timed_out(limit: Option<Nanos>) -> Failure {
    let limit = limit.unwrap_or_default();
    Failure {
        class: ErrorClass::Timeout,
        code: "timeout".to_owned(),
        message: format!("no answer within {limit}: the connection was given up"),
        undone: true,
    }
}

/// What TLS says of a connection, with what to do.
fn tls_failure(text: &str, address: &Address) -> Failure {
    let remedy = if text.contains("ProtocolVersion") || text.contains("peer is incompatible") {
        "; the server speaks only TLS 1.1 or older: let it speak TLS 1.2, or disable TLS"
    } else if text.contains("UnknownIssuer") || text.contains("BadSignature") {
        "; name the authority that signed it (ssl-ca, sslrootcert)"
    } else if text.contains("NotValidForName") || text.contains("not valid for name") {
        "; the certificate is made out to another name: use that name, or verify-ca"
    } else {
        ""
    };
    Failure::connection("tls", format!("{address}: TLS: {text}{remedy}"))
}

/// What the system says of a connection, with its cause and what to do.
fn system_failure(error: Errno, address: &Address) -> Failure {
    let (code, text) = match error {
        Errno::CONNREFUSED => ("ECONNREFUSED", "nothing listens there, or its queue is full"),
        Errno::NOENT => ("ENOENT", "there is no such socket: is the server running?"),
        Errno::ACCESS => ("EACCES", "this user may not use that socket"),
        Errno::CONNRESET => ("ECONNRESET", "the server broke the connection"),
        Errno::PIPE => ("EPIPE", "the server has closed the connection"),
        Errno::TIMEDOUT => ("ETIMEDOUT", "nothing answers there: is a firewall between?"),
        Errno::HOSTUNREACH => ("EHOSTUNREACH", "there is no way to that host"),
        Errno::NETUNREACH => ("ENETUNREACH", "there is no way to that network"),
        Errno::ADDRNOTAVAIL => (
            "EADDRNOTAVAIL",
            "no local port is free: closed connections keep theirs for a minute (TIME_WAIT)",
        ),
        Errno::MFILE => ("EMFILE", "too many open files: raise the limit (ulimit -n)"),
        Errno::NFILE => ("ENFILE", "the machine has too many open files"),
        _ => ("", ""),
    };
    if code.is_empty() {
        let code = format!("errno {}", error.raw_os_error());
        return Failure::connection(&code, format!("{address}: {error}"));
    }
    Failure::connection(code, format!("{address}: {text}"))
}
