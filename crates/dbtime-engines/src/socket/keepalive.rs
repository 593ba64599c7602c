//! What the kernel does about a connection whose other end says nothing. That of a Unix socket it
//! knows to be gone by itself.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;
use std::time::Duration;

/// What the kernel does about a TCP connection whose other end says nothing. What is `None` is as
/// the system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpKeepalive {
    /// Whether an end that is silent is asked for a sign of life: else one that has vanished is
    /// waited for without end. The databases' own clients ask as well.
    pub is_on: bool,
    /// How long it may be silent before it is asked. Unit: seconds.
    pub idle_s: Option<u32>,
    /// How long after one question the next follows. Unit: seconds.
    pub interval_s: Option<u32>,
    /// After how many questions without an answer the connection is lost.
    pub count: Option<u32>,
    /// After how long it is lost where the other end does not confirm what was sent. Unit:
    /// milliseconds.
    pub user_timeout_ms: Option<u32>,
}

impl Default for TcpKeepalive {
    fn default() -> Self {
        Self { is_on: true, idle_s: None, interval_s: None, count: None, user_timeout_ms: None }
    }
}

impl TcpKeepalive {
    /// Sets it up for a socket.
    pub(super) fn apply(&self, socket: &OwnedFd) -> Result<(), Errno> {
        if let Some(milliseconds) = self.user_timeout_ms {
            sockopt::set_tcp_user_timeout(socket, milliseconds)?;
        }
        if !self.is_on {
            return Ok(());
        }
        sockopt::set_socket_keepalive(socket, true)?;
        let duration = |seconds: u32| Duration::from_secs(seconds.into());
        if let Some(seconds) = self.idle_s {
            sockopt::set_tcp_keepidle(socket, duration(seconds))?;
        }
        if let Some(seconds) = self.interval_s {
            sockopt::set_tcp_keepintvl(socket, duration(seconds))?;
        }
        match self.count {
            Some(count) => sockopt::set_tcp_keepcnt(socket, count),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::ServerAddress;
    use std::net::TcpListener;

    #[test]
    fn a_socket_is_set_up_as_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let address = ServerAddress::tcp("127.0.0.1", port).expect("an address");
        let asked = TcpKeepalive {
            is_on: true,
            idle_s: Some(31),
            interval_s: Some(7),
            count: Some(4),
            user_timeout_ms: Some(12_345),
        };
        let socket = address.open(0, &asked).expect("a socket");
        assert_eq!(sockopt::socket_keepalive(&socket), Ok(true));
        assert_eq!(sockopt::tcp_keepidle(&socket), Ok(Duration::from_secs(31)));
        assert_eq!(sockopt::tcp_keepintvl(&socket), Ok(Duration::from_secs(7)));
        assert_eq!(sockopt::tcp_keepcnt(&socket), Ok(4));
        assert_eq!(sockopt::tcp_user_timeout(&socket), Ok(12_345));
        let off = TcpKeepalive { is_on: false, user_timeout_ms: None, ..asked };
        let socket = address.open(0, &off).expect("a socket");
        assert_eq!(sockopt::socket_keepalive(&socket), Ok(false));
        assert_eq!(sockopt::tcp_user_timeout(&socket), Ok(0));
        let socket = address.open(0, &TcpKeepalive::default()).expect("a socket");
        assert_eq!(sockopt::socket_keepalive(&socket), Ok(true));
    }
}
