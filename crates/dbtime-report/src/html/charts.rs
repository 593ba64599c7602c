//! The charts, each with its title and what to look for.

use crate::charts::{CHARTS, escape};
use dbtime_model::record::Run;
use std::fmt::Write;

/// All that can be drawn of a run.
pub(crate) fn charts(run: &Run) -> String {
    let drawn: Vec<_> = CHARTS.iter().filter_map(|c| Some((c, (c.draw)(run)?))).collect();
    if drawn.is_empty() {
        return "<p class=\"dim\">Nothing was recorded to draw.</p>\n".to_owned();
    }
    let mut out = "<div class=\"charts\">\n".to_owned();
    for (chart, drawing) in drawn {
        let class = if chart.is_wide { "wide" } else { "plot" };
        let _ = writeln!(
            out,
            "<figure class=\"{class}\"><figcaption><h3>{}</h3><p class=\"dim\">{}</p></figcaption>\
             <div class=\"scroll\" tabindex=\"0\">{drawing}</div></figure>",
            escape(chart.title),
            escape(chart.hint)
        );
    }
    out + "</div>\n"
}
