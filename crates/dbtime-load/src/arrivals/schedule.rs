//! The walk over all due instants of a run.

use super::due::due_s;
use super::{Arrivals, Rate};
use crate::random::{RandomStream, draw, unit};
use dbtime_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One transaction that will be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number in the run.
    pub index: u64,
    /// Its due instant, from the start of the load.
    pub due: Nanos,
}

/// All due instants of a run in ascending order; the same for every walker.
#[derive(Clone, Debug)]
pub struct Schedule {
    rate: Rate,
    arrivals: Arrivals,
    seed: u64,
    length_s: f64,
    end: Nanos,
    count: u64,
    /// The next number to give out.
    index: u64,
    /// Poisson and uniform: where the last arrival stood in units of Λ.
    reached: f64,
    /// Steady arrivals whose jitter exceeds the period overtake each other: they wait here until
    /// nothing earlier can come.
    early: BinaryHeap<Reverse<(Nanos, u64)>>,
}

impl Schedule {
    /// The schedule of a load that lasts `length` (`None`: until `count` are out) and offers at
    /// most `count` transactions.
    pub fn new(
        rate: Rate,
        arrivals: Arrivals,
        seed: u64,
        length: Option<Nanos>,
        count: Option<u64>,
    ) -> Self {
        let count = count.unwrap_or(u64::MAX);
        let end = length.unwrap_or(Nanos(u64::MAX));
        let length_s = match length {
            Some(length) => length.as_secs(),
            // A ramp over a number of transactions lasts as long as its mean rate takes for them.
            None => count as f64 / rate.mean(Nanos::ZERO, Nanos::from_secs(1)),
        };
        let early = BinaryHeap::new();
        Self { rate, arrivals, seed, length_s, end, count, index: 0, reached: 0.0, early }
    }

    /// The next arrival as the process makes it, not yet in order.
    fn make(&mut self) -> Option<Arrival> {
        if self.index >= self.count {
            return None;
        }
        let index = self.index;
        let random = || unit(draw(self.seed, RandomStream::Arrivals, index));
        let x = match self.arrivals {
            Arrivals::Steady { .. } => index as f64,
            Arrivals::Poisson => self.reached - (1.0 - random()).ln(),
            Arrivals::Uniform => self.reached + 2.0 * random(),
            Arrivals::Burst(size) => (index - index % size) as f64,
            Arrivals::AtOnce => 0.0,
        };
        let nominal = due_s(&self.rate, x, self.length_s);
        let due_s = match self.arrivals {
            Arrivals::Steady { jitter } => {
                (nominal + self.jitter_s(jitter, nominal) * (random() - 0.5)).max(0.0)
            }
            _ => nominal,
        };
        let nominal = Nanos::from_secs_f64(nominal);
        if !due_s.is_finite() || nominal >= self.end {
            self.index = self.count;
            return None;
        }
        self.reached = x;
        self.index += 1;
        Some(Arrival { index, due: Nanos::from_secs_f64(due_s) })
    }

    fn jitter_s(&self, jitter: Option<Nanos>, at_s: f64) -> f64 {
        match jitter {
            Some(jitter) => jitter.as_secs(),
            None => 0.1 / self.rate.at(Nanos::from_secs_f64(at_s), self.length_s),
        }
    }

