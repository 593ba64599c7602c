//! What traced statements came to: averages, parts, distributions, and who had the CPU.

mod distribution;
#[cfg(test)]
mod tests;

pub use distribution::trace_histogram;

use crate::document::{DocumentDrawing, ReportDocument, RestOfRows, RowLimit};
use crate::files::{file_name, files_of, longest};
use crate::format::{NONE, clean, count, counted, if_any, percent, rate, us};
use crate::replaced::what_rows_lack;
use crate::terminal::{
    ReportTable, StatementLocks, TextCell, TextColumn, TextRole, by_fingerprint, cost_line,
    ledger_lines, lock_lines, locks_by_fingerprint,
};
use dbtime_model::traced::QueryCache;
use dbtime_model::traced_file::TraceEnd;
use dbtime_model::traced_files::FileWait;
use dbtime_model::traced_totals::{Preemption, TraceTotals, TracedTotals};
use dbtime_model::units::count_sum;
use dbtime_model::{Nanos, Part};
use distribution::distribution;

/// The longest bar of a part, in signs.
const PART_COLUMNS: usize = 20;

/// Names in the table of those who had the CPU.
const MAX_ROWS: usize = 15;

/// Statements in the table of them.
const MAX_STATEMENTS: usize = 20;

/// Where no part of a response was measured.
pub(crate) const NO_PARTS: &str =
    "not measured: where responses went, which this kernel does not tell";

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
    /// How long they were only counted behind that.
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
    let all = report.totals.all();
    let length = report.length.as_secs();
    let title = format!("{} in {length:.1} s", counted(all.count, "request"));
    let mut document = ReportDocument::untitled("dbtime trace", &title);
    if all.lack_parts() {
        document.paragraph(NO_PARTS, TextRole::Warn);
    }
    let kinds = kinds(report.totals);
    statements(report, &kinds, &mut document);
    parts(&all, &mut document);
    by_statement(report, &all, &mut document);
    for (name, totals) in &kinds {
        let title = format!("Response distribution, {name} (µs)");
        distribution(&title, totals, report.step, &mut document);
    }
    files(&all, &mut document);
    preemptors(report.totals, &mut document);
    document
}

/// The same with the ledger, which has its own place beside the text.
pub fn whole_trace_document(report: &TracedReport<'_>, end: &TraceEnd) -> ReportDocument {
    let mut document = trace_document(report);
    let cost = end.cost.map(|cost| cost_line(&cost, end.ledger.ended, end.length));
    let text = ledger_lines(&end.ledger) + &cost.unwrap_or_default();
    let lines = text.lines().map(str::to_owned).collect();
    document.drawing(DocumentDrawing { title: "Ledger".to_owned(), lines, charts: Vec::new() });
    document
}

