//! What traced statements came to: averages, parts, distributions, and who had the CPU.

mod distribution;
mod parts;
mod short;
mod tallies;
#[cfg(test)]
mod tests;

pub use distribution::trace_histogram;
pub use short::short_trace_document;

use crate::document::{DocumentDrawing, DrawnLines, ReportDocument, RestOfRows, RowLimit};
use crate::files::files_of;
use crate::format::{NONE, count, counted, percent, rate, us};
use crate::replaced::what_rows_lack;
use crate::terminal::{
    ReportTable, StatementLocks, TextCell, TextColumn, TextRole, by_fingerprint, cost_line,
    ledger_lines, lock_lines, locks_by_fingerprint,
};
use dbtime_model::traced::QueryCache;
use dbtime_model::traced_file::{TraceBegin, TraceEnd};
use dbtime_model::traced_totals::{TraceTotals, TracedTotals};
use dbtime_model::{Nanos, Part};
use distribution::distribution;
use parts::parts;
use short::{completeness, watched};
use tallies::{files, preemptors, tallies};

/// What a page has above its title.
const COMMAND: &str = "dbtime trace";

/// Rows in the tables of files, and of those who had the CPU.
const MAX_ROWS: usize = 15;

/// Statements in the table of them.
const MAX_STATEMENTS: usize = 20;

/// Above the statements.
const BY_STATEMENT: &str = "By statement, the longest in all first";

/// Where no part of a response was measured.
pub(crate) const NO_PARTS: &str =
    "not measured: the parts of responses, which this kernel does not report";

/// What is told of a trace.
#[derive(Debug)]
pub struct TracedReport<'a> {
    /// All that was added up.
    pub totals: &'a TracedTotals,
    /// By what they are called, in any order.
    pub statements: Vec<(String, TraceTotals)>,
    /// Whose locks they waited for, those first that were waited for longest.
    pub locks: Vec<StatementLocks>,
    /// How long they were added up.
    pub length: Nanos,
    /// How long they were only counted after that.
    pub only_counted: Nanos,
    /// The step of the distributions; zero: powers of two.
    pub step: Nanos,
}

impl<'a> TracedReport<'a> {
    /// Of what stands at the end of a trace, whose distributions have this step.
    pub fn of(end: &'a TraceEnd, step: Nanos) -> Self {
        Self {
            totals: &end.totals,
            statements: by_fingerprint(&end.totals),
            locks: locks_by_fingerprint(&end.totals),
            length: end.added_up.unwrap_or(end.length),
            only_counted: end.added_up.map_or(Nanos::ZERO, |added_up| end.length - added_up),
            step,
        }
    }
}

/// The report of a trace.
pub fn trace_document(report: &TracedReport<'_>) -> ReportDocument {
    let mut document = ReportDocument::untitled(COMMAND, &title(report, &report.totals.all()));
    sums(report, &mut document);
    document
}

fn sums(report: &TracedReport<'_>, document: &mut ReportDocument) {
    let all = report.totals.all();
    if all.lack_parts() {
        document.paragraph(NO_PARTS, TextRole::Warn);
    }
    let kinds = kinds(report.totals);
    statements(report, &kinds, document);
    parts(&all, document);
    by_statement(report, &all, document);
    for (name, totals) in &kinds {
        let title = format!("Response distribution, {name} (µs)");
        distribution(&title, totals, report.step, document);
    }
    tallies(&files(&all), MAX_ROWS, document);
    tallies(&preemptors(report.totals), MAX_ROWS, document);
}

/// How many requests there were in which time.
fn title(report: &TracedReport<'_>, all: &TraceTotals) -> String {
    format!("{} in {:.1} s", counted(all.count, "request"), report.length.as_secs())
}

/// The same with what was watched, when, and whether anything is missing, and with the ledger: all
/// of these have their own places beside the text.
pub fn whole_trace_document(
    report: &TracedReport<'_>,
    begin: &TraceBegin,
    end: &TraceEnd,
) -> ReportDocument {
    let mut document = ReportDocument::untitled(COMMAND, &title(report, &report.totals.all()));
    watched(begin, end, &mut document);
    completeness(&end.ledger, &mut document);
    sums(report, &mut document);
    let cost = end.cost.map(|cost| cost_line(&cost, end.ledger.ended, end.length));
    let text = ledger_lines(&end.ledger) + &cost.unwrap_or_default();
    let lines = DrawnLines::Fixed(text.lines().map(str::to_owned).collect());
    document.drawing(DocumentDrawing { title: "Ledger".to_owned(), lines, charts: Vec::new() });
    document
}

