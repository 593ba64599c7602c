//! What a shard has used over the measured window.

use super::Reactor;
use dbtime_model::recorder::Window;
use dbtime_model::{MonoNanos, Nanos};

/// What a shard's thread has used, noted when the window's edges are passed.
pub(super) struct Usage {
    /// Time it waited for answers or due instants.
    pub(super) waited: Nanos,
    /// The next edge of the window.
    edge: MonoNanos,
    end: MonoNanos,
    passed: Vec<Used>,
}

/// What a shard has used up to some moment.
#[derive(Clone, Copy)]
struct Used {
    at: MonoNanos,
    waited: Nanos,
    cpu: Nanos,
    runq: Option<Nanos>,
}

/// What a shard has used between two moments.
pub(super) struct Spent {
    pub(super) cpu: Nanos,
    /// Time its thread was ready and did not run; `None` where the kernel does not tell.
    pub(super) runq: Option<Nanos>,
    /// Time it did not wait.
    pub(super) driver: Nanos,
}

impl Usage {
    pub(super) fn over(window: Window) -> Self {
        Self {
            waited: Nanos::ZERO,
            edge: window.start,
            end: window.end,
            passed: Vec::with_capacity(3),
        }
    }

    /// A transaction due at that instant is about to start: the first one of the window, and the
    /// first one behind it, pass an edge.
    #[inline]
    pub(super) fn starting(&mut self, due: MonoNanos, reactor: &impl Reactor) {
        if due >= self.edge {
            self.pass(due, reactor);
        }
    }

    #[cold]
    fn pass(&mut self, due: MonoNanos, reactor: &impl Reactor) {
        let used = self.used(reactor);
        if self.passed.is_empty() {
            self.passed.push(used);
            self.edge = self.end;
        }
        if due >= self.end && self.passed.len() == 1 {
            self.passed.push(used);
            self.edge = MonoNanos(u64::MAX);
        }
    }

    fn used(&self, reactor: &impl Reactor) -> Used {
        let (cpu, runq) = reactor.thread_use();
        Used { at: reactor.now(), waited: self.waited, cpu, runq }
    }

    /// What was used over the window, which ends now if its end was not passed. A shard that
    /// started nothing in it has used nothing.
    pub(super) fn spent(mut self, reactor: &impl Reactor) -> Spent {
        self.passed.push(self.used(reactor));
        let from = self.passed[0];
        let to = self.passed.get(1).copied().unwrap_or(from);
        Spent {
            cpu: to.cpu - from.cpu,
            runq: to.runq.zip(from.runq).map(|(after, before)| after - before),
            driver: (to.at - from.at) - (to.waited - from.waited),
        }
    }
}
