//! `dbtime compare`: two runs, two sweeps or two digests of logs side by side; two groups of runs,
//! or files of other tools, with a verdict.

use crate::cli::{CompareArgs, UnitDirection};
use crate::exit::{CommandFailure, ProcessExit};
use crate::foreign_files::{foreign_files, foreign_places};
use crate::group_records::{GroupRecords, folder_below, group_records, program_folder};
use crate::log_digests::digest_places;
use crate::output_file::{
    all_of, begin_junit, begin_markdown, begin_page, check_named, write_all_named, write_named,
};
use crate::read_files::{refuse_beside_json, refuse_clashes};
use crate::recorded_sweep::recorded_sweep;
use crate::screen;
use dbtime_model::log_digest::LogDigest;
use dbtime_model::near_names::hint;
use dbtime_model::plain_text::legible_path;
use dbtime_model::record::{PrimaryMetric, read_run_record, record_folder};
use dbtime_model::study::{PlacedRecord, ProgramRecord, ProgramRules, TrialRecord};
use dbtime_report::ReportDocument;
use dbtime_report::compare::{
    ForeignComparison, ForeignFile, GroupComparison, GroupOptions, PlacedRun, RunComparison,
    SweepComparison, foreign_document, foreign_junit, groups_document, groups_junit,
    recorded_rules, runs_document, short_foreign_document, short_groups_document,
    short_runs_document, short_sweeps_document, sweeps_document,
};
use dbtime_report::log::{DigestComparison, digests_document, short_digests_document};
use dbtime_stats::VerdictRule;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What files are begun under.
const NAME: &str = "dbtime compare";

/// The smallest change of interest where none is given, as a share.
const MARGIN: f64 = 0.01;

pub(crate) fn run(args: &CompareArgs) -> Result<ProcessExit, CommandFailure> {
    // clap takes all that is behind `--` for runs.
    let is_option = |path: &&PathBuf| path.as_os_str().as_encoded_bytes().starts_with(b"--");
    if let Some(option) = args.b.iter().find(is_option) {
        let option = option.display();
        return Err(CommandFailure::usage(format!(
            "put {option} before the runs of the first side"
        )));
    }
    // Of fewer places one may have been taken for a file to write to.
    if !args.b.is_empty() || args.a.len() == 2 {
        begin_files(args)?;
    }
    if let Some(sides) = digest_places(&args.a, &args.b)? {
        return digests(args, &sides);
    }
    if let Some(sides) = foreign_places(&args.a, &args.b)? {
        return foreign(args, sides);
    }
    if !args.better.is_empty() {
        return Err(CommandFailure::usage(
            "--better names a unit of files of other tools: of runs it is known which way each \
             figure is better",
        ));
    }
    match (&args.a[..], &args.b[..]) {
        (_, []) if args.markdown.is_some() || args.junit.is_some() => {
            Err(needs_groups("--markdown and --junit hold verdicts, which need"))
        }
        (_, []) if args.gate => Err(needs_groups("--gate needs")),
        (_, []) if args.primary.is_some() || args.margin.is_some() => {
            Err(needs_groups("--primary and --margin need"))
        }
        ([a, b], []) => two(args, [a, b]),
        (_, []) => Err(CommandFailure::usage(
            "name two runs or two sweeps, or the runs of two groups with `--` between: dbtime \
             compare A1 A2 A3 -- B1 B2 B3",
        )),
        (a, b) => groups(args, [a, b]),
    }
}

/// What single runs have no verdict for, and how to come by one.
fn needs_groups(what: &str) -> CommandFailure {
    CommandFailure::usage(format!(
        "{what} two groups of runs, as single runs have no verdict: dbtime compare A1 A2 A3 -- B1 \
         B2 B3; `dbtime study ab` makes such runs"
    ))
}

/// Begins what is to be written, before anything is read, so that no older result stays there.
fn begin_files(args: &CompareArgs) -> Result<(), CommandFailure> {
    let written = [&args.junit, &args.markdown, &args.html];
    refuse_beside_json(args.json, written.into_iter().flatten())?;
    refuse_clashes(written.into_iter().flatten(), args.a.iter().chain(&args.b))?;
    all_of(written.map(|path| check_named(path.as_deref())))?;
    all_of([
        begin_junit(args.junit.as_deref(), NAME),
        begin_markdown(args.markdown.as_deref(), NAME),
        begin_page(args.html.as_deref(), NAME),
    ])
}

