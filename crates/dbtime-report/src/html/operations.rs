//! The operations with what was required of them, the counts and the window.

use super::table::{Cell, Head, Table};
use crate::charts::escape;
use crate::facts::{self, check_value, instant};
use crate::format::{clean, count, percent, us};
use crate::story;
use dbtime_model::record::{Check, OperationSummary, Run, RunRecord};
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    let record = &run.record;
    out.push_str("<section><h2>Operations</h2>\n");
    if !record.operations.is_empty() {
        out.push_str(&table(&record.operations));
    }
    limits(record, out);
    let total = record.counts.completed.saturating_add(record.counts.failed);
    let (holds, identity) = story::counts_identity(record);
    let facts = [
        ("Pass/Fail", story::limits_text(record), ""),
        ("Start", instant(&record.started_at), ""),
        ("End", instant(&record.ended_at), ""),
        ("Operations", format!("{} in all", count(total)), ""),
        ("Counts", identity, if holds { "" } else { "bad" }),
        ("Retries", count(record.counts.retries), ""),
        ("Window", story::outside(record), ""),
    ];
    out.push_str("<dl class=\"facts\">");
    for (name, text, class) in facts {
        let _ = write!(out, "<dt>{name}</dt><dd class=\"{class}\">{}</dd>", escape(&text));
    }
    for think in story::think_times(record) {
        let _ = write!(out, "<dt>Think time</dt><dd>{}</dd>", escape(&think));
    }
    out.push_str("</dl>\n");
    errors(run, out);
    out.push_str("</section>\n");
}

fn table(operations: &[OperationSummary]) -> String {
    let figures = ["Count", "Failed", "Share", "Wanted", "Avg", "Max", "90th", "Required 90th"];
    let mut heads = vec![Head::Text("Type")];
    heads.extend(figures.map(Head::Figure));
    heads.push(Head::Text("Pass/Fail"));
    let mut table = Table::new("Response time by operation", heads);
    for operation in operations {
        let response = &operation.latency_us.response;
        let ended = operation.count > 0 || operation.failed > 0;
        let time = |value| if ended { Cell::text(us(value)) } else { Cell::none() };
        let required = operation.limits.iter().find(|check| check.metric == "p90");
        let required = required.map(|check| Cell::text(check_value(check, check.required)));
        let verdict = match operation.limits.as_slice() {
            [] => Cell::none(),
            limits => Cell::verdict(facts::overall(limits)),
        };
        let failed = if operation.failed > 0 { "warned" } else { "dim" };
        table.row(vec![
            Cell::text(&operation.name),
            Cell::text(count(operation.count)),
            Cell::text(count(operation.failed)).class(failed),
            Cell::text(percent(operation.share * 100.0)),
            Cell::text(percent(operation.share_wanted * 100.0)).class("dim"),
            time(response.mean),
            time(response.max),
            time(response.p90),
            required.unwrap_or_else(Cell::none),
            verdict,
        ]);
    }
    table.finish()
}

/// Every limit, the required value beside the measured one.
fn limits(record: &RunRecord, out: &mut String) {
    if record.checks().next().is_none() {
        return;
    }
    let heads = vec![
        Head::Text("Operation"),
        Head::Text("Limit on"),
        Head::Text("Required"),
        Head::Figure("Measured"),
        Head::Text("Pass/Fail"),
    ];
    let mut table = Table::new("Limits", heads);
    for (name, check) in record.checks() {
        table.row(vec![
            Cell::text(name),
            Cell::text(&check.metric),
            Cell::text(required(check)),
            Cell::text(facts::check_measured(check)),
            Cell::verdict(check.outcome()),
        ]);
    }
    out.push_str(&table.finish());
}

fn required(check: &Check) -> String {
    if check.text.is_empty() { check_value(check, check.required) } else { clean(&check.text) }
}

fn errors(run: &Run, out: &mut String) {
    if run.record.errors.is_empty() {
        return;
    }
    let heads = vec![Head::Text("Code"), Head::Figure("Count")];
    let mut table = Table::new("Errors by code, retried ones included", heads);
    for (code, times) in &run.record.errors {
        table.row(vec![Cell::text(code), Cell::text(count(*times)).class("warned")]);
    }
    out.push_str(&table.finish());
}
