//! The runs that a sweep or a search has made, each with what makes it this one and what it left.

use super::folder::RecordedStudy;
use super::found_rate::FoundRate;
use super::history::StudyRun;
use super::journal::{StudyTrial, TrialOutcome};
use super::trial_record::TrialRecord;
use crate::record::{FactorValue, RunRecord, combination_text};
use crate::units::counted;
use std::collections::BTreeMap;

/// So many lost runs are named.
const MOST_NAMED: usize = 3;

/// A run of dbtime that a sweep or a search has made.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeRun<'a> {
    /// Which.
    pub trial: &'a StudyTrial,
    /// What makes it this one among the others.
    pub factors: Vec<FactorValue>,
    /// Where these factors stand among all, from 0, in the order in which they were begun first.
    pub combination: usize,
    /// What it left.
    pub record: &'a RunRecord,
}

impl MadeRun<'_> {
    /// Its factors as they are shown.
    pub fn name(&self) -> String {
        combination_text(&self.factors)
    }
}

impl RecordedStudy {
    /// The factors of a run: those of its configuration, and what it has beside.
    pub fn factors(&self, run: &StudyRun) -> Vec<FactorValue> {
        let cell = self.plan.cells.get(run.trial.cell as usize);
        let of_cell = cell.into_iter().flat_map(|cell| &cell.factors);
        of_cell.chain(&run.trial.factors).cloned().collect()
    }

