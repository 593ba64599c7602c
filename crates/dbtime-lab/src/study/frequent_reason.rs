//! Why runs of a study do not count, by frequency: the remedy differs between a loud machine, an
//! unsteady load and a target that fails.

use dbtime_model::study::{StudyRun, TrialOutcome};
use std::collections::BTreeMap;

/// The runs that do not count for the most frequent reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrequentReason {
    /// How many these are.
    pub(super) runs: usize,
    /// How many do not count for any reason.
    pub(super) of: usize,
    /// The reason of the last of them, in words.
    pub(super) text: String,
    /// Whether these failed.
    pub(super) is_failure: bool,
}

/// The most frequent reason of these runs, which do not count; of reasons that are as frequent that
/// which came last. `None`: there is no run.
pub(super) fn frequent_reason<'a>(
    runs: impl Iterator<Item = &'a StudyRun>,
) -> Option<FrequentReason> {
    let mut kinds: BTreeMap<String, Vec<&StudyRun>> = BTreeMap::new();
    for run in runs {
        let reason = run.reason.as_deref().unwrap_or_default();
        kinds.entry(kind(reason)).or_default().push(run);
    }
    let of = kinds.values().map(Vec::len).sum();
    let last = |runs: &Vec<&StudyRun>| runs.last().map_or(0, |run| run.trial.run);
    let most = kinds.into_values().max_by_key(|runs| (runs.len(), last(runs)))?;
    let run = most.last()?;
    let text = run.reason.clone().unwrap_or_else(|| "no reason is known".to_owned());
    let is_failure = run.outcome == Some(TrialOutcome::Failed);
    Some(FrequentReason { runs: most.len(), of, text, is_failure })
}

/// A reason without its figures, which no two runs have alike.
fn kind(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::study::StudyTrial;

    fn run(number: u64, outcome: TrialOutcome, reason: &str) -> StudyRun {
        let trial = StudyTrial { run: number, ..StudyTrial::default() };
        let (outcome, reason) = (Some(outcome), Some(reason.to_owned()));
        StudyRun { trial, outcome, reason, ended_at: None }
    }

    #[test]
    fn reasons_that_differ_by_their_figures_are_one() {
        use TrialOutcome::{Failed, Invalid};
        let runs = [
            run(1, Invalid, "the hypervisor took 5.0 % of all CPUs, more than 1 %"),
            run(2, Failed, "no server"),
            run(3, Invalid, "the hypervisor took 12 % of all CPUs, more than 1 %"),
        ];
        let found = frequent_reason(runs.iter()).expect("a reason");
        assert_eq!((found.runs, found.of, found.is_failure), (2, 3, false));
        assert!(found.text.contains("took 12 %"), "{found:?}");
        let last = frequent_reason(runs[..2].iter()).expect("a reason");
        assert_eq!((last.text.as_str(), last.is_failure), ("no server", true));
        assert_eq!(frequent_reason(std::iter::empty()), None);
    }
}
