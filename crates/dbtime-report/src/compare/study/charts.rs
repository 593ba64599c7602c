//! A study as charts.

use super::{CellComparison, CellFigures, StudyComparison};
use crate::charts::{
    ForestRow, ForestUnit, SequencedRun, SequencedSide, forest_plot, run_sequence, side_letter,
};
use crate::compare::figures::FigureUnit;
use crate::compare::groups::detail_charts;
use dbtime_model::study::CellRole;

/// Of so many configurations it is shown where their responses changed; of more the tables say it.
const MOST_DETAILED: usize = 4;

/// The charts with their titles: all changes first, the control on top, then what is in them, then
/// all runs.
pub(in crate::compare) fn charts(study: &StudyComparison) -> Vec<(String, String)> {
    let all = || study.control.iter().chain(&study.comparisons);
    let first = all().next().map(|one| one.baseline.as_str());
    let is_one = all().all(|one| Some(one.baseline.as_str()) == first);
    let baseline = first.filter(|_| is_one).unwrap_or("its baseline");
    let changes = study.changes();
    let texts: Vec<String> =
        all().filter_map(|one| change(one).map(|_| one.verdict.to_string())).collect();
    let rows: Vec<ForestRow<'_>> = changes
        .iter()
        .zip(&texts)
        .map(|((name, change), text)| ForestRow { name, change: *change, text })
        .collect();
    let margin = study.comparisons.first().map_or(0.0, |one| one.comparison.margin_pct);
    let primary = &study.primary;
    let unit = ForestUnit::Percent { margin };
    let forest =
        forest_plot("forest", &rows, unit, &format!("change of {primary} against {baseline}"));
    let forest = forest.map(|svg| ("What changed, and how sure that is".to_owned(), svg));
    let capacity = study.capacity.charts(&study.primary_metric.name, study.primary_metric.unit);
    let capacity = capacity.into_iter().map(|(title, svg)| (title.to_owned(), svg));
    forest.into_iter().chain(details(study)).chain(capacity).chain(sequence(study)).collect()
}

impl StudyComparison {
    /// What changed by how much, the control first: names, and changes with their intervals in
    /// percent.
    pub(in crate::compare) fn changes(&self) -> Vec<(String, [f64; 3])> {
        let all = self.control.iter().chain(&self.comparisons);
        all.filter_map(|one| Some((one.cell.clone(), change(one)?))).collect()
    }
}

fn change(one: &CellComparison) -> Option<[f64; 3]> {
    one.comparison.metrics.first()?.change_pct
}

fn details(study: &StudyComparison) -> Vec<(String, String)> {
    if study.comparisons.len() > MOST_DETAILED {
        return Vec::new();
    }
    let of = |(at, one): (usize, &CellComparison)| {
        detail_charts(&one.comparison, &format!("-{at}"), [&one.cell, &one.baseline])
    };
    study.comparisons.iter().enumerate().flat_map(of).collect()
}

fn sequence(study: &StudyComparison) -> Option<(String, String)> {
    let metric = &study.primary_metric;
    let unit = metric.unit;
    let names: Vec<&str> = study.cells.iter().map(|cell| cell.name.as_str()).collect();
    let runs: Vec<SequencedRun> = study
        .runs
        .iter()
        .filter_map(|run| {
            let why = run.excluded.as_ref();
            let why = why.map_or(String::new(), |why| format!(", in no verdict: {why}"));
            let noise = run.noisy.as_ref().map(|why| format!(", noisy: {why}"));
            let why = why + &noise.unwrap_or_default();
            let value = run.value?;
            Some(SequencedRun {
                side: names.iter().position(|name| *name == run.cell)?,
                value,
                is_excluded: run.excluded.is_some(),
                is_noisy: run.noisy.is_some(),
                text: format!("{}, block {}: {}{why}", run.cell, run.block, unit.shown(value)),
            })
        })
        .collect();
    let name = unit.axis_name(&metric.name);
    let svg = run_sequence(&runs, &sides(&study.cells), &name, unit == FigureUnit::Us)?;
    Some(("Are the runs comparable?".to_owned(), svg))
}

/// The letters of the configurations: the baseline is A, the control the same once more, and the
/// candidates follow, as the verdict on one of them calls both.
fn sides<'a>(cells: &'a [CellFigures]) -> Vec<SequencedSide<'a>> {
    let mut compared = 0;
    let side = |cell: &'a CellFigures| {
        let letter = match cell.role {
            CellRole::Control => side_letter(0) + "′",
            CellRole::Baseline | CellRole::Candidate => {
                compared += 1;
                side_letter(compared - 1)
            }
        };
        SequencedSide { letter, name: &cell.name }
    };
    cells.iter().map(side).collect()
}
