//! Watches a process, or a server, from a beginning to an end: what it used in between.

use super::error::ProcessError;
use super::files::ProcFolder;
use super::kinds::by_thread_name;
use super::read::has_ended;
use super::server::ServerWatch;
use dbtime_machine::clock::{now, timespec};
use dbtime_machine::start_by_fork;
use dbtime_model::process::{
    EndedProcesses, IoBytes, Microstates, ProcessMemory, ProcessSample, ResourceUsage, Rusage,
    SavedUsage, ServerSample, ServerUse, TICK, UsageRates, UsageReport,
};
use dbtime_model::{MonoNanos, Nanos};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Watches a process with or without its descendants.
///
/// What the kernel counts by thread is lost when a thread ends. [`UsageWatch::look`] now and then
/// keeps that loss small: it is what a thread had between the last look and its end.
#[derive(Debug)]
pub struct UsageWatch {
    watch: ServerWatch,
    first: ServerSample,
    last: ServerSample,
    /// Sums over the looks, of which only what is counted by thread is used.
    seen: ResourceUsage,
    thread_time: Nanos,
    rss_most: Option<u64>,
}

impl UsageWatch {
    /// Begins with a sample of the process.
    ///
    /// Errors: [`ProcessError::Absent`].
    pub fn new(pid: u32, with_descendants: bool) -> Result<Self, ProcessError> {
        let mut watch = ServerWatch::of(pid, with_descendants)?;
        let first = watch.sample()?;
        Ok(Self::from(watch, first))
    }

    /// Begins with a process that was started at this instant: everything it ever spends counts.
    ///
    /// Errors: [`ProcessError::Absent`].
    pub fn of_new(pid: u32, started: MonoNanos) -> Result<Self, ProcessError> {
        let watch = ServerWatch::new(pid)?;
        let ended = EndedProcesses { count: 0, resources: ResourceUsage::none_yet() };
        Ok(Self::from(watch, ServerSample { at: started, processes: Vec::new(), ended }))
    }

    fn from(watch: ServerWatch, first: ServerSample) -> Self {
        let last = first.clone();
        let rss_most = memory(&first).map(|memory| memory.rss_bytes);
        let (seen, thread_time) = (ResourceUsage::none_yet(), Nanos::ZERO);
        Self { watch, first, last, seen, thread_time, rss_most }
    }

    /// The first sample.
    pub fn first(&self) -> &ServerSample {
        &self.first
    }

    /// Takes a sample. Tells how long that took.
    ///
    /// Errors: [`ProcessError::Absent`] when the process has ended and was waited for: then the
    /// last sample stands.
    pub fn look(&mut self) -> Result<Nanos, ProcessError> {
        let begun = now();
        let sample = self.watch.sample()?;
        self.seen += sample.since(&self.last).resources;
        self.thread_time += thread_time(&self.last, &sample);
        self.rss_most = self.rss_most.max(memory(&sample).map(|memory| memory.rss_bytes));
        self.last = sample;
        Ok(now() - begun)
    }

    /// What was used up to the last look.
    pub fn report(&self, by_thread: bool) -> UsageReport {
        let mut used = self.last.since(&self.first);
        used.resources.run_delay = self.seen.run_delay;
        used.resources.io_delay = self.seen.io_delay;
        used.resources.switches = self.seen.switches;
        let mut report = report(&self.first, &self.last, used, self.thread_time);
        report.rss_most_bytes = self.rss_most;
        report.with_descendants = self.watch.has_descendants();
        if by_thread {
            report.by_thread = by_thread_name(&self.first, &self.last);
        }
        report
    }
}

/// What was used between a saved sample and another of the same process.
pub fn since_saved(saved: &SavedUsage, later: &ServerSample, by_thread: bool) -> UsageReport {
    let used = later.since(&saved.sample);
    let thread_time = thread_time_alone(&saved.sample, later);
    let mut report = report(&saved.sample, later, used, thread_time);
    report.started_at.clone_from(&saved.saved_at);
    report.with_descendants = saved.with_descendants;
    if by_thread {
        report.by_thread = by_thread_name(&saved.sample, later);
    }
    report
}

