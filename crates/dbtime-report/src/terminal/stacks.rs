//! The functions in which the server's threads were most.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextColumn};
use crate::format::percent;
use crate::stacks::{StackView, lost, without_samples};
use dbtime_model::record::Run;

/// So many functions of each kind are shown.
const MAX_ROWS: usize = 5;

pub(super) fn section(run: &Run, page: &mut ReportPage) {
    let views = StackView::of(run);
    if views.is_empty() {
        return;
    }
    page.heading("Where the server's threads were");
    for view in &views {
        let mut columns = vec![
            TextColumn::text(view.title),
            TextColumn::text("Called by"),
            TextColumn::figure(if view.is_waiting { "Waited" } else { "Samples" }),
            TextColumn::figure("Share"),
        ];
        if view.is_waiting {
            columns.insert(2, TextColumn::text("Part"));
        }
        let mut table = ReportTable::new(columns);
        for one in view.top(MAX_ROWS) {
            let mut cells = vec![
                one.function.into(),
                one.callers.into(),
                view.weight(one.weight).replace(" samples", "").replace(" sample", "").into(),
                percent(one.share_pct).into(),
            ];
            if view.is_waiting {
                cells.insert(2, one.part.into());
            }
            table.row(cells);
        }
        page.table(&table);
        page.text(&view.note(), TextRole::Dim);
    }
    let notes = without_samples(run).map(str::to_owned).into_iter().chain(lost(run));
    notes.for_each(|note| page.text(&note, TextRole::Dim));
}

#[cfg(test)]
mod tests {
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
}
