//! Who had the CPUs, by the scheduler's own events: exact to the switch, and of processes that come
//! and go as well.
//!
//! The kernel's side (`bpf/scheduler.bpf.c`) adds up; here sums are read at the ends of intervals.

mod layout;
#[cfg(feature = "fuzzing")]
pub mod rows;

pub use layout::ScheduledCpu;

use crate::kernel_layout::read_record;
use crate::kernel_layout::scheduler::ProcessKey;
use crate::trace::{TraceError, require_machines_numbers};
use crate::trace::{attach, capture_log, kernel_error, map, refusal_error, refused_program, write};
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::now;
use dbtime_model::process::{
    EndedThreads, ProcessId, ScheduledProcess, ScheduledTimes, TICK, WholeMachine,
};
use dbtime_model::{MonoNanos, Nanos};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeMap;
use zerocopy::IntoBytes;

/// The programs, as `bpf/build.sh` built them for this kind of machine.
#[cfg(target_arch = "x86_64")]
const OBJECT: &[u8] = include_bytes!("../../bpf/built/scheduler.x86_64.bpf.o");
#[cfg(target_arch = "aarch64")]
const OBJECT: &[u8] = include_bytes!("../../bpf/built/scheduler.aarch64.bpf.o");

/// The program that is told of switches, and the one for kernels before 5.18.
const SWITCH: &str = "on_switch";
const SWITCH_WITHOUT_STATE: &str = "on_switch_without_state";

/// Rows that are read at once.
const BATCH: u32 = 8192;

/// What was spent in an interval.
#[derive(Clone, Debug, Default)]
pub struct SchedulerInterval {
    /// When it began.
    pub begun: MonoNanos,
    /// How long it was.
    pub wall: Nanos,
    /// Processes that had a CPU or wanted one, and the kernel's own threads.
    pub processes: Vec<ScheduledProcess>,
    /// Where the time of all CPUs went.
    pub whole: WholeMachine,
}

/// Watches from the first interval's beginning to the last one's end; goes with this.
pub struct SchedulerWatch {
    object: Object,
    _links: Vec<Link>,
    last: SchedulerTotals,
}

/// What there is since the watching began.
#[derive(Default)]
struct SchedulerTotals {
    at: MonoNanos,
    processes: BTreeMap<ProcessKey, SchedulerProcess>,
    /// Idle time of each CPU.
    idle: Vec<Nanos>,
    lost: u64,
    missed: u64,
}

#[derive(Clone, Default)]
struct SchedulerProcess {
    resources: ScheduledTimes,
    threads: BTreeMap<u32, ScheduledTimes>,
    ended: Option<EndedThreads>,
}

impl SchedulerWatch {
    /// Begins the first interval. It takes CAP_BPF and CAP_PERFMON.
    ///
    /// # Errors
    /// The kernel refuses, for want of a right or because it lacks something.
    pub fn begin() -> Result<Self, TraceError> {
        require_machines_numbers()?;
        Self::begin_with(SWITCH).or_else(|error| match refused_program() {
            Some((program, _)) if program == SWITCH => Self::begin_with(SWITCH_WITHOUT_STATE),
            _ => Err(error),
        })
    }

    /// With one of the two programs of switches.
    fn begin_with(switch: &str) -> Result<Self, TraceError> {
        capture_log();
        let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(kernel_error)?;
        let cpus =
            u32::try_from(libbpf_rs::num_possible_cpus().map_err(kernel_error)?).unwrap_or(1);
        for mut map in open.maps_mut().filter(|map| map.name() == "cpus") {
            map.set_max_entries(cpus).map_err(kernel_error)?;
        }
        for mut program in open.progs_mut() {
            let is_other =
                [SWITCH, SWITCH_WITHOUT_STATE].contains(&&*program.name().to_string_lossy());
            program.set_autoload(!is_other || program.name() == switch);
        }
        let mut object = open.load().map_err(refusal_error)?;
        let links = attach(&mut object, &BTreeMap::new())?.into_iter().map(|(_, link)| link);
        let links = links.collect();
        let begun = now().0.to_ne_bytes();
        write(&object, ".data.begun", &0u32.to_ne_bytes(), &begun)?;
        visit_every_cpu(cpus);
        let last = sums(&object)?;
        Ok(Self { object, _links: links, last })
    }

    /// Ends the interval; the next one begins where it ends.
    ///
    /// # Errors
    /// The sums cannot be read.
    pub fn end_interval(&mut self) -> Result<SchedulerInterval, TraceError> {
        let now = sums(&self.object)?;
        let interval = now.since(&self.last);
        self.last = now;
        self.forget_ended()?;
        Ok(interval)
    }

    /// Processes without a thread come to nothing any more: their rows are free for others.
    fn forget_ended(&mut self) -> Result<(), TraceError> {
        let ended = map(&self.object, "ended")?;
        let is_over =
            |process: &SchedulerProcess| process.threads.is_empty() && process.ended.is_some();
        self.last.processes.retain(|key, process| {
            if is_over(process) {
                // It may be gone already.
                let _ = ended.delete(key.as_bytes());
            }
            !is_over(process)
        });
        Ok(())
    }
}

