//! What the machine is to be used for.

use dbtime_machine::CpuList;
use std::path::PathBuf;

/// What the machine is to be used for, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct PlannedUse {
    /// Connections or workers at once.
    pub connections: Option<u64>,
    /// New connections a second.
    pub connects_per_s: Option<f64>,
    /// Where the data are, or will be.
    pub data: Option<PathBuf>,
    /// CPUs of the server.
    pub server_cpus: Option<CpuList>,
    /// CPUs of the driver.
    pub client_cpus: Option<CpuList>,
    /// Whether the server is on another machine.
    pub is_remote: bool,
    /// Whether connections to it go over a Unix socket, which takes no port.
    pub is_over_socket: bool,
}
