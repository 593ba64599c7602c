//! Timelines that nobody has drawn.

use super::timeline::{ThreadState, ThreadTimeline};
use proptest::collection::vec;
use proptest::prelude::*;

/// What threads sleep for.
const CAUSES: [char; 7] = ['l', 'r', 'f', 's', 'n', 'z', 'o'];

/// What a timeline is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Its first thread serves a request, and has a CPU at both ends.
    Request,
    /// All threads are alike; they come and go.
    AllThreads,
}

/// Up to four threads on up to two CPUs.
pub(crate) fn timelines(purpose: Purpose) -> impl Strategy<Value = ThreadTimeline> {
    (1..5usize, 1..3u32, vec(any::<u8>(), 8..250)).prop_map(move |(threads, cpus, choices)| {
        let mut maker = TimelineMaker { purpose, cpus, states: vec![], choices, rows: vec![] };
        maker.make(threads);
        ThreadTimeline::new(maker.rows)
    })
}

struct TimelineMaker {
    purpose: Purpose,
    cpus: u32,
    /// Of each thread at present.
    states: Vec<ThreadState>,
    /// What it goes by, last first.
    choices: Vec<u8>,
    rows: Vec<Vec<ThreadState>>,
}

impl TimelineMaker {
    fn make(&mut self, threads: usize) {
        self.rows = vec![Vec::new(); threads];
        let others = match self.purpose {
            Purpose::Request => ThreadState::Woken,
            Purpose::AllThreads => ThreadState::Absent,
        };
        self.states = vec![others; threads];
        self.states[0] = ThreadState::On(0);
        self.note();
        while !self.choices.is_empty() {
            (0..threads).for_each(|thread| self.choose(thread));
            self.note();
        }
        if self.purpose == Purpose::Request {
            self.end();
        }
    }

    fn note(&mut self) {
        self.rows.iter_mut().zip(&self.states).for_each(|(row, state)| row.push(*state));
    }

    /// What a thread is at next.
    fn choose(&mut self, thread: usize) {
        let Some(choice) = self.choices.pop() else { return };
        let next = match self.states[thread] {
            ThreadState::On(_) => self.leave(thread, choice),
            ThreadState::Preempted | ThreadState::Woken | ThreadState::Throttled => {
                self.get_cpu(choice)
            }
            // Who has gone does not come again.
            ThreadState::Absent if self.rows[thread].iter().any(|one| one.cpu().is_some()) => None,
            _ => self.wake(thread, choice),
        };
        if let Some(next) = next {
            self.states[thread] = next;
        }
    }

    fn leave(&self, thread: usize, choice: u8) -> Option<ThreadState> {
        match choice {
            0..100 => None,
            100..150 => Some(ThreadState::Preempted),
            150..160 => Some(self.queued(thread, ThreadState::Preempted)),
            160..170 => Some(ThreadState::Stopped),
            170..180 => Some(ThreadState::Frozen),
            180..190 => Some(ThreadState::Absent).filter(|_| self.purpose == Purpose::AllThreads),
            _ => Some(ThreadState::Asleep(CAUSES[usize::from(choice) % CAUSES.len()])),
        }
    }

    fn get_cpu(&self, choice: u8) -> Option<ThreadState> {
        let is_free = |cpu: &u32| !self.states.contains(&ThreadState::On(*cpu));
        let first = u32::from(choice) % self.cpus;
        let free = (0..self.cpus).map(|cpu| (first + cpu) % self.cpus).find(is_free);
        free.filter(|_| choice < 150).map(ThreadState::On)
    }

    /// Throttled, where that is looked at: of the thread that serves a request.
    fn queued(&self, thread: usize, otherwise: ThreadState) -> ThreadState {
        match (self.purpose, thread) {
            (Purpose::Request, 0) => ThreadState::Throttled,
            _ => otherwise,
        }
    }

    fn wake(&self, thread: usize, choice: u8) -> Option<ThreadState> {
        match choice {
            0..120 => None,
            120..170 => Some(ThreadState::Woken),
            170..180 => Some(self.queued(thread, ThreadState::Woken)),
            _ => self.get_cpu(choice - 120).or(Some(ThreadState::Woken)),
        }
    }

    /// The first thread gets a CPU for the last letter, whoever has it.
    fn end(&mut self) {
        if !matches!(self.states[0], ThreadState::On(_)) {
            for state in self.states.iter_mut().filter(|one| one.cpu().is_some()) {
                *state = ThreadState::Preempted;
            }
            self.states[0] = ThreadState::On(0);
        }
        self.note();
    }
}
