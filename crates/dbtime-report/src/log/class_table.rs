//! The classes in a table: each in a line of its text, and one of figures below.

use super::class_details::whole;
use super::{figure_mean, share};
use crate::document::{PAGE_ROWS, RestOfRows, RowLimit};
use crate::format::{NONE, bytes, count, counted, fit, if_any, one_line, percent, rate, us};
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

/// What tables of logs without durations have where bytes were counted.
const SENT: ClassColumn = ClassColumn {
    heading: "Sent",
    cell: |class, _| if_any(sent(class), |sent| bytes(whole(sent))).into(),
};

/// What they have where any record failed.
const FAILED: ClassColumn =
    ClassColumn { heading: "Errors", cell: |class, _| if_any(class.errors, count).into() };

/// What they have where rows were counted: how many of a record, in the mean.
const ROWS: [ClassColumn; 2] = [
    ClassColumn {
        heading: "Rows\nexamined",
        cell: |class, _| if_any(rows(class, LogFigure::RowsExamined), rate).into(),
    },
    ClassColumn {
        heading: "Rows\nsent",
        cell: |class, _| if_any(rows(class, LogFigure::RowsSent), rate).into(),
    },
];

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
    } else if classes.iter().any(|class| sent(class).is_some()) {
        columns.push(SENT);
    }
    if digest.total.errors > Some(0) {
        columns.push(FAILED);
    }
    if classes.iter().any(|class| rows(class, LogFigure::RowsExamined) > Some(0.0)) {
        columns.extend(ROWS);
    }
    columns
}

fn time(class: &DigestClass, of: fn(&DigestTimes) -> f64) -> TextCell {
    class.times.as_ref().map_or(NONE.to_owned(), |times| us(of(times))).into()
}

/// How many bytes were sent to clients.
fn sent(class: &DigestClass) -> Option<f64> {
    class.figures.get(LogFigure::BytesSent.name()).map(|sent| sent.total)
}

/// How many rows a record of a class has, in the mean.
fn rows(class: &DigestClass, figure: LogFigure) -> Option<f64> {
    class.figures.get(figure.name()).map(|summary| figure_mean(class, summary))
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
    fn rows_are_those_of_a_record() {
        let sum = |total: f64| FigureSummary {
            logged: 120,
            total,
            min: 0.0,
            max: total,
            p50: 0.0,
            p95: 0.0,
            percona: None,
        };
        let figures = [(LogFigure::RowsExamined, 360.0), (LogFigure::RowsSent, 0.0)];
        let class = DigestClass {
            count: 1200,
            logged: 120,
            figures: figures.map(|(at, total)| (at.name().to_owned(), sum(total))).into(),
            ..DigestClass::default()
        };
        assert_eq!(rows(&class, LogFigure::RowsExamined), Some(0.3));
        assert_eq!(rows(&class, LogFigure::RowsSent), Some(0.0));
        assert_eq!(rows(&class, LogFigure::RowsRead), None);
    }
}