fn report(
    first: &ServerSample,
    last: &ServerSample,
    used: ServerUse,
    thread_time: Nanos,
) -> UsageReport {
    let root = last.processes.first();
    let mut each = if last.processes.len() > 1 { last.each_since(first) } else { Vec::new() };
    each.sort_by_key(|process| std::cmp::Reverse(process.resources.cpu));
    each.iter_mut().for_each(|process| process.each_thread.clear());
    UsageReport {
        pid: root.map_or(0, |root| root.id.pid),
        command: root.map_or_else(String::new, |root| root.command.clone()),
        tick: TICK,
        per_second: UsageRates::of(&used.resources, used.wall),
        microstates: Microstates::of(&used.resources, used.split, thread_time),
        memory_before: memory(first),
        rss_most_bytes: used.memory.map(|memory| memory.rss_bytes),
        used,
        each,
        ..UsageReport::default()
    }
}

fn memory(sample: &ServerSample) -> Option<ProcessMemory> {
    ProcessMemory::together(sample.processes.iter().filter_map(|process| process.memory))
}

/// Time of threads between two looks: as many as there were at both ends on average.
fn thread_time(earlier: &ServerSample, later: &ServerSample) -> Nanos {
    let threads = |sample: &ServerSample| match &sample.processes[..] {
        // A command that is about to start has one.
        [] => 1,
        processes => processes.iter().map(|process| u64::from(process.threads)).sum::<u64>(),
    };
    let wall = later.at - earlier.at;
    Nanos(wall.0.saturating_mul(threads(earlier) + threads(later)) / 2)
}

/// Time of the threads that are there at the end, where nobody looked in between.
fn thread_time_alone(earlier: &ServerSample, later: &ServerSample) -> Nanos {
    let wall = later.at - earlier.at;
    let of = |process: &ProcessSample| {
        let lived = process.age.min(wall);
        Nanos(lived.0.saturating_mul(u64::from(process.threads)))
    };
    later.processes.iter().map(of).sum()
}

/// A child of this process that has ended and was waited for.
#[derive(Debug)]
pub struct ReapedChild {
    /// How it ended.
    pub status: ExitStatus,
    /// What it and the children it waited for used.
    pub rusage: Rusage,
    /// What they read and wrote.
    pub io: Option<IoBytes>,
}

/// Waits for a child that has ended, or will.
///
/// What it read and wrote passes to this process at that moment, and this process may read it of
/// itself where it may not of a child that has ended. It must do no I/O on other threads meanwhile.
pub fn wait_for(child: &mut Child) -> std::io::Result<ReapedChild> {
    let own = ProcFolder::of_process(std::process::id());
    let (first, before, rusage) = (own.io(), own.io(), rusage_of_children());
    let status = child.wait()?;
    let after = own.io();
    let io = match (first, before, after) {
        // Looking costs reads of its own.
        (Some(first), Some(before), Some(after)) => Some((after - before) - (before - first)),
        _ => None,
    };
    Ok(ReapedChild { status, rusage: rusage_of_children() - rusage, io })
}

/// The largest resident size that each child of this process begins with, if it is
/// [started by fork(2)](start_by_fork) and this process has waited for no other one. Unit: bytes.
/// `None`: no child can be started.
pub fn child_floor_bytes() -> Option<u64> {
    // A folder cannot be executed: what is left is the child itself.
    let _ = start_by_fork(&mut Command::new("/")).status();
    Some(rusage_of_children().max_rss_bytes).filter(|bytes| *bytes > 0)
}

/// What the kernel says of all children this process has waited for.
fn rusage_of_children() -> Rusage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Rusage::default() };
    let count = |n: i64| n.max(0).cast_unsigned();
    let time =
        |t: TimeVal| Nanos::from_secs(count(t.tv_sec())) + Nanos::from_micros(count(t.tv_usec()));
    Rusage {
        user: time(usage.user_time()),
        system: time(usage.system_time()),
        max_rss_bytes: count(usage.max_rss()) * 1024,
        minor_faults: count(usage.minor_page_faults()),
        major_faults: count(usage.major_page_faults()),
        blocks_in: count(usage.block_reads()),
        blocks_out: count(usage.block_writes()),
        voluntary_switches: count(usage.voluntary_context_switches()),
        involuntary_switches: count(usage.involuntary_context_switches()),
    }
}

