//! What processes spent by the scheduler's own events, put beside what `/proc` says of them.

use super::ProcessSet;
use crate::scheduler::SchedulerInterval;
use dbtime_model::Nanos;
use dbtime_model::process::{
    CpuSplit, EndedThreads, ProcessId, ProcessPresence, ProcessUse, ResourceUsage,
    ScheduledProcess, ScheduledTimes,
};
use std::collections::HashMap;

impl ProcessSet {
    /// As [`end_interval`](Self::end_interval), with exact figures of everybody who had a CPU or
    /// wanted one: also of those that came and went unseen. To be called right after the
    /// scheduler's interval has ended.
    pub fn end_exact_interval(&mut self, interval: &SchedulerInterval) -> Vec<ProcessUse> {
        let mut uses = self.end_interval();
        let mut scheduled: HashMap<ProcessId, &ScheduledProcess> =
            interval.processes.iter().map(|process| (process.id, process)).collect();
        let nothing = ScheduledProcess::default();
        for used in &mut uses {
            let process = scheduled.remove(&used.id).unwrap_or(&nothing);
            correct(used, process, interval);
        }
        let mut unseen: Vec<&ScheduledProcess> = scheduled.into_values().collect();
        unseen.sort_by_key(|process| process.id);
        for process in unseen {
            if let Some(ended) = &process.ended
                && self.is_selected(&ended.name)
            {
                uses.push(self.unseen(process, ended, interval));
            }
        }
        uses
    }

    /// One that nobody has seen but the scheduler.
    fn unseen(
        &mut self,
        process: &ScheduledProcess,
        ended: &EndedThreads,
        interval: &SchedulerInterval,
    ) -> ProcessUse {
        let mut used = ProcessUse {
            id: process.id,
            uid: ended.uid,
            user: self.user(ended.uid),
            name: ended.name.clone(),
            command: ended.name.clone(),
            presence: ProcessPresence::CameAndWent,
            resources: ResourceUsage { ticks: ended.ticks, ..ResourceUsage::default() },
            ..ProcessUse::default()
        };
        correct(&mut used, process, interval);
        used
    }
}

/// Puts what the scheduler says in the place of what was read.
fn correct(used: &mut ProcessUse, process: &ScheduledProcess, interval: &SchedulerInterval) {
    if used.presence == ProcessPresence::Stayed {
        used.wall = interval.wall;
    }
    if let Some(ended) = process.ended.as_ref().filter(|_| used.presence.has_ended()) {
        used.wall = ended.at - process.start.max(interval.begun);
        if used.resources.ticks.sum() == Nanos::ZERO {
            used.resources.ticks = ended.ticks;
        }
        if used.presence == ProcessPresence::CameAndWent {
            rename(used, &ended.name);
        }
    }
    used.split = replace(&mut used.resources, process.resources);
    used.scheduled = Some(process.resources);
    for thread in &mut used.each_thread {
        let known = process.threads.iter().find(|(tid, _)| *tid == thread.id.pid);
        let times = known.map(|(_, times)| *times).unwrap_or_default();
        thread.split = replace(&mut thread.resources, times);
        thread.scheduled = Some(times);
    }
    used.each_thread.sort_by_key(|thread| std::cmp::Reverse(thread.resources.cpu));
}

/// A process that is read before its exec has the name and the command line of the process that
/// forked it.
fn rename(used: &mut ProcessUse, name: &str) {
    if !name.is_empty() && used.name != name {
        name.clone_into(&mut used.name);
        name.clone_into(&mut used.command);
    }
}

/// Puts the scheduler's times in the place of those read of a process or a thread. Returns how its
/// CPU time is split then.
fn replace(resources: &mut ResourceUsage, times: ScheduledTimes) -> CpuSplit {
    resources.cpu = times.cpu;
    resources.run_delay = Some(times.run_delay());
    resources.switches = Some(times.switches);
    CpuSplit::of(times.cpu, resources.ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read as `shell` when it came, and ended as `true`.
    fn corrected(presence: ProcessPresence, name: &str) -> ProcessUse {
        let (read, command) = ("shell".to_owned(), "shell -c true".to_owned());
        let mut used = ProcessUse { name: read, command, presence, ..ProcessUse::default() };
        let ended = EndedThreads { name: name.to_owned(), ..EndedThreads::default() };
        let process = ScheduledProcess { ended: Some(ended), ..ScheduledProcess::default() };
        correct(&mut used, &process, &SchedulerInterval::default());
        used
    }

    #[test]
    fn a_process_has_the_name_it_ended_with_where_it_was_read_before_its_exec() {
        let used = corrected(ProcessPresence::CameAndWent, "true");
        assert_eq!((&*used.name, &*used.command), ("true", "true"));
        // The command line says more than the name, and is of no other program.
        let used = corrected(ProcessPresence::CameAndWent, "shell");
        assert_eq!((&*used.name, &*used.command), ("shell", "shell -c true"));
        // A thread has ended, and its process goes on.
        let used = corrected(ProcessPresence::Stayed, "worker");
        assert_eq!((&*used.name, &*used.command), ("shell", "shell -c true"));
    }
}
