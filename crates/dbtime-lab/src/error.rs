//! Why a run could not be made at all, and whose affair it is.

use dbtime_load::failure::DatabaseFailure;
use std::io;
use std::path::PathBuf;

/// Why a run could not be made. Failed transactions are no error, they are counted.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The request contradicts itself or asks for the impossible.
    #[error("{0}")]
    Usage(String),
    /// The target cannot be reached, prepared or used.
    #[error("{0}")]
    Target(String),
    /// The name of the target's host stands for nothing.
    #[error("{0}")]
    UnknownHost(String),
    /// The server refuses the login.
    #[error("{target}: {}", .failure.message)]
    Refused {
        /// As `--target` takes it, without password.
        target: String,
        /// What it says.
        failure: Box<DatabaseFailure>,
    },
    /// A script failed, in its own words.
    #[error("{0}")]
    Script(String),
    /// The process of a run ended without an outcome.
    #[error("the process of the run {0}")]
    Crashed(String),
    /// Ctrl-C came before there was anything to report.
    #[error("interrupted {0}")]
    Interrupted(&'static str),
    /// Servers cannot be watched.
    #[cfg(feature = "trace")]
    #[error(transparent)]
    Trace(#[from] dbtime_observe::trace::TraceError),
    /// The record's folder is there already.
    #[error("{0} exists already: a record is never overwritten; name another --out or remove it")]
    OutExists(PathBuf),
    /// The record cannot be written.
    #[error("cannot write the record to {path}: {source}; nothing half-written was left behind")]
    Record {
        /// Where it should go.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
