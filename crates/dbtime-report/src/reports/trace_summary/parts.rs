//! Where the time of traced statements went, as bars.

use super::NO_PARTS;
use crate::document::ReportDocument;
use crate::format::{count, percent, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::traced_totals::TraceTotals;
use dbtime_model::{Nanos, Part};

/// The longest bar of a part, in columns.
const PART_COLUMNS: usize = 20;

/// Above the parts.
const PARTS: &str = "Where the time goes";

/// A part of all responses together, or several. Unit: nanoseconds.
type NamedPart = (&'static str, f64);

pub(super) fn parts(all: &TraceTotals, document: &mut ReportDocument) {
    shown(&measured(all), all, document);
}

/// The largest parts, and what the others come to.
pub(super) fn largest_parts(all: &TraceTotals, most: usize, document: &mut ReportDocument) {
    let mut parts = measured(all);
    parts.sort_by(|(_, x), (_, y)| y.total_cmp(x));
    let rest = parts.split_off(parts.len().min(most));
    if !rest.is_empty() {
        parts.push(("the rest", rest.iter().map(|(_, ns)| ns).sum()));
    }
    shown(&parts, all, document);
}

/// What was measured of responses.
fn measured(all: &TraceTotals) -> Vec<NamedPart> {
    let parts = Part::TRACED.into_iter().map(|part| (part.name(), all.parts.get(part) as f64));
    parts.filter(|(_, ns)| *ns > 0.0).collect()
}

/// These parts, and how long requests lay in the socket before them.
fn shown(parts: &[NamedPart], all: &TraceTotals, document: &mut ReportDocument) {
    if all.count == 0 {
        return;
    }
    document.heading(PARTS);
    match all.lack_parts() {
        true => document.paragraph(NO_PARTS, TextRole::Warn),
        false => document.table(&table(parts, all)),
    }
    queue(all, document);
}

/// These parts of a mean response, and what they leave unexplained.
fn table(parts: &[NamedPart], all: &TraceTotals) -> ReportTable {
    let whole = all.response.0.max(1) as f64;
    let mean = |ns: f64| us(ns / 1e3 / all.count as f64);
    let mut table = ReportTable::new(vec![
        TextColumn::text("Part"),
        TextColumn::figure("Mean"),
        TextColumn::figure("Share"),
        TextColumn::text(""),
    ]);
    for &(name, ns) in parts {
        let share = ns / whole;
        table.row(vec![
            name.into(),
            mean(ns).into(),
            percent(100.0 * share).into(),
            TextCell::bar(share, PART_COLUMNS, TextRole::Plain),
        ]);
    }
    let rest = all.response.0 as f64 - all.parts.total() as f64;
    let sign = if rest < 0.0 { "−" } else { "" };
    table.row(vec![
        "unexplained".into(),
        format!("{sign}{}", mean(rest.abs())).into(),
        percent(100.0 * rest / whole).into(),
        "".into(),
    ]);
    table
}

/// How long they lay in the socket before that.
fn queue(all: &TraceTotals, document: &mut ReportDocument) {
    if let Some(queue) = all.server_queue.0.checked_div(all.queued) {
        let of = match all.queued == all.count {
            true => String::new(),
            false => format!(", of {} that were seen to come", count(all.queued)),
        };
        let text = format!("server_queue, before that: {} on average{of}", us(queue as f64 / 1e3));
        document.paragraph(&text, TextRole::Plain);
        let parts = all.queue_parts.within(all.server_queue).named();
        let parts = parts.into_iter().filter(|(_, length)| *length > Nanos::ZERO);
        let mean = |length: Nanos| us(length.as_micros() / all.queued as f64);
        let parts: Vec<_> =
            parts.map(|(part, length)| format!("{} {}", part.name(), mean(length))).collect();
        if !parts.is_empty() {
            let text = format!("of which the thread waited: {}", parts.join(", "));
            document.paragraph(&text, TextRole::Plain);
        }
    }
}