    /// The runs of dbtime that were made and are there, in the order of time. One that was cut off
    /// is among them where it left a record and nothing was made after it.
    pub fn made_runs(&self) -> Vec<MadeRun<'_>> {
        let mut combinations = BTreeMap::new();
        let last = self.history.runs.len();
        let mut made = Vec::new();
        for (at, (run, record)) in self.history.runs.iter().zip(&self.records).enumerate() {
            let factors = self.factors(run);
            let next = combinations.len();
            let combination = *combinations.entry(factors.clone()).or_insert(next);
            let is_made = match run.outcome {
                Some(outcome) => outcome != TrialOutcome::Failed,
                None => at + 1 == last,
            };
            if let Some(record) = record.as_ref().and_then(TrialRecord::run).filter(|_| is_made) {
                made.push(MadeRun { trial: &run.trial, factors, combination, record });
            }
        }
        made
    }

    /// The run that was cut off last, where it left a record: of what there was of it.
    pub fn cut_off_run(&self) -> Option<&StudyRun> {
        let (run, record) = self.history.runs.iter().zip(&self.records).next_back()?;
        (run.outcome.is_none() && record.is_some()).then_some(run)
    }

    /// The runs that could not be made.
    pub fn failed_runs(&self) -> impl Iterator<Item = &StudyRun> {
        self.history.runs.iter().filter(|run| run.outcome == Some(TrialOutcome::Failed))
    }

    /// The runs that were made to their end, whose records are not there any more, and that were
    /// not made again.
    pub fn missing_runs(&self) -> impl Iterator<Item = &StudyRun> {
        let has_left_one = |run: &StudyRun| {
            use TrialOutcome::{Invalid, Lost, Valid};
            matches!(run.outcome, Some(Valid | Invalid | Lost))
        };
        let runs = self.history.runs.iter().zip(&self.records);
        let without = runs.filter(|(_, record)| record.is_none()).map(|(run, _)| run);
        without.filter(move |run| has_left_one(run) && !self.history.is_made_again(run))
    }

    /// Which runs that counted are lost, and why, in words; `None`: none.
    pub fn lost_text(&self) -> Option<String> {
        let lost = self.history.lost_runs(self.plan.cells.len(), self.plan.order);
        let count = lost.len();
        let shown = lost.into_iter().take(MOST_NAMED).map(|run| {
            let reason = run.reason.as_deref().unwrap_or_default();
            format!("{} ({reason})", run.trial.folder)
        });
        let mut shown: Vec<String> = shown.collect();
        if count > shown.len() {
            shown.push(format!("and {} more", count - shown.len()));
        }
        let text = || format!("{} lost: {}", counted(count as u64, "run"), shown.join(", "));
        (count > 0).then(text)
    }

    /// How many runs have come to their end, those that failed too, and one that was lost and made
    /// again once.
    pub fn ended_runs(&self) -> u64 {
        let history = &self.history;
        let has_ended = |run: &&StudyRun| run.outcome.is_some() && !history.is_made_again(run);
        history.runs.iter().filter(has_ended).count() as u64
    }

    /// What a search has found, or that it has not come to its end; `None`: it is none.
    pub fn found(&self) -> Option<FoundRate> {
        let (limit, flat_out_tps) = self.plan.sought()?;
        let open = || FoundRate::open(limit.to_owned(), flat_out_tps);
        Some(self.history.found.clone().unwrap_or_else(open))
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::StudyHistory;
    use super::super::plan::StudyPlan;
    use super::*;

    /// A plan in this order.
    fn plan(order: &str) -> StudyPlan {
        let factors = serde_json::json!([{ "name": "workers", "value": "2" }]);
        serde_json::from_value(serde_json::json!({
            "schema": 1, "dbtime": "1", "name": "n", "question": null, "primary": "throughput",
            "margin_pct": 1.0, "order": order,
            "design": { "blocks": 3, "seed": 1, "stop": { "rule": "fixed" } },
            "gate": { "steal_pct": 1.0, "foreign_cpu_pct": 1.0, "wait_s": 0.0, "repeats": 3 },
            "cells": [
                { "name": "a", "role": "baseline", "factors": factors, "command": "dbtime run" },
            ],
        }))
        .expect("a plan")
    }

    fn run(number: u64, outcome: Option<TrialOutcome>, rate: &str) -> StudyRun {
        let factors = vec![FactorValue { name: "rate".to_owned(), value: rate.to_owned() }];
        let block = number as u32;
        let trial = StudyTrial { run: number, block, factors, ..StudyTrial::default() };
        StudyRun { trial, outcome, reason: None, ended_at: None }
    }

    #[test]
    fn what_was_made_is_told_from_what_was_cut_off_failed_or_is_gone() {
        use TrialOutcome::{Failed, Invalid, Lost, Valid};
        let runs = vec![
            run(1, Some(Valid), "1/s"),
            run(2, None, "2/s"),
            run(3, Some(Failed), "2/s"),
            run(4, Some(Lost), "1/s"),
            run(5, Some(Invalid), "3/s"),
            run(6, None, "4/s"),
        ];
        let record = || Some(TrialRecord::Run(Box::default()));
        let records = vec![record(), record(), None, None, record(), record()];
        let history = StudyHistory { runs, ..StudyHistory::default() };
        let study = RecordedStudy { plan: plan("rounds"), history, records };
        let made = study.made_runs();
        let places: Vec<_> = made.iter().map(|made| (made.trial.run, made.combination)).collect();
        assert_eq!(places, [(1, 0), (5, 2), (6, 3)]);
        assert_eq!(made[0].name(), "workers=2 rate=1/s");
        assert_eq!(study.cut_off_run().map(|run| run.trial.run), Some(6));
        assert!(study.failed_runs().map(|run| run.trial.run).eq([3]));
        assert!(study.missing_runs().map(|run| run.trial.run).eq([4]));
        assert_eq!(study.lost_text().as_deref(), Some("1 run lost:  ()"));
        assert_eq!((study.ended_runs(), study.plan.most_runs()), (4, Some(3)));
    }

    #[test]
    fn a_run_that_was_lost_and_made_again_is_one() {
        use TrialOutcome::{Lost, Valid};
        let mut again = run(3, Some(Valid), "1/s");
        again.trial.block = 1;
        let runs = vec![run(1, Some(Lost), "1/s"), run(2, Some(Valid), "2/s"), again];
        let record = || Some(TrialRecord::Run(Box::default()));
        let records = vec![None, record(), record()];
        let history = StudyHistory { runs, ..StudyHistory::default() };
        let mut study = RecordedStudy { plan: plan("rounds"), history, records };
        assert_eq!((study.missing_runs().count(), study.lost_text()), (0, None));
        assert_eq!((study.ended_runs(), study.made_runs().len()), (2, 2));
        study.history.runs.pop();
        study.records.pop();
        assert!(study.missing_runs().map(|run| run.trial.run).eq([1]));
        assert!(study.lost_text().is_some() && study.ended_runs() == 2);
    }

    #[test]
    fn how_many_runs_a_search_takes_is_not_planned() {
        assert_eq!(plan("search").most_runs(), None);
        assert_eq!(plan("search").sought(), None, "it has no limit");
    }
}
