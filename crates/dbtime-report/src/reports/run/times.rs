//! Latencies in figures, the response histogram, and errors by code.

use super::RunView;
use crate::document::{ReportDocument, RowLimit};
use crate::format::{count, counted, percent, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use crate::{steadiness, story};
use dbtime_model::record::{LatencyUs, RunRecord};

/// How a latency of a run is written.
type LatencyText = fn(&RunRecord, f64) -> String;

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let record = &view.run.record;
    document.heading("Latency");
    let headings = ["Mean", "p50", "p90", "p95", "p99", "p99.9", "Max"];
    let columns = headings.into_iter().map(TextColumn::figure);
    let names = [TextColumn::text(""), TextColumn::text("").optional()];
    let mut table = ReportTable::new(names.into_iter().chain(columns).collect());
    let set = &record.latency_us;
    let [all, ended]: [LatencyText; 2] = [story::latency, story::latency_of_ended];
    let rows = [
        ("response", "what a client waits", Some(&set.response), all),
        ("service", "sent until done", Some(&set.service), ended),
        ("queue", "due until ready", Some(&set.queue), ended),
        ("lag", "ready until sent", Some(&set.lag), ended),
        ("connect", "to make a connection", set.connect.as_ref(), all),
    ];
    for (name, meaning, latency, text) in rows {
        if let Some(latency) = latency {
            let mut row = vec![name.into(), TextCell::new(meaning, TextRole::Dim)];
            row.extend(figures(latency).map(|us| text(record, us).into()));
            table.row(row);
        }
    }
    document.captioned_table("What each took", &table, None);
    document.paragraph(story::basis(record), TextRole::Dim);
    for sentence in story::of_ended(record).into_iter().chain(steadiness::sentences(record)) {
        document.paragraph(&sentence, TextRole::Dim);
    }
}

fn figures(l: &LatencyUs) -> [f64; 7] {
    [l.mean, l.p50, l.p90, l.p95, l.p99, l.p999, l.max]
}

/// Columns of the longest bar.
const BAR_COLUMNS: usize = 48;

/// Responses by power of two, on request.
pub(super) fn histogram(view: &RunView<'_>, document: &mut ReportDocument) {
    if !view.options.histogram {
        return;
    }
    document.heading("Response histogram");
    let buckets = &view.run.record.histogram;
    let total: f64 = buckets.iter().map(|bucket| bucket.count as f64).sum();
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    if most == 0 {
        document.paragraph("no response was counted", TextRole::Dim);
        return;
    }
    let mut table = ReportTable::new(vec![
        TextColumn::figure("From"),
        TextColumn::figure("Below"),
        TextColumn::figure("Count"),
        TextColumn::figure("Share"),
        TextColumn::text(""),
    ]);
    for bucket in buckets {
        table.row(vec![
            us(bucket.below_us / 2.0).into(),
            us(bucket.below_us).into(),
            count(bucket.count).into(),
            percent(bucket.count as f64 / total * 100.0).into(),
            TextCell::bar(bucket.count as f64 / most as f64, BAR_COLUMNS, TextRole::Plain),
        ]);
    }
    document.table(&table);
}

/// As much of a message as a line has room for.
fn abridged(text: &str) -> String {
    const MAX_TEXT_CHARS: usize = 68;
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Errors by the database's own code.
pub(super) fn errors(view: &RunView<'_>, document: &mut ReportDocument) {
    let record = &view.run.record;
    if record.errors.is_empty() {
        return;
    }
    document.heading("Errors by code, retried ones included");
    let messages = &record.error_messages;
    let mut table = ReportTable::new(vec![
        TextColumn::text("Code"),
        TextColumn::figure("Count"),
        TextColumn::text("Message"),
    ]);
    for (code, times) in by_frequency(record) {
        let text = messages.get(code).map_or(String::new(), |text| abridged(text));
        let count = TextCell::new(count(*times), TextRole::Warn);
        table.row(vec![abridged(code).into(), count, text.into()]);
    }
    let limit = Some(RowLimit::of_page_alone());
    document.captioned_table("What the database answered", &table, limit);
}

/// The errors with how often they occurred, the most frequent first.
fn by_frequency(record: &RunRecord) -> Vec<(&String, &u64)> {
    let mut errors: Vec<_> = record.errors.iter().collect();
    errors.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    errors
}

/// The most frequent error in a line, with how many other codes there are.
pub(super) fn first_error(record: &RunRecord, document: &mut ReportDocument) {
    let errors = by_frequency(record);
    let Some((code, times)) = errors.first() else { return };
    let mut text = format!("{code}: {}", counted(**times, "time"));
    if errors.len() > 1 {
        text += &format!(" and {}", counted(errors.len() as u64 - 1, "other code"));
    }
    // Else they would contradict the transactions that failed.
    if record.counts.retries > 0 {
        text += ", retried ones included";
    }
    if let Some(message) = record.error_messages.get(*code) {
        text += &format!(": {message}");
    }
    document.fact_within(1, "errors", &text, TextRole::Warn);
}
