//! The servers on this machine: which processes they are, and where they listen.

use super::TraceError;
use crate::process::{Which, all, find};
use procfs::ProcError;
use procfs::net::TcpState;
use procfs::process::{FDTarget, Process};
use std::collections::{BTreeSet, HashSet};

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// MySQL and MariaDB.
    Mysql,
}

impl ServerKind {
    /// By the name of its program.
    fn of_program(name: &str) -> Option<Self> {
        matches!(name, "mariadbd" | "mysqld" | "mysqld-debug").then_some(Self::Mysql)
    }
}

/// A server that is to be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedServer {
    /// Its process.
    pub process: u32,
    /// The name of its program.
    pub program: String,
    /// Its protocol.
    pub kind: ServerKind,
    /// The TCP ports that it listens on, in order.
    pub ports: Vec<u16>,
}

/// Which servers are meant.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only these processes; nothing: every server that is found.
    pub processes: Vec<Which>,
    /// What they speak, where their program's name does not say.
    pub kind: Option<ServerKind>,
    /// Only clients of these ports, and of no socket.
    pub ports: Vec<u16>,
}

/// The servers that are meant, at least one.
///
/// # Errors
/// There is none, or one that is named is not there, is no server, or may not be looked at.
pub fn servers(wanted: &Wanted) -> Result<Vec<TracedServer>, TraceError> {
    let mut found = Vec::new();
    if wanted.processes.is_empty() {
        for process in all() {
            // One that may not be looked at is told of where it is named.
            if let Ok(Some(server)) = server(process, None) {
                found.push(server);
            }
        }
    }
    for which in &wanted.processes {
        for process in find(which)? {
            match server(process, wanted.kind) {
                Ok(Some(server)) => found.push(server),
                Ok(None) => return Err(TraceError::NoServer { process }),
                Err(error) => return Err(TraceError::Hidden { process, error: error.to_string() }),
            }
        }
    }
    if !wanted.ports.is_empty() {
        found.retain(|server| server.ports.iter().any(|port| wanted.ports.contains(port)));
        found.iter_mut().for_each(|server| server.ports.retain(|p| wanted.ports.contains(p)));
    }
    if found.is_empty() { Err(TraceError::NothingFound) } else { Ok(found) }
}

/// What a process is as a server; `None` where it is none.
fn server(process: u32, kind: Option<ServerKind>) -> Result<Option<TracedServer>, ProcError> {
    let files = Process::new(process.cast_signed())?;
    let program = files.exe()?;
    let program = program.file_name().unwrap_or_default().to_string_lossy();
    // What was replaced while it runs is still what it was.
    let program = program.trim_end_matches(" (deleted)").to_owned();
    let Some(kind) = kind.or_else(|| ServerKind::of_program(&program)) else { return Ok(None) };
    let own: HashSet<u64> = files
        .fd()?
        .flatten()
        .filter_map(|file| match file.target {
            FDTarget::Socket(inode) => Some(inode),
            _ => None,
        })
        .collect();
    // Those of its own network, which in a container is not that of the machine.
    let entries =
        files.tcp().unwrap_or_default().into_iter().chain(files.tcp6().unwrap_or_default());
    let ports: BTreeSet<u16> = entries
        .filter(|entry| entry.state == TcpState::Listen && own.contains(&entry.inode))
        .map(|entry| entry.local_address.port())
        .collect();
    Ok(Some(TracedServer { process, program, kind, ports: ports.into_iter().collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_process_is_a_server_with_the_ports_it_listens_on() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let own = std::process::id();
        let found = server(own, Some(ServerKind::Mysql)).expect("readable").expect("told so");
        assert!(found.ports.contains(&port), "{found:?}");
        assert_eq!(server(own, None).expect("readable"), None, "its program's name says nothing");
        let wanted = Wanted { processes: vec![Which::Pid(own)], ..Wanted::default() };
        let refused = servers(&wanted).expect_err("no server");
        assert_eq!(refused, TraceError::NoServer { process: own });
    }
}
