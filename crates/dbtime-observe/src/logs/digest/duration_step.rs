//! How finely a log has its durations.

/// The steps that logs have. Unit: nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

/// The longest of these steps that all durations of a file are multiples of.
#[derive(Clone, Copy, Debug)]
pub(super) struct DurationStep {
    step_ns: u64,
    has_zero: bool,
    has_longer: bool,
}

impl Default for DurationStep {
    fn default() -> Self {
        Self { step_ns: SECOND_NS, has_zero: false, has_longer: false }
    }
}

impl DurationStep {
    /// Looks at a duration.
    pub(super) fn add(&mut self, duration_ns: u64) {
        self.has_zero |= duration_ns == 0;
        self.has_longer |= duration_ns != 0;
        while self.step_ns >= MILLISECOND_NS && !duration_ns.is_multiple_of(self.step_ns) {
            self.step_ns /= 1000;
        }
    }

    /// That 0 stands for whatever is shorter than a step.
    pub(super) fn note(self) -> Option<String> {
        let steps = match (self.has_longer, self.step_ns) {
            (false, _) => "No duration is longer than 0",
            (true, SECOND_NS) => "All durations are whole seconds",
            (true, MILLISECOND_NS) => "All durations are whole milliseconds",
            (true, _) => return None,
        };
        self.has_zero.then(|| format!("{steps}: 0 stands for anything shorter."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(durations_ns: &[u64]) -> Option<String> {
        let mut step = DurationStep::default();
        durations_ns.iter().for_each(|ns| step.add(*ns));
        step.note()
    }

    #[test]
    fn zeros_of_a_coarse_log_are_named() {
        let coarse: [(&[u64], &str); 3] = [
            (&[0, 0], "No duration is longer than 0"),
            (&[0, 2 * SECOND_NS], "whole seconds"),
            (&[SECOND_NS, 0, MILLISECOND_NS], "whole milliseconds"),
        ];
        for (durations, part) in coarse {
            let note = note(durations).expect("a note");
            assert!(note.contains(part), "{durations:?}: {note}");
        }
        let fine: [&[u64]; 4] = [&[], &[MILLISECOND_NS], &[0, 1500], &[0, SECOND_NS, 1]];
        for durations in fine {
            assert_eq!(note(durations), None, "{durations:?}");
        }
    }
}
