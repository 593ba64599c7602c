//! The table of an embedded engine: latency against throughput.
//!
//! The first five columns are those of the classic table of an engine behind a work queue; what it
//! could not show stands to their right.

use super::{SweepRow, factor_cells, factor_columns, factors, has_lost, throughput};
use crate::format::{bare_seconds, clean, count, finite, if_any, rate, us};
use crate::terminal::table::{ReportTable, TextCell, TextColumn};

/// Factors that have a column of their own already.
const SHOWN: [&str; 2] = ["workers", "rate"];

pub(super) fn table(rows: &[SweepRow]) -> ReportTable {
    let (factors, lost) = (factors(rows, &SHOWN), has_lost(rows));
    let mut table = ReportTable::new(columns(&factors, lost));
    for row in rows {
        table.row(cells(row, &factors, lost));
    }
    table
}

fn columns(factors: &[&str], lost: bool) -> Vec<TextColumn> {
    let mut columns = factor_columns(factors);
    // The headings of old where there is room, narrower ones beside factors.
    let roomy = factors.is_empty() && !lost;
    let (latency, throughput) = if roomy {
        ("Latency (avg query\ntime in seconds)", "Throughput (queries\nper second)")
    } else {
        ("Latency\n(avg query\ntime in\nseconds)", "Throughput\n(queries\nper\nsecond)")
    };
    columns.extend([
        TextColumn::figure("Queries\nrun"),
        TextColumn::figure(if roomy { "Queries\nper second" } else { "Queries\nper\nsecond" }),
        TextColumn::figure("Threads"),
        TextColumn::figure(latency),
        TextColumn::figure(throughput),
        TextColumn::figure("p99\nlatency"),
        TextColumn::figure("Avg\nqueue\nwait"),
        TextColumn::figure("Avg\nservice").optional(),
    ]);
    if lost {
        columns.push(TextColumn::figure("Lost"));
    }
    columns
}

fn cells(row: &SweepRow, factors: &[&str], lost: bool) -> Vec<TextCell> {
    let time = |value| if_any(value, us);
    let seconds = if_any(row.latency_us, |mean_us| bare_seconds(mean_us / 1e6));
    let mut cells = factor_cells(row, factors);
    cells.extend([
        count(row.completed).into(),
        clean(&row.arrivals).into(),
        row.threads.to_string().into(),
        seconds.into(),
        throughput(row, &tps(row.throughput_tps)),
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
