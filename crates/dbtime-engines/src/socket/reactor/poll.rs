//! Waiting for sockets, and what ends a wait without them.
//!
//! A time-out costs a timer for each wait, which few connections on the CPUs of their server
//! notice. So where nothing is due a wait has none: it ends with an answer or with the next tick.

use super::SocketReactor;
use crate::drive::shard::Completion;
use crate::socket::connection::ConnectionStage;
use crate::socket::protocol::Protocol;
use dbtime_machine::clock::{now, timespec};
use dbtime_machine::timer::PeriodicTimer;
use dbtime_model::{MonoNanos, Nanos};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// How often a wait ends by itself, so that the end of a run is noticed.
const TICK_INTERVAL: Nanos = Nanos::from_millis(10);

/// A wait that may last so long lasts until the next tick.
const MIN_TICK_INTERVAL: Nanos = Nanos::from_millis(9);

/// What epoll calls the ticks.
const TICK_ID: u64 = u64::MAX;

/// Ends the waits of one epoll instance from time to time.
pub(super) struct ReactorTicks {
    timer: PeriodicTimer,
}

impl ReactorTicks {
    /// # Errors
    /// Those of [`PeriodicTimer::new`] and epoll_ctl(2).
    pub(super) fn new(epoll: &OwnedFd) -> Result<Self, Errno> {
        let timer = PeriodicTimer::new(TICK_INTERVAL)?;
        epoll::add(epoll, &timer, EventData::new_u64(TICK_ID), EventFlags::IN)?;
        Ok(Self { timer })
    }

    /// Takes a tick; the next one comes only after that.
    #[cold]
    fn take(&self) {
        self.timer.take();
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// As [`CompletionSource::wait`](crate::drive::shard::CompletionSource::wait).
    #[inline]
    pub(super) fn wait_until(
        &mut self,
        until: MonoNanos,
        is_due: bool,
        events: &mut Vec<Completion>,
    ) {
        while !self.wait_once(until, is_due) {}
        events.append(&mut self.completions);
    }

    /// Waits for sockets once, also for those of which nothing comes that would be an event: they
    /// are connected, let in, or take more. Returns whether that is all: something has happened, or
    /// it is past `until`.
    #[inline]
    pub(in crate::socket) fn wait_once(&mut self, until: MonoNanos, is_due: bool) -> bool {
        if !self.queued.is_empty() {
            self.open_queued();
        }
        let present = now();
        // However much there is to do: time-outs and pauses must not starve.
        if self.sweep_at.is_some_and(|at| at <= present) {
            self.sweep(present);
        }
        let mut by = self.sweep_at.map_or(until, |at| at.min(until));
        let mut is_timed = is_due;
        if let Some(next) = self.network.next() {
            if next <= present {
                self.pass_due(present);
            }
            by = self.network.next().map_or(by, |next| next.min(by));
            is_timed = true;
        }
        let left = by - present;
        if self.is_probably_answered() && self.read_answered(present) {
            return true;
        }
        let wake_margin = if is_due { self.wake_margin.before(left) } else { Nanos::ZERO };
        let is_needed_now = !self.completions.is_empty() || left <= wake_margin;
        let longest = if is_needed_now { Nanos::ZERO } else { left - wake_margin };
        let (found, over) = self.poll(present, longest, is_timed);
        if is_due && found == 0 && !is_needed_now {
            self.wake_margin.learn(over);
        }
        !self.completions.is_empty() || present >= until
    }

    /// Whether the answer of the only connection has probably come: where driver and server share
    /// a CPU, the server often takes it as soon as the statement is sent, and has answered when the
    /// driver goes on.
    #[inline]
    fn is_probably_answered(&self) -> bool {
        let [conn] = &*self.conns else { return false };
        let is_awaited = conn.stage == ConnectionStage::Up && conn.unanswered > 0;
        is_awaited && self.lateness.lost_cpu()
    }

    /// What has happened so far.
    pub(in crate::socket) fn take_completions(&mut self) -> Vec<Completion> {
        std::mem::take(&mut self.completions)
    }

    /// Reads the only connection without a word to epoll. Returns whether anything has happened.
    #[inline]
    fn read_answered(&mut self, present: MonoNanos) -> bool {
        self.lateness.waits(present);
        self.lateness.woken(present, Nanos::ZERO, present);
        self.readable(0, self.lateness.of(0, 1));
        !self.completions.is_empty()
    }

    /// Waits for sockets for at most so long from `present` on, or where it need not be so exact
    /// until the next tick, and reads those that have something. Returns how many, and how much
    /// longer the wait was.
    #[inline]
    fn poll(&mut self, present: MonoNanos, longest: Nanos, is_timed: bool) -> (usize, Nanos) {
        let until_tick = !is_timed && longest >= MIN_TICK_INTERVAL && self.ticks.is_some();
        let timeout = (!until_tick).then(|| timespec(longest));
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        self.lateness.waits(present);
        let waited = epoll::wait(&self.epoll, spare_capacity(&mut ready), timeout.as_ref());
        if waited.is_err() {
            // A thread that was stopped is interrupted as it goes on, whatever has come meanwhile:
            // that waited for the driver, as is seen only if it is taken at the end of this wait.
            let at_once = timespec(Nanos::ZERO);
            let _ = epoll::wait(&self.epoll, spare_capacity(&mut ready), Some(&at_once));
        }
        let woken = now();
        self.lateness.woken(present, longest, woken);
        ready.retain(|event| !self.is_tick(event));
        for (address_index, event) in ready.iter().enumerate() {
            let late = self.lateness.of(address_index, ready.len());
            let id = event.data.u64() as u32;
            let flags = event.flags;
            if let ConnectionStage::Connecting(attempt) = self.conns[id as usize].stage {
                self.opened(id, attempt);
                continue;
            }
            if self.conns[id as usize].is_blocked && flags.contains(EventFlags::OUT) {
                self.flush(id);
            }
            // Sending may have found it broken.
            let is_there = self.conns[id as usize].channel.is_some();
            if is_there && flags.intersects(EventFlags::IN | EventFlags::ERR | EventFlags::HUP) {
                self.readable(id, late);
            }
        }
        let found = ready.len();
        self.ready = ready;
        (found, (woken - present) - longest)
    }

    /// Whether that is a tick, which is taken.
    #[inline]
    fn is_tick(&self, event: &epoll::Event) -> bool {
        let is_tick = event.data.u64() == TICK_ID;
        if is_tick && let Some(ticks) = &self.ticks {
            ticks.take();
        }
        is_tick
    }
}
