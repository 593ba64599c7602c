//! Who had the CPUs, by the scheduler's own events: exact to the switch, and of processes that come
//! and go as well.
//!
//! The kernel's side (`bpf/scheduler.bpf.c`) adds up; here sums are read at the ends of intervals.

mod layout;

use crate::trace::TraceError;
use crate::trace::{attach, kernel, listen, map, refused};
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::now;
use dbtime_model::process::{
    EndedThreads, ProcessId, Scheduled, ScheduledProcess, TICK, WholeMachine,
};
use dbtime_model::{MonoNanos, Nanos};
use layout::Key;
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeMap;

/// The programs, as `bpf/build.sh` built them for this kind of machine.
#[cfg(target_arch = "x86_64")]
const OBJECT: &[u8] = include_bytes!("../../bpf/built/scheduler.x86_64.bpf.o");
#[cfg(target_arch = "aarch64")]
const OBJECT: &[u8] = include_bytes!("../../bpf/built/scheduler.aarch64.bpf.o");

/// Rows that are read at once.
const BATCH: u32 = 8192;

/// What was spent in an interval.
#[derive(Clone, Debug, Default)]
pub struct Interval {
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
    last: Sums,
}

/// What there is since the watching began.
#[derive(Default)]
struct Sums {
    at: MonoNanos,
    processes: BTreeMap<Key, Process>,
    /// Idle time of each CPU.
    idle: Vec<Nanos>,
    lost: u64,
    missed: u64,
}

#[derive(Clone, Default)]
struct Process {
    spent: Scheduled,
    threads: BTreeMap<u32, Scheduled>,
    ended: Option<EndedThreads>,
}

impl SchedulerWatch {
    /// Begins the first interval. It takes CAP_BPF and CAP_PERFMON.
    ///
    /// # Errors
    /// The kernel refuses, for want of a right or because it lacks something.
    pub fn begin() -> Result<Self, TraceError> {
        listen();
        let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(kernel)?;
        let cpus = u32::try_from(libbpf_rs::num_possible_cpus().map_err(kernel)?).unwrap_or(1);
        for mut map in open.maps_mut().filter(|map| map.name() == "cpus") {
            map.set_max_entries(cpus).map_err(kernel)?;
        }
        let mut object = open.load().map_err(refused)?;
        let links = attach(&mut object, &BTreeMap::new())?.into_iter().map(|(_, link)| link);
        let links = links.collect();
        let begun = now().0.to_ne_bytes();
        map(&object, ".data.begun")?
            .update(&0u32.to_ne_bytes(), &begun, MapFlags::ANY)
            .map_err(kernel)?;
        visit_every_cpu(cpus);
        let last = sums(&object)?;
        Ok(Self { object, _links: links, last })
    }

    /// Ends the interval; the next one begins where it ends.
    ///
    /// # Errors
    /// The sums cannot be read.
    pub fn end_interval(&mut self) -> Result<Interval, TraceError> {
        let now = sums(&self.object)?;
        let interval = now.since(&self.last);
        self.last = now;
        self.forget_ended()?;
        Ok(interval)
    }

    /// Processes without a thread come to nothing any more: their rows are free for others.
    fn forget_ended(&mut self) -> Result<(), TraceError> {
        let ended = map(&self.object, "ended")?;
        let is_over = |process: &Process| process.threads.is_empty() && process.ended.is_some();
        self.last.processes.retain(|key, process| {
            if is_over(process) {
                // It may be gone already.
                let _ = ended.delete(&key.bytes());
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

fn sums(object: &Object) -> Result<Sums, TraceError> {
    // Meanwhile time goes on: first all is read, and then understood.
    let mut sums = Sums { at: now(), ..Sums::default() };
    let [cpus, threads, all_ended] =
        [rows(object, "cpus")?, rows(object, "threads")?, rows(object, "ended")?];
    let running = sums.cpus(&cpus);
    for (tid, row) in threads {
        let (key, mut spent, seen) = layout::thread(&row);
        let tid = tid.first_chunk().map_or(0, |tid| u32::from_le_bytes(*tid));
        // Where it was seen again meanwhile, its row has that time already.
        if let Some(since) = running.get(&tid).filter(|since| **since == seen) {
            let still = sums.at - *since;
            (spent.cpu, spent.clock) = (spent.cpu + still, spent.clock + still);
        }
        sums.processes.entry(key).or_default().threads.insert(tid, spent);
    }
    let table = map(object, "threads")?;
    for (key, row) in all_ended {
        let (spent, ended) = layout::ended(&row);
        let process = sums.processes.entry(layout::key(&key)).or_default();
        if ended.at >= sums.at {
            // Those that ended while this was read are in both tables.
            process.threads.retain(|tid, _| is_there(&table, *tid));
        }
        process.spent = spent;
        process.ended = Some(ended);
    }
    for process in sums.processes.values_mut() {
        process.threads.values().for_each(|spent| process.spent += *spent);
    }
    Ok(sums)
}

fn is_there(threads: &impl MapCore, tid: u32) -> bool {
    threads.lookup(&tid.to_ne_bytes(), MapFlags::ANY).is_ok_and(|row| row.is_some())
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows(object: &Object, name: &str) -> Result<Rows, TraceError> {
    let table = map(object, name)?;
    let rows = table.lookup_batch(BATCH, MapFlags::ANY, MapFlags::ANY).map_err(kernel)?;
    Ok(rows.collect())
}

impl Sums {
    /// Takes in what is known of CPUs. Returns since when threads have had theirs.
    fn cpus(&mut self, rows: &Rows) -> BTreeMap<u32, MonoNanos> {
        let mut running = BTreeMap::new();
        for (_, row) in rows {
            let cpu = layout::cpu(row);
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

    fn since(&self, before: &Self) -> Interval {
        let none = Process::default();
        let processes: Vec<ScheduledProcess> = self
            .processes
            .iter()
            .map(|(key, now)| now.since(before.processes.get(key).unwrap_or(&none), *key))
            .filter(|process| process.spent != Scheduled::default() || process.ended.is_some())
            .collect();
        let mut all = Scheduled::default();
        processes.iter().for_each(|process| all += process.spent);
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
        Interval { begun: before.at, wall, processes, whole }
    }
}

impl Process {
    fn since(&self, before: &Self, key: Key) -> ScheduledProcess {
        let thread = |(tid, now): (&u32, &Scheduled)| {
            let before = before.threads.get(tid).copied().unwrap_or_default();
            (*tid, *now - before)
        };
        let earlier = before.ended.as_ref();
        let ended = self.ended.clone().filter(|ended| Some(ended) != earlier);
        ScheduledProcess {
            id: key.id(),
            start: MonoNanos(key.start),
            spent: self.spent - before.spent,
            threads: self.threads.iter().map(thread).collect(),
            ended,
        }
    }
}

impl Key {
    fn id(self) -> ProcessId {
        ProcessId { pid: self.pid, start_tick: self.start / TICK.0 }
    }

    fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.start.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.pid.to_ne_bytes());
        bytes
    }
}
