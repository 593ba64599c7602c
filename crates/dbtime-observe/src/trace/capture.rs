//! The kernel's side, loaded and attached; it goes when this goes, and with the process in any
//! case.

use super::TraceError;
use super::blockers::Blockers;
use super::layout::{self, RawRequest, UNDER_WAY};
use super::servers::TracedServer;
use super::sessions::Sessions;
use super::waits::waits;
use dbtime_model::traced::{Ledger, TracedRequest};
use dbtime_model::traced_totals::{Totals, TracedTotals};
use libbpf_rs::{
    Iter, Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramType,
    RingBufferBuilder, UprobeMultiOpts,
};
use std::cell::RefCell;
use std::collections::HashSet;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The programs, as `bpf/build.sh` built them for this kind of machine.
#[cfg(target_arch = "x86_64")]
const OBJECT: &[u8] = include_bytes!("../../bpf/built/capture.x86_64.bpf.o");
#[cfg(target_arch = "aarch64")]
const OBJECT: &[u8] = include_bytes!("../../bpf/built/capture.aarch64.bpf.o");

/// How requests are handed on one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Whether they are at all; they are added up in any case.
    pub is_on: bool,
    /// Whether clients by Unix sockets are followed, beside those of the servers' ports.
    pub follows_unix: bool,
    /// Where they wait until they are taken. Unit: bytes. Shape: a power of two, and a multiple of
    /// the machine's pages.
    pub buffer: u32,
}

/// Requests of some servers, as they end.
pub struct Capture {
    object: Object,
    links: Vec<Link>,
    left_out: Vec<(&'static str, String)>,
    ring: libbpf_rs::RingBuffer<'static>,
    inbox: Rc<RefCell<Inbox>>,
}

/// What there is at the end.
pub struct Left {
    /// Requests that nobody has taken.
    pub requests: Vec<TracedRequest>,
    /// What became of everything.
    pub ledger: Ledger,
    /// What statements came to.
    pub totals: TracedTotals,
}

/// Where the ring puts what it hands over.
#[derive(Default)]
struct Inbox {
    sessions: Sessions,
    blockers: Blockers,
    /// What nobody has taken yet.
    requests: Vec<TracedRequest>,
    /// Records of the kernel's side that are no request of this version.
    strange: u64,
}

impl Inbox {
    fn put(&mut self, bytes: &[u8]) {
        let Some(raw) = RawRequest::read(bytes) else {
            self.strange += 1;
            return;
        };
        let request = self.sessions.take(&raw);
        self.blockers.take(request, raw.blocker_start, &mut self.requests);
    }
}

impl Capture {
    /// Begins to watch. It takes CAP_BPF and CAP_PERFMON.
    ///
    /// # Errors
    /// The kernel refuses, for want of a right or because it lacks something.
    pub fn attach(servers: &[TracedServer], wanted: Stream) -> Result<Self, TraceError> {
        libbpf_rs::set_print(None);
        let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(kernel)?;
        for mut map in open.maps_mut().filter(|map| map.name() == "stream") {
            map.set_max_entries(wanted.buffer).map_err(kernel)?;
        }
        let mut object = open.load().map_err(refused)?;
        for server in servers {
            update(&object, "servers", &server.process.to_ne_bytes())?;
            for port in &server.ports {
                update(&object, "ports", &port.to_ne_bytes())?;
            }
        }
        let settings = [wanted.is_on, wanted.follows_unix].map(|is| u32::from(is).to_ne_bytes());
        write(&object, "settings", &0u32.to_ne_bytes(), settings.as_flattened())?;
        // The row for all for whom there is no room has to be there before it is needed.
        write(&object, "preemptors", &[0; 16], &[0; 16])?;
        let inbox = Rc::<RefCell<Inbox>>::default();
        let ring = ring(&object, &inbox)?;
        let mut links = Vec::new();
        // What it waits for has to be heard when the first request is seen.
        let left_out = attach_waits(&mut object, servers, &mut links);
        for program in object.progs_mut().filter(|p| p.prog_type() == ProgramType::Tracing) {
            if program.section().to_string_lossy().starts_with("tp_btf/") {
                links.push(program.attach().map_err(refused)?);
            }
        }
        Ok(Self { object, links, left_out, ring, inbox })
    }

    /// What this kernel or these servers do not give, and why.
    pub fn left_out(&self) -> &[(&'static str, String)] {
        &self.left_out
    }

    /// Takes what has ended since the last time, in the order of their ends; does not wait. Those
    /// that waited for a lock may come some calls later, with the statement that let it go.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn take(&mut self) -> Result<Vec<TracedRequest>, TraceError> {
        self.take_some(false)
    }

    fn take_some(&mut self, is_end: bool) -> Result<Vec<TracedRequest>, TraceError> {
        self.ring.consume().map_err(kernel)?;
        let inbox = &mut *self.inbox.borrow_mut();
        inbox.blockers.settle(is_end, &mut inbox.requests);
        inbox.requests.sort_by_key(|request| request.end);
        Ok(std::mem::take(&mut inbox.requests))
    }

    /// Leaves, and accounts for what was still under way. Requests that were answered and whose
    /// connections have said nothing since are over, and among those that are returned.
    ///
    /// # Errors
    /// What is left cannot be read.
    pub fn detach(mut self) -> Result<Left, TraceError> {
        self.links.clear();
        let in_flight = self.under_way()?;
        let requests = self.take_some(true)?;
        let mut ledger = self.ledger()?;
        ledger.in_flight = in_flight;
        Ok(Left { requests, ledger, totals: self.totals()? })
    }

