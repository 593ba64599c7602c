//! The durations of a class, split by what the log has of them.

use super::seen::SeenRecord;
use dbtime_model::Part;
use dbtime_model::log_digest::NamedValues;

/// The parts that logs name, in the order in which they are given of a duration what there is.
const NAMED: [Part; 3] = [Part::Lock, Part::IoRead, Part::Cpu];

/// The parts of the durations of a class. Unit: nanoseconds, by weight.
#[derive(Clone, Debug, Default)]
pub(super) struct PartSums {
    sums: [u128; NAMED.len()],
    is_named: [bool; NAMED.len()],
}

impl PartSums {
    /// Adds a record with a duration: parts that are longer than it are cut.
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>, duration_ns: u64) {
        let mut parts = [0u64; NAMED.len()];
        for (figure, value) in seen.record.figures {
            let place = figure.part().and_then(|part| NAMED.iter().position(|own| *own == part));
            if let Some(place) = place {
                parts[place] = parts[place].saturating_add(*value);
                self.is_named[place] = true;
            }
        }
        let mut rest = duration_ns;
        for (sum, part) in self.sums.iter_mut().zip(parts) {
            let part = part.min(rest);
            rest -= part;
            *sum = sum.saturating_add(u128::from(part) * u128::from(seen.weight));
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for place in 0..NAMED.len() {
            self.sums[place] = self.sums[place].saturating_add(other.sums[place]);
            self.is_named[place] |= other.is_named[place];
        }
    }

    /// The parts by name, which add up to the total; empty: the log has none. Unit: microseconds.
    pub(super) fn parts_us(&self, total_ns: u128, assumed_weight: f64) -> NamedValues<f64> {
        if !self.is_named.contains(&true) {
            return NamedValues::default();
        }
        let in_us = |ns: u128| ns as f64 / 1e3 * assumed_weight;
        let named = self.sums.iter().fold(0u128, |sum, part| sum.saturating_add(*part));
        let parts = NAMED.iter().enumerate().filter(|(place, _)| self.is_named[*place]);
        let parts = parts.map(|(place, part)| (part.name(), in_us(self.sums[place])));
        let other = (Part::Other.name(), in_us(total_ns.saturating_sub(named)));
        parts.chain([other]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;
    use dbtime_model::log_digest::LogFigure;

    fn parts(figures: &[(LogFigure, u64)], weight: u32) -> NamedValues<f64> {
        let record = JoinedRecord { figures, weight, ..JoinedRecord::default() };
        let mut sums = PartSums::default();
        sums.add(&SeenRecord::of(&record, 0), 10_000);
        sums.parts_us(10_000 * u128::from(weight.max(1)), 1.0)
    }

    fn named(parts: &[(&'static str, f64)]) -> NamedValues<f64> {
        parts.iter().copied().collect()
    }

    #[test]
    fn parts_add_up_to_the_duration() {
        let figures = [(LogFigure::LockTime, 1000), (LogFigure::CpuTime, 4000)];
        let expected = named(&[("lock", 1.0), ("cpu", 4.0), ("other", 5.0)]);
        assert_eq!(parts(&figures, 0), expected);
        let expected = named(&[("lock", 3.0), ("cpu", 12.0), ("other", 15.0)]);
        assert_eq!(parts(&figures, 3), expected);
    }

    #[test]
    fn parts_longer_than_the_duration_are_cut() {
        let figures = [(LogFigure::CpuTime, 8000), (LogFigure::RowLockWait, 7000)];
        let expected = named(&[("lock", 7.0), ("cpu", 3.0), ("other", 0.0)]);
        assert_eq!(parts(&figures, 1), expected);
    }

    #[test]
    fn a_log_without_parts_has_none() {
        assert!(parts(&[(LogFigure::RowsSent, 1)], 1).is_empty());
    }
}
