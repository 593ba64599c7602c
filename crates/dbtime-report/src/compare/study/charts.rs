//! A study as charts.

use super::StudyComparison;
use crate::charts::{ForestRow, SequencedRun, forest_plot, run_sequence};
use crate::compare::figures::FigureUnit;

/// The charts with their titles: all changes first, the control on top, then all runs.
pub(in crate::compare) fn charts(study: &StudyComparison) -> Vec<(&'static str, String)> {
    let all = || study.control.iter().chain(&study.comparisons);
    let first = all().next().map(|one| one.baseline.as_str());
    let is_one = all().all(|one| Some(one.baseline.as_str()) == first);
    let baseline = first.filter(|_| is_one).unwrap_or("its baseline");
    let rows: Vec<ForestRow<'_>> = all()
        .filter_map(|one| {
            let change_pct = one.comparison.metrics.first()?.change_pct?;
            Some(ForestRow { name: &one.cell, change_pct, text: &one.verdict })
        })
        .collect();
    let margin = study.comparisons.first().map_or(0.0, |one| one.comparison.margin_pct);
    let primary = &study.primary;
    let forest = forest_plot(&rows, margin, &format!("change of {primary} against {baseline}"));
    let forest = forest.map(|svg| ("What changed, and how sure that is", svg));
    let capacity = study.capacity.charts(&study.primary_metric.name, study.primary_metric.unit);
    forest.into_iter().chain(capacity).chain(sequence(study)).collect()
}

fn sequence(study: &StudyComparison) -> Option<(&'static str, String)> {
    let metric = &study.primary_metric;
    let unit = metric.unit;
    let names: Vec<&str> = study.cells.iter().map(|cell| cell.name.as_str()).collect();
    let runs: Vec<SequencedRun> = study
        .runs
        .iter()
        .filter_map(|run| {
            let why = run.excluded.as_ref();
            let why = why.map_or(String::new(), |why| format!(", in no verdict: {why}"));
            let value = run.value?;
            Some(SequencedRun {
                side: names.iter().position(|name| *name == run.cell)?,
                value,
                is_excluded: run.excluded.is_some(),
                text: format!("{}, block {}: {}{why}", run.cell, run.block, unit.shown(value)),
            })
        })
        .collect();
    let svg = run_sequence(&runs, &names, &metric.name, unit == FigureUnit::Us)?;
    Some(("Are the runs comparable?", svg))
}
