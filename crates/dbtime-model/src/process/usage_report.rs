//! What a command or a server used over a while: the report of `dbtime usage`.

use super::{
    ContextSwitches, CpuSplit, IoBytes, PageFaults, ProcessMemory, ProcessUse, ResourceUsage,
    ServerSample, ServerUse, TICK, ThreadsUse,
};
use crate::Nanos;
use crate::growing::growing;
use serde::{Deserialize, Serialize};

/// What a child may have touched besides, and by how much the kernel's count of pages may be off.
/// Unit: bytes.
const FLOOR_SCATTER: u64 = 512 << 10;

/// What a command or a server used, as differences between beginning and end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// Number of the process.
    pub pid: u32,
    /// Its command line with passwords masked.
    pub command: String,
    /// How a command ended that was started for this; `None` where a process was watched.
    pub exit: Option<CommandExit>,
    /// Whether the process that was watched was gone before the end.
    pub is_gone: bool,
    /// Whether its descendants count.
    pub with_descendants: bool,
    /// The resolution of the division into user and system.
    #[serde(rename = "tick_us")]
    pub tick: Nanos,
    /// What was spent, over which time, and what is there at the end.
    #[serde(flatten)]
    pub used: ServerUse,
    /// The same per second.
    pub per_second: UsageRates,
    /// Where the time of its threads went.
    pub microstates: Microstates,
    /// Memory at the beginning; `None` of a command, which had none.
    pub memory_before: Option<ProcessMemory>,
    /// Most memory it was seen to have.
    pub rss_most_bytes: Option<u64>,
    /// What the kernel says of a command when it has been waited for.
    pub rusage: Option<Rusage>,
    /// What the largest resident size in `rusage` cannot be below: what the process had that
    /// started the command. `None` where a process was watched; absent in earlier versions.
    pub rss_floor_bytes: Option<u64>,
    /// Processes that were there at the end, where there were several, most CPU time first.
    pub each: Vec<ProcessUse>,
    /// Threads by name, where they were asked for, most CPU time first.
    pub by_thread: Vec<ThreadsUse>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandExit {
    /// Its exit code; `None` after a signal.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Where the time of all threads together went (microstate accounting).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Microstates {
    /// On a CPU: by user and system.
    #[serde(flatten)]
    pub on_cpu: CpuSplit,
    /// Runnable, and something else had the CPU.
    #[serde(rename = "runnable_us")]
    pub runnable: Option<Nanos>,
    /// Blocked on storage and swap; known where the kernel keeps delay accounting.
    #[serde(rename = "blocked_io_us")]
    pub blocked_io: Option<Nanos>,
    /// The rest: blocked elsewhere, or with nothing to do. Where `blocked_io` is not known it is in
    /// here.
    #[serde(rename = "sleeping_us")]
    pub sleeping: Option<Nanos>,
    /// Time that the threads were there, summed: what the states divide. Of threads that came and
    /// went it is as good as they were looked at.
    #[serde(rename = "thread_time_us")]
    pub thread_time: Nanos,
}

impl UsageReport {
    /// Whether the command may have had less memory than the largest resident size in `rusage`:
    /// the process that started it had as much.
    pub fn is_peak_a_floor(&self) -> bool {
        let ends = self.rusage.zip(self.rss_floor_bytes);
        ends.is_some_and(|(rusage, floor)| {
            rusage.max_rss_bytes <= floor.saturating_add(FLOOR_SCATTER)
        })
    }

    /// Takes over what the kernel says of a command that has ended: exact also where its threads
    /// and children came and went between two looks. Descendants that still run are not in it: then
    /// what was seen stands.
    pub fn settle(&mut self, rusage: Rusage, io: Option<IoBytes>) {
        self.rusage = Some(rusage);
        if self.used.processes > 1 {
            return;
        }
        let resources = &mut self.used.resources;
        resources.io = io.or(resources.io);
        resources.cpu = rusage.user + rusage.system;
        // Within a tick the kernel gives everything to one of them.
        self.used.split = match resources.cpu < TICK {
            true => CpuSplit::default(),
            false => CpuSplit { user: Some(rusage.user), system: Some(rusage.system) },
        };
        resources.switches = Some(ContextSwitches {
            voluntary: rusage.voluntary_switches,
            involuntary: rusage.involuntary_switches,
        });
        resources.faults =
            Some(PageFaults { minor: rusage.minor_faults, major: rusage.major_faults });
        let named: Nanos = self.by_thread.iter().map(|threads| threads.resources.cpu).sum();
        if !self.by_thread.is_empty() && resources.cpu > named + TICK {
            self.by_thread.push(ThreadsUse::ended(resources.cpu - named));
        }
        self.per_second = UsageRates::of(resources, self.used.wall);
        self.microstates =
            Microstates::of(resources, self.used.split, self.microstates.thread_time);
    }
}

