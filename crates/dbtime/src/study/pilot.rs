//! A few runs of the baseline before a study, from which its noise and its length are known.

use super::making::CellRuns;
use super::planning::PlannedStudy;
use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::screen;
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::study::PilotRuns;
use std::time::Instant;

/// Makes so many runs of the baseline, without a record.
///
/// Errors: one could not be made, or Ctrl-C came.
pub(crate) fn pilot_runs(
    planned: &PlannedStudy,
    runs: u32,
    audience: ProgressAudience,
    stop: &RunStop,
) -> Result<PilotRuns, CommandFailure> {
    let live = LiveProgress::of_runs(audience, runs as usize);
    let snapshots = tempfile::tempdir().map_err(CommandFailure::environment)?;
    let maker = CellRuns::new(&planned.plan, &live, stop, snapshots.path())?;
    let begun = Instant::now();
    let mut values = Vec::new();
    for number in 1..=runs {
        live.next_run();
        if audience == ProgressAudience::Terminal {
            screen::note(&format!("measuring the noise, run {number} of {runs}"));
        }
        values.extend(maker.tried(0, u64::from(number))?);
    }
    let seconds_a_run = begun.elapsed().as_secs_f64() / f64::from(runs.max(1));
    Ok(PilotRuns { values, seconds_a_run })
}
