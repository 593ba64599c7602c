//! The runs of a study as they are made, with what is shown meanwhile.

use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::screen;
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::RunProgress;
use dbtime_lab::study::{CellRuns, RunControls, RunSet, StudyProgress};
use dbtime_model::study::TrialOutcome;
use dbtime_model::units::counted;
use dbtime_report::compare::resolution_text;
use std::cell::Cell;

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
    let cells = plan.cells.len();
    let done = runner.history().complete_blocks(cells).len();
    let blocks = Cell::new(runner.history().most_blocks(&plan));
    let of_block = Cell::new(runner.history().cells_of_block(cells));
    let slices = plan.design.slices.max(1) as usize;
    let left = (blocks.get() as usize).saturating_sub(done) * of_block.get() * slices;
    let live = LiveProgress::of_runs(audience, left.max(1));
    let snapshots = runner.snapshots();
    let follow = |progress: RunProgress| live.show(&progress);
    let controls = RunControls { progress: &follow, stop };
    let mut maker = CellRuns::new(&plan, secrets.environment(), controls, &snapshots);
    let progress = |event: StudyProgress<'_>| {
        match event {
            StudyProgress::LeftOut { .. } => {
                let before = of_block.get();
                of_block.set(before.saturating_sub(1));
                live.fewer_runs(of_block.get(), before);
            }
            StudyProgress::Renewed { blocks: renewed, to_come } => {
                blocks.set(renewed);
                live.runs_to_come(to_come as usize * of_block.get() * slices);
            }
            _ => {}
        }
        show(&event, &live, audience, blocks.get());
    };
    let ended = runner.run(&mut maker, &progress, stop);
    drop(live);
    Ok(ended?)
}

fn show(event: &StudyProgress<'_>, live: &LiveProgress, audience: ProgressAudience, blocks: u32) {
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
        // Of slices the first stands for all.
        StudyProgress::RunBegins { trial, .. } if trial.slice > 1 => {}
        StudyProgress::RunBegins { trial, cell, loud } => {
            let again = if trial.attempt > 1 { ", again" } else { "" };
            let (block, name, slices) = (trial.block, &cell.name, u64::from(trial.slices));
            let slices = match slices {
                0 => String::new(),
                slices => format!(", {}", counted(slices, "slice")),
            };
            let loud = loud.map_or(String::new(), |found| format!("; not quiet: {found}"));
            screen::brief_note(&format!("block {block} of {blocks}{again}: {name}{slices}{loud}"));
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
            let (found, all) = (resolution_text(found), counted(u64::from(blocks), "block"));
            screen::brief_note(&format!("dbtime: {all} resolve {found}"));
        }
        StudyProgress::Looked(found) => screen::brief_note(&format!("dbtime: {found}")),
        StudyProgress::Renewed { .. } => {
            let all = counted(u64::from(blocks), "block");
            screen::brief_note(&format!("dbtime: there is time for {all} in all"));
        }
    }
}
