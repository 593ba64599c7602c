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
use crate::read_files::refuse_clashes;
use crate::study::{FlagGrammar, make_runs, pilot_runs};
use crate::sweep;
use crate::{interrupt, pipes, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::store::check_place;
use dbtime_lab::study::{
    PlanOverrides, PlannedStudy, RunSet, changed_plan, identify_program, plan_study,
    planned_orders, write_table,
};
use dbtime_model::bounded_file;
use dbtime_model::plain_text::legible_path;
use dbtime_model::study::{RecordedStudy, RunOrder, is_study, study_file};
use dbtime_report::compare::{
    GroupOutcome, StudyComparison, plan_text, short_study_document, study_document, study_junit,
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
    let given = PlanOverrides { blocks: args.blocks, allow: &args.allow };
    let mut study = read_file(&args.file, given)?;
    if let Some(runs) = args.pilot {
        let audience = ProgressAudience::of(args.json);
        study.plan.pilot = Some(pilot_runs(&study, runs, audience, &interrupt::install())?);
    }
    if args.json {
        let json = serde_json::to_string_pretty(&study.plan);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
    } else {
        show_plan(&study);
    }
    Ok(ProcessExit::Fine)
}

/// Prints the plan.
pub(super) fn show_plan(study: &PlannedStudy) {
    screen::result(&plan_text(&study.plan, &planned_orders(&study.plan), screen::style()));
}

fn begun(args: &StudyRunArgs) -> Result<ProcessExit, CommandFailure> {
    keep_for_json(&args.shown)?;
    let given = PlanOverrides { blocks: args.blocks, allow: &args.allow };
    let mut study = read_file(&args.file, given)?;
    refuse_taken(args.out.as_deref())?;
    let stop = stop();
    if let Some(runs) = args.pilot {
        let audience = ProgressAudience::of(args.shown.quiet);
        study.plan.pilot = Some(pilot_runs(&study, runs, audience, &stop)?);
    }
    make(&study, args.out.clone(), &args.shown, &stop)
}

/// A place that cannot be taken is known before anything is measured.
pub(super) fn refuse_taken(out: Option<&Path>) -> Result<(), CommandFailure> {
    out.map(check_place).transpose()?;
    Ok(())
}

/// Makes the runs of a study that was planned, in a new folder, and shows what came of it.
pub(super) fn make(
    study: &PlannedStudy,
    out: Option<PathBuf>,
    shown: &StudyShownArgs,
    stop: &RunStop,
) -> Result<ProcessExit, CommandFailure> {
    if !shown.json {
        show_plan(study);
    }
    let folder = match out {
        Some(out) => out,
        None => free_folder(&study.plan.name)?,
    };
    // A signal that comes meanwhile leaves no folder.
    identify_program(stop)?;
    let runner = RunSet::create(&folder, &study.plan, &study.source)?;
    finish(runner, &folder, shown, stop)
}

fn resumed(args: &StudyResumeArgs) -> Result<ProcessExit, CommandFailure> {
    keep_for_json(&args.shown)?;
    let folder = folder_of(&args.study)?;
    let runner = RunSet::open(&folder, args.new_session)?;
    let order = runner.plan().order;
    for lost in runner.history().lost_runs(runner.plan().cells.len(), order) {
        let (place, reason) = (&lost.trial.folder, lost.reason.as_deref().unwrap_or_default());
        let again = match order {
            RunOrder::Blocks => format!("block {}", lost.trial.block),
            RunOrder::Rounds | RunOrder::Search => "it".to_owned(),
        };
        screen::note(&format!("dbtime: {place}: {reason}; {again} is made again"));
    }
    match order {
        RunOrder::Blocks => finish(runner, &folder, &args.shown, &stop()),
        RunOrder::Rounds => sweep::resume(runner, &args.shown),
        RunOrder::Search => sweep::resume_search(runner, &args.shown),
    }
}

fn finish(
    mut runner: RunSet,
    folder: &Path,
    shown: &StudyShownArgs,
    stop: &RunStop,
) -> Result<ProcessExit, CommandFailure> {
    let ended = make_runs(&mut runner, shown.quiet, stop);
    drop(runner);
    // What was measured before an end is shown all the same.
    let compared = show(folder, shown.json);
    let ended = ended?;
    let compared = compared?;
    let has_verdict = compared.comparisons.iter().any(|one| !one.comparison.metrics.is_empty());
    Ok(match ended {
        // Nothing that was wanted happened.
        Some(reason) if !has_verdict => {
            screen::error(&reason);
            ProcessExit::Environment
        }
        Some(_) => ProcessExit::Fine,
        None => ProcessExit::Undecided.of_part(),
    })
}

/// Prints what a study has come to, and writes its page and its table.
fn show(folder: &Path, is_json: bool) -> Result<StudyComparison, CommandFailure> {
    let study = read(folder)?;
    let compared = StudyComparison::of(&study);
    write_table(folder, &study)?;
    write_into_record(&folder.join(study_file::ANALYSIS), &json_of(&compared)?)?;
    let compared = compared.with_changed_plan(&changed_plan(folder, &study.history));
    let page = folder.join("report.html");
    let document = study_document(&compared);
    write_into_record(&page, &document.html())?;
    write_into_record(&folder.join("report.md"), &document.markdown())?;
    if is_json {
        print_json(&compared)?;
    } else {
        screen::result("\n");
        screen::result(&document.text(screen::style()));
        let (folder, page) = (legible_path(folder), legible_path(&page));
        screen::result(&format!("\nStudy: {folder}\nReport: {page}\n"));
    }
    Ok(compared)
}

fn reported(args: &StudyReportArgs) -> Result<ProcessExit, CommandFailure> {
    let written = [&args.junit, &args.markdown, &args.html];
    refuse_clashes(written.into_iter().flatten(), &args.studies)?;
    all_of(written.map(|path| check_named(path.as_deref())))?;
    all_of([
        begin_junit(args.junit.as_deref(), REPORT),
        begin_markdown(args.markdown.as_deref(), REPORT),
        begin_page(args.html.as_deref(), REPORT),
    ])?;
    let compared = joined(&args.studies)?;
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
        None if args.details => screen::result(&document.text(screen::style())),
        None => screen::result(&short_study_document(&compared).text(screen::style())),
    }
    let has = |outcome| compared.comparisons.iter().any(|one| one.verdict.outcome() == outcome);
    Ok(match (args.gate, &compared.found) {
        (false, _) => ProcessExit::Fine,
        (true, Some(found)) => sweep::search_exit(found),
        (true, None) if has(GroupOutcome::Worse) => ProcessExit::Failed,
        // What comes may decide otherwise.
        (true, None) if !compared.is_finished => ProcessExit::Undecided,
        (true, None) if has(GroupOutcome::Undecided) || compared.comparisons.is_empty() => {
            ProcessExit::Undecided
        }
        (true, None) => ProcessExit::Fine,
    })
}

/// What the studies of these places have come to together.
fn joined(places: &[PathBuf]) -> Result<StudyComparison, CommandFailure> {
    let mut studies: Vec<(String, RecordedStudy)> = Vec::new();
    let mut changed = Vec::new();
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
        studies.push((name, study));
    }
    let study = RecordedStudy::joined(studies).map_err(CommandFailure::usage)?;
    Ok(StudyComparison::of(&study).with_changed_plan(&changed))
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

/// What Ctrl-C sets.
pub(super) fn stop() -> std::sync::Arc<RunStop> {
    let left = "continue with dbtime study resume; it repeats the interrupted run";
    interrupt::install_with(left.to_owned())
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
