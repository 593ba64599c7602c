//! The kernel's side, loaded and attached; it goes when this goes, and with the process in any
//! case.

mod figures;
mod prior;
mod servers;
mod stacks;

pub use stacks::{KeptStack, StackTable};

use super::decode::literals::LiteralFilter;
use super::decode::request_decoder::{self, RequestDecoder};
use super::decode::sessions::TracedSessions;
use super::decode::sums::KernelSums;
use super::error::TraceError;
use super::kernel::grace::wait_for_programs;
use super::kernel::kernel_tables::{departures, write, write_program_names};
use super::kernel::loading::{
    CONNECTION_WALK, THREADS, TIMERS, UnavailableFeature, lacks_parts, tables,
};
use super::kernel::probe_sites::ProbeGroup;
use super::kernel::refusal::kernel_error;
use super::kernel::sampling::CpuSampling;
use super::kernel::stream::{CaptureConfig, CaptureDepth};
use super::prior::sessions::PriorSessions;
use super::privilege::helper::HelperProcess;
use super::privilege::{rights, sandbox};
use super::probes::demand::DemandProbes;
use super::probes::server_probes::{PORTALS, ServerProbes, TEXTS};
use super::servers::TracedServer;
use crate::kernel_layout::numbers::{PHASE_BEFORE, PHASE_ENDED, PHASE_WATCHING};
use dbtime_machine::clock::process_cpu;
use dbtime_machine::now;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_ledger::{TraceCost, TraceLedger};
use dbtime_model::traced_totals::TracedTotals;
use dbtime_model::{MonoNanos, Nanos};
use libbpf_rs::Object;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Requests whose end has no event of its own are closed so often.
const CLOSE_INTERVAL: Duration = Duration::from_millis(100);

/// What a helper that was stopped has not done in time.
const MEANWHILE: &str = "what began while the helper stood still, as far as probes tell of it";

/// A process whose CPU time is a cost of watching.
#[derive(Debug)]
struct ChargedProcess {
    process: u32,
    /// As it was last read: what a process has used is not known any more once it has ended.
    cpu: Cell<Nanos>,
}

impl ChargedProcess {
    fn cpu(&self) -> Nanos {
        if let Some(cpu) = crate::process::cpu_time(self.process) {
            self.cpu.set(cpu);
        }
        self.cpu.get()
    }
}

/// Requests of some servers, as they end.
pub struct Capture {
    helper: HelperProcess,
    /// The tables; the programs are the helper's.
    object: Object,
    probes: ServerProbes,
    texts: DemandProbes,
    portals: DemandProbes,
    ring: libbpf_rs::RingBuffer<'static>,
    decoder: Rc<RefCell<RequestDecoder>>,
    /// Where statements are added up.
    sums: Option<KernelSums>,
    /// What the kernel takes to run a program, beside what that does.
    dispatch: Nanos,
    since: MonoNanos,
    /// CPU time of this process, its helper and whoever is charged before that.
    spent: Nanos,
    /// Another process whose CPU time is a cost of watching.
    charged: Option<ChargedProcess>,
    departures: u64,
    /// Events that no program was run for before the watching began.
    missed_before: u64,
    last_close: Instant,
    /// What CPUs are sampled by; `None`: they are not.
    sampling: Option<CpuSampling>,
    /// What the hit of a probe takes, once somebody wanted to know.
    trap: Option<Nanos>,
    /// What is left of what sessions were at before the watching began.
    prior: PriorSessions,
    /// Where processes of servers have the address of what they wait for.
    wait_variables: HashMap<u32, u64>,
}

/// What there is at the end.
#[derive(Debug)]
pub struct CaptureResult {
    /// Requests that nobody has taken.
    pub requests: Vec<TracedRequest>,
    /// What became of everything.
    pub ledger: TraceLedger,
    /// What watching took.
    pub cost: TraceCost,
    /// What statements came to.
    pub totals: TracedTotals,
    /// That the helper stood still at the end, for people.
    pub helper_stop: Option<String>,
    /// What has counted nothing since.
    pub attached: AttachedPrograms,
}

