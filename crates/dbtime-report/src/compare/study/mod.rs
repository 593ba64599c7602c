//! What a study has come to: every configuration against the baseline, and the baseline against
//! itself.

mod capacity;
mod cell_comparison;
mod cell_figures;
mod charts;
mod crossed;
mod drift;
mod effects;
mod factors;
mod facts;
mod gate;
mod indexed_runs;
mod latency;
mod plan_text;
mod program_mean;
mod resolution;
mod scalability;
mod session_changes;
mod tables;

#[cfg(test)]
mod capacity_tests;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod verdict_tests;

pub use capacity::StudyCapacity;
pub use cell_comparison::CellComparison;
pub use cell_figures::CellFigures;
pub(super) use charts::charts;
pub use crossed::{CrossedCell, CrossedFactors};
pub use effects::{FactorEffect, FactorEffects};
pub(super) use facts::{ShownVerdicts, VERDICTS};
pub use latency::{LatencyRun, LatencySeries};
pub use plan_text::{brief_plan_text, plan_text};
pub use program_mean::{MeanKind, ProgramMean};
pub use resolution::resolution_text;
pub use scalability::{
    FittedScalability, LawParameter, ScalabilityRun, ScalabilitySeries, ScalabilityStep,
};
pub use session_changes::{SessionChange, SessionChanges};
pub(super) use tables::{RUNS, of_study};

use super::SCHEMA;
use super::groups::{self, GroupMetric, GroupOutcome, Verdict};
use crate::format::{clean, counted};
use crate::story;
use cell_comparison::{LEVEL, UNSTABLE_LEVEL, compared, rule};
use cell_figures::all_figures;
use dbtime_model::record::combination_text;
use dbtime_model::study::{
    CellRole, FoundRate, RecordedStudy, RunOrder, StudyPlan, StudyRun, TrialOutcome, TrialRecord,
};
use dbtime_stats::VerdictRule;
use indexed_runs::IndexedRuns;
use serde::Serialize;
use std::collections::HashSet;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyRunLine {
    /// Its number.
    pub run: u64,
    /// Its block.
    pub block: u32,
    /// Which time the block was begun.
    pub attempt: u32,
    /// The session that it was made in.
    pub session: u32,
    /// Its configuration.
    pub cell: String,
    /// When it was begun, UTC, RFC 3339.
    pub started_at: String,
    /// Its value of the primary metric; `null`: it has none.
    pub value: Option<f64>,
    /// Why it is in no verdict; `null`: it is.
    pub excluded: Option<String>,
    /// Why it is noisy; left out where it is sound or invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noisy: Option<String>,
    /// The folder of its record, below that of the study.
    pub folder: String,
    /// Whether that has a page.
    #[serde(skip)]
    pub(super) has_page: bool,
    /// Whether it is not valid, for the metric of the verdicts or for other figures.
    #[serde(skip)]
    is_invalid: bool,
}

/// A configuration that a study goes on without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutCell {
    /// Its name.
    pub cell: String,
    /// Its error.
    pub reason: String,
}

