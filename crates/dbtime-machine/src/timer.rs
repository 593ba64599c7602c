//! A timer that expires again and again, as a file that becomes readable.
//!
//! One timer for all waits is cheaper than a time-out for each.

use crate::clock::timespec;
use dbtime_model::Nanos;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// A running timer. Its file is readable from an expiration on until that is taken.
#[derive(Debug)]
pub struct PeriodicTimer(OwnedFd);

impl PeriodicTimer {
    /// A timer with a period of `every`, which must not be zero.
    ///
    /// Errors: those of timerfd_create(2) and timerfd_settime(2).
    pub fn new(every: Nanos) -> Result<Self, Errno> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let every = Itimerspec { it_interval: timespec(every), it_value: timespec(every) };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &every)?;
        Ok(Self(timer))
    }

    /// Takes the expirations since it was last called. Returns whether there were any.
    pub fn take(&self) -> bool {
        // Without one the file is not readable.
        rustix::io::read(&self.0, &mut [0; 8]).is_ok()
    }
}

impl AsFd for PeriodicTimer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::now;
    use crate::wait::sleep_until;

    #[test]
    fn expirations_are_taken_once() {
        let begun = now();
        let timer = PeriodicTimer::new(Nanos::from_secs(1)).expect("a timer");
        assert!(!timer.take() || now() - begun >= Nanos::from_secs(1));
        // Between two takings the next one may come, but not each time.
        let timer = PeriodicTimer::new(Nanos::from_millis(100)).expect("a timer");
        let is_taken_once = |_| {
            sleep_until(now() + Nanos::from_millis(101));
            assert!(timer.take());
            !timer.take()
        };
        assert!((0..10).any(is_taken_once));
    }
}
