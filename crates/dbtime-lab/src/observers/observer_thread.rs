//! The thread of the observers, and the ways from the load's threads to it and back.

use super::RunObserver;
use dbtime_engines::drive::observer::{LoadObserver, LoadSink};
use dbtime_engines::drive::plan::{LoadPlan, RunStop};
use dbtime_machine::now;
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::recorder::Window;
use dbtime_model::series::RunSecond;
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Batches of a thread's statements that may wait for the observers, who take part of a second for
/// some phases. A thread hands one over every 20 ms.
const MAX_WAITING_BATCHES: usize = 256;

/// What comes from the load's threads.
enum LoadEvent {
    /// The load came to a phase and waits until the observers have seen it.
    Phase { phase: RunPhase, at: MonoNanos, seen: SyncSender<()> },
    /// A second of the thread of this number.
    Second(u32, Box<RunSecond>),
    /// Statements and transactions of a thread.
    Exchanges(ExchangeBatch),
}

/// The load's end of the ways.
pub(crate) struct ObserverHandle {
    sinks: Mutex<Vec<Option<Box<dyn LoadSink>>>>,
    events: SyncSender<LoadEvent>,
}

/// The observers' end of them.
pub(crate) struct ObserverThread<'a, 'o> {
    plan: &'a LoadPlan,
    stop: &'a RunStop,
    events: Receiver<LoadEvent>,
    /// Where each thread's seconds go back to, to be filled again.
    back: Vec<SyncSender<Box<RunSecond>>>,
    observers: Vec<&'a mut (dyn RunObserver + 'o)>,
    phase: RunPhase,
    /// Before the load has a thread, which may connect at once.
    prepared_at: MonoNanos,
    /// Known once the load has started.
    window: Option<Window>,
}

/// Both ends, for a load of so many threads.
pub(crate) fn observer_thread<'a, 'o>(
    plan: &'a LoadPlan,
    threads: u32,
    observers: Vec<&'a mut (dyn RunObserver + 'o)>,
    stop: &'a RunStop,
) -> (ObserverHandle, ObserverThread<'a, 'o>) {
    let takes_exchanges = observers.iter().any(|observer| observer.takes_exchanges());
    let room = if takes_exchanges { MAX_WAITING_BATCHES } else { 4 };
    let (to_observers, events) = sync_channel(threads as usize * room + 16);
    let (mut sinks, mut back): (Vec<Option<Box<dyn LoadSink>>>, _) = (Vec::new(), Vec::new());
    for thread in 0..threads {
        let (to_thread, spare) = sync_channel(4);
        for _ in 0..2 {
            to_thread.try_send(Box::new(RunSecond::new(0))).expect("there is room for four");
        }
        back.push(to_thread);
        let to_observers = to_observers.clone();
        sinks.push(Some(Box::new(ThreadSink { thread, to_observers, spare, takes_exchanges })));
    }
    let handle = ObserverHandle { sinks: Mutex::new(sinks), events: to_observers };
    let (phase, prepared_at, window) = (RunPhase::Prepared, now(), None);
    let thread = ObserverThread { plan, stop, events, back, observers, phase, prepared_at, window };
    (handle, thread)
}

impl LoadObserver for ObserverHandle {
    fn sink(&self, thread: u32) -> Box<dyn LoadSink> {
        let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        sinks[thread as usize].take().expect("a thread takes its sink once")
    }

    fn reached(&self, phase: RunPhase, at: MonoNanos) {
        let (seen, has_seen) = sync_channel(1);
        // Observers that have panicked see nothing, and their panic ends the run.
        if self.events.send(LoadEvent::Phase { phase, at, seen }).is_ok() {
            let _ = has_seen.recv();
        }
    }
}

/// A thread's own end.
struct ThreadSink {
    thread: u32,
    to_observers: SyncSender<LoadEvent>,
    spare: Receiver<Box<RunSecond>>,
    takes_exchanges: bool,
}

