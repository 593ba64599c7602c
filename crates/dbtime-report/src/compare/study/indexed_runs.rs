//! The runs of a study by their configurations, so that a look at one takes its own runs alone.

use crate::compare::groups::{GivenExclusion, PlacedRun, SliceUnit, geometric_mean};
use dbtime_model::study::{RecordedStudy, StudyTrial, TrialOutcome, TrialRecord};

/// The runs of each configuration, and why each run is in no verdict.
pub(super) struct IndexedRuns<'a> {
    pub(super) study: &'a RecordedStudy,
    /// In the order of all runs.
    exclusions: Vec<Option<String>>,
    /// The places of the runs of each configuration, in the order of time.
    by_cell: Vec<Vec<usize>>,
}

impl<'a> IndexedRuns<'a> {
    pub(super) fn of(study: &'a RecordedStudy) -> Self {
        let mut by_cell = vec![Vec::new(); study.plan.cells.len()];
        for (at, run) in study.history.runs.iter().enumerate() {
            if let Some(of_cell) = by_cell.get_mut(run.trial.cell as usize) {
                of_cell.push(at);
            }
        }
        Self { study, exclusions: study.history.exclusions(&study.plan), by_cell }
    }

    /// Why each run is in no verdict, in the order of all; `None`: it is.
    pub(super) fn exclusions(&self) -> &[Option<String>] {
        &self.exclusions
    }

    /// None of a configuration that the plan does not have.
    fn places(&self, cell: usize) -> &[usize] {
        self.by_cell.get(cell).map_or(&[][..], Vec::as_slice)
    }

    /// The records of the runs of a configuration that count.
    pub(super) fn counted(&self, cell: usize) -> impl Iterator<Item = &'a TrialRecord> {
        let study = self.study;
        let counting = self.places(cell).iter().filter(move |at| self.exclusions[**at].is_none());
        counting.filter_map(move |at| study.records.get(*at)?.as_ref())
    }

    /// The values of a metric of the runs of a configuration that count, in the order of time; of
    /// slices the mean of each block. `None`: a run has none.
    pub(super) fn block_values(&self, cell: usize, metric: &str) -> Option<Vec<f64>> {
        let mut blocks: Vec<((u32, u32), Vec<f64>)> = Vec::new();
        for at in self.places(cell).iter().filter(|at| self.exclusions[**at].is_none()) {
            let Some(record) = self.study.records.get(*at)? else { continue };
            let (trial, value) = (&self.study.history.runs[*at].trial, record.value(metric)?);
            let block = (trial.block, trial.attempt);
            match blocks.last_mut().filter(|last| last.0 == block) {
                Some((_, values)) => values.push(value),
                None => blocks.push((block, vec![value])),
            }
        }
        Some(blocks.iter().map(|(_, values)| geometric_mean(values)).collect())
    }

    /// The runs of a configuration that have a record, each with its block.
    pub(super) fn placed(&self, cell: usize) -> Vec<(u32, PlacedRun<'_>)> {
        let placed = |at: &usize| {
            let run = &self.study.history.runs[*at];
            let record = self.study.records.get(*at)?.as_ref()?.placed();
            let given = self.exclusions[*at].as_deref().map(|why| match run.outcome {
                Some(TrialOutcome::Invalid) => GivenExclusion::OfRun(why),
                _ => GivenExclusion::OfOthers(why),
            });
            let is_judged = self.study.plan.has_judged(run);
            let excluded = given.or(is_judged.then_some(GivenExclusion::Counts));
            let place = run.trial.folder.as_str();
            let StudyTrial { block, attempt, slice, .. } = run.trial;
            let unit = Some(SliceUnit { block, attempt, round: slice });
            Some((block, PlacedRun { place, record, excluded, unit }))
        };
        self.places(cell).iter().filter_map(placed).collect()
    }
}
