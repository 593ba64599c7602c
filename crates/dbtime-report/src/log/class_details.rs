//! All that a digest has of a class: words, parts, figures, what ran beside its slowest records,
//! and samples.

use super::class_facts::facts;
use super::class_table::class_text;
use super::{figure_mean, instant_text, unit_of};
use crate::document::ReportDocument;
use crate::format::{bytes, count, finite, fit, four_digits, one_line, percent, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::log_digest::{
    ClassOverlap, ClassSample, DigestClass, FigureSummary, LogDigest, LogFigureUnit,
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
    figures(class, document);
    for (heading, beside) in [
        ("What ran beside its slowest ones", &class.overlaps),
        (statements_heading(&class.statements), &class.statements),
    ] {
        if !beside.is_empty() {
            document.gap();
            document.table(&overlaps(heading, beside));
        }
    }
    for (name, sample) in samples(class) {
        document.fact(name, &sample_text(digest, sample), TextRole::Plain);
    }
}

/// The records that stand for a class, each once.
fn samples(class: &DigestClass) -> Vec<(&'static str, &ClassSample)> {
    let place = |sample: &ClassSample| (sample.input, sample.offset);
    let slowest = class.worst.as_deref();
    let random = class.random.as_deref().filter(|random| slowest.map(place) != Some(place(random)));
    let slowest = slowest.map(|sample| ("slowest", sample));
    slowest.into_iter().chain(random.map(|sample| ("random", sample))).collect()
}

/// Time alone links a request with statements of others, too, which has to be seen.
fn statements_heading(statements: &[ClassOverlap]) -> &'static str {
    match statements.iter().any(|statement| statement.is_by_time_alone) {
        true => "Statements at the time of its slowest ones, of any session",
        false => "Statements of its slowest ones, by their session",
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
    let mut parts: Vec<(&str, &f64)> = class.parts_us.iter().collect();
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

/// The numbers that the log has of its records; of those that are zero in all records the names.
fn figures(class: &DigestClass, document: &mut ReportDocument) {
    let headings = ["Records", "Total", "Mean", "p50", "p95", "Max"];
    let mut columns = vec![TextColumn::label("Figure")];
    columns.extend(headings.map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    let is_zero = |summary: &FigureSummary| summary.min == 0.0 && summary.max == 0.0;
    let mut zeros = Vec::new();
    for (name, summary) in class.figures.iter() {
        if is_zero(summary) {
            zeros.push(one_line(name));
            continue;
        }
        table.row(figure_row(name, summary, figure_mean(class, summary)));
    }
    if !table.is_empty() {
        document.gap();
        document.table(&table);
    }
    if !zeros.is_empty() {
        document.fact("always 0", &zeros.join(", "), TextRole::Plain);
    }
}

fn figure_row(name: &str, summary: &FigureSummary, mean: f64) -> Vec<TextCell> {
    let mut cells: Vec<TextCell> = vec![one_line(name).into(), count(summary.logged).into()];
    match unit_of(name) {
        // Of yes and no the share alone says something.
        LogFigureUnit::Flag => {
            cells.extend([count(whole(summary.total)).into(), percent(mean * 100.0).into()]);
            cells.extend([""; 3].map(TextCell::from));
        }
        unit => {
            let values = [summary.total, mean, summary.p50, summary.p95, summary.max];
            cells.extend(values.map(|value| TextCell::from(figure_text(unit, value))));
        }
    }
    cells
}

/// A figure in its unit; times are microseconds.
pub(super) fn figure_text(unit: LogFigureUnit, value: f64) -> String {
    match unit {
        LogFigureUnit::Time => us(value),
        LogFigureUnit::Bytes => bytes(whole(value)),
        LogFigureUnit::Count | LogFigureUnit::Flag if value.fract() == 0.0 => count(whole(value)),
        LogFigureUnit::Count | LogFigureUnit::Flag => four_digits(value),
    }
}

/// The nearest whole number that there can be.
pub(super) fn whole(value: f64) -> u64 {
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

/// A record: where it is, when, how long it took, and its text where literals were kept: without
/// them it is that of its class.
fn sample_text(digest: &LogDigest, sample: &ClassSample) -> String {
    let input = digest.inputs.get(sample.input as usize);
    let path = input.map_or_else(|| "?".to_owned(), |input| one_line(&input.path));
    let mut text = format!("{path} at byte {}", sample.offset);
    if let Some(duration_us) = sample.duration_us {
        text += &format!(", {}", us(duration_us));
    }
    if let Some(end_us) = sample.end_us {
        text += &format!(", ended {}", instant_text(end_us));
    }
    // Without its literals, the text of a sample is that of its class, which stands above.
    match sample.text.is_empty() {
        true => text,
        false => format!("{text}: {}", one_line(&sample.text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::PageStyle;
    use dbtime_model::log_digest::NamedValues;

    #[test]
    fn a_record_that_is_both_samples_stands_once() {
        let sample = |offset| ClassSample {
            text: String::new(),
            end_us: None,
            duration_us: None,
            input: 0,
            offset,
            figures: NamedValues::default(),
        };
        let names = |slowest, random| -> Vec<&str> {
            let [worst, random] = [slowest, random].map(|at| Some(Box::new(sample(at))));
            let class = DigestClass { worst, random, ..DigestClass::default() };
            samples(&class).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(7, 7), ["slowest"]);
        assert_eq!(names(7, 9), ["slowest", "random"]);
    }

    #[test]
    fn figures_that_are_always_zero_are_names_alone() {
        let sum = |total| FigureSummary {
            logged: 3,
            total,
            min: 0.0,
            max: total,
            p50: 0.0,
            p95: total,
            percona: None,
        };
        let figures = [("full_join", 0.0), ("rows_sent", 3.0), ("tmp_tables", 0.0)];
        let figures = figures.map(|(name, total)| (name.to_owned(), sum(total))).into();
        let class = DigestClass { count: 3, logged: 3, figures, ..DigestClass::default() };
        let mut document = ReportDocument::new("dbtime log", "x");
        super::figures(&class, &mut document);
        let text = document.text(PageStyle::default());
        assert!(text.contains("full_join, tmp_tables"), "{text}");
        assert!(text.lines().any(|line| line.trim().starts_with("rows_sent ")), "{text}");
    }
}
