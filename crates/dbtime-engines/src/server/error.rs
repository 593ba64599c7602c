//! Why a server cannot be used. A failed statement of a run is no such error but an outcome.

use crate::load_marker::LoadError;
use crate::socket::TlsError;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::ErrorClass;

/// Why a server cannot be reached, loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It cannot be reached, or does not let us in.
    #[error("cannot connect to {target}: {} ({})", failure.message, failure.code)]
    Connect {
        /// As `--target` takes it, without password.
        target: String,
        /// What the server or the system answered, with its code.
        failure: Box<DatabaseFailure>,
    },
    /// Connections cannot be encrypted as asked for.
    #[error("{target}: {source}")]
    Tls {
        /// As `--target` takes it, without password.
        target: String,
        /// The file or the setting at fault.
        source: TlsError,
    },
    /// The target names no database, and tables need one.
    #[error(
        "{target} names no database, which tables need: write one, as in mysql://USER@HOST/DATABASE"
    )]
    NoDatabase {
        /// As `--target` takes it.
        target: String,
    },
    /// What it holds will not do.
    #[error(transparent)]
    Loaded(#[from] LoadError),
    /// The run that was asked for cannot be made on it.
    #[error("{target}: {why}")]
    Unsuited {
        /// As `--target` takes it.
        target: String,
        /// What stands against it, with what to do.
        why: &'static str,
    },
    /// The server refuses something.
    #[error("{target}: {what}: {} ({})", failure.message, failure.code)]
    Refused {
        /// As `--target` takes it.
        target: String,
        /// What was attempted.
        what: String,
        /// How it failed.
        failure: Box<DatabaseFailure>,
    },
}

/// Whether a failure is no answer: the connection is gone, or was given up.
pub(super) fn is_lost(failure: &DatabaseFailure) -> bool {
    use ErrorClass::{Connection, Interrupted, Timeout};
    matches!(failure.class, Connection | Interrupted | Timeout)
}

impl ServerError {
    /// Whether the server was still waited for when nobody wanted it any more.
    pub fn is_interrupted(&self) -> bool {
        self.failure().is_some_and(|failure| failure.class == ErrorClass::Interrupted)
    }

    /// Whether there is no use in another question to the server.
    pub fn is_lost(&self) -> bool {
        self.failure().is_some_and(is_lost)
    }

    /// What the server or the connection to it failed with.
    fn failure(&self) -> Option<&DatabaseFailure> {
        match self {
            Self::Connect { failure, .. } | Self::Refused { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// The same error with a command that names the workload as it was named here.
    #[must_use]
    pub fn named_as(self, given: &str) -> Self {
        match self {
            Self::Loaded(error) => error.named_as(given).into(),
            other => other,
        }
    }
}
