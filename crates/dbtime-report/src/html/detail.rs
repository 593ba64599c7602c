//! Latencies in figures, the statements, and who held the locks that were waited for.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::{SegmentLabels, StackedBar, bar, escape};
use crate::facts;
use crate::format::{count, rate, us};
use crate::means::PartMeans;
use crate::{steadiness, story};
use dbtime_model::record::{LatencyUs, Run, StatementSummary};
use std::fmt::Write;

pub(super) fn latency(run: &Run, out: &mut String) {
    let record = &run.record;
    let figures = ["Mean", "p50", "p90", "p95", "p99", "p99.9", "Max"];
    let mut heads = vec![HtmlHeading::Text("Time"), HtmlHeading::Text("From – to")];
    heads.extend(figures.map(HtmlHeading::Figure));
    let caption = std::iter::once(story::basis(record).to_owned()).chain(story::of_ended(record));
    let caption = caption.chain(steadiness::sentences(record)).collect::<Vec<_>>().join("; ");
    let mut table = HtmlTable::new(&caption, heads);
    let set = &record.latency_us;
    let rows = [
        ("response", "due – done: what a client waits", Some(&set.response)),
        ("service", "sent – done", Some(&set.service)),
        ("queue", "due – ready", Some(&set.queue)),
        ("lag", "ready – sent", Some(&set.lag)),
        ("connect", "making a connection", set.connect.as_ref()),
    ];
    for (name, meaning, latency) in rows {
        if let Some(latency) = latency {
            let mut cells = vec![HtmlCell::text(name), HtmlCell::text(meaning).class("dim")];
            cells.extend(figures_of(latency).map(|us| HtmlCell::text(story::latency(record, us))));
            table.row(cells);
        }
    }
    let _ =
        writeln!(out, "<section class=\"meanings\"><h2>Latency</h2>\n{}</section>", table.finish());
}

fn figures_of(l: &LatencyUs) -> [f64; 7] {
    [l.mean, l.p50, l.p90, l.p95, l.p99, l.p999, l.max]
}

pub(super) fn section(run: &Run, out: &mut String) {
    statements(run, out);
    lock_holders(run, out);
}

fn statements(run: &Run, out: &mut String) {
    let statements = &run.record.statements;
    if statements.is_empty() {
        return;
    }
    let heads = vec![
        HtmlHeading::Text("Statement"),
        HtmlHeading::Text("Operation"),
        HtmlHeading::Figure("Count"),
        HtmlHeading::Figure("Rows each"),
        HtmlHeading::Figure("Mean"),
        HtmlHeading::Figure("p99"),
        HtmlHeading::Text("Where its time goes"),
        HtmlHeading::Text("Text"),
    ];
    let mut table = HtmlTable::new("Time per execution; bars are shares of it", heads);
    for statement in statements {
        let executed = statement.count > 0;
        let time = |value| if executed { HtmlCell::text(us(value)) } else { HtmlCell::none() };
        let rows = statement.rows as f64 / statement.count.max(1) as f64;
        table.row(vec![
            HtmlCell::text(&statement.name),
            HtmlCell::text(&statement.operation),
            HtmlCell::text(count(statement.count)),
            HtmlCell::text(rate(rows)).class("dim"),
            time(statement.latency_us.mean),
            time(statement.latency_us.p99),
            shares(statement),
            HtmlCell::html(format!("<code>{}</code>", escape(&statement.fingerprint))).class("sql"),
        ]);
    }
    let _ = writeln!(out, "<section><h2>Statements</h2>\n{}</section>", table.finish());
}

fn shares(statement: &StatementSummary) -> HtmlCell {
    let Some(budget) = &statement.budget_us else {
        return HtmlCell::text("not measured").class("dim");
    };
    small_bar(&PartMeans::from(budget), &format!("Budget of {}", statement.name))
}

/// A bar of shares without labels, for a cell.
pub(super) fn small_bar(means: &PartMeans, title: &str) -> HtmlCell {
    let drawn = bar(&StackedBar {
        means,
        full_us: means.positive(),
        height: 14,
        title: title.to_owned(),
        labels: SegmentLabels::Hidden,
    });
    HtmlCell::html(drawn).class("bar-cell")
}

fn lock_holders(run: &Run, out: &mut String) {
    let mut holders: Vec<_> = run.record.lock_holders.iter().collect();
    if holders.is_empty() {
        return;
    }
    holders.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    let heads = vec![
        HtmlHeading::Text("Waiting"),
        HtmlHeading::Text("for the lock of"),
        HtmlHeading::Figure("Times"),
        HtmlHeading::Figure("Waited in all"),
        HtmlHeading::Figure("Each time"),
    ];
    let mut table = HtmlTable::new("Waiting for locks, by who held them", heads);
    for holder in holders {
        let each = holder.wait_s * 1e6 / holder.count.max(1) as f64;
        table.row(vec![
            HtmlCell::text(&holder.waiter),
            HtmlCell::text(facts::lock_holder(holder)),
            HtmlCell::text(count(holder.count)),
            HtmlCell::text(us(holder.wait_s * 1e6)),
            HtmlCell::text(us(each)),
        ]);
    }
    let _ = writeln!(out, "<section><h2>Who was waited for</h2>\n{}</section>", table.finish());
}