/// A thread that had its CPU before the watching began is known once it has left it: it is made to,
/// for a moment, on every CPU that this process may use.
fn visit_every_cpu(cpus: u32) {
    let Ok(usual) = sched_getaffinity(None) else { return };
    for cpu in 0..(cpus as usize).min(CpuSet::MAX_CPU) {
        let mut there = CpuSet::new();
        there.set(cpu);
        // One that is off, or not for this process, is left alone.
        let _ = sched_setaffinity(None, &there);
    }
    let _ = sched_setaffinity(None, &usual);
}

fn sums(object: &Object) -> Result<SchedulerTotals, TraceError> {
    // Meanwhile time goes on: first all is read, and then understood.
    let mut sums = SchedulerTotals { at: now(), ..SchedulerTotals::default() };
    let [cpus, threads, all_ended] =
        [rows(object, "cpus")?, rows(object, "threads")?, rows(object, "ended")?];
    let running = sums.cpus(&cpus);
    for (tid, row) in threads {
        let (Some(tid), Some((key, mut resources, seen))) =
            (read_record::<u32>(&tid), layout::thread(&row))
        else {
            continue;
        };
        // Where it was seen again meanwhile, its row has that time already.
        if let Some(since) = running.get(&tid).filter(|since| **since == seen) {
            let still = sums.at - *since;
            (resources.cpu, resources.clock) = (resources.cpu + still, resources.clock + still);
        }
        sums.processes.entry(key).or_default().threads.insert(tid, resources);
    }
    let table = map(object, "threads")?;
    for (key, row) in all_ended {
        let Some((key, resources, ended)) = layout::ended(&key, &row) else { continue };
        let process = sums.processes.entry(key).or_default();
        if ended.at >= sums.at {
            // Those that ended while this was read are in both tables.
            process.threads.retain(|tid, _| is_there(&table, *tid));
        }
        process.resources = resources;
        process.ended = Some(ended);
    }
    for process in sums.processes.values_mut() {
        process.threads.values().for_each(|resources| process.resources += *resources);
    }
    Ok(sums)
}

fn is_there(threads: &impl MapCore, tid: u32) -> bool {
    threads.lookup(&tid.to_ne_bytes(), MapFlags::ANY).is_ok_and(|row| row.is_some())
}

type SchedulerRows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows(object: &Object, name: &str) -> Result<SchedulerRows, TraceError> {
    let table = map(object, name)?;
    let rows = table.lookup_batch(BATCH, MapFlags::ANY, MapFlags::ANY).map_err(kernel_error)?;
    Ok(rows.collect())
}

impl SchedulerTotals {
    /// Takes in what is known of CPUs. Returns since when threads have had theirs.
    fn cpus(&mut self, rows: &SchedulerRows) -> BTreeMap<u32, MonoNanos> {
        let mut running = BTreeMap::new();
        for cpu in rows.iter().filter_map(|(_, row)| layout::cpu(row)) {
            let (tid, since) = cpu.whose.filter(|(_, since)| *since < self.at).unwrap_or_default();
            let is_idle = tid == 0 && since > MonoNanos(0);
            let still = if is_idle { self.at - since } else { Nanos::ZERO };
            self.idle.push(cpu.idle + still);
            if tid > 0 {
                running.insert(tid, since);
            }
            self.lost += cpu.lost;
            self.missed += cpu.missed;
        }
        running
    }

    fn since(&self, before: &Self) -> SchedulerInterval {
        let none = SchedulerProcess::default();
        let processes: Vec<ScheduledProcess> = self
            .processes
            .iter()
            .map(|(key, now)| now.since(before.processes.get(key).unwrap_or(&none), *key))
            .filter(|process| {
                process.resources != ScheduledTimes::default() || process.ended.is_some()
            })
            .collect();
        let mut all = ScheduledTimes::default();
        processes.iter().for_each(|process| all += process.resources);
        let wall = self.at - before.at;
        let idle = |(now, before): (&Nanos, &Nanos)| *now - *before;
        let whole = WholeMachine {
            wall: Nanos(wall.0 * u64::from(machine_cpus())),
            cpu: all.cpu,
            clock: all.clock,
            idle: self.idle.iter().zip(&before.idle).map(idle).sum(),
            lost: self.lost - before.lost,
            missed: self.missed - before.missed,
        };
        SchedulerInterval { begun: before.at, wall, processes, whole }
    }
}

impl SchedulerProcess {
    fn since(&self, before: &Self, key: ProcessKey) -> ScheduledProcess {
        let thread = |(tid, now): (&u32, &ScheduledTimes)| {
            let before = before.threads.get(tid).copied().unwrap_or_default();
            (*tid, *now - before)
        };
        let earlier = before.ended.as_ref();
        let ended = self.ended.clone().filter(|ended| Some(ended) != earlier);
        ScheduledProcess {
            id: ProcessId { pid: key.tgid, start_tick: key.start / TICK.0 },
            start: MonoNanos(key.start),
            resources: self.resources - before.resources,
            threads: self.threads.iter().map(thread).collect(),
            ended,
        }
    }
}
