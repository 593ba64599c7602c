//! What one process, or one of its threads, spent between two samples.

use super::{
    CpuTicks, ProcessId, ProcessMemory, ProcessSample, ResourceUsage, ScheduledTimes, ThreadSample,
};
use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// CPU time divided into user and system.
///
/// The total is exact; the kernel's ticks only divide it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSplit {
    /// In user mode.
    #[serde(rename = "user_us")]
    pub user: Option<Nanos>,
    /// In the kernel.
    #[serde(rename = "system_us")]
    pub system: Option<Nanos>,
}

impl CpuSplit {
    /// Divides an exact total in the proportion of the ticks; where no tick fell there is nothing
    /// to divide it by.
    pub fn of(cpu: Nanos, ticks: CpuTicks) -> Self {
        let counted = ticks.sum();
        let user = match (cpu, counted) {
            (Nanos::ZERO, _) => Nanos::ZERO,
            (_, Nanos::ZERO) => return Self::default(),
            _ => Nanos::from_secs_f64(cpu.as_secs() * (ticks.user.as_secs() / counted.as_secs())),
        };
        // Rounding must not make more than there is.
        let user = user.min(cpu);
        Self { user: Some(user), system: Some(cpu - user) }
    }
}

/// Whether a process was there at both ends of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessPresence {
    /// At both.
    #[default]
    Stayed,
    /// It began in the interval: its use is everything it ever spent.
    Came,
    /// It ended in the interval: its use is known up to its last sample.
    Went,
    /// It began and ended in the interval.
    CameAndWent,
}

/// What one process spent over its own interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// Its number and start: numbers come again, the two together do not.
    #[serde(flatten)]
    pub id: ProcessId,
    /// The process that started it.
    pub parent: u32,
    /// Effective user.
    pub uid: u32,
    /// The user's name.
    pub user: String,
    /// The kernel's name for it.
    pub name: String,
    /// The command line with its passwords masked.
    pub command: String,
    /// Whether it was there all the time.
    pub presence: ProcessPresence,
    /// From its first sample, or its start, to its last.
    #[serde(rename = "wall_us")]
    pub wall: Nanos,
    /// What it spent in that time.
    #[serde(flatten)]
    pub resources: ResourceUsage,
    /// Its CPU time by user and system.
    #[serde(flatten)]
    pub split: CpuSplit,
    /// The same by the scheduler's own events, where those were watched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduled: Option<ScheduledTimes>,
    /// CPU time of children that ended in the interval and were waited for, over their whole lives;
    /// good to two ticks.
    #[serde(rename = "reaped_cpu_us")]
    pub reaped_cpu: Nanos,
    /// Its memory at the end of the interval.
    pub memory: Option<ProcessMemory>,
    /// Its threads at the end of the interval.
    pub threads: u32,
    /// Its threads one by one, where they were asked for, by CPU time.
    pub each_thread: Vec<ThreadUse>,
}

/// What one thread spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Its number, `pid` and `start_tick`.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Its name as the kernel has it: at most 15 bytes, which the thread may have set.
    pub name: String,
    /// What it spent.
    #[serde(flatten)]
    pub resources: ResourceUsage,
    /// Its CPU time by user and system.
    #[serde(flatten)]
    pub split: CpuSplit,
    /// The same by the scheduler's own events, where those were watched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduled: Option<ScheduledTimes>,
}

impl ProcessUse {
    /// What a process spent from one sample to the next; from its start where there is no earlier
    /// one.
    ///
    /// Samples of two processes that had the same number are not compared: then everything the
    /// later one ever spent is its use.
    pub fn between(earlier: Option<&ProcessSample>, later: &ProcessSample) -> Self {
        let earlier = earlier.filter(|earlier| earlier.id == later.id);
        let mut resources =
            earlier.map_or(later.resources, |earlier| later.resources - earlier.resources);
        let each_thread = ThreadUse::between(earlier, later);
        if !each_thread.is_empty() {
            sum_threads(&mut resources, &each_thread);
        }
        let reaped = earlier.map_or(CpuTicks::default(), |earlier| earlier.reaped.ticks);
        Self {
            id: later.id,
            parent: later.parent,
            uid: later.uid,
            user: later.user.clone(),
            name: later.name.clone(),
            command: later.command.clone(),
            presence: if earlier.is_some() {
                ProcessPresence::Stayed
            } else {
                ProcessPresence::Came
            },
            wall: earlier.map_or(later.age, |earlier| later.at - earlier.at),
            split: CpuSplit::of(resources.cpu, resources.ticks),
            resources,
            scheduled: None,
            reaped_cpu: (later.reaped.ticks - reaped).sum(),
            memory: later.memory,
            threads: later.threads,
            each_thread,
        }
    }

    /// The same of a process that has ended since its last sample.
    pub fn ended(mut self) -> Self {
        self.presence = match self.presence {
            ProcessPresence::Came | ProcessPresence::CameAndWent => ProcessPresence::CameAndWent,
            ProcessPresence::Stayed | ProcessPresence::Went => ProcessPresence::Went,
        };
        self
    }
}

/// Sums over threads as sums of differences: the difference of two sums would lose what ended
/// threads had in the first of them.
fn sum_threads(resources: &mut ResourceUsage, threads: &[ThreadUse]) {
    let mut sum = ResourceUsage::none_yet();
    threads.iter().for_each(|thread| sum += thread.resources);
    resources.run_delay = sum.run_delay;
    resources.switches = sum.switches;
    resources.io_delay = sum.io_delay;
}