impl LoadSink for ThreadSink {
    fn swap(&mut self, full: Box<RunSecond>) -> Box<RunSecond> {
        // Only observers that have ended do not take it, and then nobody reads it.
        let _ = self.to_observers.send(LoadEvent::Second(self.thread, full));
        self.spare.try_recv().unwrap_or_else(|_| Box::new(RunSecond::new(0)))
    }

    fn takes_exchanges(&self) -> bool {
        self.takes_exchanges
    }

    fn take_exchanges(&mut self, batch: ExchangeBatch) {
        let _ = self.to_observers.send(LoadEvent::Exchanges(batch));
    }
}

impl ObserverThread<'_, '_> {
    /// Serves the observers until the load is over: its handle and all sinks are gone.
    pub(crate) fn run(mut self) {
        self.announce(RunPhase::Prepared, self.prepared_at);
        loop {
            let wait = self.next_wake().map(|at| at - now());
            let event = match wait {
                Some(Nanos::ZERO) => Err(RecvTimeoutError::Timeout),
                Some(wait) => self.events.recv_timeout(Duration::from_nanos(wait.0)),
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(LoadEvent::Phase { phase, at, seen }) => {
                    self.load_reached(phase, at);
                    let _ = seen.send(());
                }
                Ok(LoadEvent::Second(thread, second)) => self.take(thread, second),
                Ok(LoadEvent::Exchanges(batch)) => {
                    self.observers.iter_mut().for_each(|observer| observer.exchanges(&batch));
                }
                Err(RecvTimeoutError::Timeout) => self.tick(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn announce(&mut self, phase: RunPhase, at: MonoNanos) {
        self.phase = phase;
        self.observers.iter_mut().for_each(|observer| observer.reached(phase, at));
    }

    fn take(&mut self, thread: u32, second: Box<RunSecond>) {
        self.observers.iter_mut().for_each(|observer| observer.second(&second));
        if let Some(back) = self.back.get(thread as usize) {
            let _ = back.try_send(second);
        }
    }

    /// The load came to a phase by itself. The phases of the window are between those.
    fn load_reached(&mut self, phase: RunPhase, at: MonoNanos) {
        match (phase, self.window) {
            (RunPhase::Started, _) => self.window = Some(self.plan.window(at)),
            (RunPhase::LoadEnded, Some(window)) if at >= window.start => {
                self.pass_window_start(window);
                if self.phase < RunPhase::WindowEnded {
                    let end = window.end.min(self.stop.instant()).min(at);
                    self.announce(RunPhase::WindowEnded, end.max(window.start));
                }
            }
            _ => {}
        }
        self.announce(phase, at);
        if let (RunPhase::Started, Some(window), Nanos::ZERO) =
            (phase, self.window, self.plan.warmup)
        {
            self.pass_window_start(window);
        }
    }

    fn pass_window_start(&mut self, window: Window) {
        if self.phase == RunPhase::Started {
            self.announce(RunPhase::WindowBegan, window.start);
        }
    }

    /// The next end of the window, where there is one to come.
    fn next_edge(&self) -> Option<MonoNanos> {
        match self.phase {
            RunPhase::Started => Some(self.window?.start),
            RunPhase::WindowBegan => Some(self.window?.end).filter(|end| end.0 < u64::MAX),
            _ => None,
        }
    }

    fn next_wake(&self) -> Option<MonoNanos> {
        let ticks = self.observers.iter().filter_map(|observer| observer.next_tick());
        ticks.chain(self.next_edge()).min()
    }

    fn tick(&mut self) {
        let present = now();
        if let Some(edge) = self.next_edge().filter(|edge| present >= *edge) {
            let next = match self.phase {
                RunPhase::Started => RunPhase::WindowBegan,
                _ => RunPhase::WindowEnded,
            };
            self.announce(next, edge);
        }
        for observer in &mut self.observers {
            if observer.next_tick().is_some_and(|at| present >= at) {
                observer.tick(present);
            }
        }
    }
}