    /// No later arrival can be due before this: the next wanted instant less half the jitter.
    fn horizon(&self) -> Nanos {
        if self.index >= self.count {
            return Nanos(u64::MAX);
        }
        let Arrivals::Steady { jitter } = self.arrivals else { return Nanos::ZERO };
        let nominal = due_s(&self.rate, self.index as f64, self.length_s);
        let half = self.jitter_s(jitter, nominal) / 2.0;
        Nanos::from_secs_f64(nominal - half)
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if !matches!(self.arrivals, Arrivals::Steady { jitter: Some(_) }) {
            // A tenth of the period cannot overtake, the other processes ascend by nature.
            return self.make();
        }
        loop {
            if let Some(&Reverse((due, index))) = self.early.peek()
                && due <= self.horizon()
            {
                self.early.pop();
                return Some(Arrival { index, due });
            }
            match self.make() {
                Some(arrival) => self.early.push(Reverse((arrival.due, arrival.index))),
                None => {
                    let Reverse((due, index)) = self.early.pop()?;
                    return Some(Arrival { index, due });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dues(arrivals: Arrivals, rate: f64, n: u64) -> Vec<f64> {
        let schedule = Schedule::new(Rate::Constant(rate), arrivals, 11, None, Some(n));
        schedule.map(|a| a.due.as_secs()).collect()
    }

    fn gaps(dues: &[f64]) -> Vec<f64> {
        dues.windows(2).map(|w| w[1] - w[0]).collect()
    }

    /// Kolmogorov–Smirnov distance between a sample and a distribution function.
    fn ks(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        let distance = |(i, x): (usize, &f64)| {
            let f = cdf(*x);
            (f - i as f64 / n).abs().max(((i + 1) as f64 / n - f).abs())
        };
        sample.iter().enumerate().map(distance).fold(0.0, f64::max)
    }

    /// The KS distance that 99.9 % of samples of this size stay below (1.949/√n, large n).
    fn ks_limit(n: usize) -> f64 {
        1.949 / (n as f64).sqrt()
    }

    #[test]
    fn poisson_gaps_are_exponential_and_independent() {
        let gaps = gaps(&dues(Arrivals::Poisson, 1000.0, 20_001));
        let n = gaps.len();
        let mean = gaps.iter().sum::<f64>() / n as f64;
        let lag1: f64 =
            gaps.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / n as f64;
        assert!((lag1 / (mean * mean)).abs() < 4.0 / (n as f64).sqrt(), "correlated gaps");
        assert!(ks(gaps, |x| 1.0 - (-x * 1000.0).exp()) < ks_limit(n));
    }

    #[test]
    fn uniform_gaps_are_uniform() {
        let gaps = gaps(&dues(Arrivals::Uniform, 1000.0, 20_001));
        let n = gaps.len();
        assert!(ks(gaps, |x| (x * 500.0).clamp(0.0, 1.0)) < ks_limit(n));
    }

    #[test]
    fn jitter_is_uniform_around_instants_that_do_not_drift() {
        let dues = dues(Arrivals::default(), 1000.0, 20_000);
        let offsets: Vec<f64> =
            dues.iter().enumerate().skip(1).map(|(k, due)| due - k as f64 / 1000.0).collect();
        assert!(offsets.iter().all(|o| o.abs() <= 0.05e-3 + 2e-9));
        let n = offsets.len();
        assert!(ks(offsets, |o| ((o + 0.05e-3) / 0.1e-3).clamp(0.0, 1.0)) < ks_limit(n));
    }

    #[test]
    fn wide_jitter_keeps_the_order_and_loses_nothing() {
        let wide = Arrivals::Steady { jitter: Some(Nanos::from_millis(20)) };
        let schedule =
            Schedule::new(Rate::Constant(1000.0), wide, 3, Some(Nanos::from_secs(2)), None);
        let all: Vec<Arrival> = schedule.collect();
        assert!(all.is_sorted_by_key(|a| a.due));
        let mut indexes: Vec<u64> = all.iter().map(|a| a.index).collect();
        indexes.sort_unstable();
        assert_eq!(indexes, (0..2000).collect::<Vec<_>>());
        assert!(all.windows(2).any(|w| w[0].index > w[1].index), "nothing overtook");
    }

    #[test]
    fn bursts_come_together_at_the_mean_rate() {
        let dues = dues(Arrivals::Burst(20), 100.0, 60);
        assert!(dues[..20].iter().all(|&due| due == 0.0));
        assert!(dues[20..40].iter().all(|&due| (due - 0.2).abs() < 1e-9));
        assert_eq!(
            Schedule::new(Rate::Constant(1.0), Arrivals::AtOnce, 1, None, Some(80)).count(),
            80
        );
    }

    #[test]
    fn rates_are_kept_over_a_window() {
        for arrivals in
            [Arrivals::default(), Arrivals::Poisson, Arrivals::Uniform, Arrivals::Burst(7)]
        {
            let rate: Rate = "ramp:500/s..1500/s".parse().expect("ramp");
            let n =
                Schedule::new(rate, arrivals, 5, Some(Nanos::from_secs(10)), None).count() as f64;
            // Five standard deviations of a Poisson count of 10 000.
            assert!((n - 10_000.0).abs() < 500.0, "{arrivals}: {n}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule() {
        let a = dues(Arrivals::Poisson, 1e4, 5000);
        assert_eq!(a, dues(Arrivals::Poisson, 1e4, 5000));
    }
}
