//! The table of a server: what it spends on a load, over more and more connections.
//!
//! Up to the 95th percentile the columns are those of the classic study of schedulers; what it
//! could not show stands to their right.

use super::{SweepRow, factor_cells, factor_columns, factors, has_lost, throughput, value_of};
use crate::format::{NONE, clean, count, finite, if_any, rate, us, width};
use crate::terminal::style::{ReportPage, TextRole};
use crate::terminal::table::{ReportTable, TextCell, TextColumn};

/// Factors that have a column of their own already.
const SHOWN: [&str; 1] = ["connections"];

/// Longer values of a factor get a line of their own, above the rows they belong to.
const MAX_NAME_COLUMNS: usize = 10;

pub(super) fn show(rows: &[SweepRow], page: &mut ReportPage) {
    let is_long = |name: &&str| {
        let mut values = rows.iter().filter_map(|row| value_of(row, name));
        values.any(|value| width(value) > MAX_NAME_COLUMNS)
    };
    let (groups, factors): (Vec<&str>, Vec<&str>) =
        factors(rows, &SHOWN).into_iter().partition(is_long);
    // What is the same for all is said once.
    let first = rows.first().map(|row| &row.arrivals);
    let one_load = rows.iter().all(|row| Some(&row.arrivals) == first);
    let with = OptionalColumns { offered: !one_load, lost: has_lost(rows) };
    let mut table = ReportTable::new(columns(&factors, with));
    let mut belongs_to = String::new();
    for row in rows {
        let group = group_of(row, &groups);
        if group != belongs_to {
            table.group(&group);
            belongs_to = group;
        }
        table.row(cells(row, &factors, with));
    }
    page.table(&table);
    if let Some(load) = first.filter(|_| one_load) {
        page.text(&offered(load, rows), TextRole::Dim);
    }
    page.text("server: percent of one CPU; client CPU: per transaction", TextRole::Dim);
}

/// The factors that stand above the rows they belong to.
fn group_of(row: &SweepRow, groups: &[&str]) -> String {
    let pair = |name: &&str| format!("{name}={}", value_of(row, name).unwrap_or(NONE));
    clean(&groups.iter().map(pair).collect::<Vec<_>>().join(" "))
}

/// Columns that are there where they say something.
#[derive(Clone, Copy)]
struct OptionalColumns {
    offered: bool,
    lost: bool,
}

fn offered(load: &str, rows: &[SweepRow]) -> String {
    let load = clean(load);
    let per_second = if load.ends_with(|c: char| c.is_ascii_digit()) { "/s" } else { "" };
    // The longest names the run that it was found by, where that is another one.
    let found = rows.iter().filter_map(|row| row.found.as_deref()).max_by_key(|text| text.len());
    let found = found.map_or(String::new(), |text| format!(", {}", clean(text)));
    format!("offered: {load}{per_second}{found}")
}

fn columns(factors: &[&str], with: OptionalColumns) -> Vec<TextColumn> {
    let mut columns = factor_columns(factors);
    columns.push(TextColumn::figure("connec-\ntions"));
    if with.offered {
        columns.push(TextColumn::figure("offered"));
    }
    columns.extend([
        TextColumn::figure("tps"),
        TextColumn::figure("server\n%usr").optional(),
        TextColumn::figure("server\n%sys").optional(),
        TextColumn::figure("server\n%cpu"),
        TextColumn::figure("avg\nresp"),
        TextColumn::figure("95 %\nresp"),
        TextColumn::figure("99 %\nresp"),
        TextColumn::figure("client\nCPU").optional(),
    ]);
    if with.lost {
        columns.push(TextColumn::figure("lost"));
    }
    columns
}

fn cells(row: &SweepRow, factors: &[&str], with: OptionalColumns) -> Vec<TextCell> {
    let time = |value| if_any(value, us);
    let percent = |value: f64| match row.server {
        Some(_) => format!("{:.2}", finite(value)),
        None => NONE.to_owned(),
    };
    let server = row.server.unwrap_or_default();
    let mut cells = factor_cells(row, factors);
    cells.push(row.connections.to_string().into());
    if with.offered {
        cells.push(clean(&row.arrivals).into());
    }
    cells.extend([
        throughput(row, &rate(row.throughput_tps)),
        percent(server.usr_pct).into(),
        percent(server.sys_pct).into(),
        percent(server.usr_pct + server.sys_pct).into(),
        time(row.latency_us).into(),
        time(row.p95_us).into(),
        time(row.p99_us).into(),
        time(row.client_us).into(),
    ]);
    if with.lost {
        cells.push(count(row.lost).into());
    }
    cells
}
