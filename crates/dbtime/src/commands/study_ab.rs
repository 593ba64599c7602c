//! `dbtime study ab`: two settings compared in one line, without a file.

use super::study::{StudyPace, make, refuse_taken, stop};
use crate::cli::{StudyAbArgs, StudyShownArgs};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::ProgressAudience;
use crate::output_file::{check_named, write_named};
use crate::read_files::refuse_clashes;
use crate::study::{
    BlockTimes, FEWEST_BLOCKS, PairChoices, PairTrace, RunLoad, StudyPilot, TimePlan, draft,
    loud_machine,
};
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::study::{GateReading, PilotFindings, PilotFolder, StudyTime};
use dbtime_model::Nanos;
use dbtime_model::study::{GateLimits, PilotRuns};
use std::path::Path;

pub(crate) fn run(args: &StudyAbArgs) -> Result<ProcessExit, CommandFailure> {
    let given = &args.run.0;
    if given.json {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    let time = StudyTime::from_now(args.length.as_secs());
    // Everything that can be refused is refused before the first run.
    let fewest = draft(args, PairChoices::default())?.plan(FEWEST_BLOCKS)?;
    let times = TimePlan::of(&fewest.plan, args);
    times.check()?;
    refuse_taken(given.out.as_deref())?;
    refuse_clashes(args.save.iter().chain(&given.out), &given.read_files())?;
    check_named(args.save.as_deref())?;
    let stop = stop(given.out.as_deref());
    let is_loud = note_loudness(&fewest.plan.gate, &stop);
    let tracing = PairTrace::of(args, &fewest.plan);
    if let Some(note) = tracing.note().filter(|_| !given.quiet) {
        screen::note(&format!("dbtime: {note}"));
    }
    let is_traced = tracing == PairTrace::Added;
    let mut choices = PairChoices { is_traced, is_loud, ..PairChoices::default() };
    let snapshots = PilotFolder::temporary()?;
    let before = PairBefore { times: &times, time, snapshots: snapshots.path() };
    let (piloted, found) = before.piloted(args, &mut choices, &stop)?;
    let rest = times.blocks(piloted, &found, time.left_s());
    note_windows(args.length, &times, &rest);
    choices.load = (rest.load != times.load).then_some(rest.load);
    choices.slices = (times.slices > 1).then_some(rest.slices);
    let mut study = draft(args, choices)?.plan(rest.blocks)?;
    let BlockTimes { run_s, chosen, .. } = rest;
    study.plan.pilot = Some(PilotRuns { seconds_a_run: run_s, chosen, ..found.runs });
    let pace = StudyPace { time, cost: rest.cost(), snapshots: &snapshots };
    if let Some(path) = &args.save {
        write_named(path, &study.source)?;
    }
    let shown = StudyShownArgs { gate: args.gate, json: given.json, quiet: given.quiet };
    let end = make(&study, given.out.clone(), &shown, &stop, Some(pace))?;
    Ok(end.by_verdict(&shown))
}

/// What there is before the first block.
struct PairBefore<'a> {
    times: &'a TimePlan,
    time: StudyTime,
    /// Where the data are kept that both sides load.
    snapshots: &'a Path,
}

impl PairBefore<'_> {
    /// Starts both sides once, and makes runs of A by which the rest is planned; with the load of
    /// these. What could not be traced is not traced from here on.
    ///
    /// Errors: a side does not work, a run could not be made, or none ended in time.
    fn piloted(
        &self,
        args: &StudyAbArgs,
        choices: &mut PairChoices,
        stop: &RunStop,
    ) -> Result<(RunLoad, PilotFindings), CommandFailure> {
        let (runs, load) = self.times.pilot();
        choices.load = (load != self.times.load).then_some(load);
        let planned = draft(args, *choices)?.plan(FEWEST_BLOCKS)?;
        let (most_s, snapshots) = (self.times.pilot_s(), self.snapshots);
        let audience = ProgressAudience::of(args.run.0.quiet);
        let pilot = StudyPilot { planned: &planned, runs, most_s, snapshots, audience };
        let too_long =
            || format!("--for {}: a run of A had not ended by then: raise --for", args.length);
        let found = self.time.within(stop, || pilot.of_pair(stop)).map_err(|failure| {
            match self.time.is_over() && interrupt::signal().is_none() {
                true => CommandFailure::environment(too_long()),
                false => failure,
            }
        })?;
        if let Some(why) = found.untraced.as_ref().filter(|_| choices.is_traced) {
            screen::note(&format!("dbtime: both sides go on without tracing: {why}"));
            choices.is_traced = false;
        }
        Ok((load, found))
    }
}

/// Says before anything is run what is loud on the machine; whether anything is.
fn note_loudness(limits: &GateLimits, stop: &RunStop) -> bool {
    // The gate looks at nothing then.
    if limits.wait_s == 0.0 {
        return false;
    }
    let found = GateReading::take(stop).and_then(|found| loud_machine(&found, limits));
    found.iter().for_each(|loud| screen::note(&format!("dbtime: {loud}")));
    found.is_some()
}

/// Says where windows are shorter than they were to be, and where there is no time for a verdict
/// all the same.
fn note_windows(limit: Nanos, times: &TimePlan, rest: &BlockTimes) {
    if let RunLoad::Windows { time_s, warmup_s } = rest.load
        && rest.load != times.load
        && rest.chosen.is_none()
    {
        screen::note(&format!(
            "dbtime: windows of {time_s:.1} s behind {warmup_s:.1} s of warm-up, so that all fits \
             into --for {limit}"
        ));
    }
    if rest.blocks < FEWEST_BLOCKS {
        screen::note(&format!(
            "dbtime: --for {limit} is too short for a verdict, which takes {FEWEST_BLOCKS} blocks: \
             what there is time for is made"
        ));
    }
}
