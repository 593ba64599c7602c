//! A comparison as tables of texts.

use super::figures::FigurePair;
use super::run::{ComparedItem, RunComparison};
use super::setup::SettingPair;
use super::sweep::{ComparedCombination, SweepComparison};
use crate::format::{NONE, clean, count};
use crate::terminal::TextColumn;

/// A table with its title, or what there is to say instead.
pub(super) struct TextTable {
    pub(super) title: &'static str,
    pub(super) headings: Vec<TextColumn>,
    pub(super) rows: Vec<Vec<String>>,
    /// Below it.
    pub(super) note: String,
}

pub(super) fn name(text: &str) -> TextColumn {
    TextColumn::text(text)
}

/// What must not be cut, since rows would be alike.
pub(super) fn wrapped(text: &str) -> TextColumn {
    TextColumn::wrapped(text)
}

pub(super) fn figure(text: &str) -> TextColumn {
    TextColumn::figure(text)
}

fn optional(text: &str) -> TextColumn {
    figure(text).optional()
}

/// Everything that was compared of two runs.
pub(super) fn of_runs(runs: &RunComparison) -> Vec<TextTable> {
    let tables = [
        list("Figures", "", &runs.figures, NONE),
        parts(runs),
        operations(&runs.operations),
        statements(&runs.statements),
        counters(&runs.counters),
        settings(runs),
    ];
    tables.into_iter().filter(|table| !(table.rows.is_empty() && table.note.is_empty())).collect()
}

pub(super) fn list(
    title: &'static str,
    first: &'static str,
    figures: &[FigurePair],
    missing: &str,
) -> TextTable {
    let row = |pair: &FigurePair| {
        let [a, b] = pair.both().map(|text| if text == NONE { missing.to_owned() } else { text });
        vec![clean(&pair.name), a, b, pair.difference_text(), pair.ratio_text()]
    };
    let figures_of_both = ["A", "B", "B − A", "B / A"].map(figure);
    let headings = [name(first)].into_iter().chain(figures_of_both).collect();
    let rows = figures.iter().map(row).collect();
    TextTable { title, headings, rows, note: String::new() }
}

/// The parts of two runs.
pub(super) fn list_of_parts(parts: &[FigurePair]) -> TextTable {
    let title = "Where the time goes, mean per transaction, most changed first";
    let mut table = list(title, "Part", parts, "not measured");
    if parts.is_empty() {
        "not both runs measured their budget (--no-budget)".clone_into(&mut table.note);
    }
    table
}

fn parts(runs: &RunComparison) -> TextTable {
    let mut table = list_of_parts(&runs.parts);
    let notes = [&runs.a.parts_measured, &runs.b.parts_measured];
    table.note = match table.rows.is_empty() {
        true => table.note,
        false if notes[0] == notes[1] => notes[0].clone(),
        false => format!("A: {}. B: {}", notes[0], notes[1]),
    };
    table
}

/// The figure of this name.
fn of<'a>(item: &'a ComparedItem, name: &str) -> Option<&'a FigurePair> {
    item.figures.iter().find(|pair| pair.name == name)
}

/// Both texts of a figure.
fn both(item: &ComparedItem, name: &str) -> [String; 2] {
    of(item, name).map_or([NONE.to_owned(), NONE.to_owned()], FigurePair::both)
}

/// Both figures, their difference and ratio.
fn whole(item: &ComparedItem, name: &str) -> [String; 4] {
    let [a, b] = both(item, name);
    let pair = of(item, name);
    let difference = pair.map_or(NONE.to_owned(), FigurePair::difference_text);
    [a, b, difference, pair.map_or(NONE.to_owned(), FigurePair::ratio_text)]
}

