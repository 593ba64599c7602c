//! What changed between two samples of status counters: differences and rates of those that count,
//! before and after of the others.

use super::style::{PageStyle, ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use crate::counted::signed;
use crate::facts::instant;
use crate::format::{NONE, clean, count, counted, fit, rate, seconds};
use dbtime_model::counters::{
    CounterDelta, CounterKind, CounterNote, CounterReport, CounterValue, IntervalSource,
};

/// What a report of counters shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterOptions {
    /// What it is written for.
    pub style: PageStyle,
    /// Whether to show rates per transaction too.
    pub per_transaction: bool,
}

/// The report of two samples. Shows what is in it: leave out what did not change before.
///
/// Shape: as [`super::run_report`].
pub fn counter_report(report: &CounterReport, options: &CounterOptions) -> String {
    let mut page = ReportPage::plain(options.style);
    head(report, options, &mut page);
    let of = |kind| {
        let deltas: Vec<&CounterDelta> =
            report.counters.iter().filter(|delta| delta.kind == kind).collect();
        deltas
    };
    counters(&of(CounterKind::Counter), options, &mut page);
    values("Gauges", &of(CounterKind::Gauge), &mut page);
    values("Texts", &of(CounterKind::Text), &mut page);
    if report.left_out > 0 {
        page.line("");
        let verb = if report.left_out == 1 { "is" } else { "are" };
        let left_out = counted(report.left_out, "value");
        let text = format!("{left_out} {verb} the same in both samples (--all shows them)");
        page.text(&text, TextRole::Dim);
    }
    page.finish()
}

fn head(report: &CounterReport, options: &CounterOptions, page: &mut ReportPage) {
    let source = &report.source;
    let version = source.version.as_ref().map_or(String::new(), |v| format!(" {}", clean(v)));
    let url = source.url.as_ref().map_or(String::new(), |url| format!(" at {}", clean(url)));
    let title = fit(&format!("{}{version}{url}", source.product.title()), page.columns());
    page.line(&page.paint(&title, TextRole::Bold));
    if let Some(from) = &report.from {
        page.fact("from", &instant(from), TextRole::Plain);
    }
    if let Some(to) = &report.to {
        page.fact("to", &instant(to), TextRole::Plain);
    }
    let interval = match (report.interval_s, report.interval_from) {
        (Some(s), Some(IntervalSource::Clock)) => seconds(s),
        (Some(s), Some(IntervalSource::Uptime)) => format!("{} by the server's Uptime", seconds(s)),
        (Some(s), _) => format!("{} by the wall clock", seconds(s)),
        (None, _) => "not known: no rates".to_owned(),
    };
    page.fact("interval", &interval, TextRole::Plain);
    match (report.transactions, &report.transactions_from) {
        (Some(n), Some(from)) => {
            page.fact("transactions", &format!("{} ({})", count(n), clean(from)), TextRole::Plain);
        }
        _ if options.per_transaction => {
            page.fact(
                "transactions",
                "none were counted: no rates per transaction",
                TextRole::Warn,
            );
        }
        _ => {}
    }
    for (index, note) in report.notes.iter().enumerate() {
        page.fact(if index == 0 { "note" } else { "" }, &clean(note), TextRole::Warn);
    }
}

fn counters(deltas: &[&CounterDelta], options: &CounterOptions, page: &mut ReportPage) {
    page.heading("Counters");
    if deltas.is_empty() {
        page.text("none of them counted anything", TextRole::Dim);
        return;
    }
    let has_notes = deltas.iter().any(|delta| delta.note.is_some());
    let mut columns = vec![
        TextColumn::text("Name"),
        TextColumn::figure("Difference"),
        TextColumn::figure("Per second"),
    ];
    columns.extend(options.per_transaction.then(|| TextColumn::figure("Per transaction")));
    columns.extend(has_notes.then(|| TextColumn::text("Note")));
    let mut table = ReportTable::new(columns);
    each(deltas, &mut table, |delta| {
        let per = |rate_of: Option<f64>| rate_of.map_or(NONE.to_owned(), rate);
        let difference = delta.difference.as_ref().map_or(NONE.to_owned(), value);
        let mut cells = vec![
            name(delta),
            difference.into(),
            TextCell::new(per(delta.per_second), TextRole::Dim),
        ];
        cells.extend(options.per_transaction.then(|| per(delta.per_transaction).into()));
        cells.extend(has_notes.then(|| TextCell::new(note(delta), TextRole::Warn)));
        cells
    });
    page.table(&table);
}

fn values(title: &str, deltas: &[&CounterDelta], page: &mut ReportPage) {
    if deltas.is_empty() {
        return;
    }
    page.heading(title);
    let are_texts = deltas.iter().all(|delta| delta.kind == CounterKind::Text);
    let column = if are_texts { TextColumn::text } else { TextColumn::figure };
    let mut columns = vec![TextColumn::text("Name"), column("Before"), column("After")];
    columns.extend((!are_texts).then(|| TextColumn::figure("Change")));
    let mut table = ReportTable::new(columns);
    each(deltas, &mut table, |delta| {
        let side = |of: &Option<CounterValue>| of.as_ref().map_or(NONE.to_owned(), value);
        let mut cells = vec![name(delta), side(&delta.before).into(), side(&delta.after).into()];
        cells.extend((!are_texts).then(|| TextCell::new(change(delta), TextRole::Dim)));
        cells
    });
    page.table(&table);
}

/// A row for each, below the name of its group.
fn each(
    deltas: &[&CounterDelta],
    table: &mut ReportTable,
    row: impl Fn(&CounterDelta) -> Vec<TextCell>,
) {
    let mut group = None;
    for delta in deltas {
        if group != Some(&delta.group) {
            group = Some(&delta.group);
            table.group(&clean(&delta.group));
        }
        table.row(row(delta));
    }
}

fn name(delta: &CounterDelta) -> TextCell {
    format!("  {}", clean(&delta.name)).into()
}

/// A value as people read it.
fn value(value: &CounterValue) -> String {
    match value {
        CounterValue::Unsigned(n) => count(*n),
        CounterValue::Signed(n) => format!("−{}", count(n.unsigned_abs())),
        CounterValue::Float(x) => signed(*x),
        CounterValue::Text(text) => clean(text),
    }
}

fn change(delta: &CounterDelta) -> String {
    match &delta.difference {
        Some(CounterValue::Unsigned(n)) => format!("+{}", count(*n)),
        Some(CounterValue::Float(x)) if *x > 0.0 => format!("+{}", signed(*x)),
        Some(other) => value(other),
        None => note(delta),
    }
}

fn note(delta: &CounterDelta) -> String {
    let of = |side: &Option<CounterValue>| side.as_ref().map_or(NONE.to_owned(), value);
    match delta.note {
        None => String::new(),
        Some(CounterNote::Reset) => format!("reset, was {}", of(&delta.before)),
        Some(CounterNote::Wrapped) => "went past 2^32".to_owned(),
        Some(CounterNote::Appeared) => format!("new, is {}", of(&delta.after)),
        Some(CounterNote::Gone) => format!("gone, was {}", of(&delta.before)),
    }
}
