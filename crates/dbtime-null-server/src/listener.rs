//! Where a null server listens: a port of the loopback interface, or a socket in the file system.

use dbtime_model::WireProtocol;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::str::FromStr;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// This port of 127.0.0.1; 0: one that is free.
    Port(u16),
    /// A socket that is made there. PostgreSQL's clients want it to be called `.s.PGSQL.PORT`.
    Socket(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(port) => Ok(Self::Port(port)),
            Err(_) if text.contains('/') => Ok(Self::Socket(text.into())),
            Err(_) => Err("write a port, 0 for a free one, or the path of a socket".to_owned()),
        }
    }
}

/// A bound address. Accepting never blocks.
pub(crate) enum NullListener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl NullListener {
    pub(crate) fn bind(listen: &ListenAddress) -> io::Result<Self> {
        match listen {
            ListenAddress::Port(port) => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            ListenAddress::Socket(path) => {
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// The next connection; `None` when nobody waits for now.
    pub(crate) fn accept(&self) -> Option<OwnedFd> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                stream.set_nodelay(true).ok()?;
                Some(stream.into())
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                Some(stream.into())
            }
        }
    }

    /// What `--target` takes for it.
    pub(crate) fn target(&self, wire: WireProtocol) -> io::Result<String> {
        let misnamed = || {
            let text = "PostgreSQL's clients look for .s.PGSQL.PORT: name the socket so";
            io::Error::new(io::ErrorKind::InvalidInput, text)
        };
        Ok(match (self, wire) {
            (Self::Tcp(listener), WireProtocol::Mysql) => {
                format!("mysql://x@{}/", listener.local_addr()?)
            }
            (Self::Tcp(listener), WireProtocol::Postgres) => {
                format!("postgres://x@{}/x", listener.local_addr()?)
            }
            (Self::Unix(_, path), WireProtocol::Mysql) => {
                format!("mysql://x@/?socket={}", path.display())
            }
            (Self::Unix(_, path), WireProtocol::Postgres) => {
                let name = path.file_name().and_then(|name| name.to_str());
                let port =
                    name.and_then(|name| name.strip_prefix(".s.PGSQL.")).ok_or_else(misnamed)?;
                let folder = path.parent().ok_or_else(misnamed)?.display();
                format!("postgres://x@/x?host={folder}&port={port}")
            }
        })
    }
}

impl AsFd for NullListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener, _) => listener.as_fd(),
        }
    }
}

/// The socket goes with its server.
impl Drop for NullListener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // Somebody may have tidied up before.
            let _ = std::fs::remove_file(path);
        }
    }
}