fn operations(items: &[ComparedItem]) -> TextTable {
    let row = |item: &ComparedItem| {
        let mut cells = vec![clean(&item.name)];
        cells.extend(both(item, "share"));
        cells.extend(whole(item, "mean"));
        cells.extend(both(item, "p99"));
        cells
    };
    TextTable {
        title: "Operations, what changed a mean transaction most first",
        headings: vec![
            name("Operation"),
            optional("Share\nA"),
            optional("Share\nB"),
            figure("Mean\nA"),
            figure("Mean\nB"),
            figure("\nB − A"),
            figure("\nB / A"),
            figure("p99\nA"),
            figure("p99\nB"),
        ],
        rows: items.iter().map(row).collect(),
        note: String::new(),
    }
}

fn statements(items: &[ComparedItem]) -> TextTable {
    let row = |item: &ComparedItem| {
        let [a, b, difference, _] = whole(item, "per transaction");
        let mut cells = vec![clean(&item.name)];
        cells.extend(both(item, "executions"));
        cells.extend(both(item, "mean"));
        cells.push(of(item, "mean").map_or(NONE.to_owned(), FigurePair::ratio_text));
        cells.extend([a, b, difference]);
        cells
    };
    TextTable {
        title: "Statements, what changed a mean transaction most first",
        headings: vec![
            name("Statement"),
            optional("Each tx\nA"),
            optional("Each tx\nB"),
            figure("Mean\nA"),
            figure("Mean\nB"),
            figure("\nB / A"),
            figure("Per tx\nA"),
            figure("Per tx\nB"),
            figure("\nB − A"),
        ],
        rows: items.iter().map(row).collect(),
        note: String::new(),
    }
}

fn counters(figures: &[FigurePair]) -> TextTable {
    let title = "What the server counted, per transaction, largest ratio first";
    list(title, "Counter", figures, NONE)
}

fn settings(runs: &RunComparison) -> TextTable {
    let mut table = list_of_settings(&runs.settings);
    if !runs.settings.is_empty() {
        table.note = same_settings(runs);
    }
    table
}

/// These settings of both sides.
pub(super) fn list_of_settings(settings: &[SettingPair]) -> TextTable {
    let row = |pair: &SettingPair| vec![clean(&pair.name), clean(&pair.a), clean(&pair.b)];
    let rows: Vec<Vec<String>> = settings.iter().map(row).collect();
    let note = match rows.is_empty() {
        true => "nothing that is recorded of target, load, workload and machine".to_owned(),
        false => String::new(),
    };
    TextTable {
        title: "Differs",
        headings: vec![name("Setting"), name("A"), name("B")],
        rows,
        note,
    }
}

/// How many settings do not differ.
pub(super) fn same_settings(runs: &RunComparison) -> String {
    format!("{} more recorded settings are the same in both", count(runs.same_settings))
}

/// Above the combinations of two sweeps.
pub(super) const COMBINATIONS: &str = "Combinations, most changed first";

/// The combinations of two sweeps.
pub(super) fn of_sweeps(sweeps: &SweepComparison) -> TextTable {
    let row = |combination: &ComparedCombination| -> Vec<String> {
        let name = clean(&combination.name());
        [name].into_iter().chain(combination_cells(combination)).collect()
    };
    let headings = [wrapped("Combination")].into_iter().chain(combination_columns());
    TextTable {
        title: COMBINATIONS,
        headings: headings.collect(),
        rows: sweeps.combinations.iter().map(row).collect(),
        note: sweeps.note(),
    }
}

/// Above the figures of a combination. Where there is no room for all, what changed stays, and by
/// how much.
pub(super) fn combination_columns() -> [TextColumn; 9] {
    [
        figure("tps\nA"),
        figure("tps\nB"),
        figure("tps\nB / A"),
        optional("mean\nA"),
        optional("mean\nB"),
        optional("mean\nB / A"),
        optional("p99\nA"),
        figure("p99\nB"),
        figure("p99\nB / A"),
    ]
}

/// The figures of a combination.
pub(super) fn combination_cells(combination: &ComparedCombination) -> Vec<String> {
    let cells = |figure: &FigurePair| {
        let [a, b] = figure.both();
        [a, b, figure.ratio_text()]
    };
    combination.figures.iter().flat_map(cells).collect()
}
