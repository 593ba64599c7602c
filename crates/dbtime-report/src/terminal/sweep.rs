//! The table of a sweep: latency against throughput, a line per run.
//!
//! The first five columns are those of the classic table of an embedded engine behind a work
//! queue; what it could not show stands to their right.

use super::TerminalOptions;
use super::style::{Ink, Page};
use super::table::{Cell, Column, Table};
use crate::format::{NONE, bare_seconds, clean, count, finite, rate, us};
use crate::story;
use dbtime_model::record::RunRecord;

/// One run of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepRow {
    /// The swept factors and their values, in the order of the command line.
    pub factors: Vec<(String, String)>,
    /// Transactions completed in the window.
    pub completed: u64,
    /// Transactions failed, dropped or unfinished.
    pub lost: u64,
    /// Arrivals as shown: a rate per second, `no delay` or `closed loop`.
    pub arrivals: String,
    /// Workers, or connections where each has its own.
    pub threads: u32,
    /// Mean response. Unit: microseconds.
    pub latency_us: f64,
    /// Completed transactions per second.
    pub throughput_tps: f64,
    /// 99th percentile of the response. Unit: microseconds.
    pub p99_us: f64,
    /// Mean wait in the work queue. Unit: microseconds.
    pub queue_us: f64,
    /// Mean service time. Unit: microseconds.
    pub service_us: f64,
    /// Whether the figures can be trusted.
    pub valid: bool,
}

impl SweepRow {
    /// The line of one run; its factors are the caller's to name.
    pub fn from_record(record: &RunRecord) -> Self {
        let counts = record.counts;
        let latency = &record.latency_us;
        let lost = [counts.failed, counts.dropped, counts.unfinished];
        Self {
            factors: Vec::new(),
            completed: counts.completed,
            lost: lost.into_iter().fold(0, u64::saturating_add),
            arrivals: arrivals(record),
            threads: record.load.workers.unwrap_or(record.load.connections),
            latency_us: latency.response.mean,
            throughput_tps: record.throughput_tps,
            p99_us: latency.response.p99,
            queue_us: latency.queue.mean,
            service_us: latency.service.mean,
            valid: record.validity.valid,
        }
    }

    /// The same with one more factor named.
    #[must_use]
    pub fn with_factor(mut self, name: &str, value: &str) -> Self {
        self.factors.push((name.to_owned(), value.to_owned()));
        self
    }
}

fn arrivals(record: &RunRecord) -> String {
    let load = &record.load;
    match load.rate_tps {
        _ if load.arrivals == "at-once" => "no delay".to_owned(),
        Some(tps) => rate(tps),
        None if story::is_open(load) => NONE.to_owned(),
        None => "closed loop".to_owned(),
    }
}

/// Factors that have a column of their own already.
const SHOWN: [&str; 2] = ["workers", "rate"];

/// The table of a sweep, a line per run in the order given.
///
/// A leading column for every swept factor, headed by its name, other than workers and rate, which
/// the table has anyway. Shape: lines of at most [`super::COLUMNS`] columns.
pub fn sweep_table(rows: &[SweepRow]) -> String {
    let factors = factors(rows);
    let lost = rows.iter().any(|row| row.lost > 0);
    let mut table = Table::new(columns(&factors, lost));
    for row in rows {
        table.row(cells(row, &factors, lost));
    }
    let mut page = Page::new(TerminalOptions::default());
    page.table(&table);
    if rows.iter().any(|row| row.lost > 0) {
        page.text("lost: failed, dropped or unfinished", Ink::Dim);
    }
    if rows.iter().any(|row| !row.valid) {
        page.text("! the figures of this run may be wrong: see its own report", Ink::Warn);
    }
    page.finish()
}

/// The factors that need a column, in the order in which they first appear.
fn factors(rows: &[SweepRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.factors) {
        if !names.contains(&name.as_str()) && !SHOWN.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn columns(factors: &[&str], lost: bool) -> Vec<Column> {
    let mut columns: Vec<Column> = factors.iter().map(|name| Column::text(&clean(name))).collect();
    // The headings of old where there is room, narrower ones beside factors.
    let roomy = factors.is_empty() && !lost;
    let (latency, throughput) = if roomy {
        ("Latency (avg query\ntime in seconds)", "Throughput (queries\nper second)")
    } else {
        ("Latency\n(avg query\ntime in\nseconds)", "Throughput\n(queries\nper\nsecond)")
    };
    columns.extend([
        Column::figure("Queries\nrun"),
        Column::figure(if roomy { "Queries\nper second" } else { "Queries\nper\nsecond" }),
        Column::figure("Threads"),
        Column::figure(latency),
        Column::figure(throughput),
        Column::figure("p99\nlatency"),
        Column::figure("Avg\nqueue\nwait"),
        Column::figure("Avg\nservice"),
    ]);
    if lost {
        columns.push(Column::figure("Lost"));
    }
    columns
}

fn cells(row: &SweepRow, factors: &[&str], lost: bool) -> Vec<Cell> {
    let value = |name: &&str| {
        let found = row.factors.iter().find(|(other, _)| other == name);
        found.map_or(NONE.into(), |(_, value)| clean(value).into())
    };
    let time = |value| if row.completed == 0 { NONE.to_owned() } else { us(value) };
    let seconds = match row.completed {
        0 => NONE.to_owned(),
        _ => bare_seconds(row.latency_us / 1e6),
    };
    let mut cells: Vec<Cell> = factors.iter().map(value).collect();
    cells.extend([
        count(row.completed).into(),
        clean(&row.arrivals).into(),
        row.threads.to_string().into(),
        seconds.into(),
        Cell::from(format!("{}{}", if row.valid { "" } else { "! " }, tps(row.throughput_tps))),
        time(row.p99_us).into(),
        time(row.queue_us).into(),
        time(row.service_us).into(),
    ]);
    if lost {
        cells.push(count(row.lost).into());
    }
    cells
}

fn tps(tps: f64) -> String {
    if tps.abs() < 10.0 { format!("{:.2}", finite(tps)) } else { rate(tps) }
}
