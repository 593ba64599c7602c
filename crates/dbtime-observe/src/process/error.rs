//! Why a process cannot be watched.

use serde::{Deserialize, Serialize};

/// Why a process cannot be watched, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ProcessError {
    /// The number belongs to nobody, or not to one this user may see.
    #[error(
        "there is no process {0}: it has ended, or /proc hides it (mount option hidepid); \
         `dbtime ps 1` lists all processes"
    )]
    Absent(u32),
    /// No process has the name.
    #[error(
        "no process is called `{0}`: give the name of the program (as in /proc/PID/comm), \
         a process number, :PORT or the path of a socket"
    )]
    NoSuchName(String),
    /// Nobody listens on the port.
    #[error(
        "no process listens on TCP port {0} of this machine, in a network namespace that this user \
         may look into"
    )]
    NoListener(u16),
    /// Somebody does, and may not be looked at.
    #[error(
        "the process behind {0} belongs to another user: run as that user or as root, or give \
         its process number"
    )]
    HiddenListener(String),
    /// Nobody listens on the socket.
    #[error(
        "no process listens on the socket {0} of this machine, in namespaces that this user may \
         look into"
    )]
    NoSocket(String),
    /// More than one server fits.
    #[error(
        "{what} fits {count} processes that are not each other's children: {candidates}; give the \
         number of one, or a :PORT where no other listens"
    )]
    Ambiguous {
        /// What was asked for.
        what: String,
        /// How many fit.
        count: usize,
        /// Some of them: number, user, ports.
        candidates: String,
    },
}
