//! The charts, each with its title and what to look for.

use crate::charts::{CHARTS, escape};
use dbtime_model::record::Run;
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    let drawn: Vec<_> = CHARTS.iter().filter_map(|c| Some((c, (c.draw)(run)?))).collect();
    if drawn.is_empty() {
        out.push_str(
            "<section><h2>Charts</h2><p class=\"dim\">Nothing was recorded to \
            draw.</p></section>\n",
        );
        return;
    }
    out.push_str("<section class=\"charts\">\n<h2 class=\"wide\">Charts</h2>\n");
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
    out.push_str("</section>\n");
}
