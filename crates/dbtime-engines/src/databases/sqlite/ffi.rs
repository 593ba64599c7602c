//! SQLite's C interface behind safe methods, as few as the engine needs.
//!
//! A connection is used by one thread only and opened without SQLite's own mutex. Parameters are
//! bound without copying: [`SqlitePrepared::run`] binds, steps to the end and resets in one call,
//! so what
//! it was given outlives every use SQLite makes of it.

mod backup;
mod limit;
mod rows;
mod steps;

pub(super) use backup::DatabaseBackup;
pub(super) use limit::ExecutionLimit;
pub(super) use rows::SeenRows;

use super::busy;
use super::context::ConnectionContext;
use super::failure::{self, DatabaseFailure};
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_model::plain_text::legible;
use dbtime_sql::without_sqlite_values;
use rusqlite::ffi;
use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::NonNull;
use std::rc::Rc;

/// An open connection.
pub(super) struct SqliteHandle {
    raw: NonNull<ffi::sqlite3>,
    /// Files and the busy handler point here until the connection is closed.
    context: Rc<ConnectionContext>,
    /// The progress handler points here until the connection is closed.
    limit: OnceCell<Rc<ExecutionLimit>>,
}

impl SqliteHandle {
    /// Opens a file through the VFS of that name, or SQLite's default one.
    pub(super) fn open(
        path: &CStr,
        flags: c_int,
        vfs: Option<&CStr>,
        context: Rc<ConnectionContext>,
    ) -> Result<Self, DatabaseFailure> {
        let mut raw = std::ptr::null_mut();
        let flags = flags | ffi::SQLITE_OPEN_NOMUTEX | ffi::SQLITE_OPEN_EXRESCODE;
        context.enter();
        // SAFETY: the strings are C strings and `raw` is a place for the connection.
        let code = unsafe {
            ffi::sqlite3_open_v2(
                path.as_ptr(),
                &mut raw,
                flags,
                vfs.map_or(std::ptr::null(), CStr::as_ptr),
            )
        };
        let Some(raw) = NonNull::new(raw) else {
            context.leave();
            let code = ffi::SQLITE_NOMEM;
            let class = failure::class(ffi::SQLITE_NOMEM);
            let plain = DatabaseFailure::connection(failure::name(code), "out of memory");
            return Err(DatabaseFailure { class, ..plain });
        };
        // A connection that could not be opened still has the message, and is closed all the same.
        let db = Self { raw, context, limit: OnceCell::new() };
        if code != ffi::SQLITE_OK {
            return Err(db.failure(code));
        }
        let context = Rc::as_ptr(&db.context).cast_mut().cast();
        // SAFETY: the context outlives the connection, which holds a share in it.
        unsafe {
            ffi::sqlite3_busy_handler(raw.as_ptr(), Some(busy::on_busy), context);
        }
        // Where SQLite is built to, it counts unless told otherwise, at a cost.
        db.count_steps(false);
        db.context.registry.open.add(raw.as_ptr());
        Ok(db)
    }

    /// What its callbacks know.
    pub(super) fn context(&self) -> &ConnectionContext {
        &self.context
    }

    /// Prepares a statement that will be executed often.
    pub(super) fn prepare(&self, sql: &str) -> Result<SqlitePrepared, DatabaseFailure> {
        let (prepared, _) = self.prepare_first(sql)?;
        prepared.ok_or_else(|| self.failure(ffi::SQLITE_MISUSE))
    }

