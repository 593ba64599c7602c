//! How small a change the blocks can show, by how much those that are complete differ.

use dbtime_model::study::{BlockAttempt, StudyHistory, StudyPlan};
use dbtime_stats::{ConfidenceInterval, LogRatio, detectable_range, geometric_mean};
use std::collections::BTreeMap;

/// Of fewer pairs the scatter is anything.
const FEWEST_PAIRS: usize = 3;

/// The values of the primary metric of the runs that this process has made, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockScatter(BTreeMap<u64, f64>);

impl BlockScatter {
    /// A run that counts has this value.
    pub(super) fn take(&mut self, run: u64, value: f64) {
        self.0.insert(run, value);
    }

    /// The smallest change that all blocks of the study find in 80 % of cases, of the configuration
    /// that scatters most, with its interval; `None`: too few blocks were made by this process.
    pub(super) fn resolution(
        &self,
        plan: &StudyPlan,
        history: &StudyHistory,
    ) -> Option<ConfidenceInterval> {
        let blocks = history.complete_blocks(plan.cells.len());
        let all = history.most_blocks(plan) as usize;
        // What is left out has no more pairs, and may have none.
        let goes_on = plan.candidates().filter(|(cell, _)| !history.is_left_out(*cell as u32));
        let ranges = goes_on.map(|(cell, of)| {
            let of_block = |block: &BlockAttempt<'_>| {
                Some((self.value(block, of.baseline as usize)?, self.value(block, cell)?))
            };
            let pairs: Vec<(f64, f64)> = blocks.iter().filter_map(of_block).collect();
            let known = pairs.len();
            let ratio = LogRatio::paired(&pairs).filter(|_| known >= FEWEST_PAIRS)?;
            detectable_range(ratio.deviation(known), known, all.max(known))
        });
        let ranges: Vec<ConfidenceInterval> = ranges.collect::<Option<_>>()?;
        ranges.into_iter().max_by(|one, other| one.estimate.total_cmp(&other.estimate))
    }

    fn value(&self, block: &BlockAttempt<'_>, cell: usize) -> Option<f64> {
        let runs = block.runs.iter().filter(|run| run.trial.cell as usize == cell);
        let values = runs.map(|run| self.0.get(&run.trial.run).copied());
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        (!values.is_empty()).then(|| geometric_mean(&values))
    }
}
