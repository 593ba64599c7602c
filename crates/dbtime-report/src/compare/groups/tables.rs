//! Two groups as tables of texts.

use super::wording::signed;
use super::{GroupComparison, GroupFigure, GroupedRun};
use crate::compare::tables::{TextTable, figure, list, name, wrapped};
use crate::facts::instant;
use crate::format::{clean, if_any};

/// The title of the table of all runs.
pub(in crate::compare) const RUNS: &str = "The runs, by their starts";

/// Everything that was compared of two groups.
pub(in crate::compare) fn of_groups(groups: &GroupComparison) -> Vec<TextTable> {
    let tables = figures_and_parts(groups).into_iter().chain([runs(groups)]);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// The same without the runs.
pub(in crate::compare) fn figures_and_parts(groups: &GroupComparison) -> [TextTable; 2] {
    [figures(groups), parts(groups)]
}

fn figures(groups: &GroupComparison) -> TextTable {
    let row = |one: &GroupFigure| {
        let [a, b] = one.means.both();
        let change = |at: usize| if_any(one.change_pct, |pct| signed(pct[at] / 100.0) + " %");
        let higher = if_any(one.higher_pct, |pct| format!("{pct:.0} %"));
        vec![one.name.clone(), a, b, change(0), change(1), change(2), higher]
    };
    TextTable {
        title: "Figures, geometric means of the runs",
        headings: vec![
            name(""),
            figure("A"),
            figure("B"),
            figure("Change"),
            figure("from"),
            figure("to"),
            figure("B > A"),
        ],
        rows: groups.metrics.iter().map(row).collect(),
        note: format!(
            "change of B against A with its {} % interval; B > A: in which share of all pairs of a \
             run of A and one of B the second is higher",
            (10.0 * groups.level_pct).round() / 10.0
        ),
    }
}

fn parts(groups: &GroupComparison) -> TextTable {
    let title = "Where the time goes, mean over the runs, most changed first";
    list(title, "Part", &groups.parts, "not measured")
}

fn runs(groups: &GroupComparison) -> TextTable {
    let primary = groups.metrics.first();
    let row = |(is_a, run): (bool, &GroupedRun)| {
        let value = if_any(run.value.zip(primary), |(value, one)| one.means.unit.shown(value));
        let why = run.excluded.clone().unwrap_or_default();
        let side = if is_a { "A" } else { "B" }.to_owned();
        vec![instant(&run.started_at), side, value, clean(&run.place), why]
    };
    let headings = vec![
        name("Started"),
        name(""),
        figure("Value"),
        wrapped("Run"),
        wrapped("Not in the verdict"),
    ];
    let note = primary.map_or_else(String::new, |one| format!("value: {}", one.name));
    TextTable {
        title: RUNS,
        headings,
        rows: groups.by_start().into_iter().map(row).collect(),
        note,
    }
}
