//! Two factors, crossed: the effect of each combination, and whether the factors interact.

use super::CellComparison;
use super::cell_figures::geometric_mean;
use super::factors::{self, StudyFactor, level_text};
use super::indexed_runs::IndexedRuns;
use crate::charts::{EffectCell, InteractionLine, effect_map, interaction_lines};
use crate::compare::figures::FigureUnit;
use crate::compare::groups::signed;
use crate::format::NONE;
use dbtime_model::study::CellRole;
use serde::Serialize;

/// A combination of a level of each factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossedCell {
    /// The configuration.
    pub cell: String,
    /// The places of its levels.
    pub at: [usize; 2],
    /// Whether the others are compared with it.
    pub is_baseline: bool,
    /// Values of the primary metric of the runs that count.
    pub values: Vec<f64>,
    /// The change against the baseline and the ends of its interval, percent; `null`: none is
    /// known.
    pub change_pct: Option<[f64; 3]>,
}

/// Exactly two factors, every combination of them once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossedFactors {
    /// Their names, that with more levels first.
    pub names: [String; 2],
    /// Their levels.
    pub levels: [Vec<String>; 2],
    /// The combinations.
    pub cells: Vec<CrossedCell>,
}

/// `None`: there are fewer factors or more, or a combination is missing.
pub(super) fn of(runs: &IndexedRuns<'_>, comparisons: &[CellComparison]) -> Option<CrossedFactors> {
    let plan = &runs.study.plan;
    let mut factors = factors::factors(plan);
    factors.sort_by_key(|factor| std::cmp::Reverse(factor.levels.len()));
    let [first, second] = <[StudyFactor; 2]>::try_from(factors).ok()?;
    let kept = plan.cells.iter().enumerate().filter(|(_, cell)| cell.role != CellRole::Control);
    let cells: Vec<CrossedCell> = kept
        .map(|(at, cell)| {
            let compared = comparisons.iter().find(|one| one.cell == cell.name);
            let primary = compared.and_then(|one| one.comparison.metrics.first());
            CrossedCell {
                cell: cell.name.clone(),
                at: [first.of[at], second.of[at]],
                is_baseline: cell.role == CellRole::Baseline,
                values: runs.counted(at).filter_map(|record| record.value(&plan.primary)).collect(),
                change_pct: primary.and_then(|primary| primary.change_pct),
            }
        })
        .collect();
    let mut places: Vec<[usize; 2]> = cells.iter().map(|cell| cell.at).collect();
    places.sort_unstable();
    places.dedup();
    let is_whole =
        places.len() == cells.len() && cells.len() == first.levels.len() * second.levels.len();
    let levels = |factor: &StudyFactor| {
        let of_level = |level: usize| {
            let cell = factor.of.iter().position(|at| *at == level)?;
            Some(level_text(factor, cell).to_owned())
        };
        (0..factor.levels.len()).filter_map(of_level).collect::<Vec<_>>()
    };
    let levels = [levels(&first), levels(&second)];
    is_whole.then_some(CrossedFactors { names: [first.name, second.name], levels, cells })
}

impl CrossedFactors {
    /// A combination by its levels: `sync=off, workers=8`.
    fn name_of(&self, cell: &CrossedCell) -> String {
        let level = |of: usize| format!("{}={}", self.names[of], self.levels[of][cell.at[of]]);
        [0, 1].map(level).join(", ")
    }

    /// The effects as a map.
    pub(super) fn effect_map(&self, metric: &str) -> Option<String> {
        let cell = |cell: &CrossedCell| {
            let change = cell.change_pct;
            let percent = |pct: f64| signed(pct / 100.0);
            let text = match change {
                _ if cell.is_baseline => "baseline".to_owned(),
                None => NONE.to_owned(),
                Some([change, ..]) => percent(change) + " %",
            };
            let interval = change.map_or(String::new(), |[_, low, high]| {
                format!(" (95 % CI {} .. {})", percent(low), percent(high))
            });
            let tip = format!("{}: {text}{interval}", self.name_of(cell));
            EffectCell { at: cell.at, change_pct: change, text, tip }
        };
        let cells: Vec<EffectCell> = self.cells.iter().map(cell).collect();
        // A map without any change says nothing.
        cells.iter().find(|cell| cell.change_pct.is_some())?;
        let [a, b] = &self.names;
        let [of_a, of_b] = &self.levels;
        effect_map(&cells, [a, b], [of_a, of_b], metric)
    }

    /// The values over the first factor, a line for each level of the second.
    pub(super) fn interaction(&self, metric: &str, unit: FigureUnit) -> Option<String> {
        let line = |(level, name): (usize, &String)| {
            let place = |first: usize| {
                let cell = self.cells.iter().find(|cell| cell.at == [first, level]);
                let values = cell.map_or(&[][..], |cell| &cell.values);
                let mean = geometric_mean(values.iter().map(|value| Some(*value)));
                (mean, values.to_vec())
            };
            let places = (0..self.levels[0].len()).map(place).collect();
            InteractionLine { name: name.clone(), places }
        };
        let lines: Vec<InteractionLine> = self.levels[1].iter().enumerate().map(line).collect();
        let [a, b] = &self.names;
        let metric = unit.axis_name(metric);
        let names = [a.as_str(), b.as_str(), metric.as_str()];
        let shown = |value: f64| unit.shown(value);
        interaction_lines(&lines, &self.levels[0], names, &shown, unit == FigureUnit::Us)
    }
}