    /// Prepares the first statement of a text, and says how long its text is. `None`: there is
    /// none, only blanks and comments.
    pub(super) fn prepare_first(
        &self,
        sql: &str,
    ) -> Result<(Option<SqlitePrepared>, usize), DatabaseFailure> {
        let mut raw = std::ptr::null_mut();
        let mut tail = std::ptr::null();
        let bytes = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
        // SAFETY: the text has that many bytes, and `raw` is a place for the statement.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(
                self.raw.as_ptr(),
                sql.as_ptr().cast(),
                bytes,
                ffi::SQLITE_PREPARE_PERSISTENT,
                &mut raw,
                &mut tail,
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(self.failure(code));
        }
        // SQLite lets the tail point into the text, or at its end.
        let used = (tail as usize).saturating_sub(sql.as_ptr() as usize).min(sql.len());
        let Some(raw) = NonNull::new(raw) else { return Ok((None, used)) };
        // SAFETY: the statement was prepared just now.
        let (columns, parameters) = unsafe {
            (
                ffi::sqlite3_column_count(raw.as_ptr()),
                ffi::sqlite3_bind_parameter_count(raw.as_ptr()),
            )
        };
        let counts_changes = counts_changes(&sql[..used]);
        Ok((Some(SqlitePrepared { raw, db: self.raw, columns, parameters, counts_changes }), used))
    }

    /// The first column of the first row, as text; `None` without rows.
    pub(super) fn query_text(&self, sql: &str) -> Result<Option<String>, DatabaseFailure> {
        let mut row = Vec::new();
        let rows = self.query_row(sql, &[], &mut row)?;
        Ok((rows > 0).then(|| row.first().map(text_of).unwrap_or_default()))
    }

    /// Fills in the first row and returns the number of rows.
    pub(super) fn query_row(
        &self,
        sql: &str,
        parameters: &[SqlValue],
        row: &mut Vec<SqlValue>,
    ) -> Result<u64, DatabaseFailure> {
        self.prepare(sql)?.run(parameters, Some(row)).map_err(|code| self.failure_of_run(code))
    }

    /// What executing a statement failed of, without the values of rows and parameters.
    #[cold]
    pub(super) fn failure_of_run(&self, code: c_int) -> DatabaseFailure {
        let failure = self.failure(code);
        let message = without_sqlite_values(&failure.code, &failure.message).into_owned();
        DatabaseFailure { message, ..failure }
    }

    /// What the last call on this connection failed of.
    #[cold]
    pub(super) fn failure(&self, code: c_int) -> DatabaseFailure {
        // SAFETY: the connection is open; the message is a C string valid until the next call.
        let (extended, message) = unsafe {
            let message = CStr::from_ptr(ffi::sqlite3_errmsg(self.raw.as_ptr()));
            (ffi::sqlite3_extended_errcode(self.raw.as_ptr()), message.to_string_lossy())
        };
        // Binding a wrong number of parameters is found before SQLite is asked.
        let is_current = extended & 0xff == code & 0xff;
        let extended = if is_current { extended } else { code };
        let message = match code {
            ffi::SQLITE_RANGE => "wrong number of parameters".to_owned(),
            _ if is_current => legible(&message),
            _ => failure::name(code).to_owned(),
        };
        let plain = DatabaseFailure::statement(failure::name(extended), "", message);
        DatabaseFailure { class: failure::class(extended), undone: self.is_autocommit(), ..plain }
    }

    /// Whether no transaction is open.
    pub(super) fn is_autocommit(&self) -> bool {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_get_autocommit(self.raw.as_ptr()) != 0 }
    }

    /// A counter of the connection since it was opened, such as `SQLITE_DBSTATUS_CACHE_HIT`.
    pub(super) fn status(&self, counter: c_int) -> u64 {
        let mut current = 0;
        let mut highest = 0;
        // SAFETY: the connection is open and both numbers are places to write to.
        unsafe {
            ffi::sqlite3_db_status(self.raw.as_ptr(), counter, &mut current, &mut highest, 0);
        }
        // The counters are 32 bits wide and wrap.
        u64::from(current.cast_unsigned())
    }
}

impl Drop for SqliteHandle {
    fn drop(&mut self) {
        self.context.registry.open.remove(self.raw.as_ptr());
        // Closing may checkpoint, and so open, read and write files.
        self.context.enter();
        // SAFETY: the owner drops its statements before its connection; SQLite refuses to close
        // otherwise, and the connection would leak rather than dangle.
        let code = unsafe { ffi::sqlite3_close(self.raw.as_ptr()) };
        debug_assert_eq!(code, ffi::SQLITE_OK, "a statement outlived its connection");
        self.context.leave();
        if code != ffi::SQLITE_OK {
            // The leaked connection's files keep pointing to the context.
            std::mem::forget(Rc::clone(&self.context));
        }
    }
}

