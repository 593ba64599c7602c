//! One time that a block was begun: its runs so far, and whether they are all that it takes.

use super::history::StudyRun;
use std::collections::BTreeMap;

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

    /// The same without the runs that do not count.
    pub(super) fn counting(mut self) -> Self {
        self.runs.retain(|run| run.counts());
        self
    }

    /// Whether a run of it does not count. Those of a configuration that is left out break nothing.
    pub fn is_broken(&self) -> bool {
        self.needed_runs().any(|run| !run.counts())
    }

    /// Whether it has a run of every configuration that is not left out, each of which counts.
    pub fn is_complete(&self, cells: usize) -> bool {
        let needed = cells.saturating_sub(self.left_out.len());
        needed > 0 && !self.is_broken() && self.needed_runs().count() == needed
    }

    /// Its runs of the configurations that are not left out.
    fn needed_runs(&self) -> impl Iterator<Item = &'a StudyRun> {
        let left_out = self.left_out;
        let is_needed = move |run: &&'a StudyRun| !left_out.contains_key(&run.trial.cell);
        self.runs.iter().copied().filter(is_needed)
    }
}
