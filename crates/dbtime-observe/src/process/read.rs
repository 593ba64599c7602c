//! Takes samples of single processes.

use super::clock;
use super::error::ProcessError;
use super::files::{ProcFolder, ProcStat};
use super::listening::user_name;
use dbtime_machine::clock::since_boot;
use dbtime_model::process::{ProcessId, ProcessSample, ResourceUsage, TICK, ThreadSample};
use dbtime_model::secret_text::masked_command;
use dbtime_model::{MonoNanos, Nanos};
use std::collections::HashMap;
use std::fs;

/// Takes samples of processes; remembers the names of users.
#[derive(Debug)]
pub struct ProcReader {
    users: HashMap<u32, String>,
    has_io_delay: bool,
}

impl Default for ProcReader {
    fn default() -> Self {
        Self { users: HashMap::new(), has_io_delay: has_delay_accounting() }
    }
}

/// How many CPUs a process may run on; 0 when it is gone. Source: `/proc/PID/status`.
pub fn cpus_of(pid: u32) -> u32 {
    let process = procfs::process::Process::new(pid.cast_signed());
    let allowed = process.and_then(|process| process.status()).ok();
    let ranges = allowed.and_then(|status| status.cpus_allowed_list).unwrap_or_default();
    ranges.into_iter().map(|(first, last)| last.saturating_sub(first) + 1).sum()
}

/// Which process has started a process that is still there, or has taken it over since.
pub fn parent_of(pid: u32) -> Option<u32> {
    Some(ProcFolder::of_process(pid).basics().ok()?.parent)
}

/// When a process started; with its number that names a process for ever, because numbers are
/// dealt anew. Unit: clock ticks since boot. `None`: there is no such process.
pub fn start_tick_of(pid: u32) -> Option<u64> {
    Some(ProcFolder::of_process(pid).basics().ok()?.start_tick)
}

/// Whether a process has ended, also where nobody has waited for it yet.
pub fn has_ended(pid: u32) -> bool {
    ProcFolder::of_process(pid).basics().map_or(true, |basics| basics.has_ended)
}

/// Whether nothing of a process runs, because all its threads are stopped or it has ended.
///
/// A thread that is sent SIGSTOP first finishes what it does in the kernel, such as making a child.
pub fn stands_still(pid: u32) -> bool {
    let process = ProcFolder::of_process(pid);
    let is_still = |tid| {
        let thread = process.of_thread(tid).basics();
        thread.map_or(true, |basics| basics.is_stopped || basics.has_ended)
    };
    process.threads().into_iter().all(is_still)
}

/// Whether the kernel keeps delay accounting (`kernel.task_delayacct`, since Linux 5.14).
///
/// It counts for processes that start after it was switched on.
fn has_delay_accounting() -> bool {
    fs::read_to_string("/proc/sys/kernel/task_delayacct").is_ok_and(|text| text.trim() == "1")
}

impl ProcReader {
    /// A sample of one process and its threads.
    ///
    /// Errors: [`ProcessError::Absent`]. Cost: about 30 µs, and 15 µs for each thread where there
    /// are several.
    pub fn sample(&mut self, pid: u32) -> Result<ProcessSample, ProcessError> {
        let clock = clock::read(pid).ok_or(ProcessError::Absent(pid))?;
        self.complete(pid, clock).ok_or(ProcessError::Absent(pid))
    }

    /// The sample to a reading of the CPU clock; `None` when the process is gone.
    pub(super) fn complete(
        &mut self,
        pid: u32,
        (at, cpu): (MonoNanos, Nanos),
    ) -> Option<ProcessSample> {
        let folder = ProcFolder::of_process(pid);
        let basics = folder.basics().ok()?;
        let id = ProcessId { pid, start_tick: basics.start_tick };
        let status = folder.status()?;
        let words = folder.command();
        let resources = ResourceUsage {
            cpu,
            ticks: basics.ticks,
            run_delay: folder.schedule().map(|(_, delay)| delay),
            io_delay: self.has_io_delay.then_some(basics.io_delay),
            switches: status.switches,
            faults: Some(basics.faults),
            io: folder.io(),
        };
        // Not allowed is one thing, no longer there another.
        if resources.io.is_none() && !folder.exists() {
            return None;
        }
        let each_thread = if basics.threads > 1 { self.threads(&folder, at) } else { Vec::new() };
        Some(ProcessSample {
            at,
            age: age(basics.start_tick),
            id,
            parent: basics.parent,
            uid: status.uid,
            user: self.user(status.uid),
            command: if words.is_empty() { nameless(&basics) } else { masked_command(&words) },
            name: basics.name,
            has_ended: basics.has_ended,
            resources: if each_thread.is_empty() {
                resources
            } else {
                with_threads(resources, &each_thread)
            },
            reaped: basics.reaped,
            memory: status.memory,
            // The kernel counts the threads of an ended process as none or one.
            threads: basics.threads.max(1),
            each_thread,
        })
    }

