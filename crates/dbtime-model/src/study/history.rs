//! What a study has come to: its journal, replayed.

use super::block_attempt::BlockAttempt;
use super::found_rate::FoundRate;
use super::journal::{JournalEvent, StudySession, StudyTrial, TrialOutcome, read_journal};
use super::left_out::NoiseStop;
use super::plan::{RunOrder, StudyPlan, StudyReadError};
use super::study_file;
use crate::bounded_file::recorded_bytes;
use crate::inner_path::is_inner;
use crate::record::file;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// A run of a higher number is none: a study of one a second would take 136 years.
const LAST_RUN: u64 = u32::MAX as u64;

/// Why a journal is refused that is gone, or was cut off before its first run.
const LOST: &str = "which is gone or empty, although runs are there: they would all be made again";

/// A run of a study, as its journal tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyRun {
    /// Which.
    pub trial: StudyTrial,
    /// Whether it counts; `None`: it has not ended, or the study ended before it did.
    pub outcome: Option<TrialOutcome>,
    /// Why it does not count.
    pub reason: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
}

/// Everything that has happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyHistory {
    /// The sessions, each number once.
    pub sessions: Vec<StudySession>,
    /// How many runs there were when the last process took the study up.
    pub taken_up_at: usize,
    /// All runs, in the order of time.
    pub runs: Vec<StudyRun>,
    /// The looks of the stop rule: after how many blocks, whether they were enough, and what was
    /// found.
    pub looks: Vec<(u32, bool, String)>,
    /// How many blocks there are to be in all, where that was decided after a look at the results;
    /// `None`: as many as the plan says.
    pub extended: Option<u32>,
    /// How many there are to be by the time that blocks take, which is no look at the results;
    /// `None`: as many as the plan says.
    pub renewed: Option<u32>,
    /// Why there will be no more; `None`: there will.
    pub finished: Option<String>,
    /// What a search has found; `None`: it has not come to its end, or is none.
    pub found: Option<FoundRate>,
    /// The configurations that were started once, before the first block, and work.
    pub started: BTreeSet<u32>,
    /// The configurations that are left out of all further blocks, each with its error.
    pub left_out: BTreeMap<u32, String>,
    /// How many runs there were when what was left out was taken in again last: no failure of those
    /// leaves a configuration out, or breaks a block.
    pub tried_from: usize,
    /// How many blocks may be repeated; `None`: as many as the plan says.
    pub repeats: Option<u32>,
    /// Why no more blocks are repeated; `None`: more may be.
    pub noise: Option<NoiseStop>,
    /// The SHA-256 of the files that the runs left, by the number of each; of none that an earlier
    /// version has made, and of none that is lost by the journal.
    pub files: BTreeMap<u64, BTreeMap<String, String>>,
    /// What was begun so far.
    pub begun: BegunRuns,
}

/// What was begun, so that nothing is begun twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BegunRuns {
    sessions: HashSet<u32>,
    runs: HashSet<u64>,
    /// Blocks, their attempts, their slices and their configurations.
    places: HashSet<(u32, u32, u32, u32)>,
}

/// An event that cannot be, behind those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} contradicts the lines before it: {reason}")]
pub struct HistoryError {
    /// From 1.
    pub line: usize,
    /// Why.
    pub reason: &'static str,
}

impl StudySession {
    /// Takes over the files of a later process of the session where an earlier version began it.
    fn identify(&mut self, later: &Self) {
        if self.number == later.number && self.files.is_empty() {
            self.files.clone_from(&later.files);
        }
    }
}

impl StudyRun {
    /// Whether it counts, as far as that is its own affair.
    pub fn counts(&self) -> bool {
        self.outcome == Some(TrialOutcome::Valid)
    }

    /// Whether it has left a record, as far as the journal knows.
    pub fn is_kept(&self) -> bool {
        matches!(self.outcome, Some(TrialOutcome::Valid | TrialOutcome::Invalid))
    }

