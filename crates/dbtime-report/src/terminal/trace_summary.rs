//! What traced statements came to: averages, parts, distributions, and who had the CPU.

use super::statement_locks::{StatementLocks, lock_lines};
use super::statement_sums::{by_fingerprint, locks_by_fingerprint};
use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use super::{COLUMNS, PageStyle};
use crate::files::{file_name, files_of, longest};
use crate::format::{NONE, clean, count, counted, if_any, percent, rate, us, wrap};
use crate::replaced::what_rows_lack;
use dbtime_model::traced::QueryCache;
use dbtime_model::traced_file::TraceEnd;
use dbtime_model::traced_files::FileWait;
use dbtime_model::traced_totals::{COARSE_BUCKETS, Preemption, TraceTotals, TracedTotals};
use dbtime_model::units::count_sum;
use dbtime_model::{Nanos, Part};

/// The longest bar of a distribution, in signs.
const BAR_COLUMNS: u64 = 40;

/// That of a part. Parts may overlap, and those of a recording may say anything.
const PART_COLUMNS: f64 = 20.0;

/// Names in the table of those who had the CPU.
const MAX_ROWS: usize = 15;

/// Statements in the table of them.
const MAX_STATEMENTS: usize = 20;

/// Lines of a statement's text.
const MAX_TEXT_LINES: usize = 3;

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
pub fn trace_summary(report: &TracedReport<'_>, color: bool) -> String {
    let mut page = ReportPage::plain(PageStyle { color, ..PageStyle::default() });
    let all = report.totals.all();
    let per_second = all.count as f64 / report.length.as_secs().max(1e-9);
    if all.lack_parts() {
        page.text(NO_PARTS, TextRole::Warn);
    }
    page.heading("Statements");
    let text = format!(
        "{} in {:.1} s: {} queries/sec; {} answered with an error",
        count(all.count),
        report.length.as_secs(),
        rate(per_second),
        count(all.errors),
    );
    page.text(&text, TextRole::Plain);
    if report.only_counted > Nanos::ZERO {
        let length = report.only_counted.as_secs();
        let text = format!("for {length:.1} s behind that requests were only counted");
        page.text(&text, TextRole::Plain);
    }
    let kinds = kinds(report.totals);
    latencies(&kinds, &mut page);
    if let Some(text) = held_back(report.totals) {
        page.text(&text, TextRole::Plain);
    }
    parts(&all, &mut page);
    by_statement(report, &all, &mut page);
    for (name, totals) in &kinds {
        let title = format!("Response distribution, {name} (µs)");
        distribution(&title, totals, report.step, &mut page);
    }
    files(&all, &mut page);
    preemptors(report.totals, &mut page);
    page.finish()
}

