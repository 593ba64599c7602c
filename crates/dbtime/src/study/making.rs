//! The runs of a study as they are made, with what is shown meanwhile.

use super::block_notes::BlockNotes;
use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::screen;
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::RunProgress;
use dbtime_lab::study::{CellRuns, RunControls, RunSet, StudyProgress};
use dbtime_model::study::{StudyHistory, StudyPlan, TrialOutcome};
use dbtime_model::units::counted;
use dbtime_report::compare::resolution_text;

/// Makes the runs of a study until there are enough. Returns why there will be no more; `None`: it
/// was interrupted.
///
/// Errors: a secret that the runs take is not there, or the journal or a record cannot be written.
pub(crate) fn make_runs(
    runner: &mut RunSet,
    is_quiet: bool,
    stop: &RunStop,
) -> Result<Option<String>, CommandFailure> {
    let plan = runner.plan().clone();
    let secrets = RunSecrets::of_surroundings(None)?;
    if runner.history().finished.is_none() {
        // Else a study that goes on without one would be given up for it.
        let mut specs = plan.cells.iter().filter_map(|cell| cell.spec.as_ref());
        specs.try_for_each(|spec| secrets.check(spec))?;
    }
    let audience = ProgressAudience::of(is_quiet);
    let notes = block_notes(&plan, runner.history());
    let done = runner.history().complete_blocks(plan.cells.len()).len();
    let slices = plan.design.slices.max(1) as usize;
    let left = (notes.blocks() as usize).saturating_sub(done) * notes.cells() * slices;
    let live = LiveProgress::of_runs(audience, left.max(1));
    let snapshots = runner.snapshots();
    let follow = |progress: RunProgress| live.show(&progress);
    let controls = RunControls { progress: &follow, stop };
    let mut maker = CellRuns::new(&plan, secrets.environment(), controls, &snapshots);
    let progress = |event: StudyProgress<'_>| {
        match event {
            StudyProgress::LeftOut { cell, .. } => {
                let before = notes.cells();
                notes.leave_out(cell);
                live.fewer_runs(notes.cells(), before);
            }
            StudyProgress::Renewed { blocks, to_come } => {
                notes.renew(blocks);
                live.runs_to_come(to_come as usize * notes.cells() * slices);
            }
            _ => {}
        }
        show(&event, &live, audience, &notes);
    };
    let ended = runner.run(&mut maker, &progress, stop);
    drop(live);
    Ok(ended?)
}

/// How the blocks are shown that are to come.
fn block_notes<'a>(plan: &'a StudyPlan, history: &StudyHistory) -> BlockNotes<'a> {
    let cells = (0u32..).zip(&plan.cells).filter(|(cell, _)| !history.is_left_out(*cell));
    let cells = cells.map(|(_, cell)| cell).collect();
    BlockNotes::new(cells, plan.design.slices, history.most_blocks(plan))
}

fn show(
    event: &StudyProgress<'_>,
    live: &LiveProgress,
    audience: ProgressAudience,
    notes: &BlockNotes<'_>,
) {
    if let StudyProgress::RunBegins { .. } = event {
        live.next_run();
    }
    if audience == ProgressAudience::Nobody {
        return;
    }
    match event {
        StudyProgress::Starts(cell) => {
            screen::brief_note(&format!("starting {} once: does it work?", cell.name));
        }
        StudyProgress::LeftOut { cell, reason } => {
            screen::brief_note(&format!("dbtime: {} is left out: {reason}", cell.name));
        }
        StudyProgress::Waits(found) => {
            screen::brief_note(&format!("dbtime: waiting for a quiet machine: {found}"));
        }
        StudyProgress::RunBegins { trial, cell, loud } => {
            if let Some(line) = notes.of_run(trial, cell, *loud) {
                screen::brief_note(&line);
            }
        }
        StudyProgress::RunEnded { outcome: TrialOutcome::Valid, .. } => {}
        StudyProgress::RunEnded { trial, outcome, reason } => {
            let reason = reason.unwrap_or("no reason is known");
            let what = match outcome {
                TrialOutcome::Failed => "failed",
                _ if trial.slice > 0 => "does not count, nor does its round",
                _ => "does not count, its block is repeated",
            };
            screen::brief_note(&format!("dbtime: the run {what}: {reason}"));
        }
        StudyProgress::Resolves(found) => {
            let (found, all) = (resolution_text(found), counted(notes.blocks().into(), "block"));
            screen::brief_note(&format!("dbtime: {all} resolve {found}"));
        }
        StudyProgress::Looked(found) => screen::brief_note(&format!("dbtime: {found}")),
        StudyProgress::Renewed { .. } => {
            let all = counted(notes.blocks().into(), "block");
            screen::brief_note(&format!("dbtime: there is time for {all} in all"));
        }
    }
}
