//! Slices within the whole runs of a pilot, by what was seen of their seconds: how much neighbours
//! differ is known before any is made.

use super::planning::USUAL_SLICE;
use crate::progress::RunProgress;
use dbtime_model::spec::WindowSpec;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many transactions of a run were completed in each second of its load.
#[derive(Debug, Default)]
pub(super) struct SeenSeconds(Mutex<BTreeMap<u32, u64>>);

impl SeenSeconds {
    /// Takes a second, if it is one.
    pub(super) fn take(&self, progress: &RunProgress) {
        if let RunProgress::Second(seen) = progress {
            let mut seconds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            seconds.insert(seen.second, seen.completed);
        }
    }

    /// What was completed in slices of a usual length, as they follow each other in the measured
    /// window, up to a second that was not seen.
    pub(super) fn slices(&self, window: &WindowSpec) -> Vec<f64> {
        let seconds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let warmup = window.warmup.unwrap_or_default();
        let end_s = (warmup + window.time.unwrap_or_default()).as_secs().floor();
        let in_window = warmup.as_secs().ceil() as u32..end_s as u32;
        let completed = in_window.map_while(|second| seconds.get(&second));
        let completed: Vec<f64> = completed.map(|count| *count as f64).collect();
        let slices = completed.chunks_exact(USUAL_SLICE.as_secs() as usize);
        slices.map(|slice| slice.iter().sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::SecondSeen;
    use dbtime_model::Nanos;

    #[test]
    fn slices_are_whole_seconds_of_the_window_that_follow_each_other() {
        let slices = |missing: u32| {
            let seen = SeenSeconds::default();
            for second in (0..13).filter(|second| *second != missing) {
                let completed = 10 * u64::from(second);
                let second = SecondSeen { second, completed, ..SecondSeen::default() };
                seen.take(&RunProgress::Second(second));
            }
            seen.take(&RunProgress::Server { step: "ending".to_owned() });
            let window = WindowSpec {
                warmup: Some(Nanos::from_millis(2_500)),
                time: Some(Nanos::from_secs(10)),
                ..WindowSpec::default()
            };
            seen.slices(&window)
        };
        // From the third second to the twelfth.
        assert_eq!(slices(99), [70.0, 110.0, 150.0, 190.0]);
        assert_eq!(slices(8), [70.0, 110.0]);
        assert_eq!(slices(3), [0.0; 0]);
    }
}
