//! Think time: what a client waits between two transactions, or a script inside one.

use crate::random::unit;
use dbtime_model::Nanos;
pub use dbtime_model::spec::ThinkTime;

/// A pause from 64 random bits.
pub fn draw_pause(think: ThinkTime, bits: u64) -> Nanos {
    match think {
        ThinkTime::Fixed(pause) => pause,
        ThinkTime::Uniform(low, high) => low + Nanos(((high - low).0 as f64 * unit(bits)) as u64),
        ThinkTime::Exponential(mean) => {
            // 1 − U lies in (0, 1], so the logarithm is finite.
            let factor = -(1.0 - unit(bits)).ln();
            Nanos((mean.0 as f64 * factor.min(10.0)) as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, draw};

    #[test]
    fn means_are_those_of_the_distribution() {
        for text in ["10ms", "uniform:5ms..15ms", "exp:10ms"] {
            let think: ThinkTime = text.parse().expect(text);
            let n = 200_000u64;
            let pause = |i| draw_pause(think, draw(3, RandomStream::Think, i));
            let sum: f64 = (0..n).map(|i| pause(i).0 as f64).sum();
            let mean = sum / n as f64;
            // Five standard errors of the exponential: 5·10 ms/√n = 0.11 ms.
            assert!((mean - think.mean().0 as f64).abs() < 0.12e6, "{text}: {mean}");
        }
    }
}
