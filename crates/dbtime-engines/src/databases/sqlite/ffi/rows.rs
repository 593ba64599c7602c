//! Executions whose rows are looked at as they come, of which none is kept.

use super::SqlitePrepared;
use crate::server::{CellValue, RowVisitor};
use dbtime_load::program::SqlValue;
use rusqlite::ffi;
use std::ffi::c_int;

/// What an execution brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::databases::sqlite) struct SeenRows {
    /// Rows returned, or changed where none are returned.
    pub(in crate::databases::sqlite) rows: u64,
    /// Bytes of their values; a number has eight.
    pub(in crate::databases::sqlite) bytes: u64,
}

impl SqlitePrepared {
    /// The names of its columns; empty where it returns no rows.
    pub(in crate::databases::sqlite) fn column_names(&self) -> Vec<String> {
        let name = |index| String::from_utf8_lossy(self.column_name(index)).into_owned();
        (0..self.columns).map(name).collect()
    }

    /// Binds the parameters, steps to the end, showing each row, and resets. The error is SQLite's
    /// result code.
    pub(in crate::databases::sqlite) fn run_seen(
        &mut self,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> Result<SeenRows, c_int> {
        self.bind_all(parameters)?;
        let mut seen = SeenRows::default();
        let code = loop {
            // SAFETY: the statement is valid, and its parameters are alive.
            let code = unsafe { ffi::sqlite3_step(self.raw.as_ptr()) };
            if code != ffi::SQLITE_ROW {
                break code;
            }
            for index in 0..self.columns {
                let value = self.cell(index);
                seen.bytes += length(value);
                rows.cell(value);
            }
            rows.end_row();
            seen.rows += 1;
        };
        // SAFETY: the statement is valid; the result repeats that of the last step.
        unsafe { ffi::sqlite3_reset(self.raw.as_ptr()) };
        match code {
            ffi::SQLITE_DONE if self.columns == 0 && self.counts_changes => {
                Ok(SeenRows { rows: self.changes(), ..seen })
            }
            ffi::SQLITE_DONE => Ok(seen),
            code => Err(code),
        }
    }

    /// A value of the row the statement stands on.
    fn cell(&mut self, index: c_int) -> CellValue<'_> {
        let raw = self.raw.as_ptr();
        // SAFETY: the statement stands on a row and the column exists.
        unsafe {
            match ffi::sqlite3_column_type(raw, index) {
                ffi::SQLITE_NULL => CellValue::Null,
                ffi::SQLITE_INTEGER => CellValue::Integer(ffi::sqlite3_column_int64(raw, index)),
                ffi::SQLITE_FLOAT => CellValue::Real(ffi::sqlite3_column_double(raw, index)),
                ffi::SQLITE_BLOB => CellValue::Bytes(self.column_blob(index)),
                _ => CellValue::Text(self.column_text(index).unwrap_or_default()),
            }
        }
    }

    fn column_blob(&mut self, index: c_int) -> &[u8] {
        let raw = self.raw.as_ptr();
        // SAFETY: the statement stands on a row and the column exists; the bytes and their length
        // are read in the documented order, and live until the next call on this statement.
        unsafe {
            let start = ffi::sqlite3_column_blob(raw, index).cast::<u8>();
            let bytes = ffi::sqlite3_column_bytes(raw, index).unsigned_abs() as usize;
            // An empty one has no place.
            if start.is_null() { &[] } else { std::slice::from_raw_parts(start, bytes) }
        }
    }
}

fn length(value: CellValue<'_>) -> u64 {
    match value {
        CellValue::Null => 0,
        CellValue::Integer(_) | CellValue::Unsigned(_) | CellValue::Real(_) => 8,
        CellValue::Decimal(bytes) | CellValue::Text(bytes) | CellValue::Bytes(bytes) => {
            bytes.len() as u64
        }
    }
}
