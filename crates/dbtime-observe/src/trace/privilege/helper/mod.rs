//! The helper: a process of its own that keeps the right to load and to attach, and does little
//! else. The reader of clients' bytes has given that right up: it sends requests, and the helper
//! serves them.
//!
//! ```text
//!   reader (no rights, few calls)                   helper (four rights, more calls)
//!     understands requests, program files             searches for servers
//!     reads tables and the stream    ── requests ──►  opens their files
//!                                    ◄── files ─────  loads, attaches, walks
//! ```
//!
//! This program again, started with [`COMMAND`], is the helper. It goes when the reader goes, also
//! where somebody has stopped it, and all that is attached goes with it. A terminal that the reader
//! leaves behind it restores first.

mod channel;
mod messages;
mod serve;

pub use channel::MessageChannel;
pub use serve::serve;

use crate::trace::error::TraceError;
use crate::trace::kernel::loading::LoadRefusal;
use crate::trace::kernel::probe_sites::{ProbeGroup, ProbeSites};
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::kernel::sampling::CpuSampling;
use crate::trace::kernel::stream::CaptureConfig;
use crate::trace::postgres_files::catalogs::CatalogFile;
use crate::trace::prior::glimpse::{BackendGlimpse, ClientThreads, MAX_BACKENDS};
use crate::trace::privilege::waited_child::{WAKE_INTERVAL, WaitedChild, wait_for_end};
use crate::trace::servers::{ServerFilter, TracedServer};
use dbtime_model::Nanos;
use messages::HelperRequest;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

/// The word that makes this program a helper.
pub const COMMAND: &str = "trace-helper";

/// The reader's side.
#[derive(Debug)]
pub(crate) struct HelperProcess {
    /// `None` once it has been told to go.
    channel: Option<MessageChannel>,
    child: Child,
    /// Whether it was found stopped where it was waited for, and nobody has been told.
    was_stopped: bool,
}

impl HelperProcess {
    /// Starts the helper, with the rights that this process has.
    ///
    /// # Errors
    /// The system does not start a process.
    pub(crate) fn start() -> Result<Self, TraceError> {
        let failed = |error: std::io::Error| TraceError::Helper(format!("is not there: {error}"));
        let (channel, other) = MessageChannel::pair().map_err(failed)?;
        let child = Command::new("/proc/self/exe")
            .arg0("dbtime")
            .arg(COMMAND)
            .stdin(Stdio::from(other.into_file()))
            .stdout(Stdio::null())
            .spawn();
        Ok(Self { channel: Some(channel), child: child.map_err(failed)?, was_stopped: false })
    }

    /// As whoever waits for it has it.
    pub(crate) fn waited(&self) -> WaitedChild {
        WaitedChild::of(&self.child)
    }

    /// That it was stopped since the last time, and had to be made to go on, for people.
    pub(crate) fn take_stop(&mut self) -> Option<String> {
        std::mem::take(&mut self.was_stopped).then(|| {
            format!(
                "the helper, process {}, was stopped by another process; dbtime has resumed it",
                self.child.id()
            )
        })
    }

    /// CPU time that it has used.
    pub(crate) fn cpu(&self) -> Nanos {
        crate::process::cpu_time(self.child.id()).unwrap_or_default()
    }

    /// Whether it is still there.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn check(&mut self) -> Result<(), TraceError> {
        match &self.channel {
            Some(channel) if !channel.is_over() => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// Loads the kernel's side; its tables, in the order of the object file, and the programs that
    /// the kernel refuses.
    ///
    /// # Errors
    /// The kernel refuses what is needed.
    pub(crate) fn load(
        &mut self,
        config: &CaptureConfig,
    ) -> Result<(Vec<OwnedFd>, LoadRefusal), TraceError> {
        let request = HelperRequest::Load(config.clone());
        let (refused, tables) = self.request::<Result<LoadRefusal, TraceError>>(&request, &[])?;
        Ok((tables, refused?))
    }

    /// Attaches the programs on tracepoints of the kernel. Returns what the kernel takes to run a
    /// program that does nothing.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn attach_tracepoints(&mut self) -> Result<Nanos, TraceError> {
        self.exchange::<Result<Nanos, TraceError>>(&HelperRequest::AttachTracepoints)?
    }

