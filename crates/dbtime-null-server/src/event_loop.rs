//! One thread of a null server: waits for all of its connections at once.

use crate::connection::{ClientGone, NullConnection};
use crate::faults::FaultPlan;
use crate::listener::NullListener;
use dbtime_machine::clock::{now, timespec};
use dbtime_machine::wait::precise_timers;
use dbtime_model::MonoNanos;
use dbtime_model::WireProtocol;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sockets that are served before the clock is looked at again.
const MAX_EVENTS: usize = 256;

/// Bytes read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// What the kernel tells of an event: a connection's place, or one of these.
const LISTENERS: u64 = 1 << 32;
const INBOX: u64 = 1 << 33;

/// How others reach a thread.
pub(crate) struct LoopInbox {
    bell: OwnedFd,
    arrived: Mutex<Vec<(OwnedFd, WireProtocol)>>,
    is_stopped: AtomicBool,
}

impl LoopInbox {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { bell, arrived: Mutex::default(), is_stopped: AtomicBool::new(false) })
    }

    /// Ends the thread soon.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.ring();
    }

    fn push(&self, socket: OwnedFd, wire: WireProtocol) {
        self.lock().push((socket, wire));
        self.ring();
    }

    fn ring(&self) {
        // Full means that it has been rung often enough.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    fn drain(&self) -> Vec<(OwnedFd, WireProtocol)> {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(OwnedFd, WireProtocol)>> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of a connection that are sent later.
struct DelayedBytes {
    due: MonoNanos,
    place: usize,
    /// The connection that had the place.
    number: u64,
    bytes: usize,
}

/// One thread.
pub(crate) struct EventLoop {
    epoll: OwnedFd,
    listeners: Vec<(NullListener, WireProtocol)>,
    /// Those of all threads, of which `own_index` is this one's.
    inboxes: Vec<Arc<LoopInbox>>,
    own_index: usize,
    /// Whose turn it is to get a connection.
    turn: usize,
    plan: Arc<FaultPlan>,
    connections: Vec<Option<NullConnection>>,
    free: Vec<usize>,
    /// Connections so far.
    count: u64,
    /// Soonest first: all are as late.
    late: VecDeque<DelayedBytes>,
    buffer: Box<[u8]>,
}

impl EventLoop {
    pub(crate) fn new(
        listeners: Vec<(NullListener, WireProtocol)>,
        inboxes: Vec<Arc<LoopInbox>>,
        own_index: usize,
        plan: Arc<FaultPlan>,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (index, (listener, _)) in listeners.iter().enumerate() {
            let token = EventData::new_u64(LISTENERS + index as u64);
            epoll::add(&epoll, listener, token, EventFlags::IN)?;
        }
        epoll::add(&epoll, &inboxes[own_index].bell, EventData::new_u64(INBOX), EventFlags::IN)?;
        Ok(Self {
            epoll,
            listeners,
            inboxes,
            own_index,
            turn: 0,
            plan,
            connections: Vec::new(),
            free: Vec::new(),
            count: 0,
            late: VecDeque::new(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
        })
    }

    /// Serves until it is stopped.
    pub(crate) fn run(mut self) {
        precise_timers();
        let mut ready: Vec<Event> = Vec::with_capacity(MAX_EVENTS);
        while !self.inboxes[self.own_index].is_stopped.load(Ordering::Relaxed) {
            let timeout = self.late.front().map(|late| timespec(late.due - now()));
            ready.clear();
            let spare = rustix::buffer::spare_capacity(&mut ready);
            // Interrupted: it waits again.
            let _ = epoll::wait(&self.epoll, spare, timeout.as_ref());
            for event in &ready {
                match event.data.u64() {
                    INBOX => self.accept_dealt(),
                    place @ 0..LISTENERS => self.serve(place as usize, event.flags),
                    listener => self.accept((listener - LISTENERS) as usize),
                }
            }
            self.release();
        }
    }

    /// Takes all that wait to be let in, and deals them to the threads in turn.
    fn accept(&mut self, listener: usize) {
        loop {
            let (listener, wire) = &self.listeners[listener];
            let Some(socket) = listener.accept() else { return };
            let turn = self.turn;
            self.turn = (turn + 1) % self.inboxes.len();
            if turn == self.own_index {
                self.add_connection(socket, *wire);
            } else {
                self.inboxes[turn].push(socket, *wire);
            }
        }
    }

    fn accept_dealt(&mut self) {
        for (socket, wire) in self.inboxes[self.own_index].drain() {
            self.add_connection(socket, wire);
        }
    }

    fn add_connection(&mut self, socket: OwnedFd, wire: WireProtocol) {
        self.count += 1;
        let mut connection = NullConnection::new(socket, wire, self.count);
        let place = self.free.pop().unwrap_or(self.connections.len());
        let token = EventData::new_u64(place as u64);
        let added = epoll::add(&self.epoll, &connection.socket, token, EventFlags::IN);
        let is_there = added.is_ok() && connection.flush().is_ok();
        if place == self.connections.len() {
            self.connections.push(None);
        }
        if is_there { self.connections[place] = Some(connection) } else { self.free.push(place) }
    }

    #[inline]
    fn serve(&mut self, place: usize, flags: EventFlags) {
        let Some(connection) = &mut self.connections[place] else { return };
        let was_blocked = connection.is_blocked;
        let flushed = if flags.contains(EventFlags::OUT) { connection.flush() } else { Ok(()) };
        let received = if flags.intersects(EventFlags::IN | EventFlags::ERR | EventFlags::HUP) {
            connection.receive(&mut self.buffer, &self.plan)
        } else {
            Ok(0)
        };
        let waiting = flushed.and(received);
        if let (Ok(bytes @ 1..), Some(delay)) = (waiting, self.plan.faults.delay) {
            let due = now() + delay;
            let number = connection.number;
            self.late.push_back(DelayedBytes { due, place, number, bytes });
        }
        self.update_interest(place, was_blocked, waiting.map(drop));
    }

    /// Sends what was late enough.
    fn release(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let present = now();
        while let Some(&DelayedBytes { place, number, bytes, .. }) =
            self.late.front().filter(|late| late.due <= present)
        {
            self.late.pop_front();
            let connection = self.connections[place].as_mut();
            let Some(connection) = connection.filter(|connection| connection.number == number)
            else {
                continue;
            };
            let was_blocked = connection.is_blocked;
            let released = connection.release(bytes);
            self.update_interest(place, was_blocked, released);
        }
    }

    /// Closes a connection that has gone; tells the kernel what one waits for that has not.
    #[inline]
    fn update_interest(
        &mut self,
        place: usize,
        was_blocked: bool,
        outcome: Result<(), ClientGone>,
    ) {
        let Some(connection) = &self.connections[place] else { return };
        let mut outcome = outcome;
        if outcome.is_ok() && connection.is_blocked != was_blocked {
            let out = if connection.is_blocked { EventFlags::OUT } else { EventFlags::empty() };
            let token = EventData::new_u64(place as u64);
            let changed =
                epoll::modify(&self.epoll, &connection.socket, token, EventFlags::IN | out);
            outcome = changed.map_err(|_| ClientGone);
        }
        if outcome.is_err() {
            self.connections[place] = None;
            self.free.push(place);
        }
    }
}
