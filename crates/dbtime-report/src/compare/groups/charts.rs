//! Two groups as charts.

use super::{GroupComparison, GroupedRun};
use crate::charts::{ForestRow, SequencedRun, forest_plot, run_sequence};
use crate::compare::figures::FigureUnit;

/// The charts with their titles: all changes first, then all runs.
pub(in crate::compare) fn charts(groups: &GroupComparison) -> Vec<(&'static str, String)> {
    let rows = groups.metrics.iter().filter_map(|one| {
        Some(ForestRow { name: &one.name, change_pct: one.change_pct?, text: &one.text })
    });
    let forest = forest_plot(&rows.collect::<Vec<_>>(), groups.margin_pct, "change of B against A");
    let forest = forest.map(|svg| ("What changed, and how sure that is", svg));
    forest.into_iter().chain(sequence(groups)).collect()
}

fn sequence(groups: &GroupComparison) -> Option<(&'static str, String)> {
    let primary = groups.metrics.first()?;
    let unit = primary.means.unit;
    let run = |(is_first_side, run): (bool, &GroupedRun)| {
        let (value, why) = (run.value?, run.excluded.as_ref());
        let why = why.map_or(String::new(), |why| format!(", not in it: {why}"));
        Some(SequencedRun {
            side: usize::from(!is_first_side),
            value,
            is_excluded: run.excluded.is_some(),
            text: format!("{}: {}{why}", run.place, unit.shown(value)),
        })
    };
    let runs: Vec<SequencedRun> = groups.by_start().into_iter().filter_map(run).collect();
    let svg = run_sequence(&runs, &["A", "B"], &primary.name, unit == FigureUnit::Us)?;
    Some(("Are the runs comparable?", svg))
}
