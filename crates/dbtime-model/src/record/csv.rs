//! The comma-separated files of a run folder, as text in and out.

use super::folder::{ReadError, SeriesRow, TransactionRow, TransactionStatement};
use crate::Part;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of `transactions.csv` before the parts.
const TRANSACTION_COLUMNS: [&str; 8] =
    ["kept", "operation", "outcome", "due_us", "ready_us", "sent_us", "retries", "response_us"];

/// The columns of `transaction_statements.csv` before the parts.
const STATEMENT_COLUMNS: [&str; 16] = [
    "transaction",
    "statement",
    "sent_us",
    "read_us",
    "late_us",
    "arrived_us",
    "began_us",
    "ended_us",
    "connection",
    "thread",
    "lock_wait_us",
    "lock_name",
    "holder",
    "holder_thread",
    "cpu_holder",
    "took_us",
];

/// `series.csv` of the given seconds.
pub fn series_text(rows: &[SeriesRow]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // The heading also stands above no rows at all.
    writer.write_record(SERIES_COLUMNS).expect("writing to memory");
    for row in rows {
        writer.write_record(series_cells(row)).expect("writing to memory");
    }
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
            us_text(row.due_us),
            row.ready_us.map_or(String::new(), us_text),
            row.sent_us.map_or(String::new(), us_text),
            row.retries.to_string(),
            us_text(row.budget.total),
        ];
        writer.write_record(head.into_iter().chain(amounts(&row.budget))).expect("to memory");
    }
    text(writer)
}

/// `transaction_statements.csv` of the given transactions; `None`: none of them was traced.
pub fn statements_text(rows: &[TransactionRow]) -> Option<String> {
    if rows.iter().all(|row| row.statements.is_empty()) {
        return None;
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let parts = Part::ALL.map(Part::name);
    writer.write_record(STATEMENT_COLUMNS.iter().chain(&parts)).expect("writing to memory");
    for (transaction, row) in rows.iter().enumerate() {
        for statement in &row.statements {
            let number = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
            let instant = |us: Option<f64>| us.map_or(String::new(), us_text);
            let head = [
                (transaction + 1).to_string(),
                statement.name.clone(),
                us_text(statement.sent_us),
                us_text(statement.read_us),
                us_text(statement.late_us),
                instant(statement.arrived_us),
                instant(statement.began_us),
                instant(statement.ended_us),
                number(statement.connection),
                number(statement.thread.map(u64::from)),
                instant(statement.lock_wait_us),
                statement.lock.clone(),
                statement.holder.clone(),
                number(statement.holder_thread.map(u64::from)),
                statement.cpu_holder.clone(),
                us_text(statement.budget.total),
            ];
            let record = head.into_iter().chain(amounts(&statement.budget));
            writer.write_record(record).expect("to memory");
        }
    }
    Some(text(writer))
}

/// Microseconds to the nanosecond.
fn us_text(us: f64) -> String {
    format!("{us:.3}")
}

/// A cell for each part.
fn amounts(budget: &super::BudgetUs) -> [String; Part::ALL.len()] {
    Part::ALL.map(|part| budget.get(part).map_or(String::new(), us_text))
}

/// Reads `series.csv`; columns are found by name, unknown ones are ignored.
pub(super) fn series(text: &str, path: &Path) -> Result<Vec<SeriesRow>, ReadError> {
    rows(text, path)
}

/// Reads `transactions.csv`; columns are found by name, unknown ones are ignored.
pub(super) fn transactions(text: &str, path: &Path) -> Result<Vec<TransactionRow>, ReadError> {
    each_row(text, path, |cells| transaction(&cells))
}

/// What is read of each row.
pub(super) fn each_row<T>(
    text: &str,
    path: &Path,
    read: impl Fn(RowCells<'_>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let maps: Vec<BTreeMap<String, String>> = rows(text, path)?;
    maps.iter().enumerate().map(|(at, map)| read(RowCells { map, line: at + 2, path })).collect()
}

/// Reads `transaction_statements.csv` into its transactions.
pub(super) fn statements(
    text: &str,
    path: &Path,
    transactions: &mut [TransactionRow],
) -> Result<(), ReadError> {
    let count = transactions.len();
    let numbered = each_row(text, path, |cells| {
        let number = cells.number("transaction")?.unwrap_or(0.0);
        let is_one = number >= 1.0 && number <= count as f64;
        let place = is_one.then(|| number as usize - 1);
        let place = place.ok_or_else(|| cells.malformed(format!("no transaction {number}")))?;
        Ok((place, statement(&cells)?))
    })?;
    for (place, statement) in numbered {
        transactions[place].statements.push(statement);
    }
    Ok(())
}

/// The cells of a row by the names of their columns.
pub(super) struct RowCells<'a> {
    map: &'a BTreeMap<String, String>,
    line: usize,
    path: &'a Path,
}

impl RowCells<'_> {
    fn text(&self, column: &str) -> &str {
        self.map.get(column).map_or("", String::as_str)
    }

    fn malformed(&self, problem: String) -> ReadError {
        ReadError::Malformed { path: self.path.to_owned(), line: self.line, problem }
    }

    /// A number; `None` where there is none.
    pub(super) fn number(&self, column: &str) -> Result<Option<f64>, ReadError> {
        let cell = self.text(column);
        if cell.is_empty() {
            return Ok(None);
        }
        let number = cell.parse().ok().filter(|value: &f64| value.is_finite());
        let malformed = || self.malformed(format!("`{cell}` in column {column} is no number"));
        number.map(Some).ok_or_else(malformed)
    }

    /// The columns of the parts, and their sum.
    fn budget(&self, total: &str) -> Result<super::BudgetUs, ReadError> {
        let total = self.number(total)?.unwrap_or(0.0);
        let mut budget = super::BudgetUs { total, ..Default::default() };
        for part in Part::ALL {
            budget.set(part, self.number(part.name())?);
        }
        Ok(budget)
    }
}

