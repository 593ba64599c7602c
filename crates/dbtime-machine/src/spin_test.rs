//! What spinning threads do not get: time that the hypervisor, the firmware or other processes
//! take, and a clock that differs from CPU to CPU.

use crate::clock::now;
use crate::{CpuList, PinnedThread};
use dbtime_model::Nanos;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// A shorter time between two readings of the clock is an interrupt's.
const SHORTEST_GAP: Nanos = Nanos::from_micros(50);

/// More CPUs are not tested: the test would be a load of its own.
const MOST_CPUS: usize = 64;

/// What the CPUs of this process lost while each had a thread that did nothing but read the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpinTest {
    /// How many CPUs were tested.
    pub cpus: u32,
    /// How long each thread spun, all together.
    pub spun: Nanos,
    /// How much of that lies in gaps of more than 50 µs.
    pub lost: Nanos,
    /// The longest gap.
    pub longest: Nanos,
    /// How often a CPU read an instant before one that another had read already.
    pub steps_back: u64,
}

impl SpinTest {
    /// Spins on each CPU of this process, at most 64 of them, side by side for so long. Blocks.
    ///
    /// Errors: a thread cannot be started, or may not be kept to its CPU.
    pub fn run(length: Nanos) -> io::Result<Self> {
        let usable = sched_getaffinity(None)?;
        let all = (0..CpuSet::MAX_CPU).filter(|cpu| usable.is_set(*cpu));
        let cpus: Vec<usize> = all.take(MOST_CPUS).collect();
        let last = &AtomicU64::new(0);
        let of_cpus = std::thread::scope(|scope| {
            let start = |cpu: &usize| {
                let cpu = *cpu;
                let named = std::thread::Builder::new().name("spin test".to_owned());
                named.spawn_scoped(scope, move || Self::on_cpu(cpu, length, last))
            };
            let begun = cpus.iter().map(start).collect::<io::Result<Vec<_>>>()?;
            let end = |thread: std::thread::ScopedJoinHandle<'_, io::Result<Self>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            begun.into_iter().map(end).collect::<io::Result<Vec<Self>>>()
        })?;
        Ok(of_cpus.into_iter().fold(Self::default(), Self::and))
    }

    /// Spins on one CPU; `last` is the latest instant that any CPU has read.
    fn on_cpu(cpu: usize, length: Nanos, last: &AtomicU64) -> io::Result<Self> {
        let only: CpuList = cpu.to_string().parse().map_err(io::Error::other)?;
        let _pinned = PinnedThread::new(&only)?;
        let begun = now();
        let (mut before, mut test) = (begun, Self { cpus: 1, ..Self::default() });
        while before - begun < length {
            let latest = last.load(Ordering::Acquire);
            let present = now();
            test.steps_back += u64::from(present.0 < latest);
            last.fetch_max(present.0, Ordering::AcqRel);
            test.add_gap(present - before);
            before = before.max(present);
        }
        test.spun = before - begun;
        Ok(test)
    }

    fn add_gap(&mut self, gap: Nanos) {
        if gap > SHORTEST_GAP {
            self.lost += gap;
            self.longest = self.longest.max(gap);
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            cpus: self.cpus + other.cpus,
            spun: self.spun + other.spun,
            lost: self.lost + other.lost,
            longest: self.longest.max(other.longest),
            steps_back: self.steps_back + other.steps_back,
        }
    }

    /// How much is lost of a second. Unit: milliseconds.
    pub fn lost_ms_per_s(&self) -> f64 {
        1e3 * self.lost.as_secs() / self.spun.as_secs().max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_is_longer_than_an_interrupt() {
        let mut test = SpinTest { spun: Nanos::from_secs(1), ..SpinTest::default() };
        test.add_gap(Nanos::from_micros(50));
        assert_eq!((test.lost, test.longest), (Nanos::ZERO, Nanos::ZERO));
        test.add_gap(Nanos::from_millis(3));
        test.add_gap(Nanos::from_millis(1));
        assert_eq!((test.lost, test.longest), (Nanos::from_millis(4), Nanos::from_millis(3)));
        assert!((test.lost_ms_per_s() - 4.0).abs() < 1e-9, "{test:?}");
        assert_eq!(SpinTest::default().lost_ms_per_s(), 0.0);
    }

    #[test]
    fn every_cpu_is_tested_and_the_clock_steps_nowhere() {
        let test = SpinTest::run(Nanos::from_millis(5)).expect("the CPUs are ours");
        assert!(test.cpus > 0 && test.steps_back == 0, "{test:?}");
        assert!(test.spun >= Nanos::from_millis(5) && test.lost <= test.spun, "{test:?}");
    }
}
