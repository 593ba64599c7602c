//! The thread clock: a thread's wall time split into on-CPU, waiting for a CPU, and blocked.
//!
//! Spans are contiguous, so that they add up to the wall time they cover:
//!
//! ```text
//!   restart      advance      advance      advance
//!   c w           c w          c w          c w       c: CPU clock read, w: wall clock read
//!     └─── span ────┘└── span ──┘└── span ──┘
//! ```
//!
//! The CPU clock is always read just before the wall clock: the distance between both readings is
//! the same at either end of a span and cancels.

use crate::clock;
use crate::schedstat::Schedstat;
use dbtime_model::{MonoNanos, Nanos};
use std::cell::Cell;
use std::ops::AddAssign;

/// A thread that was switched out shows at least this much between wall and CPU time. Below it the
/// run delay cannot have moved, and reading it (a system call of its own) is spared.
const SWITCHED_OUT_NS: u64 = 1_000;

/// A stretch of one thread's wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSpan {
    /// How long it was.
    pub wall: Nanos,
    /// On a CPU.
    pub cpu: Nanos,
    /// Runnable, but something else had the CPU; zero where the kernel does not tell
    /// ([`ThreadClock::knows_runq`]).
    pub runq: Nanos,
}

impl ThreadSpan {
    /// Neither on a CPU nor waiting for one.
    #[inline]
    pub fn blocked(&self) -> Nanos {
        self.wall - self.cpu - self.runq
    }
}

impl AddAssign for ThreadSpan {
    /// Two spans in a row as one.
    #[inline]
    fn add_assign(&mut self, next: Self) {
        self.wall += next.wall;
        self.cpu += next.cpu;
        self.runq += next.runq;
    }
}

/// Exact figures of a thread since its birth, or the difference of two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// CPU time, user and system together.
    pub cpu: Nanos,
    /// Run delay; `None` where the kernel does not tell.
    pub runq: Option<Nanos>,
}

impl ThreadTotals {
    /// What was added since an earlier reading of the same thread.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let runq = self.runq.zip(earlier.runq).map(|(now, then)| now - then);
        Self { cpu: self.cpu - earlier.cpu, runq }
    }
}

/// Splits the time of the thread that made it. Not `Send`: the clocks are those of the thread.
#[derive(Debug)]
pub struct ThreadClock {
    wall: Cell<u64>,
    cpu: Cell<u64>,
    runq: Cell<u64>,
    /// `None` without CONFIG_SCHED_INFO or `/proc`.
    schedstat: Option<Schedstat>,
    not_send: std::marker::PhantomData<*const ()>,
}

impl ThreadClock {
    /// The clock of the calling thread, restarted.
    pub fn new() -> Self {
        let clock = Self {
            wall: Cell::new(0),
            cpu: Cell::new(0),
            runq: Cell::new(0),
            schedstat: Schedstat::open(),
            not_send: std::marker::PhantomData,
        };
        clock.restart();
        clock
    }

    /// Whether the kernel tells how long the thread waited for a CPU.
    pub fn knows_runq(&self) -> bool {
        self.schedstat.is_some()
    }

    /// Starts a new row of spans, and returns the instant they start at. Cost: about 700 ns.
    #[inline]
    pub fn restart(&self) -> MonoNanos {
        self.runq.set(self.read_runq().unwrap_or(0));
        self.cpu.set(clock::thread_cpu().0);
        self.wall.set(clock::now().0);
        self.last()
    }

    /// The instant the last span ended.
    #[inline]
    pub fn last(&self) -> MonoNanos {
        MonoNanos(self.wall.get())
    }

    /// Ends a span and starts the next. Cost: [`ThreadClock::probe_cost`], on a CPU, and part of
    /// the span that starts.
    #[inline]
    pub fn advance(&self) -> ThreadSpan {
        let cpu = clock::thread_cpu().0;
        let wall = clock::now().0;
        let mut span = ThreadSpan {
            wall: Nanos(wall.saturating_sub(self.wall.replace(wall))),
            cpu: Nanos(cpu.saturating_sub(self.cpu.replace(cpu))),
            runq: Nanos::ZERO,
        };
        let gap = span.wall - span.cpu;
        if gap.0 > SWITCHED_OUT_NS {
            span.runq = self.runq_moved().min(gap);
        }
        span
    }

    #[cold]
    fn runq_moved(&self) -> Nanos {
        let Some(runq) = self.read_runq() else { return Nanos::ZERO };
        Nanos(runq.saturating_sub(self.runq.replace(runq)))
    }

    fn read_runq(&self) -> Option<u64> {
        self.schedstat.as_ref()?.run_delay()
    }

    /// CPU time and run delay of the thread since its birth, exact, without touching the spans.
    pub fn thread_totals(&self) -> ThreadTotals {
        ThreadTotals { cpu: clock::thread_cpu(), runq: self.read_runq().map(Nanos) }
    }

    /// What one [`ThreadClock::advance`] costs here and now: the median of a few dozen.
    pub fn probe_cost(&self) -> Nanos {
        self.restart();
        let mut walls: Vec<Nanos> = (0..101).map(|_| self.advance().wall).collect();
        walls.sort_unstable();
        walls[walls.len() / 2]
    }
}

impl Default for ThreadClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_cpu_and_sleep_is_blocked() {
        let clock = ThreadClock::new();
        let work = || {
            clock.advance();
            let mut x = 1_u64;
            let start = clock::now();
            while clock::now() - start < Nanos::from_millis(20) {
                x = std::hint::black_box(x.wrapping_mul(3));
            }
            clock.advance()
        };
        let busy = |span: &ThreadSpan| (span.cpu + span.runq).0 as f64 / span.wall.0 as f64;
        // What a hypervisor takes away is neither: the try in which it took least counts.
        let tries: Vec<ThreadSpan> = (0..20).map(|_| work()).collect();
        assert!(tries.iter().any(|span| busy(span) > 0.9), "{tries:?}");
        // What it takes away unseen is on the thread's account.
        let mut naps = (0..20).map(|_| {
            clock.advance();
            std::thread::sleep(std::time::Duration::from_millis(20));
            clock.advance()
        });
        let sleep = naps.find(|span| span.cpu < Nanos::from_millis(1));
        let sleep = sleep.expect("one that takes next to no CPU");
        assert!(sleep.blocked() > Nanos::from_millis(18), "{sleep:?}");
    }

    #[test]
    fn spans_are_contiguous() {
        let clock = ThreadClock::new();
        let start = clock.restart();
        let walls: Nanos = (0..1000).map(|_| clock.advance().wall).sum();
        assert_eq!(clock.last() - start, walls);
    }

    #[test]
    fn totals_only_grow() {
        let clock = ThreadClock::new();
        let before = clock.thread_totals();
        while clock.thread_totals().since(before).cpu < Nanos::from_millis(2) {}
        let after = clock.thread_totals().since(before);
        assert!(after.cpu >= Nanos::from_millis(2));
        assert_eq!(after.runq.is_some(), clock.knows_runq());
    }
}