/// What a study has come to, as `dbtime study report --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyComparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `study`.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// What it was to answer.
    pub question: Option<String>,
    /// Whether it is over and why, in words.
    pub state: String,
    /// Whether it is over.
    pub is_finished: bool,
    /// Which runs that counted are gone or damaged, in words, so that all else rests on the others;
    /// left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The configurations that were left out because they could not run; left out: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutCell>,
    /// Which files of the plan were changed after the first run, in words; left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_changed: Option<String>,
    /// Which runs have files that are not as the runs left them, in words; left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_changed: Option<String>,
    /// What a search for a rate has found; `null`: it is none.
    pub found: Option<FoundRate>,
    /// The metric that the verdicts are on, by its name.
    pub primary: String,
    /// What there is to know of that.
    #[serde(skip)]
    primary_metric: GroupMetric,
    /// Each configuration that was compared, in the order of the plan.
    pub comparisons: Vec<CellComparison>,
    /// What changed over the session, whatever the configuration: from the first run that counts to
    /// the last, with its 95 % interval; `null`: fewer than six blocks. Unit: percent.
    pub drift_pct: Option<[f64; 3]>,
    /// The baseline against itself; `null`: the plan had no control.
    pub control: Option<CellComparison>,
    /// Whether the control differs surely enough to withhold verdicts.
    #[serde(skip)]
    is_unstable: bool,
    /// What the factors do, where several were crossed.
    pub factors: FactorEffects,
    /// All configurations, the baseline first; none of a search.
    pub cells: Vec<CellFigures>,
    /// All runs, in the order of time.
    pub runs: Vec<StudyRunLine>,
    /// What it shows of capacity.
    pub capacity: StudyCapacity,
    /// How many blocks count: of a sweep those with a run that does.
    pub complete_blocks: u64,
    /// How many processes' work it is that found something of the machine changed, besides the
    /// first.
    pub further_sessions: u64,
    /// Whether reports say how the gate comes out.
    #[serde(skip)]
    is_gated: bool,
    /// Whether blocks may be added to it.
    #[serde(skip)]
    takes_blocks: bool,
    /// How the shell is given its folder; `None`: that is not known.
    #[serde(skip)]
    folder: Option<String>,
}

/// What stands for the folder of a study in commands where that is not known.
const PLACE: &str = "DIR";

/// So many runs with changed files are named.
const MOST_CHANGED: usize = 4;

/// A study that needs more blocks than this is not shown how to add them.
const MOST_FURTHER_BLOCKS: usize = 1000;

/// Fewer pairs have no verdict.
const FEWEST_PAIRS: usize = 3;

impl StudyComparison {
    /// Compares the configurations of a study.
    pub fn of(study: &RecordedStudy) -> Self {
        let RecordedStudy { plan, history, .. } = study;
        let rule = rule(study);
        let indexed = IndexedRuns::of(study);
        let compare = |cell: usize, rule| compared(&indexed, cell, rule);
        let of_control = |level| {
            let (cell, _) = plan.with_role(CellRole::Control).next()?;
            compare(cell, VerdictRule { comparisons: 1, level, ..rule })
        };
        let control = of_control(LEVEL);
        let is_unstable = of_control(UNSTABLE_LEVEL).is_some_and(|control| control.is_different());
        let mut comparisons: Vec<CellComparison> =
            plan.candidates().filter_map(|(cell, _)| compare(cell, rule)).collect();
        if let Some(control) = control.as_ref().filter(|_| is_unstable) {
            let in_doubt = comparisons.iter_mut().filter(|one| !one.outweighs(control));
            in_doubt.for_each(|one| one.withdraw(control));
        }
        let complete = history.complete_blocks(plan.cells.len()).len() as u64;
        let lines = lines(&indexed);
        let counting = match plan.order {
            RunOrder::Rounds => blocks_with_runs(&lines),
            RunOrder::Blocks | RunOrder::Search => complete,
        };
        Self {
            schema: SCHEMA,
            kind: "study",
            name: plan.name.clone(),
            question: plan.question.clone(),
            state: state(study, complete),
            is_finished: history.finished.is_some(),
            lost: study.lost_text().map(|text| lost(plan, &clean(&text))),
            left_out: left_out(study),
            plan_changed: None,
            runs_changed: None,
            found: study.found(),
            primary: plan.primary.clone(),
            primary_metric: metrics(plan).swap_remove(0),
            capacity: StudyCapacity::of(&indexed, &comparisons),
            comparisons,
            drift_pct: drift::drift(&lines).filter(|_| plan.order != RunOrder::Search),
            control,
            is_unstable,
            factors: FactorEffects::of(study),
            cells: all_figures(&indexed),
            runs: lines,
            complete_blocks: counting,
            further_sessions: (history.sessions.len() as u64).saturating_sub(1),
            is_gated: false,
            takes_blocks: plan.order == RunOrder::Blocks && history.finished.is_some(),
            folder: None,
        }
        .with_held_gates()
    }

