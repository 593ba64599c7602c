//! All that a digest has of a class: words, parts, figures, what ran beside its slowest records,
//! and samples.

use super::class_facts::facts;
use super::class_table::class_text;
use super::instant_text;
use crate::document::ReportDocument;
use crate::format::{bytes, count, finite, fit, four_digits, one_line, percent, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::log_digest::{
    ClassOverlap, ClassSample, DigestClass, FigureSummary, FigureUnit, LogDigest, LogFigure,
};

/// Columns of the text of a class in the heading of its section.
const HEADING_COLUMNS: usize = 96;

/// How long the bar of a part is that is all of the time.
const BAR_COLUMNS: usize = 30;

/// Adds the section of a class.
pub(super) fn class_details(
    digest: &LogDigest,
    (rank, class): (usize, &DigestClass),
    document: &mut ReportDocument,
) {
    let text = class_text(class);
    let heading = fit(&format!("{rank}. {text}"), HEADING_COLUMNS);
    document.heading(&heading);
    if heading.ends_with('…') {
        document.paragraph(&text, TextRole::Plain);
    }
    facts(class, document);
    if !class.parts_us.is_empty() {
        document.fact_table("parts", &parts(class));
    }
    if !class.figures.is_empty() {
        document.gap();
        document.table(&figures(class));
    }
    for (heading, beside) in [
        ("What ran beside its slowest ones", &class.overlaps),
        ("Statements of its slowest ones", &class.statements),
    ] {
        if !beside.is_empty() {
            document.gap();
            document.table(&overlaps(heading, beside));
        }
    }
    for (name, sample) in [("slowest", &class.worst), ("by chance", &class.random)] {
        if let Some(sample) = sample {
            document.fact(name, &sample_text(digest, sample), TextRole::Plain);
        }
    }
}

/// Where the time went, as far as the log divides it.
fn parts(class: &DigestClass) -> ReportTable {
    let columns = vec![
        TextColumn::text(""),
        TextColumn::figure(""),
        TextColumn::figure(""),
        TextColumn::text(""),
    ];
    let mut table = ReportTable::new(columns);
    let whole: f64 = class.parts_us.values().copied().map(finite).sum();
    let mut parts: Vec<(&String, &f64)> = class.parts_us.iter().collect();
    parts.sort_by(|a, b| b.1.total_cmp(a.1));
    for (name, part_us) in parts {
        let share = finite(finite(*part_us) / whole);
        table.row(vec![
            one_line(name).into(),
            us(*part_us).into(),
            percent(share * 100.0).into(),
            TextCell::bar(share, BAR_COLUMNS, TextRole::Plain),
        ]);
    }
    table
}

/// The numbers that the log has of its records.
fn figures(class: &DigestClass) -> ReportTable {
    let headings = ["Records", "Total", "Each", "p50", "p95", "Max"];
    let mut columns = vec![TextColumn::label("Figure")];
    columns.extend(headings.map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    for (name, summary) in &class.figures {
        let unit = LogFigure::ALL.into_iter().find(|figure| figure.name() == name);
        table.row(figure_row(name, unit.map_or(FigureUnit::Count, LogFigure::unit), summary));
    }
    table
}

fn figure_row(name: &str, unit: FigureUnit, summary: &FigureSummary) -> Vec<TextCell> {
    let each = summary.total / summary.logged.max(1) as f64;
    let mut cells = vec![one_line(name).into(), count(summary.logged).into()];
    match unit {
        // Of yes and no the share alone says something.
        FigureUnit::Flag => {
            cells.extend([count(whole(summary.total)).into(), percent(each * 100.0).into()]);
            cells.extend([""; 3].map(TextCell::from));
        }
        unit => {
            let values = [summary.total, each, summary.p50, summary.p95, summary.max];
            cells.extend(values.map(|value| TextCell::from(figure_text(unit, value))));
        }
    }
    cells
}

/// A figure in its unit; times are microseconds.
fn figure_text(unit: FigureUnit, value: f64) -> String {
    match unit {
        FigureUnit::Time => us(value),
        FigureUnit::Bytes => bytes(whole(value)),
        FigureUnit::Count | FigureUnit::Flag if value.fract() == 0.0 => count(whole(value)),
        FigureUnit::Count | FigureUnit::Flag => four_digits(value),
    }
}

/// The nearest whole number that there can be.
fn whole(value: f64) -> u64 {
    finite(value).max(0.0).round() as u64
}

fn overlaps(heading: &str, beside: &[ClassOverlap]) -> ReportTable {
    let columns =
        vec![TextColumn::figure("Time"), TextColumn::figure("Count"), TextColumn::text(heading)];
    let mut table = ReportTable::new(columns);
    for other in beside {
        table.row(vec![
            us(other.time_us).into(),
            count(other.count).into(),
            one_line(&other.text).into(),
        ]);
    }
    table
}

/// A record: where it is, when, how long it took, and its text.
fn sample_text(digest: &LogDigest, sample: &ClassSample) -> String {
    let input = digest.inputs.get(sample.input as usize);
    let path = input.map_or_else(|| "?".to_owned(), |input| one_line(&input.path));
    let mut text = format!("{path}:{}", sample.offset);
    if let Some(duration_us) = sample.duration_us {
        text += &format!(", {}", us(duration_us));
    }
    if let Some(end_us) = sample.end_us {
        text += &format!(", ended {}", instant_text(end_us));
    }
    // Its text may be the same as the one of its class.
    if !sample.text.is_empty() {
        text += &format!(": {}", one_line(&sample.text));
    }
    text
}