fn transaction(cells: &RowCells<'_>) -> Result<TransactionRow, ReadError> {
    Ok(TransactionRow {
        kept: cells.text("kept").to_owned().into(),
        operation: cells.text("operation").to_owned(),
        outcome: cells.text("outcome").to_owned(),
        due_us: cells.number("due_us")?.unwrap_or(0.0),
        ready_us: cells.number("ready_us")?,
        sent_us: cells.number("sent_us")?,
        retries: cells.number("retries")?.unwrap_or(0.0) as u32,
        budget: cells.budget("response_us")?,
        statements: Vec::new(),
    })
}

fn statement(cells: &RowCells<'_>) -> Result<TransactionStatement, ReadError> {
    Ok(TransactionStatement {
        name: cells.text("statement").to_owned(),
        sent_us: cells.number("sent_us")?.unwrap_or(0.0),
        read_us: cells.number("read_us")?.unwrap_or(0.0),
        late_us: cells.number("late_us")?.unwrap_or(0.0),
        arrived_us: cells.number("arrived_us")?,
        began_us: cells.number("began_us")?,
        ended_us: cells.number("ended_us")?,
        connection: cells.number("connection")?.map(|n| n as u64),
        thread: cells.number("thread")?.map(|n| n as u32),
        lock_wait_us: cells.number("lock_wait_us")?,
        lock: cells.text("lock_name").to_owned(),
        holder: cells.text("holder").to_owned(),
        holder_thread: cells.number("holder_thread")?.map(|n| n as u32),
        cpu_holder: cells.text("cpu_holder").to_owned(),
        budget: cells.budget("took_us")?,
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

pub(crate) fn text(writer: csv::Writer<Vec<u8>>) -> String {
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

/// The cells of a row, rounded to nanoseconds and hundredths of a percent.
fn series_cells(row: &SeriesRow) -> [String; SERIES_COLUMNS.len()] {
    let percent = |pct: f64| format!("{pct:.2}");
    [
        row.second.to_string(),
        row.phase.to_string(),
        row.offered.map_or(String::new(), |offered| offered.to_string()),
        row.completed.to_string(),
        row.failed.to_string(),
        row.retries.to_string(),
        us_text(row.response_mean_us),
        us_text(row.response_p50_us),
        us_text(row.response_p90_us),
        us_text(row.response_p99_us),
        us_text(row.response_max_us),
        us_text(row.service_mean_us),
        percent(row.usr_pct),
        percent(row.sys_pct),
        row.server_pct.map_or(String::new(), percent),
        percent(row.foreign_pct),
        row.run_queue.to_string(),
        percent(row.steal_pct),
    ]
}
