//! The time a thread was off the CPU, exactly, at a cost of nanoseconds while it keeps it.
//!
//! Only a thread that was switched out asks the kernel what became of it. Between two accounts its
//! wall time is CPU time, time it waited for a CPU (run delay), and the rest, which it spent
//! blocked. A thread that keeps the CPU asks nothing, so that measuring attracts no pre-emption: a
//! reading of the CPU clock is where the kernel notices that a time slice is used up.

use crate::clock;
use crate::schedstat::Schedstat;
use crate::switch_flag::SwitchFlag;
use dbtime_model::{MonoNanos, Nanos};
use std::cell::Cell;

/// An account is taken again where the thread loses the CPU in the middle of it, at most so often.
const MAX_TRIES: u32 = 8;

/// Accounts of the thread that made it.
#[derive(Debug)]
pub struct SwitchClock {
    flag: SwitchFlag,
    schedstat: Schedstat,
    wall: Cell<u64>,
    cpu: Cell<u64>,
    runq: Cell<u64>,
    /// Time off the CPU since the last account that was booked without one.
    booked: Cell<u64>,
}

/// What was added to a thread's accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffCpuTime {
    /// The instant up to which they go.
    pub until: MonoNanos,
    /// Runnable, but something else had the CPU.
    pub runq: Nanos,
    /// Neither that nor on a CPU: blocked, stopped or throttled. What interrupts and a hypervisor
    /// took since the last account is in it too, for the CPU clock leaves it out.
    pub blocked: Nanos,
}

impl SwitchClock {
    /// Of the calling thread; `None` where switches or run delay cannot be seen.
    pub fn new() -> Option<Self> {
        let clock = Self {
            schedstat: Schedstat::open()?,
            flag: SwitchFlag::new()?,
            wall: Cell::default(),
            cpu: Cell::default(),
            runq: Cell::default(),
            booked: Cell::default(),
        };
        clock.account();
        Some(clock)
    }

    /// Whether switches can be seen on this machine.
    pub fn is_available() -> bool {
        Self::new().is_some()
    }

    /// Whether the thread was switched out since the last account. Cost: a load.
    #[inline]
    pub fn lost_cpu(&self) -> bool {
        self.flag.is_cleared()
    }

    /// The thread lost the CPU in a short wait, all of which was booked: the next account leaves it
    /// out. Cost: a store.
    #[inline]
    pub fn was_booked(&self, wait: Nanos) {
        self.booked.set(self.booked.get() + wait.0);
        self.flag.raise();
    }

    /// Brings the accounts up to date and says what was added. Cost: about 2 µs.
    ///
    /// All clocks are read within one stretch on the CPU: the flag is raised before and must still
    /// be up behind them.
    #[cold]
    pub fn account(&self) -> OffCpuTime {
        let (mut wall, mut cpu, mut runq) = (0, 0, 0);
        for _ in 0..MAX_TRIES {
            self.flag.raise();
            runq = self.schedstat.run_delay().unwrap_or(self.runq.get());
            cpu = clock::thread_cpu().0;
            wall = clock::now().0;
            if !self.flag.is_cleared() {
                break;
            }
        }
        let since = |last: &Cell<u64>, value: u64| value.saturating_sub(last.replace(value));
        let passed = since(&self.wall, wall);
        let on_cpu = since(&self.cpu, cpu);
        let waited = since(&self.runq, runq).min(passed);
        let blocked = passed.saturating_sub(on_cpu).saturating_sub(waited);
        // A short wait was blocked nearly all of its time, and waited for a CPU for the rest.
        let booked = self.booked.take();
        let runq = Nanos(waited.saturating_sub(booked.saturating_sub(blocked)));
        OffCpuTime { until: MonoNanos(wall), runq, blocked: Nanos(blocked.saturating_sub(booked)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::now;

    #[test]
    fn a_sleep_is_blocked_and_work_is_neither() {
        let Some(clock) = SwitchClock::new() else { return };
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(clock.lost_cpu());
        let slept = clock.account();
        assert!(slept.blocked + slept.runq >= Nanos::from_millis(20), "{slept:?}");
        // What a hypervisor takes away is taken for blocked: the try with least of it counts.
        let work = || {
            clock.account();
            let begun = now();
            while now() - begun < Nanos::from_millis(5) {}
            clock.account().blocked
        };
        let least = (0..20).map(|_| work()).min();
        assert!(least < Some(Nanos::from_millis(1)), "{least:?}");
    }

    #[test]
    fn what_was_booked_is_not_accounted_for_again() {
        let Some(clock) = SwitchClock::new() else { return };
        let before = now();
        clock.account();
        let begun = now();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let booked = now() - begun;
        clock.was_booked(booked);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let slept = clock.account();
        let off = slept.blocked + slept.runq;
        // The second sleep alone, and how much later than wanted everything came.
        let most = slept.until - before - booked;
        assert!(off >= Nanos::from_millis(19) && off <= most, "{slept:?}, {most}");
        assert_eq!(clock.booked.get(), 0);
    }

    #[test]
    fn the_run_delay_lies_where_the_cpu_was_lost() {
        let Some(clock) = SwitchClock::new() else { return };
        let schedstat = Schedstat::open().expect("the clock has one");
        clock.account();
        let before = schedstat.run_delay().expect("readable");
        let (mut flagged, begun) = (0, now());
        while now() - begun < Nanos::from_millis(300) {
            std::thread::yield_now();
            if clock.lost_cpu() {
                flagged += clock.account().runq.0;
            }
        }
        // On both sides of the last account, for a switch may come in between.
        let least = schedstat.run_delay().expect("readable") - before;
        flagged += clock.account().runq.0;
        let most = schedstat.run_delay().expect("readable") - before;
        assert!(flagged <= most + 1000, "{flagged} of {most}");
        assert!(least - flagged.min(least) < 50_000_000, "{flagged} of {least}");
    }
}
