//! A configuration of a study against the baseline.

use super::indexed_runs::IndexedRuns;
use super::session_changes::SessionChanges;
use crate::compare::groups::{
    CellVerdict, GivenExclusion, GroupComparison, GroupOptions, PlacedRun, Verdict,
};
use dbtime_model::record::PrimaryMetric;
use dbtime_model::study::{CellRole, RecordedStudy, RunOrder, StopRule, StudyPlan};
use dbtime_stats::{VerdictRule, look_level};
use serde::Serialize;
use std::collections::HashSet;

/// The level of intervals after all runs.
pub(super) const LEVEL: f64 = 0.95;

/// The level at which a control that differs withholds verdicts. At 95 % one study in twenty would
/// lose its verdict by chance.
pub(super) const UNSTABLE_LEVEL: f64 = 0.99;

/// A change so many times as large as the difference of the baseline from itself, by the nearer
/// bound of the one and the farther of the other, is none by that.
const OUTWEIGHING: f64 = 3.0;

/// Why a run is in no verdict that counts itself.
pub(super) const WITHOUT_PAIR: &str = "the other run of its pair does not count";

/// Runs of a configuration, each with its block.
type BlockRuns<'a> = Vec<(u32, PlacedRun<'a>)>;

/// One configuration against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellComparison {
    /// Its name.
    pub cell: String,
    /// The name of the one that it is compared with.
    pub baseline: String,
    /// The verdict; where the baseline differs from itself, that there is none. In JSON its
    /// sentence, and `outcome` is what it comes to.
    #[serde(flatten, serialize_with = "CellVerdict::as_verdict")]
    pub verdict: CellVerdict,
    /// Everything that was compared: A is the baseline, B this one.
    pub comparison: GroupComparison,
    /// The change by session; left out where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionChanges>,
}

impl CellComparison {
    /// Whether both differ, by the margin as far as is known: of a control, that the baseline
    /// differs from itself.
    pub(super) fn is_different(&self) -> bool {
        matches!(self.comparison.verdict, Verdict::Different(_))
    }

    /// Whether the change is many times as large as this control's difference, as far as is known.
    pub(super) fn outweighs(&self, control: &Self) -> bool {
        let bounds = |one: &Self| {
            let [_, low, high] = one.comparison.metrics.first()?.change_pct?;
            Some([low, high].map(|pct| (pct / 100.0).ln_1p()))
        };
        let Some(([low, high], of_control)) = bounds(self).zip(bounds(control)) else {
            return false;
        };
        let nearest = if low > 0.0 { low } else { (-high).max(0.0) };
        let farthest = of_control.into_iter().map(f64::abs).fold(0.0, f64::max);
        nearest > OUTWEIGHING * farthest
    }

    /// Takes back the verdict and the bounds of the gate: by this control the baseline differs from
    /// itself.
    pub(super) fn withdraw(&mut self, control: &Self) {
        self.verdict.withdraw(&control.verdict);
        self.comparison.gate.withdraw();
        self.comparison.metrics.iter_mut().take(1).for_each(|primary| primary.gate.withdraw());
    }
}

/// The rule of the verdicts: the level is that of the look at which it was ended.
pub(super) fn rule(study: &RecordedStudy) -> VerdictRule {
    let plan = &study.plan;
    let level = match plan.design.stop {
        StopRule::Looks { looks } => {
            let ended = study.history.looks.iter().position(|(_, enough, _)| *enough);
            look_level(ended.map_or(looks, |at| at as u32 + 1), looks)
        }
        StopRule::Fixed | StopRule::Precision { .. } => None,
    };
    VerdictRule {
        margin: plan.margin_pct / 100.0,
        comparisons: plan.candidates().count().max(1),
        level: level.unwrap_or(LEVEL),
    }
}

/// Leaves out of two configurations what has no counterpart in its round or its block, so that all
/// others are pairs; nothing where there is no pair. A round is not repeated as a block is, and a
/// block is complete without what is left out.
fn keep_pairs(sides: &mut [BlockRuns<'_>; 2], primary: PrimaryMetric) {
    let blocks = sides.each_ref().map(|side| {
        let counted = side.iter().filter(|(_, run)| run.exclusion(primary).is_none());
        counted.map(|(block, _)| *block).collect::<HashSet<u32>>()
    });
    let pairs: HashSet<u32> = blocks[0].intersection(&blocks[1]).copied().collect();
    if pairs.is_empty() {
        return;
    }
    for (_, run) in sides.iter_mut().flatten().filter(|(block, _)| !pairs.contains(block)) {
        if run.exclusion(primary).is_none() {
            run.excluded = Some(GivenExclusion::OfOthers(WITHOUT_PAIR));
        }
    }
}

/// The control of a baseline, whose runs are runs of the baseline too; `None`: there is none, or
/// what is compared is the control itself.
fn twin(plan: &StudyPlan, baseline: usize, cell: usize) -> Option<usize> {
    let (control, of) = plan.with_role(CellRole::Control).next()?;
    let is_twin = plan.order == RunOrder::Blocks && of.baseline as usize == baseline;
    (is_twin && control != cell).then_some(control)
}

/// A configuration against the baseline; `None` while either has no run, or one that counts of what
/// is left out.
pub(super) fn compared(
    runs: &IndexedRuns<'_>,
    cell: usize,
    rule: VerdictRule,
) -> Option<CellComparison> {
    let plan = &runs.study.plan;
    let (primary, baseline) = (plan.primary_metric(), plan.cells[cell].baseline as usize);
    let mut sides = [runs.placed(baseline), runs.placed(cell)];
    match twin(plan, baseline, cell) {
        Some(control) => sides[0].extend(runs.placed(control)),
        // Where a configuration has one run in a block, each run is a unit.
        None if plan.design.slices < 2 => {
            sides.iter_mut().flatten().for_each(|(_, run)| run.unit = None);
        }
        None => {}
    }
    let left_out = |at: &usize| runs.study.history.is_left_out(*at as u32);
    let is_left_out = [baseline, cell].iter().any(left_out);
    if plan.order == RunOrder::Rounds || is_left_out {
        keep_pairs(&mut sides, primary);
    }
    let counts = |(_, run): &(u32, PlacedRun<'_>)| run.exclusion(primary).is_none();
    if is_left_out && !sides[1].iter().any(counts) {
        return None;
    }
    let [a, b] = sides.map(|side| side.into_iter().map(|(_, run)| run).collect::<Vec<_>>());
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let name = &plan.cells[cell].name;
    let names = [plan.cells[baseline].name.as_str(), name.as_str()];
    let (primary, program) = (Some(primary), plan.program.as_ref());
    let options = GroupOptions { rule, primary, program, names };
    let comparison = GroupComparison::of(&a, &b, options);
    let verdict = CellVerdict { cell: name.clone(), verdict: comparison.verdict.clone() };
    let sessions = SessionChanges::of(runs.study, [baseline, cell], rule);
    let baseline = names[0].to_owned();
    Some(CellComparison { cell: name.clone(), baseline, verdict, comparison, sessions })
}
