//! One shard of the event loop: many connections on one thread, nothing shared.
//!
//! The shard decides what is sent when; a [`Reactor`] sends it and reads the clock. A test gives it
//! a reactor whose clock only moves when the shard waits.

mod claims;
mod connection_map;
mod idle;
mod in_flight;
mod phase;
mod reactor;
mod shard_threads;
mod transaction;
mod usage;

pub use connection_map::ConnectionMap;
pub(crate) use phase::{CLOSE_TIMEOUT, run_phase};
use reactor::AnswerTime;
pub use reactor::{
    AnswerDelay, Completion, CompletionKind, CompletionSource, LinkUse, Reactor, ScriptConnections,
    StatementConnections, StatementResult,
};
pub use shard_threads::{ConnectedShard, DriveError, drive};

use crate::drive::observer::LoadSink;
use crate::drive::plan::{LoadPlan, RunStop, ThreadResult};
use crate::drive::timing::ThreadRecorder;
use claims::{ClaimedTicket, ShardQueue};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::program::Ticket;
use dbtime_load::session::Session;
use dbtime_model::{MonoNanos, Nanos, Outcome, Part, TimeSpan};
use idle::IdleConnections;
use in_flight::InFlight;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use transaction::{ShardTransaction, TransactionInput, TransactionState};
use usage::{ShardUsage, WorkPace, WorkWatch};

/// How often a waiting shard looks at the stop flag.
const STOP_POLL_INTERVAL: Nanos = Nanos::from_millis(10);

/// Of what is shorter the instants of a standstill say nothing.
const MIN_STANDSTILL_WAIT: Nanos = Nanos::from_millis(1);

/// How long clients that have finished keep their connections while others are served: whoever
/// looks at a server after its load finds its sessions there.
pub(crate) const FINISHED_GRACE: Nanos = Nanos::from_millis(500);

/// Which shard of a plan's, and when its load starts.
#[derive(Clone, Copy, Debug)]
pub struct ShardStart {
    /// Its number.
    pub shard: u32,
    /// The instant from which transactions are due.
    pub at: MonoNanos,
}

/// The clients of a shard: connections, and the session on each.
pub struct ShardClients<R> {
    /// The connections.
    pub reactor: R,
    /// A session for each of the first connections.
    pub sessions: Vec<Session>,
    /// Which connection belongs to which session.
    pub connection_map: ConnectionMap,
}

impl<R> ShardClients<R> {
    /// A session for each connection of the reactor's.
    pub fn new(reactor: R, sessions: Vec<Session>) -> Self {
        let connection_map = ConnectionMap::new(sessions.len());
        Self { reactor, sessions, connection_map }
    }
}

/// One shard of a run.
pub struct Shard<'a, R> {
    plan: &'a LoadPlan,
    stop: &'a RunStop,
    reactor: R,
    queue: ShardQueue,
    /// When the next client of a closed loop will ask, as far as is known.
    next_ready_at: Option<MonoNanos>,
    /// The next transaction, claimed ahead of its due instant.
    next: Option<ClaimedTicket>,
    connections: Vec<ShardConnection>,
    connection_map: ConnectionMap,
    idle: IdleConnections,
    /// How many clients have quit: their connections are idle no more.
    quit: usize,
    /// Who has quit and has its connection still, and since when.
    leaving: VecDeque<(u32, MonoNanos)>,
    /// Since when nothing comes any more for those that are idle.
    finished_at: Option<MonoNanos>,
    /// Pauses inside transactions, soonest first.
    pauses: BinaryHeap<Reverse<(MonoNanos, u32)>>,
    thread_recorder: ThreadRecorder,
    end: MonoNanos,
    usage: ShardUsage,
    pace: WorkPace,
    watch: WorkWatch,
    /// Whether each client has a connection of its own, and a state that goes with it.
    is_tied: bool,
    /// Whether the programs are a script's, which takes time after its last answer.
    is_scripted: bool,
}

struct ShardConnection {
    session: Session,
    in_flight: InFlight,
    pause: Part,
    /// What it waits for: the end of this pause; `None`: an answer.
    pausing: Option<Part>,
    /// Whether it has a transaction.
    is_busy: bool,
    /// Whether it was let go since it had one: the server may have given its place away.
    is_let_go: bool,
}

