//! Reading a study's folder. Writing one is the lab's business alone.

use super::history::StudyHistory;
use super::journal::TrialOutcome;
use super::plan::{RunOrder, StudyPlan, StudyReadError, read_plan};
use super::trial_record::TrialRecord;
use crate::record::file;
use std::path::Path;

/// Why a run is in no verdict whose folder was deleted.
const GONE: &str = "its record is not there any more";

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
    /// Reads the study in a folder. A run of a sweep or a search whose folder was deleted does not
    /// count.
    ///
    /// # Errors
    /// It is none, or its plan or journal is damaged, or the record of a run that counts is.
    pub fn read(folder: &Path) -> Result<Self, StudyReadError> {
        let (plan, _) = read_plan(folder)?;
        let mut history = StudyHistory::read(folder, &plan)?;
        let mut records = Vec::new();
        for run in &mut history.runs {
            let place = folder.join(&run.trial.folder);
            let may_be_gone = plan.order != RunOrder::Blocks && !place.join(file::RUN).exists();
            records.push(match TrialRecord::read(&place) {
                Ok(record) => Some(record),
                Err(_) if run.counts() && may_be_gone => {
                    run.outcome = Some(TrialOutcome::Invalid);
                    run.reason = Some(GONE.to_owned());
                    None
                }
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
