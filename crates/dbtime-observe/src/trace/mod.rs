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
//! say), `prior` (what sessions were at before the watching), `decode` (from records to requests),
//! `stacks` (names of functions). `servers` finds processes, `capture` holds it all.

mod capture;
mod commands;
mod decode;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod kernel;
mod postgres_files;
mod prior;
mod privilege;
mod probes;
mod servers;
mod stacks;

pub(crate) use kernel::kernel_tables::write;
pub(crate) use kernel::loading::{attach, map};
pub(crate) use kernel::refusal::{capture_log, kernel_error, refusal_error, refused_program};
pub(crate) use kernel::sampling::is_guarded_at;
pub(crate) use privilege::rights::{missing_among, remedy};

pub use capture::{AttachedPrograms, Capture, CaptureResult, KeptStack, StackTable};
pub use commands::{command_name, is_statement};
pub use decode::fingerprint_cache::FingerprintCache;
pub use decode::literals::LiteralFilter;
pub use error::TraceError;
pub use kernel::sampling::CpuSampling;
pub use kernel::stream::{CaptureConfig, CaptureDepth};
pub use privilege::helper::{COMMAND as HELPER, MessageChannel, serve as help};
pub use privilege::sandbox::enter as confine;
pub use privilege::signals::HeldSignals;
pub use privilege::standstill::StandstillLook;
pub use privilege::terminal::BorrowedTerminal;
pub use privilege::waited_child::{WAKE_INTERVAL, WaitedChild, go_on_without_parent, wait_for_end};
pub use servers::{ServerFilter, TracedServer, servers};
pub use stacks::{NamedStack, StackNames};

use postgres_files::catalogs::open_catalog;
use postgres_files::file_names::FileNames;

/// What this process lacks to look at the processes of other users, and what to do about it;
/// `None`: nothing.
pub fn missing_rights() -> Option<String> {
    missing_of(&privilege::rights::OTHERS)
}

/// What this process lacks to have the kernel tell of servers, and what to do about it; `None`:
/// nothing, as far as rights decide that.
pub fn missing_trace_rights() -> Option<String> {
    missing_of(&privilege::rights::KERNEL)
}

fn missing_of(rights: &[privilege::rights::ProcessRight]) -> Option<String> {
    let missing = privilege::rights::missing(rights);
    (!missing.is_empty()).then(|| remedy(&missing))
}

/// To be called where the kernel's programs are to tell of processes: in a container they tell of
/// others than `/proc` does. Whoever has not the rights that it takes is told that by the kernel.
///
/// # Errors
/// Processes have other numbers for this process than for the kernel.
pub fn require_machines_numbers() -> Result<(), TraceError> {
    let may_watch = privilege::rights::missing(&privilege::rights::KERNEL).is_empty();
    let is_apart = may_watch && !crate::process::counts_as_the_machine();
    if is_apart { Err(TraceError::OtherNumbers) } else { Ok(()) }
}

/// Gives up what this process may do beyond what anybody may. To be called while there are no other
/// threads.
///
/// # Errors
/// The kernel does not take the rights back.
pub fn give_up_rights() -> Result<(), TraceError> {
    privilege::rights::give_up(|| true)
}

/// What a PostgreSQL server calls one of its files, such as `5/16384`, as far as this process
/// itself may read what says so. For tests.
#[doc(hidden)]
pub fn file_name(server: u32, file: &str) -> Option<String> {
    FileNames::default().name(file, &[server], &mut open_catalog)
}