    /// Whether it has come to its end, and what it left is not lost.
    pub fn is_made(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome != TrialOutcome::Lost)
    }

    /// It does not count any more, for this reason.
    pub(super) fn lose(&mut self, reason: String) {
        (self.outcome, self.reason) = (Some(TrialOutcome::Lost), Some(reason));
    }
}

impl StudyHistory {
    /// Replays these events.
    ///
    /// # Errors
    /// One of them cannot be.
    pub fn replay(events: &[JournalEvent]) -> Result<Self, HistoryError> {
        let mut history = Self::default();
        for (index, event) in events.iter().enumerate() {
            let wrong = |reason| HistoryError { line: index + 1, reason };
            history.take(event).map_err(wrong)?;
        }
        Ok(history)
    }

    /// The history in the folder of this plan.
    ///
    /// # Errors
    /// Its journal cannot be read, or is damaged.
    pub fn read(folder: &Path, plan: &StudyPlan) -> Result<Self, StudyReadError> {
        let path = folder.join(study_file::JOURNAL);
        let text = match recorded_bytes(&path) {
            Ok(text) => text,
            // The study was ended before anything had happened.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(StudyReadError::Read { path, source }),
        };
        let journal = read_journal(&text).map_err(|error| StudyReadError::Journal {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let damaged = |reason: String| StudyReadError::Journal { path, reason };
        match Self::replay(&journal.events) {
            Ok(history) => match history.misfit(plan, folder) {
                Some(reason) => Err(damaged(reason)),
                None => Ok(history),
            },
            Err(error) => Err(damaged(error.to_string())),
        }
    }

    /// Takes the next event. Behind the end only one that undoes it is possible.
    ///
    /// # Errors
    /// It cannot be, for the reason that is returned.
    pub fn take(&mut self, event: &JournalEvent) -> Result<(), &'static str> {
        use JournalEvent::{Extended, LeftOutRetried, RepeatsSet, RunLost};
        let reopens = matches!(
            event,
            RunLost { .. } | LeftOutRetried { .. } | RepeatsSet { .. } | Extended { .. }
        );
        if self.finished.is_some() && !reopens {
            return Err("the study was finished");
        }
        match event {
            JournalEvent::SessionBegun(session) => {
                if self.begun.sessions.insert(session.number) {
                    self.sessions.push(session.clone());
                } else if let Some(last) = self.sessions.last_mut() {
                    last.identify(session);
                }
                self.taken_up_at = self.runs.len();
            }
            JournalEvent::RunBegun(trial) => self.begin(trial)?,
            JournalEvent::RunEnded { run, outcome, reason, files, at } => {
                let open = self.runs.last_mut().filter(|last| last.trial.run == *run);
                let open = open.filter(|last| last.outcome.is_none());
                let open = open.ok_or("a run ends that was not under way")?;
                open.outcome = Some(*outcome);
                open.reason.clone_from(reason);
                open.ended_at = Some(at.clone());
                if !files.is_empty() {
                    self.files.insert(*run, files.clone());
                }
            }
            RunLost { run, reason, .. } => self.lose(*run, reason)?,
            JournalEvent::CellStarted { cell, .. } => {
                self.started.insert(*cell);
            }
            JournalEvent::CellLeftOut { cell, reason, .. } => {
                self.left_out.insert(*cell, reason.clone());
            }
            LeftOutRetried { .. } => self.take_in_again(),
            RepeatsSet { repeats, .. } => self.allow_repeats(*repeats),
            JournalEvent::NoiseStopped(stop) => self.noise = Some(stop.clone()),
            JournalEvent::Looked { blocks, enough, text, .. } => {
                self.looks.push((*blocks, *enough, text.clone()));
            }
            Extended { blocks, .. } => self.extend(*blocks),
            JournalEvent::BlocksRenewed { blocks, .. } => self.renewed = Some(*blocks),
            JournalEvent::Finished { reason, found, .. } => {
                self.finished = Some(reason.clone());
                self.found.clone_from(found);
            }
        }
        Ok(())
    }

    fn begin(&mut self, trial: &StudyTrial) -> Result<(), &'static str> {
        if trial.run > LAST_RUN {
            return Err("a run begins whose number no study comes to");
        }
        if !self.begun.runs.insert(trial.run) {
            return Err("a run begins whose number was given before");
        }
        let place = (trial.block, trial.attempt, trial.slice, trial.cell);
        if !self.begun.places.insert(place) {
            return Err("a configuration is run twice in one block");
        }
        self.runs.push(StudyRun {
            trial: trial.clone(),
            outcome: None,
            reason: None,
            ended_at: None,
        });
        self.noise = None;
        Ok(())
    }