/// How many there were, and how long they took.
fn statements(
    report: &TracedReport<'_>,
    kinds: &[(&'static str, TraceTotals)],
    document: &mut ReportDocument,
) {
    document.heading("Statements");
    document.paragraph(&throughput(report, &report.totals.all()), TextRole::Plain);
    if let Some(text) = only_counted(report) {
        document.paragraph(&text, TextRole::Plain);
    }
    latencies(kinds, document);
    if let Some(text) = held_back(report.totals) {
        document.paragraph(&text, TextRole::Plain);
    }
}

/// How many statements there were, and how many of them a second.
fn throughput(report: &TracedReport<'_>, all: &TraceTotals) -> String {
    let length = report.length.as_secs();
    format!(
        "{} in {length:.1} s: {} queries/sec; {} answered with an error",
        count(all.count),
        rate(all.count as f64 / length.max(1e-9)),
        count(all.errors),
    )
}

/// For how long they are in no sum; `None`: they always are.
fn only_counted(report: &TracedReport<'_>) -> Option<String> {
    let length = report.only_counted.as_secs();
    (report.only_counted > Nanos::ZERO)
        .then(|| format!("for {length:.1} s after that requests were only counted"))
}

/// All statements, and kinds of them; of the query cache only where it was asked, and by who had
/// the CPU only where that was measured.
fn kinds(totals: &TracedTotals) -> Vec<(&'static str, TraceTotals)> {
    let mut kinds = vec![("all statements", totals.all())];
    let cached = |state| totals.of(|row| row.cache == state);
    let (hits, misses) = (cached(QueryCache::Hit), cached(QueryCache::Miss));
    if hits.count > 0 || misses.count > 0 {
        kinds.extend([("query-cache hits", hits), ("query-cache misses", misses)]);
    }
    if !kinds[0].1.lack_parts() {
        kinds.push(("pre-empted", totals.of(|row| row.was_preempted)));
        kinds.push(("not pre-empted", totals.of(|row| !row.was_preempted)));
    }
    kinds
}

/// What that table does not tell apart: of those pre-empted some were held back by the limit of
/// their control group, and waited for a CPU when it let them go on.
fn held_back(totals: &TracedTotals) -> Option<String> {
    let preempted = totals.of(|row| row.was_preempted);
    let throttled = preempted.parts.duration(Part::Throttled);
    let share = 100.0 * throttled.0 as f64 / preempted.response.0.max(1) as f64;
    (throttled > Nanos::ZERO).then(|| {
        format!(
            "pre-empted includes those that were throttled first ({} of its time): a wait for a \
             CPU after that counts as pre-empted",
            percent(share)
        )
    })
}

const FIGURES: [&str; 7] = ["Mean", "p50", "p90", "p99", "p99.9", "Max", "CPU mean"];

/// What stands below those.
fn figures(row: &TraceTotals) -> impl Iterator<Item = TextCell> {
    let time = |time: Option<Nanos>| time.map_or(NONE.to_owned(), |t| us(t.as_micros())).into();
    let cpu = row.parts.measured_duration(Part::Cpu);
    let cpu = cpu.and_then(|cpu| cpu.0.checked_div(row.count)).map(Nanos);
    let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|share| row.quantile(share));
    [row.mean(), p50, p90, p99, p999, row.max(), cpu].map(time).into_iter()
}

fn latencies(kinds: &[(&'static str, TraceTotals)], document: &mut ReportDocument) {
    let mut columns = vec![TextColumn::text(""), TextColumn::figure("Count")];
    columns.extend(FIGURES.map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    for (name, row) in kinds {
        let mut cells = vec![(*name).into(), count(row.count).into()];
        cells.extend(figures(row));
        table.row(cells);
    }
    document.table(&table);
}

/// Statements by the time that they took together.
fn longest_statements<'r>(report: &'r TracedReport<'_>) -> Vec<&'r (String, TraceTotals)> {
    let mut rows: Vec<&(String, TraceTotals)> =
        report.statements.iter().filter(|(_, totals)| totals.count > 0).collect();
    rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.response));
    rows
}

/// Those statements, each with its text and where its time went.
fn by_statement(report: &TracedReport<'_>, all: &TraceTotals, document: &mut ReportDocument) {
    let rows = longest_statements(report);
    if rows.is_empty() {
        return;
    }
    document.heading(BY_STATEMENT);
    let mut columns = vec![TextColumn::figure("Share"), TextColumn::figure("Calls")];
    columns.push(TextColumn::figure("Total"));
    columns.extend(FIGURES.map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    for (name, totals) in &rows {
        table.title(name);
        let total = us(totals.response.as_micros());
        let mut cells = vec![share(totals, all).into(), count(totals.count).into(), total.into()];
        cells.extend(figures(totals));
        table.row(cells);
        table.detail(&format!("{}{}", waits(totals), executes(totals)));
        let locks = lock_lines(name, &report.locks);
        locks.iter().chain(&files_of(totals)).for_each(|line| table.detail(line));
    }
    document.limited_table(&table, Some(further_statements(&rows, MAX_STATEMENTS, all)));
    if let Some(replaced) = &report.totals.replaced {
        document.paragraph(&what_rows_lack(replaced), TextRole::Dim);
    }
}

fn share(totals: &TraceTotals, all: &TraceTotals) -> String {
    percent(100.0 * totals.response.0 as f64 / all.response.0.max(1) as f64)
}

/// What those come to that text leaves out behind the first `most`.
fn further_statements(rows: &[&(String, TraceTotals)], most: usize, all: &TraceTotals) -> RowLimit {
    let rest = &rows[rows.len().min(most)..];
    let mut sum = TraceTotals::default();
    rest.iter().for_each(|(_, totals)| sum.add(totals));
    let text = format!(
        "{}: {}, {} of the time",
        counted(rest.len() as u64, "more statement"),
        counted(sum.count, "call"),
        share(&sum, all)
    );
    RowLimit::new(most, RestOfRows::Text(text))
}

/// How often something was executed, where that is more often than it was asked.
fn executes(totals: &TraceTotals) -> String {
    match totals.executes > totals.count {
        true => format!("; {} executes", count(totals.executes)),
        false => String::new(),
    }
}

/// Where the time of statements went, largest first.
fn waits(totals: &TraceTotals) -> String {
    weighty_parts(totals).join(", ")
}

/// The parts of any weight with their shares, largest first.
fn weighty_parts(totals: &TraceTotals) -> Vec<String> {
    let mut parts = Part::TRACED.map(|part| (part, totals.parts.get(part)));
    parts.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let whole = totals.response.0.max(1) as f64;
    let shares = parts.iter().map(|(part, ns)| (part.name(), 100.0 * *ns as f64 / whole));
    let weighty = shares.filter(|(_, share)| *share >= 0.5);
    weighty.map(|(name, share)| format!("{name} {}", percent(share))).collect()
}