/// The threads of a sample; a process with a single thread is that thread.
fn threads(sample: &ProcessSample) -> Cow<'_, [ThreadSample]> {
    if sample.threads != 1 {
        return Cow::Borrowed(&sample.each_thread);
    }
    Cow::Owned(vec![ThreadSample {
        at: sample.at,
        id: sample.id,
        name: sample.name.clone(),
        resources: ResourceUsage { io: None, ..sample.resources },
    }])
}

impl ThreadUse {
    /// Each thread of the later sample, by CPU time; a thread that ended is not in it.
    fn between(earlier: Option<&ProcessSample>, later: &ProcessSample) -> Vec<Self> {
        let threads = earlier.map_or(Cow::Borrowed(&[][..]), threads);
        let known: HashMap<ProcessId, &ThreadSample> =
            threads.iter().map(|thread| (thread.id, thread)).collect();
        let of = |thread: &ThreadSample| {
            let earlier = known.get(&thread.id);
            let resources =
                earlier.map_or(thread.resources, |earlier| thread.resources - earlier.resources);
            Self {
                id: thread.id,
                name: thread.name.clone(),
                split: CpuSplit::of(resources.cpu, resources.ticks),
                resources,
                scheduled: None,
            }
        };
        let mut uses: Vec<Self> = self::threads(later).iter().map(of).collect();
        uses.sort_by_key(|thread| std::cmp::Reverse(thread.resources.cpu));
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::super::ContextSwitches;
    use super::*;
    use crate::MonoNanos;

    fn sample(at: u64, start_tick: u64, cpu: u64) -> ProcessSample {
        ProcessSample {
            at: MonoNanos(at),
            age: Nanos(at),
            id: ProcessId { pid: 7, start_tick },
            resources: ResourceUsage { cpu: Nanos(cpu), ..ResourceUsage::default() },
            ..ProcessSample::default()
        }
    }

    fn thread(pid: u32, cpu: u64, voluntary: u64) -> ThreadSample {
        let switches = Some(ContextSwitches { voluntary, involuntary: 0 });
        ThreadSample {
            id: ProcessId { pid, start_tick: 1 },
            resources: ResourceUsage { cpu: Nanos(cpu), switches, ..ResourceUsage::default() },
            ..ThreadSample::default()
        }
    }

    #[test]
    fn a_process_is_measured_between_its_own_samples() {
        let used = ProcessUse::between(Some(&sample(100, 1, 10)), &sample(350, 1, 60));
        assert_eq!((used.wall, used.resources.cpu), (Nanos(250), Nanos(50)));
        assert_eq!(used.presence, ProcessPresence::Stayed);
        assert_eq!(used.ended().presence, ProcessPresence::Went);
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let used = ProcessUse::between(Some(&sample(100, 1, 10)), &sample(350, 2, 4));
        assert_eq!((used.presence, used.resources.cpu), (ProcessPresence::Came, Nanos(4)));
        assert_eq!(used.wall, Nanos(350), "since its start");
    }

    #[test]
    fn ticks_divide_the_exact_total_and_nothing_else() {
        let ticks = |user, system| CpuTicks { user: Nanos(user), system: Nanos(system) };
        let split = CpuSplit::of(Nanos(900), ticks(200, 100));
        assert_eq!((split.user, split.system), (Some(Nanos(600)), Some(Nanos(300))));
        let none = CpuSplit::of(Nanos(900), ticks(0, 0));
        assert_eq!((none.user, none.system), (None, None), "no tick fell");
        let idle = CpuSplit::of(Nanos::ZERO, ticks(0, 0));
        assert_eq!((idle.user, idle.system), (Some(Nanos::ZERO), Some(Nanos::ZERO)));
    }

    #[test]
    fn threads_may_come_to_a_process_that_had_one_and_leave_it() {
        let switches = |voluntary| Some(ContextSwitches { voluntary, involuntary: 0 });
        let mut alone = ProcessSample { threads: 1, ..sample(0, 1, 50) };
        alone.resources.switches = switches(100);
        let several = |at, cpu, main| ProcessSample {
            threads: 2,
            each_thread: vec![thread(7, 10, main), thread(8, 10, 5)],
            ..sample(at, 1, cpu)
        };
        let used = ProcessUse::between(Some(&alone), &several(10, 80, 101));
        assert_eq!(used.resources.switches, switches(1 + 5));
        let mut later = ProcessSample { at: MonoNanos(20), ..alone };
        later.resources.switches = switches(104);
        let used = ProcessUse::between(Some(&several(10, 40, 101)), &later);
        assert_eq!(used.resources.switches, switches(3));
    }

    #[test]
    fn a_thread_that_ended_takes_nothing_from_the_others() {
        let (mut a, mut b) = (sample(0, 1, 50), sample(10, 1, 80));
        a.each_thread = vec![thread(1, 10, 100), thread(2, 40, 5000)];
        b.each_thread = vec![thread(1, 15, 130), thread(3, 7, 2)];
        let used = ProcessUse::between(Some(&a), &b);
        assert_eq!(used.resources.cpu, Nanos(30), "the process clock keeps ended threads");
        assert_eq!(
            used.resources.switches,
            Some(ContextSwitches { voluntary: 32, involuntary: 0 })
        );
        let ids: Vec<u32> = used.each_thread.iter().map(|thread| thread.id.pid).collect();
        assert_eq!(ids, [3, 1]);
    }
}
