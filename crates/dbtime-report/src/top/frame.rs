//! The whole screen: what is so of all, the table, and the keys.

use super::bars::{legend, stacked};
use super::scene::{Span, TopScene};
use super::state::{SORTS, TopState, TopView, VIEWS};
use super::{blockers, connections, detail, preemptors, prior, statements};
use crate::format::{count, counted, fit, if_any, rate, us, width};
use crate::reports::NO_PARTS;
use dbtime_model::traced_live::LiveConnection;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::{Block, Clear, Paragraph, Sparkline};

/// Draws everything; `state` learns how many rows there are.
pub fn draw(frame: &mut Frame<'_>, scene: &TopScene, state: &mut TopState) {
    let rows = [4, 1, 0, 1].map(|rows| match rows {
        0 => Constraint::Min(1),
        rows => Constraint::Length(rows),
    });
    let [head, tabs, body, foot] = Layout::vertical(rows).areas(frame.area());
    let span = if state.is_whole { &scene.whole } else { &scene.lately };
    header(frame, head, scene, span, state);
    frame.render_widget(tab_line(state), tabs);
    match (&state.view, state.statement.clone()) {
        (TopView::Statements, Some(name)) => detail::draw(frame, body, scene, span, &name, state),
        (TopView::Statements, None) => statements::draw(frame, body, span, state),
        (TopView::Connections, _) => connections::draw(frame, body, scene, state),
        (TopView::Blockers, _) => blockers::draw(frame, body, scene, state),
        (TopView::Preemptors, _) => preemptors::draw(frame, body, scene, span, state),
    }
    frame.render_widget(footer(state, foot.width.into()), foot);
    if state.has_help {
        help(frame);
    }
}

fn header(frame: &mut Frame<'_>, area: Rect, scene: &TopScene, span: &Span, state: &TopState) {
    let columns = usize::from(area.width);
    let servers: Vec<&str> = scene.servers.iter().map(|server| server.name.as_str()).collect();
    let title = format!("{}   {}", servers.join(", "), scene.clock);
    let all = &span.all;
    let per_second = all.count as f64 / span.length.as_secs().max(1e-9);
    let at_work = || scene.connections.iter().filter(|one| one.is_at_work()).count() as u64;
    let at_work = if scene.lacks_connections { "?".to_owned() } else { count(at_work()) };
    let seconds = span.length.as_secs();
    let when = if state.is_whole { "since the start" } else { "lately" };
    let figures = format!(
        "{when} {seconds:.1} s: {}/s  mean {}  p99 {}  {}  {} busy{}",
        rate(per_second),
        if_any(all.mean(), |mean| us(mean.as_micros())),
        if_any(all.quantile(0.99), |p99| us(p99.as_micros())),
        counted(all.errors, "error"),
        at_work,
        prior::busy(&scene.prior),
    );
    let bar = stacked(&all.parts, all.response, columns, state.in_color);
    let trouble = trouble(scene);
    let last = match trouble.is_empty() {
        true => Line::from(legend(&all.parts, state.in_color)),
        false => Line::styled(trouble, Style::new().add_modifier(Modifier::REVERSED)),
    };
    let lines = vec![
        first_line(&title, &locked(scene), columns),
        Line::raw(fit(&figures, columns)),
        Line::from(bar),
        last,
    ];
    frame.render_widget(Paragraph::new(lines), area);
    rates(frame, area, scene, width(&figures));
}

/// How many wait for locks, and how long the longest of them has, as far as that is known.
fn locked(scene: &TopScene) -> String {
    let waits = || scene.connections.iter().filter_map(LiveConnection::lock_wait);
    let number = count(waits().count() as u64);
    let longest = waits().max().map(|longest| us(longest.as_micros()));
    match (longest, prior::waiting(scene).count() as u64) {
        (None, 0) => String::new(),
        (Some(longest), 0) => format!(" {number} locked for up to {longest} "),
        (None, before) => format!(" {} locked from before dbtime looked ", count(before)),
        (Some(longest), before) => format!(
            " {number} locked for up to {longest}, {} from before dbtime looked ",
            count(before)
        ),
    }
}

/// Which servers, and behind that what nobody is to miss, however narrow the screen.
fn first_line(title: &str, locked: &str, columns: usize) -> Line<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let title = fit(title, columns.saturating_sub(width(locked) + 2));
    let mut pieces = vec![Piece::styled(title, bold)];
    if !locked.is_empty() {
        pieces.push(Piece::raw("  "));
        let style = bold.add_modifier(Modifier::REVERSED);
        pieces.push(Piece::styled(fit(locked, columns), style));
    }
    Line::from(pieces)
}

