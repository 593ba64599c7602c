//! Studies: runs of several configurations in random blocks, one process each, journaled.
//!
//! ```text
//!   plan.json ──┐
//!               ├─► next_step ─► a run, a look, the end ─► journal.jsonl ─► StudyHistory ─┐
//!   history ────┘                                                                        │
//!      ▲─────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! What comes next follows from the plan and the journal alone, so that a study that was killed
//! goes on as if it had not been. A block of which a run does not count, or that was interrupted,
//! is begun anew as a whole: only runs beside each other are compared. Where blocks are made in
//! slices, their targets are held from the first slice to the last. Only errors end a study: a
//! configuration that cannot run is left out by name, and noise repeats blocks. Where its time is
//! up, the journal has an end as any other.

mod block_pace;
mod block_scatter;
mod combinations;
mod command_files;
mod contradictions;
mod figure_tolerance;
mod frequent_reason;
mod gate;
mod holding;
mod journal_file;
#[cfg(test)]
mod left_out_tests;
mod making;
#[cfg(test)]
mod noise_tests;
#[cfg(test)]
mod pace_tests;
mod pacing;
mod pack;
mod pilot_folder;
mod pilot_slices;
mod placed_run;
mod planned_run;
mod planning;
mod problem_list;
mod program;
mod program_noise;
mod program_output;
mod run_digests;
mod schedule;
mod session;
mod session_files;
#[cfg(test)]
mod slice_tests;
mod starting;
mod stopping;
#[cfg(test)]
mod tests;
mod time_limit;
mod unpack;
mod verification;

use crate::error::LabError;
use crate::store::{check_place, make_folder, write_file};
pub use block_pace::RunCost;
use block_pace::{BlockPace, BlockShape};
use block_scatter::BlockScatter;
pub use combinations::{hold_rate, number_alike, rate_reference};
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::record::FactorValue;
use dbtime_model::study::{
    FoundRate, JournalEvent, RecordedStudy, RunOrder, StudyCell, StudyHistory, StudyPlan,
    StudyReadError, StudyRun, StudySession, StudyTrial, TrialOutcome, TrialReadError, TrialRecord,
    read_plan, study_file, study_table,
};
use dbtime_stats::ConfidenceInterval;
pub use gate::GateReading;
use journal_file::JournalFile;
pub use making::{CellRuns, PilotFindings};
pub use pack::{changed_files, pack_study};
pub use pilot_folder::PilotFolder;
pub use planned_run::{PlannedRun, RunControls, failed_run};
pub use planning::{
    ComparedSettings, PairDraft, PlanOverrides, PlannedStudy, RunBase, RunGrammar, margin,
    plan_rounds, plan_search, plan_study, slices_of_window,
};
pub use run_digests::changed_runs;
use schedule::StudyStep;
pub use session::{changed_plan, identify_program};
pub use starting::{ResumeChoices, StartResult};
use std::path::{Path, PathBuf};
pub use time_limit::StudyTime;
pub use unpack::{UnpackedStudy, unpack_study};
pub use verification::{RunsVerified, verify_runs};

/// What makes the runs of a study.
pub trait TrialMaker {
    /// Starts a configuration for a moment, with this seed, and leaves no record: whether it works
    /// at all. Blocks until that has ended.
    fn start(&mut self, _cell: u32, _seed: u64) -> StartResult {
        StartResult::Works
    }

    /// Makes a run with this seed, where it is of a block, and its record in this folder, which is
    /// not there. Blocks until it has ended.
    fn make(&mut self, trial: &StudyTrial, seed: u64, out: &Path) -> TrialResult;

    /// Makes the targets of these configurations ready, one after the other, for the slices of a
    /// block with this seed: they live until they are released. Blocks until all are.
    fn hold(&mut self, _cells: &[u32], _seed: u64) -> HoldResult {
        HoldResult::Held
    }

    /// Ends the targets that are held.
    fn release(&mut self) {}

    /// What makes the next run this one beside its configuration.
    fn factors(&self) -> Vec<FactorValue> {
        Vec::new()
    }

