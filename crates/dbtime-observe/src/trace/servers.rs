//! The servers on this machine: which processes they are, and where they listen.

use super::error::TraceError;
use super::privilege::rights::{self, OTHERS};
use crate::process::{
    ProcessSelector, all, ambiguous, find, inner_number, parent_of, ports, sockets, some,
};
use dbtime_model::WireProtocol;
use procfs::ProcError;
use procfs::net::{TcpState, UnixState};
use procfs::process::Process;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Display;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A server that is to be watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedServer {
    /// Its process.
    pub process: u32,
    /// The name of its program.
    pub program: String,
    /// What it speaks.
    pub protocol: WireProtocol,
    /// Its processes, itself first: PostgreSQL has one for each client, and more.
    pub processes: Vec<u32>,
    /// The TCP ports that it listens on, in order.
    pub ports: Vec<u16>,
    /// The number that it has in its own PID namespace, where that is not dbtime's: what it tells
    /// of processes and threads goes by that namespace's numbers.
    pub inner_process: Option<u32>,
    /// The port or the socket that it was sought by; `None`: it was sought otherwise.
    pub place: Option<ProcessSelector>,
}

/// Whether a process has not ended, or not been asked yet how it did.
pub(super) fn is_here(process: u32) -> bool {
    let process = Pid::from_raw(process.cast_signed());
    process.is_some_and(|process| test_kill_process(process) != Err(Errno::SRCH))
}

/// Whether somebody is connected to one of them, as far as can be seen.
pub(super) fn has_clients(servers: &[TracedServer]) -> bool {
    servers.iter().any(|server| server.clients().map_or(true, |clients| !clients.is_empty()))
}

impl TracedServer {
    /// Whether it has not ended. It takes no right, and no look into `/proc`.
    pub fn is_here(&self) -> bool {
        is_here(self.process)
    }

    /// Its sockets over which somebody is connected, as far as can be seen.
    pub(super) fn clients(&self) -> Result<HashSet<u64>, ProcError> {
        // Some of them have ended meanwhile.
        let there = self.processes.iter().flat_map(|process| Process::new(process.cast_signed()));
        let own: HashSet<u64> = there.flat_map(|files| sockets(&files)).flatten().collect();
        let files = Process::new(self.process.cast_signed())?;
        let by_tcp = files
            .tcp()?
            .into_iter()
            .chain(files.tcp6().unwrap_or_default())
            .filter(|entry| entry.state == TcpState::Established)
            .map(|entry| entry.inode);
        let by_socket = files
            .unix()?
            .into_iter()
            .filter(|entry| entry.state == UnixState::CONNECTED && entry.path.is_some())
            .map(|entry| entry.inode);
        Ok(by_tcp.chain(by_socket).filter(|socket| own.contains(socket)).collect())
    }
}

/// Which servers are meant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServerFilter {
    /// Only these processes; nothing: every server that is found.
    pub processes: Vec<ProcessSelector>,
    /// What they speak, where their program's name does not say.
    pub protocol: Option<WireProtocol>,
    /// Only clients of these ports, and of no socket.
    pub ports: Vec<u16>,
    /// Only servers in this control group, or below it: its path, with the folder that control
    /// groups are mounted in or without.
    pub cgroup: Option<String>,
}

impl ServerFilter {
    /// Whether servers that start later are meant as well: those that are known by their names.
    pub fn follows_new(&self) -> bool {
        let has_name = self.processes.iter().any(|which| matches!(which, ProcessSelector::Name(_)));
        self.ports.is_empty() && (self.processes.is_empty() || has_name)
    }

    /// What a process is that has just started, if it is meant.
    pub fn started(&self, process: u32) -> Option<TracedServer> {
        // One that has ended meanwhile, or may not be looked at, is none.
        let server = server(process, None).ok().flatten()?;
        let is_named = |which: &ProcessSelector| match which {
            ProcessSelector::Name(name) => *name == server.program,
            _ => false,
        };
        let is_selected = self.processes.is_empty() || self.processes.iter().any(is_named);
        (is_selected && self.has_in_cgroup(process)).then_some(server)
    }

