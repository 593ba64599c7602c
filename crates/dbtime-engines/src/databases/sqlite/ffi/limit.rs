//! Ends executions that take too long, or that are not waited for any more.

use super::SqliteHandle;
use crate::drive::plan::RunStop;
use crate::server::StatementBound;
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::{ErrorClass, MonoNanos, Nanos};
use rusqlite::ffi;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

/// Instructions of SQLite's machine between two looks at the clock: some ten microseconds, of which
/// a look takes less than a hundredth.
const INSTRUCTIONS: c_int = 1_000;

/// By when the present execution of a connection has to end.
pub(in crate::databases::sqlite) struct ExecutionLimit {
    limit: Nanos,
    stop: RunStop,
    until: Cell<MonoNanos>,
}

impl ExecutionLimit {
    pub(in crate::databases::sqlite) fn new(bound: &StatementBound) -> Self {
        let StatementBound { limit, stop } = bound.clone();
        Self { limit, stop, until: Cell::new(MonoNanos(u64::MAX)) }
    }

    /// An execution begins.
    pub(in crate::databases::sqlite) fn begin(&self) {
        self.until.set(now() + self.limit);
    }

    /// Whether the present execution has to end.
    fn has_come(&self) -> bool {
        let present = now();
        present >= self.until.get() || self.stop.has_come(present)
    }

    /// A failure with the reason why the limit has ended the execution, where it has.
    #[cold]
    pub(in crate::databases::sqlite) fn explained(
        &self,
        failure: DatabaseFailure,
    ) -> DatabaseFailure {
        if failure.class != ErrorClass::Interrupted {
            return failure;
        }
        let (class, message) = match self.stop.has_come(now()) {
            true => (failure.class, "dbtime no longer waits for the statement".to_owned()),
            false => (
                ErrorClass::Timeout,
                format!(
                    "the statement was ended after its timeout of {}; raise --statement-timeout",
                    self.limit
                ),
            ),
        };
        DatabaseFailure { class, message, ..failure }
    }
}

impl SqliteHandle {
    /// Has a limit end executions, and waits for locks, from now on and for good.
    pub(in crate::databases::sqlite) fn end_by(&self, limit: Rc<ExecutionLimit>) {
        let limit = self.limit.get_or_init(|| limit);
        let busy_timeout = &self.context.busy_timeout;
        busy_timeout.set(busy_timeout.get().min(limit.limit));
        let context = Rc::as_ptr(limit).cast_mut().cast();
        // SAFETY: the connection is open, and has a share in the limit until after it is closed.
        unsafe {
            ffi::sqlite3_progress_handler(
                self.raw.as_ptr(),
                INSTRUCTIONS,
                Some(on_progress),
                context,
            );
        }
    }
}

/// Called by SQLite every so many instructions; returns whether to end the execution.
///
/// # Safety
/// `limit` must point to the limit of the connection, and stay valid while it is open.
unsafe extern "C" fn on_progress(limit: *mut c_void) -> c_int {
    // SAFETY: by contract; limits are only ever used through shared references.
    let limit = unsafe { limit.cast::<ExecutionLimit>().as_ref() };
    c_int::from(limit.is_some_and(ExecutionLimit::has_come))
}
