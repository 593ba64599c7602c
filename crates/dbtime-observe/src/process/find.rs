//! Finds processes by number, name, port or socket.

use super::error::ProcessError;
use super::files::{ProcFolder, numbers};
use super::listening::{described, sockets};
use super::namespaces::networks;
use super::unix_socket::{is_same_name, is_same_socket};
use procfs::net::{TcpState, UnixState};
use procfs::process::Process;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The kernel keeps so many bytes of a name.
const NAME: usize = 15;

/// Which process is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessSelector {
    /// The one with this number.
    Pid(u32),
    /// Those of this name, or whose program is called so.
    Name(String),
    /// The one that listens on this TCP port, in whatever network namespace.
    Port(u16),
    /// The one that listens on this Unix socket, in whatever namespaces: by its path here, or where
    /// there is none by the name that it has there.
    Socket(PathBuf),
}

impl FromStr for ProcessSelector {
    type Err = Infallible;

    /// Reads `4711`, `:3306`, `/run/mysqld/mysqld.sock`, and everything else as a name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let port = text.strip_prefix(':').and_then(|port| port.parse().ok());
        Ok(match (text.parse(), port) {
            (Ok(pid), _) => Self::Pid(pid),
            (_, Some(port)) => Self::Port(port),
            _ if text.starts_with('/') || text.starts_with('@') => Self::Socket(text.into()),
            _ => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for ProcessSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => write!(f, "{pid}"),
            Self::Name(name) => f.write_str(name),
            Self::Port(port) => write!(f, ":{port}"),
            Self::Socket(path) => path.display().fmt(f),
        }
    }
}

/// Numbers of all processes that this user may see, in order.
pub fn all() -> Vec<u32> {
    let mut pids = numbers(Path::new("/proc"));
    pids.sort_unstable();
    pids
}

/// Numbers of the processes that are meant, at least one, in order.
///
/// Errors: [`ProcessError`], saying what was not found.
pub fn find(which: &ProcessSelector) -> Result<Vec<u32>, ProcessError> {
    match which {
        ProcessSelector::Pid(pid) => match ProcFolder::of_process(*pid).basics() {
            Ok(_) => Ok(vec![*pid]),
            Err(_) => Err(ProcessError::Absent(*pid)),
        },
        ProcessSelector::Name(name) => {
            let found: Vec<u32> = all().into_iter().filter(|pid| has_name(*pid, name)).collect();
            if found.is_empty() { Err(ProcessError::NoSuchName(name.clone())) } else { Ok(found) }
        }
        ProcessSelector::Port(port) => listening(*port, &networks()),
        ProcessSelector::Socket(path) => listening_at(path, &networks()),
    }
}

/// The one process that is meant; of a server with children the server itself. A port is one of
/// this process's own network, in which others may have forwarded it.
///
/// Errors: as [`find`], and [`ProcessError::Ambiguous`].
pub fn only(which: &ProcessSelector) -> Result<u32, ProcessError> {
    let found = match which {
        ProcessSelector::Port(port) => {
            listening(*port, &Process::myself().into_iter().collect::<Vec<_>>())?
        }
        _ => find(which)?,
    };
    let parent = |pid: u32| ProcFolder::of_process(pid).basics().map_or(0, |basics| basics.parent);
    let roots: Vec<u32> =
        found.iter().copied().filter(|pid| !found.contains(&parent(*pid))).collect();
    match roots[..] {
        [pid] => Ok(pid),
        // All of them have ended since they were found.
        [] => Err(ProcessError::Absent(found[0])),
        _ => Err(ambiguous(which, &roots)),
    }
}

/// That several processes are meant, which are not each other's children.
pub(crate) fn ambiguous(which: &ProcessSelector, roots: &[u32]) -> ProcessError {
    let (what, count) = (which.to_string(), roots.len());
    ProcessError::Ambiguous { what, count, candidates: some(roots) }
}

/// The first few of a list, with user and ports.
pub(crate) fn some(pids: &[u32]) -> String {
    let shown: Vec<String> = pids.iter().take(5).map(|pid| described(*pid)).collect();
    shown.join(", ") + if pids.len() > 5 { ", …" } else { "" }
}

