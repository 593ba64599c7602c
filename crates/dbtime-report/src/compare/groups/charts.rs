//! Two groups as charts.

use super::GroupComparison;
use crate::charts::{ForestRow, SequencedRun, forest_plot, run_sequence};
use crate::compare::figures::FigureUnit;

/// The charts with their titles: all changes first, then all runs.
pub(in crate::compare) fn charts(groups: &GroupComparison) -> Vec<(&'static str, String)> {
    let rows = groups.metrics.iter().filter_map(|one| {
        Some(ForestRow { name: &one.name, change_pct: one.change_pct?, text: &one.text })
    });
    let forest = forest_plot(&rows.collect::<Vec<_>>(), groups.margin_pct);
    let forest = forest.map(|svg| ("What changed, and how sure that is", svg));
    forest.into_iter().chain(sequence(groups)).collect()
}

fn sequence(groups: &GroupComparison) -> Option<(&'static str, String)> {
    let primary = groups.metrics.first()?;
    let unit = primary.means.unit;
    let shown = groups.by_start().into_iter().filter_map(|(is_a, run)| {
        let value = run.value?;
        let why = run.excluded.as_ref().map_or(String::new(), |why| format!(", not in it: {why}"));
        Some((
            is_a,
            value,
            run.excluded.is_some(),
            format!("{}: {}{why}", run.place, unit.shown(value)),
        ))
    });
    let shown: Vec<(bool, f64, bool, String)> = shown.collect();
    let runs = shown.iter().map(|(is_first_side, value, is_excluded, text)| SequencedRun {
        is_first_side: *is_first_side,
        value: *value,
        is_excluded: *is_excluded,
        text,
    });
    let runs: Vec<SequencedRun<'_>> = runs.collect();
    let svg = run_sequence(&runs, &primary.name, unit == FigureUnit::Us)?;
    Some(("Are the runs comparable?", svg))
}
