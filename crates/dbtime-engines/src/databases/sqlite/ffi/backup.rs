//! A database copied page by page while others use it.

use super::SqliteHandle;
use dbtime_load::failure::DatabaseFailure;
use rusqlite::ffi;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A copy in the making. It starts over where another connection writes to the source.
///
/// Source: SQLite manual, "Online Backup API".
pub(in crate::databases::sqlite) struct DatabaseBackup<'a> {
    raw: NonNull<ffi::sqlite3_backup>,
    /// The connections at both ends.
    ends: PhantomData<&'a SqliteHandle>,
}

impl<'a> DatabaseBackup<'a> {
    pub(in crate::databases::sqlite) fn begin(
        from: &'a SqliteHandle,
        into: &'a SqliteHandle,
    ) -> Result<Self, DatabaseFailure> {
        let (source, copy) = (from.raw.as_ptr(), into.raw.as_ptr());
        // SAFETY: both connections are open, and the names are C strings.
        let raw =
            unsafe { ffi::sqlite3_backup_init(copy, c"main".as_ptr(), source, c"main".as_ptr()) };
        let raw = NonNull::new(raw).ok_or_else(|| into.failure(ffi::SQLITE_ERROR))?;
        Ok(Self { raw, ends: PhantomData })
    }

    /// Copies so many pages more. Returns SQLite's result code: `SQLITE_DONE` behind the last one.
    pub(in crate::databases::sqlite) fn step(&mut self, pages: c_int) -> c_int {
        // SAFETY: the backup is valid, and so are the connections at its ends.
        unsafe { ffi::sqlite3_backup_step(self.raw.as_ptr(), pages) }
    }

    /// Pages that were left, and all pages, when the last step ended.
    pub(in crate::databases::sqlite) fn pages(&self) -> (u64, u64) {
        // SAFETY: as above.
        let (left, all) = unsafe {
            (
                ffi::sqlite3_backup_remaining(self.raw.as_ptr()),
                ffi::sqlite3_backup_pagecount(self.raw.as_ptr()),
            )
        };
        (u64::from(left.cast_unsigned()), u64::from(all.cast_unsigned()))
    }
}

impl Drop for DatabaseBackup<'_> {
    fn drop(&mut self) {
        // SAFETY: the backup is valid and not used again. What it returns, the steps have said.
        unsafe { ffi::sqlite3_backup_finish(self.raw.as_ptr()) };
    }
}
