//! Where a server listens, and sockets that never block.

use super::keepalive::TcpKeepalive;
use super::protocol::Transport;
use dbtime_model::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt,
};
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// A host's port, with the addresses its name stands for.
    Tcp {
        /// As given.
        host: String,
        /// The port.
        port: u16,
        /// Found when the address was made; the first that lets itself be connected is used.
        resolved: Vec<SocketAddr>,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Why there is no such address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The name stands for nothing.
    #[error("cannot find the host {host}: {source}; check its name, or give its address")]
    Unknown {
        /// As in the target.
        host: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The path is too long for a socket.
    #[error("{0} is too long for the path of a socket (107 bytes at most): use a shorter one")]
    TooLong(PathBuf),
}

impl ServerAddress {
    /// A TCP address. Looks the name up.
    ///
    /// # Errors
    /// When it stands for nothing.
    pub fn tcp(host: &str, port: u16) -> Result<Self, AddressError> {
        let unknown = |source| AddressError::Unknown { host: host.to_owned(), source };
        let resolved: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(unknown)?.collect();
        if resolved.is_empty() {
            return Err(unknown(std::io::ErrorKind::NotFound.into()));
        }
        Ok(Self::Tcp { host: host.to_owned(), port, resolved })
    }

    /// The address of a socket in the file system.
    ///
    /// # Errors
    /// When the path is too long.
    pub fn unix(path: &Path) -> Result<Self, AddressError> {
        match SocketAddrUnix::new(path) {
            Ok(_) => Ok(Self::Unix(path.to_owned())),
            Err(_) => Err(AddressError::TooLong(path.to_owned())),
        }
    }

    /// How many addresses the host has.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Unix(_) => 1,
            Self::Tcp { resolved, .. } => resolved.len(),
        }
    }

    /// Opens a socket and starts to connect it to the host's `nth` address. Comes back at once.
    pub(super) fn open(&self, nth: usize, keepalive: &TcpKeepalive) -> Result<OwnedFd, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = |family| socket_with(family, SocketType::STREAM, flags, None);
        match self {
            Self::Unix(path) => {
                let socket = socket(AddressFamily::UNIX)?;
                // From here on it has a number, by which a tracer finds the other end. That takes
                // no right, and what an old kernel refuses is only not found.
                let _ = sockopt::socket_cookie(&socket);
                connect(&socket, &SocketAddrUnix::new(path)?)?;
                Ok(socket)
            }
            Self::Tcp { resolved, .. } => {
                let at = resolved.get(nth).ok_or(Errno::ADDRNOTAVAIL)?;
                let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
                let socket = socket(family)?;
                sockopt::set_tcp_nodelay(&socket, true)?;
                keepalive.apply(&socket)?;
                match connect(&socket, at) {
                    Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// What its sockets are made of.
    pub(super) fn transport(&self) -> Transport {
        match self {
            Self::Unix(_) => Transport::Unix,
            Self::Tcp { .. } => Transport::Tcp,
        }
    }

    /// How long each of its addresses may take, so that all of them take no longer than this.
    pub(crate) fn share_of(&self, limit: Nanos) -> Nanos {
        Nanos(limit.0 / self.count().max(1) as u64)
    }

    /// Whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp { resolved, .. } => resolved.iter().any(|at| at.ip().is_loopback()),
        }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port, .. } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port, .. } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}
