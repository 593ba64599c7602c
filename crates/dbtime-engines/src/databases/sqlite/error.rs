//! Why a database cannot be used. A failed statement of a run is no such error but an outcome.

use super::failure::DatabaseFailure;
use super::file_locks;
use super::lock::LockHolder;
use super::target::SqliteTarget;
use crate::load_marker::LoadError;
use dbtime_model::ErrorClass;
use dbtime_sql::StatementShapes;
use std::path::{Path, PathBuf};

/// Why a database cannot be opened, loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    /// There is no such file.
    #[error("there is no database {}; {}", path.display(), made_by(workload.as_deref(), target))]
    Missing {
        /// The file.
        path: PathBuf,
        /// As `--target` takes it.
        target: String,
        /// The workload that was asked for, where known.
        workload: Option<String>,
    },
    /// The folder is missing or may not be written.
    #[error("cannot write in {}: {reason}; SQLite needs to create its journal there, so name another folder or change its permissions", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The file may only be read.
    #[error("{} is read-only ({message}); change its permissions or name another file", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        message: String,
    },
    /// A device, a pipe or a socket is there, whose place a database would take.
    #[error("{} is not a regular file; name another file", path.display())]
    NoRegularFile {
        /// The name.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not an SQLite database (or it is encrypted); name another file, or remove it and run `dbtime init`", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("{} is damaged ({message}); restore it, or remove it with its -wal and -shm files and run `dbtime init` again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        message: String,
    },
    /// No room left.
    #[error("no room left for {} ({message}); free space on its file system, or raise its max_page_count", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        message: String,
    },
    /// No room left for the memory that processes share, in a file beside the database.
    #[error(
        "no room left for {}-shm, which SQLite has beside a database in WAL mode ({message}); free \
         space on its file system, or raise the limit on the size of files (ulimit -f)",
        path.display()
    )]
    NoSharedMemory {
        /// The database.
        path: PathBuf,
        /// SQLite's words.
        message: String,
    },
    /// Somebody else has it.
    #[error("{} is locked by {holder}; end it, or raise busy_timeout", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// Who has it: `pid 1234 (sqlite3)`, or `another connection`.
        holder: String,
    },
    /// A setting did not take.
    #[error("{name}={requested} was refused by SQLite: it stays at {got} ({why})")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What was asked for.
        requested: String,
        /// What it is.
        got: String,
        /// What may be the reason.
        why: &'static str,
    },
    /// What it holds will not do.
    #[error(transparent)]
    Loaded(#[from] LoadError),
    /// The timing VFS could not be registered.
    #[error("SQLite refused the timing VFS (code {0}); use --no-budget")]
    Vfs(i32),
    /// Anything else.
    #[error("{what}: {} ({})", failure.message, failure.code)]
    Failed {
        /// What was attempted.
        what: String,
        /// How it failed.
        failure: DatabaseFailure,
    },
    /// The operating system refused.
    #[error("{what}: {source}")]
    System {
        /// What was attempted.
        what: String,
        /// Its reason.
        source: std::io::Error,
    },
}

impl SqliteError {
    /// The same error with a command that names the workload and its scale as they were named here.
    #[must_use]
    pub fn named_as(self, given: &str, scale: Option<u64>) -> Self {
        match self {
            Self::Missing { path, target, .. } => {
                let scale = scale.map_or(String::new(), |scale| format!(" --scale {scale}"));
                Self::Missing { path, target, workload: Some(format!("{given}{scale}")) }
            }
            Self::Loaded(error) => error.named_as(given).into(),
            other => other,
        }
    }

    /// What a failure of a statement of dbtime's own means for a whole database, without names that
    /// neither that nor the target has: a trigger or a view may have made them of values.
    pub fn of_statement(
        what: impl Into<String>,
        sql: &str,
        target: &SqliteTarget,
        failure: DatabaseFailure,
    ) -> Self {
        let shapes = StatementShapes::unknown().with_names(sql).with_names(&target.to_string());
        let message = shapes.without_unknown_names(&failure.code, &failure.message).into_owned();
        Self::from_failure(what, target, DatabaseFailure { message, ..failure })
    }

