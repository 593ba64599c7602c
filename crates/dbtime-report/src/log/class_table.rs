//! The classes in a table: each in a line of its text, and one of figures below.

use super::share;
use crate::document::{PAGE_ROWS, RestOfRows, RowLimit};
use crate::format::{NONE, count, counted, factor, fit, if_any, one_line, percent, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::log_digest::{DigestClass, DigestTimes, LogDigest, LogFigure};

/// Columns of the text of a class, its rank included.
const TEXT_COLUMNS: usize = 96;

/// How long the bar of a class is that took all of the time.
const BAR_COLUMNS: usize = 20;

/// A column of the table.
struct ClassColumn {
    heading: &'static str,
    cell: fn(&DigestClass, &LogDigest) -> TextCell,
}

/// What all tables have.
const ALWAYS: [ClassColumn; 2] = [
    ClassColumn {
        heading: "Share",
        cell: |class, digest| TextCell::new(percent(share(class, digest) * 100.0), TextRole::Bold),
    },
    ClassColumn { heading: "Count", cell: |class, _| count(class.count).into() },
];

/// What tables of logs with durations have too.
const TIMED: [ClassColumn; 4] = [
    ClassColumn { heading: "Total", cell: |class, _| time(class, |times| times.total_us) },
    ClassColumn { heading: "Mean", cell: |class, _| time(class, |times| times.mean_us) },
    ClassColumn { heading: "p99", cell: |class, _| time(class, |times| times.p99_us) },
    ClassColumn { heading: "Max", cell: |class, _| time(class, |times| times.max_us) },
];

/// What they have where any record failed.
const FAILED: ClassColumn =
    ClassColumn { heading: "Errors", cell: |class, _| count(class.errors).into() };

/// What they have where rows were counted.
const EXAMINED: ClassColumn = ClassColumn {
    heading: "Rows examined\nper row sent",
    cell: |class, _| if_any(examined_per_sent(class), factor).into(),
};

/// The table, in this order of classes, and its limit: what is behind it is summed up below.
pub(super) fn class_table(
    digest: &LogDigest,
    classes: &[&DigestClass],
    limit: usize,
) -> (ReportTable, RowLimit) {
    let columns = columns(digest, classes);
    let mut headings: Vec<TextColumn> =
        columns.iter().map(|column| TextColumn::figure(column.heading)).collect();
    headings.push(TextColumn::text(""));
    let mut table = ReportTable::new(headings);
    // One more shows that there are more.
    let most = limit.max(PAGE_ROWS).saturating_add(1);
    for (index, class) in classes.iter().take(most).enumerate() {
        table.title(&fit(&format!("{}. {}", index + 1, class_text(class)), TEXT_COLUMNS));
        let mut cells: Vec<TextCell> =
            columns.iter().map(|column| (column.cell)(class, digest)).collect();
        cells.push(TextCell::bar(share(class, digest), BAR_COLUMNS, TextRole::Plain));
        table.row(cells);
    }
    let rest = |from: usize| rest_text(digest, classes.get(from..).unwrap_or_default());
    let text = RestOfRows::Text(format!("{}; --limit N shows more", rest(limit)));
    (table, RowLimit::new(limit, text).on_page(rest(PAGE_ROWS)))
}

fn columns(digest: &LogDigest, classes: &[&DigestClass]) -> Vec<ClassColumn> {
    let mut columns: Vec<ClassColumn> = ALWAYS.into();
    if digest.total.times.is_some() {
        columns.extend(TIMED);
    }
    if digest.total.errors > 0 {
        columns.push(FAILED);
    }
    if classes.iter().any(|class| examined_per_sent(class).is_some()) {
        columns.push(EXAMINED);
    }
    columns
}

fn time(class: &DigestClass, of: fn(&DigestTimes) -> f64) -> TextCell {
    class.times.as_ref().map_or(NONE.to_owned(), |times| us(of(times))).into()
}

/// How many rows were examined for each that was sent; of none that were sent for each record.
pub(super) fn examined_per_sent(class: &DigestClass) -> Option<f64> {
    let examined = class.figures.get(LogFigure::RowsExamined.name())?;
    let sent = class.figures.get(LogFigure::RowsSent.name())?;
    let ratio = examined.total / sent.total.max(1.0);
    Some(ratio).filter(|ratio| ratio.is_finite() && examined.total > 0.0)
}

/// The text of a class on one line; of a sum of classes what it is.
pub(super) fn class_text(class: &DigestClass) -> String {
    match class.text.is_empty() {
        true => format!("({}s without a text)", class.kind.noun()),
        false => one_line(&class.text),
    }
}

/// What stands for classes that are not shown, and for those that the digest has in one.
fn rest_text(digest: &LogDigest, rest: &[&DigestClass]) -> String {
    let unshown = || rest.iter().copied().chain(&digest.others);
    let share: f64 = unshown().map(|class| share(class, digest)).sum();
    let records = unshown().map(|class| class.count).fold(0, u64::saturating_add);
    let classes = (rest.len() as u64).saturating_add(digest.other_classes);
    let what = if digest.total.times.is_some() { "of the time" } else { "of the records" };
    format!(
        "{} with {}: {} {what}",
        counted(classes, "further class"),
        counted(records, digest.total.kind.noun()),
        percent(share * 100.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::log_digest::FigureSummary;

    #[test]
    fn rows_examined_are_of_what_was_sent() {
        let sum = |total: f64| FigureSummary {
            logged: 1,
            total,
            min: total,
            max: total,
            p50: total,
            p95: total,
            percona: None,
        };
        let class = |figures: &[(LogFigure, f64)]| DigestClass {
            figures: figures.iter().map(|(at, of)| (at.name().to_owned(), sum(*of))).collect(),
            ..DigestClass::default()
        };
        let (examined, sent) = (LogFigure::RowsExamined, LogFigure::RowsSent);
        assert_eq!(examined_per_sent(&class(&[(examined, 90.0), (sent, 3.0)])), Some(30.0));
        assert_eq!(examined_per_sent(&class(&[(examined, 90.0), (sent, 0.0)])), Some(90.0));
        assert_eq!(examined_per_sent(&class(&[(examined, 0.0), (sent, 3.0)])), None);
        assert_eq!(examined_per_sent(&class(&[(sent, 3.0)])), None);
    }
}