impl Microstates {
    /// The states of so much thread time.
    pub fn of(resources: &ResourceUsage, split: CpuSplit, thread_time: Nanos) -> Self {
        let known = resources.run_delay.map(|delay| delay + resources.io_delay.unwrap_or_default());
        Self {
            on_cpu: split,
            runnable: resources.run_delay,
            blocked_io: resources.io_delay,
            sleeping: known.map(|known| thread_time - (resources.cpu + known)),
            thread_time,
        }
    }
}

/// What getrusage(2) says of a command and of the children it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rusage {
    /// CPU time in user mode.
    #[serde(rename = "user_us")]
    pub user: Nanos,
    /// CPU time in the kernel.
    #[serde(rename = "system_us")]
    pub system: Nanos,
    /// The largest resident size that any single one of them reached.
    pub max_rss_bytes: u64,
    /// Page faults without reading.
    pub minor_faults: u64,
    /// Page faults that read.
    pub major_faults: u64,
    /// Blocks of 512 bytes read from storage.
    pub blocks_in: u64,
    /// Blocks of 512 bytes written to storage.
    pub blocks_out: u64,
    /// Times a thread blocked.
    pub voluntary_switches: u64,
    /// Times a thread was replaced.
    pub involuntary_switches: u64,
}

/// Differences per second of the interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageRates {
    /// CPUs busy on average.
    pub cpus: f64,
    /// Voluntary context switches.
    pub voluntary_switches: Option<f64>,
    /// Involuntary context switches.
    pub involuntary_switches: Option<f64>,
    /// Page faults without reading.
    pub minor_faults: Option<f64>,
    /// Page faults that read.
    pub major_faults: Option<f64>,
    /// Bytes from storage.
    pub read_bytes: Option<f64>,
    /// Bytes to storage.
    pub written_bytes: Option<f64>,
    /// Bytes through read calls.
    pub read_chars: Option<f64>,
    /// Bytes through write calls.
    pub written_chars: Option<f64>,
    /// Read calls.
    pub read_calls: Option<f64>,
    /// Write calls.
    pub write_calls: Option<f64>,
}

impl UsageRates {
    /// What was spent per second of `wall`.
    pub fn of(resources: &ResourceUsage, wall: Nanos) -> Self {
        let seconds = wall.as_secs().max(1e-9);
        let per_s = |n: u64| n as f64 / seconds;
        let (switches, faults, io) = (resources.switches, resources.faults, resources.io);
        Self {
            cpus: resources.cpu.as_secs() / seconds,
            voluntary_switches: switches.map(|s| per_s(s.voluntary)),
            involuntary_switches: switches.map(|s| per_s(s.involuntary)),
            minor_faults: faults.map(|f| per_s(f.minor)),
            major_faults: faults.map(|f| per_s(f.major)),
            read_bytes: io.map(|io| per_s(io.read_bytes)),
            written_bytes: io.map(|io| per_s(io.written_bytes)),
            read_chars: io.map(|io| per_s(io.read_chars)),
            written_chars: io.map(|io| per_s(io.written_chars)),
            read_calls: io.map(|io| per_s(io.read_calls)),
            write_calls: io.map(|io| per_s(io.write_calls)),
        }
    }
}

/// A sample that waits for its second half, in a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedUsage {
    /// The version of this format: [`SavedUsage::SCHEMA`].
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// When it was taken, UTC, RFC 3339.
    pub saved_at: String,
    /// Which start of the machine its instants count from.
    pub boot_id: String,
    /// Whether descendants are in it.
    pub with_descendants: bool,
    /// The sample.
    pub sample: ServerSample,
}

