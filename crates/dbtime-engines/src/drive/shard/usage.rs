//! What a shard has used over the measured window, when its thread stood still at work, and what a
//! transaction takes of it.

use super::{LinkUse, Reactor};
use crate::drive::plan::LinkShare;
use crate::drive::timing::MIN_STANDSTILL;
use dbtime_model::recorder::Window;
use dbtime_model::{MonoNanos, Nanos, TimeSpan};

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

/// How often the CPU time is read that a long stretch of work is held against.
const CPU_READ_INTERVAL: Nanos = Nanos::from_millis(10);

/// Finds stretches of work in which the shard's thread did not run: stopped, or without a CPU.
#[derive(Default)]
pub(super) struct WorkWatch {
    /// When a stretch of work began.
    woken_at: MonoNanos,
    /// The CPU time that the thread had used by then, or by up to [`CPU_READ_INTERVAL`] before.
    cpu: Nanos,
    read_at: MonoNanos,
}

impl WorkWatch {
    /// A stretch of work begins; `cpu` reads the thread's CPU time.
    #[inline]
    pub(super) fn begin(&mut self, present: MonoNanos, cpu: impl Fn() -> Nanos) {
        self.woken_at = present;
        if present - self.read_at >= CPU_READ_INTERVAL {
            (self.cpu, self.read_at) = (cpu(), present);
        }
    }

    /// It has ended: when the thread stood still in it, if for most of it and as long as is noted.
    #[inline]
    pub(super) fn end(&self, present: MonoNanos, cpu: impl Fn() -> Nanos) -> Option<TimeSpan> {
        let took = present - self.woken_at;
        (took >= MIN_STANDSTILL).then(|| self.standstill(present, cpu())).flatten()
    }

    #[cold]
    fn standstill(&self, present: MonoNanos, cpu: Nanos) -> Option<TimeSpan> {
        let took = present - self.woken_at;
        let away = took - (cpu - self.cpu);
        let is_noted = away >= MIN_STANDSTILL && away.0 >= took.0 / 2;
        is_noted.then_some(TimeSpan { from: present - away, until: present })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is noted of a stretch of work of so many milliseconds that used so much CPU time.
    fn noted(work_ms: u64, cpu_ms: u64) -> Option<TimeSpan> {
        let begun = MonoNanos(1_000_000_000);
        let mut watch = WorkWatch::default();
        watch.begin(begun, || Nanos::from_millis(7));
        watch.end(begun + Nanos::from_millis(work_ms), || Nanos::from_millis(7 + cpu_ms))
    }

    #[test]
    fn a_thread_that_works_does_not_stand_still() {
        assert_eq!(noted(90, 0), None, "too short");
        assert_eq!(noted(500, 480), None, "a script that computes");
        assert_eq!(noted(3_000, 2_800), None, "some of a long stretch");
        let until = MonoNanos(1_310_000_000);
        let from = until - Nanos::from_millis(300);
        assert_eq!(noted(310, 10), Some(TimeSpan { from, until }));
    }
}
