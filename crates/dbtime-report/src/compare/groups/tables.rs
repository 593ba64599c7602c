//! Two groups as tables of texts.

use super::wording::signed;
use super::{GroupComparison, GroupedRun};
use crate::compare::figures::FigurePair;
use crate::compare::tables::{ComparisonHeading, TextTable, figure, list, name, wrapped};
use crate::facts::instant;
use crate::format::{NONE, clean};

/// Everything that was compared of two groups.
pub(in crate::compare) fn of_groups(groups: &GroupComparison) -> Vec<TextTable> {
    let tables = [figures(groups), parts(groups), runs(groups)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn figures(groups: &GroupComparison) -> TextTable {
    let row = |one: &super::GroupFigure| {
        let [a, b] = one.means.both();
        let change = |at: usize| {
            one.change_pct
                .map_or_else(|| NONE.to_owned(), |change| signed(change[at] / 100.0) + " %")
        };
        vec![one.name.clone(), a, b, change(0), change(1), change(2), higher(one.higher_pct)]
    };
    TextTable {
        title: "Figures, geometric means of the runs",
        headings: HEADINGS.to_vec(),
        rows: groups.metrics.iter().map(row).collect(),
        note:
            "change of B against A with its 95 % interval; B > A: in which share of all pairs of \
               a run of A and one of B that of B is higher"
                .to_owned(),
    }
}

const HEADINGS: [ComparisonHeading; 7] = [
    name(""),
    figure("A"),
    figure("B"),
    figure("Change"),
    figure("from"),
    figure("to"),
    figure("B > A"),
];

fn higher(pct: Option<f64>) -> String {
    pct.map_or_else(|| NONE.to_owned(), |pct| format!("{pct:.0} %"))
}

fn parts(groups: &GroupComparison) -> TextTable {
    let title = "Where the time goes, mean per transaction of the mean runs, most changed first";
    let parts: &[FigurePair] = &groups.parts;
    list(title, "Part", parts, "not measured")
}

fn runs(groups: &GroupComparison) -> TextTable {
    let primary = groups.metrics.first();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for (side, group) in [("A", &groups.a), ("B", &groups.b)] {
        // Values are those of the runs in the verdict, by their starts.
        let mut by_start: Vec<&GroupedRun> = group.runs.iter().collect();
        by_start.sort_by_key(|run| &run.started_at);
        let values = primary.map(|one| if side == "A" { &one.a } else { &one.b });
        let mut values = values.into_iter().flatten();
        for run in by_start {
            let value = match &run.excluded {
                None => values.next().zip(primary).map(|(value, one)| one.means.unit.shown(*value)),
                Some(_) => None,
            };
            let why = run.excluded.as_ref().map_or(String::new(), |why| format!("excluded: {why}"));
            let [started, place] = [instant(&run.started_at), clean(&run.place)];
            let value = value.unwrap_or_else(|| NONE.to_owned());
            let row = vec![started, side.to_owned(), value, place, why];
            rows.push((run.started_at.clone(), row));
        }
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let headings = vec![
        name("Started"),
        name(""),
        figure("Value"),
        wrapped("Run"),
        wrapped("Not in the verdict"),
    ];
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    let what = primary.map_or("", |one| &one.name);
    let note = if what.is_empty() { String::new() } else { format!("value: {what}") };
    TextTable { title: "The runs, by their starts", headings, rows, note }
}
