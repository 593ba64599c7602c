//! Several studies of the same configurations as one: each is one session more, or several.

use super::folder::RecordedStudy;
use super::history::StudyHistory;
use super::plan::{BlockDesign, GateLimits, RunOrder, StopRule, StudyPlan};

impl RecordedStudy {
    /// These studies, each with the name of its folder, as one. Numbers of runs, blocks and
    /// sessions go on from one to the next, and the folders of runs have those names before them. A
    /// single one stays as it is.
    ///
    /// # Errors
    /// They cannot be joined, in words: one compares something else, is a sweep or a search, or was
    /// looked at while it went on.
    pub fn joined(mut studies: Vec<(String, Self)>) -> Result<Self, String> {
        if studies.len() < 2 {
            return studies.pop().map(|(_, study)| study).ok_or("no study is named".to_owned());
        }
        let (first, plan) = (studies[0].0.clone(), studies[0].1.plan.clone());
        let mut joined = Self { plan, history: StudyHistory::default(), records: Vec::new() };
        let count = studies.len();
        let is_finished = studies.iter().all(|(_, study)| study.history.finished.is_some());
        let is_extended = studies.iter().any(|(_, study)| study.history.extended.is_some());
        let blocks = studies.iter().map(|(_, study)| study.history.most_blocks(&study.plan));
        let blocks = blocks.fold(0, u32::saturating_add);
        for (place, study) in studies {
            if let Some(reason) = study.misfit(&joined.plan, &first) {
                return Err(format!("{place} cannot be joined: {reason}"));
            }
            joined.append(&place, study);
        }
        joined.plan.design.blocks = blocks;
        joined.history.extended = is_extended.then_some(blocks);
        joined.history.finished = is_finished.then(|| format!("{count} studies are complete"));
        Ok(joined)
    }

    /// Why it cannot be joined with a study of this plan and name; `None`: it can.
    fn misfit(&self, plan: &StudyPlan, name: &str) -> Option<String> {
        if self.plan.order != RunOrder::Blocks {
            return Some("it is a sweep or a search: join studies".to_owned());
        }
        if matches!(self.plan.design.stop, StopRule::Looks { .. }) {
            let text = "its plan looks at the results while it goes on, and its intervals hold \
                        for it alone: plan it with stop = \"fixed\"";
            return Some(text.to_owned());
        }
        let is_same = compared(&self.plan) == compared(plan);
        (!is_same)
            .then(|| format!("it compares something else than {name}: join studies of one file"))
    }

    /// Takes over the sessions and runs of another one. What that left out is left out of all: it
    /// keeps the pairs that it has, and has passed no gate.
    fn append(&mut self, place: &str, other: Self) {
        let runs = &self.history.runs;
        let run = runs.iter().map(|run| run.trial.run).max().unwrap_or(0);
        let block = runs.iter().map(|run| run.trial.block).max().unwrap_or(0);
        let sessions = &self.history.sessions;
        let session = sessions.iter().map(|session| session.number).max().unwrap_or(0);
        for mut one in other.history.sessions {
            one.number = one.number.saturating_add(session);
            self.history.sessions.push(one);
        }
        for mut one in other.history.runs {
            one.trial.run = one.trial.run.saturating_add(run);
            one.trial.block = one.trial.block.saturating_add(block);
            one.trial.session = one.trial.session.saturating_add(session);
            one.trial.folder = format!("{place}/{}", one.trial.folder);
            self.history.runs.push(one);
        }
        for (cell, reason) in other.history.left_out {
            self.history.left_out.entry(cell).or_insert_with(|| format!("in {place}: {reason}"));
        }
        self.records.extend(other.records);
    }
}

/// What of a plan has to be the same: all but how often it is run, where, and by which dbtime.
fn compared(plan: &StudyPlan) -> StudyPlan {
    let design = BlockDesign { blocks: 0, seed: 0, stop: StopRule::Fixed, ..plan.design };
    let (steal_pct, foreign_cpu_pct) = (0.0, 0.0);
    let gate = GateLimits {
        steal_pct,
        foreign_cpu_pct,
        wait_s: 0.0,
        repeats: 0,
        steady: true,
        noise: Default::default(),
    };
    let (dbtime, name, directory) = Default::default();
    let plan = plan.clone();
    StudyPlan { dbtime, name, directory, question: None, pilot: None, design, gate, ..plan }
}

#[cfg(test)]
mod tests {
    use super::super::history::StudyRun;
    use super::super::journal::{StudySession, StudyTrial, TrialOutcome};
    use super::super::trial_record::TrialRecord;
    use super::*;

