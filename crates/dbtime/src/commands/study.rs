//! `dbtime study`: configurations compared so that the verdict can be believed.

use crate::artifacts::RECORDS;
use crate::cli::{
    StudyArgs, StudyCommand, StudyPlanArgs, StudyReportArgs, StudyResumeArgs, StudyRunArgs,
    StudyShownArgs,
};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::ProgressAudience;
use crate::output_file::{
    all_of, begin_junit, begin_markdown, begin_page, check_named, write_all_named,
    write_into_record,
};
use crate::read_files::{refuse_beside_json, refuse_clashes};
use crate::study::{FlagGrammar, make_runs, pilot_runs};
use crate::sweep;
use crate::{interrupt, pipes, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::store::check_place;
use dbtime_lab::study::{
    PilotFolder, PlanOverrides, PlannedStudy, ResumeChoices, RunCost, RunSet, StudyTime,
    changed_plan, changed_runs, identify_program, plan_study, planned_orders, write_table,
};
use dbtime_model::bounded_file;
use dbtime_model::plain_text::legible_path;
use dbtime_model::shell::quoted;
use dbtime_model::study::{
    NoiseRule, RecordedStudy, RunOrder, StudyRun, TrialOutcome, is_study, study_file,
};
use dbtime_report::compare::{
    StudyComparison, brief_plan_text, plan_text, short_study_document, study_document, study_junit,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the files of a report are begun under.
const REPORT: &str = "dbtime study report";

pub(crate) fn run(args: &StudyArgs) -> Result<ProcessExit, CommandFailure> {
    match &args.command {
        StudyCommand::Plan(args) => planned(args),
        StudyCommand::Run(args) => begun(args),
        StudyCommand::Resume(args) => resumed(args),
        StudyCommand::Report(args) => reported(args),
        StudyCommand::Pack(args) => super::study_pack::pack(args),
        StudyCommand::Verify(args) => super::study_pack::verify(args),
        StudyCommand::Ab(args) => super::study_ab::run(args),
    }
}

fn planned(args: &StudyPlanArgs) -> Result<ProcessExit, CommandFailure> {
    let given = PlanOverrides { blocks: args.blocks, slices: args.slices, allow: &args.allow };
    let mut study = read_file(&args.file, given)?;
    if let Some(runs) = args.pilot {
        let audience = ProgressAudience::of(args.json);
        let found = pilot_runs(&study, runs, audience, &interrupt::install())?;
        study.plan.pilot = Some(found.runs);
    }
    if args.json {
        let json = serde_json::to_string_pretty(&study.plan);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
    } else {
        let orders = planned_orders(&study.plan);
        screen::result(&plan_text(&study.plan, &orders, screen::style()));
    }
    Ok(ProcessExit::Fine)
}

fn begun(args: &StudyRunArgs) -> Result<ProcessExit, CommandFailure> {
    keep_for_json(&args.shown)?;
    let given = PlanOverrides { blocks: args.blocks, slices: args.slices, allow: &args.allow };
    let mut study = read_file(&args.file, given)?;
    refuse_taken(args.out.as_deref())?;
    let stop = stop(args.out.as_deref());
    if let Some(runs) = args.pilot {
        let audience = ProgressAudience::of(args.shown.quiet);
        let found = pilot_runs(&study, runs, audience, &stop)?;
        study.plan.pilot = Some(found.runs);
    }
    Ok(make(&study, args.out.clone(), &args.shown, &stop, None)?.exit)
}

/// What came of the runs of a study.
pub(super) struct StudyEnd {
    /// How the command ends, whatever the verdicts are, but for a gate.
    exit: ProcessExit,
    /// Whether there is a verdict on any configuration.
    has_verdict: bool,
}

impl StudyEnd {
    /// How the command ends where the verdict decides that, however the runs came to their end, but
    /// for errors and signals. That configurations differ is as good an answer as that they do not.
    pub(super) fn by_verdict(&self, shown: &StudyShownArgs) -> ProcessExit {
        match self.exit {
            exit if shown.gate => exit,
            ProcessExit::Fine | ProcessExit::Undecided if self.has_verdict => ProcessExit::Fine,
            ProcessExit::Fine => ProcessExit::Undecided,
            exit => exit,
        }
    }
}

/// A place that cannot be taken is known before anything is measured.
pub(super) fn refuse_taken(out: Option<&Path>) -> Result<(), CommandFailure> {
    out.map(check_place).transpose()?;
    Ok(())
}

/// How long a study takes, and what was done of it before.
pub(super) struct StudyPace<'a> {
    pub(super) time: StudyTime,
    /// What one of its runs takes, as far as is known.
    pub(super) cost: RunCost,
    /// Where the data are that its configurations have loaded when they were started.
    pub(super) snapshots: &'a PilotFolder,
}

/// Makes the runs of a study that was planned, in a new folder, and shows what came of it.
pub(super) fn make(
    study: &PlannedStudy,
    out: Option<PathBuf>,
    shown: &StudyShownArgs,
    stop: &RunStop,
    pace: Option<StudyPace<'_>>,
) -> Result<StudyEnd, CommandFailure> {
    let folder = match out {
        Some(out) => out,
        None => free_folder(&study.plan.name)?,
    };
    // A signal that comes meanwhile leaves no folder.
    identify_program(stop)?;
    let mut runner = RunSet::create(&folder, &study.plan, &study.source)?;
    if !shown.json && !shown.quiet {
        let file = shell_name(&folder.join(study_file::SOURCE));
        screen::result(&brief_plan_text(&study.plan, &file, screen::style()));
    }
    if let Some(pace) = pace {
        runner.fill(pace.time, pace.cost);
        runner.take_over(pace.snapshots)?;
    }
    finish(runner, &folder, shown, stop)
}

fn resumed(args: &StudyResumeArgs) -> Result<ProcessExit, CommandFailure> {
    keep_for_json(&args.shown)?;
    let folder = folder_of(&args.study)?;
    let choices = ResumeChoices {
        is_new_session: args.new_session,
        retries_left_out: args.retry_left_out,
        repeats: args.repeats,
    };
    let mut runner = RunSet::resume(&folder, choices)?;
    let order = runner.plan().order;
    if args.shown.gate && order != RunOrder::Blocks {
        return Err(CommandFailure::usage(
            "--gate is for the runs of a study; of a sweep or a search `dbtime study report \
             --gate` exits by it",
        ));
    }
    limit_or_extend(&mut runner, args)?;
    for lost in runner.history().lost_runs(runner.plan().cells.len(), order) {
        let (place, reason) = (&lost.trial.folder, lost.reason.as_deref().unwrap_or_default());
        let again = match order {
            RunOrder::Blocks => format!("block {}", lost.trial.block),
            RunOrder::Rounds | RunOrder::Search => "it".to_owned(),
        };
        screen::note(&format!("dbtime: {place}: {reason}; {again} is made again"));
    }
    match order {
        RunOrder::Blocks => {
            if runner.loads_again() && !args.shown.quiet {
                screen::note("dbtime: data are loaded again: the snapshot of earlier runs is gone");
            }
            let (noise, stop) = (runner.plan().gate.noise, stop(Some(folder.as_path())));
            let end = finish(runner, &folder, &args.shown, &stop)?;
            Ok(match noise {
                NoiseRule::Count => end.by_verdict(&args.shown),
                NoiseRule::Stop => end.exit,
            })
        }
        RunOrder::Rounds => sweep::resume(runner, &args.shown),
        RunOrder::Search => sweep::resume_search(runner, &args.shown),
    }
}

/// Takes the time limit and the further blocks of a command line.
///
/// Errors: it is a sweep or a search, or the journal cannot be written.
fn limit_or_extend(runner: &mut RunSet, args: &StudyResumeArgs) -> Result<(), CommandFailure> {
    match (args.length, runner.plan().order) {
        (None, _) => {}
        (Some(length), RunOrder::Blocks) => {
            let run_s = runner.known_run_s();
            runner.limit(StudyTime::from_now(length.as_secs()), run_s);
        }
        (Some(_), RunOrder::Rounds | RunOrder::Search) => {
            let text = "--for limits a study in blocks: leave it out for a sweep or a search";
            return Err(CommandFailure::usage(text));
        }
    }
    if let Some(more) = args.blocks {
        runner.extend(more)?;
    }
    Ok(())
}

fn finish(
    mut runner: RunSet,
    folder: &Path,
    shown: &StudyShownArgs,
    stop: &RunStop,
) -> Result<StudyEnd, CommandFailure> {
    let ended = make_runs(&mut runner, shown.quiet, stop);
    let is_failed = |run: &StudyRun| run.outcome == Some(TrialOutcome::Failed);
    let has_failed = runner.history().runs.iter().any(is_failed);
    let stopped = stopped_by(&runner, folder);
    drop(runner);
    // What was measured before an end is shown all the same.
    let compared = show(folder, shown);
    let ended = ended?;
    let compared = compared?;
    let has_figures = compared.comparisons.iter().any(|one| !one.comparison.metrics.is_empty());
    let exit = match (ended, stopped) {
        (None, _) => ProcessExit::Undecided.of_part(),
        (Some(_), Some((reason, exit))) => {
            screen::error(&reason);
            exit
        }
        // Nothing that was wanted happened.
        (Some(reason), None) if !has_figures => {
            screen::error(&reason);
            if has_failed { ProcessExit::Environment } else { ProcessExit::Undecided }
        }
        (Some(_), None) if shown.gate => compared.gate_outcome().into(),
        (Some(_), None) => ProcessExit::Fine,
    };
    Ok(StudyEnd { exit, has_verdict: compared.has_verdict() })
}

/// Why no more runs are made of a study that is to have more, and what that ends with; `None`: it
/// has all of them, or was interrupted.
fn stopped_by(runner: &RunSet, folder: &Path) -> Option<(String, ProcessExit)> {
    let (history, folder) = (runner.history(), shell_name(folder));
    if let Some(noise) = &history.noise {
        return Some((noise.text(&folder), ProcessExit::Undecided));
    }
    Some((history.nothing_left(runner.plan(), &folder)?, ProcessExit::Environment))
}

/// Prints what a study has come to, and writes its page and its table.
fn show(folder: &Path, shown: &StudyShownArgs) -> Result<StudyComparison, CommandFailure> {
    let study = read(folder)?;
    let compared = gated(StudyComparison::of(&study), shown.gate);
    write_table(folder, &study)?;
    // What `verify` recomputes from the records, to which the plan's text is nothing.
    write_into_record(&folder.join(study_file::ANALYSIS), &json_of(&compared)?)?;
    let compared = at_folder(compared, folder, &study);
    let page = folder.join("report.html");
    let document = study_document(&compared);
    write_into_record(&page, &document.html())?;
    write_into_record(&folder.join("report.md"), &document.markdown())?;
    if shown.json {
        print_json(&compared)?;
    } else {
        screen::result("\n");
        screen::result(&short_study_document(&compared).text(screen::style()));
        let (place, page) = (legible_path(folder), legible_path(&page));
        screen::result(&format!("\nStudy: {place}\nReport: {page}\n"));
        show_further(&compared, folder);
    }
    Ok(compared)
}

/// The same with what has changed in this folder since the runs, which its commands name.
pub(super) fn at_folder(
    compared: StudyComparison,
    folder: &Path,
    study: &RecordedStudy,
) -> StudyComparison {
    let compared = compared.with_changed_plan(&changed_plan(folder, &study.history));
    compared.with_changed_runs(&changed_runs(folder, study)).placed_at(&shell_name(folder))
}

/// How the shell is given a path.
fn shell_name(path: &Path) -> String {
    quoted(&legible_path(path)).into_owned()
}

/// Prints the command that adds as many blocks as may decide what is open.
fn show_further(compared: &StudyComparison, folder: &Path) {
    let (Some(more), Some(folder)) = (compared.further_blocks(), folder.to_str()) else { return };
    let folder = quoted(folder);
    screen::result(&format!("More pairs: dbtime study resume {folder} --blocks {more}\n"));
}

fn reported(args: &StudyReportArgs) -> Result<ProcessExit, CommandFailure> {
    let written = [&args.junit, &args.markdown, &args.html];
    refuse_beside_json(args.json, written.into_iter().flatten())?;
    refuse_clashes(written.into_iter().flatten(), &args.studies)?;
    all_of(written.map(|path| check_named(path.as_deref())))?;
    all_of([
        begin_junit(args.junit.as_deref(), REPORT),
        begin_markdown(args.markdown.as_deref(), REPORT),
        begin_page(args.html.as_deref(), REPORT),
    ])?;
    let compared = gated(joined(&args.studies)?, args.gate);
    let document = study_document(&compared);
    let page = args.html.as_ref().map(|_| document.html()).unwrap_or_default();
    write_all_named([
        (&args.markdown, document.markdown()),
        (&args.junit, study_junit(&compared)),
        (&args.html, page),
    ])?;
    match &args.html {
        Some(path) => screen::result(&format!("Report: {}\n", legible_path(path))),
        None if args.json => print_json(&compared)?,
        None => {
            let shown = match args.details {
                true => document,
                false => short_study_document(&compared),
            };
            screen::result(&shown.text(screen::style()));
            // Blocks are added to one study, not to several that are looked at together.
            if let [study] = &args.studies[..] {
                show_further(&compared, &folder_of(study)?);
            }
        }
    }
    Ok(match (args.gate, &compared.found) {
        (false, _) => ProcessExit::Fine,
        (true, Some(found)) => sweep::search_exit(found),
        (true, None) => compared.gate_outcome().into(),
    })
}

/// With how the gate comes out where an exit code goes by it.
fn gated(compared: StudyComparison, is_gated: bool) -> StudyComparison {
    if is_gated { compared.gated() } else { compared }
}

/// What the studies of these places have come to together.
fn joined(places: &[PathBuf]) -> Result<StudyComparison, CommandFailure> {
    let mut studies: Vec<(String, RecordedStudy)> = Vec::new();
    let (mut changed, mut changed_in) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for place in places {
        let folder = folder_of(place)?;
        if !seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())) {
            let text = format!("{} is named twice: name each study once", folder.display());
            return Err(CommandFailure::usage(text));
        }
        let study = read(&folder)?;
        let name = folder.display().to_string();
        let prefix = if places.len() > 1 { format!("{name}/") } else { String::new() };
        let files = changed_plan(&folder, &study.history).into_iter();
        changed.extend(files.map(|file| format!("{prefix}{file}")));
        let runs = changed_runs(&folder, &study).into_iter();
        changed_in.extend(runs.map(|run| format!("{prefix}{run}")));
        studies.push((name, study));
    }
    let study = RecordedStudy::joined(studies).map_err(CommandFailure::usage)?;
    let compared = StudyComparison::of(&study).with_changed_plan(&changed);
    let compared = compared.with_changed_runs(&changed_in);
    Ok(match places {
        [place] => compared.placed_at(&shell_name(&folder_of(place)?)),
        _ => compared,
    })
}

