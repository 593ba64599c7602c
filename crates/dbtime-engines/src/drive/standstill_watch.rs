//! Notices that the whole process stood still: it was stopped, frozen or suspended, or had no CPU.
//!
//! Threads that wait for an instant notice by themselves. One that never waits, as a worker that
//! has an embedded database to itself flat out, does not: what it was at then only took longer.

use super::timing::MIN_STANDSTILL;
use dbtime_machine::clock::{now, process_cpu};
use dbtime_model::spans::TimeSpan;
use dbtime_model::{MonoNanos, Nanos};

/// Of a thread that looks at the clock at short intervals.
pub(super) struct StandstillWatch {
    looked: MonoNanos,
    cpu: Nanos,
    found: Vec<TimeSpan>,
}

impl StandstillWatch {
    pub(super) fn new() -> Self {
        Self { looked: now(), cpu: process_cpu(), found: Vec::new() }
    }

    /// The thread looks.
    pub(super) fn look(&mut self) {
        self.look_at(now(), process_cpu());
    }

    /// The times in which the process stood still.
    pub(super) fn into_found(self) -> Vec<TimeSpan> {
        self.found
    }

    /// It looks again, when the process has used so much CPU in all. Where its threads have used
    /// half of that time or more, this one alone had to wait.
    fn look_at(&mut self, present: MonoNanos, cpu: Nanos) {
        let (away, used) = (present - self.looked, cpu - self.cpu);
        if away >= MIN_STANDSTILL && used.0 < away.0 / 2 {
            self.found.push(TimeSpan { from: self.looked, until: present });
        }
        (self.looked, self.cpu) = (present, cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_stands_still_uses_no_cpu_and_looks_late() {
        let at = |ms: u64| MonoNanos(ms * 1_000_000);
        let mut state = StandstillWatch { looked: at(1000), cpu: Nanos(0), found: Vec::new() };
        let mut cpu_ms = 0;
        for (ms, used_ms) in [(1020, 40), (1040, 0), (1500, 460), (2700, 40), (2720, 40)] {
            cpu_ms += used_ms;
            state.look_at(at(ms), Nanos::from_millis(cpu_ms));
        }
        assert_eq!(state.found, [TimeSpan { from: at(1500), until: at(2700) }]);
    }
}
