//! `dbtime runs`: the records there are, newest first.

use crate::artifacts::RECORDS;
use crate::cli::RunsArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_model::record::{
    LoadMode, ReadError, RunFigure, RunRecord, ValidityGrade, read_run_record, record_folder,
};
use dbtime_model::study::{
    RecordedStudy, RunOrder, StudyHistory, StudyPlan, StudyReadError, is_study, read_plan,
};
use dbtime_report::one_line;
use dbtime_report::terminal::{RecordLine, records_table};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of the document that `--json` prints.
const SCHEMA: u32 = 1;

/// What `--json` prints.
#[derive(Serialize)]
struct RecordList {
    schema: u32,
    /// The folder that was looked into.
    folder: PathBuf,
    /// Newest first; those that cannot be read last.
    records: Vec<RecordLine>,
}

pub(crate) fn run(args: &RunsArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = args.folder.as_deref().map_or_else(|| RECORDS.into(), record_folder);
    let mut records = match folder.is_dir() {
        true => records(&folder)?,
        // Nothing was run here yet.
        false if args.folder.is_none() => Vec::new(),
        false => {
            return Err(CommandFailure::environment(format!("{} is no folder", folder.display())));
        }
    };
    records.sort_by(|x, y| y.started_at.cmp(&x.started_at).then_with(|| x.folder.cmp(&y.folder)));
    if args.json {
        let list = RecordList { schema: SCHEMA, folder, records };
        let json = serde_json::to_string_pretty(&list).map_err(CommandFailure::environment)?;
        screen::json(&(json + "\n"));
    } else if records.is_empty() {
        let place = one_line(&folder.display().to_string());
        screen::result(&format!("no records in {place}: `dbtime run` makes one\n"));
    } else {
        screen::result(&records_table(&records, screen::style()));
    }
    Ok(ProcessExit::Fine)
}

/// Every record in a folder, or the folder's own.
fn records(folder: &Path) -> Result<Vec<RecordLine>, CommandFailure> {
    if folder.join(dbtime_model::record::file::RUN).is_file() {
        return Ok(vec![line(folder)].into_iter().flatten().collect());
    }
    let failed =
        |error| CommandFailure::environment(format!("cannot read {}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?;
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    Ok(folders.filter_map(|path| line(&path)).collect())
}

/// The line of one folder; `None` where it holds no record.
fn line(folder: &Path) -> Option<RecordLine> {
    if is_study(folder) {
        let line = match of_plan(folder) {
            Ok(line) => line,
            Err(error) => RecordLine { problem: Some(error.to_string()), ..RecordLine::default() },
        };
        return Some(RecordLine { folder: folder.display().to_string(), ..line });
    }
    let line = match read_run_record(folder) {
        Ok(record) => of_run(&record),
        Err(ReadError::NotARun(_) | ReadError::HoldsRecords(_)) => return None,
        Err(error) => RecordLine { problem: Some(error.to_string()), ..RecordLine::default() },
    };
    Some(RecordLine { folder: folder.display().to_string(), ..line })
}

fn of_run(record: &RunRecord) -> RecordLine {
    RecordLine {
        started_at: record.started_at.clone(),
        workload: record.workload.name.clone(),
        target: record.target.identity(),
        rate: record.load.rate.clone().filter(|_| record.load.mode != LoadMode::Closed),
        throughput_tps: Some(record.throughput_tps),
        p99_us: RunFigure::listed("p99").value(record),
        valid: record.validity.valid,
        is_noisy: record.validity.grade() == ValidityGrade::Noisy,
        ..RecordLine::default()
    }
}

/// A study, a sweep or a search.
fn of_plan(folder: &Path) -> Result<RecordLine, StudyReadError> {
    let (plan, _) = read_plan(folder)?;
    match plan.order {
        RunOrder::Blocks => of_study(folder, &plan),
        RunOrder::Rounds | RunOrder::Search => Ok(of_sweep(&RecordedStudy::read(folder)?)),
    }
}

/// The blocks that count; their runs are not read.
fn of_study(folder: &Path, plan: &StudyPlan) -> Result<RecordLine, StudyReadError> {
    let history = StudyHistory::read(folder, plan)?;
    let blocks = history.complete_blocks(plan.cells.len());
    let runs = blocks.iter().map(|block| block.runs.len()).sum::<usize>() as u64;
    let left = u64::from(history.most_blocks(plan)).saturating_sub(blocks.len() as u64);
    // What is left out has runs in blocks before, and in none that is to come.
    let of_block = history.cells_of_block(plan.cells.len()) as u64;
    let planned = runs + left * of_block * u64::from(plan.design.slices.max(1));
    let is_finished = history.finished.is_some();
    let spec = plan.cells.first().and_then(|cell| cell.spec.as_ref());
    Ok(RecordLine {
        started_at: history.sessions.first().map_or_else(String::new, |first| first.at.clone()),
        workload: plan.name.clone(),
        target: spec.map_or("a program", |spec| spec.target.url.as_str()).to_owned(),
        runs: Some(runs),
        planned: Some(if is_finished { runs } else { planned }),
        is_finished_study: Some(is_finished),
        ..RecordLine::default()
    })
}

/// The figures of its run with the highest throughput, under the workload and target of the first.
fn of_sweep(study: &RecordedStudy) -> RecordLine {
    let runs = study.made_runs();
    let records = || runs.iter().map(|run| run.record);
    let measured = records().filter(|record| record.counts.completed > 0);
    let best = measured.max_by(|x, y| x.throughput_tps.total_cmp(&y.throughput_tps));
    let cut_off = u64::from(study.cut_off_run().is_some());
    let made = (runs.len() as u64).saturating_sub(cut_off);
    let first = study.history.sessions.first();
    RecordLine {
        started_at: first.map_or_else(String::new, |first| first.at.clone()),
        runs: Some(made),
        planned: Some(study.plan.most_runs().unwrap_or(made)),
        rate: None,
        throughput_tps: best.map(|record| record.throughput_tps),
        p99_us: best.and_then(|record| RunFigure::listed("p99").value(record)),
        valid: made > 0 && records().all(|record| record.validity.valid),
        is_noisy: false,
        ..records().next().map(of_run).unwrap_or_default()
    }
}
