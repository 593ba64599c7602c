//! Waits for many connections at once, and makes those that are not there.

mod close;
mod connect;
mod held_transfers;
mod lateness;
mod network;
mod poll;
mod receive;
#[cfg(test)]
mod tests;

use super::connection::{ConnectionStage, PendingWork, SendStatus, SocketConnection};
use super::io_failure::IoFailure;
use super::link::NetworkLink;
use super::protocol::{Protocol, QueryTable, SubmitResult};
use super::settings::{ReconnectPolicy, SimulatedNetwork, SocketSettings};
use super::tls;
use crate::drive::shard::{
    AnswerDelay, Completion, CompletionKind, CompletionSource, LinkUse, Reactor, ScriptConnections,
    StatementConnections, StatementResult,
};
use close::ClosingSockets;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_load::session::StatementCall;
use dbtime_machine::now;
use dbtime_machine::thread_clock::ThreadClock;
use dbtime_machine::wait::WakeMargin;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::recorder::ConnectionRecorder;
use dbtime_model::{MonoNanos, Nanos, StatementId};
use lateness::ReadLateness;
use network::ShardNetwork;
use poll::ReactorTicks;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;

/// Sockets that are read before the shard looks at its schedule again.
const MAX_EVENTS: usize = 64;

/// Bytes read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// The connections of one shard.
pub struct SocketReactor<P: Protocol> {
    epoll: OwnedFd,
    /// End waits by themselves; `None`: time-outs do.
    ticks: Option<ReactorTicks>,
    shared: Arc<P::Shared>,
    settings: Arc<SocketSettings>,
    conns: Vec<SocketConnection<P>>,
    buffer: Box<[u8]>,
    ready: Vec<epoll::Event>,
    /// Connections that are to be made once fewer are being made.
    queued: VecDeque<u32>,
    connecting: usize,
    /// The connection whose statements are collected before they are sent.
    held: Option<u32>,
    /// What the network that is not there has still to bring.
    network: ShardNetwork,
    /// When the last attempt to open one succeeded or failed.
    last_attempt_at: MonoNanos,
    /// When time-outs and pauses are looked at next.
    sweep_at: Option<MonoNanos>,
    /// What happened outside of a wait.
    completions: Vec<Completion>,
    connections: ConnectionRecorder,
    /// Connections that the server has still to end; `None`: nobody waits for that.
    closing: Option<ClosingSockets>,
    /// Which of the host's addresses is used.
    address_index: usize,
    first_failure: Option<DatabaseFailure>,
    clock: ThreadClock,
    /// How late the thread looks at its sockets.
    lateness: ReadLateness,
    /// How long the socket that is read had been ready.
    late: AnswerDelay,
    /// How long before an instant that something is due at it stops sleeping, and spins.
    wake_margin: WakeMargin,
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
        let conns = (0..connections).map(|_| SocketConnection::new(P::new(&shared))).collect();
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self {
            ticks: ReactorTicks::new(&epoll).ok(),
            epoll,
            shared,
            settings,
            conns,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            ready: Vec::with_capacity(MAX_EVENTS),
            queued: VecDeque::new(),
            connecting: 0,
            held: None,
            network: ShardNetwork::new(SimulatedNetwork::default(), None),
            last_attempt_at: MonoNanos(0),
            sweep_at: None,
            completions: Vec::new(),
            connections: ConnectionRecorder::default(),
            closing: None,
            address_index: 0,
            first_failure: None,
            clock: ThreadClock::new(),
            lateness: ReadLateness::new(),
            late: AnswerDelay::default(),
            wake_margin: WakeMargin::new(1),
        })
    }

    /// The same, as one of so many that share the machine's CPUs.
    #[must_use]
    pub fn one_of(mut self, shards: u32) -> Self {
        self.wake_margin = WakeMargin::new(shards);
        self
    }

    /// The same behind the network of its settings, with the link that all shards share.
    #[must_use]
    pub(super) fn behind(mut self, link: Option<Arc<NetworkLink>>) -> Self {
        self.network = ShardNetwork::new(self.settings.network, link);
        self
    }

    /// Executes a text on a connection that is there; the answer comes as an event.
    pub(super) fn query(&mut self, id: u32, sql: &str) {
        let conn = &mut self.conns[id as usize];
        conn.protocol.query(sql, &mut conn.out);
        self.sent(id);
    }

    /// Sends data that a COPY waits for.
    pub(super) fn data(&mut self, id: u32, data: Option<&[u8]>) {
        let conn = &mut self.conns[id as usize];
        conn.protocol.data(data, &mut conn.out);
        self.flush(id);
    }

    /// Bytes that could not be sent yet.
    pub(super) fn unsent(&self, id: u32) -> usize {
        self.conns[id as usize].out.len()
    }

    /// What a connection is encrypted by.
    pub(super) fn encryption(&self, id: u32) -> String {
        tls::encryption(self.conns[id as usize].tls())
    }

    pub(super) fn take_table(&mut self, id: u32) -> Option<QueryTable> {
        self.conns[id as usize].protocol.take_table()
    }

    /// Bytes that have been read from a connection's present socket.
    pub(super) fn received(&self, id: u32) -> u64 {
        self.conns[id as usize].received
    }

    /// Closes a connection whose answer nobody waits for any longer, for this reason.
    pub(super) fn give_up(&mut self, id: u32, failure: DatabaseFailure) {
        self.broken(id, failure);
        self.completions.clear();
    }

    pub(super) fn protocol(&self, id: u32) -> &P {
        &self.conns[id as usize].protocol
    }

    pub(super) fn protocol_mut(&mut self, id: u32) -> &mut P {
        &mut self.conns[id as usize].protocol
    }

    /// Whether a connection is there.
    pub(super) fn is_up(&self, id: u32) -> bool {
        self.conns[id as usize].stage == ConnectionStage::Up
    }

    /// Sends what a connection has to send.
    #[inline]
    fn flush(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let was_blocked = conn.is_blocked;
        let sent = conn.send();
        conn.passing = conn.unsent();
        match sent {
            Ok(SendStatus::All) if !was_blocked => {}
            Ok(sent) => {
                conn.is_blocked = sent == SendStatus::Blocked;
                if conn.is_blocked != was_blocked {
                    self.listen(id);
                }
            }
            Err(failure_cause) => self.broken(id, self.describe(failure_cause)),
        }
    }

    /// Closes a connection's socket. The kernel forgets a socket by itself only when nobody has it
    /// any more, and a process that is forked at that moment has it for a while.
    fn close(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        if let Some(socket) = conn.socket() {
            // One that could not be added is not there.
            let _ = epoll::delete(&self.epoll, socket);
        }
        conn.close();
    }

    /// What is said of trouble with this server.
    #[cold]
    fn describe(&self, failure_cause: impl Into<IoFailure>) -> DatabaseFailure {
        failure_cause.into().at(&self.settings.address)
    }

    /// Sets in epoll what a connection waits for.
    fn listen(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        let Some(socket) = conn.socket() else { return };
        let mut events = EventFlags::IN;
        if conn.is_blocked || matches!(conn.stage, ConnectionStage::Connecting(_)) {
            events |= EventFlags::OUT;
        }
        if self.network.link.is_some() && conn.stage == ConnectionStage::Up {
            // What the link has still to pass stays in the socket.
            events |= EventFlags::ET;
        }
        if let Err(error) =
            epoll::modify(&self.epoll, socket, EventData::new_u64(id.into()), events)
        {
            self.broken(id, self.describe(error));
        }
    }

    /// Executes what waited for the connection, which began to be made at `since` and was there
    /// at `at`.
    fn execute_pending(&mut self, id: u32, since: MonoNanos, at: MonoNanos) {
        let conn = &mut self.conns[id as usize];
        let Some(pending) = conn.pending.take() else { return };
        let kind = CompletionKind::Connected { since };
        let late = AnswerDelay::default();
        self.completions.push(Completion { connection: id, at, late, kind });
        let answer = match pending {
            PendingWork::Execute { statement, parameters, needs_row } => {
                self.execute(id, StatementCall { statement, parameters: &parameters, needs_row })
            }
            PendingWork::Perform(op) => self.op(id, op.borrow()),
        };
        if let Some(answer) = answer {
            let kind = CompletionKind::Answered(answer);
            self.completions.push(Completion { connection: id, at, late, kind });
        }
    }

    /// Executes a statement; returns its answer where it could not even be sent.
    #[inline]
    fn execute(&mut self, id: u32, call: StatementCall<'_>) -> Option<StatementResult> {
        let conn = &mut self.conns[id as usize];
        match conn.protocol.execute(&self.shared, call, &mut conn.out) {
            Ok(()) => self.sent(id),
            Err(failure) if conn.unanswered == 0 => return Some(StatementResult::unsent(failure)),
            Err(failure) => {
                // Answers come in order, and this one would come before those ahead of it: it fails
                // together with them.
                conn.unanswered += 1;
                self.broken(id, DatabaseFailure { undone: true, ..failure });
            }
        }
        None
    }

    /// Does what a script asks of a connection that is there. `Some`: that is done already, or
    /// could not be sent.
    #[inline]
    fn op(&mut self, id: u32, op: ConnectionOp<'_>) -> Option<StatementResult> {
        let conn = &mut self.conns[id as usize];
        if op == ConnectionOp::Connect {
            conn.protocol.results().clear();
            return Some(StatementResult::at_once());
        }
        match conn.protocol.perform(&self.shared, op, &mut conn.out) {
            Ok(SubmitResult::Sent) => self.sent(id),
            Ok(SubmitResult::Done) => {
                self.send(id);
                return Some(StatementResult::at_once());
            }
            Err(failure) => return Some(StatementResult::unsent(failure)),
        }
        None
    }

    /// A statement is to be sent: sends it, and notes by when it must have been answered.
    #[inline]
    fn sent(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        conn.unanswered += 1;
        if let Some(limit) = self.settings.statement_timeout {
            conn.deadline = Some(now() + limit);
            self.sweep_soon();
        }
        if self.held != Some(id) {
            self.send(id);
        }
    }
}

