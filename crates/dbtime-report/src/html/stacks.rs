//! Flame graphs of the server's threads.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::{escape, flame_graph};
use crate::format::percent;
use crate::stacks::{StackView, lost, without_samples};
use dbtime_model::record::Run;
use std::fmt::Write;

/// So many functions of each kind are in its table.
const MAX_ROWS: usize = 20;

/// What the drawings are.
const HINT: &str = "From the operation at the top by its statements to the innermost function, each \
                    as wide as its share; the narrowest are left out. Rest the pointer on a box \
                    for its figures. Whole stacks are in the record, in the form that tools for \
                    flame graphs read.";

pub(super) fn section(run: &Run, out: &mut String) {
    let views = StackView::of(run);
    if views.is_empty() {
        return;
    }
    out.push_str("<section class=\"stacks\"><h2>Where the server's threads were</h2>\n");
    let _ = writeln!(out, "<p class=\"dim note\">{HINT}</p>");
    let notes = without_samples(run).map(str::to_owned).into_iter().chain(lost(run));
    for note in notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&note));
    }
    for view in &views {
        let Some(svg) = flame_graph(view) else { continue };
        let (title, note) = (view.title, escape(&view.note()));
        let _ = writeln!(
            out,
            "<h3>{title}</h3>\n<p class=\"dim note\">{note}</p>\n\
             <div class=\"scroll\">{svg}</div>\n<details><summary>The innermost functions</summary>\
             {}</details>",
            table(view)
        );
    }
    out.push_str("</section>\n");
}

fn table(view: &StackView<'_>) -> String {
    let mut heads = vec![
        HtmlHeading::Text("Function"),
        HtmlHeading::Text("Called by"),
        HtmlHeading::Figure(if view.is_waiting { "Waited" } else { "On a CPU" }),
        HtmlHeading::Figure("Share"),
    ];
    if view.is_waiting {
        heads.insert(2, HtmlHeading::Text("Part"));
    }
    let mut table = HtmlTable::new("The innermost functions that have a name", heads);
    for one in view.top(MAX_ROWS) {
        let mut cells = vec![
            HtmlCell::text(one.function),
            HtmlCell::text(one.callers),
            HtmlCell::text(view.weight(one.weight)),
            HtmlCell::text(percent(one.share_pct)),
        ];
        if view.is_waiting {
            cells.insert(2, HtmlCell::text(one.part));
        }
        table.row(cells);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use crate::html::report;
    use crate::stacks::tests::run;

    #[test]
    fn a_page_has_a_graph_of_each_kind() {
        let off = "pay;commit;sync;main;<fsync>;schedule_[k] 90";
        let page = report(&run(Some("pay;commit;main;work 3"), off));
        assert_eq!(page.matches("class=\"flame flame-operation\"").count(), 2);
        assert!(page.contains("&lt;fsync&gt;: 90.0 µs, 100 %") && !page.contains("<fsync>"));
        let page = report(&run(None, off));
        assert_eq!(page.matches("class=\"flame flame-operation\"").count(), 1);
        assert!(page.contains("nothing to sample CPUs by"));
        assert!(!report(&Default::default()).contains("class=\"stacks\""));
    }
}
