//! One open file of the timing VFS: a header of our own, and behind it the file of the VFS below.
//!
//! ```text
//!   ┌ TimedFile ─────────────────────────┐┌ the file below, szOsFile bytes ┐
//!   │ methods │ below's methods │ context │ kind ││ methods │ …                      │
//! ```
//!
//! Calls that may block are timed; calls that take locks are counted and noted in the registry, so
//! that a waiting worker can tell who holds the write lock; everything goes through unchanged.

use super::context::ConnectionContext;
use super::figures::{SqliteFileKind, VfsCall};
use dbtime_model::Part;
use rusqlite::ffi;
use std::ffi::{c_int, c_void};

/// Result code, as SQLite gives and takes it.
type ResultCode = c_int;

/// The header of a file.
#[repr(C)]
pub(super) struct TimedFile {
    /// What SQLite looks at: a table of methods.
    base: ffi::sqlite3_file,
    /// The connection the file belongs to; null for connections without figures.
    context: *const ConnectionContext,
    kind: SqliteFileKind,
}

/// The size of the header, rounded up so that the file below is aligned like any allocation.
pub(super) const HEADER_BYTES: c_int = size_of::<TimedFile>().next_multiple_of(16) as c_int;

/// Source: SQLite's file format, section 4.1.
const WAL_FRAME_HEADER_BYTES: c_int = 24;

impl TimedFile {
    /// Fills the header of a file about to be opened.
    ///
    /// # Safety
    /// `file` must have room for the header and the file below.
    pub(super) unsafe fn prepare(
        file: *mut ffi::sqlite3_file,
        context: Option<&ConnectionContext>,
        kind: SqliteFileKind,
    ) -> *mut Self {
        let timed = file.cast::<Self>();
        let base = ffi::sqlite3_file { pMethods: std::ptr::null() };
        let context = context.map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: by contract; SQLite aligns the memory for pointers. The file below starts without
        // methods, so that a VFS that fails before setting them leaves null.
        unsafe {
            timed.write(Self { base, context, kind });
            (*Self::below(timed)).pMethods = std::ptr::null();
        }
        timed
    }

    /// The file of the VFS below.
    ///
    /// # Safety
    /// `timed` must have been prepared.
    #[inline]
    pub(super) unsafe fn below(timed: *mut Self) -> *mut ffi::sqlite3_file {
        // SAFETY: the memory continues behind the header by contract of prepare.
        unsafe { timed.cast::<u8>().add(HEADER_BYTES as usize).cast() }
    }

    /// Makes the file known to SQLite, with methods of the version the VFS below has. Where that
    /// left none, the file was not opened and there is nothing to close.
    ///
    /// # Safety
    /// `timed` must have been prepared and offered to the VFS below.
    pub(super) unsafe fn publish(timed: *mut Self) {
        // SAFETY: by contract; methods are null or point to a static table.
        unsafe {
            let methods = (*Self::below(timed)).pMethods;
            if !methods.is_null() {
                (*timed).base.pMethods = match (*methods).iVersion {
                    ..=1 => &METHODS_1,
                    2 => &METHODS_2,
                    3.. => &METHODS_3,
                };
            }
        }
    }
}

static METHODS_1: ffi::sqlite3_io_methods = methods(1);
static METHODS_2: ffi::sqlite3_io_methods = methods(2);
static METHODS_3: ffi::sqlite3_io_methods = methods(3);

const fn methods(version: c_int) -> ffi::sqlite3_io_methods {
    ffi::sqlite3_io_methods {
        iVersion: version,
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync),
        xFileSize: Some(file_size),
        xLock: Some(lock),
        xUnlock: Some(unlock),
        xCheckReservedLock: Some(check_reserved_lock),
        xFileControl: Some(file_control),
        xSectorSize: Some(sector_size),
        xDeviceCharacteristics: Some(device_characteristics),
        xShmMap: Some(shm_map),
        xShmLock: Some(shm_lock),
        xShmBarrier: Some(shm_barrier),
        xShmUnmap: Some(shm_unmap),
        xFetch: Some(fetch),
        xUnfetch: Some(unfetch),
    }
}

/// Calls a method of the file below; a method it lacks gives `$absent`.
macro_rules! below {
    ($file:ident, $method:ident($($argument:expr),*), $absent:expr) => {{
        // SAFETY: SQLite calls methods only on files that were opened, with arguments that the
        // method below takes unchanged.
        unsafe {
            let below = TimedFile::below($file.cast());
            match (*(*below).pMethods).$method {
                Some(method) => method(below, $($argument),*),
                None => $absent,
            }
        }
    }};
}

/// The context and kind of a file; `None` on a connection without figures.
#[inline]
fn known<'a>(file: *mut ffi::sqlite3_file) -> Option<(&'a ConnectionContext, SqliteFileKind)> {
    // SAFETY: SQLite calls methods only on files that were opened, hence prepared. The context
    // outlives the files of its connection, and the reference does not outlive the callback.
    unsafe {
        let timed = file.cast::<TimedFile>();
        Some(((*timed).context.as_ref()?, (*timed).kind))
    }
}