    /// How many blocks more may decide what is open, of a study that is finished; `None`: nothing
    /// is, or too many.
    pub fn further_blocks(&self) -> Option<usize> {
        let of_one = |one: &CellComparison| match &one.verdict.verdict {
            Verdict::Undecided { more, .. } => *more,
            Verdict::TooFew { runs: [a, b], .. } => Some(FEWEST_PAIRS.saturating_sub(*a.min(b))),
            _ => None,
        };
        // Further blocks have no run of it, or none to compare it with.
        let is_left_out = |name: &String| self.left_out.iter().any(|one| one.cell == *name);
        let goes_on =
            |one: &&CellComparison| ![&one.cell, &one.baseline].into_iter().any(is_left_out);
        let most = self.comparisons.iter().filter(goes_on).filter_map(of_one).max();
        let most = most.filter(|_| self.takes_blocks);
        most.filter(|blocks| (1..=MOST_FURTHER_BLOCKS).contains(blocks))
    }

    /// The same of a study whose plan has these files that were changed after its first run.
    pub fn with_changed_plan(self, files: &[impl AsRef<str>]) -> Self {
        let text = || {
            let verb = if files.len() == 1 { "was" } else { "were" };
            let files = files.iter().map(|file| clean(file.as_ref())).collect::<Vec<_>>();
            let files = files.join(" and ");
            format!(
                "CHANGED PLAN: {files} {verb} changed after the first run, and the runs are those \
                 of the plan before: restore it from a copy, or begin another study"
            )
        };
        Self { plan_changed: (!files.is_empty()).then(text), ..self }.with_held_gates()
    }

    /// The same of a study of which these runs have files that are not as the runs left them, each
    /// with the files.
    pub fn with_changed_runs(self, runs: &[String]) -> Self {
        let text = || {
            let (shown, rest) = runs.split_at(runs.len().min(MOST_CHANGED));
            let more = (!rest.is_empty()).then(|| format!("and {} more", rest.len()));
            let shown = shown.iter().map(|run| clean(run)).chain(more).collect::<Vec<_>>();
            format!(
                "CHANGED RUNS: {}; their figures may be others than were measured: restore them \
                 from a copy, dbtime study verify {PLACE} looks at all",
                shown.join(", ")
            )
        };
        Self { runs_changed: (!runs.is_empty()).then(text), ..self }.with_held_gates()
    }

    /// The same of a study in this folder, as the shell is given it: commands name it in place of
    /// `DIR`. To be called last.
    #[must_use]
    pub fn placed_at(mut self, folder: &str) -> Self {
        let changed = [&mut self.lost, &mut self.runs_changed].into_iter().flatten();
        for text in changed.chain([&mut self.state]) {
            for command in ["resume", "verify"] {
                let [unknown, known] =
                    [PLACE, folder].map(|place| format!("dbtime study {command} {place}"));
                *text = text.replace(&unknown, &known);
            }
        }
        Self { folder: Some(folder.to_owned()), ..self }
    }

    /// The command whose option `--details` prints all of it; empty where its folder is not known.
    pub(super) fn details_command(&self) -> String {
        self.folder.as_ref().map_or_else(String::new, |it| format!("dbtime study report {it} "))
    }

    /// Why there is no verdict on any configuration; `None`: there is one.
    pub(super) fn lacks_verdicts(&self) -> Option<&'static str> {
        match (&self.comparisons[..], self.cells.len()) {
            ([_, ..], _) => None,
            ([], _) if self.found.is_some() => Some("No verdict: a search compares nothing"),
            ([], 1) => Some("No verdict: of one configuration alone there is none"),
            ([], _) if self.is_finished => Some("No verdict: no run counts"),
            ([], _) => Some("No verdict: no run counts yet"),
        }
    }

    /// Whether there is a verdict on any configuration: that it differs, or that it does not.
    pub fn has_verdict(&self) -> bool {
        self.comparisons.iter().any(|one| one.verdict.outcome() != GroupOutcome::Undecided)
    }

    /// Whether the baseline does not differ from itself.
    fn is_stable(&self) -> bool {
        !self.control.as_ref().is_some_and(CellComparison::is_different)
    }
}

