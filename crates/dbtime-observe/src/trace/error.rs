//! Errors of the tracer.

use crate::process::ProcessError;
use serde::{Deserialize, Serialize};

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
         /proc/PID/cgroup shows the group of a process"
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
    /// What listens there is not known as a server.
    #[error(
        "{program}, process {process}, listens on {what}, and is no server that dbtime knows: if \
         it forwards to one, as docker-proxy, rootlessport, pasta and pools of connections do, \
         name that server by its process number with -p (servers here: {servers}); else say what \
         it speaks with --server-kind"
    )]
    NoServerAt {
        /// The port or the socket.
        what: String,
        /// The process.
        process: u32,
        /// The name of its program.
        program: String,
        /// The servers that there are: number, user, ports.
        servers: String,
    },
    /// The process may not be looked at.
    #[error("process {process} cannot be inspected: {why}")]
    Hidden {
        /// The process.
        process: u32,
        /// The system's words, and what to do about it.
        why: String,
    },
    /// This process is in a container.
    #[error(
        "dbtime runs in a PID namespace of its own, as in a container, where processes have other \
         numbers than those that the kernel tells of, and cannot learn these: run it on the host, \
         or start its container with --pid=host (in Kubernetes: hostPID: true); a distribution of \
         WSL 2 is in one too, and a virtual machine is not"
    )]
    OtherNumbers,
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
    #[error("the reader of client requests {0}")]
    Reader(String),
    /// Rights cannot be given up.
    #[error(
        "client requests are not read with rights that could do harm, and these cannot be given \
         up: {0}"
    )]
    Rights(String),
    /// The kernel's side does not load or attach.
    #[error("the kernel refuses the tracer's program: {0}")]
    Kernel(String),
}
