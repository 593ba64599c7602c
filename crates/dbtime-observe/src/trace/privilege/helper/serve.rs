//! The helper's side: serves requests until the reader has ended.

use super::super::signals::HeldSignals;
use super::super::terminal::LentTerminal;
use super::super::waited_child::go_on_without_parent;
use super::super::{helper_sandbox, rights};
use super::channel::MessageChannel;
use super::messages::HelperRequest;
use crate::process::{inner_threads, parent_of};
use crate::trace::error::TraceError;
use crate::trace::kernel::dispatch::call_time;
use crate::trace::kernel::kernel_features::{KernelFeatures, STAND_INS};
use crate::trace::kernel::links::{detach_all, detach_aside};
use crate::trace::kernel::loading::{LoadRefusal, SAMPLER, attach, load, walk};
use crate::trace::kernel::missed_events::missed_events;
use crate::trace::kernel::probe_links::attach_places;
use crate::trace::kernel::probe_sites::{ProbeGroup, ProbeSites};
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::kernel::sampling::{CpuSampling, guards_events, sample_cpus};
use crate::trace::kernel::stream::CaptureConfig;
use crate::trace::postgres_files::catalogs::open_catalog;
use crate::trace::prior::glimpse::{InnerNumbers, backends, client_threads};
use crate::trace::probes::tls::open_library;
use crate::trace::probes::trap::trap_time;
use crate::trace::probes::wait_event::program_base;
use crate::trace::servers::{has_clients, open_program, servers};
use dbtime_model::Nanos;
use libbpf_rs::{Link, Object};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Is the helper of the process that has started this one; returns when that has ended.
///
/// # Errors
/// It was not started by dbtime, or a request makes no sense.
pub fn serve() -> Result<(), TraceError> {
    let failed =
        |error: io::Error| TraceError::Helper(format!("was not started by dbtime: {error}"));
    let channel = MessageChannel::inherited().map_err(failed)?;
    go_on_without_parent().map_err(|error| failed(error.into()))?;
    // Ctrl-C is for all processes of a terminal, but the reader still has to take its leave.
    let _held = HeldSignals::hold();
    // Instead of that of the link it was started by.
    rustix::thread::set_name(c"dbtime-helper").map_err(|error| failed(error.into()))?;
    allow_files();
    give_up_rights()?;
    let mut helper = HelperState::default();
    while let Some((request, files)) = channel.receive().map_err(failed)? {
        let response = helper.respond(request, files);
        let files: Vec<BorrowedFd<'_>> = response.files.iter().map(AsFd::as_fd).collect();
        if channel.send(&response.body, &files).is_err() {
            break; // nobody waits for it
        }
    }
    // Before what is attached goes, which takes longer: a shell may be about to use it.
    if let Some(terminal) = helper.terminal.take() {
        terminal.take_back();
    }
    let watching = helper.watching.drain(..).map(|(_, link)| link);
    detach_all(watching.chain(helper.probes.into_values().flatten()));
    Ok(())
}

/// Keeps what loading, attaching and looking at others' processes takes, and the calls for these.
/// Where the kernel is not one to be watched on, loading says so.
fn give_up_rights() -> Result<(), TraceError> {
    let attaches_one_by_one = !KernelFeatures::find().is_ok_and(|kernel| kernel.has_multi_probes);
    // It asks the kernel once how long its ticks are, in a way that is not left to it.
    procfs::ticks_per_second();
    rights::keep_for_helper(attaches_one_by_one || guards_events())?;
    helper_sandbox::enter()
}

/// A probe is a file or two where the kernel attaches them one by one.
fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    // With the limit as it is, a probe too many is refused, which is said.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// What is there so far.
#[derive(Default)]
struct HelperState {
    object: Option<Object>,
    /// Of the programs that the kernel itself runs, by their names.
    watching: Vec<(String, Link)>,
    probes: BTreeMap<ProbeGroup, Vec<Link>>,
    refused: LoadRefusal,
    /// What the reader has to itself.
    terminal: Option<LentTerminal>,
    /// Of processes that were looked at.
    numbers: InnerNumbers,
}

/// The response to a request.
struct HelperResponse {
    body: serde_json::Value,
    files: Vec<OwnedFd>,
}

impl HelperResponse {
    fn new(body: impl Serialize) -> Self {
        // Only maps with odd keys cannot be written.
        Self { body: serde_json::to_value(body).unwrap_or_default(), files: Vec::new() }
    }

    fn done() -> Self {
        Self::new(serde_json::Value::Null)
    }

    /// A file, or why there is none.
    fn file(opened: Result<Option<File>, impl Serialize>) -> Self {
        Self::with_files(opened.map(|file| ((), file.map(OwnedFd::from).into_iter().collect())))
    }

    fn with_files(done: Result<(impl Serialize, Vec<OwnedFd>), impl Serialize>) -> Self {
        match done {
            Ok((body, files)) => Self { files, ..Self::new(Ok::<_, ()>(body)) },
            Err(why) => Self::new(Err::<(), _>(why)),
        }
    }
}

