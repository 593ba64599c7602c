//! The folder of a sweep: `sweep.json`, its table, its page.

use crate::commands::report::write_into_record;
use crate::exit::CommandFailure;
use dbtime_lab::RecordedRun;
use dbtime_lab::store::write_sweep;
use dbtime_model::record::{
    FactorValue, FailedRun, FoundRate, RunRecord, SWEEP_SCHEMA, SweepRecord, SweepRun, read_sweep,
};
use dbtime_model::shell;
use dbtime_model::study::is_study;
use std::path::{Path, PathBuf};

/// Where a run stands in its sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweepPlace {
    /// From 1, in the order of time.
    pub(super) number: usize,
    /// Which repetition it is, from 0.
    pub(super) round: usize,
    /// Which combination, from 0.
    pub(super) combination: usize,
}

impl SweepPlace {
    /// A run that stands here, in the folder of its number.
    pub(super) fn listed(self, record: &RunRecord, factors: Vec<FactorValue>) -> SweepRun {
        SweepRun {
            folder: format!("{:03}", self.number),
            round: self.round as u64 + 1,
            combination: self.combination as u64,
            factors,
            ..SweepRun::from_record(record)
        }
    }

    /// One that could not be made, for this reason.
    pub(super) fn failed(self, factors: Vec<FactorValue>, reason: String) -> FailedRun {
        FailedRun {
            number: self.number as u64,
            round: self.round as u64 + 1,
            combination: self.combination as u64,
            factors,
            reason,
        }
    }
}

/// What a sweep leaves, kept up to date while it goes on.
pub(super) struct SweepFolder {
    /// `None` with --no-record.
    folder: Option<PathBuf>,
    record: SweepRecord,
    /// Whether it is that of a search that goes on when it is taken up.
    is_open: bool,
}

impl SweepFolder {
    pub(super) fn new(
        folder: Option<PathBuf>,
        command: String,
        factors: Vec<String>,
        planned: usize,
    ) -> Self {
        let directory = std::env::current_dir().unwrap_or_default();
        let record = SweepRecord {
            schema: SWEEP_SCHEMA,
            dbtime: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            directory: directory.to_string_lossy().into_owned(),
            started_at: jiff::Timestamp::now().to_string(),
            planned: planned as u64,
            factors,
            ..SweepRecord::default()
        };
        Self { folder, record, is_open: false }
    }

    /// That of a sweep that goes on.
    pub(super) fn of(folder: PathBuf, record: SweepRecord) -> Self {
        Self { folder: Some(folder), record, is_open: false }
    }

    /// Where it is.
    pub(super) fn path(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Whether there is no run yet, not even one that could not be made.
    pub(super) fn is_empty(&self) -> bool {
        self.record.runs.is_empty() && self.record.failed.is_empty()
    }

    /// The runs so far.
    pub(super) fn record(&self) -> &SweepRecord {
        &self.record
    }

    /// Adds a run, and writes what there is.
    pub(super) fn add(
        &mut self,
        run: &RecordedRun,
        factors: Vec<FactorValue>,
        place: SweepPlace,
    ) -> Result<(), CommandFailure> {
        // What could not be recorded is not in the list.
        if self.folder.is_some() && run.folder.is_none() {
            return Ok(());
        }
        let folder = run.folder.as_deref().and_then(Path::file_name);
        let folder = folder.map(|name| name.to_string_lossy().into_owned());
        let listed = place.listed(&run.record, factors);
        self.list(SweepRun { folder: folder.unwrap_or(listed.folder), ..listed });
        self.write()
    }

    /// Adds a run that was made before.
    pub(super) fn list(&mut self, run: SweepRun) {
        self.record.runs.push(run);
    }

    /// Adds a run that could not be made before.
    pub(super) fn list_failed(&mut self, run: FailedRun) {
        self.record.failed.push(run);
    }

    /// Notes that its search was ended before it had an answer.
    pub(super) fn leave_open(&mut self) {
        self.is_open = true;
    }

    /// Notes what a search found, which has as many runs as it took.
    pub(super) fn found(&mut self, found: FoundRate) -> Result<(), CommandFailure> {
        self.record.found = Some(found);
        self.record.planned = (self.record.runs.len() + self.record.failed.len()) as u64;
        self.write()
    }

    /// Adds a run that could not be made, and writes what there is.
    pub(super) fn add_failed(&mut self, run: FailedRun) -> Result<(), CommandFailure> {
        self.list_failed(run);
        self.write()
    }

    /// Writes what there is.
    pub(super) fn write(&mut self) -> Result<(), CommandFailure> {
        let tried = (self.record.runs.len() + self.record.failed.len()) as u64;
        // A search has planned none until it has ended.
        self.record.complete = tried > 0 && tried == self.record.planned;
        match &self.folder {
            Some(folder) => Ok(write_sweep(folder, &self.record)?),
            None => Ok(()),
        }
    }

    /// What can be done with the study that a sweep is.
    fn further(&self, folder: &Path) -> String {
        let record = &self.record;
        let place = shell::quoted(&folder.display().to_string()).into_owned();
        let is_repeated = record.runs.iter().any(|run| run.round > 1);
        match (is_study(folder), record.complete) {
            (false, _) => String::new(),
            (true, _) if self.is_open => format!("Go on: dbtime study resume {place}\n"),
            // The runs of a search are no repetitions of what is compared.
            (true, _) if record.found.is_some() => String::new(),
            (true, false) => format!("The other runs: dbtime study resume {place}\n"),
            (true, true) if is_repeated && !record.factors.is_empty() => {
                format!("Verdicts: dbtime study report {place}\n")
            }
            (true, true) => String::new(),
        }
    }

    /// Writes the page of what there is, and says where everything is.
    pub(super) fn finish(&self) -> Result<String, CommandFailure> {
        let is_there = |_: &&PathBuf| !self.record.runs.is_empty();
        let Some(folder) = self.folder.as_ref().filter(is_there) else { return Ok(String::new()) };
        let path = folder.join("report.html");
        write_into_record(&path, &dbtime_report::html::sweep_report(&read_sweep(folder)?))?;
        let (records, report) = (folder.display(), path.display());
        Ok(format!("\nRecords: {records}\nReport: {report}\n{}", self.further(folder)))
    }
}
