//! Two groups as charts.

use super::{GroupComparison, GroupedRun};
use crate::charts::{
    ForestRow, ForestUnit, SequencedRun, SequencedSide, forest_plot, run_sequence,
};
use crate::compare::figures::FigureUnit;
use crate::format::signed_us;

/// The charts with their titles: all changes first, then what is in them, then all runs.
pub(in crate::compare) fn charts(groups: &GroupComparison) -> Vec<(String, String)> {
    let texts: Vec<String> = groups.metrics.iter().map(|one| one.verdict.to_string()).collect();
    let rows = groups.metrics.iter().zip(&texts).filter_map(|(one, text)| {
        Some(ForestRow { name: &one.name, change: one.change_pct?, text })
    });
    let unit = ForestUnit::Percent { margin: groups.margin_pct };
    let forest = forest_plot("forest", &rows.collect::<Vec<_>>(), unit, "change of B against A");
    let forest = forest.map(|svg| ("What changed, and how sure that is".to_owned(), svg));
    let details = detail_charts(groups, "", ["B", "A"]);
    forest.into_iter().chain(details).chain(sequence(groups)).collect()
}

/// Where in the distribution the response of B changed against A, and in which parts; what tells
/// their ids from others of the page, and what both sides are called.
pub(in crate::compare) fn detail_charts(
    groups: &GroupComparison,
    id: &str,
    [b, a]: [&str; 2],
) -> Vec<(String, String)> {
    let texts: Vec<String> =
        groups.percentiles.iter().map(|one| in_percent(one.change_pct)).collect();
    let rows = groups.percentiles.iter().zip(&texts);
    let rows = rows.map(|(one, text)| ForestRow { name: one.name, change: one.change_pct, text });
    let unit = ForestUnit::Percent { margin: groups.margin_pct };
    let title = "change of the percentiles of the response";
    let percentiles =
        forest_plot(&format!("percentiles{id}"), &rows.collect::<Vec<_>>(), unit, title);

    let texts: Vec<String> = groups.part_changes.iter().map(|one| in_us(one.change_us)).collect();
    let rows = groups.part_changes.iter().zip(&texts);
    let rows = rows.map(|(one, text)| ForestRow { name: one.name, change: one.change_us, text });
    let title = "change of the mean of each part";
    let parts = forest_plot(
        &format!("parts{id}"),
        &rows.collect::<Vec<_>>(),
        ForestUnit::Microseconds,
        title,
    );

    let titled =
        |what: &str, svg: Option<String>| svg.map(|svg| (format!("{what}: {b} against {a}"), svg));
    titled("Which responses changed", percentiles)
        .into_iter()
        .chain(titled("Where the time went", parts))
        .collect()
}

fn in_percent([change, low, high]: [f64; 3]) -> String {
    format!("{} % (95 % CI {} .. {})", percent(change), percent(low), percent(high))
}

fn percent(pct: f64) -> String {
    super::signed(pct / 100.0)
}

fn in_us([change, low, high]: [f64; 3]) -> String {
    format!("{} (95 % CI {} .. {})", signed_us(change), signed_us(low), signed_us(high))
}

fn sequence(groups: &GroupComparison) -> Option<(String, String)> {
    let primary = groups.metrics.first()?;
    let unit = primary.means.unit;
    let run = |(is_first_side, run): (bool, &GroupedRun)| {
        let (value, why) = (run.value?, run.excluded.as_ref());
        let why = why.map_or(String::new(), |why| format!(", not in it: {why}"));
        let noise = run.noisy.as_ref().map_or(String::new(), |why| format!(", noisy: {why}"));
        Some(SequencedRun {
            side: usize::from(!is_first_side),
            value,
            is_excluded: run.excluded.is_some(),
            is_noisy: run.noisy.is_some(),
            text: format!("{}: {}{why}{noise}", run.place, unit.shown(value)),
        })
    };
    let runs: Vec<SequencedRun> = groups.by_start().into_iter().filter_map(run).collect();
    let name = unit.axis_name(&primary.name);
    let sides = ["A", "B"].map(|name| SequencedSide { letter: name.to_owned(), name });
    let svg = run_sequence(&runs, &sides, &name, unit == FigureUnit::Us)?;
    Some(("Are the runs comparable?".to_owned(), svg))
}
