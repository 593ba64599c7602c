//! Waiting for an instant, precisely: sleep most of it, spin the rest.
//!
//! The default timer slack of 50 µs makes every sleep late by about as much; with a slack of 1 ns
//! a sleeper wakes 3–6 µs late in the median, 15–60 µs at the 99th percentile (prctl(2),
//! PR_SET_TIMERSLACK). A CPU that has been idle for long takes longer, on a virtual machine 100 µs
//! and more: how long is learnt while waiting.

use crate::clock::{now, timespec};
use dbtime_model::{MonoNanos, Nanos};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::ClockId;

/// Longest uninterrupted sleep, so that an early end of the run is noticed.
const MAX_SLEEP: Nanos = Nanos::from_millis(50);

/// Sets precise timers for this thread: a timer slack of 1 ns.
pub fn precise_timers() {
    // Failure leaves the default slack: the timer self-test shows it.
    if let Some(slack) = std::num::NonZeroU64::new(1) {
        let _ = rustix::thread::set_current_timer_slack(Some(slack));
    }
}

/// Sleeps until about `at`, or a little longer.
pub(crate) fn sleep_until(at: MonoNanos) {
    // An interrupted sleep is repeated by whoever looks at the clock next.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(Nanos(at.0)));
}

/// Sleeps until `at`, or until `stopped` says so; looks at `stopped` at least every 50 ms. Returns
/// the instant it came back.
pub fn wait_until(at: MonoNanos, stopped: impl Fn(MonoNanos) -> bool) -> MonoNanos {
    loop {
        let present = now();
        if present >= at || stopped(present) {
            return present;
        }
        sleep_until(at.min(present + MAX_SLEEP));
    }
}

/// How long before an instant a thread stops sleeping, so that it is not woken late: what wake-ups
/// have taken so far, all but a few.
#[derive(Clone, Copy, Debug)]
pub struct WakeMargin {
    learnt_ns: f64,
    /// How many threads wait like this one.
    threads: u32,
}

impl WakeMargin {
    /// For one of so many threads that share the machine's CPUs.
    pub fn new(threads: u32) -> Self {
        Self { learnt_ns: MARGIN_START_NS, threads: threads.max(1) }
    }

    /// A sleep has ended so late.
    #[inline]
    pub fn learn(&mut self, late: Nanos) {
        // Stochastic approximation of a quantile (Robbins and Monro 1951): steps up and down
        // balance where as many wake-ups as wanted take longer.
        let is_longer = late.0 as f64 > self.learnt_ns;
        let step = if is_longer { 1.0 - LATE_SHARE } else { -LATE_SHARE };
        self.learnt_ns =
            (self.learnt_ns + step * MARGIN_STEP_NS).clamp(MARGIN_MIN_NS, MARGIN_MAX_NS);
    }

    /// The margin before an instant so far away. All threads together spin for no more than a
    /// quarter of one CPU, but that the least margin is always kept.
    #[inline]
    pub fn before(&self, left: Nanos) -> Nanos {
        let fair = left.0 as f64 / (4.0 * f64::from(self.threads));
        Nanos(self.learnt_ns.min(fair.max(MARGIN_MIN_NS)) as u64)
    }
}

/// The share of wake-ups that may take longer than the margin.
const LATE_SHARE: f64 = 0.02;

/// The margin at first, its steps and its bounds. Unit: nanoseconds. What is beyond the largest is
/// a CPU that something else has, and no spinning helps.
const MARGIN_START_NS: f64 = 60e3;
const MARGIN_STEP_NS: f64 = 40e3;
const MARGIN_MIN_NS: f64 = 20e3;
const MARGIN_MAX_NS: f64 = 400e3;

/// Wakes a thread at an instant: it sleeps most of the way and spins the rest.
#[derive(Clone, Copy, Debug)]
pub struct PreciseWaiter {
    margin: WakeMargin,
}

impl PreciseWaiter {
    /// For one of so many threads.
    pub fn new(threads: u32) -> Self {
        Self { margin: WakeMargin::new(threads) }
    }

