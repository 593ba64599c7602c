//! One statement: where its time goes, how its responses are distributed, and its slowest.

use super::bars::{letter_of, style_of};
use super::rows::{one_line, right};
use super::scene::{Scene, Span};
use super::state::TopState;
use crate::files::files_of;
use crate::format::{count, if_any, percent, rate, us, wrap};
use crate::replaced::what_rows_lack;
use crate::terminal::connection_name;
use dbtime_model::Nanos;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_totals::Totals;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::Paragraph;

/// Lines of the statement's text.
const MOST_LINES: usize = 4;

/// Slow requests that are shown.
const MOST_SLOW: usize = 8;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    scene: &Scene,
    span: &Span,
    name: &str,
    state: &TopState,
) {
    let columns = usize::from(area.width);
    let bold =
        |text: &str| Line::styled(text.to_owned(), Style::new().add_modifier(Modifier::BOLD));
    let mut lines: Vec<Line<'_>> =
        wrap(&one_line(name), columns).into_iter().take(MOST_LINES).map(Line::raw).collect();
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
        scene.slowest.iter().filter(|request| *request.text == *name).take(MOST_SLOW).collect();
    if !slow.is_empty() {
        lines.push(bold("The slowest of it that were kept"));
        lines.extend(slow.into_iter().map(slow_line));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn figures(totals: &Totals, span: &Span) -> String {
    let micros = |length: Option<Nanos>| if_any(length, |length| us(length.as_micros()));
    format!(
        "{} calls, {}/s; mean {}, p50 {}, p99 {}, max {}; {} failed",
        count(totals.count),
        rate(totals.count as f64 / span.length.as_secs().max(1e-9)),
        micros(totals.mean()),
        micros(totals.quantile(0.5)),
        micros(totals.quantile(0.99)),
        micros(Some(totals.longest)),
        count(totals.errors),
    )
}

fn parts(totals: &Totals, columns: usize, in_color: bool) -> Vec<Line<'static>> {
    let rest = totals.response - totals.parts.sum();
    let all = totals.parts.named().into_iter().chain([("unexplained", rest)]);
    let shown = all.filter(|(name, part)| part.0 > 0 || *name == "unexplained");
    let room = columns.saturating_sub(38).min(50) as f64;
    shown
        .map(|(name, part)| {
            let share = part.0 as f64 / totals.response.0.max(1) as f64;
            let mean = Nanos(part.0.checked_div(totals.count).unwrap_or_default());
            let cells = (share * room).round() as usize;
            let letter = letter_of(name).to_string();
            Line::from(vec![
                Piece::raw(format!(
                    "  {name:<16} {} {} ",
                    right(&us(mean.as_micros()), 9),
                    right(&percent(100.0 * share), 7)
                )),
                Piece::styled(letter.repeat(cells), style_of(name, in_color)),
            ])
        })
        .collect()
}

/// By powers of two microseconds, from the first that holds any to the last.
fn distribution(totals: &Totals, columns: usize) -> Vec<Line<'static>> {
    let Some((first, last)) = totals.coarse.ends() else { return Vec::new() };
    let most = totals.coarse.iter().map(|(_, count)| count).max().unwrap_or_default().max(1);
    let room = columns.saturating_sub(32).min(50) as f64;
    (first..=last)
        .map(|bucket| {
            let from = if bucket == 0 { 0 } else { 1u64 << bucket };
            let held = totals.coarse.of(bucket);
            let bar = "@".repeat((held as f64 / most as f64 * room).round() as usize);
            let from = right(&us(from as f64), 9);
            Line::raw(format!("  from {from} {} {bar}", right(&count(held), 12)))
        })
        .collect()
}

fn slow_line(request: &TracedRequest) -> Line<'static> {
    let waits = request.parts.named().into_iter().filter(|(_, part)| part.0 > 0);
    let mut waits: Vec<(&str, Nanos)> = waits.collect();
    waits.sort_by_key(|(_, part)| std::cmp::Reverse(*part));
    let waits: Vec<String> = waits
        .iter()
        .take(3)
        .map(|(name, part)| format!("{name} {}", us(part.as_micros())))
        .collect();
    let blocker = request.blocker.as_ref().and_then(|blocker| {
        let lock = blocker.lock.as_deref().unwrap_or("lock");
        let name = connection_name(blocker.server_id, blocker.connection?);
        Some(format!("; {lock} of connection {name}"))
    });
    Line::raw(format!(
        "  {}  connection {}: {}{}",
        right(&us(request.response().as_micros()), 8),
        connection_name(request.server_id(), request.connection),
        waits.join(", "),
        blocker.unwrap_or_default(),
    ))
}
