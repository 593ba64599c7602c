//! Where the time of traced statements went, as bars.

use super::NO_PARTS;
use crate::document::{BarRow, DocumentBars, ReportDocument};
use crate::format::{count, percent, us};
use crate::terminal::TextRole;
use dbtime_model::traced_totals::TraceTotals;
use dbtime_model::{Nanos, Part};

/// The longest bar of a part, in signs.
const PART_COLUMNS: usize = 20;

/// Above the parts.
const PARTS: &str = "Where the time goes";

/// All parts.
pub(super) fn parts(all: &TraceTotals, document: &mut ReportDocument) {
    shown(part_rows(all), all, document);
}

/// The largest parts, and what the others come to.
pub(super) fn largest_parts(all: &TraceTotals, most: usize, document: &mut ReportDocument) {
    let mut rows = part_rows(all);
    let share = |row: &BarRow| row.share.unwrap_or_default();
    rows.sort_by(|x, y| share(y).total_cmp(&share(x)));
    let rest = rows.split_off(rows.len().min(most));
    if !rest.is_empty() {
        let share: f64 = rest.iter().map(share).sum();
        rows.push(part_row("the rest", share * all.response.0 as f64, all));
    }
    shown(rows, all, document);
}

/// These parts, and how long requests lay in the socket before them.
fn shown(rows: Vec<BarRow>, all: &TraceTotals, document: &mut ReportDocument) {
    if all.count == 0 {
        return;
    }
    document.heading(PARTS);
    match all.lack_parts() {
        true => document.paragraph(NO_PARTS, TextRole::Warn),
        false => document.bars(&part_bars(rows, all)),
    }
    queue(all, document);
}

/// What is measured of a mean response.
fn part_rows(all: &TraceTotals) -> Vec<BarRow> {
    let parts = Part::TRACED.into_iter().map(|part| (part.name(), all.parts.get(part) as f64));
    parts.filter(|(_, ns)| *ns > 0.0).map(|(name, ns)| part_row(name, ns, all)).collect()
}

/// So many nanoseconds of all responses.
fn part_row(name: &str, ns: f64, all: &TraceTotals) -> BarRow {
    let share = ns / all.response.0.max(1) as f64;
    let figures = vec![us(ns / 1e3 / all.count as f64), percent(100.0 * share)];
    BarRow { name: name.to_owned(), figures, share: Some(share) }
}

/// These parts, and what they leave unexplained.
fn part_bars(mut rows: Vec<BarRow>, all: &TraceTotals) -> DocumentBars {
    let rest = all.response.0 as f64 - all.parts.total() as f64;
    let mut unexplained = part_row("unexplained", rest.abs(), all);
    unexplained.share = None;
    if rest < 0.0 {
        unexplained.figures[0].insert(0, '−');
        unexplained.figures[1] = percent(100.0 * rest / all.response.0.max(1) as f64);
    }
    rows.push(unexplained);
    DocumentBars { headings: vec!["Part", "Mean", "Share"], rows, columns: PART_COLUMNS }
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