    fn from_failure(
        what: impl Into<String>,
        target: &SqliteTarget,
        failure: DatabaseFailure,
    ) -> Self {
        let path = target.path.clone();
        let message = failure.message.clone();
        match failure.class {
            ErrorClass::Busy => Self::Locked { holder: holder(&path), path },
            ErrorClass::Full if failure.code == "SQLITE_IOERR_SHMSIZE" => {
                Self::NoSharedMemory { path, message }
            }
            ErrorClass::Full => Self::Full { path, message },
            ErrorClass::Corrupt if failure.code.starts_with("SQLITE_NOTADB") => {
                Self::NotADatabase { path }
            }
            ErrorClass::Corrupt => Self::Corrupt { path, message },
            ErrorClass::ReadOnly if failure.code == "SQLITE_READONLY_DIRECTORY" => {
                Self::Folder { path: target.folder().to_owned(), reason: message }
            }
            ErrorClass::ReadOnly => Self::ReadOnly { path, message },
            ErrorClass::Connection => Self::cannot_open(what.into(), target, failure),
            _ => Self::Failed { what: what.into(), failure },
        }
    }

    /// SQLite only says that it cannot open the file; the system knows why.
    fn cannot_open(what: String, target: &SqliteTarget, failure: DatabaseFailure) -> Self {
        let path = target.path.clone();
        let folder = target.folder();
        if let Err(error) = folder.read_dir() {
            return Self::Folder { path: folder.to_owned(), reason: error.to_string() };
        }
        if !path.exists() {
            return match rustix::fs::access(folder, rustix::fs::Access::WRITE_OK) {
                Err(error) => Self::Folder { path: folder.to_owned(), reason: error.to_string() },
                Ok(()) => Self::Missing { path, target: target.to_string(), workload: None },
            };
        }
        if path.is_dir() {
            let is_folder = std::io::ErrorKind::IsADirectory;
            return Self::System { what, source: is_folder.into() };
        }
        Self::Failed { what, failure }
    }
}

/// What makes a database that is not there.
fn made_by(workload: Option<&str>, target: &str) -> String {
    match workload {
        Some(workload) => format!("run `dbtime init {workload} --target {target}`"),
        None => format!(
            "run `dbtime init WORKLOAD --target {target}`, or what else makes it, such as the \
             `prepare` of a script; without a path, --target sqlite makes a temporary one"
        ),
    }
}

fn holder(path: &Path) -> String {
    match file_locks::holder(path, true) {
        Some(LockHolder::Unknown) | None => "another connection".to_owned(),
        Some(holder) => holder.describe(|_| String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_told_by_the_file_that_has_none() {
        let target: SqliteTarget = "sqlite:t.db".parse().expect("a target");
        let told = |code: &str| {
            let failure = DatabaseFailure::connection(code, "disk I/O error");
            let failure = DatabaseFailure { class: ErrorClass::Full, ..failure };
            SqliteError::from_failure("opening it", &target, failure).to_string()
        };
        let shared = told("SQLITE_IOERR_SHMSIZE");
        assert!(shared.starts_with("no room left for t.db-shm, which SQLite has"), "{shared}");
        assert!(!shared.contains("max_page_count"), "{shared}");
        assert!(told("SQLITE_FULL").starts_with("no room left for t.db (disk"), "of itself");
    }

    #[test]
    fn names_stay_that_the_statement_or_the_target_has() {
        let target: SqliteTarget = "sqlite:shop.db".parse().expect("a target");
        for (message, expected) in [
            ("no such table: main.hush", "no such table: main.?"),
            ("no such table: hush'; hush", "no such table: ?"),
            ("table account has no column named hush", "table account has no column named ?"),
            ("no such column: account.id", "no such column: account.id"),
        ] {
            let failure = DatabaseFailure::statement("SQLITE_ERROR", "", message);
            let sql = "INSERT INTO \"account\" (\"id\") VALUES (?1)";
            let error = SqliteError::of_statement("it failed", sql, &target, failure).to_string();
            assert_eq!(error, format!("it failed: {expected} (SQLITE_ERROR)"));
        }
    }
}
