//! One name in one unit: the values of both sides, and the verdict on them.

use super::direction;
use super::sample::ForeignSample;
use super::turns::run_values;
use crate::compare::groups::{
    FoundStates, GroupGate, GroupMetric, GroupOutcome, ValuesFinding, ValuesRule, Verdict,
    geometric_mean,
};
use crate::format::counted;
use dbtime_stats::{ConfidenceInterval, RunValues, SIGNIFICANCE};
use serde::Serialize;
use std::cmp::Ordering;

/// As many values a side as a verdict takes.
pub(super) const FEWEST: usize = 3;

/// What a verdict on a row is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowClass {
    Worse,
    Undecided,
    Same,
    Better,
}

/// One name in one unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForeignRow {
    /// The name.
    pub name: String,
    /// The unit of `a`, `b` and `means`.
    pub unit: String,
    /// Whether more is better.
    pub is_higher_better: bool,
    /// The geometric means of both sides; 0 where a value is.
    pub means: [f64; 2],
    /// The change of B against A with its interval; `null`: too few values, or one of zero. Unit:
    /// percent.
    pub change_pct: Option<[f64; 3]>,
    /// Whether that is the median change (Hodges-Lehmann), which alone shows a difference; else it
    /// is the one of the means.
    pub is_by_medians: bool,
    /// The probability of such a change where there is none (Student's t; 1.1 times that of ranks
    /// where it is by medians).
    pub p: Option<f64>,
    /// The same, adjusted for all rows (Holm).
    pub p_adjusted: Option<f64>,
    /// The verdict on this row alone.
    pub verdict: String,
    /// What the gate says of this row among all rows.
    pub outcome: GroupOutcome,
    /// Whether each value of A was compared with one of B that was measured in the same turn.
    pub paired: bool,
    /// The turns of pairs that one side alone has, whose values are in nothing here.
    pub blocks_left_out: Vec<u64>,
    /// The groups that the values fall into, which a mean says little of; `null`: they are one.
    pub states: Option<FoundStates>,
    /// The values of A that are compared, in the order of the file, pairs in that of their turns.
    pub a: Vec<f64>,
    /// The same of B.
    pub b: Vec<f64>,
    /// The verdict in a word.
    #[serde(skip)]
    pub(super) word: &'static str,
    #[serde(skip)]
    pub(super) class: RowClass,
    /// Half of the width of the interval of the logarithm of the ratio of the means.
    #[serde(skip)]
    pub(super) half_log: Option<f64>,
    /// The bounds by which the outcome is what it is; `None`: it has another reason.
    #[serde(skip)]
    pub(in crate::compare) gate: Option<GroupGate>,
    /// The probability by which the gate fails, of this row alone.
    #[serde(skip)]
    pub(super) gate_p: Option<f64>,
}

/// What the values of a row show.
struct RowFinding {
    verdict: String,
    outcome: GroupOutcome,
    class: RowClass,
    word: &'static str,
    change: Option<ConfidenceInterval>,
    is_by_medians: bool,
    half_log: Option<f64>,
    p: Option<f64>,
    states: Option<FoundStates>,
    gate: Option<GroupGate>,
    gate_p: Option<f64>,
}

impl ForeignRow {
    /// Compares the sample of A with that of B.
    pub(super) fn of(
        [one, other]: [&ForeignSample; 2],
        is_higher_better: bool,
        rule: ValuesRule,
    ) -> Self {
        let (name, unit) = (one.key.shown(), one.key.unit.clone());
        let words = direction::words(&unit);
        let (values, blocks_left_out) = run_values(&one.values, &other.values);
        let metric = GroupMetric::foreign(&name, is_higher_better, words);
        let found = finding(&metric, &values, rule, direction::is_time(&unit));
        let [a, b] = values.sides();
        let percent = |change: ConfidenceInterval| {
            [change.estimate, change.low, change.high].map(|share| 100.0 * share)
        };
        Self {
            name,
            unit,
            is_higher_better,
            means: [geometric_mean(&a), geometric_mean(&b)],
            change_pct: found.change.map(percent),
            is_by_medians: found.is_by_medians,
            p: found.p,
            p_adjusted: None,
            verdict: found.verdict,
            outcome: found.outcome,
            paired: matches!(values, RunValues::Paired(_)),
            blocks_left_out,
            states: found.states,
            a,
            b,
            word: found.word,
            class: found.class,
            half_log: found.half_log,
            gate: found.gate,
            gate_p: found.gate_p,
        }
    }

    /// Takes the probabilities that are adjusted for all rows: what may be chance fails no gate.
    pub(super) fn settle(&mut self, p_adjusted: Option<f64>, gate_p_adjusted: Option<f64>) {
        self.p_adjusted = p_adjusted;
        let may_be_chance = gate_p_adjusted.is_some_and(|p| p >= SIGNIFICANCE);
        if may_be_chance && self.outcome == GroupOutcome::Worse {
            self.outcome = GroupOutcome::Undecided;
            self.gate = None;
        }
    }

    /// Whether it differs among all rows too, where it does alone.
    pub(super) fn holds_among_all(&self) -> bool {
        let differs = matches!(self.class, RowClass::Worse | RowClass::Better);
        !differs || self.p_adjusted.is_none_or(|p| p < SIGNIFICANCE)
    }