    /// Has all CPUs sampled; returns by what.
    ///
    /// # Errors
    /// The kernel has nothing to do it by, or the helper has ended.
    pub(crate) fn sample_cpus(&mut self) -> Result<CpuSampling, TraceError> {
        self.exchange::<Result<CpuSampling, TraceError>>(&HelperRequest::SampleCpus)?
    }

    /// Takes some of it away again.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn detach(&mut self, programs: &[&str]) -> Result<(), TraceError> {
        let programs = programs.iter().map(|&program| program.to_owned()).collect();
        self.exchange(&HelperRequest::Detach(programs))
    }

    /// Attaches a program to places in a file, in every process that runs it: which of them are
    /// watched is looked up there.
    ///
    /// # Errors
    /// The kernel refuses, for people.
    pub(crate) fn attach_probes(&mut self, places: ProbeSites, file: &File) -> Result<(), String> {
        let response = self
            .request::<Result<(), String>>(&HelperRequest::AttachProbes(places), &[file.as_fd()]);
        response.map_err(|error| error.to_string())?.0
    }

    /// Takes the probes of a group away.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn detach_probes(&mut self, group: ProbeGroup) -> Result<(), TraceError> {
        self.exchange(&HelperRequest::DetachProbes(group))
    }

    /// Walks over all connections; returns what there is to say of them.
    ///
    /// # Errors
    /// The kernel does not let it.
    pub(crate) fn walk(&mut self, program: &str) -> Result<Vec<u8>, TraceError> {
        let request = HelperRequest::Walk(program.to_owned());
        let (done, files) = self.request::<Result<(), TraceError>>(&request, &[])?;
        done?;
        let mut output = Vec::new();
        for file in files {
            File::from(file).read_to_end(&mut output).map_err(kernel_error)?;
        }
        Ok(output)
    }

    /// Has a terminal restored where it has not been given back by the time this process ends.
    /// `files` are those of [`BorrowedTerminal::lend`](crate::trace::BorrowedTerminal::lend).
    ///
    /// # Errors
    /// It is none, or the helper has ended.
    pub(crate) fn lend(&mut self, files: &[BorrowedFd<'_>]) -> Result<(), TraceError> {
        let failed =
            |why: String| TraceError::Helper(format!("cannot look after the terminal: {why}"));
        self.request::<Result<(), String>>(&HelperRequest::Lend, files)?.0.map_err(failed)
    }

    /// How many events no program was run for, for another thread was within it.
    ///
    /// # Errors
    /// The kernel does not tell, or the helper has ended.
    pub(crate) fn missed_events(&mut self) -> Result<u64, TraceError> {
        self.exchange::<Result<u64, TraceError>>(&HelperRequest::MissedEvents)?
    }

    /// What a trap takes on this machine.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn trap_time(&mut self) -> Result<Nanos, TraceError> {
        self.exchange(&HelperRequest::TrapTime).map(Nanos)
    }

    /// The servers that are meant, at least one.
    ///
    /// # Errors
    /// As [`servers`](crate::trace::servers()).
    pub(crate) fn servers(
        &mut self,
        filter: &ServerFilter,
    ) -> Result<Vec<TracedServer>, TraceError> {
        self.exchange::<Result<_, TraceError>>(&HelperRequest::Servers(filter.clone()))?
    }

    /// What a process is that has just started, if it is meant.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn started(
        &mut self,
        process: u32,
        filter: &ServerFilter,
    ) -> Result<Option<TracedServer>, TraceError> {
        self.exchange(&HelperRequest::Started(process, filter.clone()))
    }

    /// Whether somebody is connected to one of them, as far as can be seen.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn has_clients(&mut self, servers: &[TracedServer]) -> Result<bool, TraceError> {
        self.exchange(&HelperRequest::HasClients(servers.to_vec()))
    }

    /// The program file of a process; `None`: it has ended.
    ///
    /// # Errors
    /// Why it cannot be opened, for people.
    pub(crate) fn program(&mut self, process: u32) -> Result<Option<File>, String> {
        self.file(&HelperRequest::Program(process))
    }

    /// The threads of a process by their numbers in its own PID namespace, with those that they
    /// have here; `None`: these are the same.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn inner_threads(
        &mut self,
        process: u32,
    ) -> Result<Option<HashMap<u32, u32>>, TraceError> {
        self.exchange(&HelperRequest::InnerThreads(process))
    }

    /// The library that a process speaks TLS with, where it has one.
    ///
    /// # Errors
    /// Why it cannot be opened, for people.
    pub(crate) fn tls_library(&mut self, process: u32) -> Result<Option<File>, String> {
        self.file(&HelperRequest::TlsLibrary(process))
    }

    /// Where a process has its program.
    ///
    /// # Errors
    /// Why it is not known, for people.
    pub(crate) fn program_base(&mut self, process: u32) -> Result<u64, String> {
        let base = self.exchange::<Result<u64, String>>(&HelperRequest::ProgramBase(process));
        base.map_err(|error| error.to_string())?
    }

    /// A catalog of a server's.
    ///
    /// # Errors
    /// Why it cannot be opened, for people.
    pub(crate) fn catalog(&mut self, server: u32, catalog: CatalogFile) -> Result<File, String> {
        let file = self.file(&HelperRequest::Catalog(server, catalog))?;
        file.ok_or_else(|| "it is not there".to_owned())
    }

    /// Which processes started these, as far as that can be seen, in their order.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn parents(&mut self, of: Vec<u32>) -> Result<Vec<Option<u32>>, TraceError> {
        self.exchange(&HelperRequest::Parents(of))
    }

    /// What these processes of PostgreSQL's are at, in their order; `None`: it has ended.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn backends(
        &mut self,
        processes: &[u32],
        wait_variable: u64,
    ) -> Result<Vec<Option<BackendGlimpse>>, TraceError> {
        let mut seen = Vec::new();
        for some in processes.chunks(MAX_BACKENDS) {
            let request = HelperRequest::Backends(some.to_vec(), wait_variable);
            seen.extend(self.exchange::<Vec<Option<BackendGlimpse>>>(&request)?);
        }
        Ok(seen)
    }

    /// Which clients a server waits for that serves each by a thread; `None`: that cannot be seen.
    ///
    /// # Errors
    /// The helper has ended.
    pub(crate) fn client_threads(
        &mut self,
        server: &TracedServer,
    ) -> Result<Option<ClientThreads>, TraceError> {
        self.exchange(&HelperRequest::ClientThreads(server.clone()))
    }

    /// Without files, there and back.
    fn exchange<T: DeserializeOwned>(&mut self, request: &HelperRequest) -> Result<T, TraceError> {
        self.request(request, &[]).map(|(response, _)| response)
    }

    fn file(&mut self, request: &HelperRequest) -> Result<Option<File>, String> {
        let response = self.request::<Result<(), String>>(request, &[]);
        let (opened, mut files) = response.map_err(|error| error.to_string())?;
        opened.map(|()| files.pop().map(File::from))
    }

    fn request<T: DeserializeOwned>(
        &mut self,
        request: &HelperRequest,
        files: &[BorrowedFd<'_>],
    ) -> Result<(T, Vec<OwnedFd>), TraceError> {
        let Some(channel) = &self.channel else { return Err(self.ended()) };
        let child = WaitedChild::of(&self.child);
        let sent = channel.send(request, files);
        while sent.is_ok() && !channel.has_come(WAKE_INTERVAL) {
            self.was_stopped |= child.wake();
        }
        let response = sent.and_then(|()| channel.receive());
        match response {
            Ok(Some(response)) => Ok(response),
            Ok(None) => Err(self.ended()),
            Err(_) if channel.is_over() => Err(self.ended()),
            Err(error) => Err(TraceError::Helper(format!("does not answer: {error}"))),
        }
    }

    /// The error of a helper that is not there any more.
    #[cold]
    fn ended(&mut self) -> TraceError {
        self.channel = None;
        let how = wait_for_end(&mut self.child, || ()).ok().and_then(|status| status.signal());
        let how = how.map_or_else(String::new, |signal| format!(" by signal {signal}"));
        TraceError::Helper(format!("(process {}) was ended{how}", self.child.id()))
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        // It ends with the other end of its channel.
        self.channel = None;
        // One that is not waited for is only not taken out of the system's list.
        let _ = wait_for_end(&mut self.child, || ());
    }
}
