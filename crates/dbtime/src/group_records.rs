//! The runs of one side of a comparison: named one by one, by the folder that holds them, or by the
//! study that they are of. They are runs of dbtime, or all of an external program.

use crate::artifacts::PAGE;
use crate::exit::CommandFailure;
use crate::output_file::final_place;
use crate::recorded_sweep::recorded_sweep;
use crate::screen;
use dbtime_model::record::{ReadError, read_run_record, record_folder};
use dbtime_model::study::{ProgramRules, RecordedStudy, TrialRecord, is_study, study_file};
use std::path::{Path, PathBuf};

/// The runs of a side.
#[derive(Debug, Default)]
pub(crate) struct GroupRecords {
    /// Each with its place.
    pub(crate) records: Vec<(String, TrialRecord)>,
    /// How the runs were made of the first study of an external program among them.
    pub(crate) rules: Option<ProgramRules>,
}

/// The records at these places, each with its own.
///
/// Errors: one is no run and holds none, or cannot be read.
pub(crate) fn group_records(places: &[PathBuf]) -> Result<GroupRecords, CommandFailure> {
    let mut group = GroupRecords::default();
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
            add_study(&mut group, &folder)?;
            continue;
        }
        if let Some(program) = program_folder(&folder) {
            group.records.push((path.display().to_string(), program_record(program)?));
            continue;
        }
        match run_record(&folder) {
            Ok(record) => group.records.push((path.display().to_string(), record)),
            Err(error @ (ReadError::NotARun(_) | ReadError::HoldsRecords(_))) => {
                let held = held_by(&folder)?;
                if held.is_empty() {
                    return Err(error.into());
                }
                group.records.extend(held);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(group)
}

fn run_record(folder: &Path) -> Result<TrialRecord, ReadError> {
    read_run_record(folder).map(|record| TrialRecord::Run(Box::new(record)))
}

/// The folder of a run of an external program that is named by it or by its `program.json`.
pub(crate) fn program_folder(path: &Path) -> Option<&Path> {
    let is_record = path.is_file() && path.file_name().is_some_and(|it| it == study_file::PROGRAM);
    let folder = if is_record { path.parent()? } else { path };
    folder.join(study_file::PROGRAM).is_file().then_some(folder)
}

fn program_record(folder: &Path) -> Result<TrialRecord, CommandFailure> {
    TrialRecord::read(folder).map_err(CommandFailure::environment)
}

/// The folder of a run below that of a page, with a page of the run in it; `None`: it has none, or
/// is elsewhere.
pub(crate) fn folder_below(page: &Path, place: &str) -> Option<String> {
    let folder = record_folder(Path::new(place)).canonicalize().ok()?;
    let below = folder.strip_prefix(final_place(page).parent()?).ok()?.to_str()?.to_owned();
    folder.join(PAGE).is_file().then_some(below)
}

/// Adds the runs of a study's baseline that count.
fn add_study(group: &mut GroupRecords, folder: &Path) -> Result<(), CommandFailure> {
    let study = RecordedStudy::read(folder).map_err(CommandFailure::environment)?;
    if let Some(lost) = study.lost_text() {
        let place = folder.display();
        screen::note(&format!("dbtime: {place}: {lost}; the verdict rests on its other blocks"));
    }
    let before = group.records.len();
    let exclusions = study.history.exclusions(&study.plan);
    let runs = study.history.runs.iter().zip(study.records).zip(exclusions);
    for ((run, record), exclusion) in runs {
        let counts = run.trial.cell == 0 && exclusion.is_none();
        if let Some(record) = record.filter(|_| counts) {
            let place = folder.join(&run.trial.folder).display().to_string();
            group.records.push((place, record));
        }
    }
    if group.records.len() == before {
        return Err(CommandFailure::usage(format!(
            "{}: its baseline has no run that counts, so there is nothing to compare with: repeat \
             the study",
            folder.display()
        )));
    }
    group.rules = group.rules.take().or(study.plan.program);
    Ok(())
}

/// The runs in a folder, by their names.
fn held_by(folder: &Path) -> Result<Vec<(String, TrialRecord)>, CommandFailure> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    let record = |path: &PathBuf| {
        let place = path.display().to_string();
        if program_folder(path).is_some() {
            return Some(program_record(path).map(|record| (place, record)));
        }
        match run_record(path) {
            Ok(record) => Some(Ok((place, record))),
            Err(
                ReadError::NotARun(_)
                | ReadError::HoldsRecords(_)
                | ReadError::HoldsStudy(_)
                | ReadError::ListedSweep(_),
            ) => None,
            Err(error) => Some(Err(error.into())),
        }
    };
    folders.iter().filter(|path| path.is_dir()).filter_map(record).collect()
}