    /// What the runs of a search have found, after which there are no more; `None`: there are, or
    /// the plan says it.
    fn found(&self) -> Option<FoundRate> {
        None
    }
}

/// What became of a run.
#[derive(Clone, Debug)]
pub enum TrialResult {
    /// It was made.
    Recorded(TrialRecord),
    /// It could not be made.
    Failed(String),
    /// The study is to end.
    Interrupted,
}

/// What became of the targets that slices need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldResult {
    /// They are ready.
    Held,
    /// One could not be made ready.
    Failed {
        /// That of this configuration, by its place in the plan.
        cell: u32,
        /// Its error.
        reason: String,
    },
    /// The study is to end.
    Interrupted,
}

/// What happens in a study.
#[derive(Clone, Debug)]
pub enum StudyProgress<'a> {
    /// A configuration is started for a moment, before the first block.
    Starts(&'a StudyCell),
    /// A configuration cannot run, and is left out of all further blocks.
    LeftOut {
        /// Which.
        cell: &'a StudyCell,
        /// Its error.
        reason: &'a str,
    },
    /// A quiet machine is waited for.
    Waits(&'a str),
    /// A run begins.
    RunBegins {
        /// Which.
        trial: &'a StudyTrial,
        /// Its configuration.
        cell: &'a StudyCell,
        /// What is loud on the machine all the same.
        loud: Option<&'a str>,
    },
    /// A run has ended.
    RunEnded {
        /// Which.
        trial: &'a StudyTrial,
        /// Whether it counts.
        outcome: TrialOutcome,
        /// Why not.
        reason: Option<&'a str>,
    },
    /// A block is complete: the smallest change that all of them will find in 80 % of cases, a
    /// share, with its interval.
    Resolves(ConfidenceInterval),
    /// The stop rule was applied.
    Looked(&'a str),
    /// There is time for another number of blocks than before.
    Renewed {
        /// How many in all.
        blocks: u32,
        /// How many of them are to come.
        to_come: u32,
    },
}

/// Many runs by one plan, in their folder with a journal: of a study, the rounds of a sweep, or a
/// search.
#[derive(Debug)]
pub struct RunSet {
    folder: PathBuf,
    plan: StudyPlan,
    /// `None`: nothing of it is written.
    journal: Option<JournalFile>,
    history: StudyHistory,
    session: u32,
    /// The session that a finished study would go on in.
    unbegun: Option<StudySession>,
    /// `None`: it may take any time.
    pace: Option<BlockPace>,
    /// How the block is made that is under way, or the next one.
    shape: BlockShape,
    scatter: BlockScatter,
    /// The block, and which time it was begun, whose targets are held for its slices.
    held: Option<(u32, u32)>,
    /// Where data of runs before it are, from which its own are restored; `None`: in its folder.
    snapshots: Option<PathBuf>,
}

impl RunSet {
    /// Makes the folder of a new study: its plan, and the text that it was planned from.
    ///
    /// Errors: those of [`check_place`], or the folder cannot be written.
    pub fn create(folder: &Path, plan: &StudyPlan, source: &str) -> Result<Self, LabError> {
        check_place(folder)?;
        let _made = make_folder(folder)?;
        write_file(folder, study_file::SOURCE, source)?;
        Self::begin(folder, plan)
    }

    /// Makes a new study of a folder that is there and has none.
    ///
    /// Errors: it cannot be written.
    pub fn begin(folder: &Path, plan: &StudyPlan) -> Result<Self, LabError> {
        let json = serde_json::to_string_pretty(plan).map_err(std::io::Error::other);
        let json = json.map_err(|source| LabError::Record { path: folder.to_owned(), source })?;
        write_file(folder, study_file::PLAN, &(json + "\n"))?;
        Self::open(folder, false)
    }

    /// Runs of which nothing is written.
    pub fn unrecorded(plan: StudyPlan) -> Self {
        Self {
            folder: PathBuf::new(),
            shape: BlockShape::of(&plan),
            plan,
            journal: None,
            history: StudyHistory::default(),
            session: 1,
            unbegun: None,
            pace: None,
            scatter: BlockScatter::default(),
            held: None,
            snapshots: None,
        }
    }

    /// Takes up the study in a folder. `is_new_session`: something of the machine may have changed.
    ///
    /// Errors: it is none, another process is at work on it, it is damaged, or something changed.
    pub fn open(folder: &Path, is_new_session: bool) -> Result<Self, LabError> {
        Self::resume(folder, ResumeChoices { is_new_session, ..ResumeChoices::default() })
    }

    /// Takes up the study in a folder with these choices, which undo the end that they are about.
    ///
    /// Errors: those of [`RunSet::open`], or a sweep or a search has no such choice.
    pub fn resume(folder: &Path, choices: ResumeChoices) -> Result<Self, LabError> {
        let (plan, text) = read_plan(folder).map_err(LabError::Study)?;
        choices.check(&plan)?;
        let (mut journal, mut history) = JournalFile::open(folder)?;
        if let Some(reason) = history.misfit(&plan, folder) {
            journal.discard_new();
            let path = folder.join(study_file::JOURNAL);
            return Err(LabError::Study(StudyReadError::Journal { path, reason }));
        }
        let present = session::of_study(folder, &plan, &text);
        let session = session::continued(&history, present, choices.is_new_session);
        let session = session.map_err(|reason| {
            LabError::Target(format!("{} cannot go on: {reason}", folder.display()))
        })?;
        let number = session.number;
        // Else a study that is over would begin again where there is nothing to try.
        let retries_left_out = choices.retries_left_out && !history.left_out.is_empty();
        let choices = ResumeChoices { retries_left_out, ..choices };
        for event in lost_runs(folder, &plan, &history)?.into_iter().chain(choices.events()) {
            record(Some(&mut journal), &mut history, event)?;
        }
        let unbegun = match history.finished {
            Some(_) => Some(session),
            None => {
                record(Some(&mut journal), &mut history, JournalEvent::SessionBegun(session))?;
                None
            }
        };
        Ok(Self {
            folder: folder.to_owned(),
            shape: BlockShape::of(&plan),
            plan,
            journal: Some(journal),
            history,
            session: number,
            unbegun,
            pace: None,
            scatter: BlockScatter::default(),
            held: None,
            snapshots: None,
        })
    }

    /// Where it is; empty where nothing of it is written.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the data are that its runs are restored from.
    pub fn snapshots(&self) -> PathBuf {
        let own = || self.folder.join(study_file::SNAPSHOTS);
        self.snapshots.clone().unwrap_or_else(own)
    }

    /// Its plan.
    pub fn plan(&self) -> &StudyPlan {
        &self.plan
    }

    /// What has happened.
    pub fn history(&self) -> &StudyHistory {
        &self.history
    }

    /// Makes runs until there are enough, the time is up, or the study is to end. Returns why there
    /// will be no more, also where noise has stopped it; `None`: there will, once it is taken up
    /// again. Where a run had to be ended because the time was up, `stop` is set.
    ///
    /// Errors: the journal or a record cannot be written.
    pub fn run(
        &mut self,
        maker: &mut dyn TrialMaker,
        progress: &dyn Fn(StudyProgress<'_>),
        stop: &RunStop,
    ) -> Result<Option<String>, LabError> {
        let ended = match self.pace.as_ref().map(|pace| pace.time) {
            Some(time) => time.within(stop, || self.make_all(maker, progress, stop)),
            None => self.make_all(maker, progress, stop),
        };
        self.release_all(maker);
        ended
    }

    fn make_all(
        &mut self,
        maker: &mut dyn TrialMaker,
        progress: &dyn Fn(StudyProgress<'_>),
        stop: &RunStop,
    ) -> Result<Option<String>, LabError> {
        loop {
            if stop.is_set() && !self.is_overdue() {
                return Ok(None);
            }
            self.pace.iter_mut().for_each(BlockPace::begin_step);
            self.renew(progress)?;
            let found = maker.found();
            let step = match &found {
                Some(found) => StudyStep::End(found.reason()),
                None => {
                    let next = schedule::next_step(&self.plan, &self.history);
                    self.in_time(next)
                }
            };
            self.release_others(&step, maker);
            match step {
                StudyStep::Start { cell } => {
                    if !self.start(cell, maker, progress)? && !self.is_overdue() {
                        return Ok(None);
                    }
                }
                StudyStep::LeaveOut { cell, reason } => self.leave_out(cell, reason, progress)?,
                StudyStep::Run(place) => {
                    if !self.make(place, maker, progress, stop)? && !self.is_overdue() {
                        return Ok(None);
                    }
                }
                StudyStep::Look { blocks } => self.look(blocks, progress)?,
                StudyStep::Stop { reason, repeats } => {
                    self.stop_by_noise(&reason, repeats)?;
                    self.remove_snapshots()?;
                    return Ok(Some(reason));
                }
                StudyStep::End(reason) => {
                    if self.history.finished.is_none() {
                        let (reason, at) = (reason.clone(), now());
                        self.record(JournalEvent::Finished { reason, found, at })?;
                    }
                    self.remove_snapshots()?;
                    return Ok(Some(reason));
                }
            }
        }
    }

    /// Applies the stop rule to the complete blocks.
    fn look(&mut self, blocks: u32, progress: &dyn Fn(StudyProgress<'_>)) -> Result<(), LabError> {
        let values = stopping::values(&self.folder, &self.plan, &self.history)?;
        let (enough, text) = stopping::look(&self.plan, &self.history, &values);
        progress(StudyProgress::Looked(&text));
        self.record(JournalEvent::Looked { blocks, enough, text, at: now() })
    }

    /// Removes the data that runs were restored from.
    ///
    /// Errors: they cannot be removed.
    pub fn remove_snapshots(&self) -> Result<(), LabError> {
        if self.journal.is_none() {
            return Ok(());
        }
        let path = self.folder.join(study_file::SNAPSHOTS);
        match std::fs::remove_dir_all(&path) {
            Err(source) if path.symlink_metadata().is_ok() => {
                Err(LabError::Record { path, source })
            }
            _ => Ok(()),
        }
    }

    fn record(&mut self, event: JournalEvent) -> Result<(), LabError> {
        record(self.journal.as_mut(), &mut self.history, event)
    }
}

/// The runs whose records are gone or damaged: those of a sweep are made again, and the blocks of
/// those that count. A search does not go on without them.
///
/// Errors: a record is there and cannot be read.
fn lost_runs(
    folder: &Path,
    plan: &StudyPlan,
    history: &StudyHistory,
) -> Result<Vec<JournalEvent>, LabError> {
    let is_replaceable = |run: &&StudyRun| match plan.order {
        RunOrder::Blocks => run.counts(),
        RunOrder::Rounds => run.is_kept(),
        RunOrder::Search => false,
    };
    let lost = history.runs.iter().filter(is_replaceable).filter_map(|run| {
        let error = TrialRecord::of_trial(&folder.join(&run.trial.folder)).err()?;
        Some(match error {
            TrialReadError::Lost(reason) => {
                Ok(JournalEvent::RunLost { run: run.trial.run, reason, at: now() })
            }
            TrialReadError::Unread(why) => Err(LabError::Study(StudyReadError::Record(why))),
        })
    });
    lost.collect()
}

/// The configurations of each block in the order in which they are run the first time.
pub fn planned_orders(plan: &StudyPlan) -> Vec<Vec<u32>> {
    (1..=plan.most_blocks()).map(|block| schedule::block_order(plan, block, 1)).collect()
}

/// Writes the runs of a study as a table into its folder.
///
/// Errors: it cannot be written.
pub fn write_table(folder: &Path, study: &RecordedStudy) -> Result<(), LabError> {
    write_file(folder, study_file::TABLE, &study_table(study))
}

/// Writes an event where there is a journal, and takes it into the history.
fn record(
    journal: Option<&mut JournalFile>,
    history: &mut StudyHistory,
    event: JournalEvent,
) -> Result<(), LabError> {
    journal.map_or(Ok(()), |journal| journal.append(&event))?;
    history.take(&event).map_err(|reason| LabError::Target(format!("this is a bug: {reason}")))
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}