/// Two groups, with a verdict.
fn groups(args: &CompareArgs, sides: [&[PathBuf]; 2]) -> Result<ProcessExit, CommandFailure> {
    let [a, b] = [group_records(sides[0])?, group_records(sides[1])?];
    if let Some([one, other]) = same_run(a.records.iter().chain(&b.records)) {
        return Err(CommandFailure::usage(format!(
            "{one} and {other} are the same run: name each run once, since a run that counts twice \
             makes a verdict look more certain"
        )));
    }
    let program = program_rules([&a, &b], args.primary.as_deref())?;
    let of_runs = args.primary.as_deref().filter(|_| program.is_none());
    let primary = of_runs.map(PrimaryMetric::parse).transpose();
    let primary = primary.map_err(|why| CommandFailure::usage(format!("--primary: {why}")))?;
    let [a, b] = [&a, &b].map(|side| {
        side.records.iter().map(|(place, record)| placed(place, record)).collect::<Vec<_>>()
    });
    let rule = VerdictRule::new(args.margin.unwrap_or(MARGIN));
    let options = GroupOptions { rule, primary, program: program.as_ref(), names: ["A", "B"] };
    let compared = GroupComparison::of(&a, &b, options);
    let compared = match &args.html {
        Some(page) => compared.linked(|place| folder_below(page, place)),
        None => compared,
    };
    let compared = if args.gate { compared.gated() } else { compared };
    let document = groups_document(&compared);
    write_all_named([
        (&args.markdown, document.markdown()),
        (&args.junit, groups_junit(&compared)),
    ])?;
    show(args, &compared, &document, short_groups_document)?;
    Ok(if args.gate { compared.gate.outcome().into() } else { ProcessExit::Fine })
}

/// Files of other tools, with a verdict on each name.
fn foreign(args: &CompareArgs, sides: [&[PathBuf]; 2]) -> Result<ProcessExit, CommandFailure> {
    if args.primary.is_some() {
        return Err(CommandFailure::usage(
            "--primary names a figure of runs: of files all names are compared in all units",
        ));
    }
    let [mut a, mut b] = [foreign_files(sides[0])?, foreign_files(sides[1])?];
    set_directions(&args.better, a.iter_mut().chain(&mut b).map(|(_, file)| file))?;
    let rule = VerdictRule::new(args.margin.unwrap_or(MARGIN));
    let compared = ForeignComparison::of(&a, &b, rule).map_err(CommandFailure::environment)?;
    let compared = if args.gate { compared.gated() } else { compared };
    let document = foreign_document(&compared);
    write_all_named([
        (&args.markdown, document.markdown()),
        (&args.junit, foreign_junit(&compared)),
    ])?;
    show(args, &compared, &document, short_foreign_document)?;
    Ok(if args.gate { compared.outcome.into() } else { ProcessExit::Fine })
}

/// Says in all files which way units are better.
///
/// Errors: no file has such a unit.
fn set_directions<'a>(
    directions: &[UnitDirection],
    files: impl Iterator<Item = &'a mut ForeignFile>,
) -> Result<(), CommandFailure> {
    let mut is_known = vec![false; directions.len()];
    for file in files {
        for (known, UnitDirection { unit, is_higher }) in is_known.iter_mut().zip(directions) {
            *known |= file.set_better(unit, *is_higher);
        }
    }
    match is_known.iter().position(|is_known| !is_known) {
        None => Ok(()),
        Some(at) => Err(CommandFailure::usage(format!(
            "--better: no file has the unit {:?}: name one as the report has it, of CSV the \
             heading of a column",
            directions[at].unit
        ))),
    }
}

/// Two digests of logs, class by class.
fn digests(args: &CompareArgs, [a, b]: &[LogDigest; 2]) -> Result<ProcessExit, CommandFailure> {
    let is_on_verdicts = args.gate
        || args.margin.is_some()
        || args.primary.is_some()
        || !args.better.is_empty()
        || args.junit.is_some()
        || args.markdown.is_some();
    if is_on_verdicts {
        return Err(CommandFailure::usage(
            "--gate, --margin, --primary, --better, --junit and --markdown are about verdicts, \
             which two digests of logs do not have: leave them out",
        ));
    }
    let places: Vec<String> =
        args.a.iter().chain(&args.b).map(|path| path.display().to_string()).collect();
    let compared = DigestComparison::of([(&places[0], a), (&places[1], b)]);
    show(args, &compared, &digests_document(&compared), short_digests_document)?;
    Ok(ProcessExit::Fine)
}

/// What is compared of runs of an external program, as their study says, or by what all of them
/// have, the primary metric first; `None`: they are runs of dbtime.
fn program_rules(
    sides: [&GroupRecords; 2],
    primary: Option<&str>,
) -> Result<Option<ProgramRules>, CommandFailure> {
    let records: Vec<_> = sides.into_iter().flat_map(|side| &side.records).collect();
    let programs: Vec<_> =
        records.iter().filter_map(|(_, record)| program_record(record)).collect();
    if programs.is_empty() {
        return Ok(None);
    }
    if programs.len() < records.len() {
        return Err(CommandFailure::usage(
            "some of these are runs of dbtime and others of an external program, which have no \
             figure in common: compare like with like",
        ));
    }
    let known = sides.into_iter().find_map(|side| side.rules.clone());
    let recorded = recorded_rules(&programs);
    let rules = known.unwrap_or_else(|| recorded.clone());
    match (rules.metrics.is_empty(), primary) {
        (true, _) => Err(CommandFailure::usage(
            "these runs of an external program have no metric in common: name runs of one study",
        )),
        (false, Some(primary)) => with_primary(rules, &recorded, primary).map(Some),
        (false, None) => Ok(Some(rules)),
    }
}

