//! Comparisons of files of other tools as documents.

use super::comparison::{ForeignComparison, ForeignMean, ForeignSide, rounded};
use super::row::{ForeignRow, RowClass};
use crate::charts::{ForestRow, ForestUnit, forest_plot};
use crate::compare::document::{COMMAND, forest, unlike};
use crate::compare::groups::{GroupOutcome, signed};
use crate::compare::short::end;
use crate::document::{DocumentFact, ReportDocument, RestOfRows, RowLimit};
use crate::format::{clean, count, counted, four_digits, if_any, rate};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};

const TITLE: &str = "Files of other tools";

/// Rows of the short text where each takes a line, and how many fewer each attempt has.
const SHORT_ROWS: usize = 24;
const FEWER_ROWS: usize = 3;

/// Changes that are drawn, the worst first.
const MOST_DRAWN: usize = 50;

/// Means of units, and names of one side alone, that a short text shows.
const SHORT_MEANS: usize = 4;
const SHORT_ALONE: usize = 3;

/// A change of more is shown as a factor. Unit: percent.
const MOST_PERCENT: f64 = 900.0;

/// What to do next.
const REPEAT: &str = "repeat the whole measurement of both sides ten times or more, in turns";
const TURNS: &str = "measure both sides in turns, and say in which (`block: 1` above the results \
                     of Go, a column `block` in CSV): drift over time then affects both alike";
const LOOK: &str = "look at what changed between both sides for the first names of the table";
const RESTORE: &str = "measure the names that only A has on the other side too, or make a new \
                       baseline without them";

/// Two sides of files, name by name: the verdict first, then every change and every sentence.
pub fn foreign_document(compared: &ForeignComparison) -> ReportDocument {
    let mut document = ReportDocument::new(COMMAND, TITLE).tabbed(&compared.verdict);
    head(compared, usize::MAX, &mut document);
    let drawn = compared.rows.iter().filter_map(|row| Some((label(row), row.change_pct?)));
    let drawn: Vec<_> = drawn.take(MOST_DRAWN).collect();
    forest(&drawn, compared.margin_pct, charts(compared, &drawn), &mut document);
    rows(compared, usize::MAX, &mut document);
    sentences(compared, &mut document);
    document
}

/// The same as text that fits on a screen, the worst names first.
///
/// Shape: text of at most [`crate::terminal::SCREEN_LINES`] at any width.
pub fn short_foreign_document(compared: &ForeignComparison) -> ReportDocument {
    ReportDocument::on_any_screen(|less| {
        let mut document = ReportDocument::new(COMMAND, TITLE).short();
        head(compared, SHORT_MEANS, &mut document);
        rows(compared, SHORT_ROWS.saturating_sub(FEWER_ROWS * less), &mut document);
        end(next_step(compared), "all names, and the verdict on each in a sentence", &mut document);
        document
    })
}

/// What there is to know before the rows.
fn head(compared: &ForeignComparison, most_means: usize, document: &mut ReportDocument) {
    let gate = compared.is_gated.then(|| DocumentFact::new("gate", compared.gate.clone()));
    let verdict = DocumentFact::verdict("verdict", compared.verdict.clone());
    document.facts(&gate.into_iter().chain([verdict]).collect::<Vec<_>>());
    let paired = compared.rows.iter().filter(|row| row.paired).count();
    let design = match compared.rows.len() - paired {
        0 => "both sides were measured in turns: each pair is of one turn",
        _ if paired > 0 => "some values are pairs of one turn, and others have nothing in common",
        _ => "values of both sides are no pairs: what changed with time is in the difference",
    };
    document.fact("", design, TextRole::Plain);
    unlike(&compared.unlike, document);
    let means = compared.means.iter().take(most_means).map(mean_text);
    for (at, text) in means.enumerate() {
        document.fact(if at == 0 { "mean" } else { "" }, &text, TextRole::Plain);
    }
    for (name, side) in [("A", &compared.a), ("B", &compared.b)] {
        document.fact(name, &side_text(side), TextRole::Plain);
    }
}

/// `ns/op −12.3 % (95 % CI −13.1 .. −11.5), geometric mean of 16 names`.
fn mean_text(mean: &ForeignMean) -> String {
    let change = change_text(mean.change_pct);
    let interval = mean.interval_pct.map(|ends| format!(" (95 % CI {})", interval_text(ends)));
    let interval = interval.unwrap_or_default();
    let names = counted(mean.names as u64, "name");
    format!("{} {change}{interval}, geometric mean of {names}", mean.unit)
}

fn side_text(side: &ForeignSide) -> String {
    let places = match &side.places[..] {
        [first, rest @ ..] if !rest.is_empty() => {
            format!("{first} and {}", counted(rest.len() as u64, "further file"))
        }
        places => places.concat(),
    };
    let left_out = match side.left_out {
        0 => String::new(),
        out => format!("; {} skipped, failed or without a time", counted(out, "result")),
    };
    let alone = match &side.alone[..] {
        [] => String::new(),
        all => {
            let shown = all[..all.len().min(SHORT_ALONE)].join(", ");
            let more = if all.len() > SHORT_ALONE { ", …" } else { "" };
            format!("; on this side alone {}: {shown}{more}", count(all.len() as u64))
        }
    };
    let formats = side.formats.join(" and ");
    format!("{places}, {formats}, {}{left_out}{alone}", counted(side.names as u64, "name"))
}

