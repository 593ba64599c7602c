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

mod blockers;
mod capture;
mod layout;
mod servers;
mod sessions;
mod waits;

pub use capture::{Capture, Left, Stream};
pub use servers::{ServerKind, TracedServer, Wanted, servers};

use crate::process::ProcessError;

/// What a command of the protocol is called.
pub fn command_name(command: u8) -> &'static str {
    dbtime_wire::mysql::command::name(command).unwrap_or("?")
}

/// Why nothing can be watched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// No server runs here.
    #[error("no MariaDB or MySQL server runs here; start one, or name its process with -p")]
    NothingFound,
    /// The process is not known as a server.
    #[error(
        "process {process} is no server that dbtime knows; say what it speaks with --server-kind"
    )]
    NoServer {
        /// The process.
        process: u32,
    },
    /// The process may not be looked at.
    #[error("process {process} may not be looked at: {error}; it takes root, or CAP_SYS_PTRACE")]
    Hidden {
        /// The process.
        process: u32,
        /// The system's words.
        error: String,
    },
    /// A process was not found.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The kernel refuses programs of this user.
    #[error("{0}")]
    Refused(String),
    /// The kernel's side does not load or attach.
    #[error("the kernel does not take the tracer's program: {0}")]
    Kernel(String),
}
