//! Waiting for an instant, precisely: sleep most of it, spin the rest.
//!
//! The default timer slack of 50 µs makes every sleep late by about as much; with a slack of 1 ns
//! a sleeper wakes 3–6 µs late in the median, 15–60 µs at the 99th percentile (prctl(2),
//! PR_SET_TIMERSLACK).

use dbtime_model::{MonoNanos, Nanos, now};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// How long before an instant a precise waiter stops sleeping and spins. Below the 99th percentile
/// of wake-ups here, a longer one only burns CPU.
const SPIN: Nanos = Nanos::from_micros(30);

/// Longest uninterrupted sleep, so that an early end of the run is noticed.
const NAP: Nanos = Nanos::from_millis(50);

/// Asks the kernel for precise timers on this thread.
pub fn precise_timers() {
    // Failure leaves the default slack: the timer self-test shows it.
    if let Some(slack) = std::num::NonZeroU64::new(1) {
        let _ = rustix::thread::set_current_timer_slack(Some(slack));
    }
}

/// Sleeps until about `at`, or a little longer.
pub fn sleep_until(at: MonoNanos) {
    let time = Timespec {
        tv_sec: (at.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (at.0 % 1_000_000_000).cast_signed(),
    };
    // An interrupted sleep is repeated by whoever looks at the clock next.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &time);
}

/// Waits until `at`, or until `stopped` says so; looks at `stopped` at least every 50 ms.
/// Returns the instant it came back.
pub fn wait_until(at: MonoNanos, spin: bool, stopped: impl Fn(MonoNanos) -> bool) -> MonoNanos {
    let margin = if spin { SPIN } else { Nanos::ZERO };
    loop {
        let present = now();
        if present >= at || stopped(present) {
            return present;
        }
        let left = at - present;
        if left > margin {
            sleep_until((present + (left - margin)).min(present + NAP));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// How late this machine wakes a sleeper: medians and tails of a short self-test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimerTest {
    /// Median lateness.
    pub late_p50: Nanos,
    /// 99th percentile.
    pub late_p99: Nanos,
    /// Cost of one clock read, in nanoseconds.
    pub clock_read_ns: f64,
}

/// Measures wake-ups and the clock on the calling thread. Takes about 50 ms.
pub fn test_timers() -> TimerTest {
    precise_timers();
    let mut late: Vec<Nanos> = (0..200)
        .map(|_| {
            let at = now() + Nanos::from_micros(200);
            sleep_until(at);
            now() - at
        })
        .collect();
    late.sort_unstable();
    const READS: u32 = 20_000;
    let begun = now();
    (0..READS).for_each(|_| {
        std::hint::black_box(now());
    });
    let clock_read_ns = (now() - begun).0 as f64 / f64::from(READS);
    TimerTest { late_p50: late[100], late_p99: late[198], clock_read_ns }
}