fn print_json(compared: &StudyComparison) -> Result<(), CommandFailure> {
    screen::json(&json_of(compared)?);
    Ok(())
}

/// Everything that was compared, as one document.
pub(super) fn json_of(compared: &StudyComparison) -> Result<String, CommandFailure> {
    let json = serde_json::to_string_pretty(compared).map_err(CommandFailure::environment)?;
    Ok(json + "\n")
}

pub(super) fn read(folder: &Path) -> Result<RecordedStudy, CommandFailure> {
    RecordedStudy::read(folder).map_err(CommandFailure::environment)
}

fn read_file(path: &Path, given: PlanOverrides<'_>) -> Result<PlannedStudy, CommandFailure> {
    let text = pipes::awaited(path, || bounded_file::written_text(path)).map_err(|error| {
        CommandFailure::usage(format!("{} cannot be read: {error}", path.display()))
    })?;
    Ok(plan_study(&text, path, given, &FlagGrammar)?)
}

fn keep_for_json(shown: &StudyShownArgs) -> Result<(), CommandFailure> {
    if shown.json {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    Ok(())
}

/// What Ctrl-C sets. `folder`: that of the study, where it is known.
pub(super) fn stop(folder: Option<&Path>) -> std::sync::Arc<RunStop> {
    let place = folder.map_or("DIR".to_owned(), shell_name);
    interrupt::install_with(format!(
        "continue with dbtime study resume {place}; it repeats the interrupted run"
    ))
}

/// A new folder below the working one.
fn free_folder(name: &str) -> Result<PathBuf, CommandFailure> {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).take(40).collect();
    let folder = Path::new(RECORDS).join(format!("{time}-{name}"));
    check_place(&folder)?;
    Ok(folder)
}