/// Whether nobody waits any more for answers of a load whose window has this end.
fn is_over(plan: &LoadPlan, stop: &RunStop, end: MonoNanos, present: MonoNanos) -> bool {
    let late = plan.measure.is_some() && present >= end + plan.rundown;
    late || stop.is_late(present)
}

impl<'a, R: Reactor> Shard<'a, R> {
    /// A shard of the plan's, with a session for each of its connections.
    pub fn new(
        plan: &'a LoadPlan,
        start: ShardStart,
        clients: ShardClients<R>,
        sink: Box<dyn LoadSink>,
        stop: &'a RunStop,
    ) -> Self {
        let ShardStart { shard, at: start } = start;
        let ShardClients { reactor, sessions, connection_map } = clients;
        let queue = ShardQueue::of(plan, start, shard);
        let connection = |session| ShardConnection {
            session,
            in_flight: InFlight::new(start),
            pause: Part::Think,
            pausing: None,
            is_busy: false,
            is_let_go: false,
        };
        let connections: Vec<ShardConnection> = sessions.into_iter().map(connection).collect();
        let idle = IdleConnections::new(connections.len() as u32, start);
        let thread_recorder =
            ThreadRecorder::new(plan.recorder(start, shard), plan.sampling(), start, sink);
        let window = plan.window(start);
        Self {
            plan,
            stop,
            reactor,
            queue,
            next_ready_at: None,
            next: None,
            connections,
            connection_map,
            idle,
            quit: 0,
            leaving: VecDeque::new(),
            finished_at: None,
            pauses: BinaryHeap::new(),
            thread_recorder,
            end: window.end,
            usage: ShardUsage::over(window),
            pace: WorkPace::default(),
            watch: WorkWatch::default(),
            is_tied: plan.workload.script.is_some() && !plan.is_pooled(),
            is_scripted: plan.workload.script.is_some(),
        }
    }

    /// Runs until nothing is due any more and everything sent has ended. The connections and
    /// sessions come back as they are.
    pub fn run(mut self) -> (ThreadResult, ShardClients<R>) {
        let mut events = Vec::with_capacity(self.connections.len());
        let mut present = self.reactor.now();
        let mut woken = present;
        self.watch.begin(woken, || self.reactor.thread_use().0);
        loop {
            // In this order: whose transaction ends with a pause may have the next one at once.
            present = self.resume_paused(present);
            present = self.send_due(present);
            self.let_finished_go(present);
            let Some((until, is_due)) = self.wake_at(present) else { break };
            self.pace.worked(present - woken);
            let at_work = self.watch.end(present, || self.reactor.thread_use().0);
            self.thread_recorder.recorder.standstills.extend(at_work);
            self.reactor.wait(until, is_due, &mut events);
            woken = self.reactor.now();
            self.watch.begin(woken, || self.reactor.thread_use().0);
            let woken_late = self.thread_recorder.woken(until, woken);
            if at_work.is_some() || woken_late.is_some() {
                self.note_waits([at_work, woken_late], &events);
            }
            self.thread_recorder.hand_over(woken);
            self.usage.waited += woken - present;
            present = woken;
            for Completion { connection, at, late, kind } in events.drain(..) {
                let id = self.connection_map.session(connection);
                match kind {
                    CompletionKind::Answered(answer) => {
                        let time = AnswerTime { read_at: at, delay: late };
                        present = self.advance(id, TransactionInput::Answer(answer, time));
                    }
                    CompletionKind::Connected { since } => {
                        self.connections[id as usize].in_flight.connected(since, at);
                    }
                }
            }
            if self.is_over(present) {
                self.abandon_all(present);
            }
        }
        self.finish()
    }