impl HelperState {
    fn respond(&mut self, request: HelperRequest, mut files: Vec<OwnedFd>) -> HelperResponse {
        match request {
            HelperRequest::Load(stream) => HelperResponse::with_files(self.load(&stream)),
            HelperRequest::AttachTracepoints => HelperResponse::new(self.attach_tracepoints()),
            HelperRequest::SampleCpus => HelperResponse::new(self.sample_cpus()),
            HelperRequest::Detach(programs) => {
                let gone = self.watching.extract_if(.., |(name, _)| programs.contains(name));
                detach_aside(gone.map(|(_, link)| link).collect());
                HelperResponse::done()
            }
            HelperRequest::AttachProbes(places) => {
                HelperResponse::new(self.attach(&places, files.pop().map(File::from)))
            }
            HelperRequest::DetachProbes(group) => {
                detach_aside(self.probes.remove(&group).unwrap_or_default());
                HelperResponse::done()
            }
            HelperRequest::Walk(program) => HelperResponse::file(self.walk(&program)),
            HelperRequest::MissedEvents => {
                let object = self.object.as_ref().ok_or_else(nothing_loaded);
                HelperResponse::new(object.and_then(missed_events))
            }
            HelperRequest::TrapTime => {
                HelperResponse::new(self.object.as_mut().map_or(0, |one| trap_time(one).0))
            }
            HelperRequest::Lend => {
                HelperResponse::new(self.lend(files).map_err(|error| error.to_string()))
            }
            HelperRequest::Servers(filter) => HelperResponse::new(servers(&filter)),
            HelperRequest::Started(process, filter) => HelperResponse::new(filter.started(process)),
            HelperRequest::HasClients(servers) => HelperResponse::new(has_clients(&servers)),
            HelperRequest::Program(process) => HelperResponse::file(open_program(process)),
            HelperRequest::TlsLibrary(process) => HelperResponse::file(open_library(process)),
            HelperRequest::InnerThreads(process) => HelperResponse::new(inner_threads(process)),
            HelperRequest::ProgramBase(process) => HelperResponse::new(program_base(process)),
            HelperRequest::Catalog(server, catalog) => {
                HelperResponse::file(open_catalog(server, catalog).map(Some))
            }
            HelperRequest::Backends(processes, wait_variable) => {
                HelperResponse::new(backends(&processes, wait_variable, &mut self.numbers))
            }
            HelperRequest::ClientThreads(server) => HelperResponse::new(client_threads(&server)),
            HelperRequest::Parents(processes) => {
                HelperResponse::new(processes.into_iter().map(parent_of).collect::<Vec<_>>())
            }
        }
    }

    fn load(&mut self, stream: &CaptureConfig) -> Result<(LoadRefusal, Vec<OwnedFd>), TraceError> {
        let (object, refused) = load(KernelFeatures::find()?, stream, |_| {})?;
        let tables = object.maps().map(|map| map.as_fd().try_clone_to_owned());
        let tables = tables.collect::<io::Result<Vec<OwnedFd>>>().map_err(kernel_error)?;
        self.object = Some(object);
        self.refused.clone_from(&refused);
        Ok((refused, tables))
    }

    /// Nothing is followed yet: what a call of this process takes longer then is what the kernel
    /// takes to run a program that does nothing.
    fn attach_tracepoints(&mut self) -> Result<Nanos, TraceError> {
        let without = call_time();
        self.watching = attach(self.object.as_mut().ok_or_else(nothing_loaded)?, &self.refused)?;
        let compared = without.zip(call_time()).map(|(without, with)| with - without);
        let [(_, others), ..] = STAND_INS;
        let kernel = KernelFeatures::find()?;
        let runs = |other: &&&str| kernel.takes(other) && !self.refused.contains_key(**other);
        let programs = 1 + others.iter().filter(runs).count() as u64;
        Ok(Nanos(compared.unwrap_or_default().0 / programs))
    }

    fn sample_cpus(&mut self) -> Result<CpuSampling, TraceError> {
        let object = self.object.as_mut().ok_or_else(nothing_loaded)?;
        let (sampling, links) = sample_cpus(object)?;
        self.watching.extend(links.into_iter().map(|link| (SAMPLER.to_owned(), link)));
        Ok(sampling)
    }

    fn attach(&mut self, places: &ProbeSites, file: Option<File>) -> Result<(), String> {
        let object = self.object.as_mut().ok_or_else(|| nothing_loaded().to_string())?;
        let file = file.ok_or("there is no file to attach to")?;
        let links = attach_places(object, places, &file)?;
        self.probes.entry(places.group).or_default().extend(links);
        Ok(())
    }

    fn lend(&mut self, files: Vec<OwnedFd>) -> io::Result<()> {
        self.terminal = Some(LentTerminal::new(files)?);
        Ok(())
    }

    fn walk(&mut self, program: &str) -> Result<Option<File>, TraceError> {
        walk(self.object.as_mut().ok_or_else(nothing_loaded)?, program)
    }
}

fn nothing_loaded() -> TraceError {
    TraceError::Kernel("nothing has been loaded".to_owned())
}