    /// The logarithm of B's mean over A's; `None`: one is zero.
    pub(super) fn log_ratio(&self) -> Option<f64> {
        let [a, b] = self.means;
        (a > 0.0 && b > 0.0).then(|| (b / a).ln()).filter(|log| log.is_finite())
    }

    /// Orders rows by how bad their change is.
    pub(super) fn worst_first(&self, other: &Self) -> Ordering {
        let badness = |row: &Self| {
            let shown = row.change_pct.map(|[change, ..]| (change / 100.0).ln_1p());
            let log = shown.or_else(|| row.log_ratio()).unwrap_or(0.0);
            if row.is_higher_better { -log } else { log }
        };
        let by_change = badness(other).total_cmp(&badness(self));
        let by_name = (&self.name, &self.unit).cmp(&(&other.name, &other.unit));
        self.class.cmp(&other.class).then(by_change).then(by_name)
    }
}

/// What values show. `is_time`: one of 0 was rounded to that.
fn finding(
    metric: &GroupMetric,
    values: &RunValues,
    rule: ValuesRule,
    is_time: bool,
) -> RowFinding {
    let sides = values.sides();
    let are_zero = sides.each_ref().map(|side| side.iter().all(|value| *value == 0.0));
    let has_zero = sides.iter().flatten().any(|value| *value == 0.0);
    let [of_a, of_b] = sides.each_ref().map(|side| side.contains(&0.0));
    let is_few = values.runs_a_side() < FEWEST;
    match are_zero {
        [true, _] | [_, true] if is_few => RowFinding::still(
            GroupOutcome::Undecided,
            "too few",
            "No verdict: always 0 on one side, of fewer than three values",
        ),
        [true, true] => RowFinding::still(GroupOutcome::Good, "same", "Same: 0 on both sides"),
        _ if has_zero && is_time => RowFinding::still(
            GroupOutcome::Undecided,
            "has zeros",
            "No verdict: some times are 0, as the file has too few digits for them: measure more \
             work at a time",
        ),
        [true, false] if !of_b => RowFinding::from_zero(metric, true),
        [false, true] if !of_a => RowFinding::from_zero(metric, false),
        _ if has_zero => RowFinding::still(
            GroupOutcome::Undecided,
            "has zeros",
            "Invalid: some values are 0 and others not, which have no ratio",
        ),
        _ => {
            let found = RowFinding::of(metric, ValuesFinding::of(metric, values, rule));
            match is_few {
                true => RowFinding { verdict: too_few(&sides), ..found },
                false => found,
            }
        }
    }
}

/// Why there is no verdict.
fn too_few(sides: &[Vec<f64>; 2]) -> String {
    let [a, b] = sides.each_ref().map(|side| counted(side.len() as u64, "value"));
    format!(
        "No verdict: {a} of A and {b} of B; from three values a side on there is one, and ten are \
         better"
    )
}

impl RowFinding {
    /// What values without a ratio show.
    fn still(outcome: GroupOutcome, word: &'static str, verdict: &str) -> Self {
        let is_good = outcome == GroupOutcome::Good;
        Self {
            verdict: verdict.to_owned(),
            outcome,
            class: if is_good { RowClass::Same } else { RowClass::Undecided },
            word,
            change: None,
            is_by_medians: false,
            half_log: None,
            p: None,
            states: None,
            gate: None,
            gate_p: None,
        }
    }

    /// That one side is zero throughout, and the other nowhere.
    fn from_zero(metric: &GroupMetric, is_more: bool) -> Self {
        let is_better = metric.is_better(is_more);
        let word = metric.word(is_better);
        let [zero, other] = if is_more { ["A", "B"] } else { ["B", "A"] };
        let verdict = format!("B {word} than A: always 0 in {zero}, never in {other}");
        let outcome = if is_better { GroupOutcome::Good } else { GroupOutcome::Worse };
        let class = if is_better { RowClass::Better } else { RowClass::Worse };
        Self { class, ..Self::still(outcome, word, &verdict) }
    }

    /// What a verdict on values above zero comes to.
    fn of(metric: &GroupMetric, found: ValuesFinding) -> Self {
        let ValuesFinding { verdict, change, mean_change, p, gate, .. } = found;
        let is_worse = verdict.outcome() == GroupOutcome::Worse;
        let (class, word) = match &verdict {
            Verdict::Different(_) if is_worse => (RowClass::Worse, metric.word(false)),
            Verdict::Different(_) => (RowClass::Better, metric.word(true)),
            Verdict::Small { .. } => (RowClass::Same, "small"),
            Verdict::Same { .. } => (RowClass::Same, "same"),
            Verdict::TooFew { .. } => (RowClass::Undecided, "too few"),
            _ => (RowClass::Undecided, "undecided"),
        };
        let half = |change: ConfidenceInterval| (change.high.ln_1p() - change.low.ln_1p()) / 2.0;
        Self {
            verdict: verdict.to_string(),
            outcome: gate.outcome(),
            class,
            word,
            half_log: mean_change.map(half).filter(|half| half.is_finite()),
            change,
            is_by_medians: found.is_by_medians,
            p,
            states: found.states,
            gate: Some(gate).filter(GroupGate::has_bounds),
            gate_p: found.gate_p,
        }
    }
}
