//! Rows of a table on the screen.

use super::state::TopState;
pub(super) use crate::format::one_line;
use crate::format::{fit, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// A text at the right of so many columns.
pub(super) fn right(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(&text))))
}

/// A text at the left of so many columns.
pub(super) fn left(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let padding = " ".repeat(columns.saturating_sub(width(&text)));
    text + &padding
}

/// What stands above a table.
pub(super) fn heading(text: String) -> Line<'static> {
    Line::styled(text, Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED))
}

/// Draws a table as far as it fits, with the selected row in sight. `make` makes a row.
pub(super) fn table<T>(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &mut TopState,
    head: Line<'static>,
    rows: &[T],
    make: impl Fn(&T) -> Line<'static>,
) {
    let page = usize::from(area.height).saturating_sub(1);
    let first = state.scroll(rows.len(), page);
    let mut lines = vec![head];
    for (index, row) in rows.iter().enumerate().skip(first).take(page) {
        let line = make(row);
        lines.push(if index == state.selected { marked(line) } else { line });
    }
    if rows.is_empty() {
        let filter = if state.filter.is_empty() { "" } else { " matching the filter" };
        lines.push(Line::raw(format!("nothing yet{filter}")));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The row under the cursor: its bars keep their colours.
fn marked(line: Line<'static>) -> Line<'static> {
    let mark = |span: Span<'static>| match span.style.bg {
        None => span.patch_style(Style::new().add_modifier(Modifier::REVERSED)),
        Some(_) => span,
    };
    Line::from(line.spans.into_iter().map(mark).collect::<Vec<_>>())
}