    /// Waits until `at`, or until `stopped` says so; looks at `stopped` at least every 50 ms. Spins
    /// only where it `may_spin`, and does before what is to be done `near` the end. Returns the
    /// instant it came back.
    pub fn wait_until(
        &mut self,
        at: MonoNanos,
        may_spin: impl Fn() -> bool,
        near: impl FnOnce(),
        stopped: impl Fn(MonoNanos) -> bool,
    ) -> MonoNanos {
        let begun = now();
        let margin = if may_spin() { self.margin.before(at - begun) } else { Nanos::ZERO };
        let wake_at = at - margin;
        let mut present = begun;
        while present < wake_at && !stopped(present) {
            let until = wake_at.min(present + MAX_SLEEP);
            sleep_until(until);
            present = now();
            self.margin.learn(present - until);
        }
        near();
        loop {
            present = now();
            if present >= at || stopped(present) {
                return present;
            }
            // Whoever must not spin is here only where a sleep was interrupted.
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

/// How many wake-ups a self-test measures at least and at most.
const MIN_WAKE_UPS: usize = 50;
const MAX_WAKE_UPS: usize = 200;

/// Measures wake-ups and the clock on the calling thread: as many as there is time for while
/// `has_time`, within bounds. Takes 13 to 50 ms.
pub fn test_timers(has_time: impl Fn() -> bool) -> TimerTest {
    precise_timers();
    let mut late = Vec::with_capacity(MAX_WAKE_UPS);
    while late.len() < MIN_WAKE_UPS || late.len() < MAX_WAKE_UPS && has_time() {
        let at = now() + Nanos::from_micros(200);
        sleep_until(at);
        late.push(now() - at);
    }
    late.sort_unstable();
    const READS: u32 = 20_000;
    let begun = now();
    (0..READS).for_each(|_| {
        std::hint::black_box(now());
    });
    let clock_read_ns = (now() - begun).0 as f64 / f64::from(READS);
    let count = late.len();
    TimerTest { late_p50: late[count / 2], late_p99: late[count - 1 - count / 100], clock_read_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_covers_all_wake_ups_but_a_few() {
        let mut margin = WakeMargin::new(1);
        // Evenly between 0 and 200 µs, in an order without a pattern.
        for i in 0..20_000_u64 {
            margin.learn(Nanos(i.wrapping_mul(7919) % 200_000));
        }
        let far = margin.before(Nanos::from_secs(1));
        assert!((150_000..=235_000).contains(&far.0), "{far}");
    }

    #[test]
    fn spinning_takes_a_quarter_of_a_cpu_at_most() {
        let mut margin = WakeMargin::new(4);
        (0..1000).for_each(|_| margin.learn(Nanos::from_millis(1)));
        assert_eq!(margin.before(Nanos::from_millis(1)), Nanos(62_500));
        assert_eq!(margin.before(Nanos::from_micros(10)), Nanos(20_000));
        assert_eq!(margin.before(Nanos::from_secs(1)), Nanos(400_000));
    }

    #[test]
    fn a_self_test_takes_no_longer_than_there_is_time_for() {
        let calls = std::cell::Cell::new(0);
        let times = |max: usize| {
            calls.set(0);
            let has_time = || {
                calls.set(calls.get() + 1);
                calls.get() <= max
            };
            let test = test_timers(has_time);
            assert!(test.late_p50 <= test.late_p99 && test.clock_read_ns > 0.0, "{test:?}");
            MIN_WAKE_UPS + calls.get()
        };
        assert_eq!(times(0), MIN_WAKE_UPS + 1, "one call, and no more");
        assert_eq!(times(20), MIN_WAKE_UPS + 21);
        assert_eq!(times(usize::MAX), MAX_WAKE_UPS);
    }

    #[test]
    fn a_waiter_does_not_come_back_early() {
        let mut waiter = PreciseWaiter::new(1);
        for _ in 0..20 {
            let at = now() + Nanos::from_micros(300);
            let mut was_near = false;
            let back = waiter.wait_until(at, || true, || was_near = true, |_| false);
            assert!(back >= at && was_near);
        }
        let never = now() + Nanos::from_secs(3600);
        assert!(waiter.wait_until(never, || true, || {}, |_| true) < never);
    }
}
