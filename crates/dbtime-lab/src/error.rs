//! Why a run could not be made at all, and whose affair it is.

use crate::recorded_join::JoinError;
use dbtime_engines::databases::ServerUrlError;
use dbtime_engines::drive::plan::ScriptError;
use dbtime_engines::drive::shard::DriveError;
use dbtime_engines::server::ServerError;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::study::StudyReadError;
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
    /// A server that is there cannot be used.
    #[error(transparent)]
    Server(Box<ServerError>),
    /// The URL of a server does not name one.
    #[error(transparent)]
    ServerUrl(Box<ServerUrlError>),
    /// The load could not be driven.
    #[error("{target}: {source}")]
    Drive {
        /// As `--target` takes it, without password.
        target: String,
        /// Why not.
        source: Box<DriveError>,
    },
    /// The server refuses the login.
    #[error("{target}: {}", .failure.message)]
    Refused {
        /// As `--target` takes it, without password.
        target: String,
        /// What it says.
        failure: Box<DatabaseFailure>,
    },
    /// A script failed, in its own words.
    #[error(transparent)]
    Script(ScriptError),
    /// The process of a run ended without an outcome.
    #[error("the process of the run {0}")]
    Crashed(String),
    /// Ctrl-C came before there was anything to report.
    #[error("interrupted {0}")]
    Interrupted(&'static str),
    /// A signal ended the process of a run before there was, as that says itself.
    #[error("{0}")]
    Ended(String),
    /// Servers cannot be watched.
    #[error(transparent)]
    Trace(#[from] dbtime_observe::trace::TraceError),
    /// A run and a recording cannot be joined.
    #[error(transparent)]
    Join(Box<JoinError>),
    /// A folder is no study, or a damaged one.
    #[error(transparent)]
    Study(#[from] StudyReadError),
    /// The record's folder is there already.
    #[error("{0} exists already: a record is never overwritten; name another --out or remove it")]
    OutExists(PathBuf),
    /// A database was named as the place of a record. Without its password.
    #[error(
        "{0} is a URL, and a record is kept in a folder of this machine: name that with --out, and \
         a database with --target"
    )]
    OutIsUrl(String),
    /// The record cannot be written.
    #[error(
        "cannot write the record to {path}: {source}{}; no partial file was left",
        remedy_behind(source)
    )]
    Record {
        /// Where it should go.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What helps where a file cannot be written for want of room; `None`: that is not the reason.
pub fn want_of_room(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull => Some("free space on its file system"),
        io::ErrorKind::QuotaExceeded => Some("free space, or raise the quota"),
        io::ErrorKind::FileTooLarge => Some("raise the limit on the size of files (ulimit -f)"),
        _ => None,
    }
}

/// The same behind what the system said.
fn remedy_behind(error: &io::Error) -> String {
    want_of_room(error).map_or_else(String::new, |remedy| format!("; {remedy}"))
}

impl LabError {
    /// Whether the request itself is at fault: the same again would fail on any machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) | Self::Script(_) | Self::OutExists(_) | Self::OutIsUrl(_) => true,
            Self::Server(error) => {
                matches!(**error, ServerError::NoDatabase { .. } | ServerError::Unsuited { .. })
            }
            Self::ServerUrl(error) => !error.is_unknown_host(),
            Self::Join(error) => error.is_usage(),
            _ => false,
        }
    }

    /// Whether a wish to end leads to this, where one has come before: what is given up on the way
    /// fails in many ways. It does not where the request or the place of the record is at fault.
    pub fn may_follow_end(&self) -> bool {
        match self {
            Self::Target(_)
            | Self::Server(_)
            | Self::Drive { .. }
            | Self::Refused { .. }
            | Self::Script(_)
            | Self::Crashed(_) => true,
            _ => self.is_interrupted(),
        }
    }

    /// Whether a wish to end came before there was anything to report.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted(_) | Self::Ended(_))
    }
}

impl From<ServerError> for LabError {
    fn from(error: ServerError) -> Self {
        match error.is_interrupted() {
            true => Self::Interrupted("while waiting for the server"),
            false => Self::Server(Box::new(error)),
        }
    }
}

impl From<JoinError> for LabError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}

impl From<ServerUrlError> for LabError {
    fn from(error: ServerUrlError) -> Self {
        Self::ServerUrl(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn what_helps_against_a_full_disk_helps_not_against_a_limit_on_files() {
        let told = |kind: io::ErrorKind| {
            LabError::Record { path: "r".into(), source: kind.into() }.to_string()
        };
        let full = told(io::ErrorKind::StorageFull);
        assert!(full.contains("; free space on its file system; no partial file"), "{full}");
        let limited = told(io::ErrorKind::FileTooLarge);
        assert!(limited.contains("(ulimit -f)") && !limited.contains("free space"), "{limited}");
        let other = told(io::ErrorKind::PermissionDenied);
        assert!(other.ends_with("denied; no partial file was left"), "{other}");
    }

    #[test]
    fn a_wish_to_end_leads_to_failures_and_not_to_a_full_disk() {
        let script = LabError::Script(ScriptError("its program was killed".to_owned()));
        let target = LabError::Target("no server".to_owned());
        let ended = LabError::Ended("interrupted".to_owned());
        assert!([script, target, ended].iter().all(LabError::may_follow_end));
        let source = io::ErrorKind::StorageFull.into();
        let record = LabError::Record { path: "r".into(), source };
        let usage = LabError::Usage("write it otherwise".to_owned());
        assert!(![record, usage].iter().any(LabError::may_follow_end));
    }

    #[test]
    fn what_failed_stays_with_the_error() {
        let target = || "mysql://a@b/".to_owned();
        let error = LabError::from(ServerError::NoDatabase { target: target() });
        assert!(error.is_usage() && error.to_string().contains("names no database"), "{error}");
        let error = LabError::Drive { target: target(), source: Box::new(DriveError::Stopped) };
        assert!(!error.is_usage());
        assert!(error.to_string().starts_with("mysql://a@b/: "), "{error}");
        let source = error.source().and_then(|source| source.downcast_ref::<Box<DriveError>>());
        assert!(matches!(source.map(|source| &**source), Some(DriveError::Stopped)));
        let failure = DatabaseFailure {
            class: dbtime_model::ErrorClass::Interrupted,
            ..DatabaseFailure::connection("interrupted", "")
        };
        let error = ServerError::Connect { target: target(), failure: Box::new(failure) };
        assert!(matches!(LabError::from(error), LabError::Interrupted(_)));
        let error = LabError::from(ServerUrlError::NoServer(dbtime_model::Product::Sqlite));
        assert!(error.is_usage());
    }
}
