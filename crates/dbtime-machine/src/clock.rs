//! The one clock: `CLOCK_MONOTONIC`, in integer nanoseconds.
//!
//! The kernel's `bpf_ktime_get_ns` reads the same clock, so client and kernel instants on one host
//! need no conversion (clock_gettime(2), bpf-helpers(7)).

use dbtime_model::{MonoNanos, Nanos};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The present instant. Cost: one vDSO call, 20–40 ns.
#[inline]
pub fn now() -> MonoNanos {
    MonoNanos(nanos(clock_gettime(ClockId::Monotonic)))
}

/// CPU time this thread has used, user and system together.
///
/// Source: `CLOCK_THREAD_CPUTIME_ID`, a real system call of 130–300 ns.
#[inline]
pub fn thread_cpu() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

/// Time since the machine was booted, times of sleep included.
///
/// Source: `CLOCK_BOOTTIME`; the start of a process is counted on it.
pub fn since_boot() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::Boottime)))
}

/// A length of time as system calls take it.
#[inline]
pub fn timespec(length: Nanos) -> Timespec {
    Timespec {
        tv_sec: (length.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (length.0 % 1_000_000_000).cast_signed(),
    }
}

/// CPU time the whole process has used, all threads, user and system together.
#[inline]
pub fn process_cpu() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::ProcessCPUTime)))
}

#[inline]
fn nanos(time: Timespec) -> u64 {
    // None of the clocks is ever negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_steps_back() {
        let mut last = now();
        for _ in 0..10_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn the_time_since_boot_grows() {
        let (before, begun) = (since_boot(), now());
        while now() - begun < Nanos::from_millis(1) {}
        assert!(since_boot() >= before + Nanos::from_millis(1) && before > Nanos::ZERO);
    }

    #[test]
    fn a_length_is_split_into_seconds_and_nanoseconds() {
        let time = timespec(Nanos(3_000_000_007));
        assert_eq!((time.tv_sec, time.tv_nsec), (3, 7));
        assert_eq!(nanos(time), 3_000_000_007);
    }

    #[test]
    fn thread_cpu_grows_with_work() {
        let before = thread_cpu();
        let mut x = 1u64;
        while thread_cpu() - before < Nanos::from_millis(1) {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(process_cpu() >= thread_cpu() - before);
    }
}
