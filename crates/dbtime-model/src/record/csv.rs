//! The comma-separated files of a run folder, as text in and out.

use super::SeriesPhase;
use super::folder::{ReadError, SeriesRow, TransactionRow};
use crate::Part;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of `transactions.csv` before the parts.
const TRANSACTION_COLUMNS: [&str; 6] =
    ["kept", "operation", "outcome", "due_us", "retries", "response_us"];

/// `series.csv` of the given seconds.
pub fn series_text(rows: &[SeriesRow]) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    // The heading also stands above no rows at all.
    writer.write_record(SERIES_COLUMNS).expect("writing to memory");
    rows.iter().for_each(|row| writer.serialize(RoundedRow::of(row)).expect("writing to memory"));
    text(writer)
}

/// `transactions.csv` of the given transactions.
pub fn transactions_text(rows: &[TransactionRow]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let parts = Part::ALL.map(Part::name);
    writer.write_record(TRANSACTION_COLUMNS.iter().chain(&parts)).expect("writing to memory");
    for row in rows {
        let head = [
            row.kept.to_string(),
            row.operation.clone(),
            row.outcome.clone(),
            format!("{:.3}", row.due_us),
            row.retries.to_string(),
            format!("{:.3}", row.budget.total),
        ];
        let amount = |part| row.budget.get(part).map_or(String::new(), |us| format!("{us:.3}"));
        writer.write_record(head.into_iter().chain(Part::ALL.map(amount))).expect("to memory");
    }
    text(writer)
}

/// Reads `series.csv`; columns are found by name, unknown ones are ignored.
pub(super) fn series(text: &str, path: &Path) -> Result<Vec<SeriesRow>, ReadError> {
    rows(text, path)
}

/// Reads `transactions.csv`; columns are found by name, unknown ones are ignored.
pub(super) fn transactions(text: &str, path: &Path) -> Result<Vec<TransactionRow>, ReadError> {
    let maps: Vec<BTreeMap<String, String>> = rows(text, path)?;
    maps.iter().enumerate().map(|(index, map)| transaction(map, index + 2, path)).collect()
}

fn transaction(
    map: &BTreeMap<String, String>,
    line: usize,
    path: &Path,
) -> Result<TransactionRow, ReadError> {
    let column = |name: &str| map.get(name).map_or("", String::as_str);
    let number = |name: &str| -> Result<Option<f64>, ReadError> {
        let cell = column(name);
        if cell.is_empty() {
            return Ok(None);
        }
        let malformed = || ReadError::Malformed {
            path: path.to_owned(),
            line,
            problem: format!("`{cell}` in column {name} is no number"),
        };
        let value: f64 = cell.parse().map_err(|_| malformed())?;
        if value.is_finite() { Ok(Some(value)) } else { Err(malformed()) }
    };
    let mut budget =
        super::BudgetUs { total: number("response_us")?.unwrap_or(0.0), ..Default::default() };
    for part in Part::ALL {
        budget.set(part, number(part.name())?);
    }
    Ok(TransactionRow {
        kept: column("kept").to_owned().into(),
        operation: column("operation").to_owned(),
        outcome: column("outcome").to_owned(),
        due_us: number("due_us")?.unwrap_or(0.0),
        retries: number("retries")?.unwrap_or(0.0) as u32,
        budget,
    })
}

fn rows<T: DeserializeOwned>(text: &str, path: &Path) -> Result<Vec<T>, ReadError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let malformed = |error: csv::Error| ReadError::Malformed {
        path: path.to_owned(),
        line: error.position().map_or(1, |at| at.line() as usize),
        problem: error.to_string(),
    };
    reader.deserialize().map(|row| row.map_err(malformed)).collect()
}

pub(super) fn text(writer: csv::Writer<Vec<u8>>) -> String {
    let bytes = writer.into_inner().expect("flushing to memory");
    String::from_utf8(bytes).expect("every cell is UTF-8")
}

const SERIES_COLUMNS: [&str; 18] = [
    "second",
    "phase",
    "offered",
    "completed",
    "failed",
    "retries",
    "response_mean_us",
    "response_p50_us",
    "response_p90_us",
    "response_p99_us",
    "response_max_us",
    "service_mean_us",
    "usr_pct",
    "sys_pct",
    "server_pct",
    "foreign_pct",
    "run_queue",
    "steal_pct",
];

/// A row as written: microseconds to the nanosecond, percent to a hundredth.
#[derive(Serialize)]
struct RoundedRow<'a>(
    u32,
    &'a SeriesPhase,
    Option<u64>,
    u64,
    u64,
    u64,
    [String; 6],
    [String; 4],
    u32,
    String,
);

impl<'a> RoundedRow<'a> {
    fn of(row: &'a SeriesRow) -> Self {
        let us = [
            row.response_mean_us,
            row.response_p50_us,
            row.response_p90_us,
            row.response_p99_us,
            row.response_max_us,
            row.service_mean_us,
        ];
        let percent = |pct: f64| format!("{pct:.2}");
        let pct = [
            percent(row.usr_pct),
            percent(row.sys_pct),
            row.server_pct.map_or(String::new(), percent),
            percent(row.foreign_pct),
        ];
        Self(
            row.second,
            &row.phase,
            row.offered,
            row.completed,
            row.failed,
            row.retries,
            us.map(|us| format!("{us:.3}")),
            pct,
            row.run_queue,
            percent(row.steal_pct),
        )
    }
}