impl<P: Protocol> CompletionSource for SocketReactor<P> {
    #[inline]
    fn now(&self) -> MonoNanos {
        now()
    }

    fn wait(&mut self, until: MonoNanos, is_due: bool, events: &mut Vec<Completion>) {
        self.wait_until(until, is_due, events);
    }
}

impl<P: Protocol> StatementConnections for SocketReactor<P> {
    #[inline]
    fn submit(
        &mut self,
        connection: u32,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
    ) -> Option<StatementResult> {
        let conn = &mut self.conns[connection as usize];
        if let Some(failure) = conn.lost.take() {
            // On another socket the statement would run outside of its transaction.
            return Some(StatementResult::unsent(failure));
        }
        if conn.stage == ConnectionStage::Up {
            return self.execute(connection, StatementCall { statement, parameters, needs_row });
        }
        let parameters = parameters.to_vec();
        conn.pending = Some(PendingWork::Execute { statement, parameters, needs_row });
        if conn.stage == ConnectionStage::Down {
            self.connect(connection);
        }
        None
    }

    fn first_row(&self, connection: u32) -> &[SqlValue] {
        self.conns[connection as usize].protocol.first_row()
    }

    fn hold(&mut self, connection: u32) -> bool {
        let is_up = self.conns[connection as usize].stage == ConnectionStage::Up;
        self.held = is_up.then_some(connection);
        is_up
    }