/// The rows as a table, of which a text has so many.
fn rows(compared: &ForeignComparison, most: usize, document: &mut ReportDocument) {
    document.heading("Names, the worst first");
    let columns = ["Name", "Unit"].map(TextColumn::label).into_iter();
    let columns = columns.chain(["A", "B", "Change"].map(TextColumn::figure));
    let last = [
        TextColumn::figure("Interval").optional(),
        TextColumn::figure("n"),
        TextColumn::text("Verdict").whole(),
    ];
    let mut table = ReportTable::new(columns.chain(last).collect());
    compared.rows.iter().for_each(|row| table.row(cells(row)));
    let rest = compared.rows.len().saturating_sub(most) as u64;
    let limit = RowLimit::new(most, RestOfRows::Text(counted(rest, "further row")));
    document.limited_table(&table, (rest > 0).then_some(limit));
    document.paragraph(&note(compared), TextRole::Dim);
}

fn cells(row: &ForeignRow) -> Vec<TextCell> {
    let change = if_any(row.change_pct, |[change, ..]| change_text(change));
    let interval = if_any(row.change_pct, |[_, low, high]| interval_text([low, high]));
    let [a, b] = [row.a.len(), row.b.len()];
    let values = match a == b {
        true => count(a as u64),
        false => format!("{a}/{b}"),
    };
    let mark = if row.holds_among_all() { "" } else { "*" };
    let role = match row.outcome {
        GroupOutcome::Worse => TextRole::Bad,
        GroupOutcome::Good if row.class != RowClass::Worse => TextRole::Good,
        GroupOutcome::Good | GroupOutcome::Undecided => TextRole::Plain,
    };
    let texts = [row.name.clone(), row.unit.clone(), shown(row.means[0]), shown(row.means[1])];
    let texts = texts.into_iter().chain([change, interval, values]).map(TextCell::from);
    texts.chain([TextCell::new(format!("{}{mark}", row.word), role)]).collect()
}

/// A change in percent, or as a factor where that is shorter: `+12.3 %`, `×578,845`.
pub(super) fn change_text(pct: f64) -> String {
    if pct > MOST_PERCENT {
        format!("×{}", rate(1.0 + pct / 100.0))
    } else {
        signed(pct / 100.0) + " %"
    }
}

/// `+9.5 .. +10.5`, without the unit of the change before it, or with factors.
fn interval_text(ends: [f64; 2]) -> String {
    let [low, high] = match ends.iter().any(|pct| *pct > MOST_PERCENT) {
        true => ends.map(change_text),
        false => ends.map(|pct| signed(pct / 100.0)),
    };
    format!("{low} .. {high}")
}

/// A figure of whatever unit.
fn shown(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value < 0.001 => format!("{value:.2e}"),
        value => four_digits(value),
    }
}

fn note(compared: &ForeignComparison) -> String {
    let ForeignComparison { level_pct, margin_pct, rows, .. } = compared;
    let [level, margin] = [level_pct, margin_pct].map(|pct| rounded(*pct));
    let starred = match rows.iter().all(ForeignRow::holds_among_all) {
        true => String::new(),
        false => {
            let all = counted(rows.len() as u64, "comparison");
            format!("; *: no more than chance may make among {all} (Holm)")
        }
    };
    format!(
        "geometric means; change of B against A with its {level} % interval; n: values a side; \
         less than {margin} % does not matter{starred}"
    )
}

/// The verdict on each row in a sentence.
fn sentences(compared: &ForeignComparison, document: &mut ReportDocument) {
    document.heading("Verdicts");
    let mut table = ReportTable::new(vec![
        TextColumn::wrapped("Name"),
        TextColumn::text("Unit"),
        TextColumn::wrapped("Verdict"),
    ]);
    for row in &compared.rows {
        let texts = [&row.name, &row.unit, &row.verdict];
        table.row(texts.map(|text| TextCell::from(text.as_str())).into());
    }
    document.table(&table);
}

/// What a row is called in a drawing.
fn label(row: &ForeignRow) -> String {
    clean(&format!("{} {}", row.name, row.unit))
}

/// What a page has in the place of the drawing.
fn charts(compared: &ForeignComparison, drawn: &[(String, [f64; 3])]) -> Vec<(String, String)> {
    let with_change = compared.rows.iter().filter(|row| row.change_pct.is_some());
    let named = drawn.iter().zip(with_change);
    let rows =
        named.map(|((name, change), row)| ForestRow { name, change: *change, text: &row.verdict });
    let unit = ForestUnit::Percent { margin: compared.margin_pct };
    let plot = forest_plot("forest", &rows.collect::<Vec<_>>(), unit, "change of B against A");
    plot.map(|svg| ("What changed, and how sure that is".to_owned(), svg)).into_iter().collect()
}

fn next_step(compared: &ForeignComparison) -> &'static str {
    let is_undecided = |row: &ForeignRow| row.outcome == GroupOutcome::Undecided;
    match compared.outcome {
        GroupOutcome::Worse => LOOK,
        GroupOutcome::Undecided if compared.rows.iter().any(is_undecided) => REPEAT,
        GroupOutcome::Undecided => RESTORE,
        GroupOutcome::Good if compared.rows.iter().all(|row| row.paired) => LOOK,
        GroupOutcome::Good => TURNS,
    }
}
