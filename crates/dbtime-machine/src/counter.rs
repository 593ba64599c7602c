//! The CPU's time stamp counter: for durations, at half the price of a clock reading.
//!
//! It knows no instants. Whatever is to lie on one line with other instants is read from
//! [`clock`](crate::clock).

use dbtime_model::Nanos;

/// The counter, and how fast it counts. Where it is not steady, a clock stands in for it.
#[derive(Clone, Debug, Default)]
pub struct TimeStampCounter(quanta::Clock);

impl TimeStampCounter {
    /// The counter of this machine. The first one of a process takes up to 200 ms: the counter is
    /// compared with a clock.
    pub fn new() -> Self {
        Self(quanta::Clock::new())
    }

    /// What it stands at. Unit: its own.
    #[inline]
    pub fn read(&self) -> u64 {
        self.0.raw()
    }

    /// The time between two readings; zero if they are the wrong way round.
    #[inline]
    pub fn between(&self, start: u64, end: u64) -> Nanos {
        Nanos(self.0.delta_as_nanos(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::now;
    use crate::wait::sleep_until;

    #[test]
    fn a_sleep_is_as_long_as_on_the_clock() {
        let counter = TimeStampCounter::new();
        let (before, start, begun) = (now(), counter.read(), now());
        sleep_until(begun + Nanos::from_millis(50));
        let (ended, end, after) = (now(), counter.read(), now());
        // The clock is read around the counter, and the two run apart by parts in a thousand.
        let (counted, most, least) = (counter.between(start, end), after - before, ended - begun);
        assert!(counted.0 as f64 <= 1.02 * most.0 as f64, "{counted} of {most}");
        assert!(counted.0 as f64 >= 0.98 * least.0 as f64, "{counted} of {least}");
        assert_eq!(counter.between(end, start), Nanos::ZERO);
    }
}
