//! What a shard has used over the measured window, and what a transaction takes of its thread.

use super::{LinkUse, Reactor};
use crate::drive::plan::LinkShare;
use dbtime_model::recorder::Window;
use dbtime_model::{MonoNanos, Nanos};

/// What a shard's thread has used, noted when the window's edges are passed.
pub(super) struct ShardUsage {
    /// Time it waited for answers or due instants.
    pub(super) waited: Nanos,
    /// The next edge of the window.
    edge: MonoNanos,
    end: MonoNanos,
    passed: Vec<ShardUsed>,
}

/// What a shard has used up to some moment.
#[derive(Clone, Copy)]
struct ShardUsed {
    at: MonoNanos,
    waited: Nanos,
    cpu: Nanos,
    runq: Option<Nanos>,
    link: Option<LinkUse>,
}

/// What a shard has used between two moments.
pub(super) struct ShardUsageDelta {
    pub(super) cpu: Nanos,
    /// Time its thread was ready and did not run; `None` where the kernel does not tell.
    pub(super) runq: Option<Nanos>,
    /// Time it did not wait.
    pub(super) driver: Nanos,
    /// How busy the simulated link was; `None`: there is none, or no time passed.
    pub(super) link: Option<LinkShare>,
}

impl ShardUsage {
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

    fn used(&self, reactor: &impl Reactor) -> ShardUsed {
        let (cpu, runq) = reactor.thread_use();
        ShardUsed { at: reactor.now(), waited: self.waited, cpu, runq, link: reactor.link_use() }
    }

    /// What was used over the window, which ends now if its end was not passed. A shard that
    /// started nothing in it has used nothing.
    pub(super) fn finish(mut self, reactor: &impl Reactor) -> ShardUsageDelta {
        self.passed.push(self.used(reactor));
        let from = self.passed[0];
        let to = self.passed.get(1).copied().unwrap_or(from);
        ShardUsageDelta {
            cpu: to.cpu - from.cpu,
            runq: to.runq.zip(from.runq).map(|(after, before)| after - before),
            driver: (to.at - from.at) - (to.waited - from.waited),
            link: link_share(&from, &to),
        }
    }
}

/// How busy the link was between two moments.
fn link_share(from: &ShardUsed, to: &ShardUsed) -> Option<LinkShare> {
    let (before, after) = from.link.zip(to.link)?;
    let length = to.at - from.at;
    let share = |busy: Nanos| (busy.as_secs() / length.as_secs()).min(1.0);
    (length > Nanos::ZERO).then(|| LinkShare {
        requests: share(after.requests - before.requests),
        answers: share(after.answers - before.answers),
    })
}

/// What a transaction takes of the shard's thread, as far as it has its CPU.
#[derive(Default)]
pub(super) struct WorkPace {
    work_ns: f64,
    /// Transactions that have ended since the last wait.
    pub(super) ended: u32,
}

/// A transaction does not take a thread longer: it had no CPU.
const MAX_WORK_NS: f64 = 100e3;

impl WorkPace {
    /// The shard has worked for so long since its last wait.
    #[inline]
    pub(super) fn worked(&mut self, length: Nanos) {
        let each = length.0 as f64 / f64::from(self.ended.max(1));
        if self.ended > 0 && each < MAX_WORK_NS {
            self.work_ns += (each - self.work_ns) / 16.0;
        }
        self.ended = 0;
    }

    /// What the thread has to do between two transactions of a connection, with so many busy ones.
    #[inline]
    pub(super) fn own_work(&self, busy: usize) -> Nanos {
        Nanos((self.work_ns * busy as f64) as u64)
    }
}
