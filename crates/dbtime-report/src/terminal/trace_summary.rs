//! What traced statements came to: averages, parts, distributions, and who had the CPU.

use super::TerminalOptions;
use super::style::{Ink, Page};
use super::table::{Column, Table};
use crate::format::{NONE, clean, count, percent, rate, us};
use dbtime_model::Nanos;
use dbtime_model::traced_totals::{Totals, TracedTotals};

/// The longest bar of a distribution, in signs.
const BAR: u64 = 40;

/// Names in the table of those who had the CPU.
const MOST: usize = 15;

/// The report of a trace that took so long.
pub fn trace_summary(totals: &TracedTotals, length: Nanos, color: bool) -> String {
    let mut page = Page::new(TerminalOptions { color, ..TerminalOptions::default() });
    let all = totals.all();
    let per_second = all.count as f64 / length.as_secs().max(1e-9);
    page.heading("Statements");
    let text = format!(
        "{} in {:.1} s: {} queries/sec; {} answered with an error",
        count(all.count),
        length.as_secs(),
        rate(per_second),
        count(all.errors),
    );
    page.text(&text, Ink::Plain);
    latencies(totals, &all, &mut page);
    parts(&all, &mut page);
    distribution("Response distribution, all statements (µs)", &all, &mut page);
    preemptors(totals, &mut page);
    page.finish()
}

/// The distribution of all responses by powers of two microseconds.
pub fn trace_histogram(totals: &TracedTotals) -> String {
    let mut page = Page::new(TerminalOptions::default());
    distribution("Response distribution, all statements (µs)", &totals.all(), &mut page);
    page.finish()
}

fn latencies(totals: &TracedTotals, all: &Totals, page: &mut Page) {
    let figures = ["Mean", "p50", "p90", "p99", "p99.9", "Max", "CPU mean"];
    let mut columns = vec![Column::text(""), Column::figure("Count")];
    columns.extend(figures.map(Column::figure));
    let mut table = Table::new(columns);
    for (name, row) in [
        ("all", all),
        ("was pre-empted", &totals.preempted),
        ("was not pre-empted", &totals.undisturbed),
    ] {
        let time = |time: Option<Nanos>| time.map_or(NONE.to_owned(), |t| us(t.as_micros()));
        let longest = (row.count > 0).then_some(row.longest);
        let cpu = row.parts.cpu.0.checked_div(row.count).map(Nanos);
        let mut cells = vec![name.into(), count(row.count).into(), time(row.mean()).into()];
        cells.extend([0.5, 0.9, 0.99, 0.999].map(|share| time(row.quantile(share)).into()));
        cells.extend([time(longest).into(), time(cpu).into()]);
        table.row(cells);
    }
    page.table(&table);
}

fn parts(all: &Totals, page: &mut Page) {
    if all.count == 0 {
        return;
    }
    page.heading("Where the time goes");
    let mut table = Table::new(vec![
        Column::text("Part"),
        Column::figure("Mean"),
        Column::figure("Share"),
        Column::text(""),
    ]);
    let whole = all.response.0.max(1) as f64;
    let mean = |ns: f64| us(ns / 1e3 / all.count as f64);
    for (name, part) in all.parts.named() {
        if part > Nanos::ZERO {
            let share = part.0 as f64 / whole;
            let bar = "█".repeat((share * 20.0).round() as usize);
            table.row(vec![
                name.into(),
                mean(part.0 as f64).into(),
                percent(100.0 * share).into(),
                bar.into(),
            ]);
        }
    }
    let rest = all.response.0 as f64 - all.parts.sum().0 as f64;
    let sign = if rest < 0.0 { "−" } else { "" };
    table.row(vec![
        "unexplained".into(),
        format!("{sign}{}", mean(rest.abs())).into(),
        percent(100.0 * rest / whole).into(),
        "".into(),
    ]);
    page.table(&table);
}

/// Rows from the first that counted something to the last, with an empty one at either end.
fn distribution(title: &str, totals: &Totals, page: &mut Page) {
    let Some(first) = totals.coarse.iter().position(|count| *count > 0) else { return };
    let last = totals.coarse.iter().rposition(|count| *count > 0).unwrap_or(first);
    page.heading(title);
    page.line("           value  ------------- Distribution ------------- count");
    for power in first.saturating_sub(1)..=(last + 1).min(totals.coarse.len() - 1) {
        // The first holds everything below two.
        let value = if power == 0 { 0 } else { 1u64 << power };
        let counted = totals.coarse[power];
        let bar = (counted * BAR + totals.count / 2).checked_div(totals.count).unwrap_or(0);
        let bar = "@".repeat(bar as usize);
        page.line(&format!("{value:>16} |{bar:<40} {counted}"));
    }
}

fn preemptors(totals: &TracedTotals, page: &mut Page) {
    if totals.preemptors.is_empty() {
        return;
    }
    page.heading("Pre-emptors");
    let names = ["Times", "Time in all", "Each time"];
    let mut columns = vec![Column::text("Thread's name")];
    columns.extend(names.map(Column::figure));
    let mut table = Table::new(columns);
    let (shown, rest) = totals.preemptors.split_at(totals.preemptors.len().min(MOST));
    let mut row = |name: &str, times: u64, time: Nanos| {
        table.row(vec![
            clean(name).into(),
            count(times).into(),
            us(time.as_micros()).into(),
            us(time.as_micros() / times.max(1) as f64).into(),
        ]);
    };
    for one in shown {
        row(one.name.as_deref().unwrap_or("(others)"), one.count, one.length);
    }
    if !rest.is_empty() {
        let times = rest.iter().map(|one| one.count).sum();
        row("(more)", times, Nanos(rest.iter().map(|one| one.length.0).sum()));
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::traced::RequestParts;
    use dbtime_model::traced_totals::Preemption;

    fn totals() -> TracedTotals {
        let row = |count: u64, coarse: &[(usize, u64)]| {
            let mut row = Totals {
                count,
                response: Nanos(count * 100_000),
                longest: Nanos(200_000),
                parts: RequestParts { cpu: Nanos(count * 75_000), ..RequestParts::default() },
                fine: vec![0; 368],
                coarse: vec![0; 40],
                ..Totals::default()
            };
            row.fine[112] = count;
            coarse.iter().for_each(|&(power, count)| row.coarse[power] = count);
            row
        };
        TracedTotals {
            undisturbed: row(1500, &[(0, 20), (6, 1480)]),
            preempted: row(500, &[(7, 500)]),
            preemptors: vec![Preemption {
                name: Some("sysbench".to_owned()),
                count: 3095,
                length: Nanos(95_000_000),
            }],
        }
    }

    #[test]
    fn a_summary_holds_what_querystat_told_and_the_parts() {
        insta::assert_snapshot!(trace_summary(&totals(), Nanos::from_secs(2), false));
        let nothing = trace_summary(&TracedTotals::default(), Nanos::from_secs(2), false);
        assert!(nothing.contains("0 in 2.0 s") && !nothing.contains("Distribution"), "{nothing}");
    }
}
