//! A look at what sessions are at. Names that clients have chosen are handed on as they are.

use super::thread_call::{ThreadCall, thread_call};
use crate::process::inner_number;
use crate::trace::servers::{TracedServer, is_postgres};
use procfs::process::Process;
use rustix::fs::fstat;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;

/// What is read of a title. Unit: bytes.
const MAX_TITLE_BYTES: u64 = 320;

/// Processes that are looked at for one message.
pub(crate) const MAX_BACKENDS: usize = 64;

/// PostgreSQL's last class of waits (injection points, since version 17).
const LAST_CLASS: u32 = 11;

/// A server with more threads, or more clients, is not looked at.
const MAX_THREADS: usize = 4096;

/// How many numbers are kept at most: the reader, which names the processes, has no such bound.
const MAX_NUMBERS: usize = 4096;

/// A process of PostgreSQL's.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackendGlimpse {
    pub(crate) title: String,
    /// The number that it has in its own PID namespace, where that is another.
    pub(crate) inner: Option<u32>,
    /// What it waits for, where it writes that down.
    pub(crate) wait: Option<u32>,
}

/// The clients of a server that serves each by a thread, by the numbers of their sockets.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientThreads {
    pub(crate) clients: HashSet<u64>,
    /// Those whose threads wait for the next request, or for the rest of one.
    pub(crate) idle: HashSet<u64>,
    /// Whether it may have a pool of threads, of which none waits for an idle client.
    pub(crate) has_pool: bool,
}

/// The numbers that processes have in their own PID namespaces. None ever changes, and each is read
/// once: the kernel writes all of `/proc/PID/status` for it.
#[derive(Debug, Default)]
pub(crate) struct InnerNumbers(HashMap<u32, (u64, Option<u32>)>);

impl InnerNumbers {
    /// That of a process; `file` is the inode of one of its files in `/proc`: another process that
    /// gets the same number later has other files.
    fn of(&mut self, process: u32, file: u64) -> Option<u32> {
        match self.0.get(&process) {
            Some((known, inner)) if *known == file => *inner,
            _ => self.read(process, file),
        }
    }

    fn read(&mut self, process: u32, file: u64) -> Option<u32> {
        let status = Process::new(process.cast_signed()).and_then(|files| files.status()).ok()?;
        let inner = inner_number(&status);
        if self.0.len() >= MAX_NUMBERS {
            self.0.clear();
        }
        self.0.insert(process, (file, inner));
        inner
    }
}

/// What these processes are at, in their order; `None`: it has ended. `wait_variable` is where each
/// has the address of what it waits for; 0: nowhere.
pub(crate) fn backends(
    processes: &[u32],
    wait_variable: u64,
    numbers: &mut InnerNumbers,
) -> Vec<Option<BackendGlimpse>> {
    let backend = |process: &u32| {
        let mut title = Vec::new();
        let file = File::open(format!("/proc/{process}/cmdline")).ok()?;
        let inode = fstat(&file).ok()?.st_ino;
        file.take(MAX_TITLE_BYTES).read_to_end(&mut title).ok()?;
        let title = title.split(|byte| *byte == 0).next().filter(|title| !title.is_empty())?;
        let title = String::from_utf8_lossy(title).into_owned();
        let inner = numbers.of(*process, inode);
        Some(BackendGlimpse { title, inner, wait: wait_event(*process, wait_variable) })
    };
    processes.iter().take(MAX_BACKENDS).map(backend).collect()
}

/// What a process of PostgreSQL's waits for, and nothing else of anybody's memory: the reader says
/// where it is, and nobody knows what has become of the reader.
fn wait_event(process: u32, variable: u64) -> Option<u32> {
    if variable == 0 || !is_postgres(process) {
        return None;
    }
    pointed_to(&memory(process)?, variable).filter(|wait| is_wait(*wait))
}

/// What the variable at this address points to.
fn pointed_to(memory: &File, variable: u64) -> Option<u32> {
    let (mut address, mut wait) = ([0; 8], [0; 4]);
    memory.read_exact_at(&mut address, variable).ok()?;
    memory.read_exact_at(&mut wait, u64::from_ne_bytes(address)).ok()?;
    Some(u32::from_ne_bytes(wait))
}

/// Whether a number may be a wait: none, or a class and one of its few events.
fn is_wait(number: u32) -> bool {
    let has_class = (1..=LAST_CLASS).contains(&(number >> 24));
    number == 0 || (has_class && number & 0x00ff_0000 == 0)
}

fn memory(process: u32) -> Option<File> {
    File::open(format!("/proc/{process}/mem")).ok()
}

