//! Processes: samples of single ones, of servers with all their descendants, and how to find them.
//!
//! Totals come from the process CPU clock, everything else from `/proc/PID`; what each figure is
//! and what it misses stands with its field in [`dbtime_model::process`].
//! What may not be read (another user's `/proc/PID/io`) is `None`.

mod answering;
mod busiest;
mod clock;
mod data_folder;
mod error;
mod exact;
mod files;
mod find;
mod inherited;
mod kinds;
mod listening;
mod namespaces;
mod read;
mod roll;
mod server;
mod thread_owner;
mod unix_socket;
mod usage;

pub use answering::SeenClient;
pub use busiest::{BusyProcess, BusyWatch};
pub(crate) use clock::cpu_time;
pub use data_folder::{is_forwarder, is_server, server_of};
pub use error::ProcessError;
pub(crate) use files::lines as named_lines;
pub use find::{ProcessSelector, all, find, only};
pub(crate) use find::{ambiguous, some};
pub use inherited::close_inherited;
pub use kinds::by_thread_name;
pub(crate) use listening::{ports, sockets};
pub use namespaces::shares_network;
pub(crate) use namespaces::{counts_as_the_machine, inner_number, inner_threads};
pub use read::{ProcReader, cpus_of, has_ended, parent_of, stands_still, start_tick_of};
pub use roll::ProcessSet;
pub use server::{ServerGlance, ServerWatch};
pub use thread_owner::ThreadOwner;
pub use usage::{
    EndWatch, ReapedChild, UsageWatch, boot_id, child_floor_bytes, clock_id, since_saved, wait_for,
};
