//! The answer of a recorded trace alone, as text that fits on a screen: what was watched, how
//! complete it is, where the time went, and whom statements waited for.

use super::parts::largest_parts;
use super::tallies::{preemptors, tallies};
use super::{
    BY_STATEMENT, COMMAND, TracedReport, further_statements, kinds, latencies, longest_statements,
    only_counted, share, throughput, title, weighty_parts,
};
use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::format::{count, counted, if_any, us};
use crate::replaced::what_rows_lack;
use crate::terminal::{DETAILS, ReportTable, TextColumn, TextRole, further_locks, ledger_troubles};
use dbtime_model::Nanos;
use dbtime_model::traced_file::{TraceBegin, TraceEnd};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::TraceTotals;

/// As many rows there are of each kind where there is room for them.
const MOST_STATEMENTS: usize = 8;
const MOST_PARTS: usize = 6;
const MOST_LOCKS: usize = 5;
const MOST_PREEMPTORS: usize = 5;

/// Parts beside a statement.
const STATEMENT_PARTS: usize = 2;

/// The answer of a recording that begins and ends so.
///
/// Shape: text of at most [`crate::terminal::SCREEN_LINES`] in a hundred columns.
pub fn short_trace_document(
    report: &TracedReport<'_>,
    begin: &TraceBegin,
    end: &TraceEnd,
) -> ReportDocument {
    let all = report.totals.all();
    ReportDocument::on_screen(|less| {
        let mut document = ReportDocument::new(COMMAND, &title(report, &all)).short();
        watched(begin, end, &mut document);
        document.fact("statements", &throughput(report, &all), TextRole::Bold);
        if let Some(text) = only_counted(report) {
            document.fact("", &text, TextRole::Warn);
        }
        completeness(&end.ledger, &mut document);
        latencies(&kinds(report.totals)[..1], &mut document);
        // What may be missing has its lines even where they leave room for nothing else.
        let most = MOST_STATEMENTS.saturating_sub(less);
        if most > 0 {
            largest_parts(&all, MOST_PARTS.saturating_sub(less).max(1), &mut document);
            statements(report, &all, most, &mut document);
        }
        locks(report, MOST_LOCKS.saturating_sub(less), &mut document);
        let most = MOST_PREEMPTORS.saturating_sub(less);
        if most > 0 {
            tallies(&preemptors(report.totals), most, &mut document);
        }
        let rest = "throughput over time, all statements, distributions, files, ledger, cost";
        document.remark(&format!("{DETAILS}: {rest}"), TextRole::Dim);
        document
    })
}

/// What was watched, and when.
pub(super) fn watched(begin: &TraceBegin, end: &TraceEnd, document: &mut ReportDocument) {
    if !begin.servers.is_empty() {
        document.fact("watched", &begin.servers.join("; "), TextRole::Plain);
    }
    let text = format!("from {} to {}", begin.clock, end.clock);
    document.fact("recorded", &text, TextRole::Plain);
}

/// That nothing is missing, or all that may be.
pub(super) fn completeness(ledger: &TraceLedger, document: &mut ReportDocument) {
    if ledger.is_whole() {
        let text = "nothing is missing: all requests and connections were followed";
        document.fact("complete", text, TextRole::Good);
    }
    let vanished = ledger.vanished();
    let vanished = (vanished != 0).then(|| {
        format!("{} whose connection was gone", counted(vanished.unsigned_abs(), "request"))
    });
    for trouble in ledger_troubles(ledger).into_iter().chain(vanished) {
        document.paragraph(&format!("! {trouble}"), TextRole::Warn);
    }
}

/// The statements that took most, a line each.
fn statements(
    report: &TracedReport<'_>,
    all: &TraceTotals,
    most: usize,
    document: &mut ReportDocument,
) {
    let rows = longest_statements(report);
    if rows.is_empty() {
        return;
    }
    document.heading(BY_STATEMENT);
    let figures = ["Share", "Calls", "Mean", "p99"].map(TextColumn::figure);
    let texts = ["Largest parts", "Statement"].map(TextColumn::text);
    let mut table = ReportTable::new(figures.into_iter().chain(texts).collect());
    let time = |time: Option<Nanos>| if_any(time, |time| us(time.as_micros()));
    for (name, totals) in &rows {
        let mut parts = weighty_parts(totals);
        parts.truncate(STATEMENT_PARTS);
        table.row(vec![
            share(totals, all).into(),
            count(totals.count).into(),
            time(totals.mean()).into(),
            time(totals.quantile(0.99)).into(),
            parts.join(", ").into(),
            name.as_str().into(),
        ]);
    }
    document.limited_table(&table, Some(further_statements(&rows, most, all)));
    if let Some(replaced) = &report.totals.replaced {
        document.paragraph(&what_rows_lack(replaced), TextRole::Dim);
    }
}

/// Whose locks were waited for longest, and by which statements.
fn locks(report: &TracedReport<'_>, most: usize, document: &mut ReportDocument) {
    if most == 0 || report.locks.is_empty() {
        return;
    }
    document.heading("Who held locks, those first that were waited for longest");
    let figures = ["Time", "Times", "At most"].map(TextColumn::figure);
    let texts = ["Lock and its holder", "Waiting statement"].map(TextColumn::text);
    let mut table = ReportTable::new(figures.into_iter().chain(texts).collect());
    for one in &report.locks {
        table.row(vec![
            us(one.length.as_micros()).into(),
            count(one.count).into(),
            us(one.longest.as_micros()).into(),
            one.released().into(),
            one.statement.as_str().into(),
        ]);
    }
    let rest = RestOfRows::Text(further_locks(report.locks.iter().skip(most)));
    document.limited_table(&table, Some(RowLimit::new(most, rest)));
}