/// How many there were, and how long they took.
fn statements(
    report: &TracedReport<'_>,
    kinds: &[(&'static str, TraceTotals)],
    document: &mut ReportDocument,
) {
    let (all, length) = (report.totals.all(), report.length.as_secs());
    document.heading("Statements");
    let text = format!(
        "{} in {length:.1} s: {} queries/sec; {} answered with an error",
        count(all.count),
        rate(all.count as f64 / length.max(1e-9)),
        count(all.errors),
    );
    document.paragraph(&text, TextRole::Plain);
    if report.only_counted > Nanos::ZERO {
        let length = report.only_counted.as_secs();
        let text = format!("for {length:.1} s behind that requests were only counted");
        document.paragraph(&text, TextRole::Plain);
    }
    latencies(kinds, document);
    if let Some(text) = held_back(report.totals) {
        document.paragraph(&text, TextRole::Plain);
    }
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

/// Statements by the time that they took together, each with its text and where its time went.
fn by_statement(report: &TracedReport<'_>, all: &TraceTotals, document: &mut ReportDocument) {
    let mut rows: Vec<&(String, TraceTotals)> =
        report.statements.iter().filter(|(_, totals)| totals.count > 0).collect();
    rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.response));
    if rows.is_empty() {
        return;
    }
    document.heading("By statement, the longest in all first");
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
    document.limited_table(&table, Some(further_statements(&rows, all)));
    if let Some(replaced) = &report.totals.replaced {
        document.paragraph(&what_rows_lack(replaced), TextRole::Dim);
    }
}

fn share(totals: &TraceTotals, all: &TraceTotals) -> String {
    percent(100.0 * totals.response.0 as f64 / all.response.0.max(1) as f64)
}

/// What those come to that text leaves out.
fn further_statements(rows: &[&(String, TraceTotals)], all: &TraceTotals) -> RowLimit {
    let rest = &rows[rows.len().min(MAX_STATEMENTS)..];
    let mut sum = TraceTotals::default();
    rest.iter().for_each(|(_, totals)| sum.add(totals));
    let text = format!(
        "{}: {}, {} of the time",
        counted(rest.len() as u64, "more statement"),
        counted(sum.count, "call"),
        share(&sum, all)
    );
    RowLimit { most: MAX_STATEMENTS, rest: RestOfRows::Text(text) }
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
    let mut parts = Part::TRACED.map(|part| (part, totals.parts.get(part)));
    parts.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let whole = totals.response.0.max(1) as f64;
    let shares = parts.iter().map(|(part, ns)| (part.name(), 100.0 * *ns as f64 / whole));
    let weighty = shares.filter(|(_, share)| *share >= 0.5);
    weighty.map(|(name, share)| format!("{name} {}", percent(share))).collect::<Vec<_>>().join(", ")
}

fn parts(all: &TraceTotals, document: &mut ReportDocument) {
    if all.count == 0 {
        return;
    }
    document.heading("Where the time goes");
    if all.lack_parts() {
        document.paragraph(NO_PARTS, TextRole::Warn);
        return queue(all, document);
    }
    let whole = all.response.0.max(1) as f64;
    let mean = |ns: f64| us(ns / 1e3 / all.count as f64);
    let mut table = ReportTable::new(vec![
        TextColumn::text("Part"),
        TextColumn::figure("Mean"),
        TextColumn::figure("Share"),
        TextColumn::text(""),
    ]);
    for part in Part::TRACED {
        let ns = all.parts.get(part) as f64;
        if ns > 0.0 {
            let share = ns / whole;
            table.row(vec![
                part.name().into(),
                mean(ns).into(),
                percent(100.0 * share).into(),
                TextCell::bar(share, PART_COLUMNS, TextRole::Plain),
            ]);
        }
    }
    let rest = all.response.0 as f64 - all.parts.total() as f64;
    let sign = if rest < 0.0 { "−" } else { "" };
    table.row(vec![
        "unexplained".into(),
        format!("{sign}{}", mean(rest.abs())).into(),
        percent(100.0 * rest / whole).into(),
        "".into(),
    ]);
    document.table(&table);
    queue(all, document);
}

/// How long they lay in the socket before that.
fn queue(all: &TraceTotals, document: &mut ReportDocument) {
    if let Some(queue) = all.server_queue.0.checked_div(all.queued) {
        let of = match all.queued == all.count {
            true => String::new(),
            false => format!(", of {} that were seen to come", count(all.queued)),
        };
        let text = format!("server_queue, before that: {} on average{of}", us(queue as f64 / 1e3));
        document.paragraph(&text, TextRole::Plain);
        let parts = all.queue_parts.within(all.server_queue).named();
        let parts = parts.into_iter().filter(|(_, length)| *length > Nanos::ZERO);
        let mean = |length: Nanos| us(length.as_micros() / all.queued as f64);
        let parts: Vec<_> =
            parts.map(|(part, length)| format!("{} {}", part.name(), mean(length))).collect();
        if !parts.is_empty() {
            let text = format!("of which the thread waited: {}", parts.join(", "));
            document.paragraph(&text, TextRole::Plain);
        }
    }
}

fn preemptors(totals: &TracedTotals, document: &mut ReportDocument) {
    let mut rows = totals.preemptions();
    rows.sort_by_key(|row| std::cmp::Reverse(row.length));
    let whole: Nanos = rows.iter().map(|row| row.length).sum();
    let name = |row: &Preemption| match &row.name {
        Some(name) => vec![clean(name)],
        None => {
            let share = 100.0 * row.length.0 as f64 / whole.0.max(1) as f64;
            vec![format!("(not named, {})", percent(share))]
        }
    };
    let rows = rows.iter().map(|row| (name(row), row.count, row.length)).collect();
    tallies("Pre-emptors", &["Thread's name"], rows, document);
}

fn files(all: &TraceTotals, document: &mut ReportDocument) {
    let names = |row: &FileWait| vec![file_name(row), row.part.name().to_owned()];
    let rows = longest(all).into_iter().map(|row| (names(row), row.count, row.length)).collect();
    tallies("Waits for files", &["File", "Part"], rows, document);
}

/// What happened how often and how long, longest first.
fn tallies(
    heading: &str,
    names: &[&str],
    rows: Vec<(Vec<String>, u64, Nanos)>,
    document: &mut ReportDocument,
) {
    if rows.is_empty() {
        return;
    }
    document.heading(heading);
    let mut columns: Vec<TextColumn> = names.iter().copied().map(TextColumn::text).collect();
    columns.extend(["Times", "Time in all", "Each time"].map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    let cells = |names: &[String], times: u64, time: Nanos| {
        let mut cells: Vec<TextCell> = names.iter().map(|name| name.clone().into()).collect();
        let times = (times > 0).then_some(times);
        cells.push(if_any(times, count).into());
        cells.push(us(time.as_micros()).into());
        cells.push(if_any(times, |times| us(time.as_micros() / times as f64)).into());
        cells
    };
    rows.iter().for_each(|(names, times, time)| table.row(cells(names, *times, *time)));
    let rest = &rows[rows.len().min(MAX_ROWS)..];
    let mut more = vec![String::new(); names.len()];
    "(more)".clone_into(&mut more[0]);
    let times = count_sum(rest.iter().map(|(_, times, _)| *times));
    let rest = RestOfRows::Cells(cells(&more, times, rest.iter().map(|(.., time)| *time).sum()));
    document.limited_table(&table, Some(RowLimit { most: MAX_ROWS, rest }));
}
