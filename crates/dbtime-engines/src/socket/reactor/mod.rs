//! Waits for many connections at once, and makes those that are not there.

mod close;
mod connect;
mod lateness;
mod poll;
mod receive;

use super::connection::{ConnectionStage, PendingWork, Sent, SocketConnection};
use super::io_failure::IoFailure;
use super::protocol::{Protocol, ProtocolCall, QueryTable, SubmitResult};
use super::settings::{Reconnect, SocketSettings};
use super::tls;
use crate::drive::shard::{AnswerDelay, Completion, CompletionKind, Reactor, StatementResult};
use close::ClosingSockets;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Value;
use dbtime_load::request::ConnectionOp;
use dbtime_load::results::ResultSets;
use dbtime_machine::now;
use dbtime_machine::thread_clock::ThreadClock;
use dbtime_machine::wait::WakeMargin;
use dbtime_model::recorder::ConnectionRecorder;
use dbtime_model::{MonoNanos, Nanos, StatementId};
use lateness::Lateness;
use poll::ReactorTicks;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;

/// Sockets that are read before the shard looks at its schedule again.
const EVENTS: usize = 64;

/// Bytes read at once.
const BUFFER: usize = 64 << 10;

/// The connections of one shard.
pub struct SocketReactor<P: Protocol> {
    epoll: OwnedFd,
    /// End waits by themselves; `None`: time-outs do.
    ticks: Option<ReactorTicks>,
    shared: Arc<P::Shared>,
    settings: Arc<SocketSettings>,
    links: Vec<SocketConnection<P>>,
    buffer: Box<[u8]>,
    ready: Vec<epoll::Event>,
    /// Links that are to be opened once fewer are being made.
    queued: VecDeque<u32>,
    opening: usize,
    /// The connection whose statements are collected before they are sent.
    held: Option<u32>,
    /// When the last attempt to open one succeeded or failed.
    opened_at: MonoNanos,
    /// When time-outs and pauses are looked at next.
    sweep_at: Option<MonoNanos>,
    /// What happened outside of a wait.
    happened: Vec<Completion>,
    connections: ConnectionRecorder,
    /// Connections that the server has still to end; `None`: nobody waits for that.
    leaving: Option<ClosingSockets>,
    /// Which of the host's addresses is used.
    nth: usize,
    first_failure: Option<DatabaseFailure>,
    clock: ThreadClock,
    /// How late the thread looks at its sockets.
    lateness: Lateness,
    /// How long the socket that is read had been ready.
    late: AnswerDelay,
    /// How long before an instant that something is due at it stops sleeping, and spins.
    margin: WakeMargin,
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
        let links = (0..connections).map(|_| SocketConnection::new(P::new(&shared))).collect();
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self {
            ticks: ReactorTicks::new(&epoll).ok(),
            epoll,
            shared,
            settings,
            links,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            ready: Vec::with_capacity(EVENTS),
            queued: VecDeque::new(),
            opening: 0,
            held: None,
            opened_at: MonoNanos(0),
            sweep_at: None,
            happened: Vec::new(),
            connections: ConnectionRecorder::default(),
            leaving: None,
            nth: 0,
            first_failure: None,
            clock: ThreadClock::new(),
            lateness: Lateness::new(),
            late: AnswerDelay::default(),
            margin: WakeMargin::new(1),
        })
    }

    /// The same, as one of so many that share the machine's CPUs.
    #[must_use]
    pub fn one_of(mut self, shards: u32) -> Self {
        self.margin = WakeMargin::new(shards);
        self
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

    /// What a connection is encrypted by.
    pub(super) fn encryption(&self, id: u32) -> String {
        tls::encryption(self.links[id as usize].tls.as_deref())
    }

    pub(super) fn take_table(&mut self, id: u32) -> QueryTable {
        self.links[id as usize].protocol.take_table()
    }

    pub(super) fn protocol(&self, id: u32) -> &P {
        &self.links[id as usize].protocol
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
            Err(trouble) => self.broken(id, self.said(trouble)),
        }
    }

    /// Closes a link's socket. The kernel forgets a socket by itself only when nobody has it any
    /// more, and a process that is forked at that moment has it for a while.
    fn close(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        if let Some(socket) = &link.socket {
            // One that could not be added is not there.
            let _ = epoll::delete(&self.epoll, socket);
        }
        link.close();
    }

    /// What is said of trouble with this server.
    #[cold]
    fn said(&self, trouble: impl Into<IoFailure>) -> DatabaseFailure {
        trouble.into().at(&self.settings.address)
    }

    /// Tells the kernel what a link waits for.
    fn listen(&mut self, id: u32) {
        let link = &self.links[id as usize];
        let Some(socket) = &link.socket else { return };
        let mut events = EventFlags::IN;
        if link.is_blocked || link.stage == ConnectionStage::Opening {
            events |= EventFlags::OUT;
        }
        if let Err(error) =
            epoll::modify(&self.epoll, socket, EventData::new_u64(id.into()), events)
        {
            self.broken(id, self.said(error));
        }
    }

    /// Executes what waited for the connection.
    fn execute_pending(&mut self, id: u32, at: MonoNanos) {
        let link = &mut self.links[id as usize];
        let since = link.since.unwrap_or(at);
        let Some(pending) = link.pending.take() else { return };
        let kind = CompletionKind::Connected { since };
        let late = AnswerDelay::default();
        self.happened.push(Completion { connection: id, at, late, kind });
        let answer = match &pending {
            PendingWork::Execute { statement, parameters, wants_row } => {
                let (statement, wants_row) = (*statement, *wants_row);
                self.execute(
                    id,
                    ProtocolCall { statement, parameters: parameters.as_slice(), wants_row },
                )
            }
            PendingWork::Ask(request) => self.request(id, request.borrow()),
        };
        if let Some(answer) = answer {
            let kind = CompletionKind::Answered(answer);
            self.happened.push(Completion { connection: id, at, late, kind });
        }
    }

    /// Executes a statement; returns its answer where it could not even be sent.
    #[inline]
    fn execute(&mut self, id: u32, call: ProtocolCall<'_>) -> Option<StatementResult> {
        let link = &mut self.links[id as usize];
        match link.protocol.execute(&self.shared, call, &mut link.out) {
            Ok(()) => self.sent(id),
            Err(failure) if link.unanswered == 0 => return Some(StatementResult::unsent(failure)),
            Err(failure) => {
                // Answers come in order, and this one would come before those ahead of it: it fails
                // together with them.
                link.unanswered += 1;
                self.broken(id, DatabaseFailure { undone: true, ..failure });
            }
        }
        None
    }

    /// Does what a script asks of a connection that is there. `Some`: that is done already, or
    /// could not be sent.
    #[inline]
    fn request(&mut self, id: u32, request: ConnectionOp<'_>) -> Option<StatementResult> {
        let link = &mut self.links[id as usize];
        if request == ConnectionOp::Connect {
            link.protocol.results().clear();
            return Some(StatementResult::at_once());
        }
        match link.protocol.ask(&self.shared, request, &mut link.out) {
            Ok(SubmitResult::Sent) => self.sent(id),
            Ok(SubmitResult::Done) => {
                self.flush(id);
                return Some(StatementResult::at_once());
            }
            Err(failure) => return Some(StatementResult::unsent(failure)),
        }
        None
    }

    /// A statement is to be sent: sends it, and notes by when it must have been answered.
    #[inline]
    fn sent(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        link.unanswered += 1;
        if let Some(limit) = self.settings.statement_timeout {
            link.deadline = Some(now() + limit);
            self.sweep_soon();
        }
        if self.held != Some(id) {
            self.flush(id);
        }
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
    ) -> Option<StatementResult> {
        let link = &mut self.links[connection as usize];
        if let Some(failure) = link.lost.take() {
            // On another socket the statement would run outside of its transaction.
            return Some(StatementResult::unsent(failure));
        }
        if link.stage == ConnectionStage::Up {
            return self.execute(connection, ProtocolCall { statement, parameters, wants_row });
        }
        let parameters = parameters.to_vec();
        link.pending = Some(PendingWork::Execute { statement, parameters, wants_row });
        if link.stage == ConnectionStage::Down {
            self.connect(connection);
        }
        None
    }

    fn add_connection(&mut self) -> Option<u32> {
        self.links.push(SocketConnection::new(P::new(&self.shared)));
        Some(self.links.len() as u32 - 1)
    }

    #[inline]
    fn ask(&mut self, connection: u32, request: ConnectionOp<'_>) -> Option<StatementResult> {
        if request == ConnectionOp::Disconnect {
            self.disconnect(connection);
            self.results(connection).clear();
            return Some(StatementResult::at_once());
        }
        let link = &mut self.links[connection as usize];
        link.is_asked = true;
        if let (Some(failure), true) = (link.lost.take(), request != ConnectionOp::Connect) {
            return Some(StatementResult::failed(failure));
        }
        if link.stage == ConnectionStage::Up {
            return self.request(connection, request);
        }
        link.pending = Some(PendingWork::Ask(request.to_owned()));
        if link.stage == ConnectionStage::Down {
            self.connect(connection);
        }
        None
    }

    fn results(&mut self, connection: u32) -> &mut ResultSets {
        self.links[connection as usize].protocol.results()
    }

    fn hold(&mut self, connection: u32) -> bool {
        let is_up = self.links[connection as usize].stage == ConnectionStage::Up;
        self.held = is_up.then_some(connection);
        is_up
    }

    fn release(&mut self, connection: u32) {
        self.held = None;
        let link = &self.links[connection as usize];
        if link.stage == ConnectionStage::Up && link.wants_to_send() && !link.is_blocked {
            self.flush(connection);
        }
    }

    fn wait(&mut self, until: MonoNanos, is_due: bool, events: &mut Vec<Completion>) {
        self.wait_until(until, is_due, events);
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
        link.is_used = false;
        if !link.is_asked {
            link.lost = None;
        }
    }

    fn abandon(&mut self, connection: u32) {
        let link = &mut self.links[connection as usize];
        if link.unanswered > 0 {
            self.connections.abandoned.extend(link.protocol.number());
        }
        if matches!(link.stage, ConnectionStage::Opening | ConnectionStage::Talking) {
            self.opening -= 1;
        }
        link.pending = None;
        self.close(connection);
    }

    fn ends(&mut self) {
        self.leaving = Some(ClosingSockets::default());
    }

    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        let totals = self.clock.thread_totals();
        (totals.cpu, totals.runq)
    }

    fn connections(&mut self) -> ConnectionRecorder {
        std::mem::take(&mut self.connections)
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// Closes a connection for a script, whatever state it is in.
    fn disconnect(&mut self, id: u32) {
        self.hang_up(id);
        let link = &mut self.links[id as usize];
        (link.is_asked, link.is_used, link.lost) = (false, false, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::postgres::{PostgresProtocol, PostgresShared, PostgresStatementKey};
    use crate::server::StatementProtocol;
    use crate::socket::Address;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    /// With one connection to a PostgreSQL, not made yet.
    pub(super) fn reactor_at(path: &Path) -> SocketReactor<PostgresProtocol> {
        let shared = PostgresShared::of_workload(
            PostgresStatementKey::default(),
            &[],
            StatementProtocol::Text,
        );
        let settings = SocketSettings {
            address: Address::unix(path).expect("a path"),
            connect_timeout: Nanos::from_secs(5),
            statement_timeout: None,
            reconnect: Reconnect::WhenLost,
            tls: None,
        };
        SocketReactor::new(shared.into(), settings.into(), 1).expect("epoll")
    }

    #[test]
    fn a_wait_without_a_time_out_ends_with_the_next_tick_and_not_before_its_time() {
        let mut reactor = reactor_at(Path::new("/nowhere"));
        assert!(reactor.ticks.is_some());
        let mut events = Vec::new();
        for _ in 0..5 {
            let until = now() + Nanos::from_millis(10);
            reactor.wait(until, false, &mut events);
            assert!(now() >= until);
        }
        assert!(events.is_empty());
    }

    #[test]
    fn what_others_still_hold_of_a_closed_socket_says_nothing_of_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).expect("a free name");
        // Lets nobody in.
        let server = std::thread::spawn(move || {
            (0..2).for_each(|_| drop(listener.accept().expect("a client")));
        });
        let mut reactor = reactor_at(&path);
        let mut codes = Vec::new();
        let mut copies = Vec::new();
        for _ in 0..2 {
            assert_eq!(reactor.ask(0, ConnectionOp::Connect), None);
            // As a process has them that was forked a moment ago.
            copies.extend(
                reactor.links[0].socket.as_ref().map(|one| one.try_clone().expect("a copy")),
            );
            let mut events = Vec::new();
            reactor.wait(now() + Nanos::from_secs(5), false, &mut events);
            let Some(Completion { kind: CompletionKind::Answered(answer), .. }) = events.pop()
            else {
                panic!("no answer")
            };
            codes.push(answer.rows.expect_err("refused").code.clone());
        }
        assert_eq!(copies.len(), 1, "the second waits for its turn");
        assert!(codes.iter().all(|code| !code.starts_with("errno")), "{codes:?}");
        server.join().expect("two clients came");
    }
}