/// Throughput as it went, where there is room behind the figures.
fn rates(frame: &mut Frame<'_>, area: Rect, scene: &TopScene, taken: usize) {
    const LEAST: u16 = 10;
    let from = area.x + taken as u16 + 2;
    let Some(columns) = area.right().checked_sub(from).filter(|columns| *columns >= LEAST) else {
        return;
    };
    let shown = scene.rates.len().min(columns.into());
    let place = Rect { x: from, y: area.y + 1, width: columns, height: 1 }.intersection(area);
    let rates = Sparkline::default().data(&scene.rates[scene.rates.len() - shown..]);
    frame.render_widget(rates, place);
}

/// What makes the figures incomplete.
fn trouble(scene: &TopScene) -> String {
    let ledger = &scene.ledger;
    let kinds = [
        (ledger.dropped, "request", "too many to be listed one by one"),
        (ledger.tls, "encrypted connection", "that cannot be followed"),
        (ledger.gss, "connection", "encrypted by GSS that cannot be followed"),
        (ledger.compressed, "compressed connection", "that cannot be followed"),
        (ledger.other_protocol, "connection", "of another protocol that cannot be followed"),
        (ledger.unparsed, "connection", "not understood"),
        (ledger.no_storage, "call", "to read or write had no room in the kernel"),
        (ledger.missed_events, "event", "may have been missed"),
        (ledger.restarts, "restart", "of servers, found a moment late"),
    ];
    let unmeasured = scene.whole.all.lack_parts().then(|| NO_PARTS.to_owned());
    let present = kinds.iter().filter(|(times, ..)| *times > 0);
    let present = present.map(|(times, noun, what)| format!("{} {what}", counted(*times, noun)));
    present.chain(unmeasured).collect::<Vec<_>>().join("; ")
}

fn tab_line(state: &TopState) -> Line<'static> {
    let mut pieces = Vec::new();
    for (number, (view, name)) in (1..).zip(VIEWS) {
        let is_chosen = view == state.view;
        let style =
            Style::new().add_modifier(if is_chosen { Modifier::REVERSED } else { Modifier::DIM });
        pieces.push(Piece::styled(format!(" {number} {name} "), style));
        pieces.push(Piece::raw(" "));
    }
    if state.is_frozen {
        pieces.push(Piece::styled(" FROZEN ", Style::new().add_modifier(Modifier::REVERSED)));
    }
    Line::from(pieces)
}

fn footer(state: &TopState, columns: usize) -> Line<'static> {
    if state.is_typing || !state.filter.is_empty() {
        let cursor = if state.is_typing { "▏" } else { "  (Esc: all rows)" };
        return Line::raw(fit(&format!("filter: {}{cursor}", state.filter), columns));
    }
    let by = SORTS.iter().find(|(sort, _)| *sort == state.sort).map_or("", |(_, name)| *name);
    let keys = match state.statement {
        Some(_) => "Esc back  w lately/whole  f freeze  q quit  ? help".to_owned(),
        None => {
            format!("? help  q quit  Tab view  s by {by}  / filter  Enter look  w span  f freeze")
        }
    };
    Line::styled(fit(&keys, columns), Style::new().add_modifier(Modifier::DIM))
}

const HELP: &str = " 1 2 3 4, Tab    statements, connections, blockers, pre-emptors
 Up Down PgUp PgDn Home End, j k   choose a row
 Enter           look into a statement; Esc goes back
 s S             sort by total, calls, mean, p99, cpu, lock, errors
 /               only rows with a text in them; Esc: all rows
 w               the last interval, or all since the start
 f, space        freeze the screen; counting goes on
 r               count from now on (reset)
 q, Ctrl-C       quit

 A bar is a response: each letter has the share of its part.
 C on a CPU     P pre-empted    R woken, waiting for a CPU T throttled
 L lock         I read, W write, S sync of files           X stopped
 N the client   Z sleep         O other         ? unexplained";

fn help(frame: &mut Frame<'_>) {
    let area = frame.area();
    let (width, height) = (area.width.min(72), area.height.min(HELP.lines().count() as u16 + 2));
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let block = Block::bordered().title(" keys (any key closes) ");
    frame.render_widget(Paragraph::new(HELP).block(block), place);
}

/// Whether a connection is shown before another: those at work first, the longest of them first.
pub(super) fn rank(one: &LiveConnection) -> (bool, std::cmp::Reverse<u64>, u64) {
    let length = if one.is_at_work() { one.at.0.saturating_sub(one.request.start.0) } else { 0 };
    (!one.is_at_work(), std::cmp::Reverse(length), one.request.connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::bars::letter_of;
    use dbtime_model::Part;

    #[test]
    fn the_help_explains_every_letter() {
        let is_explained = |part: &Part| HELP.contains(&format!(" {} ", letter_of(*part)));
        assert!(Part::TRACED.iter().all(is_explained));
    }
}