impl SavedUsage {
    /// The version that this program writes and reads.
    pub const SCHEMA: u32 = 1;
}

growing! {
    Rusage {
        user, system, minor_faults, major_faults, blocks_in, blocks_out, voluntary_switches,
        involuntary_switches; max_rss_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::ContextSwitches;

    fn resources(run_delay: Option<Nanos>, io_delay: Option<Nanos>) -> ResourceUsage {
        ResourceUsage { cpu: Nanos(30), run_delay, io_delay, ..ResourceUsage::default() }
    }

    #[test]
    fn microstates_divide_thread_time() {
        let split = CpuSplit { user: Some(Nanos(20)), system: Some(Nanos(10)) };
        let states = |resources: &ResourceUsage| Microstates::of(resources, split, Nanos(100));
        let all = states(&resources(Some(Nanos(5)), Some(Nanos(15))));
        assert_eq!((all.sleeping, all.blocked_io), (Some(Nanos(50)), Some(Nanos(15))));
        let no_io = states(&resources(Some(Nanos(5)), None));
        assert_eq!((no_io.sleeping, no_io.blocked_io), (Some(Nanos(65)), None));
        assert_eq!(states(&resources(None, None)).sleeping, None, "nothing to subtract");
    }

    #[test]
    fn a_command_that_ended_has_the_last_word() {
        let ms = Nanos::from_millis;
        let rusage =
            Rusage { user: ms(70), system: ms(20), voluntary_switches: 7, ..Rusage::default() };
        let seen = ServerUse { resources: resources(Some(Nanos(5)), None), ..ServerUse::default() };
        let mut report = UsageReport { used: seen, ..UsageReport::default() };
        report.microstates.thread_time = ms(100);
        let mut with_children = report.clone();
        with_children.used.processes = 2;
        report.settle(rusage, None);
        assert_eq!(report.used.resources.cpu, ms(90));
        assert_eq!(report.microstates.sleeping, Some(ms(10) - Nanos(5)));
        assert_eq!(report.used.split.system, Some(ms(20)));
        assert_eq!(report.used.resources.switches.expect("known").voluntary, 7);
        let mut short = report.clone();
        short.settle(Rusage { user: ms(2), ..Rusage::default() }, None);
        assert_eq!(short.used.split.system, None, "no tick to tell");
        with_children.settle(rusage, None);
        assert_eq!(with_children.used.resources.cpu, Nanos(30), "some of it still runs");
    }

    #[test]
    fn a_largest_size_is_neither_added_up_nor_taken_off() {
        let rusage =
            |ns, max_rss_bytes| Rusage { user: Nanos(ns), max_rss_bytes, ..Rusage::default() };
        let mut sum = rusage(5, 3);
        sum += rusage(2, 2);
        assert_eq!(sum, rusage(7, 3));
        assert_eq!(sum - rusage(5, 9), rusage(2, 3));
    }

    #[test]
    fn a_peak_is_known_above_what_a_command_began_with() {
        let rusage = |max_rss_bytes| Some(Rusage { max_rss_bytes, ..Rusage::default() });
        let floor = Some(4 << 20);
        for (rusage, rss_floor_bytes, is_floor) in [
            (rusage(4 << 20), floor, true),
            (rusage((4 << 20) + 4096), floor, true),
            (rusage(10 << 20), floor, false),
            (rusage(4 << 20), None, false),
            (None, floor, false),
        ] {
            let report = UsageReport { rusage, rss_floor_bytes, ..UsageReport::default() };
            assert_eq!(report.is_peak_a_floor(), is_floor, "{rusage:?} {rss_floor_bytes:?}");
        }
    }

    #[test]
    fn rates_are_per_second_and_unknown_stays_unknown() {
        let switches = Some(ContextSwitches { voluntary: 10, involuntary: 0 });
        let rates = UsageRates::of(
            &ResourceUsage { switches, ..ResourceUsage::default() },
            Nanos::from_millis(500),
        );
        assert_eq!((rates.voluntary_switches, rates.read_bytes), (Some(20.0), None));
    }
}