#[inline]
fn timed(
    file: *mut ffi::sqlite3_file,
    call: VfsCall,
    part: Part,
    bytes: c_int,
    below: impl FnOnce() -> ResultCode,
) -> ResultCode {
    let Some((context, kind)) = known(file) else { return below() };
    context.timed_call((kind, call), part, u64::from(bytes.unsigned_abs()), below)
}

#[inline]
fn count(file: *mut ffi::sqlite3_file, call: VfsCall) {
    if let Some((context, kind)) = known(file) {
        context.count(kind, call);
    }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    bytes: c_int,
    offset: ffi::sqlite3_int64,
) -> ResultCode {
    timed(file, VfsCall::Read, Part::IoRead, bytes, || {
        below!(file, xRead(buffer, bytes, offset), ffi::SQLITE_IOERR_READ)
    })
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buffer: *const c_void,
    bytes: c_int,
    offset: ffi::sqlite3_int64,
) -> ResultCode {
    let code = timed(file, VfsCall::Write, Part::IoWrite, bytes, || {
        below!(file, xWrite(buffer, bytes, offset), ffi::SQLITE_IOERR_WRITE)
    });
    // SQLite writes the page of a log frame at once after the frame's header.
    let is_frame_header = bytes == WAL_FRAME_HEADER_BYTES && code == ffi::SQLITE_OK;
    if is_frame_header && let Some((context, SqliteFileKind::Wal)) = known(file) {
        context.continues();
    }
    code
}

unsafe extern "C" fn truncate(
    file: *mut ffi::sqlite3_file,
    size: ffi::sqlite3_int64,
) -> ResultCode {
    timed(file, VfsCall::Truncate, Part::IoWrite, 0, || {
        below!(file, xTruncate(size), ffi::SQLITE_IOERR_TRUNCATE)
    })
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> ResultCode {
    timed(file, VfsCall::Sync, Part::Sync, 0, || {
        below!(file, xSync(flags), ffi::SQLITE_IOERR_FSYNC)
    })
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> ResultCode {
    count(file, VfsCall::Close);
    if let Some((context, SqliteFileKind::Database)) = known(file) {
        context.registry.set_file_level(context.worker, 0);
        context.registry.set_wal_writer(context.worker, false);
    }
    below!(file, xClose(), ffi::SQLITE_OK)
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> ResultCode {
    count(file, VfsCall::Lock);
    let code = below!(file, xLock(level), ffi::SQLITE_OK);
    if code == ffi::SQLITE_OK {
        note_file_level(file, level);
    }
    code
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> ResultCode {
    count(file, VfsCall::Unlock);
    note_file_level(file, level);
    below!(file, xUnlock(level), ffi::SQLITE_OK)
}

#[inline]
fn note_file_level(file: *mut ffi::sqlite3_file, level: c_int) {
    if let Some((context, SqliteFileKind::Database)) = known(file) {
        // Levels go from 0 (none) to 4 (exclusive).
        context.registry.set_file_level(context.worker, level as u8);
    }
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    slots: c_int,
    flags: c_int,
) -> ResultCode {
    count(file, VfsCall::ShmLock);
    let code = below!(file, xShmLock(offset, slots, flags), ffi::SQLITE_IOERR_SHMLOCK);
    // Slot 0 is the write lock; slots are taken in runs, so a run that starts later lacks it.
    let is_write_lock = offset == 0 && flags & ffi::SQLITE_SHM_EXCLUSIVE != 0;
    let is_done = is_write_lock && code == ffi::SQLITE_OK;
    if is_done && let Some((context, _)) = known(file) {
        let taken = flags & ffi::SQLITE_SHM_LOCK != 0;
        context.registry.set_wal_writer(context.worker, taken);
    }
    code
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> ResultCode {
    count(file, VfsCall::ShmMap);
    below!(file, xShmMap(region, bytes, extend, out), ffi::SQLITE_IOERR_SHMMAP)
}

unsafe extern "C" fn fetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    bytes: c_int,
    out: *mut *mut c_void,
) -> ResultCode {
    count(file, VfsCall::Fetch);
    below!(file, xFetch(offset, bytes, out), ffi::SQLITE_ERROR)
}

/// Calls that go straight through.
macro_rules! pass_through {
    ($($name:ident => $method:ident($($argument:ident: $kind:ty),*) -> $result:ty, $absent:expr;)*) => {
        $(unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file, $($argument: $kind),*) -> $result {
            below!(file, $method($($argument),*), $absent)
        })*
    };
}

pass_through! {
    file_size => xFileSize(out: *mut ffi::sqlite3_int64) -> ResultCode, ffi::SQLITE_IOERR_FSTAT;
    check_reserved_lock => xCheckReservedLock(out: *mut c_int) -> ResultCode, ffi::SQLITE_OK;
    file_control => xFileControl(operation: c_int, argument: *mut c_void)
        -> ResultCode, ffi::SQLITE_NOTFOUND;
    sector_size => xSectorSize() -> c_int, 0;
    device_characteristics => xDeviceCharacteristics() -> c_int, 0;
    shm_barrier => xShmBarrier() -> (), ();
    shm_unmap => xShmUnmap(delete: c_int) -> ResultCode, ffi::SQLITE_OK;
    unfetch => xUnfetch(offset: ffi::sqlite3_int64, page: *mut c_void)
        -> ResultCode, ffi::SQLITE_OK;
}
