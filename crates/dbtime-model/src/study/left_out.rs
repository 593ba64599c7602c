//! What a study goes on without: configurations that cannot run, and blocks beyond those that may
//! be repeated.

use super::history::StudyHistory;
use super::plan::StudyPlan;
use serde::{Deserialize, Serialize};

/// Why no more blocks are repeated: too many had a run that does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoiseStop {
    /// Why, in words, with what made runs not count most often.
    pub reason: String,
    /// With how many repeated blocks in all it goes on.
    pub repeats: u32,
    /// When it stopped, UTC, RFC 3339.
    pub at: String,
}

impl NoiseStop {
    /// Why, and how the study goes on. `folder`: how the shell is given that of the study.
    pub fn text(&self, folder: &str) -> String {
        let Self { reason, repeats, .. } = self;
        format!("{reason}; continue with dbtime study resume {folder} --repeats {repeats}")
    }
}

impl StudyHistory {
    /// Whether a configuration is left out of all further blocks.
    pub fn is_left_out(&self, cell: u32) -> bool {
        self.left_out.contains_key(&cell)
    }

    /// How many of so many configurations a block has a run of: those that are not left out.
    pub fn cells_of_block(&self, cells: usize) -> usize {
        cells.saturating_sub(self.left_out.len())
    }

    /// The configurations that are left out, by name, each with its error.
    pub fn left_out_cells<'a>(
        &'a self,
        plan: &'a StudyPlan,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.left_out.iter().filter_map(move |(cell, reason)| {
            Some((plan.cells.get(*cell as usize)?.name.as_str(), reason.as_str()))
        })
    }

    /// Why nothing can be compared any more: no candidate is left that has a baseline. `None`: one
    /// is. `folder`: how the shell is given that of the study.
    pub fn nothing_left(&self, plan: &StudyPlan, folder: &str) -> Option<String> {
        let (name, reason) = self.left_out_cells(plan).next()?;
        let mut candidates = plan.candidates();
        let is_left = candidates
            .any(|(at, cell)| !self.is_left_out(at as u32) && !self.is_left_out(cell.baseline));
        (!is_left).then(|| {
            format!(
                "nothing is left to compare: {name} is left out: {reason}; when that is put \
                 right, use dbtime study resume {folder} --retry-left-out"
            )
        })
    }

    /// How many blocks may be repeated: as many as the plan says, or as was said since; more blocks
    /// may repeat as many.
    pub fn most_repeats(&self, plan: &StudyPlan) -> u32 {
        self.repeats.unwrap_or_else(|| plan.gate.repeats.max(self.extended.unwrap_or(0)))
    }

    /// Takes the configurations in again that are left out: their failures so far are forgiven, and
    /// the end that stood on them is none.
    pub(super) fn take_in_again(&mut self) {
        for cell in std::mem::take(&mut self.left_out).into_keys() {
            self.started.remove(&cell);
        }
        self.tried_from = self.runs.len();
        self.looks.retain(|(_, enough, _)| !enough);
        (self.finished, self.noise) = (None, None);
    }

    /// Has so many blocks made in all, also where the study was over. Where noise has stopped it,
    /// as many may be repeated as its stop names: else it would stop again at once.
    pub(super) fn extend(&mut self, blocks: u32) {
        self.extended = Some(blocks);
        if let Some(noise) = self.noise.take() {
            self.repeats = Some(self.repeats.unwrap_or(0).max(noise.repeats));
        }
        (self.finished, self.found) = (None, None);
    }

    /// Lets so many blocks be repeated, also where there were too many before.
    pub(super) fn allow_repeats(&mut self, repeats: u32) {
        self.repeats = Some(repeats);
        (self.finished, self.noise) = (None, None);
    }
}
