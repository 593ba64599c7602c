//! The operations with what was required of them, the counts and the window.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::escape;
use crate::facts::{self, check_required, check_value, instant};
use crate::format::{count, percent, us};
use crate::story;
use dbtime_model::record::{CheckMetric, OperationSummary, Run, RunRecord};
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
    let figures = ["Count", "Failed", "Share", "Weight", "Avg", "Max", "90th", "Required 90th"];
    let mut heads = vec![HtmlHeading::Text("Type")];
    heads.extend(figures.map(HtmlHeading::Figure));
    heads.push(HtmlHeading::Text("Pass/Fail"));
    let mut table = HtmlTable::new("Response time by operation", heads);
    for operation in operations {
        let response = &operation.latency_us.response;
        let ended = operation.count > 0 || operation.failed > 0;
        let time = |value| if ended { HtmlCell::text(us(value)) } else { HtmlCell::none() };
        let required =
            operation.limits.iter().find(|check| check.metric == CheckMetric::Percentile(90.0));
        let required = required.map(|check| HtmlCell::text(check_value(check, check.required)));
        let verdict = match operation.limits.as_slice() {
            [] => HtmlCell::none(),
            limits => HtmlCell::verdict(facts::overall(limits)),
        };
        let failed = if operation.failed > 0 { "warned" } else { "dim" };
        table.row(vec![
            HtmlCell::text(&operation.name),
            HtmlCell::text(count(operation.count)),
            HtmlCell::text(count(operation.failed)).class(failed),
            HtmlCell::text(percent(operation.share * 100.0)),
            HtmlCell::text(percent(operation.share_expected * 100.0)).class("dim"),
            time(response.mean),
            time(response.max),
            time(response.p90),
            required.unwrap_or_else(HtmlCell::none),
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
        HtmlHeading::Text("Operation"),
        HtmlHeading::Text("Limit on"),
        HtmlHeading::Text("Required"),
        HtmlHeading::Figure("Measured"),
        HtmlHeading::Text("Pass/Fail"),
    ];
    let mut table = HtmlTable::new("Limits", heads);
    for (name, check) in record.checks() {
        table.row(vec![
            HtmlCell::text(name),
            HtmlCell::text(check.metric.to_string()),
            HtmlCell::text(check_required(check)),
            HtmlCell::text(facts::check_measured(check)),
            HtmlCell::verdict(check.outcome()),
        ]);
    }
    out.push_str(&table.finish());
}

fn errors(run: &Run, out: &mut String) {
    if run.record.errors.is_empty() {
        return;
    }
    let heads = vec![HtmlHeading::Text("Code"), HtmlHeading::Figure("Count")];
    let mut table = HtmlTable::new("Errors by code, retried ones included", heads);
    for (code, times) in &run.record.errors {
        table.row(vec![HtmlCell::text(code), HtmlCell::text(count(*times)).class("warned")]);
    }
    out.push_str(&table.finish());
}