    /// Takes a run out whose record is gone, and with it the look and the end that stood on it.
    fn lose(&mut self, run: u64, reason: &str) -> Result<(), &'static str> {
        let lost = self.runs.iter_mut().find(|known| known.trial.run == run && known.is_kept());
        lost.ok_or("a run is lost that left nothing")?.lose(reason.to_owned());
        self.files.remove(&run);
        self.looks.retain(|(_, enough, _)| !enough);
        (self.finished, self.found) = (None, None);
        Ok(())
    }

    /// What of it the plan knows nothing of, or that it knows nothing of the runs in the folder of
    /// the plan; `None`: it is that plan's.
    pub fn misfit(&self, plan: &StudyPlan, folder: &Path) -> Option<String> {
        if self.runs.is_empty() && holds_runs(folder, plan.order) {
            return Some(LOST.to_owned());
        }
        let mut tried = self.started.iter().chain(self.left_out.keys());
        if tried.any(|cell| *cell as usize >= plan.cells.len()) {
            return Some("which starts a configuration that the plan does not have".to_owned());
        }
        self.runs.iter().find_map(|StudyRun { trial, .. }| {
            let wrong = match trial.cell as usize >= plan.cells.len() {
                true => "is of a configuration that the plan does not have",
                false if is_inner(Path::new(&trial.folder)) => return None,
                false => "has its record outside of the study's folder",
            };
            Some(format!("run {} {wrong}", trial.run))
        })
    }

    /// Every time that a block was begun, in the order of time.
    pub fn attempts(&self) -> Vec<BlockAttempt<'_>> {
        let mut attempts: Vec<BlockAttempt<'_>> = Vec::new();
        for run in &self.runs {
            let (block, attempt) = (run.trial.block, run.trial.attempt);
            match attempts.last_mut().filter(|last| (last.block, last.attempt) == (block, attempt))
            {
                Some(last) => last.runs.push(run),
                None => attempts.push(BlockAttempt::begun(run, &self.left_out)),
            }
        }
        attempts
    }

    /// The block that is under way: of the process that took the study up last, without a run that
    /// does not count, and not complete.
    pub fn open_block(&self, cells: usize) -> Option<BlockAttempt<'_>> {
        let last = self.attempts().pop()?;
        let first = self.runs.len() - last.runs.len();
        let is_open = first >= self.taken_up_at && !last.is_broken() && !last.is_complete(cells);
        (is_open && self.finished.is_none()).then_some(last)
    }

    /// The most blocks that there can be of this plan, repeated ones left out.
    pub fn most_blocks(&self, plan: &StudyPlan) -> u32 {
        self.extended.or(self.renewed).unwrap_or_else(|| plan.most_blocks())
    }

    /// The blocks that count, each with its runs that do, in the order of time.
    pub fn complete_blocks(&self, cells: usize) -> Vec<BlockAttempt<'_>> {
        let attempts = self.attempts();
        let counted = counted_attempts(&attempts, cells);
        let complete = attempts.into_iter().zip(counted).filter(|(_, is_counted)| *is_counted);
        complete.map(|(attempt, _)| attempt.counting()).collect()
    }

    /// The runs that counted, whose records are gone or damaged, and that were not made again, in
    /// the order of time: a run in blocks is made again with all of its block.
    pub fn lost_runs(&self, cells: usize, order: RunOrder) -> Vec<&StudyRun> {
        let complete = self.complete_blocks(cells);
        let again: HashSet<u32> = complete.iter().map(|block| block.block).collect();
        let is_again = |run: &StudyRun| match order {
            RunOrder::Blocks => again.contains(&run.trial.block),
            RunOrder::Rounds | RunOrder::Search => self.is_made_again(run),
        };
        let is_lost = |run: &&StudyRun| run.outcome == Some(TrialOutcome::Lost) && !is_again(run);
        self.runs.iter().filter(is_lost).collect()
    }

    /// Whether a run of a sweep that is lost was made once more.
    pub fn is_made_again(&self, run: &StudyRun) -> bool {
        let place = |run: &StudyRun| (run.trial.block, run.trial.cell);
        let is_again = |later: &StudyRun| {
            later.trial.run > run.trial.run && place(later) == place(run) && later.is_made()
        };
        run.outcome == Some(TrialOutcome::Lost) && self.runs.iter().any(is_again)
    }

    /// Why each run is in no verdict, in their order; `None`: it is. A round is not repeated as a
    /// block is: each of its runs counts for itself.
    pub fn exclusions(&self, plan: &StudyPlan) -> Vec<Option<String>> {
        let cells = plan.cells.len();
        let attempts = self.attempts();
        let stands_alone = plan.order == RunOrder::Rounds;
        let of = |(one, is_counted): (&BlockAttempt<'_>, bool)| {
            let of_block = match one {
                _ if stands_alone || is_counted => None,
                broken if broken.is_broken() => Some("another run of its block does not count"),
                again if again.is_complete(cells) => Some("its block counts by runs before"),
                _ => Some("its block was not finished"),
            };
            let of_round = |run: &StudyRun| {
                let is_spoiled = is_counted && one.is_of_spoiled_round(run);
                is_spoiled.then_some("another slice of its round does not count")
            };
            let of_run = |run: &&StudyRun| run.exclusion(of_block.or_else(|| of_round(run)));
            one.runs.iter().map(of_run).collect::<Vec<_>>()
        };
        let counted = counted_attempts(&attempts, cells);
        attempts.iter().zip(counted).flat_map(of).collect()
    }
}