    /// Notes how long the answers that are read now were waited for while the driver stood still,
    /// without what is known to be the driver's lateness. Of a statement that was sent in the same
    /// stretch of work in which the driver was stopped, the answer's arrival was not seen.
    #[cold]
    fn note_waits(&mut self, standstills: [Option<TimeSpan>; 2], events: &[Completion]) {
        let Self { connections, connection_map, thread_recorder, .. } = self;
        let recorder = &mut thread_recorder.recorder;
        // Behind a connection's first answer what was sent with its statement waits for that.
        let mut answered = BTreeSet::new();
        for Completion { connection, at, late, kind } in events {
            let id = connection_map.session(*connection) as usize;
            let ShardConnection { session, in_flight, .. } = &connections[id];
            let is_first = answered.insert(*connection);
            let is_answer = matches!(kind, CompletionKind::Answered(_));
            if is_first && is_answer && recorder.window().contains(session.ticket().due) {
                let wait = TimeSpan { from: in_flight.sent, until: *at };
                let meets = |span: &TimeSpan| span.common(&wait).length();
                let meanwhile: Nanos = standstills.iter().flatten().map(meets).sum();
                let unknown = meanwhile - late.between(in_flight.sent, *at);
                if unknown >= MIN_STANDSTILL_WAIT {
                    recorder.standstill_waits += unknown;
                }
            }
        }
    }

    /// Whether nobody waits for answers any more.
    fn is_over(&self, present: MonoNanos) -> bool {
        is_over(self.plan, self.stop, self.end, present)
    }

    /// Counts whatever is still under way as unfinished.
    #[cold]
    fn abandon_all(&mut self, present: MonoNanos) {
        self.pauses.clear();
        for id in 0..self.connections.len() as u32 {
            let connection = &mut self.connections[id as usize];
            if !connection.is_busy {
                continue;
            }
            let ticket = *connection.session.ticket();
            let ShardConnection { in_flight, pausing, .. } = connection;
            in_flight.timing.broken_off(*pausing, in_flight.sent, present);
            // Before the connection says goodbye: what it leaves behind is noted.
            self.reactor.abandon(in_flight.script_connection.unwrap_or(id));
            self.end_transaction(id, &ticket, Outcome::Unfinished);
        }
    }

    /// Starts what is due, as long as connections are idle. Returns the present instant.
    #[inline]
    fn send_due(&mut self, mut present: MonoNanos) -> MonoNanos {
        let stopped = self.stop.instant();
        if present >= stopped
            && let Some(never_offered) = self.next.take_if(|next| next.ticket.due >= stopped)
            && let ShardQueue::Closed(queue) = &mut self.queue
        {
            // Claimed ahead and not due before the run was ended.
            queue.given_up(&never_offered.ticket);
        }
        loop {
            // Where each client has its own that would change nothing.
            if !self.is_tied {
                let Self { idle, reactor, connections, .. } = self;
                let is_gone = |id: u32| connections[id as usize].is_let_go;
                idle.prefer_connected(|id| is_gone(id) || reactor.is_refused(id));
            }
            let Some((id, freed)) = self.idle.first() else { break };
            if self.next.is_none() {
                self.next = self.claim(freed, present);
            }
            let Some(claimed) = self.next else { break };
            if claimed.ready > present {
                present = self.reactor.now();
                if claimed.ready > present {
                    break;
                }
            }
            self.next = None;
            if self.is_too_late(&claimed, present) {
                self.thread_recorder.not_sent(&claimed.ticket, Outcome::Unfinished, present);
                if let ShardQueue::Closed(queue) = &mut self.queue {
                    queue.given_up(&claimed.ticket);
                }
                continue;
            }
            self.usage.starting(claimed.ticket.due, &self.reactor);
            let id = self.take_idle(&claimed.ticket).unwrap_or(id);
            present = self.start(id, claimed, present);
        }
        present
    }

    /// Takes the connection that runs a transaction: the one that is idle longest, unless its
    /// client has one of its own.
    #[inline]
    fn take_idle(&mut self, ticket: &Ticket) -> Option<u32> {
        self.idle.take(self.is_tied.then(|| ticket.client / self.plan.shards))
    }

    fn start(&mut self, id: u32, claimed: ClaimedTicket, present: MonoNanos) -> MonoNanos {
        let ClaimedTicket { ticket, ready, think } = claimed;
        let ticket = self.connections[id as usize].session.claimed(ticket);
        if let Some((operation, planned)) = think {
            let taken = planned + (present - ready);
            self.thread_recorder.recorder.think(operation, ticket.due, planned, taken);
        }
        self.thread_recorder.offered(&ticket);
        let sampled = self.plan.sampling().includes(ticket.index);
        let connection = &mut self.connections[id as usize];
        connection.in_flight.begin(ready, sampled);
        (connection.is_busy, connection.is_let_go) = (true, false);
        self.advance(id, TransactionInput::Start(ticket))
    }

