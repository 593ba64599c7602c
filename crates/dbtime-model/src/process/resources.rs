//! What a thread, a process or a server spends: everything that only grows.

use crate::Nanos;
use crate::growing::growing;
use serde::{Deserialize, Serialize};

/// What was spent: in a sample since the process began, in a difference between two samples.
///
/// `None` is not known: no permission, or the kernel does not count it. Differences and sums of a
/// known and an unknown figure are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceUsage {
    /// Time on a CPU, user and system together.
    ///
    /// Source: the process CPU clock (clock_getcpuclockid(3)), in nanoseconds, ended threads
    /// included; of a thread the first figure of its `schedstat`. The kernel brings both up to
    /// date when the thread leaves the CPU and at every scheduler tick (1 to 10 ms): a thread that
    /// is running at the instant of the sample is at most that much behind.
    #[serde(rename = "cpu_us")]
    pub cpu: Nanos,
    /// The same counted in ticks; good for dividing `cpu`, and for nothing else.
    #[serde(flatten)]
    pub ticks: CpuTicks,
    /// Time spent runnable while something else had the CPU, over all threads: they wait side by
    /// side, so that it may exceed the interval.
    ///
    /// Source: the second figure of `/proc/PID/task/TID/schedstat`; what ended threads had waited
    /// is lost with them.
    #[serde(rename = "run_delay_us")]
    pub run_delay: Option<Nanos>,
    /// Time blocked on storage and swap, over all threads; in steps of a tick.
    ///
    /// Source: field 42 of `/proc/PID/task/TID/stat`; known only where the kernel keeps delay
    /// accounting (`kernel.task_delayacct`).
    #[serde(rename = "io_delay_us")]
    pub io_delay: Option<Nanos>,
    /// Context switches over all threads.
    ///
    /// Source: `/proc/PID/task/TID/status`; what ended threads had switched is lost with them.
    pub switches: Option<ContextSwitches>,
    /// Page faults, ended threads included. Source: `/proc/PID/stat`.
    pub faults: Option<PageFaults>,
    /// Reads and writes, ended threads and waited-for children included. Source: `/proc/PID/io`,
    /// which only the same user and the superuser may read.
    pub io: Option<IoBytes>,
}

/// CPU time by clock ticks (USER_HZ, 10 ms): sampled by the kernel and cut to whole ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTicks {
    /// In user mode.
    #[serde(rename = "user_ticks_us")]
    pub user: Nanos,
    /// In the kernel.
    #[serde(rename = "system_ticks_us")]
    pub system: Nanos,
}

/// Times a thread left its CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSwitches {
    /// It blocked.
    pub voluntary: u64,
    /// Something else was given its CPU.
    pub involuntary: u64,
}

/// Page faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFaults {
    /// Without reading from storage.
    pub minor: u64,
    /// With a read from storage.
    pub major: u64,
}

/// Reads and writes (proc_pid_io(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoBytes {
    /// Bytes fetched from storage on its behalf.
    pub read_bytes: u64,
    /// Bytes it made dirty that go to storage.
    pub written_bytes: u64,
    /// Bytes that were dirty and then dropped before they reached storage.
    pub cancelled_bytes: u64,
    /// Bytes through read calls, from the page cache, pipes and terminals too; not those of recv
    /// and its kin.
    pub read_chars: u64,
    /// Bytes through write calls; not those of send and its kin.
    pub written_chars: u64,
    /// Read calls.
    pub read_calls: u64,
    /// Write calls.
    pub write_calls: u64,
}

impl ResourceUsage {
    /// Nothing spent, everything known: where a sum starts.
    pub fn none_yet() -> Self {
        Self {
            run_delay: Some(Nanos::ZERO),
            io_delay: Some(Nanos::ZERO),
            switches: Some(ContextSwitches::default()),
            faults: Some(PageFaults::default()),
            io: Some(IoBytes::default()),
            ..Self::default()
        }
    }

    /// The same with nothing spent where it is unknown: a lower bound.
    pub fn at_least(self) -> Self {
        let none = Self::none_yet();
        Self {
            run_delay: self.run_delay.or(none.run_delay),
            io_delay: self.io_delay.or(none.io_delay),
            switches: self.switches.or(none.switches),
            faults: self.faults.or(none.faults),
            io: self.io.or(none.io),
            ..self
        }
    }
}

impl CpuTicks {
    /// User and system together.
    pub fn sum(self) -> Nanos {
        self.user + self.system
    }
}

growing! { ResourceUsage { cpu, ticks, run_delay, io_delay, switches, faults, io } }
growing! { CpuTicks { user, system } }
growing! { ContextSwitches { voluntary, involuntary } }
growing! { PageFaults { minor, major } }
growing! {
    IoBytes {
        read_bytes, written_bytes, cancelled_bytes, read_chars, written_chars, read_calls,
        write_calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(n: u64) -> ResourceUsage {
        ResourceUsage {
            cpu: Nanos(n),
            ticks: CpuTicks { user: Nanos(2 * n), system: Nanos(n) },
            run_delay: Some(Nanos(3 * n)),
            io_delay: None,
            switches: Some(ContextSwitches { voluntary: n, involuntary: 5 * n }),
            faults: Some(PageFaults { minor: 7 * n, major: n }),
            io: Some(IoBytes { read_bytes: 11 * n, ..IoBytes::default() }),
        }
    }

    #[test]
    fn differences_and_sums_undo_each_other() {
        let mut sum = resources(3);
        sum += resources(4);
        assert_eq!(sum, resources(7));
        assert_eq!(sum - resources(4), resources(3));
    }

    #[test]
    fn what_is_unknown_once_stays_unknown() {
        let mut sum = ResourceUsage::none_yet();
        sum += ResourceUsage { io: None, ..resources(1) };
        sum += resources(2);
        assert_eq!((sum.io, sum.io_delay, sum.run_delay), (None, None, Some(Nanos(9))));
    }

    #[test]
    fn json_speaks_of_microseconds_and_of_null() {
        let json = serde_json::to_value(resources(1500)).expect("plain data");
        assert_eq!(json["cpu_us"], 1.5);
        assert_eq!(json["user_ticks_us"], 3.0);
        assert!(json["io_delay_us"].is_null());
        let back: ResourceUsage = serde_json::from_value(json).expect("what was written");
        assert_eq!(back, resources(1500));
    }
}
