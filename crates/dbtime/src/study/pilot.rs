//! A few runs of the baseline before a study, from which its noise and its length are known.

use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::screen;
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::RunProgress;
use dbtime_lab::study::{CellRuns, PilotFindings, PlannedStudy, RunControls};

/// Makes so many runs of the baseline, without a record; fewer where they take longer than `most_s`
/// seconds.
///
/// Errors: one could not be made, or Ctrl-C came.
pub(crate) fn pilot_runs(
    planned: &PlannedStudy,
    (runs, most_s): (u32, f64),
    audience: ProgressAudience,
    stop: &RunStop,
) -> Result<PilotFindings, CommandFailure> {
    let live = LiveProgress::of_runs(audience, runs as usize);
    let snapshots = tempfile::tempdir().map_err(CommandFailure::environment)?;
    let secrets = RunSecrets::of_surroundings(None)?.environment();
    let follow = |progress: RunProgress| live.show(&progress);
    let controls = RunControls { progress: &follow, stop };
    let maker = CellRuns::new(&planned.plan, secrets, controls, snapshots.path());
    let begins = |number: u32| {
        live.next_run();
        if audience == ProgressAudience::Terminal {
            screen::note(&format!("measuring the noise, run {number} of {runs}"));
        }
    };
    Ok(maker.pilot(runs, most_s, &begins)?)
}