    fn release(&mut self, connection: u32) {
        self.held = None;
        let conn = &self.conns[connection as usize];
        if conn.stage == ConnectionStage::Up && conn.has_unsent() && !conn.is_blocked {
            self.send(connection);
        }
    }
}

impl<P: Protocol> ScriptConnections for SocketReactor<P> {
    fn add_connection(&mut self) -> Option<u32> {
        self.conns.push(SocketConnection::new(P::new(&self.shared)));
        Some(self.conns.len() as u32 - 1)
    }

    #[inline]
    fn perform(&mut self, connection: u32, op: ConnectionOp<'_>) -> Option<StatementResult> {
        if op == ConnectionOp::Disconnect {
            self.disconnect(connection);
            self.results(connection).clear();
            return Some(StatementResult::at_once());
        }
        let conn = &mut self.conns[connection as usize];
        conn.is_scripted = true;
        if let (Some(failure), true) = (conn.lost.take(), op != ConnectionOp::Connect) {
            return Some(StatementResult::failed(failure));
        }
        if conn.stage == ConnectionStage::Up {
            return self.op(connection, op);
        }
        if matches!(op, ConnectionOp::Close { .. }) && conn.stage == ConnectionStage::Down {
            // What was prepared went with the connection.
            self.results(connection).clear();
            return Some(StatementResult::at_once());
        }
        conn.pending = Some(PendingWork::Perform(op.to_owned()));
        if conn.stage == ConnectionStage::Down {
            self.connect(connection);
        }
        None
    }

