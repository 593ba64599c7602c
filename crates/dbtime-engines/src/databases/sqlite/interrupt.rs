//! Ends the long statements of other threads' connections.

use rusqlite::ffi;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The open connections of a database.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections(Mutex<Vec<InterruptHandle>>);

/// A connection as `sqlite3_interrupt` takes it.
#[derive(Debug, PartialEq)]
struct InterruptHandle(*mut ffi::sqlite3);

// SAFETY: other threads do nothing with it but `sqlite3_interrupt`, which SQLite allows from any
// thread as long as the connection is open; it is taken out before that ends.
unsafe impl Send for InterruptHandle {}

impl OpenConnections {
    /// A connection was opened.
    pub(crate) fn add(&self, connection: *mut ffi::sqlite3) {
        self.lock().push(InterruptHandle(connection));
    }

    /// A connection is about to be closed.
    pub(crate) fn remove(&self, connection: *mut ffi::sqlite3) {
        self.lock().retain(|handle| *handle != InterruptHandle(connection));
    }

    /// Ends the statements that are under way on all of them.
    pub(crate) fn interrupt(&self) {
        // SAFETY: what is in the list is open, and stays so while the list is locked.
        self.lock().iter().for_each(|handle| unsafe { ffi::sqlite3_interrupt(handle.0) });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<InterruptHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
