//! One statement: where its time goes, how its responses are distributed, and its slowest.

use super::bars::{letter_of, style_of};
use super::rows::{one_line, right};
use super::scene::{Span, TopScene};
use super::state::TopState;
use crate::files::files_of;
use crate::format::{count, if_any, percent, rate, us, wrap};
use crate::replaced::what_rows_lack;
use crate::terminal::connection_name;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_totals::{COARSE_BUCKETS, TraceTotals};
use dbtime_model::{Nanos, Part};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::Paragraph;

/// Lines of the statement's text.
const MAX_LINES: usize = 4;

/// Slow requests that are shown.
const MAX_SLOW: usize = 8;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    scene: &TopScene,
    span: &Span,
    name: &str,
    state: &TopState,
) {
    let columns = usize::from(area.width);
    let bold =
        |text: &str| Line::styled(text.to_owned(), Style::new().add_modifier(Modifier::BOLD));
    let mut lines: Vec<Line<'_>> =
        wrap(&one_line(name), columns).into_iter().take(MAX_LINES).map(Line::raw).collect();
    match span.statements.iter().find(|(other, _)| other == name) {
        Some((_, totals)) => {
            lines.push(Line::raw(figures(totals, span)));
            if let Some(replaced) = &span.replaced {
                let lacks = wrap(&what_rows_lack(replaced), columns);
                lines.extend(lacks.into_iter().map(Line::raw));
            }
            lines.push(bold("Where the time goes"));
            lines.extend(parts(totals, columns, state.in_color));
            lines.extend(files_of(totals).into_iter().map(|line| Line::raw(format!("  {line}"))));
            lines.push(bold("Responses"));
            lines.extend(distribution(totals, columns));
        }
        None => lines.push(Line::raw("not executed in this time; w shows all since the start")),
    }
    let slow: Vec<&TracedRequest> =
        scene.slowest.iter().filter(|request| *request.text == *name).take(MAX_SLOW).collect();
    if !slow.is_empty() {
        lines.push(bold("Its slowest executions that were kept"));
        lines.extend(slow.into_iter().map(|request| slow_line(request, scene)));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn figures(totals: &TraceTotals, span: &Span) -> String {
    let micros = |length: Option<Nanos>| if_any(length, |length| us(length.as_micros()));
    format!(
        "{} calls, {}/s; mean {}, p50 {}, p99 {}, max {}; {} failed",
        count(totals.count),
        rate(totals.count as f64 / span.length.as_secs().max(1e-9)),
        micros(totals.mean()),
        micros(totals.quantile(0.5)),
        micros(totals.quantile(0.99)),
        micros(totals.max()),
        count(totals.errors),
    )
}

fn parts(totals: &TraceTotals, columns: usize, in_color: bool) -> Vec<Line<'static>> {
    if totals.parts.are_unknown() {
        return vec![Line::raw("  not measured on this kernel")];
    }
    let mut closed = totals.parts;
    closed.close(totals.response);
    let all = Part::TRACED.into_iter().chain([Part::Unexplained]);
    let shown = all.filter(|part| closed.get(*part) > 0 || *part == Part::Unexplained);
    let room = columns.saturating_sub(38).min(50) as f64;
    shown
        .map(|part| {
            let ns = closed.get(part) as f64;
            let share = ns / totals.response.0.max(1) as f64;
            let mean_us = ns / 1e3 / totals.count.max(1) as f64;
            let sign = if mean_us < 0.0 { "−" } else { "" };
            let cells = (share.clamp(0.0, 1.0) * room).round() as usize;
            let letter = letter_of(part).to_string();
            Line::from(vec![
                Piece::raw(format!(
                    "  {:<16} {} {} ",
                    part.name(),
                    right(&format!("{sign}{}", us(mean_us.abs())), 9),
                    right(&percent(100.0 * share), 7)
                )),
                Piece::styled(letter.repeat(cells), style_of(part, in_color)),
            ])
        })
        .collect()
}

/// By powers of two microseconds, from the first that holds any to the last.
fn distribution(totals: &TraceTotals, columns: usize) -> Vec<Line<'static>> {
    let Some((first, last)) = totals.coarse.ends() else { return Vec::new() };
    let most = totals.coarse.iter().map(|(_, count)| count).max().unwrap_or_default().max(1);
    let room = columns.saturating_sub(32).min(50) as f64;
    (first..=last.min(COARSE_BUCKETS - 1))
        .map(|bucket| {
            let from = if bucket == 0 { 0 } else { 1u64 << bucket };
            let held = totals.coarse.of(bucket);
            let bar = "@".repeat((held as f64 / most as f64 * room).round() as usize);
            let from = right(&us(from as f64), 9);
            Line::raw(format!("  from {from} {} {bar}", right(&count(held), 12)))
        })
        .collect()
}

fn slow_line(request: &TracedRequest, scene: &TopScene) -> Line<'static> {
    let length = |part: Part| request.parts.duration(part);
    let mut parts: Vec<Part> =
        Part::TRACED.into_iter().filter(|part| length(*part).0 > 0).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(length(*part)));
    let waits: Vec<String> = parts
        .iter()
        .take(3)
        .map(|part| format!("{} {}", part.name(), us(length(*part).as_micros())))
        .collect();
    let blocker = request.blocker.as_ref().and_then(|blocker| {
        let lock = one_line(blocker.lock.as_deref().unwrap_or("lock"));
        let name = connection_name(blocker.server_id, blocker.connection?);
        Some(format!("; {lock} of connection {name}"))
    });
    Line::raw(format!(
        "  {}  connection {}{}: {}{}",
        right(&us(request.response().as_micros()), 8),
        connection_name(request.server_id(), request.connection),
        scene.of_server(request),
        waits.join(", "),
        blocker.unwrap_or_default(),
    ))
}
