//! Logins before a load that wait, as behind a pooler without a place for them. The count of those
//! that are in says why a run has not begun.

use crate::progress::RunProgress;
use dbtime_engines::drive::observer::{LoadObserver, LoadSink};
use dbtime_machine::now;
use dbtime_model::{LoginCount, MonoNanos, Nanos, RunPhase};
use std::sync::{Mutex, PoisonError};

/// Logins that take no longer are no news.
const PATIENCE: Nanos = Nanos::from_secs(2);

/// How often their count is passed on from then on.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// A load's observer, and beside it the progress of its logins. That goes past the observers'
/// thread, which may itself wait for a login.
pub(crate) struct LoginWatch<'a> {
    observer: &'a dyn LoadObserver,
    progress: &'a (dyn Fn(RunProgress) + Sync),
    news: Mutex<LoginNews>,
}

/// What has been passed on.
struct LoginNews {
    next_at: MonoNanos,
    /// Whether logins were said to wait.
    is_waiting: bool,
}

impl<'a> LoginWatch<'a> {
    /// Of a load that begins to connect now.
    pub(crate) fn new(
        observer: &'a dyn LoadObserver,
        progress: &'a (dyn Fn(RunProgress) + Sync),
    ) -> Self {
        let news = LoginNews { next_at: now() + PATIENCE, is_waiting: false };
        Self { observer, progress, news: Mutex::new(news) }
    }
}

impl LoginNews {
    /// Whether a count is to be passed on: from time to time while logins wait, and where none does
    /// any more.
    fn is_due(&mut self, count: LoginCount, present: MonoNanos) -> bool {
        let is_waiting = count.waiting() > 0;
        let is_due = if is_waiting { present >= self.next_at } else { self.is_waiting };
        if is_due {
            (self.next_at, self.is_waiting) = (present + INTERVAL, is_waiting);
        }
        is_due
    }
}

impl LoadObserver for LoginWatch<'_> {
    fn sink(&self, thread: u32) -> Box<dyn LoadSink> {
        self.observer.sink(thread)
    }

    fn reached(&self, phase: RunPhase, at: MonoNanos) {
        self.observer.reached(phase, at);
    }

    fn connecting(&self, count: LoginCount) {
        self.observer.connecting(count);
        let is_due = self.news.lock().unwrap_or_else(PoisonError::into_inner).is_due(count, now());
        if is_due {
            (self.progress)(RunProgress::Connecting(count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_that_wait_are_told_after_a_while_and_when_they_are_over() {
        let at = |ms: u64| MonoNanos(ms * 1_000_000);
        let mut news = LoginNews { next_at: at(2_000), is_waiting: false };
        let waits = LoginCount { up: 3, refused: 1, all: 8 };
        let over = LoginCount { up: 7, ..waits };
        let steps = [
            (waits, 250, false),
            (waits, 1_999, false),
            (waits, 2_010, true),
            (waits, 2_260, false),
            (waits, 3_010, true),
            (over, 3_020, true),
            (over, 5_000, false),
        ];
        for (count, ms, is_due) in steps {
            assert_eq!(news.is_due(count, at(ms)), is_due, "{ms} ms");
        }
        let mut quick = LoginNews { next_at: at(2_000), is_waiting: false };
        assert!(!quick.is_due(over, at(9_000)), "there is nothing to take back");
    }
}