/// The same rules with this metric first, of theirs or of what the records have.
fn with_primary(
    mut rules: ProgramRules,
    recorded: &ProgramRules,
    primary: &str,
) -> Result<ProgramRules, CommandFailure> {
    let all: Vec<_> = rules.metrics.iter().chain(&recorded.metrics).collect();
    let Some(metric) = all.iter().find(|metric| metric.name == primary) else {
        let known: BTreeSet<&str> = all.iter().map(|metric| metric.name.as_str()).collect();
        let hint = hint(primary, known);
        return Err(CommandFailure::usage(format!(
            "--primary is no metric that all of these runs have{hint}"
        )));
    };
    let metric = (*metric).clone();
    rules.metrics.retain(|other| other.name != primary);
    rules.metrics.insert(0, metric);
    Ok(rules)
}

fn program_record(record: &TrialRecord) -> Option<&ProgramRecord> {
    match record {
        TrialRecord::Program(record) => Some(record),
        TrialRecord::Run(_) => None,
    }
}

fn placed<'a>(place: &'a str, record: &'a TrialRecord) -> PlacedRun<'a> {
    PlacedRun { place, record: record.placed(), excluded: None, unit: None }
}

/// The places of two that are the same run, copied or named twice.
fn same_run<'a>(runs: impl Iterator<Item = &'a (String, TrialRecord)>) -> Option<[&'a str; 2]> {
    let mut runs: Vec<_> = runs.collect();
    let what = |record: &'a TrialRecord| match record.placed() {
        PlacedRecord::Run(record) => (&record.started_at, &record.ended_at, record.counts.offered),
        PlacedRecord::Program(record) => (&record.started_at, &record.ended_at, record.seed),
    };
    runs.sort_by_key(|(_, record)| what(record));
    let is_same = |two: &&[&'a (String, TrialRecord)]| {
        let [(_, one), (_, other)] = [two[0], two[1]];
        let has_same_figures = match (one, other) {
            (TrialRecord::Run(one), TrialRecord::Run(other)) => one.latency_us == other.latency_us,
            (TrialRecord::Program(one), TrialRecord::Program(other)) => one.values == other.values,
            _ => false,
        };
        what(one) == what(other) && has_same_figures
    };
    runs.windows(2).find(is_same).map(|two| [two[0].0.as_str(), two[1].0.as_str()])
}

/// Two runs or sweeps, without one.
fn two(args: &CompareArgs, [first, second]: [&PathBuf; 2]) -> Result<ProcessExit, CommandFailure> {
    let folders = [first, second].map(|path| record_folder(path));
    let [a, b] = [&folders[0], &folders[1]];
    let places = [first, second].map(|path| path.display().to_string());
    match (recorded_sweep(a)?, recorded_sweep(b)?) {
        (Some(one), Some(other)) => {
            let compared = SweepComparison::of([(&places[0], &one), (&places[1], &other)]);
            show(args, &compared, &sweeps_document(&compared), short_sweeps_document)?;
        }
        (None, None) => {
            let is_program = |path: &&&PathBuf| program_folder(&record_folder(path)).is_some();
            if let Some(program) = [first, second].iter().find(is_program) {
                return Err(CommandFailure::usage(format!(
                    "{} is a run of an external program, and such runs are compared in groups: \
                     dbtime compare A1 A2 A3 -- B1 B2 B3",
                    program.display()
                )));
            }
            let runs = [read_run_record(a)?, read_run_record(b)?];
            let compared = RunComparison::of([(&places[0], &runs[0]), (&places[1], &runs[1])]);
            show(args, &compared, &runs_document(&compared), short_runs_document)?;
        }
        (sweep_of_a, _) => {
            let is_a = sweep_of_a.is_some();
            let ([sweep, run], folder) =
                if is_a { ([first, second], a) } else { ([second, first], b) };
            // What is neither says so itself.
            read_run_record(if is_a { b } else { a })?;
            return Err(CommandFailure::usage(format!(
                "{} is a sweep and {} is a run: name two runs (a run of the sweep is {}) or two \
                 sweeps",
                sweep.display(),
                run.display(),
                folder.join("001").display()
            )));
        }
    }
    Ok(ProcessExit::Fine)
}

/// Shows a comparison in the form that is wanted; without `--details` text has its answer alone.
fn show<T: Serialize>(
    args: &CompareArgs,
    compared: &T,
    document: &ReportDocument,
    answer: impl Fn(&T) -> ReportDocument,
) -> Result<(), CommandFailure> {
    if let Some(path) = &args.html {
        write_named(path, &document.html())?;
    }
    if args.json {
        let json = serde_json::to_string_pretty(compared).map_err(CommandFailure::environment)?;
        screen::json(&(json + "\n"));
        return Ok(());
    }
    match &args.html {
        Some(path) => screen::result(&format!("Report: {}\n", legible_path(path))),
        None if args.details => screen::result(&document.text(screen::style())),
        None => screen::result(&answer(compared).text(screen::style())),
    }
    Ok(())
}