    fn resume_paused(&mut self, mut present: MonoNanos) -> MonoNanos {
        // Who pauses again at once waits for the next round: others have their turn between.
        for _ in 0..self.pauses.len() {
            let Some(&Reverse((at, id))) = self.pauses.peek() else { break };
            if at > present && present < self.stop.instant() {
                break;
            }
            self.pauses.pop();
            if self.is_scripted && self.plan.ends_at_pause(self.stop, at) {
                present = self.end_at_pause(id, present);
                continue;
            }
            let part = self.connections[id as usize].pause;
            present = self.advance(id, TransactionInput::Resumed(part));
        }
        present
    }

    /// Lets connections go whose clients have finished, where others are still being served: these
    /// may wait for a place at the server that a finished one holds, behind a pooler of sessions
    /// for as long as it does.
    #[inline]
    fn let_finished_go(&mut self, present: MonoNanos) {
        while let Some(&(id, since)) = self.leaving.front() {
            if present - since < FINISHED_GRACE {
                break;
            }
            self.leaving.pop_front();
            self.reactor.let_go(id);
        }
        if self.next.is_some() || !self.is_nothing_to_come() {
            self.finished_at = None;
            return;
        }
        let since = *self.finished_at.get_or_insert(present);
        if present - since >= FINISHED_GRACE {
            for id in self.idle.ids() {
                // Once: whoever still has transactions is to have the others' connections.
                let connection = &mut self.connections[id as usize];
                if !std::mem::replace(&mut connection.is_let_go, true) {
                    self.reactor.let_go(id);
                }
            }
        }
    }

    /// Whether whoever is idle has finished.
    fn is_nothing_to_come(&self) -> bool {
        match self.queue {
            ShardQueue::Over => true,
            // Nobody thinks: whoever has not finished is being served.
            ShardQueue::Closed(_) => !self.idle.is_empty() && self.next_ready_at.is_none(),
            ShardQueue::Open(_) => false,
        }
    }

    /// When the shard has something to do even if nothing answers, and whether a transaction is due
    /// then; `None` when all has ended.
    fn wake_at(&self, present: MonoNanos) -> Option<(MonoNanos, bool)> {
        let busy = self.idle.len() + self.quit < self.connections.len();
        let over = matches!(self.queue, ShardQueue::Over) && self.next.is_none();
        if over && !busy {
            return None;
        }
        let mut due = MonoNanos(u64::MAX);
        if let Some(claimed) = &self.next {
            // Claimed ahead by a connection that is idle; a busy shard waits for its answers.
            if !self.idle.is_empty() {
                due = claimed.ready;
            }
        } else if let (false, Some(ready_at)) = (self.idle.is_empty(), self.next_ready_at) {
            due = ready_at;
        }
        if let Some(Reverse((resumes, _))) = self.pauses.peek() {
            due = due.min(*resumes);
        }
        let poll_at = present + STOP_POLL_INTERVAL;
        Some((due.min(poll_at), due <= poll_at))
    }

    /// Moves a connection's transaction on until it waits for an answer, pauses or ends. Returns
    /// the present instant.
    #[inline]
    fn advance(&mut self, id: u32, input: TransactionInput) -> MonoNanos {
        let (plan, stop, end) = (self.plan, self.stop, self.end);
        let Self { reactor, connections, thread_recorder, connection_map, .. } = self;
        let ShardConnection { session, in_flight, pausing, .. } = &mut connections[id as usize];
        *pausing = None;
        let transaction = ShardTransaction { id, reactor, in_flight, thread_recorder };
        let state = match session {
            Session::Native(session) => {
                let is_pipelined = plan.pipelining != Pipelining::Off;
                transaction.advance_native(session, input, is_pipelined)
            }
            Session::Script(session) => {
                let is_over = |present| is_over(plan, stop, end, present);
                transaction.advance_script(session, input, connection_map, is_over)
            }
        };
        match state {
            TransactionState::Waiting(present) => present,
            TransactionState::Pausing(part, length) => self.pause(id, part, length),
            TransactionState::Ended(outcome) => {
                let ticket = *self.connections[id as usize].session.ticket();
                self.end_transaction(id, &ticket, outcome)
            }
            TransactionState::Quit { outcome, all } => self.quit(id, outcome, all),
        }
    }