/// How many blocks have a run that counts.
fn blocks_with_runs(lines: &[StudyRunLine]) -> u64 {
    let counted = lines.iter().filter(|line| line.excluded.is_none());
    counted.map(|line| line.block).collect::<HashSet<u32>>().len() as u64
}

/// What it means for the rest that runs are lost.
fn lost(plan: &StudyPlan, text: &str) -> String {
    let rest = match plan.order {
        RunOrder::Blocks => format!("blocks; dbtime study resume {PLACE} makes theirs again"),
        RunOrder::Rounds => format!("runs; dbtime study resume {PLACE} makes the lost ones again"),
        RunOrder::Search => "runs".to_owned(),
    };
    format!("INCOMPLETE: {text}; all that follows rests on the other {rest}")
}

fn left_out(study: &RecordedStudy) -> Vec<LeftOutCell> {
    let owned = |(cell, reason): (&str, &str)| LeftOutCell {
        cell: cell.to_owned(),
        reason: reason.to_owned(),
    };
    study.history.left_out_cells(&study.plan).map(owned).collect()
}

fn state(study: &RecordedStudy, complete: u64) -> String {
    if let Some(noise) = &study.history.noise {
        return clean(&noise.text(PLACE));
    }
    // Results that were looked at may have led to it.
    let extended = study.history.extended.map_or("", |_| "; extended after looking");
    let is_incomplete = study.plan.order == RunOrder::Blocks && study.lost_text().is_some();
    match &study.history.finished {
        Some(_) if is_incomplete => {
            let verb = if complete == 1 { "is" } else { "are" };
            let blocks = counted(complete, "block");
            format!("finished, and runs were lost since: {blocks} {verb} complete{extended}")
        }
        Some(reason) => format!("finished: {}{extended}", clean(reason)),
        None if study.plan.order == RunOrder::Search => {
            format!("not finished: continue with dbtime study resume {PLACE}")
        }
        None => format!(
            "not finished: {complete} of {} complete; continue with dbtime study resume \
             {PLACE}{extended}",
            counted(u64::from(study.history.most_blocks(&study.plan)), "block")
        ),
    }
}

/// All metrics of a plan, that of its verdicts first.
fn metrics(plan: &StudyPlan) -> Vec<GroupMetric> {
    match &plan.program {
        Some(rules) => groups::of_program(rules),
        None => groups::primary_first(plan.primary_metric()),
    }
}

/// Whether some figures of a run are not valid; those of an external program are not judged.
fn is_invalid(record: &TrialRecord) -> bool {
    record.run().is_some_and(|record| !record.validity.valid)
}

fn lines(runs: &IndexedRuns<'_>) -> Vec<StudyRunLine> {
    let study = runs.study;
    let primary = study.plan.primary_metric();
    let line = |run: &StudyRun, record: &Option<TrialRecord>, excluded: Option<String>| {
        let unjudged = record.as_ref().filter(|_| !study.plan.has_judged(run));
        let own = unjudged.and_then(|record| story::discount(record.run()?, primary));
        let noisy = record.as_ref().and_then(|record| story::noisy(record.run()?));
        // What a killed study left is no value of a run.
        let value = match run.outcome {
            Some(TrialOutcome::Valid | TrialOutcome::Invalid) => record.as_ref(),
            _ => None,
        };
        StudyRunLine {
            run: run.trial.run,
            block: run.trial.block,
            attempt: run.trial.attempt,
            session: run.trial.session,
            cell: match run.trial.factors.is_empty() {
                true => study.plan.cells[run.trial.cell as usize].name.clone(),
                false => combination_text(&study.factors(run)),
            },
            started_at: run.trial.at.clone(),
            value: value.and_then(|record| record.value(&study.plan.primary)),
            excluded: excluded.or(own).map(|why| clean(&why)),
            noisy,
            folder: run.trial.folder.clone(),
            has_page: record.as_ref().is_some_and(|record| record.run().is_some()),
            is_invalid: record.as_ref().is_some_and(is_invalid),
        }
    };
    let all = study.history.runs.iter().zip(&study.records).zip(runs.exclusions());
    all.map(|((run, record), excluded)| line(run, record, excluded.clone())).collect()
}
