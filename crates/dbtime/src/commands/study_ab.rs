//! `dbtime study ab`: two settings compared in one line, without a file.

use super::study::{make, refuse_taken, stop};
use crate::cli::{StudyAbArgs, StudyShownArgs};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::ProgressAudience;
use crate::output_file::{check_named, write_named};
use crate::read_files::refuse_clashes;
use crate::screen;
use crate::study::{draft, pilot_runs};
use dbtime_model::study::PilotRuns;

/// Runs from which the noise is known before the blocks are.
const PILOT_RUNS: u32 = 3;

/// Fewer blocks have no verdict.
const FEWEST_BLOCKS: u32 = 3;

/// More are not made: what they would find is smaller than anybody cares for.
const MOST_BLOCKS: u32 = 100;

/// The share of the time that is planned: some blocks have to be repeated.
const PLANNED_SHARE: f64 = 0.85;

pub(crate) fn run(args: &StudyAbArgs) -> Result<ProcessExit, CommandFailure> {
    let given = &args.run.0;
    if given.json {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    let draft = draft(args)?;
    // Everything that can be refused is refused before the first run.
    let fewest = draft.plan(FEWEST_BLOCKS)?;
    refuse_taken(given.out.as_deref())?;
    refuse_clashes(args.save.iter().chain(&given.out), &given.read_files())?;
    check_named(args.save.as_deref())?;
    let stop = stop();
    let audience = ProgressAudience::of(given.quiet);
    let pilot = pilot_runs(&fewest, PILOT_RUNS, audience, &stop)?;
    let mut study = draft.plan(blocks(args, &pilot, fewest.plan.cells.len())?)?;
    study.plan.pilot = Some(pilot);
    if let Some(path) = &args.save {
        write_named(path, &study.source)?;
    }
    let shown = StudyShownArgs { gate: args.gate, json: given.json, quiet: given.quiet };
    let end = make(&study, given.out.clone(), &shown, &stop)?;
    // That they differ is as good an answer as that they do not.
    Ok(match end.exit {
        ProcessExit::Fine if !args.gate && !end.has_verdict => ProcessExit::Undecided,
        exit => exit,
    })
}

/// How many blocks the time is for.
///
/// Errors: fewer than give a verdict.
fn blocks(args: &StudyAbArgs, pilot: &PilotRuns, cells: usize) -> Result<u32, CommandFailure> {
    let block_s = pilot.seconds_a_run * cells as f64;
    let pilot_s = pilot.seconds_a_run * f64::from(PILOT_RUNS);
    let blocks = (PLANNED_SHARE * (args.length.as_secs() - pilot_s) / block_s).floor();
    if blocks < f64::from(FEWEST_BLOCKS) {
        let needed_s = block_s * f64::from(FEWEST_BLOCKS) / PLANNED_SHARE + pilot_s;
        return Err(CommandFailure::usage(format!(
            "--for {}: a run takes {:.0} s here, and a verdict needs at least {:.0} min: raise \
             --for, or shorten the runs with --time and --warmup",
            args.length,
            pilot.seconds_a_run,
            (needed_s / 60.0).ceil()
        )));
    }
    Ok((blocks as u32).min(MOST_BLOCKS))
}