    /// A transaction pauses for so long; one of a script ends there behind the end of the run.
    /// Returns since when.
    fn pause(&mut self, id: u32, part: Part, length: Nanos) -> MonoNanos {
        let present = self.reactor.now();
        let connection = &mut self.connections[id as usize];
        connection.pause = part;
        connection.pausing = Some(part);
        connection.in_flight.sent = present;
        if self.is_scripted && self.plan.ends_at_pause(self.stop, present) {
            return self.end_at_pause(id, present);
        }
        if part == Part::Backoff {
            self.reactor.transaction_restarts(id);
        }
        self.pauses.push(Reverse((present + length, id)));
        present
    }

    /// Ends the transaction of a script that pauses behind the end of the run. Its connections are
    /// closed, since others may wait for locks that they hold. Returns when it ended.
    #[cold]
    fn end_at_pause(&mut self, id: u32, present: MonoNanos) -> MonoNanos {
        let ShardConnection { session, in_flight, pause, .. } = &mut self.connections[id as usize];
        in_flight.timing.pause(*pause, in_flight.sent, present);
        let ticket = *session.ticket();
        for connection in self.connection_map.of_session(id) {
            self.reactor.let_go(connection);
        }
        self.end_transaction(id, &ticket, Outcome::Unfinished)
    }

    /// A client ends with its transaction, and with `all` the run does.
    #[cold]
    fn quit(&mut self, id: u32, outcome: Outcome, all: bool) -> MonoNanos {
        let ticket = *self.connections[id as usize].session.ticket();
        let present = self.end_transaction(id, &ticket, outcome);
        self.idle.take_back();
        self.quit += 1;
        self.thread_recorder.recorder.quit += 1;
        self.leaving.push_back((id, present));
        if let ShardQueue::Closed(queue) = &mut self.queue {
            queue.leave(&ticket);
        }
        if all {
            self.stop.at(present);
        }
        if self.quit == self.connections.len() {
            // Nobody is left who could take what comes.
            if let ShardQueue::Open(queue) = std::mem::replace(&mut self.queue, ShardQueue::Over) {
                let thread_recorder = &mut self.thread_recorder;
                let due = queue.take_while(|ticket| ticket.due < present);
                due.for_each(|ticket| {
                    thread_recorder.not_sent(&ticket, Outcome::Unfinished, present)
                });
            }
            self.next = None;
        }
        present
    }

    /// Books a transaction that has ended; its connection is free again. Returns when it ended.
    #[inline]
    fn end_transaction(&mut self, id: u32, ticket: &Ticket, outcome: Outcome) -> MonoNanos {
        let connection = &mut self.connections[id as usize];
        connection.is_busy = false;
        if self.is_scripted && outcome != Outcome::Unfinished {
            connection.in_flight.timing.ends(self.reactor.now());
        }
        let sample = connection.in_flight.end(ticket, outcome, connection.session.retries());
        connection.session.ended(&sample);
        self.thread_recorder.ended(ticket, &connection.in_flight.timing, &sample);
        self.reactor.transaction_ended(id);
        // It shares the thread with all that are busy.
        let busy = self.connections.len() - self.idle.len() - self.quit;
        let freed = sample.freed(self.pace.own_work(busy));
        if let ShardQueue::Closed(queue) = &mut self.queue {
            queue.served(ticket, sample.done, freed);
        }
        self.idle.push(id, freed);
        self.pace.ended += 1;
        sample.done
    }

    fn finish(mut self) -> (ThreadResult, ShardClients<R>) {
        let usage = self.usage.finish(&self.reactor);
        let connections = self.reactor.connections();
        self.thread_recorder.recorder.connections.merge(&connections);
        let (recorder, _, ended) = self.thread_recorder.finish();
        let result = ThreadResult {
            recorder,
            cpu: usage.cpu,
            runq: usage.runq,
            driver: usage.driver,
            ended,
            link: usage.link,
            has_quit: self.quit > 0 && self.quit == self.connections.len(),
        };
        let sessions = self.connections.into_iter().map(|connection| connection.session).collect();
        let Self { reactor, connection_map, .. } = self;
        (result, ShardClients { reactor, sessions, connection_map })
    }
}
