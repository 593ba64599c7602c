//! Requests to the helper. Each has one response, of the type that is named.

use crate::trace::kernel::probe_sites::{ProbeGroup, ProbeSites};
use crate::trace::kernel::stream::CaptureConfig;
use crate::trace::postgres_files::catalogs::CatalogFile;
use crate::trace::servers::{ServerFilter, TracedServer};
use serde::{Deserialize, Serialize};

/// A request to the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HelperRequest {
    /// Loads the kernel's side. Response: the programs that the kernel refuses; beside it the
    /// tables, in the order of the object file.
    Load(CaptureConfig),
    /// Attaches the programs on tracepoints of the kernel. Response: what the kernel takes to run a
    /// program that does nothing.
    AttachTracepoints,
    /// Has all CPUs sampled. Response: by what, or why not.
    SampleCpus,
    /// Detaches these of them. Response: nothing.
    Detach(Vec<String>),
    /// Attaches a program to places in the file beside it. Response: nothing, or why not.
    AttachProbes(ProbeSites),
    /// Detaches the probes of a group. Response: nothing.
    DetachProbes(ProbeGroup),
    /// Runs this iterator over all connections. Response: nothing; beside it a file with its
    /// output, where there is any.
    Walk(String),
    /// Response: how many events no program was run for.
    MissedEvents,
    /// Response: the time of a trap, in nanoseconds.
    TrapTime,
    /// Sees to it that the terminal beside it (its input, its output, and the end of a pipe that
    /// tells when it is given back) is as it was when the reader has gone. Response: nothing, or
    /// why not.
    Lend,
    /// Searches for servers. Response: those that are meant.
    Servers(ServerFilter),
    /// Response: what a process is that has just started, if it is meant.
    Started(u32, ServerFilter),
    /// Response: whether somebody is connected to one of them.
    HasClients(Vec<TracedServer>),
    /// Opens a process's program file. Response: nothing, or why not; beside it the file, unless
    /// the process has ended.
    Program(u32),
    /// Opens the TLS library that a process has loaded. Response: nothing, or why not; beside it
    /// the file, where there is one.
    TlsLibrary(u32),
    /// Response: a process's threads, by their numbers in its own PID namespace with those that
    /// they have here; nothing where these are the same.
    InnerThreads(u32),
    /// Response: the address of a process's program, or why it is not known.
    ProgramBase(u32),
    /// Opens a catalog of a server's. Response: nothing, or why not; beside it the file.
    Catalog(u32, CatalogFile),
    /// Response: what these processes of PostgreSQL's are at, each of which has the address of what
    /// it waits for at this place.
    Backends(Vec<u32>, u64),
    /// Response: which clients of a server of the other kind it waits for, if that can be seen.
    ClientThreads(TracedServer),
    /// Response: which processes started these, as far as that can be seen, in their order.
    Parents(Vec<u32>),
}