/// Which of these attempts count: the first of each block that is complete. There are more than one
/// where a configuration was left out that had broken them.
fn counted_attempts(attempts: &[BlockAttempt<'_>], cells: usize) -> Vec<bool> {
    let mut blocks = HashSet::new();
    attempts.iter().map(|one| one.is_complete(cells) && blocks.insert(one.block)).collect()
}

/// Whether there are records of runs in the folder of a study of this order. What is in the making
/// has a name that begins with a dot.
fn holds_runs(folder: &Path, order: RunOrder) -> bool {
    let place = match order {
        RunOrder::Blocks => folder.join(study_file::RUNS),
        RunOrder::Rounds | RunOrder::Search => folder.to_owned(),
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let whole = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let holds = |run: &Path| [file::RUN, study_file::PROGRAM].map(|name| run.join(name).is_file());
    whole.map(|entry| holds(&entry.path())).any(|marks| marks.contains(&true))
}

impl StudyRun {
    /// Why it is in no verdict; `of_block`: why its block is in none.
    fn exclusion(&self, of_block: Option<&'static str>) -> Option<String> {
        let own = |outcome: &str| match &self.reason {
            Some(reason) => format!("{outcome}{reason}"),
            None => outcome.trim_end_matches(": ").to_owned(),
        };
        match self.outcome {
            Some(TrialOutcome::Invalid | TrialOutcome::Lost) => return Some(own("")),
            Some(TrialOutcome::Failed) => return Some(own("failed: ")),
            None => return Some("the study was interrupted during it".to_owned()),
            Some(TrialOutcome::Valid) => {}
        }
        of_block.map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::IdentifiedFile;
    use super::*;

    fn begun(run: u64, block: u32, attempt: u32, cell: u32) -> JournalEvent {
        JournalEvent::RunBegun(StudyTrial { run, block, attempt, cell, ..StudyTrial::default() })
    }

    fn ended(run: u64, outcome: TrialOutcome) -> JournalEvent {
        let files = BTreeMap::new();
        JournalEvent::RunEnded { run, outcome, reason: None, files, at: String::new() }
    }

    fn session() -> JournalEvent {
        JournalEvent::SessionBegun(StudySession { number: 1, ..StudySession::default() })
    }

    /// Of one configuration.
    fn plan() -> StudyPlan {
        serde_json::from_value(serde_json::json!({
            "schema": 1, "dbtime": "1", "name": "n", "question": null, "primary": "throughput",
            "margin_pct": 1.0,
            "design": { "blocks": 3, "seed": 1, "stop": { "rule": "fixed" } },
            "gate": { "steal_pct": 1.0, "foreign_cpu_pct": 1.0, "wait_s": 0.0, "repeats": 3 },
            "cells": [{ "name": "a", "role": "baseline", "factors": [], "command": "dbtime run" }],
        }))
        .expect("a plan")
    }

    #[test]
    fn a_block_counts_when_each_configuration_has_a_run_that_does() {
        use TrialOutcome::{Invalid, Valid};
        let events = [
            session(),
            begun(1, 1, 1, 0),
            ended(1, Valid),
            begun(2, 1, 1, 1),
            ended(2, Valid),
            begun(3, 2, 1, 1),
            ended(3, Invalid),
            begun(4, 3, 1, 0),
            ended(4, Valid),
        ];
        let mut history = StudyHistory::replay(&events).expect("no contradiction");
        let blocks = |history: &StudyHistory| -> Vec<u32> {
            history.complete_blocks(2).iter().map(|block| block.block).collect()
        };
        assert_eq!(blocks(&history), [1]);
        assert_eq!(history.open_block(2).map(|open| open.block), Some(3));
        // Whoever takes it up again begins that block anew.
        history.take(&session()).expect("no contradiction");
        assert_eq!(history.open_block(2), None);
        assert_eq!(history.sessions.len(), 1);
    }

    /// What is left out breaks no block, and a block that it had broken counts once.
    #[test]
    fn a_block_is_complete_without_what_is_left_out() {
        use TrialOutcome::{Failed, Valid};
        let left_out = |cell| {
            let (reason, at) = ("no server".to_owned(), String::new());
            JournalEvent::CellLeftOut { cell, reason, at }
        };
        let events = [
            session(),
            begun(1, 1, 1, 0),
            ended(1, Valid),
            begun(2, 1, 1, 1),
            ended(2, Failed),
            begun(3, 2, 1, 1),
            ended(3, Failed),
            begun(4, 1, 2, 0),
            ended(4, Valid),
            begun(5, 1, 2, 1),
            ended(5, Failed),
            left_out(1),
            begun(6, 3, 1, 0),
            ended(6, Valid),
            JournalEvent::LeftOutRetried { at: String::new() },
        ];
        let runs = |history: &StudyHistory| -> Vec<u64> {
            let blocks = history.complete_blocks(2);
            blocks.iter().flat_map(|block| &block.runs).map(|run| run.trial.run).collect()
        };
        let mut history = StudyHistory::replay(&events[..14]).expect("no contradiction");
        assert_eq!(runs(&history), [1, 6]);
        assert_eq!(history.open_block(2), None);
        let plan = StudyPlan { cells: vec![plan().cells[0].clone(); 2], ..plan() };
        let exclusions = history.exclusions(&plan);
        let why = |at: usize| exclusions[at].as_deref();
        let again = Some("its block counts by runs before");
        assert_eq!([0, 1, 3].map(why), [None, Some("failed"), again]);
        // Taken in again, it is missed in all of them.
        history.take(&events[14]).expect("no contradiction");
        assert!(runs(&history).is_empty() && history.tried_from == 6);
        let alien = StudyHistory::replay(&[left_out(2)]).expect("no contradiction");
        let misfit = alien.misfit(&plan, Path::new(""));
        assert!(misfit.is_some_and(|why| why.contains("that the plan does not have")));
    }

    /// Of an end by noise or by errors, also one that an earlier version has written.
    #[test]
    fn what_ended_goes_on_with_more_repeats_or_what_was_left_out() {
        let at = String::new;
        let end = || {
            let reason = "b: none of 3 runs counts".to_owned();
            JournalEvent::Finished { reason, found: None, at: at() }
        };
        for undone in [
            JournalEvent::RepeatsSet { repeats: 9, at: at() },
            JournalEvent::LeftOutRetried { at: at() },
        ] {
            let events = [session(), end(), undone, session(), end()];
            let history = StudyHistory::replay(&events[..4]).expect("it goes on");
            assert_eq!(history.finished, None);
            assert!(StudyHistory::replay(&events).expect("it ends").finished.is_some());
        }
        let stop = NoiseStop { reason: "noise".to_owned(), repeats: 9, at: at() };
        let events = [session(), JournalEvent::NoiseStopped(stop), session()];
        let history = StudyHistory::replay(&events).expect("no contradiction");
        let text = history.noise.as_ref().map(|noise| noise.text("DIR"));
        let told = "noise; continue with dbtime study resume DIR --repeats 9";
        assert_eq!((text.as_deref(), history.most_repeats(&plan())), (Some(told), 3));
        let mut more = events.to_vec();
        more.push(JournalEvent::RepeatsSet { repeats: 9, at: at() });
        let history = StudyHistory::replay(&more).expect("no contradiction");
        assert_eq!((history.noise.is_none(), history.most_repeats(&plan())), (true, 9));
        let mut extended = events.to_vec();
        extended.push(JournalEvent::Extended { blocks: 2, at: at() });
        let history = StudyHistory::replay(&extended).expect("no contradiction");
        assert_eq!((history.noise.is_none(), history.most_repeats(&plan())), (true, 9));
    }

    #[test]
    fn a_configuration_has_one_run_in_each_round_of_a_block() {
        let slice = |run, slice| {
            let trial = StudyTrial { run, block: 1, attempt: 1, ..StudyTrial::default() };
            JournalEvent::RunBegun(StudyTrial { slice, slices: 2, ..trial })
        };
        let valid = |run| ended(run, TrialOutcome::Valid);
        let events = [slice(1, 1), valid(1), slice(2, 2), valid(2), slice(3, 2)];
        let history = StudyHistory::replay(&events[..4]).expect("no contradiction");
        assert_eq!(history.complete_blocks(1).len(), 1);
        let error = StudyHistory::replay(&events).expect_err("twice in one round");
        assert_eq!(error.reason, "a configuration is run twice in one block");
        let json = serde_json::to_string(&begun(1, 1, 1, 0)).expect("JSON");
        assert!(!json.contains("slice"), "{json}");
    }

    #[test]
    fn a_session_that_an_earlier_version_began_has_the_files_of_the_next_process() {
        let with = |sha256: &str| {
            let file = IdentifiedFile { sha256: sha256.to_owned(), ..IdentifiedFile::default() };
            let files = vec![file];
            JournalEvent::SessionBegun(StudySession { number: 1, files, ..StudySession::default() })
        };
        let history = StudyHistory::replay(&[session(), with("1"), with("2")]).expect("whole");
        assert_eq!(history.sessions.len(), 1);
        assert_eq!(history.sessions[0].files[0].sha256, "1");
    }

    #[test]
    fn a_run_of_a_round_counts_whatever_comes_of_the_others() {
        use TrialOutcome::{Invalid, Valid};
        let events = [
            begun(1, 1, 1, 0),
            ended(1, Valid),
            begun(2, 1, 1, 1),
            ended(2, Invalid),
            begun(3, 1, 1, 2),
        ];
        let history = StudyHistory::replay(&events).expect("no contradiction");
        let cells = vec![plan().cells[0].clone(); 3];
        let counts = |order: RunOrder| -> Vec<bool> {
            let plan = StudyPlan { order, cells: cells.clone(), ..plan() };
            history.exclusions(&plan).iter().map(Option::is_none).collect()
        };
        assert_eq!(counts(RunOrder::Rounds), [true, false, false]);
        assert_eq!(counts(RunOrder::Blocks), [false, false, false]);
    }

    /// Which stands on all blocks.
    #[test]
    fn a_run_that_is_lost_takes_its_block_and_the_end_with_it() {
        let at = String::new();
        let lost = |run| {
            let reason = "its record is not there any more".to_owned();
            JournalEvent::RunLost { run, reason, at: String::new() }
        };
        let (text, reason) = ("known".to_owned(), "known".to_owned());
        let events = [
            session(),
            begun(1, 1, 1, 0),
            ended(1, TrialOutcome::Valid),
            begun(2, 2, 1, 0),
            ended(2, TrialOutcome::Valid),
            JournalEvent::Looked { blocks: 1, enough: false, text: text.clone(), at: at.clone() },
            JournalEvent::Looked { blocks: 2, enough: true, text, at: at.clone() },
            JournalEvent::Finished { reason, found: None, at },
            lost(2),
            begun(3, 2, 2, 0),
            ended(3, TrialOutcome::Valid),
        ];
        let of_end = StudyHistory::replay(&events[..9]).expect("no contradiction");
        assert!(of_end.lost_runs(1, RunOrder::Blocks).iter().map(|run| run.trial.run).eq([2]));
        let history = StudyHistory::replay(&events).expect("no contradiction");
        let lost_now = history.lost_runs(1, RunOrder::Blocks);
        assert!(lost_now.is_empty(), "its block was made again");
        assert_eq!((history.finished.is_none(), history.looks.len()), (true, 1));
        let counted: Vec<u64> =
            history.complete_blocks(1).iter().map(|block| block.runs[0].trial.run).collect();
        assert_eq!(counted, [1, 3]);
        let exclusions = history.exclusions(&plan());
        assert_eq!(exclusions[1].as_deref(), Some("its record is not there any more"));
        let error = StudyHistory::replay(&[lost(1)]).expect_err("there is none");
        assert_eq!(error.reason, "a run is lost that left nothing");
    }

    #[test]
    fn what_was_finished_goes_on_with_more_blocks() {
        let at = String::new();
        let finished = |reason: &str| {
            let (reason, at) = (reason.to_owned(), String::new());
            JournalEvent::Finished { reason, found: None, at }
        };
        let events = [
            session(),
            begun(1, 1, 1, 0),
            ended(1, TrialOutcome::Valid),
            finished("all 3 blocks"),
            JournalEvent::Extended { blocks: 5, at },
            session(),
            begun(2, 2, 1, 0),
            ended(2, TrialOutcome::Valid),
        ];
        let history = StudyHistory::replay(&events).expect("no contradiction");
        assert_eq!((history.extended, history.finished.as_ref()), (Some(5), None));
        assert_eq!((history.most_blocks(&plan()), history.complete_blocks(1).len()), (5, 2));
        let of_plan = StudyHistory::replay(&events[..4]).expect("no contradiction");
        assert_eq!(of_plan.most_blocks(&plan()), 3);
        let error = StudyHistory::replay(&[finished("all"), begun(1, 1, 1, 0)]);
        assert_eq!(error.expect_err("it is over").reason, "the study was finished");
    }

    /// Adding blocks by hand takes the place of both.
    #[test]
    fn blocks_are_renewed_by_their_time_without_a_look_at_the_results() {
        let at = String::new;
        let renewed = |blocks: u32| JournalEvent::BlocksRenewed { blocks, at: at() };
        let mut events = vec![session(), renewed(5), renewed(4)];
        let history = StudyHistory::replay(&events).expect("no contradiction");
        assert_eq!((history.most_blocks(&plan()), history.extended), (4, None));
        events.push(JournalEvent::Extended { blocks: 9, at: at() });
        let history = StudyHistory::replay(&events).expect("no contradiction");
        assert_eq!(history.most_blocks(&plan()), 9);
        let json = serde_json::to_string(&begun(1, 1, 1, 0)).expect("JSON");
        assert!(!json.contains("window"), "{json}");
    }

    #[test]
    fn a_run_of_another_plan_or_folder_is_none_of_a_study() {
        let plan = plan();
        let misfit = |cell: u32, folder: &str| {
            let mut run = begun(7, 1, 1, cell);
            if let JournalEvent::RunBegun(trial) = &mut run {
                folder.clone_into(&mut trial.folder);
            }
            StudyHistory::replay(&[run]).expect("no contradiction").misfit(&plan, Path::new(""))
        };
        assert_eq!(misfit(0, "runs/0001"), None);
        assert!(misfit(1, "runs/0001").is_some_and(|why| why.contains("run 7 is of a config")));
        for outside in ["../0001", "/etc", "runs/../../x"] {
            assert!(misfit(0, outside).is_some_and(|why| why.contains("outside of the study")));
        }
    }

    /// Else all of them would be made again, without a word.
    #[test]
    fn a_journal_that_knows_none_of_the_runs_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (history, plan) = (StudyHistory::default(), plan());
        let misfit = || history.misfit(&plan, folder.path());
        for (place, is_refused) in [("runs/.0001.partial", false), ("runs/0001-b01-a", true)] {
            let run = folder.path().join(place);
            std::fs::create_dir_all(&run).expect("a folder");
            std::fs::write(run.join(file::RUN), "{}").expect("written");
            assert_eq!(misfit().is_some(), is_refused, "{place}");
        }
        assert!(misfit().is_some_and(|why| why.starts_with("which is gone or empty")));
    }

    /// A look at all runs for each of them would take minutes.
    #[test]
    fn a_journal_of_a_hundred_thousand_runs_is_replayed() {
        let plan = plan();
        let of = |run: u32| [begun(run.into(), run, 1, 0), ended(run.into(), TrialOutcome::Valid)];
        let events: Vec<_> = (1..=100_000).flat_map(of).collect();
        let history = StudyHistory::replay(&events).expect("no contradiction");
        let exclusions = history.exclusions(&plan);
        assert_eq!((exclusions.len(), exclusions.iter().flatten().count()), (100_000, 0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let cases: [&[JournalEvent]; 5] = [
            &[begun(u64::MAX, 1, 1, 0)],
            &[begun(1, 1, 1, 0), ended(1, TrialOutcome::Valid), begun(1, 1, 1, 1)],
            &[begun(1, 1, 1, 0), ended(1, TrialOutcome::Valid), begun(2, 1, 1, 0)],
            &[begun(1, 1, 1, 0), ended(2, TrialOutcome::Valid)],
            &[begun(1, 1, 1, 0), ended(1, TrialOutcome::Valid), ended(1, TrialOutcome::Valid)],
        ];
        for events in cases {
            let error = StudyHistory::replay(events).expect_err("contradictory");
            assert_eq!(error.line, events.len());
        }
    }
}
