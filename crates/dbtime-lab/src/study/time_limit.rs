//! A limit on the time of a study: what goes on beyond it is ended.

use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::now;
use dbtime_model::MonoNanos;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What goes on is ended so much later, a share of the limit.
const END_SHARE: f64 = 0.08;

/// How long a study may take, from an instant on.
#[derive(Clone, Copy, Debug)]
pub struct StudyTime {
    clock: fn() -> MonoNanos,
    begun: MonoNanos,
    limit_s: f64,
}

impl StudyTime {
    /// So many seconds from now on.
    pub fn from_now(limit_s: f64) -> Self {
        Self::by(now, limit_s)
    }

    /// The same by this clock.
    pub(super) fn by(clock: fn() -> MonoNanos, limit_s: f64) -> Self {
        Self { clock, begun: clock(), limit_s }
    }

    /// How much is left; zero behind the limit. Unit: seconds.
    pub fn left_s(&self) -> f64 {
        (self.limit_s - self.spent_s()).max(0.0)
    }

    /// Whether what goes on is ended for it.
    pub fn is_over(&self) -> bool {
        self.spent_s() >= self.end_s()
    }

    /// Does some work, and has `stop` end it where it goes on well beyond the limit.
    pub fn within<T>(&self, stop: &RunStop, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let left = Duration::from_secs_f64((self.end_s() - self.spent_s()).max(0.0));
            scope.spawn(move || {
                if is_done.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                    stop.at(now());
                }
            });
            let worked = work();
            drop(done);
            worked
        })
    }

    /// All of it. Unit: seconds.
    pub(super) fn limit_s(&self) -> f64 {
        self.limit_s
    }

    /// How much is gone. Unit: seconds.
    pub(super) fn spent_s(&self) -> f64 {
        ((self.clock)() - self.begun).as_secs()
    }

    /// After how long what goes on is ended. Unit: seconds.
    pub(super) fn end_s(&self) -> f64 {
        self.limit_s * (1.0 + END_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_goes_on_beyond_the_limit_is_told_to_end() {
        let stop = RunStop::default();
        let time = StudyTime::from_now(0.02);
        let work = || {
            while !stop.is_set() {
                std::thread::sleep(Duration::from_millis(1));
            }
            7
        };
        assert_eq!(time.within(&stop, work), 7);
        assert!(time.is_over() && time.left_s() == 0.0);
        let (stop, time) = (RunStop::default(), StudyTime::from_now(3600.0));
        assert!(!time.within(&stop, || stop.is_set()) && !time.is_over());
    }
}
