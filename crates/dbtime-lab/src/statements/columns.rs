//! The columns of `statements.parquet`: one list, from which the file's schema and its values come.

use super::execution_row::{ExecutionRow, ServedStatement};
use super::statement_names::StatementNames;
use crate::join::ServerAnswer;
use dbtime_model::Part;
use dbtime_model::traced::{Blocker, ErrorCode};
use std::borrow::Cow;

/// A column of the file.
pub(super) struct StatementColumn {
    /// Its name; times end in `_ns`.
    pub(super) name: &'static str,
    pub(super) value: ColumnValue,
}

/// Where the values of a column come from; `None` is null.
#[derive(Clone, Copy)]
pub(super) enum ColumnValue {
    Number(fn(&ExecutionRow) -> Option<i64>),
    /// What a part came to.
    Part(Part),
    Text(for<'a> fn(&'a ExecutionRow, &'a StatementNames) -> Option<Cow<'a, str>>),
}

const fn number(name: &'static str, value: fn(&ExecutionRow) -> Option<i64>) -> StatementColumn {
    StatementColumn { name, value: ColumnValue::Number(value) }
}

const fn part(name: &'static str, part: Part) -> StatementColumn {
    StatementColumn { name, value: ColumnValue::Part(part) }
}

const fn text(
    name: &'static str,
    value: for<'a> fn(&'a ExecutionRow, &'a StatementNames) -> Option<Cow<'a, str>>,
) -> StatementColumn {
    StatementColumn { name, value: ColumnValue::Text(value) }
}

/// The columns in their order. Of a matched statement `late_ns`, `overlap_ns` and all from
/// `client_ns` to `unexplained_ns` add up to `received_ns - sent_ns`.
pub(super) const COLUMNS: [StatementColumn; 38] = [
    number("transaction", |row| Some(row.transaction.cast_signed())),
    text("operation", |row, names| names.operation(row).map(Cow::Borrowed)),
    text("statement", |row, names| names.statement(row).map(Cow::Borrowed)),
    text("outcome", |row, _| Some(Cow::Borrowed(crate::summary::outcome(row.outcome)))),
    text("match", |row, _| Some(Cow::Borrowed(row.matched.name()))),
    number("connection", |row| row.connection.map(i64::from)),
    number("server_id", |row| answer(row)?.server_id.map(u64::cast_signed)),
    number("due_ns", |row| Some(row.due)),
    number("sent_ns", |row| Some(row.sent)),
    number("received_ns", |row| Some(row.received)),
    number("late_ns", |row| Some(row.late)),
    number("overlap_ns", |row| Some(served(row)?.overlap)),
    part("client_ns", Part::Client),
    part("wire_ns", Part::Wire),
    part("server_queue_ns", Part::ServerQueue),
    part("cpu_ns", Part::Cpu),
    part("runq_preempted_ns", Part::RunqPreempted),
    part("runq_woken_ns", Part::RunqWoken),
    part("throttled_ns", Part::Throttled),
    part("stopped_ns", Part::Stopped),
    part("lock_ns", Part::Lock),
    part("io_read_ns", Part::IoRead),
    part("io_write_ns", Part::IoWrite),
    part("sync_ns", Part::Sync),
    part("net_ns", Part::Net),
    part("sleep_ns", Part::Sleep),
    part("other_ns", Part::Other),
    part("unexplained_ns", Part::Unexplained),
    number("wire_out_ns", |row| served(row)?.way_out),
    number("wire_back_ns", |row| served(row)?.way_back),
    number("client_runq_ns", |row| Some(served(row)?.client_runq?.signed())),
    number("rows", |row| answer(row)?.rows.map(u64::cast_signed)),
    text("error", |row, _| answer(row)?.error.as_ref().map(error_text)),
    number("lock_wait_ns", |row| Some(blocker(row)?.length.signed())),
    text("lock_name", |row, _| blocker(row)?.lock.as_deref().map(Cow::Borrowed)),
    number("lock_holder_id", |row| blocker(row)?.server_id.map(u64::cast_signed)),
    text("lock_holder_statement", |row, _| blocker(row)?.statement.as_deref().map(Cow::Borrowed)),
    text("cpu_holder", |row, _| answer(row)?.preemptor.as_deref().map(Cow::Borrowed)),
];

fn served(row: &ExecutionRow) -> Option<&ServedStatement> {
    row.served.as_ref()
}

fn answer(row: &ExecutionRow) -> Option<&ServerAnswer> {
    Some(&served(row)?.answer)
}

fn blocker(row: &ExecutionRow) -> Option<&Blocker> {
    answer(row)?.blocker.as_deref()
}

fn error_text(code: &ErrorCode) -> Cow<'_, str> {
    match code {
        ErrorCode::Number(number) => Cow::Owned(number.to_string()),
        ErrorCode::SqlState(state) => Cow::Borrowed(state),
    }
}

/// What a part of a row came to; `None`: it was not measured.
pub(super) fn part_ns(row: &ExecutionRow, part: Part) -> Option<i64> {
    let parts = &served(row)?.parts;
    parts.measured().has(part).then(|| parts.get(part))
}
