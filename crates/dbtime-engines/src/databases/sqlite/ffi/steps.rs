//! What SQLite counts of an execution: for the whole statement always, for each of its steps where
//! it is built to and the connection turns it on.
//!
//! Source: SQLite manual, "Prepared Statement Scan Status" and "Status Parameters for prepared
//! statements".

use super::{SqliteHandle, SqlitePrepared};
use crate::server::ExecutedStep;
use rusqlite::ffi;
use std::ffi::c_int;

impl SqliteHandle {
    /// Counts what each step does, or does not. Statements that are prepared are prepared anew
    /// before they are executed next.
    pub(in crate::databases::sqlite) fn count_steps(&self, is_on: bool) {
        let option = ffi::SQLITE_DBCONFIG_STMT_SCANSTATUS;
        // SAFETY: the connection is open; the option takes a number and a place for the present
        // state, which may be null.
        unsafe {
            ffi::sqlite3_db_config(
                self.raw.as_ptr(),
                option,
                c_int::from(is_on),
                std::ptr::null_mut::<c_int>(),
            );
        }
    }
}

impl SqlitePrepared {
    /// A counter of the statement since it was last read, such as `SQLITE_STMTSTATUS_SORT`.
    pub(in crate::databases::sqlite) fn take_count(&mut self, counter: c_int) -> u64 {
        // SAFETY: the statement is valid.
        let count = unsafe { ffi::sqlite3_stmt_status(self.raw.as_ptr(), counter, 1) };
        // The counters are 32 bits wide and wrap.
        u64::from(count.cast_unsigned())
    }

    /// What its steps did since [`Self::forget_steps`]; empty where that is not counted.
    pub(in crate::databases::sqlite) fn steps(&self) -> Vec<ExecutedStep> {
        (0..).map_while(|index| self.step(index)).collect()
    }
}

#[cfg(not(sqlite_steps))]
impl SqlitePrepared {
    pub(in crate::databases::sqlite) fn forget_steps(&mut self) {}

    fn step(&self, _: c_int) -> Option<ExecutedStep> {
        None
    }
}

#[cfg(sqlite_steps)]
mod counted {
    use super::{ExecutedStep, SqlitePrepared, c_int, ffi};
    use std::ffi::{CStr, c_char, c_void};

    // The bindings of libsqlite3-sys leave them out.
    unsafe extern "C" {
        fn sqlite3_stmt_scanstatus_v2(
            statement: *mut ffi::sqlite3_stmt,
            index: c_int,
            figure: c_int,
            flags: c_int,
            out: *mut c_void,
        ) -> c_int;

        fn sqlite3_stmt_scanstatus_reset(statement: *mut ffi::sqlite3_stmt);
    }

    impl SqlitePrepared {
        /// Sets what was counted to zero.
        pub(in crate::databases::sqlite) fn forget_steps(&mut self) {
            // SAFETY: the statement is valid.
            unsafe { sqlite3_stmt_scanstatus_reset(self.raw.as_ptr()) };
        }

        pub(super) fn step(&self, index: c_int) -> Option<ExecutedStep> {
            let loops = self.number(index, ffi::SQLITE_SCANSTAT_NLOOP)?;
            let count = |figure| self.number(index, figure).and_then(|n| u64::try_from(n).ok());
            let estimate = || self.figure(index, ffi::SQLITE_SCANSTAT_EST, 0.0);
            Some(ExecutedStep {
                id: self.identity(index, ffi::SQLITE_SCANSTAT_SELECTID),
                parent: self.identity(index, ffi::SQLITE_SCANSTAT_PARENTID),
                detail: self.text(index, ffi::SQLITE_SCANSTAT_EXPLAIN).unwrap_or_default(),
                name: self.text(index, ffi::SQLITE_SCANSTAT_NAME),
                loops: u64::try_from(loops).unwrap_or(0),
                rows: count(ffi::SQLITE_SCANSTAT_NVISIT).unwrap_or(0),
                // Of a step that is no loop SQLite estimates nothing, and has -1 loops.
                estimated_rows: if loops < 0 { None } else { estimate() },
                cycles: count(ffi::SQLITE_SCANSTAT_NCYCLE),
            })
        }

        fn number(&self, index: c_int, figure: c_int) -> Option<i64> {
            self.figure(index, figure, 0_i64)
        }

        /// The number of a step or its parent; 0: none.
        fn identity(&self, index: c_int, figure: c_int) -> i64 {
            self.figure::<c_int>(index, figure, 0).map_or(0, |id| i64::from(id.max(0)))
        }

        fn text(&self, index: c_int, figure: c_int) -> Option<String> {
            let start = self.figure::<*const c_char>(index, figure, std::ptr::null())?;
            // SAFETY: a C string that lives as long as the statement is not prepared anew, or null.
            let text = (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) })?;
            Some(text.to_string_lossy().into_owned())
        }

        /// A figure of a step, whose type is that of `zero`; `None`: there is no such step.
        fn figure<T>(&self, index: c_int, figure: c_int, zero: T) -> Option<T> {
            let mut value = zero;
            let (statement, out) = (self.raw.as_ptr(), (&raw mut value).cast());
            // All steps, and not those alone that read a table.
            let flags = ffi::SQLITE_SCANSTAT_COMPLEX;
            // SAFETY: the statement is valid, and each caller has a place of the figure's type.
            let code = unsafe { sqlite3_stmt_scanstatus_v2(statement, index, figure, flags, out) };
            (code == 0).then_some(value)
        }
    }
}
