//! Statements: what each takes of all time, and where that goes.

use super::bars::stacked;
use super::rows::{heading, left, one_line, right, table};
use super::scene::Span;
use super::state::{SortOrder, TopState};
use crate::format::{count, if_any, percent, rate, us};
use dbtime_model::traced_totals::TraceTotals;
use dbtime_model::{Nanos, Part};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span as Piece};
use std::cmp::Reverse;

/// A figure of a statement: what stands above it, its columns, and how it is told.
struct StatementFigure {
    name: &'static str,
    columns: usize,
    render: fn(&TraceTotals, &Span) -> String,
}

const SHARE: StatementFigure = StatementFigure { name: "Share", columns: 7, render: share };
const CALLS: StatementFigure = StatementFigure { name: "Calls/s", columns: 8, render: calls };
const MEAN: StatementFigure =
    StatementFigure { name: "Mean", columns: 8, render: |t, _| micros(t.mean()) };
const P99: StatementFigure =
    StatementFigure { name: "p99", columns: 8, render: |t, _| micros(t.quantile(0.99)) };
const MAX: StatementFigure =
    StatementFigure { name: "Max", columns: 8, render: |t, _| micros(t.max()) };
const CPU: StatementFigure = StatementFigure {
    name: "CPU",
    columns: 8,
    render: |t, _| micros(t.parts.measured_duration(Part::Cpu)),
};
const LOCK: StatementFigure = StatementFigure {
    name: "Lock",
    columns: 8,
    render: |t, _| micros(t.parts.measured_duration(Part::Lock)),
};
const ERRORS: StatementFigure =
    StatementFigure { name: "Errors", columns: 6, render: |t, _| count(t.errors) };

/// The width from which on there is room for what is less often wanted.
const WIDE_COLUMNS: usize = 100;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, span: &Span, state: &mut TopState) {
    let rows = sorted(span, state);
    let columns = usize::from(area.width);
    let bar = (columns / 6).clamp(8, 30);
    let figures = figures(columns, state.sort);
    let names: String = figures.iter().map(|f| format!(" {}", right(f.name, f.columns))).collect();
    let head = format!(
        "{} {}{names} Statement",
        right(SHARE.name, SHARE.columns),
        left("Where it goes", bar)
    );
    let chosen = rows.get(state.selected.min(rows.len().saturating_sub(1)));
    state.under_cursor = chosen.map(|(name, _)| name.clone());
    let in_color = state.in_color;
    table(frame, area, state, heading(left(&head, columns)), &rows, |(name, totals)| {
        let cell = |figure: &StatementFigure| right(&(figure.render)(totals, span), figure.columns);
        let mut pieces = vec![Piece::raw(cell(&SHARE) + " ")];
        let parts = stacked(&totals.parts, totals.response, bar, in_color);
        let drawn: usize = parts.iter().map(|piece| piece.width()).sum();
        pieces.extend(parts);
        pieces.push(Piece::raw(" ".repeat(bar - drawn.min(bar))));
        let rest: String = figures.iter().map(|figure| format!(" {}", cell(figure))).collect();
        pieces.push(Piece::raw(rest + " "));
        let taken: usize = pieces.iter().map(|piece| piece.width()).sum();
        pieces.push(Piece::raw(left(&one_line(name), columns.saturating_sub(taken))));
        Line::from(pieces)
    });
}

/// Behind the bar: what they are sorted by is there in any case.
fn figures(columns: usize, sort: SortOrder) -> Vec<StatementFigure> {
    let mut figures = vec![CALLS, MEAN, P99];
    if columns >= WIDE_COLUMNS {
        figures.extend([MAX, CPU, ERRORS]);
    }
    let sorted_by = match sort {
        SortOrder::Cpu => CPU,
        SortOrder::Lock => LOCK,
        SortOrder::Errors => ERRORS,
        SortOrder::Total | SortOrder::Calls | SortOrder::Mean | SortOrder::P99 => MEAN,
    };
    if !figures.iter().any(|figure| figure.name == sorted_by.name) {
        figures.push(sorted_by);
    }
    figures
}

fn share(totals: &TraceTotals, span: &Span) -> String {
    percent(100.0 * totals.response.0 as f64 / span.all.response.0.max(1) as f64)
}

fn calls(totals: &TraceTotals, span: &Span) -> String {
    rate(totals.count as f64 / span.length.as_secs().max(1e-9))
}

fn micros(length: Option<Nanos>) -> String {
    if_any(length, |length| us(length.as_micros()))
}

/// What the filter lets through, the most first.
fn sorted(span: &Span, state: &TopState) -> Vec<(String, TraceTotals)> {
    let matching = span.statements.iter().filter(|(name, _)| state.matches_filter(&[name]));
    let mut rows: Vec<(String, TraceTotals)> = matching.cloned().collect();
    rows.sort_by_cached_key(|(name, totals)| (Reverse(weight(totals, state.sort)), name.clone()));
    rows
}

fn weight(totals: &TraceTotals, sort: SortOrder) -> u64 {
    let nanos = |length: Option<Nanos>| length.unwrap_or_default().0;
    match sort {
        SortOrder::Total => totals.response.0,
        SortOrder::Calls => totals.count,
        SortOrder::Mean => nanos(totals.mean()),
        SortOrder::P99 => nanos(totals.quantile(0.99)),
        SortOrder::Cpu => totals.parts.duration(Part::Cpu).0,
        SortOrder::Lock => totals.parts.duration(Part::Lock).0,
        SortOrder::Errors => totals.errors,
    }
}