/// The folder of a study by its name, or by the file that it was planned from.
pub(super) fn folder_of(place: &Path) -> Result<PathBuf, CommandFailure> {
    let file = place.file_name().and_then(|name| name.to_str());
    if file == Some(study_file::PLAN) {
        return Ok(place.parent().unwrap_or(Path::new(".")).to_owned());
    }
    if !place.is_file() {
        return Ok(place.to_owned());
    }
    let text = bounded_file::written_bytes(place).map_err(|error| {
        CommandFailure::usage(format!("{} cannot be read: {error}", place.display()))
    })?;
    let is_of_file = |folder: &PathBuf| {
        is_study(folder)
            && bounded_file::recorded_bytes(&folder.join(study_file::SOURCE))
                .is_ok_and(|source| source == text)
    };
    let folders = std::fs::read_dir(RECORDS).into_iter().flatten().flatten();
    // Their names begin with the time.
    folders.map(|entry| entry.path()).filter(is_of_file).max().ok_or_else(|| {
        CommandFailure::usage(format!(
            "no study in {RECORDS} was planned from the present text of {}: name the study's \
             folder",
            place.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_an_answer_however_the_runs_came_to_their_end() {
        use ProcessExit::{Environment, Fine, Undecided};
        for (exit, has_verdict, gate, expected) in [
            (Fine, true, false, Fine),
            (Undecided, true, false, Fine),
            (Fine, false, false, Undecided),
            (Undecided, false, false, Undecided),
            (Environment, true, false, Environment),
            (Undecided, true, true, Undecided),
            (Fine, false, true, Fine),
        ] {
            let shown = StudyShownArgs { gate, json: false, quiet: true };
            let end = StudyEnd { exit, has_verdict };
            assert_eq!(end.by_verdict(&shown), expected, "{exit:?}, {has_verdict}, {gate}");
        }
    }
}
