//! What goes wrong with a socket, and what is said of it.

use super::address::Address;
use crate::failure::Failure;
use dbtime_model::{ErrorClass, Nanos};
use rustix::io::Errno;
use std::io;

/// Why nothing more can be sent or received.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The system says so.
    System(Errno),
    /// Encryption does.
    Tls(String),
}

impl From<Errno> for Trouble {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

impl Trouble {
    /// What rustls passes on from the socket, or says itself.
    pub(super) fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::System(errno),
            None => Self::Tls(error.to_string()),
        }
    }

    /// With its cause and what to do.
    #[cold]
    pub(super) fn at(self, address: &Address) -> Failure {
        match self {
            Self::System(error) => system_failure(error, address),
            Self::Tls(text) => tls_failure(&text, address),
        }
    }
}

/// A statement was not answered in time.
pub(super) fn timed_out(limit: Option<Nanos>) -> Failure {
    let limit = limit.unwrap_or_default();
    Failure {
        class: ErrorClass::Timeout,
        code: "timeout".to_owned(),
        state: String::new(),
        message: format!("no answer within {limit}: the connection was given up"),
        undone: true,
    }
}

/// What TLS says of a connection, with what to do.
fn tls_failure(text: &str, address: &Address) -> Failure {
    let remedy = if text.contains("ProtocolVersion") || text.contains("peer is incompatible") {
        "; the server speaks only TLS 1.1 or older: let it speak TLS 1.2, or disable TLS"
    } else if text.contains("UnknownIssuer") || text.contains("BadSignature") {
        "; name the authority that signed it (ssl-ca, sslrootcert)"
    } else if text.contains("NotValidForName") || text.contains("not valid for name") {
        "; the certificate is made out to another name: use that name, or verify-ca"
    } else {
        ""
    };
    Failure::connection("tls", format!("{address}: TLS: {text}{remedy}"))
}

/// What the system says of a connection, with its cause and what to do.
fn system_failure(error: Errno, address: &Address) -> Failure {
    let (code, text) = match error {
        Errno::CONNREFUSED => ("ECONNREFUSED", "nothing listens there, or its queue is full"),
        Errno::NOENT => ("ENOENT", "there is no such socket: is the server running?"),
        Errno::ACCESS => ("EACCES", "this user may not use that socket"),
        Errno::CONNRESET => ("ECONNRESET", "the server broke the connection"),
        Errno::PIPE => ("EPIPE", "the server has closed the connection"),
        Errno::TIMEDOUT => ("ETIMEDOUT", "nothing answers there: is a firewall between?"),
        Errno::HOSTUNREACH => ("EHOSTUNREACH", "there is no way to that host"),
        Errno::NETUNREACH => ("ENETUNREACH", "there is no way to that network"),
        Errno::ADDRNOTAVAIL => (
            "EADDRNOTAVAIL",
            "no local port is free: closed connections keep theirs for a minute (TIME_WAIT)",
        ),
        Errno::MFILE => ("EMFILE", "too many open files: raise the limit (ulimit -n)"),
        Errno::NFILE => ("ENFILE", "the machine has too many open files"),
        _ => ("", ""),
    };
    if code.is_empty() {
        let code = format!("errno {}", error.raw_os_error());
        return Failure::connection(&code, format!("{address}: {error}"));
    }
    Failure::connection(code, format!("{address}: {text}"))
}