/// The clients of a server of the other kind; `None`: they cannot be seen, or are too many.
pub(crate) fn client_threads(server: &TracedServer) -> Option<ClientThreads> {
    let clients = server.clients().ok().filter(|clients| clients.len() <= MAX_THREADS)?;
    let memory = memory(server.process)?;
    let tasks = fs::read_dir(format!("/proc/{}/task", server.process)).ok()?;
    let (mut idle, mut waits_for_any) = (HashSet::new(), false);
    for (number, task) in tasks.flatten().enumerate() {
        if number >= MAX_THREADS {
            return None;
        }
        // One that has ended serves nobody.
        let call = fs::read_to_string(task.path().join("syscall")).unwrap_or_default();
        let file = match thread_call(&call) {
            ThreadCall::Reads(file) => Some(file),
            ThreadCall::Polls(address) => read_from(&memory, address),
            call => {
                waits_for_any |= call == ThreadCall::WaitsForAny;
                None
            }
        };
        let socket = file.and_then(|file| socket(server.process, file));
        idle.extend(socket.filter(|socket| clients.contains(socket)));
    }
    let has_pool = waits_for_any && idle.is_empty();
    Some(ClientThreads { clients, idle, has_pool })
}

/// The file that a thread waits to read from, by its `struct pollfd`.
fn read_from(memory: &File, address: u64) -> Option<u64> {
    let mut polled = [0; 8];
    memory.read_exact_at(&mut polled, address).ok()?;
    let [a, b, c, d, events, ..] = polled;
    let reads = events & libc::POLLIN as u8 != 0;
    u64::try_from(i32::from_ne_bytes([a, b, c, d])).ok().filter(|_| reads)
}

/// The number of the socket that a process has as this file.
fn socket(process: u32, file: u64) -> Option<u64> {
    let target = fs::read_link(format!("/proc/{process}/fd/{file}")).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::WireProtocol;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    /// This process as a server with two clients, of which a thread of its own waits for the first.
    fn own_server() -> TracedServer {
        TracedServer {
            process: std::process::id(),
            program: "test".to_owned(),
            protocol: WireProtocol::Mysql,
            processes: vec![std::process::id()],
            ports: Vec::new(),
            inner_process: None,
            place: None,
        }
    }

    fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        (client, listener.accept().expect("a client").0)
    }

    fn number(stream: &TcpStream) -> u64 {
        use std::os::fd::AsRawFd;
        socket(std::process::id(), stream.as_raw_fd() as u64).expect("a socket")
    }

    #[test]
    fn a_client_whose_thread_waits_for_it_is_idle() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let ((mut first, mut served), (second, other)) = (pair(&listener), pair(&listener));
        let (idle, busy) = (number(&served), number(&other));
        let thread = std::thread::spawn(move || {
            served.read_exact(&mut [0]).expect("a request");
            served
        });
        let seen = loop {
            let seen = client_threads(&own_server()).expect("it may look at itself");
            if seen.idle.contains(&idle) {
                break seen;
            }
            std::thread::yield_now();
        };
        assert!(seen.clients.contains(&idle) && seen.clients.contains(&busy));
        assert!(!seen.idle.contains(&busy) && !seen.has_pool);
        first.write_all(b"x").expect("it is there");
        drop((thread.join().expect("its end"), first, second));
    }

    #[test]
    fn a_process_has_its_title_and_only_one_of_postgres_has_its_memory_read() {
        let wait: u32 = 0x0300_0004;
        let variable: u64 = (&raw const wait) as u64;
        let (own, place) = (std::process::id(), (&raw const variable) as u64);
        let memory = memory(own).expect("it may look at itself");
        assert_eq!(pointed_to(&memory, place), Some(wait));
        assert_eq!(pointed_to(&memory, 0), None);
        let seen = backends(&[own, 4_194_305], place, &mut InnerNumbers::default());
        let first = seen[0].as_ref().expect("it is there");
        assert!(!first.title.is_empty() && first.wait.is_none(), "{first:?}");
        assert_eq!(first.inner, None, "it is in that of whoever looks");
        assert_eq!(seen[1], None);
    }

    #[test]
    fn a_number_is_read_once_for_each_process_that_has_it() {
        let own = std::process::id();
        let mut numbers = InnerNumbers(HashMap::from([(own, (7, Some(57)))]));
        assert_eq!(numbers.of(own, 7), Some(57));
        assert_eq!(numbers.of(own, 8), None, "it is in that of whoever looks");
        assert_eq!(numbers.0.get(&own), Some(&(8, None)));
        let files = [(); 2].map(|()| File::open("/proc/self/cmdline").expect("it is there"));
        let [first, second] = files.each_ref().map(|file| fstat(file).expect("it is open").st_ino);
        assert_eq!(first, second, "a process keeps its files");
    }

    #[test]
    fn what_is_no_wait_is_handed_on_to_nobody() {
        let waits = [0, 0x0100_002a, 0x0300_0005, 0x0600_0000, 0x0a00_001f];
        assert!(waits.into_iter().all(is_wait));
        let others = [0x6563_7265, 0x7265, 0x0c00_0000, 0x0001_0000, u32::MAX];
        assert!(!others.into_iter().any(is_wait));
    }
}
