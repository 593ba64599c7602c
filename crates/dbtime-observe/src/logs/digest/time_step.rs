//! How finely a log has its times.

use dbtime_model::units::counted;

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// Where times have whole seconds, shorter records have nothing beside them: it would be anything
/// of the same second. Unit: microseconds.
const SHORTEST_US: u64 = 2_000_000;

/// Whether the times of a file have digits below the second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeStep {
    has_digits: bool,
    /// How many slow records have nothing beside them for want of digits.
    left_out: u64,
}

impl TimeStep {
    /// Looks at when a record began and ended; whether the file had whole seconds alone so far.
    /// One of the two is the log's own time, the other one was worked out. Unit: microseconds.
    pub(super) fn is_coarse(&mut self, (start_us, end_us): (i64, i64)) -> bool {
        self.has_digits |= start_us % SECOND_US != 0 && end_us % SECOND_US != 0;
        !self.has_digits
    }

    /// Whether a record of such a file is too short for what ran beside it to be known; of slow
    /// ones it is counted.
    pub(super) fn leaves_out(&mut self, (start_us, end_us): (i64, i64), is_slow: bool) -> bool {
        let is_short = end_us.abs_diff(start_us) < SHORTEST_US;
        self.left_out += u64::from(is_short && is_slow);
        is_short
    }

    /// That records have nothing beside them.
    pub(super) fn note(self) -> Option<String> {
        let is_noted = !self.has_digits && self.left_out > 0;
        is_noted.then(|| {
            format!(
                "All times are whole seconds: what ran beside records of less than 2 s is not \
                 known, and left out ({}).",
                counted(self.left_out, "slow one")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The intervals of records that are left out, each a slow one, and the note.
    fn left_out(intervals: &[(i64, i64)]) -> (Vec<(i64, i64)>, Option<String>) {
        let mut step = TimeStep::default();
        let mut left_out = Vec::new();
        for interval in intervals {
            if step.is_coarse(*interval) && step.leaves_out(*interval, true) {
                left_out.push(*interval);
            }
        }
        (left_out, step.note())
    }

    #[test]
    fn short_records_of_a_log_with_whole_seconds_are_left_out() {
        // By their ends, then by their beginnings.
        let short = [(4_995_000, 5_000_000), (5_000_000, 5_001_000), (5_000_001, 7_000_000)];
        let long = [(5_000_000, 7_000_000), (4_500_000, 9_000_000)];
        let (found, note) = left_out(&[&short[..], &long[..]].concat());
        assert_eq!(found, short);
        assert!(note.expect("a note").ends_with("left out (3 slow ones)."));
        assert_eq!(left_out(&long), (Vec::new(), None));
    }

    #[test]
    fn one_time_with_digits_makes_the_log_a_fine_one() {
        let (found, note) =
            left_out(&[(4_995_000, 5_000_000), (5_500_000, 5_500_100), (5_990_000, 6_000_000)]);
        assert_eq!((found.len(), note), (1, None));
    }
}