/// Whether `sqlite3_changes` speaks of this statement after it ran.
fn counts_changes(sql: &str) -> bool {
    let word = sql.split_ascii_whitespace().next().unwrap_or_default();
    ["insert", "update", "delete", "replace", "with"].iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// A prepared statement. It must be dropped before its connection.
pub(super) struct SqlitePrepared {
    raw: NonNull<ffi::sqlite3_stmt>,
    db: NonNull<ffi::sqlite3>,
    columns: c_int,
    parameters: c_int,
    counts_changes: bool,
}

impl SqlitePrepared {
    /// How many parameters it has.
    pub(super) fn parameters(&self) -> usize {
        self.parameters as usize
    }

    /// Binds the parameters, steps to the end and resets. Returns the rows returned, or changed
    /// where none are; the first row goes to `first`. The error is SQLite's result code.
    #[inline]
    pub(super) fn run(
        &mut self,
        parameters: &[SqlValue],
        first: Option<&mut Vec<SqlValue>>,
    ) -> Result<u64, c_int> {
        self.bind_all(parameters)?;
        let (rows, code) = self.step_to_end(first);
        // SAFETY: the statement is valid; the result repeats that of the last step.
        unsafe { ffi::sqlite3_reset(self.raw.as_ptr()) };
        match code {
            ffi::SQLITE_DONE if self.columns == 0 && self.counts_changes => Ok(self.changes()),
            ffi::SQLITE_DONE => Ok(rows),
            code => Err(code),
        }
    }

    /// The same, with everything that comes back added to `results` as a result of its own.
    pub(super) fn run_into(
        &mut self,
        parameters: &[SqlValue],
        results: &mut ResultSets,
    ) -> Result<(), c_int> {
        self.bind_all(parameters)?;
        results.begin_set();
        (0..self.columns).for_each(|index| results.push_column(self.column_name(index)));
        let code = loop {
            // SAFETY: the statement is valid, and its parameters are alive.
            let code = unsafe { ffi::sqlite3_step(self.raw.as_ptr()) };
            if code != ffi::SQLITE_ROW {
                break code;
            }
            (0..self.columns).for_each(|index| results.push_value(self.column_text(index)));
            results.end_row();
        };
        // SAFETY: the statement is valid; the result repeats that of the last step.
        unsafe { ffi::sqlite3_reset(self.raw.as_ptr()) };
        if self.columns == 0 && self.counts_changes && code == ffi::SQLITE_DONE {
            results.set_affected(self.changes());
        }
        if code == ffi::SQLITE_DONE { Ok(()) } else { Err(code) }
    }

    fn column_name(&self, index: c_int) -> &[u8] {
        // SAFETY: the statement is valid and has that column; the name lives until it is prepared
        // anew or finalized.
        let name = unsafe { ffi::sqlite3_column_name(self.raw.as_ptr(), index) };
        // SAFETY: a C string, or null when memory has run out.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
        name.map_or(&[], CStr::to_bytes)
    }

    /// A value of the row the statement stands on, as text; `None` for NULL.
    #[inline]
    fn column_text(&mut self, index: c_int) -> Option<&[u8]> {
        let raw = self.raw.as_ptr();
        // SAFETY: the statement stands on a row and the column exists; text and its length are read
        // in the documented order, and the text lives until the next call on this statement.
        unsafe {
            let start = ffi::sqlite3_column_text(raw, index);
            let bytes = ffi::sqlite3_column_bytes(raw, index).unsigned_abs() as usize;
            if !start.is_null() {
                return Some(std::slice::from_raw_parts(start, bytes));
            }
            let is_null = ffi::sqlite3_column_type(raw, index) == ffi::SQLITE_NULL;
            (!is_null).then_some(&[])
        }
    }

    /// Binds all parameters. A wrong number of them is found before SQLite is asked: one left
    /// unbound would keep the pointer of an earlier execution.
    #[inline]
    fn bind_all(&mut self, parameters: &[SqlValue]) -> Result<(), c_int> {
        if parameters.len() != self.parameters as usize {
            return Err(ffi::SQLITE_RANGE);
        }
        for (index, value) in (1..).zip(parameters) {
            let code = self.bind(index, value);
            if code != ffi::SQLITE_OK {
                return Err(code);
            }
        }
        Ok(())
    }

    #[inline]
    fn step_to_end(&mut self, first: Option<&mut Vec<SqlValue>>) -> (u64, c_int) {
        let mut rows = 0;
        // SAFETY: the statement is valid, and its parameters are alive (see `run`).
        let mut code = unsafe { ffi::sqlite3_step(self.raw.as_ptr()) };
        if let Some(first) = first {
            match code {
                ffi::SQLITE_ROW => self.read_row(first),
                _ => first.clear(),
            }
        }
        while code == ffi::SQLITE_ROW {
            rows += 1;
            // SAFETY: as above.
            code = unsafe { ffi::sqlite3_step(self.raw.as_ptr()) };
        }
        (rows, code)
    }

    /// Only for [`SqlitePrepared::run`], which keeps the value alive until the statement is reset.
    #[inline]
    fn bind(&mut self, index: c_int, value: &SqlValue) -> c_int {
        let raw = self.raw.as_ptr();
        // SAFETY: the statement is valid and reset; text is bound without copying and read only
        // while it is borrowed by `run`.
        unsafe {
            match value {
                SqlValue::Null => ffi::sqlite3_bind_null(raw, index),
                SqlValue::Integer(number) => ffi::sqlite3_bind_int64(raw, index, *number),
                SqlValue::Real(number) => ffi::sqlite3_bind_double(raw, index, *number),
                SqlValue::Text(text) => ffi::sqlite3_bind_text64(
                    raw,
                    index,
                    text.as_ptr().cast::<c_char>(),
                    text.len() as u64,
                    ffi::SQLITE_STATIC(),
                    ffi::SQLITE_UTF8 as u8,
                ),
            }
        }
    }

    /// Reads the row the statement stands on, into the buffers of an earlier one.
    fn read_row(&mut self, row: &mut Vec<SqlValue>) {
        row.resize(self.columns.unsigned_abs() as usize, SqlValue::Null);
        for (index, value) in (0..).zip(row.iter_mut()) {
            self.read_column(index, value);
        }
    }

    fn read_column(&mut self, index: c_int, value: &mut SqlValue) {
        let raw = self.raw.as_ptr();
        // SAFETY: the statement stands on a row and the column exists.
        unsafe {
            match ffi::sqlite3_column_type(raw, index) {
                ffi::SQLITE_INTEGER => {
                    *value = SqlValue::Integer(ffi::sqlite3_column_int64(raw, index));
                }
                ffi::SQLITE_FLOAT => {
                    *value = SqlValue::Real(ffi::sqlite3_column_double(raw, index))
                }
                ffi::SQLITE_NULL => *value = SqlValue::Null,
                _ => set_text(value, self.column_text(index).unwrap_or_default()),
            }
        }
    }

    #[inline]
    fn changes(&self) -> u64 {
        // SAFETY: the connection outlives its statements.
        unsafe { ffi::sqlite3_changes64(self.db.as_ptr()) }.cast_unsigned()
    }
}

impl Drop for SqlitePrepared {
    fn drop(&mut self) {
        // SAFETY: the statement is valid and not used again.
        unsafe { ffi::sqlite3_finalize(self.raw.as_ptr()) };
    }
}

/// Text of the database is UTF-8 by promise only; blobs come here too.
fn set_text(value: &mut SqlValue, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match value {
        SqlValue::Text(buffer) => {
            buffer.clear();
            buffer.push_str(&text);
        }
        _ => *value = SqlValue::Text(text.into_owned()),
    }
}

/// A value as text, as pragmas are read.
pub(super) fn text_of(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.clone(),
    }
}

/// A path as SQLite takes it; `None` when it contains a zero byte, or is empty, which SQLite would
/// take for a temporary database.
pub(super) fn c_path(path: &std::path::Path) -> Option<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).ok().filter(|path| !path.is_empty())
}

/// The version of the SQLite library that is built in.
pub(super) fn library_version() -> &'static str {
    // SAFETY: a static C string.
    unsafe { CStr::from_ptr(ffi::sqlite3_libversion()) }.to_str().unwrap_or("unknown")
}

/// The options the library was built with, without their `SQLITE_` prefix.
pub(super) fn compile_options() -> Vec<String> {
    let option = |index| {
        // SAFETY: any index is allowed; beyond the last one the result is null.
        let name = unsafe { ffi::sqlite3_compileoption_get(index) };
        // SAFETY: otherwise it is a static C string.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    };
    (0..).map_while(option).collect()
}