/// Programs that are still attached, and do nothing any more. They go when this is dropped, which
/// waits for it: on busy CPUs that takes seconds, so that a report had better be there before.
#[derive(Debug)]
pub struct AttachedPrograms(#[expect(dead_code, reason = "it goes when this goes")] HelperProcess);

impl Capture {
    /// Begins to watch. It takes CAP_BPF and CAP_PERFMON, which this process has got no more
    /// afterwards, as little as any other right: a helper keeps them, a process of its own. To be
    /// called before there are other threads, and by a program that is a helper where its first
    /// word is [`HELPER`](super::HELPER).
    ///
    /// # Errors
    /// The kernel refuses, for want of a right or because it lacks something.
    pub fn attach(servers: &[TracedServer], config: &CaptureConfig) -> Result<Self, TraceError> {
        let mut helper = HelperProcess::start()?;
        let (loaded, refused) = helper.load(config)?;
        let object = tables(config, &loaded)?;
        rights::give_up(|| departures(&object).is_ok())?;
        let lacks_parts = lacks_parts(&refused);
        let prepare = || KernelSums::prepare(&object, lacks_parts);
        let sums = config.adds_up.then(prepare).transpose()?;
        if config.follows_new {
            write_program_names(&object)?;
        }
        let literals = LiteralFilter::new(config.keeps_literals, config.pattern.as_deref());
        let sessions = TracedSessions::new(literals, lacks_parts);
        let decoder = RequestDecoder { sessions, ..RequestDecoder::default() };
        let decoder = Rc::new(RefCell::new(decoder));
        let ring = request_decoder::ring(&object, &decoder)?;
        // What connections have prepared that have been there before is not known.
        let texts = DemandProbes::new(ProbeGroup::Texts, helper.has_clients(servers)?);
        let mut capture = Self {
            helper,
            object,
            probes: ServerProbes::new(refused),
            texts,
            portals: DemandProbes::new(ProbeGroup::Portals, false),
            ring,
            decoder,
            sums,
            dispatch: Nanos::ZERO,
            since: now(),
            spent: Nanos::ZERO,
            charged: None,
            departures: 0,
            missed_before: 0,
            last_close: Instant::now(),
            sampling: None,
            trap: None,
            prior: PriorSessions::default(),
            wait_variables: HashMap::new(),
        };
        // Their probes have to be there at the first request.
        for server in servers {
            capture.add_server(server)?;
        }
        capture.poll_probes(0, 0)?;
        capture.dispatch = capture.helper.attach_tracepoints()?;
        if config.stacks {
            capture.sample_cpus();
        }
        capture.add_children(servers)?;
        capture.missed_before = capture.helper.missed_events()?;
        if config.follows_unix {
            // Of single ports' clients nobody knows which of a server's sessions they are.
            capture.begin_prior(servers)?;
        }
        (capture.since, capture.spent) = (now(), capture.own_cpu());
        capture.enter(PHASE_WATCHING)?;
        Ok(capture)
    }

    /// Begins and ends the watching for all programs at once: attached one by one, some would see
    /// requests of which others have missed the beginning. `phase`: `enum phase`.
    fn enter(&self, phase: u32) -> Result<(), TraceError> {
        write(&self.object, ".data.phase", &0u32.to_ne_bytes(), &phase.to_ne_bytes())
    }

    /// Ends the watching for now, or goes on with it. Requests that are under way then are wrong or
    /// missing.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn watch(&self, is_on: bool) -> Result<(), TraceError> {
        self.enter(if is_on { PHASE_WATCHING } else { PHASE_BEFORE })
    }

    /// Leaves this process with the system calls that it needs from here on: all files it is to
    /// read or write are open, all threads are there.
    ///
    /// # Errors
    /// The kernel has no such filters.
    pub fn confine(&self) -> Result<(), TraceError> {
        // The library reads how many processors there may be from a file, once.
        libbpf_rs::num_possible_cpus().map_err(kernel_error)?;
        sandbox::enter(self.helper.waited())
    }

    /// Has a terminal restored where this process ends, however that ends, before whoever has lent
    /// it has given it back. `files` are those of `BorrowedTerminal::lend`.
    ///
    /// # Errors
    /// It is none, or the helper has ended.
    pub fn lend_terminal(&mut self, files: &[BorrowedFd<'_>]) -> Result<(), TraceError> {
        self.helper.lend(files)
    }

    /// Counts CPU time that another process takes from now on as a cost of watching.
    pub fn charge(&mut self, process: u32) {
        let charged = ChargedProcess { process, cpu: Cell::default() };
        self.spent += charged.cpu();
        self.charged = Some(charged);
    }

    fn own_cpu(&self) -> Nanos {
        let charged = self.charged.as_ref().map_or(Nanos::ZERO, ChargedProcess::cpu);
        process_cpu() + self.helper.cpu() + charged
    }

    /// Does less for each request from now on, so that watching costs less.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub fn reduce(&mut self, depth: CaptureDepth) -> Result<(), TraceError> {
        write(&self.object, ".data.depth", &0u32.to_ne_bytes(), &(depth as u32).to_ne_bytes())?;
        if depth == CaptureDepth::Counts {
            self.helper.detach(&[THREADS, TIMERS].concat())?;
        }
        Ok(())
    }

    /// Attaches and detaches probes by need, empties full tables, closes answered requests. To be
    /// called some times a second.
    ///
    /// # Errors
    /// The counts cannot be read, or nothing is watched any more.
    pub fn poll(&mut self) -> Result<(), TraceError> {
        self.helper.check()?;
        if let Some(why) = self.helper.take_stop() {
            self.probes.unavailable.push((MEANWHILE, why));
        }
        let ledger = self.ledger()?;
        let unresolved = ledger.unresolved + self.decoder.borrow().sessions.unresolved;
        self.poll_probes(unresolved, ledger.batches)?;
        if let Some(sums) = &mut self.sums {
            sums.poll(&self.object)?;
        }
        self.close_answered()
    }

    /// By how many statements came without a text, and requests with several statements.
    fn poll_probes(&mut self, unresolved: u64, batches: u64) -> Result<(), TraceError> {
        let both = [(&mut self.texts, TEXTS, unresolved), (&mut self.portals, PORTALS, batches)];
        for (probes, feature, cases) in both {
            if let Err(why) = probes.poll(&mut self.helper, &self.probes.refused, cases) {
                probes.disable(&mut self.helper)?;
                self.probes.lack(feature, why);
            }
        }
        Ok(())
    }

    /// Ends what was answered by threads that have left, where some have: not often, for it looks
    /// at every connection.
    fn close_answered(&mut self) -> Result<(), TraceError> {
        let departures = departures(&self.object)?;
        if departures != self.departures && self.last_close.elapsed() >= CLOSE_INTERVAL {
            (self.departures, self.last_close) = (departures, Instant::now());
            if !self.probes.refused.contains_key("iter_close") {
                self.helper.walk("iter_close")?;
            }
        }
        Ok(())
    }

    /// Whether the helper is there, without which nothing is seen.
    pub(crate) fn is_watching(&mut self) -> bool {
        self.helper.check().is_ok()
    }

    /// When the watching began.
    pub fn since(&self) -> MonoNanos {
        self.since
    }

    /// Whether this kernel does not tell where responses went.
    pub fn lacks_parts(&self) -> bool {
        self.decoder.borrow().sessions.lacks_parts
    }

    /// Whether this kernel does not show what connections are at.
    pub fn lacks_activities(&self) -> bool {
        self.probes.refused.contains_key(CONNECTION_WALK)
    }

    /// Features that this kernel or these servers do not give, and why.
    pub fn unavailable(&self) -> &[UnavailableFeature] {
        &self.probes.unavailable
    }

    /// The requests that have ended since the last call, in their order; does not wait. Those
    /// that waited for a lock may come some calls later, with the statement that let it go.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn drain(&mut self) -> Result<Vec<TracedRequest>, TraceError> {
        self.drain_requests(false)
    }

    fn drain_requests(&mut self, is_end: bool) -> Result<Vec<TracedRequest>, TraceError> {
        self.ring.consume().map_err(kernel_error)?;
        self.find_origins()?;
        let decoder = &mut *self.decoder.borrow_mut();
        let mut requests = decoder.drain(is_end);
        for request in &mut requests {
            let mut open = |server, catalog| self.helper.catalog(server, catalog);
            decoder.naming.name_files(request, &mut open);
        }
        Ok(requests)
    }

    /// Finds out whose the processes are of connections that were not known.
    fn find_origins(&mut self) -> Result<(), TraceError> {
        let sought = self.decoder.borrow_mut().naming.origins.sought();
        if sought.is_empty() || !self.is_watching() {
            return Ok(());
        }
        let processes = sought.iter().map(|(_, process)| *process).collect();
        let parents = self.helper.parents(processes)?;
        let origins = &mut self.decoder.borrow_mut().naming.origins;
        for ((connection, _), parent) in sought.into_iter().zip(parents) {
            origins.learn(connection, parent);
        }
        Ok(())
    }

    /// Leaves, and accounts for what was still under way. Requests that were answered and whose
    /// connections have sent nothing since are over, and among those that are returned.
    ///
    /// # Errors
    /// What is left cannot be read.
    pub fn detach(mut self) -> Result<CaptureResult, TraceError> {
        let is_watching = self.is_watching();
        self.enter(PHASE_ENDED)?;
        wait_for_programs();
        if is_watching {
            self.helper.walk("iter_final")?;
            // A server's own program may have taken a request from the walk, and be preempted
            // before it counts it.
            wait_for_programs();
        }
        let requests = self.drain_requests(true)?;
        let (mut ledger, cost) = (self.ledger()?, self.cost()?);
        if is_watching {
            ledger.missed_events += self.helper.missed_events()? - self.missed_before;
        } else {
            // Nobody could look what became of them.
            ledger.in_flight = ledger.vanished().max(0).cast_unsigned();
        }
        let totals = self.totals()?;
        Ok(CaptureResult {
            requests,
            ledger,
            cost,
            totals,
            helper_stop: self.helper.take_stop(),
            attached: AttachedPrograms(self.helper),
        })
    }
}