    fn threads(&self, folder: &ProcFolder, at: MonoNanos) -> Vec<ThreadSample> {
        let of = |tid: u32| {
            let thread = folder.of_thread(tid);
            let basics = thread.basics().ok()?;
            let (cpu, run_delay) = thread.schedule()?;
            Some(ThreadSample {
                at,
                id: ProcessId { pid: tid, start_tick: basics.start_tick },
                name: basics.name,
                resources: ResourceUsage {
                    cpu,
                    ticks: basics.ticks,
                    run_delay: Some(run_delay),
                    io_delay: self.has_io_delay.then_some(basics.io_delay),
                    switches: thread.status().and_then(|status| status.switches),
                    faults: Some(basics.faults),
                    io: None,
                },
            })
        };
        folder.threads().into_iter().filter_map(of).collect()
    }

    /// The name of a user, or the number where there is none.
    pub(super) fn user(&mut self, uid: u32) -> String {
        self.users.entry(uid).or_insert_with(|| user_name(uid)).clone()
    }
}

/// What the kernel counts by thread, as sums over the threads.
fn with_threads(mut resources: ResourceUsage, threads: &[ThreadSample]) -> ResourceUsage {
    let mut sum = ResourceUsage::none_yet();
    threads.iter().for_each(|thread| sum += thread.resources);
    (resources.run_delay, resources.io_delay) = (sum.run_delay, sum.io_delay);
    resources.switches = sum.switches;
    resources
}

/// What stands for the command line of a kernel thread, and of a process that has ended, as ps(1)
/// has it.
fn nameless(basics: &ProcStat) -> String {
    format!("[{}]{}", basics.name, if basics.has_ended { " <defunct>" } else { "" })
}

/// Time since a start, which is counted on a clock that goes on while the machine sleeps.
fn age(start_tick: u64) -> Nanos {
    since_boot() - Nanos(start_tick.saturating_mul(TICK.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn this_process_is_sampled_with_its_threads() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let named = std::thread::Builder::new().name("idler-7".to_owned());
        let idler = named.spawn(move || wait.recv_timeout(Duration::from_secs(600)).is_ok());
        let mut reader = ProcReader::default();
        // The kernel learns the name from the thread itself.
        let has_idler =
            |sample: &ProcessSample| sample.each_thread.iter().any(|t| t.name == "idler-7");
        // Other tests of this process begin and end meanwhile.
        let is_whole = |sample: &ProcessSample| sample.threads as usize == sample.each_thread.len();
        let sample = (0..20_000)
            .map(|_| {
                std::thread::sleep(Duration::from_millis(5));
                reader.sample(std::process::id()).expect("this process")
            })
            .find(|sample| has_idler(sample) && is_whole(sample));
        let sample = sample.expect("all threads, one by its name");
        assert!(sample.resources.io.is_some() && sample.resources.switches.is_some());
        assert!(sample.age > Nanos::ZERO && sample.age < Nanos::from_secs(100_000));
        assert!(!sample.user.is_empty() && sample.command.contains("dbtime_observe"));
        stop.send(()).expect("it waits");
        assert!(idler.expect("started").join().expect("it ends"));
    }

    #[test]
    fn a_process_that_has_ended_is_there_until_it_was_waited_for() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
        let (pid, own) = (child.id(), std::process::id());
        let started = start_tick_of(pid);
        assert!(started.is_some_and(|tick| tick > 0) && !has_ended(pid));
        for (signal, is_still) in [(Signal::STOP, true), (Signal::CONT, false)] {
            assert_ne!(stands_still(pid), is_still);
            kill_process(Pid::from_child(&child), signal).expect("it is there");
            while stands_still(pid) != is_still {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        drop(child.stdin.take());
        while !has_ended(pid) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(stands_still(pid));
        assert_eq!((parent_of(pid), start_tick_of(pid)), (Some(own), started));
        child.wait().expect("it has ended");
        assert_eq!((parent_of(pid), start_tick_of(pid), has_ended(pid)), (None, None, true));
    }

    #[test]
    fn a_process_that_is_not_there_is_absent() {
        let absent = 4_194_305;
        assert_eq!((start_tick_of(absent), start_tick_of(u32::MAX)), (None, None));
        assert_eq!(ProcReader::default().sample(absent), Err(ProcessError::Absent(absent)));
    }
}
