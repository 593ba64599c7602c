//! Who had the CPU while statements could have run.

use super::rows::{heading, left, right, table};
use super::scene::{Span, TopScene};
use super::state::TopState;
use crate::format::{NONE, count, fit, if_any, percent, us};
use crate::reports::NO_PARTS;
use dbtime_model::Nanos;
use dbtime_model::traced_totals::Preemption;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    scene: &TopScene,
    span: &Span,
    state: &mut TopState,
) {
    let columns = usize::from(area.width);
    if scene.whole.all.lack_parts() {
        state.scroll(0, 0);
        return frame.render_widget(Line::raw(fit(NO_PARTS, columns)), area);
    }
    let name = |row: &Preemption| row.name.clone().unwrap_or_else(|| "(not named)".to_owned());
    let rows: Vec<&Preemption> =
        span.preemptors.iter().filter(|row| state.matches_filter(&[&name(row)])).collect();
    let head = format!(
        "{} {} {} {} {}",
        left("Thread's name", 20),
        right("Times", 12),
        right("In all", 10),
        right("Each time", 10),
        right("Of all responses", 18),
    );
    table(frame, area, state, heading(left(&head, columns)), &rows, |row| {
        let each = row.length.0.checked_div(row.count).map(Nanos);
        let times = (row.count > 0).then_some(row.count);
        let share = 100.0 * row.length.0 as f64 / span.all.response.0.max(1) as f64;
        let share = if span.all.response.0 > 0 { percent(share) } else { NONE.to_owned() };
        let text = format!(
            "{} {} {} {} {}",
            left(&crate::format::clean(&name(row)), 20),
            right(&if_any(times, count), 12),
            right(&us(row.length.as_micros()), 10),
            right(&if_any(each, |each| us(each.as_micros())), 10),
            right(&share, 18),
        );
        Line::raw(left(&text, columns))
    });
}