/// The distribution of all responses.
pub fn trace_histogram(totals: &TracedTotals, step: Nanos) -> String {
    let mut page = ReportPage::plain(PageStyle::default());
    let all = totals.all();
    distribution("Response distribution, all statements (µs)", &all, step, &mut page);
    page.finish()
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

fn latencies(kinds: &[(&'static str, TraceTotals)], page: &mut ReportPage) {
    let mut columns = vec![TextColumn::text(""), TextColumn::figure("Count")];
    columns.extend(FIGURES.map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    for (name, row) in kinds {
        let mut cells = vec![(*name).into(), count(row.count).into()];
        cells.extend(figures(row));
        table.row(cells);
    }
    page.table(&table);
}

/// Statements by the time that they took together, each with its text and where its time went.
fn by_statement(report: &TracedReport<'_>, all: &TraceTotals, page: &mut ReportPage) {
    let mut rows: Vec<&(String, TraceTotals)> =
        report.statements.iter().filter(|(_, totals)| totals.count > 0).collect();
    rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.response));
    if rows.is_empty() {
        return;
    }
    page.heading("By statement, the longest in all first");
    let mut columns = vec![TextColumn::figure("Share"), TextColumn::figure("Calls")];
    columns.push(TextColumn::figure("Total"));
    columns.extend(FIGURES.map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    let (shown, rest) = rows.split_at(rows.len().min(MAX_STATEMENTS));
    let share = |totals: &TraceTotals| {
        percent(100.0 * totals.response.0 as f64 / all.response.0.max(1) as f64)
    };
    for (name, totals) in shown {
        let text = wrap(&clean(name), COLUMNS - 2);
        text.iter().take(MAX_TEXT_LINES).for_each(|line| table.group(line));
        let total = us(totals.response.as_micros());
        let mut cells = vec![share(totals).into(), count(totals.count).into(), total.into()];
        cells.extend(figures(totals));
        table.row(cells);
        table.group(&format!("       {}{}", waits(totals), executes(totals)));
        for line in lock_lines(name, &report.locks) {
            wrap(&line, COLUMNS - 9).iter().for_each(|line| table.group(&format!("       {line}")));
        }
        for line in files_of(totals) {
            table.group(&format!("       {line}"));
        }
    }
    page.table(&table);
    if !rest.is_empty() {
        let mut sum = TraceTotals::default();
        rest.iter().for_each(|(_, totals)| sum.add(totals));
        let more = format!(
            "{}: {}, {} of the time",
            counted(rest.len() as u64, "more statement"),
            counted(sum.count, "call"),
            share(&sum)
        );
        page.text(&more, TextRole::Dim);
    }
    if let Some(replaced) = &report.totals.replaced {
        page.text(&what_rows_lack(replaced), TextRole::Dim);
    }
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

fn parts(all: &TraceTotals, page: &mut ReportPage) {
    if all.count == 0 {
        return;
    }
    page.heading("Where the time goes");
    if all.lack_parts() {
        page.text(NO_PARTS, TextRole::Warn);
        return queue(all, page);
    }
    let mut table = ReportTable::new(vec![
        TextColumn::text("Part"),
        TextColumn::figure("Mean"),
        TextColumn::figure("Share"),
        TextColumn::text(""),
    ]);
    let whole = all.response.0.max(1) as f64;
    let mean = |ns: f64| us(ns / 1e3 / all.count as f64);
    for part in Part::TRACED {
        let ns = all.parts.get(part);
        if ns > 0 {
            let share = ns as f64 / whole;
            let bar = "█".repeat((share.min(1.0) * PART_COLUMNS).round() as usize);
            table.row(vec![
                part.name().into(),
                mean(ns as f64).into(),
                percent(100.0 * share).into(),
                bar.into(),
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
    page.table(&table);
    queue(all, page);
}

/// How long they lay in the socket before that.
fn queue(all: &TraceTotals, page: &mut ReportPage) {
    if let Some(queue) = all.server_queue.0.checked_div(all.queued) {
        let of = match all.queued == all.count {
            true => String::new(),
            false => format!(", of {} that were seen to come", count(all.queued)),
        };
        let queue = us(queue as f64 / 1e3);
        page.text(&format!("server_queue, before that: {queue} on average{of}"), TextRole::Plain);
        let parts = all.queue_parts.within(all.server_queue).named();
        let parts = parts.into_iter().filter(|(_, length)| *length > Nanos::ZERO);
        let mean = |length: Nanos| us(length.as_micros() / all.queued as f64);
        let parts: Vec<_> =
            parts.map(|(part, length)| format!("{} {}", part.name(), mean(length))).collect();
        if !parts.is_empty() {
            let text = format!("of which the thread waited: {}", parts.join(", "));
            page.text(&text, TextRole::Plain);
        }
    }
}

/// Rows from the first that counted something to the last, with an empty one at either end.
fn distribution(title: &str, totals: &TraceTotals, step: Nanos, page: &mut ReportPage) {
    let Some((first, last)) = totals.coarse.ends() else { return };
    page.heading(title);
    page.line("           value  ------------- Distribution ------------- count");
    for index in first.saturating_sub(1)..=(last + 1).min(COARSE_BUCKETS - 1) {
        let value = match (step, index) {
            // The first power holds everything below two.
            (Nanos::ZERO, 0) => 0.0,
            (Nanos::ZERO, power) => (1u64 << power) as f64,
            (step, index) => step.as_micros() * f64::from(index),
        };
        let is_open = step > Nanos::ZERO && index + 1 == COARSE_BUCKETS;
        let value = format!("{}{value}", if is_open { ">= " } else { "" });
        let counted = totals.coarse.of(index);
        let bar = "@".repeat(bar_columns(counted, totals.count));
        page.line(&format!("{value:>16} |{bar:<40} {counted}"));
    }
}

/// The length of a bar for so many of all; a recording may say that there are more of them.
fn bar_columns(counted: u64, all: u64) -> usize {
    let rounded = u128::from(counted) * u128::from(BAR_COLUMNS) + u128::from(all / 2);
    rounded.checked_div(all.into()).unwrap_or(0).min(BAR_COLUMNS.into()) as usize
}

fn preemptors(totals: &TracedTotals, page: &mut ReportPage) {
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
    tallies("Pre-emptors", &["Thread's name"], rows, page);
}

fn files(all: &TraceTotals, page: &mut ReportPage) {
    let names = |row: &FileWait| vec![file_name(row), row.part.name().to_owned()];
    let rows = longest(all).into_iter().map(|row| (names(row), row.count, row.length)).collect();
    tallies("Waits for files", &["File", "Part"], rows, page);
}

/// What happened how often and how long, longest first.
fn tallies(
    heading: &str,
    names: &[&str],
    rows: Vec<(Vec<String>, u64, Nanos)>,
    page: &mut ReportPage,
) {
    if rows.is_empty() {
        return;
    }
    page.heading(heading);
    let mut columns: Vec<TextColumn> = names.iter().copied().map(TextColumn::text).collect();
    columns.extend(["Times", "Time in all", "Each time"].map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    let (shown, rest) = rows.split_at(rows.len().min(MAX_ROWS));
    let mut add = |names: &[String], times: u64, time: Nanos| {
        let mut cells: Vec<TextCell> = names.iter().map(|name| name.clone().into()).collect();
        let times = (times > 0).then_some(times);
        cells.push(if_any(times, count).into());
        cells.push(us(time.as_micros()).into());
        cells.push(if_any(times, |times| us(time.as_micros() / times as f64)).into());
        table.row(cells);
    };
    shown.iter().for_each(|(names, times, time)| add(names, *times, *time));
    if !rest.is_empty() {
        let mut more = vec![String::new(); names.len()];
        "(more)".clone_into(&mut more[0]);
        let times = count_sum(rest.iter().map(|(_, times, _)| *times));
        add(&more, times, rest.iter().map(|(.., time)| *time).sum());
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::traced_files::FileName;
    use dbtime_model::traced_totals::{ReplacedStatements, StatementName, StatementTotals};
    use dbtime_model::{Parts, ServerQueueParts};

    fn row(name: &str, was_preempted: bool, count: u64, coarse: &[(u32, u64)]) -> StatementTotals {
        let mut totals = TraceTotals {
            count,
            response: Nanos(count * 100_000),
            longest: Nanos(200_000),
            queued: count,
            server_queue: Nanos(count * 3_000),
            queue_parts: ServerQueueParts {
                runq_woken: Nanos(count * 2_000),
                ..ServerQueueParts::default()
            },
            parts: Parts::of(&[
                (Part::Cpu, Nanos(count * 75_000).signed()),
                (Part::Lock, Nanos(count * 24_000).signed()),
            ]),
            ..TraceTotals::default()
        };
        totals.responses.add(112, count);
        coarse.iter().for_each(|&(power, count)| totals.coarse.add_to(power, count));
        let name = StatementName::Text(name.into());
        StatementTotals { was_preempted, totals, ..StatementTotals::nothing_of(name) }
    }

    fn report(totals: &TracedTotals) -> TracedReport<'_> {
        let named = |row: &StatementTotals| match &row.name {
            StatementName::Text(text) => (text.to_string(), row.totals.clone()),
            _ => ("(others)".to_owned(), row.totals.clone()),
        };
        let statements = totals.statements.iter().map(named).collect();
        TracedReport {
            totals,
            statements,
            locks: Vec::new(),
            length: Nanos::from_secs(2),
            only_counted: Nanos::ZERO,
            step: Nanos::ZERO,
        }
    }

    #[test]
    fn a_summary_holds_what_querystat_told_and_the_parts_and_statements() {
        let sysbench =
            Preemption { name: Some("sysbench".into()), count: 3095, length: Nanos(95_000_000) };
        let log = FileWait {
            file: FileName::Named("ib_logfile0".into()),
            part: Part::Sync,
            count: 1660,
            length: Nanos(12_200_000),
        };
        let other = FileWait { count: 7, length: Nanos(900_000), ..log.clone() };
        let update = "UPDATE t SET c=?, pad=? WHERE id=? AND name LIKE ? ".repeat(6);
        let mut totals = TracedTotals {
            statements: vec![
                row("SELECT c FROM t WHERE id=?", false, 1500, &[(0, 20), (6, 1480)]),
                row(&update, true, 500, &[(7, 500)]),
            ],
            lock_waits: Vec::new(),
            preemptors: vec![sysbench],
            replaced: None,
        };
        let mapped = FileWait { file: FileName::Mapped, part: Part::IoRead, ..other };
        totals.statements[1].totals.files = vec![mapped, log];
        insta::assert_snapshot!(trace_summary(&report(&totals), false));
        totals.statements[0].cache = QueryCache::Hit;
        totals.statements[0].totals.queued = 1400;
        let cached = trace_summary(&report(&totals), false);
        assert!(cached.contains("query-cache hits") && cached.contains("query-cache misses"));
        assert!(cached.contains(" 3.16 µs on average, of 1,900 that were seen"), "{cached}");
        totals.replaced =
            Some(ReplacedStatements { rows: 1953, most_calls: 2, most_time: Nanos(1_053_000) });
        let replaced = trace_summary(&report(&totals), false);
        assert!(replaced.contains("1,953 rows") && replaced.contains("1.05 ms"), "{replaced}");
        let nothing = TracedTotals::default();
        let nothing = trace_summary(&report(&nothing), false);
        assert!(nothing.contains("0 in 2.0 s") && !nothing.contains("Distribution"), "{nothing}");
    }

    #[test]
    fn counts_and_times_of_a_stranger_have_a_place_in_every_line() {
        let mut odd = row("SELECT 1", true, 1, &[(6, u64::MAX), (7, 1_000_000_000_000)]);
        odd.totals.parts = Parts::of(&[(Part::Cpu, i64::MAX), (Part::Lock, i64::MAX)]);
        let name = Some("sh".to_owned());
        let preemptor = Preemption { name, count: u64::MAX, length: Nanos(u64::MAX) };
        let totals = TracedTotals {
            statements: vec![odd],
            preemptors: vec![preemptor; MAX_ROWS + 2],
            ..TracedTotals::default()
        };
        let text = trace_summary(&report(&totals), false);
        assert!(text.lines().all(|line| line.chars().count() < 2 * COLUMNS), "{text}");
        assert!(text.contains(&"@".repeat(40)) && !text.contains(&"@".repeat(41)), "{text}");
        assert_eq!([bar_columns(1, 0), bar_columns(1, 2), bar_columns(9, 2)], [0, 20, 40]);
    }

    #[test]
    fn pre_emptors_without_a_name_have_a_row_with_their_share() {
        let mut lost = row("SELECT 1", true, 1, &[(6, 1)]);
        lost.totals.parts.add(Part::RunqPreempted, 100_000);
        let sh = Preemption { name: Some("sh".to_owned()), count: 3, length: Nanos(75_000) };
        let totals = TracedTotals {
            statements: vec![lost],
            preemptors: vec![sh],
            ..TracedTotals::default()
        };
        let text = trace_summary(&report(&totals), false);
        let (_, table) = text.split_once("Pre-emptors").expect("a table");
        let rows: Vec<Vec<&str>> =
            table.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["sh", "3", "75.0", "µs", "25.0", "µs"], "{text}");
        assert_eq!(rows[1], ["(not", "named,", "25", "%)", NONE, "25.0", "µs", NONE], "{text}");
    }

    #[test]
    fn parts_that_were_not_measured_are_no_zeros() {
        let mut totals = TracedTotals {
            statements: vec![row("SELECT 1", false, 500, &[(6, 500)])],
            ..TracedTotals::default()
        };
        totals.statements[0].totals.parts = Parts::default();
        let text = trace_summary(&report(&totals), false);
        assert!(text.trim_start().starts_with("not measured: where responses went"), "{text}");
        assert!(!text.contains("unexplained") && !text.contains("0 ns"), "{text}");
        assert!(!text.contains("pre-empted"), "{text}");
        let all = text.lines().find(|line| line.trim_start().starts_with("all statements"));
        assert!(all.is_some_and(|line| line.ends_with(NONE)), "{text}");
    }

    #[test]
    fn those_that_were_throttled_are_told_apart_from_those_pre_empted() {
        let mut held = row("SELECT 1", true, 10, &[(6, 10)]);
        held.totals.parts.add(Part::Throttled, 250_000);
        let mut free = row("SELECT 2", false, 10, &[(6, 10)]);
        free.totals.parts.add(Part::Throttled, 250_000);
        let told = |statements| {
            let totals = TracedTotals { statements, ..TracedTotals::default() };
            trace_summary(&report(&totals), false)
        };
        let text = told(vec![held]);
        assert!(text.contains("were throttled first (25 % of its time)"), "{text}");
        assert!(!told(vec![free]).contains("throttled first"));
    }

    #[test]
    fn no_more_of_a_time_in_the_socket_is_told_than_there_was() {
        let mut odd = row("SELECT 1", false, 10, &[(6, 10)]);
        odd.totals.queue_parts.runq_preempted = Nanos(20_000);
        let statements = vec![odd];
        let totals = TracedTotals { statements, ..TracedTotals::default() };
        let text = trace_summary(&report(&totals), false);
        assert!(text.contains("server_queue, before that: 3.00 µs on average"), "{text}");
        assert!(text.contains("waited: runq_preempted 2.00 µs, runq_woken 1.00 µs"), "{text}");
    }

    #[test]
    fn equal_steps_begin_at_zero_and_the_last_is_open() {
        let statements = vec![row("SELECT 1", false, 9, &[(0, 8), (39, 1)])];
        let totals = TracedTotals { statements, ..TracedTotals::default() };
        let text = trace_histogram(&totals, Nanos(500_000));
        assert!(text.contains("  0 |") && text.contains(" 500 |"), "{text}");
        assert!(text.contains(">= 19500 |"), "{text}");
    }
}
