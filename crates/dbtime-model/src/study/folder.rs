//! Reading a study's folder. Writing one is the lab's business alone.

use super::history::StudyHistory;
use super::plan::{StudyPlan, StudyReadError, read_plan};
use super::trial_record::TrialRecord;
use std::path::Path;

/// A study as read from its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedStudy {
    /// What it was going to do.
    pub plan: StudyPlan,
    /// What has happened.
    pub history: StudyHistory,
    /// The records of the runs of the history, in their order; `None`: it left none.
    pub records: Vec<Option<TrialRecord>>,
}

impl RecordedStudy {
    /// Reads the study in a folder.
    ///
    /// # Errors
    /// It is none, or its plan or journal is damaged, or the record of a run that counts is.
    pub fn read(folder: &Path) -> Result<Self, StudyReadError> {
        let (plan, _) = read_plan(folder)?;
        let history = StudyHistory::read(folder, &plan)?;
        let mut records = Vec::new();
        for run in &history.runs {
            let place = folder.join(&run.trial.folder);
            records.push(match TrialRecord::read(&place) {
                Ok(record) => Some(record),
                Err(reason) if run.counts() => {
                    return Err(StudyReadError::Run { path: place, reason });
                }
                // A run that failed or was interrupted may have left anything.
                Err(_) => None,
            });
        }
        Ok(Self { plan, history, records })
    }
}