    fn results(&mut self, connection: u32) -> &mut ResultSets {
        self.conns[connection as usize].protocol.results()
    }
}

impl<P: Protocol> Reactor for SocketReactor<P> {
    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        let totals = self.clock.thread_totals();
        (totals.cpu, totals.runq)
    }

    fn link_use(&self) -> Option<LinkUse> {
        self.network.link.as_ref().map(|link| link.used(now()))
    }

    fn connection_key(&self, connection: u32) -> Option<ConnectionKey> {
        self.conns[connection as usize].key
    }

    fn server_id(&self, connection: u32) -> Option<u32> {
        self.conns[connection as usize].protocol.number()
    }

    #[inline]
    fn is_refused(&self, connection: u32) -> bool {
        let conn = &self.conns[connection as usize];
        let is_down = conn.stage == ConnectionStage::Down;
        is_down && conn.refused_at == Some(self.connections.times.count())
    }

    #[inline]
    fn transaction_ended(&mut self, connection: u32) {
        self.transaction_restarts(connection);
        if self.settings.reconnect == ReconnectPolicy::EveryTransaction {
            self.terminate(connection);
        }
    }

    fn transaction_restarts(&mut self, connection: u32) {
        let conn = &mut self.conns[connection as usize];
        conn.is_used = false;
        if !conn.is_scripted {
            conn.lost = None;
        }
    }

    fn let_go(&mut self, connection: u32) {
        self.terminate(connection);
    }

    fn abandon(&mut self, connection: u32) {
        let conn = &mut self.conns[connection as usize];
        if conn.unanswered > 0 {
            self.connections.abandoned.extend(conn.protocol.number());
        }
        if matches!(conn.stage, ConnectionStage::Connecting(_) | ConnectionStage::Handshaking(_)) {
            self.connecting -= 1;
        }
        conn.pending = None;
        self.close(connection);
    }

    fn ends(&mut self) {
        self.closing = Some(ClosingSockets::default());
    }

    fn connections(&mut self) -> ConnectionRecorder {
        let is_missing = |conn: &&SocketConnection<P>| conn.failures > 0 && !conn.was_made;
        let never_made = self.conns.iter().filter(is_missing).count() as u64;
        ConnectionRecorder { never_made, ..std::mem::take(&mut self.connections) }
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// Closes a connection for a script, whatever state it is in.
    fn disconnect(&mut self, id: u32) {
        self.terminate(id);
        let conn = &mut self.conns[id as usize];
        (conn.is_scripted, conn.is_used, conn.lost) = (false, false, None);
    }
}