/// Whether the kernel's name of a process or its program's is this one.
pub(super) fn has_name(pid: u32, name: &str) -> bool {
    let folder = ProcFolder::of_process(pid);
    let Ok(basics) = folder.basics() else { return false };
    if basics.name == name {
        return true;
    }
    // The names that the kernel cut need the command line.
    let may_be_cut = basics.name.len() == NAME || name.len() <= NAME;
    may_be_cut && folder.command().first().is_some_and(|program| base(program) == name)
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Processes that listen on a port in one of these networks.
fn listening(port: u16, networks: &[Process]) -> Result<Vec<u32>, ProcessError> {
    let entries = networks.iter().flat_map(|one| [one.tcp(), one.tcp6()]).flatten().flatten();
    let listeners = entries
        .filter(|entry| entry.state == TcpState::Listen && entry.local_address.port() == port);
    match listeners.map(|entry| entry.inode).collect::<HashSet<u64>>() {
        sockets if sockets.is_empty() => Err(ProcessError::NoListener(port)),
        sockets => holders(&sockets, || format!("port {port}")),
    }
}

/// Processes that listen on the Unix socket of a path.
fn listening_at(path: &Path, networks: &[Process]) -> Result<Vec<u32>, ProcessError> {
    let shown = || path.display().to_string();
    let entries = networks.iter().flat_map(Process::unix).flatten();
    let listeners = entries.filter(|entry| entry.state == UnixState::UNCONNECTED);
    let bound = listeners.filter_map(|entry| Some((entry.inode, entry.path?)));
    let is_here = path.exists();
    let may_be = |bound: &Path| is_same_name(path, bound) && (is_here || bound == path);
    let bound: HashMap<u64, PathBuf> = bound.filter(|(_, bound)| may_be(bound)).collect();
    if bound.is_empty() {
        return Err(ProcessError::NoSocket(shown()));
    }
    let is_it = |pid: &u32| {
        let held = Process::new(pid.cast_signed()).and_then(|files| sockets(&files));
        let mut names = held.iter().flatten().filter_map(|inode| bound.get(inode));
        names.any(|name| is_same_socket(path, *pid, name))
    };
    let mut found = holders(&bound.keys().copied().collect(), shown)?;
    found.retain(is_it);
    if found.is_empty() { Err(ProcessError::NoSocket(shown())) } else { Ok(found) }
}

/// Processes that hold one of these sockets.
pub(super) fn holders(
    sockets: &HashSet<u64>,
    what: impl Fn() -> String,
) -> Result<Vec<u32>, ProcessError> {
    let links_to_sockets: HashSet<String> =
        sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let holds = |pid: &u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let mut links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        links.any(|link| link.to_str().is_some_and(|link| links_to_sockets.contains(link)))
    };
    let found: Vec<u32> = all().into_iter().filter(holds).collect();
    if found.is_empty() { Err(ProcessError::HiddenListener(what())) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_meant_is_read() {
        let which = |text: &str| text.parse::<ProcessSelector>().expect("never fails");
        assert_eq!(which("4711"), ProcessSelector::Pid(4711));
        assert_eq!(which(":3306"), ProcessSelector::Port(3306));
        assert_eq!(which("/run/x.sock"), ProcessSelector::Socket("/run/x.sock".into()));
        assert_eq!(which("mariadbd"), ProcessSelector::Name("mariadbd".to_owned()));
        assert_eq!(which("99999999999").to_string(), "99999999999");
    }

    #[test]
    fn listeners_are_found_by_port_and_by_socket() {
        let own = std::process::id();
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = tcp.local_addr().expect("bound").port();
        assert_eq!(find(&ProcessSelector::Port(port)), Ok(vec![own]));
        drop(tcp);
        assert_eq!(find(&ProcessSelector::Port(port)), Err(ProcessError::NoListener(port)));

        let path = std::env::temp_dir().join(format!("dbtime-find-{own}.sock"));
        let unix = UnixListener::bind(&path).expect("a socket");
        assert_eq!(only(&ProcessSelector::Socket(path.clone())), Ok(own));
        drop(unix);
        let gone = find(&ProcessSelector::Socket(path.clone()));
        assert!(matches!(gone, Err(ProcessError::NoSocket(_))), "{gone:?}");
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn a_socket_may_lie_in_no_folder() {
        use std::os::linux::net::SocketAddrExt;
        let own = std::process::id();
        let name = format!("dbtime-find-{own}");
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("short");
        let listener = UnixListener::bind_addr(&address).expect("nobody has it");
        let which: ProcessSelector = format!("@{name}").parse().expect("never fails");
        assert_eq!(only(&which), Ok(own));
        drop(listener);
        assert!(matches!(find(&which), Err(ProcessError::NoSocket(_))));
    }

    #[test]
    fn processes_are_found_by_name_and_by_number() {
        let own = std::process::id();
        let name = std::env::current_exe().expect("this test");
        let name = name.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.len() > NAME, "the kernel cuts it");
        assert!(find(&ProcessSelector::Name(name)).expect("this test").contains(&own));
        assert_eq!(find(&ProcessSelector::Pid(own)), Ok(vec![own]));
        assert_eq!(find(&ProcessSelector::Pid(4_194_305)), Err(ProcessError::Absent(4_194_305)));
        let none = ProcessSelector::Name("no-such-program".to_owned());
        assert!(matches!(find(&none), Err(ProcessError::NoSuchName(_))));
    }

    #[test]
    fn long_lists_are_cut() {
        // Above the highest number that a process can have: nothing more is known of them.
        let pids: Vec<u32> = (4_194_305..4_194_311).collect();
        let shown = "4194305, 4194306, 4194307, 4194308, 4194309, …";
        assert_eq!(some(&pids), shown);
    }
}