    fn has_in_cgroup(&self, process: u32) -> bool {
        self.cgroup.as_ref().is_none_or(|cgroup| {
            let groups = Process::new(process.cast_signed()).and_then(|files| files.cgroups());
            groups.is_ok_and(|all| all.0.iter().any(|group| is_in(&group.pathname, cgroup)))
        })
    }
}

/// Whether a control group is another, or below it.
fn is_in(group: &str, outer: &str) -> bool {
    let outer = outer.strip_prefix(CGROUPS).unwrap_or(outer).trim_matches('/');
    let below = group.trim_start_matches('/').strip_prefix(outer);
    below.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// Where control groups are mounted.
const CGROUPS: &str = "/sys/fs/cgroup";

/// The servers that are meant, at least one.
///
/// # Errors
/// There is none, or one that is named is not there, is no server, or may not be looked at.
pub fn servers(filter: &ServerFilter) -> Result<Vec<TracedServer>, TraceError> {
    let mut found = Vec::new();
    if filter.processes.is_empty() {
        found = everywhere()?;
    }
    for which in &filter.processes {
        found.extend(among(which, find(which)?, filter.protocol)?);
    }
    if !filter.ports.is_empty() {
        found.retain(|server| server.ports.iter().any(|port| filter.ports.contains(port)));
        found.iter_mut().for_each(|server| server.ports.retain(|p| filter.ports.contains(p)));
    }
    found.retain(|server| filter.has_in_cgroup(server.process));
    match &filter.cgroup {
        _ if !found.is_empty() => Ok(found),
        Some(cgroup) => Err(TraceError::NotInCgroup(cgroup.clone())),
        None => Err(TraceError::NothingFound),
    }
}

fn everywhere() -> Result<Vec<TracedServer>, TraceError> {
    let (mut found, mut hidden_one) = (Vec::new(), None);
    for process in all() {
        match server(process, None) {
            Ok(server) => found.extend(server),
            // Of one that may not be looked at no more can be seen than what its thread is called.
            Err(error @ ProcError::PermissionDenied(_)) if crate::process::is_server(process) => {
                hidden_one = Some(hidden(process, &error));
            }
            Err(_) => {}
        }
    }
    match hidden_one {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

fn hidden(process: u32, error: &ProcError) -> TraceError {
    TraceError::Hidden { process, why: unreadable(error) }
}

/// Why what is in `/proc` of a process cannot be read: where that is for want of a right, with what
/// to do about it.
pub(super) fn unreadable(error: &ProcError) -> String {
    match error {
        ProcError::PermissionDenied(_) => refusal(error),
        _ => error.to_string(),
    }
}

/// Why another's process may not be looked at, and what to do about it.
fn refusal(error: &dyn Display) -> String {
    match rights::missing(&OTHERS).as_slice() {
        [] => format!(
            "{error}; dbtime has the rights that it takes, and a security module refuses it, or \
             they do not count, as in a user namespace: run dbtime as root on the host"
        ),
        missing => format!("it takes {}", rights::remedy(missing)),
    }
}

/// The servers among processes that are meant, at least one; where a port or a socket is, one.
fn among(
    which: &ProcessSelector,
    processes: Vec<u32>,
    protocol: Option<WireProtocol>,
) -> Result<Vec<TracedServer>, TraceError> {
    let is_place = matches!(which, ProcessSelector::Port(_) | ProcessSelector::Socket(_));
    let place = is_place.then(|| which.clone());
    let (mut servers, mut others) = (Vec::new(), Vec::new());
    for process in processes {
        match server(process, protocol) {
            Ok(Some(server)) => servers.push(TracedServer { place: place.clone(), ..server }),
            // A server's child has its name, and so has one that has just ended.
            Ok(None) | Err(ProcError::NotFound(_)) => others.push(process),
            Err(error) => return Err(hidden(process, &error)),
        }
    }
    let found: Vec<u32> = servers.iter().map(|server| server.process).collect();
    let is_child = |one: &u32| parent_of(*one).is_some_and(|parent| found.contains(&parent));
    let roots: Vec<u32> = found.iter().copied().filter(|one| !is_child(one)).collect();
    match others.first() {
        Some(&process) if found.is_empty() && is_place => Err(no_server_at(which, process)),
        Some(&process) if found.is_empty() => Err(TraceError::NoServer { process }),
        _ if is_place && roots.len() > 1 => Err(ambiguous(which, &roots).into()),
        _ => Ok(servers),
    }
}

/// What listens may hand on what it is sent, to a server that nobody but it knows.
fn no_server_at(which: &ProcessSelector, process: u32) -> TraceError {
    let program = Process::new(process.cast_signed()).and_then(|files| program(&files));
    let is_server = |one: &u32| matches!(server(*one, None), Ok(Some(_)));
    let servers: Vec<u32> = all().into_iter().filter(is_server).collect();
    TraceError::NoServerAt {
        what: which.to_string(),
        process,
        program: program.unwrap_or_else(|_| "a program".to_owned()),
        servers: if servers.is_empty() { "none".to_owned() } else { some(&servers) },
    }
}

/// What a process is as a server; `None` where it is none, or the child of one.
fn server(process: u32, protocol: Option<WireProtocol>) -> Result<Option<TracedServer>, ProcError> {
    let files = Process::new(process.cast_signed())?;
    let program = program(&files)?;
    let Some(protocol) = protocol.or_else(|| WireProtocol::of_program(&program)) else {
        return Ok(None);
    };
    let mut processes = vec![process];
    if protocol == WireProtocol::Postgres {
        let parent = parent_of(process).and_then(|parent| Process::new(parent.cast_signed()).ok());
        let name = parent.and_then(|parent| self::program(&parent).ok());
        if name.is_some_and(|name| name == program) {
            return Ok(None);
        }
        processes.extend(children(process));
    }
    let ports = ports(&files)?;
    let inner_process = files.status().ok().as_ref().and_then(inner_number);
    let place = None;
    Ok(Some(TracedServer { process, program, protocol, processes, ports, inner_process, place }))
}

/// Opens a process's program file, which others may run when the process has ended; also one that
/// was deleted since. `None`: the process has ended.
///
/// # Errors
/// It may not be looked at, for people.
pub(super) fn open_program(process: u32) -> Result<Option<File>, String> {
    let path = format!("/proc/{process}/exe");
    match rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        // Whether it was waited for or not.
        Err(Errno::NOENT | Errno::SRCH) => Ok(None),
        Err(error @ (Errno::ACCESS | Errno::PERM)) => Err(format!("{path}: {}", refusal(&error))),
        Err(error) => Err(format!("{path}: {error}")),
        Ok(found) => {
            let opened = open_found(&found, |_| true).map(Some);
            opened.map_err(|why| format!("{path}: {}", refusal(&why)))
        }
    }
}

/// Opens a file that somebody else has named, if it is one that the caller `accepts`: it is looked
/// at before it is opened, for opening may do something by itself.
///
/// # Errors
/// It is not there, no file, or not accepted, for people.
pub(super) fn open_file(path: &Path, accepts: impl Fn(&Stat) -> bool) -> Result<File, String> {
    let failed = |error: Errno| error.to_string();
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    open_found(&found.map_err(failed)?, accepts).map_err(|why| format!("{}: {why}", path.display()))
}

/// The same of what was found (`O_PATH`).
///
/// # Errors
/// As [`open_file`].
pub(super) fn open_found(found: &OwnedFd, accepts: impl Fn(&Stat) -> bool) -> Result<File, String> {
    let failed = |error: Errno| error.to_string();
    let stat = fstat(found).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !accepts(&stat) {
        return Err("it is not the file that was meant".to_owned());
    }
    let found = PathBuf::from(format!("/proc/self/fd/{}", found.as_raw_fd()));
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(&found, flags, Mode::empty()).map(File::from).map_err(failed)
}

/// The name of a process's program.
fn program(process: &Process) -> Result<String, ProcError> {
    let program = process.exe()?;
    let program = program.file_name().unwrap_or_default().to_string_lossy();
    // What was replaced while it runs is still what it was.
    Ok(program.trim_end_matches(" (deleted)").to_owned())
}

/// Whether a process runs PostgreSQL, by the name of its program.
pub(super) fn is_postgres(process: u32) -> bool {
    let program = Process::new(process.cast_signed()).and_then(|process| program(&process));
    program.is_ok_and(|name| WireProtocol::of_program(&name) == Some(WireProtocol::Postgres))
}

/// The processes that a process has started and that are still there.
fn children(process: u32) -> Vec<u32> {
    all().into_iter().filter(|other| parent_of(*other) == Some(process)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn servers_that_are_meant_by_name_may_start_later() {
        let wanted = |processes: &[ProcessSelector], ports: &[u16]| ServerFilter {
            processes: processes.to_vec(),
            protocol: None,
            ports: ports.to_vec(),
            cgroup: None,
        };
        let name = ProcessSelector::Name("mariadbd".to_owned());
        let names = [name];
        assert!(wanted(&[], &[]).follows_new() && wanted(&names, &[]).follows_new());
        assert!(!wanted(&[ProcessSelector::Pid(7)], &[]).follows_new());
        assert!(!wanted(&names, &[1]).follows_new());
        assert_eq!(wanted(&[], &[]).started(std::process::id()), None);
    }

    #[test]
    fn a_process_is_a_server_with_the_ports_it_listens_on() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let own = std::process::id();
        let found = server(own, Some(WireProtocol::Mysql)).expect("readable").expect("told so");
        assert!(found.ports.contains(&port), "{found:?}");
        assert_eq!(server(own, None).expect("readable"), None, "its program's name says nothing");
        let wanted =
            ServerFilter { processes: vec![ProcessSelector::Pid(own)], ..ServerFilter::default() };
        let refused = servers(&wanted).expect_err("no server");
        assert_eq!(refused, TraceError::NoServer { process: own });
    }

    #[test]
    fn a_control_group_holds_those_below_it() {
        let group = "/system.slice/mariadb.service";
        for wanted in
            ["/", "system.slice", "/system.slice/mariadb.service/", "/sys/fs/cgroup/system.slice"]
        {
            assert!(is_in(group, wanted), "{wanted}");
        }
        assert!(!is_in(group, "/system.slice/mariadb") && !is_in("/", "system.slice"));
    }

    #[test]
    fn one_that_has_ended_hides_no_server_of_its_name() {
        let mut ended = std::process::Command::new("true").spawn().expect("there is one");
        let (own, gone) = (std::process::id(), ended.id());
        // Nobody has asked how it ended: it is still there, without a program.
        while Process::new(gone.cast_signed()).is_ok_and(|files| files.exe().is_ok()) {
            std::thread::yield_now();
        }
        let name = ProcessSelector::Name("mariadbd".to_owned());
        let servers_of = |processes| among(&name, processes, Some(WireProtocol::Mysql));
        let found = servers_of(vec![gone, own]).expect("one is there");
        assert_eq!(found.iter().map(|server| server.process).collect::<Vec<_>>(), [own]);
        let refused = servers_of(vec![gone]).expect_err("none is there");
        assert_eq!(refused, TraceError::NoServer { process: gone });
        assert!(open_program(gone).is_ok_and(|program| program.is_none()), "it has none any more");
        ended.wait().expect("it has ended");
        assert!(open_program(gone).is_ok_and(|program| program.is_none()));
        assert!(open_program(own).is_ok_and(|program| program.is_some()));
    }

    #[test]
    fn whoever_listens_in_a_servers_stead_is_named_with_the_servers_that_there_are() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = ProcessSelector::Port(listener.local_addr().expect("bound").port());
        let own = std::process::id();
        let filter = |protocol| ServerFilter {
            processes: vec![port.clone()],
            protocol,
            ..ServerFilter::default()
        };
        let refused = servers(&filter(None)).expect_err("no server");
        assert!(matches!(refused, TraceError::NoServerAt { process, .. } if process == own));
        let told = refused.to_string();
        for word in [&*port.to_string(), &*own.to_string(), "--server-kind", "-p"] {
            assert!(told.contains(word), "{word} in {told}");
        }
        let found = servers(&filter(Some(WireProtocol::Mysql))).expect("told so");
        assert_eq!(found[0].place, Some(port));
    }

    /// As one of each of two containers that publish nothing.
    #[test]
    fn of_several_servers_on_one_port_one_is_asked_for_by_its_number() {
        let own = std::process::id();
        let port = ProcessSelector::Port(5432);
        let refused = among(&port, vec![own, own], Some(WireProtocol::Mysql));
        let told = refused.expect_err("there are two").to_string();
        assert!(told.contains(":5432 fits 2 processes") && told.contains(&own.to_string()));
    }
}
