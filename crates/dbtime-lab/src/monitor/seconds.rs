//! The way seconds take from the driving threads to the monitor, and back to be filled again.

use dbtime_engines::plan::SecondSink;
use dbtime_model::series::Second;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

/// The driving threads' end of the way seconds take.
pub(crate) struct Sinks(Mutex<Vec<Option<Box<dyn SecondSink>>>>);

/// The monitor's end of it.
pub(crate) struct Seconds {
    pub(super) from_threads: Receiver<(u32, Box<Second>)>,
    pub(super) back: Vec<SyncSender<Box<Second>>>,
}

/// Both ends, for so many threads.
pub(crate) fn seconds(threads: u32) -> (Sinks, Seconds) {
    let (to_monitor, from_threads) = sync_channel(threads as usize * 4 + 16);
    let (mut sinks, mut backs): (Vec<Option<Box<dyn SecondSink>>>, _) = (Vec::new(), Vec::new());
    for thread in 0..threads {
        let (back, spare) = sync_channel(4);
        for _ in 0..2 {
            back.try_send(Box::new(Second::new(0))).expect("there is room for four");
        }
        backs.push(back);
        sinks.push(Some(Box::new(Sink { thread, to_monitor: to_monitor.clone(), spare })));
    }
    (Sinks(Mutex::new(sinks)), Seconds { from_threads, back: backs })
}

impl Sinks {
    /// The sink of one thread; each can be taken once.
    pub(crate) fn take(&self, thread: u32) -> Box<dyn SecondSink> {
        let mut sinks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sinks[thread as usize].take().expect("a thread takes its sink once")
    }
}

/// A thread's end of it.
struct Sink {
    thread: u32,
    to_monitor: SyncSender<(u32, Box<Second>)>,
    spare: Receiver<Box<Second>>,
}

impl SecondSink for Sink {
    fn swap(&mut self, full: Box<Second>) -> Box<Second> {
        // Only a monitor that has ended does not take it, and then nobody asks.
        let _ = self.to_monitor.send((self.thread, full));
        self.spare.try_recv().unwrap_or_else(|_| Box::new(Second::new(0)))
    }
}
