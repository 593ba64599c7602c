//! What is asked of the helper. To every question there is one answer, of the type that is named.

use crate::trace::kernel::stream::CaptureConfig;
use crate::trace::postgres_files::catalogs::Catalog;
use crate::trace::servers::{ServerFilter, TracedServer};
use serde::{Deserialize, Serialize};

/// A question.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HelperRequest {
    /// Loads the kernel's side. Answer: the programs that the kernel refuses; beside it the tables,
    /// in the order of the object file.
    Load(CaptureConfig),
    /// Attaches what is told of what goes on in the kernel. Answer: what the kernel takes to run a
    /// program that does nothing.
    Watch,
    /// Takes these of them away again. Answer: nothing.
    Unwatch(Vec<String>),
    /// Attaches a program to places in the file beside it. Answer: nothing, or why not.
    Attach(ProbeSites),
    /// Takes the probes of a group away. Answer: nothing.
    Cease(ProbeGroup),
    /// Walks over all connections with this program. Answer: nothing; beside it a file with what it
    /// has said, where it said anything.
    Walk(String),
    /// Answer: the time of a trap, in nanoseconds.
    TrapTime,
    /// Sees to it that the terminal beside it (its input, its output, and the end of a pipe that
    /// tells when it is given back) is as it was when the reader has gone. Answer: nothing, or why
    /// not.
    Lend,
    /// Searches for servers. Answer: those that are meant.
    Servers(ServerFilter),
    /// Answer: what a process is that has just started, if it is meant.
    Started(u32, ServerFilter),
    /// Answer: whether somebody is connected to one of them.
    HasClients(Vec<TracedServer>),
    /// Opens a process's program file. Answer: nothing, or why not; beside it the file.
    Program(u32),
    /// Opens the TLS library that a process has loaded. Answer: nothing, or why not; beside it the
    /// file, where there is one.
    TlsLibrary(u32),
    /// Answer: the address of a process's program, or why it is not known.
    ProgramBase(u32),
    /// Opens a catalog of a server's. Answer: nothing, or why not; beside it the file.
    Catalog(u32, Catalog),
    /// Answer: which processes started these, as far as that can be seen, in their order.
    Parents(Vec<u32>),
}

/// Where a program is attached to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProbeSites {
    /// The program's name.
    pub(crate) program: String,
    /// In the file. Unit: bytes.
    pub(crate) offsets: Vec<usize>,
    /// What the program is told at each; none: nothing.
    pub(crate) cookies: Vec<u64>,
    /// Whether it is when the function that begins there returns.
    pub(crate) at_return: bool,
    /// With which others it goes.
    pub(crate) group: ProbeGroup,
}

/// Probes that go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum ProbeGroup {
    /// Those that stay to the end.
    #[default]
    Staying,
    /// Those that ask for texts.
    Texts,
    /// Those that tell of portals.
    Portals,
}
