//! What changed between two samples of status counters: differences and rates of those that count,
//! before and after of the others.

use crate::counted::signed;
use crate::document::ReportDocument;
use crate::facts::instant;
use crate::format::{NONE, clean, count, counted, rate, seconds};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::counters::{
    CounterDelta, CounterKind, CounterNote, CounterReport, CounterValue, IntervalSource,
};

/// What a report of counters shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterOptions {
    /// Whether to show rates per transaction too.
    pub per_transaction: bool,
}

/// The report of two samples. Shows what is in it: leave out what did not change before.
pub fn counter_document(report: &CounterReport, options: CounterOptions) -> ReportDocument {
    let source = &report.source;
    let version = source.version.as_ref().map_or(String::new(), |v| format!(" {v}"));
    let url = source.url.as_ref().map_or(String::new(), |url| format!(" at {url}"));
    let title = format!("{}{version}{url}", source.product.title());
    let mut document = ReportDocument::new("dbtime counters", &title);
    head(report, options, &mut document);
    let of = |kind| {
        let deltas: Vec<&CounterDelta> =
            report.counters.iter().filter(|delta| delta.kind == kind).collect();
        deltas
    };
    counters(&of(CounterKind::Counter), options, &mut document);
    values("Gauges", &of(CounterKind::Gauge), &mut document);
    values("Texts", &of(CounterKind::Text), &mut document);
    if report.left_out > 0 {
        let verb = if report.left_out == 1 { "is" } else { "are" };
        let left_out = counted(report.left_out, "value");
        let text = format!("{left_out} {verb} the same in both samples (--all shows them)");
        document.remark(&text, TextRole::Dim);
    }
    document
}

fn head(report: &CounterReport, options: CounterOptions, document: &mut ReportDocument) {
    if let Some(from) = &report.from {
        document.fact("from", &instant(from), TextRole::Plain);
    }
    if let Some(to) = &report.to {
        document.fact("to", &instant(to), TextRole::Plain);
    }
    let interval = match (report.interval_s, report.interval_from) {
        (Some(s), Some(IntervalSource::Clock)) => seconds(s),
        (Some(s), Some(IntervalSource::Uptime)) => format!("{} by the server's Uptime", seconds(s)),
        (Some(s), _) => format!("{} by the wall clock", seconds(s)),
        (None, _) => "not known: no rates".to_owned(),
    };
    document.fact("interval", &interval, TextRole::Plain);
    match (report.transactions, &report.transactions_from) {
        (Some(n), Some(from)) => {
            document.fact("transactions", &format!("{} ({from})", count(n)), TextRole::Plain);
        }
        _ if options.per_transaction => {
            document.fact(
                "transactions",
                "none were counted: no rates per transaction",
                TextRole::Warn,
            );
        }
        _ => {}
    }
    for (index, note) in report.notes.iter().enumerate() {
        document.fact(if index == 0 { "note" } else { "" }, note, TextRole::Warn);
    }
}

fn counters(deltas: &[&CounterDelta], options: CounterOptions, document: &mut ReportDocument) {
    document.heading("Counters");
    if deltas.is_empty() {
        document.paragraph("none of them counted anything", TextRole::Dim);
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
    document.table(&table);
}

fn values(title: &str, deltas: &[&CounterDelta], document: &mut ReportDocument) {
    if deltas.is_empty() {
        return;
    }
    document.heading(title);
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
    document.table(&table);
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