    /// Of one configuration, which was run so often.
    fn study(blocks: u32, stop: &str, cell: &str) -> RecordedStudy {
        let plan = serde_json::from_value(serde_json::json!({
            "schema": 1, "dbtime": "1", "name": "n", "question": null, "primary": "throughput",
            "margin_pct": 1.0,
            "design": { "blocks": blocks, "seed": blocks, "stop": { "rule": stop, "looks": 2 } },
            "gate": { "steal_pct": 1.0, "foreign_cpu_pct": 1.0, "wait_s": 0.0, "repeats": 3 },
            "cells": [{ "name": cell, "role": "baseline", "factors": [], "command": "x" }],
        }));
        let run = |block: u32| {
            let folder = format!("runs/{block:04}");
            let (run, session) = (u64::from(block), 1);
            let trial = StudyTrial { run, block, folder, session, ..StudyTrial::default() };
            let (outcome, reason, ended_at) = (Some(TrialOutcome::Valid), None, None);
            StudyRun { trial, outcome, reason, ended_at }
        };
        let history = StudyHistory {
            sessions: vec![StudySession { number: 1, ..StudySession::default() }],
            runs: (1..=blocks).map(run).collect(),
            finished: Some("all blocks are complete".to_owned()),
            ..StudyHistory::default()
        };
        let records = vec![Some(TrialRecord::Run(Box::default())); blocks as usize];
        RecordedStudy { plan: plan.expect("a plan"), history, records }
    }

    fn joined(studies: [RecordedStudy; 2]) -> Result<RecordedStudy, String> {
        let names = ["monday", "tuesday"].map(str::to_owned);
        RecordedStudy::joined(names.into_iter().zip(studies).collect())
    }

    #[test]
    fn runs_blocks_and_sessions_go_on_from_one_to_the_next() {
        let both = [study(2, "fixed", "a"), study(3, "fixed", "a")];
        let joined = joined(both).expect("of one plan");
        let trials = joined.history.runs.iter().map(|run| &run.trial);
        let places: Vec<_> = trials.map(|it| (it.run, it.block, it.session)).collect();
        assert_eq!(places, [(1, 1, 1), (2, 2, 1), (3, 3, 2), (4, 4, 2), (5, 5, 2)]);
        assert_eq!(joined.history.runs[2].trial.folder, "tuesday/runs/0001");
        assert_eq!((joined.history.sessions.len(), joined.records.len()), (2, 5));
        assert_eq!(joined.history.finished.as_deref(), Some("2 studies are complete"));
        assert_eq!(joined.history.complete_blocks(1).len(), 5);
        assert_eq!((joined.history.extended, joined.history.most_blocks(&joined.plan)), (None, 5));
    }

    /// Else a gate would pass what could not run, and a report hide that blocks were added.
    #[test]
    fn what_one_of_them_left_out_or_added_is_so_of_all() {
        let mut extended = study(2, "fixed", "a");
        extended.history.extended = Some(4);
        let mut without = study(3, "fixed", "a");
        without.history.left_out.insert(0, "no server".to_owned());
        let joined = joined([extended, without]).expect("of one plan");
        let left_out: Vec<_> = joined.history.left_out_cells(&joined.plan).collect();
        assert_eq!(left_out, [("a", "in tuesday: no server")]);
        assert_eq!(joined.history.extended, Some(7));
    }

    #[test]
    fn what_compares_something_else_is_refused_by_name() {
        let other = joined([study(2, "fixed", "a"), study(2, "fixed", "b")]).expect_err("another");
        assert!(other.starts_with("tuesday cannot be joined: it compares something else than mon"));
        let looks = joined([study(2, "looks", "a"), study(2, "looks", "a")]).expect_err("looks");
        assert!(looks.contains("plan it with stop"), "{looks}");
        let mut sweep = study(2, "fixed", "a");
        sweep.plan.order = RunOrder::Rounds;
        let sweep = joined([study(2, "fixed", "a"), sweep]).expect_err("a sweep");
        assert!(sweep.contains("join studies"), "{sweep}");
    }

    #[test]
    fn one_study_stays_as_it_is() {
        let one = study(2, "fixed", "a");
        let alone = RecordedStudy::joined(vec![("monday".to_owned(), one.clone())]);
        assert_eq!(alone, Ok(one));
        RecordedStudy::joined(Vec::new()).expect_err("none");
    }
}
