//! One time that a block was begun: its runs so far, and whether they are all that it takes.

use super::history::StudyRun;
use super::journal::TrialOutcome;
use std::collections::{BTreeMap, BTreeSet};

/// One time that a block was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAttempt<'a> {
    /// Its block.
    pub block: u32,
    /// Which time, from 1.
    pub attempt: u32,
    /// Its runs so far, in the order of time.
    pub runs: Vec<&'a StudyRun>,
    /// The configurations that the block is complete without.
    left_out: &'a BTreeMap<u32, String>,
}

impl<'a> BlockAttempt<'a> {
    /// That which begins with this run, in a study that leaves these configurations out.
    pub(super) fn begun(run: &'a StudyRun, left_out: &'a BTreeMap<u32, String>) -> Self {
        let (block, attempt) = (run.trial.block, run.trial.attempt);
        Self { block, attempt, runs: vec![run], left_out }
    }

    /// The same without the runs that do not count, and without the slices whose round does not.
    pub(super) fn counting(mut self) -> Self {
        let spoiled = self.spoiled_rounds();
        self.runs.retain(|run| run.counts() && !spoiled.contains(&run.trial.slice));
        self
    }

    /// How many rounds of slices it has; 1: its runs are whole.
    pub fn rounds(&self) -> u32 {
        self.runs.first().map_or(1, |run| run.trial.slices.max(1))
    }

    /// Whether it cannot become complete any more, because runs of it do not count. Those of a
    /// configuration that is left out break nothing, and a slice costs no more than its round where
    /// enough others are left.
    pub fn is_broken(&self) -> bool {
        let rounds = self.rounds();
        if rounds == 1 {
            return self.needed_runs().any(|run| !run.counts());
        }
        // A slice that was not made to its end has taken its server or its file with it.
        let has_ended =
            |run: &StudyRun| run.outcome.is_some_and(|outcome| outcome != TrialOutcome::Failed);
        let spoiled = self.spoiled_rounds().len() as u32;
        spoiled > rounds - fewest_rounds(rounds) || !self.needed_runs().all(has_ended)
    }

    /// Whether it has a run of every configuration that is not left out in each of its rounds, and
    /// enough rounds of which each run counts.
    pub fn is_complete(&self, cells: usize) -> bool {
        let needed = cells.saturating_sub(self.left_out.len()) * self.rounds() as usize;
        needed > 0 && !self.is_broken() && self.needed_runs().count() == needed
    }

    /// Whether the round of this run has a run that does not count.
    pub fn is_of_spoiled_round(&self, run: &StudyRun) -> bool {
        self.spoiled_rounds().contains(&run.trial.slice)
    }

    /// The rounds that have a run which does not count.
    fn spoiled_rounds(&self) -> BTreeSet<u32> {
        let spoiled = self.needed_runs().filter(|run| !run.counts());
        spoiled.map(|run| run.trial.slice).collect()
    }

    /// Its runs of the configurations that are not left out.
    fn needed_runs(&self) -> impl Iterator<Item = &'a StudyRun> {
        let left_out = self.left_out;
        let is_needed = move |run: &&'a StudyRun| !left_out.contains_key(&run.trial.cell);
        self.runs.iter().copied().filter(is_needed)
    }
}

/// So many of these rounds of slices have to count, or the block does not: half of them, and of
/// more than two never one alone.
fn fewest_rounds(rounds: u32) -> u32 {
    rounds.div_ceil(2).max(rounds.min(3) - 1)
}

#[cfg(test)]
mod tests {
    use super::super::journal::StudyTrial;
    use super::*;

    /// The slices of two configurations, round by round, each with what became of it.
    fn runs(outcomes: &[TrialOutcome], slices: u32) -> Vec<StudyRun> {
        let run = |(at, outcome): (u32, &TrialOutcome)| {
            let (cell, slice) = (at % 2, 1 + at / 2);
            let trial = StudyTrial { cell, slice, slices, ..StudyTrial::default() };
            StudyRun { trial, outcome: Some(*outcome), reason: None, ended_at: None }
        };
        (0u32..).zip(outcomes).map(run).collect()
    }

    /// Whether a block of these is broken and complete, and how many of its runs are in a verdict.
    fn state(outcomes: &[TrialOutcome], slices: u32) -> (bool, bool, usize) {
        let (runs, left_out) = (runs(outcomes, slices), BTreeMap::new());
        let mut attempt = BlockAttempt::begun(&runs[0], &left_out);
        attempt.runs = runs.iter().collect();
        let (is_broken, is_complete) = (attempt.is_broken(), attempt.is_complete(2));
        (is_broken, is_complete, attempt.counting().runs.len())
    }

    #[test]
    fn a_slice_that_does_not_count_costs_its_round_and_half_of_the_rounds_are_enough() {
        use TrialOutcome::{Failed, Invalid, Lost, Valid};
        let all = [Valid; 8];
        assert_eq!(state(&all, 4), (false, true, 8));
        assert_eq!(state(&all[..7], 4), (false, false, 7), "one is still to be made");
        let mut spoiled = all;
        spoiled[2] = Invalid;
        assert_eq!(state(&spoiled, 4), (false, true, 6));
        spoiled[5] = Lost;
        assert_eq!(state(&spoiled, 4), (false, true, 4));
        spoiled[6] = Invalid;
        assert_eq!(state(&spoiled, 4), (true, false, 2));
        spoiled = all;
        spoiled[7] = Failed;
        assert_eq!(state(&spoiled, 4), (true, false, 6), "its server is gone");
        assert_eq!(state(&[Valid, Invalid], 1), (true, false, 0));
    }

    #[test]
    fn of_more_than_two_rounds_one_alone_is_never_enough() {
        let fewest = [1, 2, 3, 4, 5, 8].map(fewest_rounds);
        assert_eq!(fewest, [1, 1, 2, 2, 3, 4]);
    }
}
