//! Why a server cannot be used. A failed statement of a run is no such error but an outcome.

use crate::failure::Failure;
use crate::socket::TlsError;

/// Why a server cannot be reached, loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It cannot be reached, or does not let us in.
    #[error("cannot connect to {target}: {} ({})", failure.message, failure.code)]
    Connect {
        /// As `--target` takes it, without password.
        target: String,
        /// Why.
        failure: Box<Failure>,
    },
    /// Connections cannot be encrypted as asked for.
    #[error("{target}: {source}")]
    Tls {
        /// As `--target` takes it, without password.
        target: String,
        /// Why.
        source: TlsError,
    },
    /// The target names no database, and tables need one.
    #[error("{target} names no database; write one behind the host: scheme://host/DATABASE")]
    NoDatabase {
        /// As `--target` takes it.
        target: String,
    },
    /// No data of this workload.
    #[error(
        "{target} holds no data of workload {workload}{found}; run `dbtime init {workload} --target {target}`"
    )]
    NotLoaded {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// What it holds instead, if anything.
        found: String,
    },
    /// A table of that name is there, and no load of the workload has made it.
    #[error(
        "{target} has a table {table} that was not made for workload {workload}: nothing was changed; name another database"
    )]
    NotOurs {
        /// As `--target` takes it.
        target: String,
        /// The table.
        table: String,
        /// The workload.
        workload: String,
    },
    /// Loading was interrupted.
    #[error(
        "the data of workload {workload} in {target} is incomplete ({what}); run `dbtime init {workload} --target {target}` again"
    )]
    HalfLoaded {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// What is there and what is not.
        what: String,
    },
    /// Loaded, but at another scale.
    #[error(
        "{target} is loaded at scale {loaded}, not {asked}; use `--scale {loaded}`, or run `dbtime init {workload} --scale {asked} --target {target}`"
    )]
    Scale {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// The scale it has.
        loaded: u64,
        /// The scale wanted.
        asked: u64,
    },
    /// The server refuses something.
    #[error("{target}: {what}: {} ({})", failure.message, failure.code)]
    Refused {
        /// As `--target` takes it.
        target: String,
        /// What was attempted.
        what: String,
        /// How it failed.
        failure: Box<Failure>,
    },
}