/// Tells when a process ends: at once where the kernel has descriptors for processes (Linux 5.3),
/// else after each wait.
#[derive(Debug)]
pub struct EndWatch {
    pid: u32,
    fd: Option<OwnedFd>,
}

impl EndWatch {
    /// Watches for the end of a process.
    pub fn new(pid: u32) -> Self {
        let fd = numbered(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Self { pid, fd }
    }

    /// Sends a signal. A process that has ended, or belongs to another user, gets none. Nor does
    /// another one that has its number by now, where the kernel has descriptors of processes.
    pub fn signal(&self, signal: Signal) {
        let _ = match &self.fd {
            Some(fd) => pidfd_send_signal(fd, signal),
            None => numbered(self.pid).map_or(Ok(()), |pid| kill_process(pid, signal)),
        };
    }

    /// Waits for the end, at most so long; whether it has come. An ended process can be sampled
    /// until its parent has waited for it.
    pub fn wait(&self, at_most: Nanos) -> bool {
        let Some(fd) = &self.fd else {
            std::thread::sleep(Duration::from_nanos(at_most.0));
            return has_ended(self.pid);
        };
        let timeout = timespec(at_most);
        // A signal ends the waiting early, which is no end of the process.
        poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
    }
}

fn numbered(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Which start of the machine instants count from; empty where the kernel does not say.
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

/// Which monotonic clock instants of this process are of: the start of the machine, and how far the
/// process's time namespace is ahead, where it is. Without that it is the clock of the kernel.
///
/// Source: time_namespaces(7).
pub fn clock_id() -> String {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    let offset = offsets.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        // Older kernels have a number there.
        matches!(words.next(), Some("monotonic" | "1")).then(|| words.collect::<Vec<_>>().join("."))
    });
    match offset.filter(|offset| offset != "0.0") {
        Some(offset) => format!("{}+{offset}", boot_id()),
        None => boot_id(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn the_end_of_a_process_is_noticed_before_it_is_waited_for() {
        let mut command = Command::new("cat");
        let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let started = now();
        let end = EndWatch::new(cat.id());
        let mut watch = UsageWatch::of_new(cat.id(), started).expect("it runs");
        assert!(!end.wait(Nanos::from_millis(10)));
        watch.look().expect("it runs");
        drop(cat.stdin.take());
        while !end.wait(Nanos::from_secs(5)) {}
        watch.look().expect("nobody has waited for it");
        let report = watch.report(false);
        assert!(report.used.resources.cpu > Nanos::ZERO, "{report:?}");
        assert!(report.used.wall >= Nanos::from_millis(10));
        let states = report.microstates;
        assert_eq!(states.thread_time, report.used.wall, "one thread all the time");
        assert!(report.rss_most_bytes.is_some_and(|bytes| bytes > 0));
        let waited = wait_for(&mut cat).expect("it ended");
        assert!(waited.status.success() && waited.rusage.minor_faults > 0);
        assert!(waited.io.expect("own figures").read_calls > 0);
        assert!(watch.look().is_err(), "now it is gone");
    }

    #[test]
    fn a_signal_reaches_the_process_that_is_watched() {
        let mut command = Command::new("cat");
        let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let end = EndWatch::new(cat.id());
        assert!(!end.wait(Nanos::ZERO));
        end.signal(Signal::TERM);
        assert_eq!(cat.wait().expect("it ended").signal(), Some(15));
    }

    #[test]
    fn threads_that_come_and_go_keep_their_time() {
        let sample = |at: u64, threads: u32| ServerSample {
            at: MonoNanos(at),
            processes: vec![ProcessSample { threads, age: Nanos(10), ..ProcessSample::default() }],
            ..ServerSample::default()
        };
        assert_eq!(thread_time(&sample(0, 2), &sample(100, 4)), Nanos(300));
        assert_eq!(thread_time_alone(&sample(0, 2), &sample(100, 4)), Nanos(40));
    }
}
