//! What a run of a study left in its folder: a run of dbtime, or one of an external program.

use super::program::{PROGRAM_SCHEMA, ProgramRecord};
use super::study_file;
use crate::bounded_file::recorded_text;
use crate::record::{PrimaryMetric, RunRecord, file, read_run_record};
use std::path::Path;

/// Why a run is in no verdict whose record was deleted.
const GONE: &str = "its record is not there any more";

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
        let path = folder.join(study_file::PROGRAM);
        let text = match recorded_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let record = read_run_record(folder).map_err(|error| error.to_string())?;
                return Ok(Self::Run(Box::new(record)));
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let record: ProgramRecord =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        if record.schema > PROGRAM_SCHEMA {
            let newer = record.schema;
            return Err(format!("{} has schema {newer}: use a newer dbtime", path.display()));
        }
        Ok(Self::Program(Box::new(record)))
    }

    /// Reads the record that a run of a study has left in its folder.
    ///
    /// # Errors
    /// There is none any more, or it is damaged: in words that do not name the folder.
    pub fn of_trial(folder: &Path) -> Result<Self, String> {
        let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
        if !is_there(file::RUN) && !is_there(study_file::PROGRAM) {
            return Err(GONE.to_owned());
        }
        let within = |error: String| error.replace(&format!("{}/", folder.display()), "");
        Self::read(folder).map_err(|error| format!("its record is of no use: {}", within(error)))
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
