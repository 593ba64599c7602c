//! SQLite's own mutexes, timed where a thread has to wait for one.
//!
//! Connections of one process share a few: of the memory allocator's statistics, of the log's
//! shared memory, of the list of open files. Whoever is switched out while holding one holds up all
//! others, and without this that wait would stay unexplained.
//! Nothing else changes: the mutexes are SQLite's, and one that is free is taken as before.

use super::context::ConnectionContext;
use rusqlite::ffi;
use std::ffi::c_int;
use std::sync::OnceLock;

/// SQLite's own functions.
static REAL: OnceLock<RealMutex> = OnceLock::new();

type EnterFn = unsafe extern "C" fn(*mut ffi::sqlite3_mutex);
type TryEnterFn = unsafe extern "C" fn(*mut ffi::sqlite3_mutex) -> c_int;

struct RealMutex {
    enter: EnterFn,
    try_enter: TryEnterFn,
}

/// Times waits for SQLite's own mutexes from now on, in sampled statements of all connections with
/// [`super::Measure::Budget`]. It must come before anything else this process does with SQLite;
/// later it changes nothing, and such waits stay unexplained. Says whether they are timed.
pub fn time_mutexes() -> bool {
    static TIMED: OnceLock<bool> = OnceLock::new();
    *TIMED.get_or_init(|| install().is_some())
}

fn install() -> Option<()> {
    // Refused by an SQLite that is in use; otherwise there is nothing to shut down but what the
    // first line started. Until then SQLite has not chosen its mutexes, and has none to tell.
    default_methods()?;
    // SAFETY: nothing in this process uses SQLite yet, so no object can outlive the shutdown.
    unsafe {
        if ffi::sqlite3_initialize() != ffi::SQLITE_OK || ffi::sqlite3_shutdown() != ffi::SQLITE_OK
        {
            return None;
        }
    }
    let mut methods = default_methods()?;
    let real = RealMutex { enter: methods.xMutexEnter?, try_enter: methods.xMutexTry? };
    REAL.set(real).ok()?;
    methods.xMutexEnter = Some(enter);
    // SAFETY: the argument is what this option takes; SQLite copies the struct.
    let code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MUTEX, &raw const methods) };
    (code == ffi::SQLITE_OK).then_some(())
}

/// SQLite's present mutex functions; `None` when it is in use and will not have them changed.
fn default_methods() -> Option<ffi::sqlite3_mutex_methods> {
    // SAFETY: the struct holds optional function pointers only; all-zero means none.
    let mut methods: ffi::sqlite3_mutex_methods = unsafe { std::mem::zeroed() };
    // SAFETY: the argument is what this option takes.
    let code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_GETMUTEX, &raw mut methods) };
    (code == ffi::SQLITE_OK).then_some(methods)
}

/// Takes a mutex; measures if that means waiting.
unsafe extern "C" fn enter(mutex: *mut ffi::sqlite3_mutex) {
    let Some(real) = REAL.get() else { return };
    // SAFETY: the mutex is SQLite's own and handed on unchanged.
    if unsafe { (real.try_enter)(mutex) } == ffi::SQLITE_OK {
        return;
    }
    // SAFETY: as above.
    let wait = || unsafe { (real.enter)(mutex) };
    // SAFETY: a context that is current belongs to a connection of this thread that is alive.
    match unsafe { ConnectionContext::current().as_ref() } {
        Some(context) => context.wait_for_mutex(wait),
        None => wait(),
    }
}
