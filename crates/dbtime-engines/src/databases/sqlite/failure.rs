//! What a failed statement looks like: its class, SQLite's name for it, and whether the transaction
//! is already undone.

use dbtime_model::ErrorClass;
use rusqlite::ffi;
use std::ffi::c_int;

pub use dbtime_load::failure::DatabaseFailure;

/// The class of an extended result code.
pub(super) fn class(extended: c_int) -> ErrorClass {
    match (extended, extended & 0xff) {
        // The snapshot is too old to write on: waiting does not help, starting afresh does.
        (ffi::SQLITE_BUSY_SNAPSHOT, _) => ErrorClass::Conflict,
        (_, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL) => ErrorClass::Busy,
        (_, ffi::SQLITE_CONSTRAINT) => ErrorClass::Constraint,
        // The file of shared memory could not be made longer.
        (ffi::SQLITE_IOERR_SHMSIZE, _) | (_, ffi::SQLITE_FULL) => ErrorClass::Full,
        (_, ffi::SQLITE_IOERR) => ErrorClass::Io,
        (_, ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB | ffi::SQLITE_FORMAT) => ErrorClass::Corrupt,
        (_, ffi::SQLITE_READONLY | ffi::SQLITE_PERM) => ErrorClass::ReadOnly,
        (_, ffi::SQLITE_CANTOPEN) => ErrorClass::Connection,
        (_, ffi::SQLITE_INTERRUPT) => ErrorClass::Interrupted,
        (
            _,
            ffi::SQLITE_ERROR
            | ffi::SQLITE_SCHEMA
            | ffi::SQLITE_TOOBIG
            | ffi::SQLITE_MISMATCH
            | ffi::SQLITE_MISUSE
            | ffi::SQLITE_AUTH
            | ffi::SQLITE_RANGE,
        ) => ErrorClass::Statement,
        _ => ErrorClass::Other,
    }
}

/// Writes each result code's name down once.
macro_rules! names {
    ($code:expr, $($name:ident)*) => {
        match $code { $(ffi::$name => stringify!($name),)* _ => "" }
    };
}

/// SQLite's name of a result code; that of the primary code where the extended one has none here.
pub(super) fn name(extended: c_int) -> &'static str {
    let exact = names!(extended,
        SQLITE_ERROR SQLITE_INTERNAL SQLITE_PERM SQLITE_ABORT SQLITE_BUSY SQLITE_LOCKED SQLITE_NOMEM
        SQLITE_READONLY SQLITE_INTERRUPT SQLITE_IOERR SQLITE_CORRUPT SQLITE_NOTFOUND SQLITE_FULL
        SQLITE_CANTOPEN SQLITE_PROTOCOL SQLITE_SCHEMA SQLITE_TOOBIG SQLITE_CONSTRAINT
        SQLITE_MISMATCH SQLITE_MISUSE SQLITE_NOLFS SQLITE_AUTH SQLITE_FORMAT SQLITE_RANGE
        SQLITE_NOTADB
        SQLITE_BUSY_RECOVERY SQLITE_BUSY_SNAPSHOT SQLITE_BUSY_TIMEOUT
        SQLITE_LOCKED_SHAREDCACHE SQLITE_LOCKED_VTAB
        SQLITE_IOERR_READ SQLITE_IOERR_SHORT_READ SQLITE_IOERR_WRITE SQLITE_IOERR_FSYNC
        SQLITE_IOERR_DIR_FSYNC SQLITE_IOERR_TRUNCATE SQLITE_IOERR_FSTAT SQLITE_IOERR_UNLOCK
        SQLITE_IOERR_RDLOCK SQLITE_IOERR_DELETE SQLITE_IOERR_NOMEM SQLITE_IOERR_ACCESS
        SQLITE_IOERR_LOCK SQLITE_IOERR_CLOSE SQLITE_IOERR_SHMOPEN SQLITE_IOERR_SHMSIZE
        SQLITE_IOERR_SHMLOCK SQLITE_IOERR_SHMMAP SQLITE_IOERR_MMAP SQLITE_IOERR_DATA
        SQLITE_IOERR_CORRUPTFS SQLITE_IOERR_GETTEMPPATH SQLITE_IOERR_DELETE_NOENT
        SQLITE_CANTOPEN_ISDIR SQLITE_CANTOPEN_FULLPATH SQLITE_CANTOPEN_DIRTYWAL
        SQLITE_CANTOPEN_SYMLINK
        SQLITE_CORRUPT_VTAB SQLITE_CORRUPT_SEQUENCE SQLITE_CORRUPT_INDEX
        SQLITE_READONLY_RECOVERY SQLITE_READONLY_CANTLOCK SQLITE_READONLY_ROLLBACK
        SQLITE_READONLY_DBMOVED SQLITE_READONLY_CANTINIT SQLITE_READONLY_DIRECTORY
        SQLITE_ABORT_ROLLBACK
        SQLITE_CONSTRAINT_CHECK SQLITE_CONSTRAINT_FOREIGNKEY SQLITE_CONSTRAINT_NOTNULL
        SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_TRIGGER SQLITE_CONSTRAINT_UNIQUE
        SQLITE_CONSTRAINT_ROWID SQLITE_CONSTRAINT_DATATYPE
    );
    match exact {
        "" if extended & 0xff != extended => name(extended & 0xff),
        "" => "SQLITE_UNKNOWN",
        exact => exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_classes() {
        assert_eq!(name(ffi::SQLITE_BUSY_SNAPSHOT), "SQLITE_BUSY_SNAPSHOT");
        assert_eq!(name(ffi::SQLITE_IOERR_BLOCKED), "SQLITE_IOERR");
        assert_eq!(name(-1), "SQLITE_UNKNOWN");
        assert_eq!(class(ffi::SQLITE_BUSY_SNAPSHOT), ErrorClass::Conflict);
        assert_eq!(class(ffi::SQLITE_BUSY_RECOVERY), ErrorClass::Busy);
        assert_eq!(class(ffi::SQLITE_IOERR_FSYNC), ErrorClass::Io);
        assert_eq!(class(ffi::SQLITE_IOERR_SHMSIZE), ErrorClass::Full);
        assert_eq!(class(ffi::SQLITE_NOTADB), ErrorClass::Corrupt);
        assert_eq!(class(ffi::SQLITE_NOMEM), ErrorClass::Other);
    }
}
