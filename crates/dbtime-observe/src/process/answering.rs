//! The server that has one end of a connection, by where that server sees the other end: wherever
//! on this machine it is, and whatever forwards to it.

use super::data_folder::is_server;
use super::files::ProcFolder;
use super::find::holders;
use super::namespaces::networks;
use procfs::net::{TcpNetEntry, TcpState};
use std::collections::{BTreeSet, HashSet};
use std::net::IpAddr;
use std::str::FromStr;

/// Where a server sees a client of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenClient {
    /// `None`: the server tells a name.
    address: Option<IpAddr>,
    port: u16,
}

impl FromStr for SeenClient {
    type Err = std::num::ParseIntError;

    /// Reads `10.0.0.1:41234`, `::1:41234` and `localhost:41234`; what has no port is none.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (host, port) = text.rsplit_once(':').unwrap_or_default();
        Ok(Self { address: host.parse().ok(), port: port.parse()? })
    }
}

impl SeenClient {
    /// Whether it is at the other end of this one.
    fn is_client_of(&self, end: &TcpNetEntry) -> bool {
        let other = end.remote_address;
        let is_there = self.address.is_none_or(|at| at.to_canonical() == other.ip().to_canonical());
        end.state == TcpState::Established && other.port() == self.port && is_there
    }

    /// The process of the server; of one with a process for each connection the server itself.
    /// `None`: there is not exactly one that this user may see.
    pub fn server(&self) -> Option<u32> {
        let networks = networks();
        let ends = networks.iter().flat_map(|one| [one.tcp(), one.tcp6()]).flatten().flatten();
        let sockets: HashSet<u64> =
            ends.filter(|end| self.is_client_of(end)).map(|end| end.inode).collect();
        let holders = holders(&sockets, String::new).ok()?;
        let servers: BTreeSet<u32> =
            holders.into_iter().filter(|pid| is_server(*pid)).map(root).collect();
        let mut servers = servers.into_iter();
        servers.next().filter(|_| servers.next().is_none())
    }
}

/// The outermost of a server's processes.
fn root(server: u32) -> u32 {
    let parent = |pid: &u32| {
        let basics = ProcFolder::of_process(*pid).basics().ok()?;
        Some(basics.parent).filter(|parent| is_server(*parent))
    };
    std::iter::successors(Some(server), parent).last().unwrap_or(server)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_client_is_where_its_server_says_or_nowhere() {
        let seen = |text: &str| text.parse::<SeenClient>().ok();
        let at = |address: &str, port| {
            Some(SeenClient { address: Some(address.parse().expect("an address")), port })
        };
        assert_eq!(seen("10.0.0.1:41234"), at("10.0.0.1", 41234));
        assert_eq!(seen("::1:41234"), at("::1", 41234));
        assert_eq!(seen("localhost:7"), Some(SeenClient { address: None, port: 7 }));
        assert_eq!((seen("localhost"), seen(""), seen("a:b")), (None, None, None));
    }

    #[test]
    fn the_end_that_a_client_is_connected_to_is_its_servers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (_accepted, seen) = listener.accept().expect("it has come");
        let end = |text: &str| {
            let client: SeenClient = text.parse().expect("an address");
            let ends = procfs::net::tcp().expect("readable").into_iter();
            ends.filter(|end| client.is_client_of(end)).map(|end| end.local_address).next()
        };
        let own = Some(listener.local_addr().expect("bound"));
        assert_eq!(end(&seen.to_string()), own);
        assert_eq!(end(&format!("localhost:{}", seen.port())), own);
        assert_eq!(end(&format!("10.0.0.1:{}", seen.port())), None);
        let seen: SeenClient = seen.to_string().parse().expect("an address");
        assert_eq!(seen.server(), None, "this test is no server");
        drop(client);
    }
}
