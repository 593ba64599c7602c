//! The runs of one side of a comparison: named one by one, by the folder that holds them, or by the
//! study that they are of.

use crate::exit::CommandFailure;
use crate::recorded_sweep::recorded_sweep;
use crate::screen;
use dbtime_model::record::{ReadError, RunRecord, read_run_record, record_folder};
use dbtime_model::study::{RecordedStudy, TrialRecord, is_study};
use std::path::{Path, PathBuf};

/// The records at these places, each with its own.
///
/// Errors: one is no run and holds none, or cannot be read.
pub(crate) fn group_records(
    places: &[PathBuf],
) -> Result<Vec<(String, RunRecord)>, CommandFailure> {
    let mut records = Vec::new();
    for path in places {
        let folder = record_folder(path);
        if recorded_sweep(&folder)?.is_some() {
            let place = path.display();
            return Err(CommandFailure::usage(format!(
                "{place} is a sweep: name its runs, such as {}",
                folder.join("001").display()
            )));
        }
        if is_study(&folder) {
            records.extend(of_study(&folder)?);
            continue;
        }
        match read_run_record(&folder) {
            Ok(record) => records.push((path.display().to_string(), record)),
            Err(error @ (ReadError::NotARun(_) | ReadError::HoldsRecords(_))) => {
                let held = held_by(&folder)?;
                if held.is_empty() {
                    return Err(error.into());
                }
                records.extend(held);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(records)
}

/// The runs of a study's baseline that count.
fn of_study(folder: &Path) -> Result<Vec<(String, RunRecord)>, CommandFailure> {
    let study = RecordedStudy::read(folder).map_err(CommandFailure::environment)?;
    if let Some(lost) = study.lost_text() {
        let place = folder.display();
        screen::note(&format!("dbtime: {place}: {lost}; the verdict rests on its other blocks"));
    }
    let mut records = Vec::new();
    let exclusions = study.history.exclusions(&study.plan);
    let runs = study.history.runs.iter().zip(study.records).zip(exclusions);
    for ((run, record), exclusion) in runs {
        let counts = run.trial.cell == 0 && exclusion.is_none();
        if let Some(TrialRecord::Run(record)) = record.filter(|_| counts) {
            records.push((folder.join(&run.trial.folder).display().to_string(), *record));
        }
    }
    match records.is_empty() {
        false => Ok(records),
        true => Err(CommandFailure::usage(format!(
            "{}: its baseline has no run of dbtime that counts, so there is nothing to compare \
             with: name a study of runs of dbtime, or repeat this one",
            folder.display()
        ))),
    }
}

/// The runs in a folder, by their names.
fn held_by(folder: &Path) -> Result<Vec<(String, RunRecord)>, CommandFailure> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    let record = |path: &PathBuf| match read_run_record(path) {
        Ok(record) => Some(Ok((path.display().to_string(), record))),
        Err(
            ReadError::NotARun(_)
            | ReadError::HoldsRecords(_)
            | ReadError::HoldsStudy(_)
            | ReadError::ListedSweep(_),
        ) => None,
        Err(error) => Some(Err(error.into())),
    };
    folders.iter().filter(|path| path.is_dir()).filter_map(record).collect()
}
