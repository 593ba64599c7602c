//! The table of operations with what was required of them, and the counts.

use super::RunView;
use crate::document::{ReportDocument, RowLimit};
use crate::facts::{
    check_measured, check_required, check_value, instant, overall as overall_of, verdict,
};
use crate::format::{NONE, count, percent, us};
use crate::story::{self, LimitResults};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::record::{Check, CheckMetric, CheckOutcome, OperationSummary, RunRecord};

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let record = &view.run.record;
    document.heading("Operations");
    document.fact("start", &instant(&record.started_at), TextRole::Plain);
    document.fact("end", &instant(&record.ended_at), TextRole::Plain);
    let (holds, identity) = story::counts_identity(record);
    let total = record.counts.completed.saturating_add(record.counts.failed);
    let retries = count(record.counts.retries);
    document.fact(
        "operations",
        &format!("{} in all, retries: {retries}", count(total)),
        TextRole::Plain,
    );
    document.fact("counts", &identity, if holds { TextRole::Plain } else { TextRole::Bad });
    document.fact("window", &story::outside(record), TextRole::Plain);
    for (index, think) in story::think_times(record).iter().enumerate() {
        document.fact(if index == 0 { "think time" } else { "" }, think, TextRole::Plain);
    }
    let (text, ink) = overall(record);
    document.fact("pass/fail", &text, ink);
    if !record.operations.is_empty() {
        document.gap();
        let caption = "Response time by operation";
        let limit = Some(RowLimit::of_page_alone());
        document.captioned_table(caption, &table(&record.operations), limit);
    }
    other_limits(record, document);
}

fn overall(record: &RunRecord) -> (String, TextRole) {
    match story::limits(record) {
        LimitResults::None => ("no limits set".to_owned(), TextRole::Dim),
        LimitResults::Passed => ("PASSED".to_owned(), TextRole::Good),
        LimitResults::Failed(missed) => {
            (format!("FAILED ({})", missed.text("", "")), TextRole::Bad)
        }
        LimitResults::Undecided(missed) => {
            (format!("UNDECIDED ({})", missed.text("", "")), TextRole::Bad)
        }
    }
}

fn table(operations: &[OperationSummary]) -> ReportTable {
    let mut table = ReportTable::new(vec![
        TextColumn::text("Type"),
        TextColumn::figure("Count"),
        TextColumn::figure("Failed"),
        TextColumn::figure("Share").optional(),
        TextColumn::figure("Weight").optional(),
        TextColumn::figure("Avg"),
        TextColumn::figure("Max"),
        TextColumn::figure("90th"),
        TextColumn::figure("Required\n90th"),
        TextColumn::text("Pass/Fail"),
    ]);
    for operation in operations {
        let response = &operation.latency_us.response;
        let ended = operation.count > 0 || operation.failed > 0;
        let time = |value| if ended { us(value) } else { NONE.to_owned() };
        let required =
            p90(operation).map_or(NONE.to_owned(), |check| check_value(check, check.required));
        let failed = if operation.failed > 0 { TextRole::Warn } else { TextRole::Dim };
        table.row(vec![
            operation.name.as_str().into(),
            count(operation.count).into(),
            TextCell::new(count(operation.failed), failed),
            percent(operation.share * 100.0).into(),
            TextCell::new(percent(operation.share_expected * 100.0), TextRole::Dim),
            time(response.mean).into(),
            time(response.max).into(),
            time(response.p90).into(),
            required.into(),
            result(operation),
        ]);
    }
    table
}

/// The requirement that has a column of its own.
fn verdict_cell(outcome: CheckOutcome) -> TextCell {
    TextCell::new(
        verdict(outcome),
        if outcome == CheckOutcome::Passed { TextRole::Good } else { TextRole::Bad },
    )
}

fn p90(operation: &OperationSummary) -> Option<&Check> {
    operation.limits.iter().find(|check| check.metric == CheckMetric::Percentile(90.0))
}

fn result(operation: &OperationSummary) -> TextCell {
    if operation.limits.is_empty() {
        return TextCell::new(NONE, TextRole::Dim);
    }
    verdict_cell(overall_of(&operation.limits))
}

/// Every limit but the one shown in the table.
fn other_limits(record: &RunRecord, document: &mut ReportDocument) {
    let mut table = ReportTable::new(vec![
        TextColumn::text("Limit on"),
        TextColumn::text("Metric"),
        TextColumn::text("Required"),
        TextColumn::figure("Measured"),
        TextColumn::text("Pass/Fail"),
    ]);
    let in_table: Vec<&Check> = record.operations.iter().filter_map(p90).collect();
    let is_other = |check: &Check| !in_table.iter().any(|shown| std::ptr::eq(*shown, check));
    for (name, check) in record.checks().filter(|(_, check)| is_other(check)) {
        table.row(vec![
            name.into(),
            check.metric.to_string().into(),
            check_required(check).into(),
            check_measured(check).into(),
            verdict_cell(check.outcome()),
        ]);
    }
    if !table.is_empty() {
        document.gap();
        document.captioned_table("Further limits", &table, Some(RowLimit::of_page_alone()));
    }
}
