//! The functions in which the server's threads were most, and on a page flame graphs of them.

use super::RunView;
use crate::charts::{escape, flame_graph};
use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::format::percent;
use crate::stacks::{StackView, lost, without_samples};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};

/// So many functions of each kind are shown.
const MAX_ROWS: usize = 5;

/// So many of them a page has.
const MAX_PAGE_ROWS: usize = 20;

/// What stands for those that are not shown.
const FURTHER: &str = "the page of this run has further functions, and its record whole stacks";

/// What the drawings are.
const HINT: &str = "From the operation at the top by its statements to the innermost function, each \
                    as wide as its share; the narrowest are left out. Rest the pointer on a box \
                    for its figures. Whole stacks are in the record, in the form that tools for \
                    flame graphs read.";

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let views = StackView::of(view.run);
    if views.is_empty() {
        return;
    }
    document.heading("Where the server's threads were");
    document.markup(format!("<p class=\"dim note\">{HINT}</p>\n"));
    for stacks in &views {
        if let Some(svg) = flame_graph(stacks) {
            document.markup(drawn(stacks.title, &svg));
        }
        let rest = RestOfRows::Text(FURTHER.to_owned());
        let limit = RowLimit::new(MAX_ROWS, rest);
        let caption = "The innermost functions that have a name";
        document.captioned_table(caption, &table(stacks), Some(limit));
        document.paragraph(&stacks.note(), TextRole::Dim);
    }
    let notes = without_samples(view.run).map(str::to_owned).into_iter().chain(lost(view.run));
    notes.for_each(|note| document.paragraph(&note, TextRole::Dim));
}

fn drawn(title: &str, svg: &str) -> String {
    let title = escape(title);
    format!("<div class=\"stacks\"><h3>{title}</h3><div class=\"scroll\">{svg}</div></div>\n")
}

fn table(stacks: &StackView<'_>) -> ReportTable {
    let mut columns = vec![
        TextColumn::text(stacks.title),
        TextColumn::text("Called by"),
        TextColumn::figure(if stacks.is_waiting { "Waited" } else { "Samples" }),
        TextColumn::figure("Share"),
    ];
    if stacks.is_waiting {
        columns.insert(2, TextColumn::text("Part"));
    }
    let mut table = ReportTable::new(columns);
    for one in stacks.top(MAX_PAGE_ROWS) {
        let weight = stacks.weight(one.weight).replace(" samples", "").replace(" sample", "");
        let texts = [one.function, one.callers, weight, percent(one.share_pct)];
        let mut cells: Vec<TextCell> = texts.map(TextCell::from).into();
        if stacks.is_waiting {
            cells.insert(2, one.part.into());
        }
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use crate::html::report;
    use crate::stacks::tests::run;
    use crate::terminal::{TerminalOptions, run_report};

    #[test]
    fn each_kind_has_its_functions() {
        let on = "pay;commit;main;work 3\npay;commit;main;spin\u{1b}[31m 1";
        let run = run(Some(on), "pay;commit;sync;main;fsync;schedule_[k] 90000");
        let report = run_report(&run, &TerminalOptions::default());
        let from = report.find("Where the server's threads were").expect("the section");
        insta::assert_snapshot!(report[from..].split("\n\n").next().unwrap_or_default());
        assert!(
            !run_report(&Default::default(), &TerminalOptions::default()).contains("threads were")
        );
    }

    #[test]
    fn a_page_has_a_graph_of_each_kind() {
        let off = "pay;commit;sync;main;<fsync>;schedule_[k] 90";
        let page = report(&run(Some("pay;commit;main;work 3"), off));
        assert_eq!(page.matches("class=\"flame flame-operation\"").count(), 2);
        assert!(page.contains("&lt;fsync&gt;: 90.0 µs, 100 %") && !page.contains("<fsync>"));
        let page = report(&run(None, off));
        assert_eq!(page.matches("class=\"flame flame-operation\"").count(), 1);
        assert!(page.contains("no event to sample CPUs"));
        assert!(!report(&Default::default()).contains("class=\"stacks\""));
    }
}
