//! The timing VFS: a shim named `dbtime` between SQLite and its default VFS.
//!
//! It passes every call through and changes none. What it adds is the counting and timing of calls
//! on files, in [`super::vfs_file`], and of openings, deletions and naps, here.

use super::context::ConnectionContext;
use super::figures::{SqliteFileKind, VfsCall};
use super::vfs_file::{self, TimedFile};
use dbtime_model::Part;
use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The name the VFS is registered under.
pub(super) const NAME: &CStr = c"dbtime";

/// Registers the VFS, once per process. The error is SQLite's result code.
pub(super) fn register() -> Result<(), c_int> {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    match *REGISTERED.get_or_init(register_once) {
        ffi::SQLITE_OK => Ok(()),
        code => Err(code),
    }
}

fn register_once() -> c_int {
    // SAFETY: both functions may be called from any thread at any time; a null name asks for the
    // default VFS.
    let real = unsafe {
        let code = ffi::sqlite3_initialize();
        if code != ffi::SQLITE_OK {
            return code;
        }
        ffi::sqlite3_vfs_find(std::ptr::null())
    };
    if real.is_null() {
        return ffi::SQLITE_NOTFOUND;
    }
    // SAFETY: SQLite never unregisters its default VFS, so `real` stays valid.
    let shim = Box::leak(Box::new(unsafe { shim_over(real) }));
    // SAFETY: the VFS is leaked, so it outlives every connection.
    unsafe { ffi::sqlite3_vfs_register(shim, 0) }
}

/// The shim's table: it offers the calls the real VFS offers, of the same version.
///
/// # Safety
/// `real` must point to a valid VFS.
unsafe fn shim_over(real: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    // SAFETY: by contract.
    let vfs = unsafe { &*real };
    ffi::sqlite3_vfs {
        iVersion: vfs.iVersion.min(3),
        szOsFile: vfs_file::HEADER_BYTES + vfs.szOsFile,
        mxPathname: vfs.mxPathname,
        pNext: std::ptr::null_mut(),
        zName: NAME.as_ptr(),
        pAppData: real.cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: vfs.xAccess.and(Some(access)),
        xFullPathname: vfs.xFullPathname.and(Some(full_pathname)),
        xDlOpen: vfs.xDlOpen.and(Some(dl_open)),
        xDlError: vfs.xDlError.and(Some(dl_error)),
        xDlSym: vfs.xDlSym.and(Some(dl_sym)),
        xDlClose: vfs.xDlClose.and(Some(dl_close)),
        xRandomness: vfs.xRandomness.and(Some(randomness)),
        xSleep: vfs.xSleep.and(Some(sleep)),
        xCurrentTime: vfs.xCurrentTime.and(Some(current_time)),
        xGetLastError: vfs.xGetLastError.and(Some(get_last_error)),
        xCurrentTimeInt64: vfs.xCurrentTimeInt64.and(Some(current_time_int64)),
        xSetSystemCall: vfs.xSetSystemCall.and(Some(set_system_call)),
        xGetSystemCall: vfs.xGetSystemCall.and(Some(get_system_call)),
        xNextSystemCall: vfs.xNextSystemCall.and(Some(next_system_call)),
    }
}

/// The VFS below.
///
/// # Safety
/// `vfs` must be the shim made by [`shim_over`].
#[inline]
unsafe fn real(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: the shim keeps the VFS below in its application pointer.
    unsafe { (*vfs).pAppData.cast() }
}

/// The context of the connection that is calling.
#[inline]
fn context<'a>() -> Option<&'a ConnectionContext> {
    // SAFETY: a connection clears the pointer before its context goes away, and the reference does
    // not outlive the callback it is used in.
    unsafe { ConnectionContext::current().as_ref() }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let kind = kind_of_flags(flags);
    let context = context();
    // SAFETY: SQLite gives `szOsFile` bytes of memory at `file`, as shim_over asked for.
    let timed = unsafe { TimedFile::prepare(file, context, kind) };
    // SAFETY: the arguments are SQLite's own; the file below lies behind the header.
    let call = || unsafe {
        let real = real(vfs);
        match (*real).xOpen {
            Some(open) => open(real, name, TimedFile::below(timed), flags, out_flags),
            None => ffi::SQLITE_CANTOPEN,
        }
    };
    let code = run(context, kind, VfsCall::Open, Part::Other, call);
    // SAFETY: `timed` was prepared above, and the VFS below has had its chance to fill its part.
    unsafe { TimedFile::publish(timed) };
    code
}

unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_folder: c_int,
) -> c_int {
    // SAFETY: SQLite passes a C string or null.
    let kind = unsafe { kind_of_name(name) };
    // Removing a file is a write to its folder; with a sync behind it, the sync is what is waited
    // for.
    let part = if sync_folder != 0 { Part::Sync } else { Part::IoWrite };
    // SAFETY: the arguments are SQLite's own.
    let call = || unsafe {
        let real = real(vfs);
        match (*real).xDelete {
            Some(delete) => delete(real, name, sync_folder),
            None => ffi::SQLITE_IOERR_DELETE,
        }
    };
    run(context(), kind, VfsCall::Delete, part, call)
}

fn run(
    context: Option<&ConnectionContext>,
    kind: SqliteFileKind,
    call: VfsCall,
    part: Part,
    below: impl FnOnce() -> c_int,
) -> c_int {
    let Some(context) = context else { return below() };
    context.timed_call((kind, call), part, 0, below)
}

/// SQLite sleeps by itself when readers and writers of the log race for its header: a nap taken to
/// get a lock. The busy handler's naps do not come here.
unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    // SAFETY: the arguments are SQLite's own.
    let call = || unsafe {
        let real = real(vfs);
        (*real).xSleep.map_or(0, |sleep| sleep(real, microseconds))
    };
    match context() {
        Some(context) => context.timed(Part::Lock, call).0,
        None => call(),
    }
}

fn kind_of_flags(flags: c_int) -> SqliteFileKind {
    const TEMPORARY: c_int = ffi::SQLITE_OPEN_TEMP_DB
        | ffi::SQLITE_OPEN_TEMP_JOURNAL
        | ffi::SQLITE_OPEN_TRANSIENT_DB
        | ffi::SQLITE_OPEN_SUBJOURNAL;
    match flags {
        f if f & ffi::SQLITE_OPEN_MAIN_DB != 0 => SqliteFileKind::Database,
        f if f & ffi::SQLITE_OPEN_WAL != 0 => SqliteFileKind::Wal,
        f if f & ffi::SQLITE_OPEN_MAIN_JOURNAL != 0 => SqliteFileKind::Journal,
        f if f & TEMPORARY != 0 => SqliteFileKind::Temporary,
        _ => SqliteFileKind::Other,
    }
}

/// # Safety
/// `name` must be null or a C string.
unsafe fn kind_of_name(name: *const c_char) -> SqliteFileKind {
    if name.is_null() {
        return SqliteFileKind::Other;
    }
    // SAFETY: by contract.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.ends_with(b"-wal") {
        SqliteFileKind::Wal
    } else if name.ends_with(b"-journal") {
        SqliteFileKind::Journal
    } else {
        SqliteFileKind::Other
    }
}

/// Calls that go straight through.
macro_rules! pass_through {
    ($($name:ident => $method:ident($($argument:ident: $kind:ty),*) -> $result:ty, $absent:expr;)*) => {
        $(unsafe extern "C" fn $name(vfs: *mut ffi::sqlite3_vfs, $($argument: $kind),*) -> $result {
            // SAFETY: the arguments are SQLite's own, and the VFS is the shim.
            unsafe {
                let real = real(vfs);
                match (*real).$method {
                    Some(method) => method(real, $($argument),*),
                    None => $absent,
                }
            }
        })*
    };
}

/// A function of a loadable extension.
type ExtensionSymbol = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char);

pass_through! {
    access => xAccess(name: *const c_char, flags: c_int, out: *mut c_int) -> c_int, ffi::SQLITE_IOERR_ACCESS;
    full_pathname => xFullPathname(name: *const c_char, size: c_int, out: *mut c_char) -> c_int, ffi::SQLITE_CANTOPEN;
    dl_open => xDlOpen(name: *const c_char) -> *mut c_void, std::ptr::null_mut();
    dl_error => xDlError(size: c_int, out: *mut c_char) -> (), ();
    dl_sym => xDlSym(handle: *mut c_void, name: *const c_char) -> Option<ExtensionSymbol>, None;
    dl_close => xDlClose(handle: *mut c_void) -> (), ();
    randomness => xRandomness(size: c_int, out: *mut c_char) -> c_int, 0;
    current_time => xCurrentTime(out: *mut f64) -> c_int, ffi::SQLITE_ERROR;
    get_last_error => xGetLastError(size: c_int, out: *mut c_char) -> c_int, 0;
    current_time_int64 => xCurrentTimeInt64(out: *mut ffi::sqlite3_int64) -> c_int, ffi::SQLITE_ERROR;
    set_system_call => xSetSystemCall(name: *const c_char, call: ffi::sqlite3_syscall_ptr) -> c_int, ffi::SQLITE_NOTFOUND;
    get_system_call => xGetSystemCall(name: *const c_char) -> ffi::sqlite3_syscall_ptr, None;
    next_system_call => xNextSystemCall(name: *const c_char) -> *const c_char, std::ptr::null();
}
