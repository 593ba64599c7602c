//! A few runs of the baseline before a study, from which its noise and its length are known.

use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::screen;
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::study::{CellRuns, PilotFindings, PilotFolder, PlannedStudy, RunControls};
use dbtime_lab::{LabError, RunProgress};
use dbtime_model::study::CellRole;
use std::path::Path;

/// Makes so many runs of the baseline, without a record.
///
/// Errors: one could not be made, or Ctrl-C came.
pub(crate) fn pilot_runs(
    planned: &PlannedStudy,
    runs: u32,
    audience: ProgressAudience,
    stop: &RunStop,
) -> Result<PilotFindings, CommandFailure> {
    let folder = PilotFolder::temporary()?;
    let snapshots = folder.path();
    let pilot = StudyPilot { planned, runs, most_s: f64::INFINITY, snapshots, audience };
    pilot.measure(stop, |_| Ok(()))
}

/// What is run before a study.
pub(crate) struct StudyPilot<'a> {
    pub(crate) planned: &'a PlannedStudy,
    /// How many runs of the baseline; fewer where they take longer than `most_s`.
    pub(crate) runs: u32,
    /// Unit: seconds.
    pub(crate) most_s: f64,
    /// Where the data are kept that they load.
    pub(crate) snapshots: &'a Path,
    pub(crate) audience: ProgressAudience,
}

impl StudyPilot<'_> {
    /// Starts A and B for a moment, so that one that cannot run costs no more time than that, and
    /// makes the runs, none of which has data to load then.
    ///
    /// Errors: a side does not work, with its name; a run could not be made, or Ctrl-C came.
    pub(crate) fn of_pair(&self, stop: &RunStop) -> Result<PilotFindings, CommandFailure> {
        self.measure(stop, |maker| self.start_both(maker))
    }

    fn measure(
        &self,
        stop: &RunStop,
        before: impl FnOnce(&CellRuns<'_>) -> Result<(), CommandFailure>,
    ) -> Result<PilotFindings, CommandFailure> {
        let live = LiveProgress::of_runs(self.audience, self.runs as usize);
        let secrets = RunSecrets::of_surroundings(None)?.environment();
        let follow = |progress: RunProgress| live.show(&progress);
        let controls = RunControls { progress: &follow, stop };
        let maker = CellRuns::new(&self.planned.plan, secrets, controls, self.snapshots);
        before(&maker)?;
        let begins = |number: u32| {
            live.next_run();
            if self.audience == ProgressAudience::Terminal {
                let runs = self.runs;
                screen::note(&format!("measuring the noise, run {number} of {runs}"));
            }
        };
        Ok(maker.pilot(self.runs, self.most_s, &begins)?)
    }

    fn start_both(&self, maker: &CellRuns<'_>) -> Result<(), CommandFailure> {
        let plan = &self.planned.plan;
        for (letter, role) in [("A", CellRole::Baseline), ("B", CellRole::Candidate)] {
            for (cell, of) in plan.with_role(role) {
                let side = match of.name == letter {
                    true => letter.to_owned(),
                    false => format!("{letter} ({})", of.name),
                };
                if self.audience != ProgressAudience::Nobody {
                    screen::brief_note(&format!("starting {side} once: does it work?"));
                }
                let tried = maker.try_out(cell as u32, plan.design.seed);
                tried.map_err(|error| unusable(&side, error))?;
            }
        }
        Ok(())
    }
}

/// That a side does not work, with its name.
fn unusable(side: &str, error: LabError) -> CommandFailure {
    let text = format!("{side} cannot run: {error}");
    match error.is_usage() {
        _ if error.is_interrupted() => error.into(),
        true => CommandFailure::usage(text),
        false => CommandFailure::environment(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_does_not_work_is_named_and_one_that_was_ended_is_not() {
        let told = |error: LabError| unusable("A (connections=1)", error).words();
        let error = LabError::Target("no server".to_owned());
        assert_eq!(told(error), "A (connections=1) cannot run: no server");
        let usage = unusable("B", LabError::Usage("no such flag".to_owned()));
        assert!(matches!(usage, CommandFailure::Usage(_)), "{usage:?}");
        assert!(!told(LabError::Interrupted("early")).contains("cannot run"));
    }
}
