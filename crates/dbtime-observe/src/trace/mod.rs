//! Watching servers from the kernel: every request of every client, from the read that brought it
//! to the write that ended its answer, without a word to the server.
//!
//! ```text
//!   kernel    socket read, socket write ──► state of the connection (in its socket)
//!                                             │ a request is over
//!                                             ▼
//!             ledger (counts) ◄────────── stream (ring buffer)
//!   ──────────────┼──────────────────────────┼──────────────────────────────────────
//!   here      Ledger                      layout: bytes ──► sessions: what EXECUTE means
//!                                                             ▼
//!                                                        TracedRequest
//! ```
//!
//! The kernel's side is C (`bpf/`); it counts everything and loses nothing silently. All that comes
//! from clients is understood here, and treated as hostile.
//!
//! From the ground up: `privilege` (rights, and the process that keeps them), `kernel` (programs,
//! tables and records of the kernel's side), `postgres_files` and `probes` (what servers' files
//! say), `decode` (from records to requests). `servers` finds processes, `capture` holds it all.

mod capture;
mod decode;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod kernel;
mod postgres_files;
mod privilege;
mod probes;
mod servers;

pub(crate) use kernel::loading::{attach, map};
pub(crate) use kernel::refusal::{kernel, listen, refused};

pub use capture::{AttachedPrograms, Capture, CaptureResult};
pub use decode::fingerprint_cache::FingerprintCache;
pub use decode::literals::LiteralFilter;
pub use kernel::stream::{CaptureConfig, CaptureDepth};
pub use privilege::helper::{COMMAND as HELPER, MessageChannel, serve as help};
pub use privilege::signals::HeldSignals;
pub use privilege::terminal::BorrowedTerminal;
pub use servers::{ServerFilter, TracedServer, servers};

use crate::process::ProcessError;
use dbtime_model::WireProtocol;
use postgres_files::catalogs::open_catalog;
use postgres_files::file_names::FileNames;
use serde::{Deserialize, Serialize};

/// Gives up what this process may do beyond what anybody may. To be called while there are no other
/// threads.
///
/// # Errors
/// The kernel does not take the rights back.
pub fn give_up_rights() -> Result<(), TraceError> {
    privilege::rights::give_up(|| true)
}

/// Leaves this process with the system calls that it takes to read and write what is open: all
/// threads are there.
///
/// # Errors
/// The kernel has no such filters.
pub fn confine() -> Result<(), TraceError> {
    privilege::sandbox::enter()
}

/// What a PostgreSQL server calls one of its files, such as `5/16384`, as far as this process
/// itself may read what says so. For tests.
#[doc(hidden)]
pub fn file_name(server: u32, file: &str) -> Option<String> {
    FileNames::default().name(file, &[server], &mut open_catalog)
}

/// What a command of a protocol is called.
pub fn command_name(protocol: WireProtocol, command: u8) -> &'static str {
    let name = match protocol {
        WireProtocol::Mysql => dbtime_wire::mysql::command::name(command),
        WireProtocol::Postgres => dbtime_wire::postgres::frontend::request_name(command),
    };
    name.unwrap_or("?")
}

/// Whether a command is one of those that are added up: it executes a statement.
pub fn is_statement(protocol: WireProtocol, command: u8) -> bool {
    match protocol {
        WireProtocol::Mysql => {
            use dbtime_wire::mysql::command::{QUERY, STMT_BULK_EXECUTE, STMT_EXECUTE};
            matches!(command, QUERY | STMT_EXECUTE | STMT_BULK_EXECUTE)
        }
        WireProtocol::Postgres => {
            use dbtime_wire::postgres::frontend::{EXECUTE, FUNCTION_CALL, QUERY};
            matches!(command, QUERY | EXECUTE | FUNCTION_CALL)
        }
    }
}

/// Why nothing can be watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TraceError {
    /// No server runs here.
    #[error(
        "no MariaDB, MySQL or PostgreSQL server runs here; start one, or name its process with -p"
    )]
    NothingFound,
    /// None runs in a control group.
    #[error(
        "no MariaDB, MySQL or PostgreSQL server runs in the control group {0}; \
         /proc/PID/cgroup tells where a process is"
    )]
    NotInCgroup(String),
    /// The process is not known as a server.
    #[error(
        "process {process} is no server that dbtime knows; say what it speaks with --server-kind"
    )]
    NoServer {
        /// The process.
        process: u32,
    },
    /// The process may not be looked at.
    #[error("process {process} may not be looked at: {why}")]
    Hidden {
        /// The process.
        process: u32,
        /// The system's words, and what to do about it.
        why: String,
    },
    /// A process was not found.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The kernel refuses programs of this user.
    #[error("{0}")]
    Refused(String),
    /// What keeps the right to attach is not there.
    #[error("the helper that attaches to servers {0}")]
    Helper(String),
    /// What reads what comes from clients is not there.
    #[error("the reader of what comes from clients {0}")]
    Reader(String),
    /// Rights cannot be given up.
    #[error(
        "what comes from clients is not read with rights that could do harm, and these cannot be \
         given up: {0}"
    )]
    Rights(String),
    /// The kernel's side does not load or attach.
    #[error("the kernel does not take the tracer's program: {0}")]
    Kernel(String),
}
