//! What a run of a study left in its folder: a run of dbtime, or one of an external program.

use super::program::{PROGRAM_SCHEMA, ProgramRecord};
use super::study_file;
use crate::bounded_file::recorded_text;
use crate::record::{PrimaryMetric, ReadError, RunRecord, file, read_run_record};
use serde::Deserialize;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Why a run is in no verdict whose record was deleted.
const GONE: &str = "its record is not there any more";

/// What to do about a record that the system does not let be read.
const READABLE: &str = "make it readable for this user";

/// Why the record of a run is not to be had, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialReadError {
    /// It is gone or damaged.
    #[error("{0}")]
    Lost(String),
    /// It is there, and may be whole: a newer dbtime or another user reads it.
    #[error("{0}")]
    Unread(String),
}

impl TrialReadError {
    fn of_record(error: &ReadError) -> Self {
        match error {
            ReadError::Newer { .. } => Self::Unread(error.to_string()),
            ReadError::Io { path, source } => Self::of_system(path, source),
            _ => Self::Lost(error.to_string()),
        }
    }

    fn of_system(path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
                Self::Lost(format!("{path}: {error}"))
            }
            // The system has a number for what it refuses; without one it is about the contents.
            _ if error.raw_os_error().is_none() => Self::Lost(format!("{path}: {error}")),
            _ => Self::Unread(format!("cannot read {path}: {error}; {READABLE}")),
        }
    }
}

/// The record of a run of a study.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialRecord {
    /// Of `dbtime run`.
    Run(Box<RunRecord>),
    /// Of an external program.
    Program(Box<ProgramRecord>),
}

/// The same, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlacedRecord<'a> {
    /// Of `dbtime run`.
    Run(&'a RunRecord),
    /// Of an external program.
    Program(&'a ProgramRecord),
}

impl TrialRecord {
    /// Reads the record in a folder.
    ///
    /// # Errors
    /// There is none, or it is damaged, in words.
    pub fn read(folder: &Path) -> Result<Self, String> {
        Self::read_record(folder).map_err(|error| error.to_string())
    }

    fn read_record(folder: &Path) -> Result<Self, TrialReadError> {
        let path = folder.join(study_file::PROGRAM);
        match recorded_text(&path) {
            Ok(text) => Ok(Self::Program(Box::new(program_record(&text, &path)?))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let record = read_run_record(folder);
                let record = record.map_err(|error| TrialReadError::of_record(&error))?;
                Ok(Self::Run(Box::new(record)))
            }
            Err(error) => Err(TrialReadError::of_system(&path, &error)),
        }
    }

    /// Reads the record that a run of a study has left in its folder.
    ///
    /// # Errors
    /// There is none any more, or it is damaged: in words that do not name the folder. Or it cannot
    /// be read.
    pub fn of_trial(folder: &Path) -> Result<Self, TrialReadError> {
        let [run, program] = [file::RUN, study_file::PROGRAM].map(|name| folder.join(name));
        let found = run.symlink_metadata().or_else(|_| program.symlink_metadata());
        found.map_err(|error| match TrialReadError::of_system(folder, &error) {
            TrialReadError::Lost(_) => TrialReadError::Lost(GONE.to_owned()),
            unread => unread,
        })?;
        let within = |error: String| error.replace(&format!("{}/", folder.display()), "");
        Self::read_record(folder).map_err(|error| match error {
            TrialReadError::Lost(error) => {
                TrialReadError::Lost(format!("its record is of no use: {}", within(error)))
            }
            unread => unread,
        })
    }

    /// The same, borrowed.
    pub fn placed(&self) -> PlacedRecord<'_> {
        match self {
            Self::Run(record) => PlacedRecord::Run(record),
            Self::Program(record) => PlacedRecord::Program(record),
        }
    }

    /// Where it is a run of dbtime.
    pub fn run(&self) -> Option<&RunRecord> {
        self.placed().run()
    }

    /// Its value of the metric of this name; `None`: it has none.
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.placed().value(metric)
    }
}

/// Reads the record of an external program; `path` is only for messages.
fn program_record(text: &str, path: &Path) -> Result<ProgramRecord, TrialReadError> {
    /// Only the version, so that a newer record is refused by name whatever else it holds.
    #[derive(Deserialize)]
    struct ProgramVersion {
        #[serde(default)]
        schema: u32,
    }
    let path = path.display();
    let damaged = |error: serde_json::Error| TrialReadError::Lost(format!("{path}: {error}"));
    let version: ProgramVersion = serde_json::from_str(text).map_err(damaged)?;
    if version.schema > PROGRAM_SCHEMA {
        let newer = version.schema;
        return Err(TrialReadError::Unread(format!(
            "{path} has schema {newer}: use a newer dbtime"
        )));
    }
    serde_json::from_str(text).map_err(damaged)
}

impl<'a> PlacedRecord<'a> {
    /// Where it is a run of dbtime.
    pub fn run(self) -> Option<&'a RunRecord> {
        match self {
            Self::Run(record) => Some(record),
            Self::Program(_) => None,
        }
    }

    /// When its load started, or the program, UTC, RFC 3339.
    pub fn started_at(self) -> &'a String {
        match self {
            Self::Run(record) => &record.started_at,
            Self::Program(record) => &record.started_at,
        }
    }

    /// Its value of the metric of this name; `None`: it has none.
    pub fn value(self, metric: &str) -> Option<f64> {
        match self {
            Self::Run(record) => PrimaryMetric::named(metric)?.value(record),
            Self::Program(record) => record.values.get(metric).copied(),
        }
    }

    /// How long its load took. Unit: seconds.
    pub fn load_s(self) -> f64 {
        match self {
            Self::Run(record) => record.window.warmup_s + record.window.measure_s,
            Self::Program(record) => record.wall_s,
        }
    }
}

impl<'a> From<&'a RunRecord> for PlacedRecord<'a> {
    fn from(record: &'a RunRecord) -> Self {
        Self::Run(record)
    }
}
