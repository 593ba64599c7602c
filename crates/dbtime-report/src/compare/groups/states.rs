//! Two states beside a verdict: the change in each group of runs, and what tells the groups apart.

use super::verdict_basis::VerdictBasis;
use super::wording::signed;
use super::{PlacedRun, geometric_mean};
use crate::compare::setup::{self, SettingPair};
use crate::format::clean;
use dbtime_model::study::PlacedRecord;
use dbtime_stats::{GroupSplit, RunStates};
use serde::Serialize;

/// At most so many settings that tell the groups apart are named in the sentence.
const MOST_SETTINGS: usize = 3;

/// The groups that the runs of a comparison fall into.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundStates {
    /// All of it in words.
    pub text: String,
    /// The change in each group.
    pub changes: Vec<StateChange>,
    /// What was set up alike in all runs of a group, and differently in both; `a` is the lower one.
    pub settings: Vec<SettingPair>,
}

/// The change in a group of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateChange {
    /// The geometric mean of the runs of A in it. Unit: that of the metric.
    pub a: f64,
    /// How many runs of A.
    pub a_runs: usize,
    /// The geometric mean of the runs of B. Unit: that of the metric.
    pub b: f64,
    /// How many runs of B.
    pub b_runs: usize,
    /// The change from A to B. Unit: percent.
    pub change_pct: f64,
}

/// Runs of a side in the lower group and in the higher one.
type GroupHalves<'a> = [Vec<PlacedRun<'a>>; 2];

impl FoundStates {
    /// Those of the values of a verdict.
    pub(super) fn of(states: &RunStates, basis: &VerdictBasis<'_>) -> Self {
        let splits = match states {
            RunStates::Pairs(split) => [Some(split), Some(split)],
            RunStates::Sides(sides) => sides.each_ref().map(Option::as_ref),
        };
        let values = basis.values.sides();
        let [a, b] = [0, 1].map(|side| splits[side].map(|split| halves(&values[side], split)));
        let changes = changes([a, b], &values);
        let runs: Vec<GroupHalves<'_>> = (0..2)
            .filter_map(|side| splits[side].map(|split| halves(&basis.sides[side], split)))
            .collect();
        let settings = settings(&runs);
        let is_paired = matches!(states, RunStates::Pairs(_));
        let shown = |change: &StateChange| change.text(basis, is_paired);
        let mut texts: Vec<String> = changes.iter().map(shown).collect();
        texts.push(apart(&runs, &settings));
        Self { text: texts.join("; "), changes, settings }
    }
}

impl StateChange {
    fn of(a: &[f64], b: &[f64]) -> Self {
        let (mean_a, mean_b) = (geometric_mean(a), geometric_mean(b));
        Self {
            a: mean_a,
            a_runs: a.len(),
            b: mean_b,
            b_runs: b.len(),
            change_pct: 100.0 * (mean_b / mean_a - 1.0),
        }
    }

    /// `A 459,863 → B 300,003: −34.8 % in 3 of 6 pairs`.
    fn text(&self, basis: &VerdictBasis<'_>, is_paired: bool) -> String {
        let [name_a, name_b] = basis.names;
        let [a, b] = [self.a, self.b].map(|value| basis.metric.unit.shown(value));
        let [all_a, all_b] = basis.values.sides().map(|side| side.len());
        let (runs_a, runs_b) = (self.a_runs, self.b_runs);
        let change = signed(self.change_pct / 100.0);
        match is_paired {
            true => format!("{name_a} {a} → {name_b} {b}: {change} % in {runs_a} of {all_a} pairs"),
            false => format!(
                "{name_a} {a} ({runs_a} of {all_a}) → {name_b} {b} ({runs_b} of {all_b}): \
                 {change} %"
            ),
        }
    }
}

/// The lower group of each side against that of the other, and the higher ones; a side that is one
/// group against both of the other.
fn changes(halves: [Option<[Vec<f64>; 2]>; 2], values: &[Vec<f64>; 2]) -> Vec<StateChange> {
    let [a, b] = halves;
    let whole = |side: usize| [values[side].clone(), values[side].clone()];
    let ([low_a, high_a], [low_b, high_b]) =
        (a.unwrap_or_else(|| whole(0)), b.unwrap_or_else(|| whole(1)));
    vec![StateChange::of(&low_a, &low_b), StateChange::of(&high_a, &high_b)]
}

fn halves<T: Clone>(all: &[T], split: &GroupSplit) -> [Vec<T>; 2] {
    [false, true].map(|is_higher| {
        let of_half = all.iter().zip(&split.is_higher).filter(|(_, is)| **is == is_higher);
        of_half.map(|(one, _)| one.clone()).collect()
    })
}

/// What was set up differently in the groups of a side; of both sides, each name once.
fn settings(runs: &[GroupHalves<'_>]) -> Vec<SettingPair> {
    let mut settings: Vec<SettingPair> = Vec::new();
    for halves in runs {
        let [low, high]: [Vec<PlacedRecord<'_>>; 2] =
            halves.each_ref().map(|half| half.iter().map(|run| run.record).collect());
        for pair in setup::between([&low, &high]) {
            if settings.iter().all(|known| known.name != pair.name) {
                settings.push(pair);
            }
        }
    }
    settings
}

/// What tells the groups apart, in words.
fn apart(runs: &[GroupHalves<'_>], settings: &[SettingPair]) -> String {
    let named = settings.iter().take(MOST_SETTINGS);
    let named = named.map(|pair| format!("{}: {}, {}", pair.name, clean(&pair.a), clean(&pair.b)));
    let named = named.collect::<Vec<_>>().join("; ");
    // Whether each run of one half started before all of the other.
    let is_before = |[one, other]: [&Vec<PlacedRun<'_>>; 2]| {
        let last = one.iter().map(|run| run.record.started_at()).max();
        let first = other.iter().map(|run| run.record.started_at()).min();
        last < first
    };
    match named.as_str() {
        "" if runs.iter().all(|[low, high]| is_before([low, high])) => {
            "the first group ran before the second".to_owned()
        }
        "" if runs.iter().all(|[low, high]| is_before([high, low])) => {
            "the second group ran before the first".to_owned()
        }
        "" => "nothing known tells these groups apart".to_owned(),
        named => format!("these groups differ in {named}"),
    }
}