    /// What was counted so far; nothing is known yet of what is in flight.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub fn ledger(&self) -> Result<Ledger, TraceError> {
        let counts = map(&self.object, "ledger")?;
        let of_processors = counts.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY);
        let mut ledger = Ledger::default();
        for counts in of_processors.map_err(kernel)?.unwrap_or_default() {
            layout::add_counts(&mut ledger, &counts);
        }
        ledger.out_of_step += self.inbox.borrow().strange;
        Ok(ledger)
    }

    /// What statements came to so far.
    ///
    /// # Errors
    /// The sums cannot be read.
    pub fn totals(&self) -> Result<TracedTotals, TraceError> {
        let rows = map(&self.object, "totals")?;
        let row = |index: u32| -> Result<Totals, TraceError> {
            let of_processors = rows.lookup_percpu(&index.to_ne_bytes(), MapFlags::ANY);
            let mut sum = Totals::default();
            for bytes in of_processors.map_err(kernel)?.unwrap_or_default() {
                sum.add(&layout::totals(&bytes));
            }
            Ok(sum)
        };
        let table = map(&self.object, "preemptors")?;
        let mut preemptors = Vec::new();
        for name in table.keys() {
            if let Some(row) = table.lookup(&name, MapFlags::ANY).map_err(kernel)? {
                preemptors.push(layout::preemption(&name, &row));
            }
        }
        preemptors.retain(|row| row.count > 0);
        preemptors.sort_by_key(|row| std::cmp::Reverse(row.length));
        Ok(TracedTotals { undisturbed: row(0)?, preempted: row(1)?, preemptors })
    }

    /// Walks all connections: ends what was answered, and counts what was not.
    fn under_way(&mut self) -> Result<u64, TraceError> {
        let connections = map(&self.object, "connections")?;
        let handle = MapHandle::try_from(&connections).map_err(kernel)?;
        let mut programs = self.object.progs_mut();
        let walk = programs.find(|program| program.name() == "left");
        let walk = walk.ok_or_else(|| TraceError::Kernel("it lacks the program `left`".into()))?;
        let link = walk.attach_iter(std::os::fd::AsFd::as_fd(&handle)).map_err(refused)?;
        let mut left = Vec::new();
        Iter::new(&link).map_err(kernel)?.read_to_end(&mut left).map_err(kernel)?;
        Ok((left.len() / UNDER_WAY) as u64)
    }
}

/// Listens to what servers say that they wait for; those of the same program file share it.
fn attach_waits(
    object: &mut Object,
    servers: &[TracedServer],
    links: &mut Vec<Link>,
) -> Vec<(&'static str, String)> {
    let mut files = HashSet::new();
    let mut left_out = Vec::new();
    for server in servers {
        let program = PathBuf::from(format!("/proc/{}/exe", server.process));
        let file = std::fs::metadata(&program).map(|file| (file.dev(), file.ino()));
        if file.is_ok_and(|file| !files.insert(file)) {
            continue;
        }
        let attached = waits(&program).and_then(|waits| {
            links.push(listen(object, "on_wait_begin", &program, waits.begins)?);
            links.push(listen(object, "on_wait_end", &program, waits.ends)?);
            Ok(())
        });
        if let Err(why) = attached {
            left_out.push(("SLEEP() apart from locks, and the names of locks", why));
        }
    }
    left_out
}

/// Attaches a program to places in a file, in every process that runs it: which of them are watched
/// is looked up there.
fn listen(
    object: &mut Object,
    name: &str,
    file: &Path,
    offsets: Vec<usize>,
) -> Result<Link, String> {
    let mut programs = object.progs_mut();
    let program = programs.find(|program| program.name() == name);
    let program = program.ok_or_else(|| format!("the program `{name}` is missing"))?;
    let places = UprobeMultiOpts { offsets, ..UprobeMultiOpts::default() };
    program.attach_uprobe_multi_with_opts(-1, file, "", places).map_err(|error| error.to_string())
}

fn map<'a>(object: &'a Object, name: &str) -> Result<libbpf_rs::Map<'a>, TraceError> {
    let found = object.maps().find(|map| map.name() == name);
    found.ok_or_else(|| TraceError::Kernel(format!("it lacks the map `{name}`")))
}

fn update(object: &Object, name: &str, key: &[u8]) -> Result<(), TraceError> {
    write(object, name, key, &[1])
}

fn write(object: &Object, name: &str, key: &[u8], value: &[u8]) -> Result<(), TraceError> {
    map(object, name)?.update(key, value, MapFlags::ANY).map_err(kernel)
}

fn ring(
    object: &Object,
    inbox: &Rc<RefCell<Inbox>>,
) -> Result<libbpf_rs::RingBuffer<'static>, TraceError> {
    let inbox = Rc::clone(inbox);
    let stream = map(object, "stream")?;
    let mut builder = RingBufferBuilder::new();
    let added = builder.add(&stream, move |bytes| {
        inbox.borrow_mut().put(bytes);
        0
    });
    added.map_err(kernel)?;
    builder.build().map_err(kernel)
}

fn kernel(error: impl std::fmt::Display) -> TraceError {
    TraceError::Kernel(error.to_string())
}

/// Why the kernel says no: most often for want of a right.
fn refused(error: libbpf_rs::Error) -> TraceError {
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => TraceError::Refused(
            "watching servers from the kernel takes CAP_BPF and CAP_PERFMON (and CAP_SYS_PTRACE for \
             other users' servers); run dbtime as root, or grant them with \
             `sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep $(command -v dbtime)`"
                .to_owned(),
        ),
        _ => kernel(error),
    }
}
