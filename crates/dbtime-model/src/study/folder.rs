//! Reading a study's folder. Writing one is the lab's business alone.

use super::history::StudyHistory;
use super::plan::{RunOrder, StudyPlan, StudyReadError, read_plan};
use super::trial_record::{TrialReadError, TrialRecord};
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
    /// Reads the study in a folder. A run whose record is gone or damaged does not count.
    ///
    /// # Errors
    /// It is none, its plan or journal is damaged, or the record of a run that counts is there and
    /// cannot be read.
    pub fn read(folder: &Path) -> Result<Self, StudyReadError> {
        let (plan, _) = read_plan(folder)?;
        let mut history = StudyHistory::read(folder, &plan)?;
        let mut records = Vec::new();
        // Of a round each run stands alone, and is made again whether it counted or not.
        let stands_alone = plan.order == RunOrder::Rounds;
        for run in &mut history.runs {
            let is_missed = run.counts() || stands_alone && run.is_kept();
            let place = folder.join(&run.trial.folder);
            // A run that failed or was interrupted may have left anything.
            let record = TrialRecord::of_trial(&place);
            match &record {
                Err(TrialReadError::Lost(reason)) if is_missed => run.lose(reason.clone()),
                Err(TrialReadError::Unread(reason)) if run.counts() => {
                    return Err(StudyReadError::Record(reason.clone()));
                }
                _ => {}
            }
            records.push(record.ok());
        }
        Ok(Self { plan, history, records })
    }
}
