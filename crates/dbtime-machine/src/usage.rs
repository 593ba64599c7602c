//! CPU time of the machine and this process's share, from `/proc`.

use crate::clock::{self, now};
use crate::cpus::machine_cpus;
use crate::own_limit;
use dbtime_model::{MonoNanos, Nanos};
use procfs::CurrentSI;

/// CPU counters of machine and process at one instant. Differences of two are what matters.
///
/// Machine counters tick 100 times a second (proc(5), USER_HZ): over one second on two CPUs they
/// are good to one percent. The process total comes from its CPU clock, good to nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineSample {
    /// When it was taken.
    pub at: MonoNanos,
    /// CPU time of all CPUs in user and system work of any process, in seconds.
    pub busy_s: f64,
    /// CPU time the hypervisor took away, in seconds.
    pub steal_s: f64,
    /// Tasks running or waiting for a CPU, machine-wide.
    pub running: u32,
    /// CPU time of this process.
    pub process: Nanos,
    /// Its user share, in seconds.
    pub user_s: f64,
    /// Its system share, in seconds.
    pub system_s: f64,
    /// How long CPU limits had held it back, over all CPUs; `None`: nothing counts that.
    pub throttled: Option<Nanos>,
}

impl MachineSample {
    /// The counters now. What `/proc` does not have stays zero.
    pub fn take() -> Self {
        let hertz = procfs::ticks_per_second() as f64;
        let mut sample = Self {
            at: now(),
            process: clock::process_cpu(),
            throttled: own_limit::throttled(),
            ..Self::default()
        };
        if let Ok(stat) = procfs::KernelStats::current() {
            let t = &stat.total;
            let busy = t.user + t.nice + t.system + t.irq.unwrap_or(0) + t.softirq.unwrap_or(0);
            sample.busy_s = busy as f64 / hertz;
            sample.steal_s = t.steal.unwrap_or(0) as f64 / hertz;
            // The reader itself is running.
            sample.running = stat.procs_running.unwrap_or(1).saturating_sub(1);
        }
        if let Ok(stat) = procfs::process::Process::myself().and_then(|p| p.stat()) {
            sample.user_s = stat.utime as f64 / hertz;
            sample.system_s = stat.stime as f64 / hertz;
        }
        sample
    }

    /// What was used since an earlier sample.
    pub fn since(&self, earlier: &Self) -> MachineUse {
        let wall_s = (self.at - earlier.at).as_secs().max(1e-9);
        let process_s = (self.process - earlier.process).as_secs();
        let user = (self.user_s - earlier.user_s).max(0.0);
        let system = (self.system_s - earlier.system_s).max(0.0);
        // The split ticks, the total does not: the ticks only divide the exact total.
        let user_share = if user + system > 0.0 { user / (user + system) } else { 1.0 };
        let pct = |seconds: f64| 100.0 * seconds / wall_s;
        let throttled = self.throttled.zip(earlier.throttled).map(|(now, before)| now - before);
        MachineUse {
            wall_s,
            process_s,
            usr_pct: pct(process_s * user_share),
            sys_pct: pct(process_s * (1.0 - user_share)),
            foreign_pct: pct((self.busy_s - earlier.busy_s - process_s).max(0.0)),
            steal_pct: pct((self.steal_s - earlier.steal_s).max(0.0)) / f64::from(machine_cpus()),
            throttled,
        }
    }
}

/// What was used between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineUse {
    /// Time between them, in seconds.
    pub wall_s: f64,
    /// CPU of this process, in seconds.
    pub process_s: f64,
    /// Its user share, in percent of one CPU.
    pub usr_pct: f64,
    /// Its system share, in percent of one CPU.
    pub sys_pct: f64,
    /// CPU of all other processes, in percent of one CPU.
    pub foreign_pct: f64,
    /// CPU the hypervisor took away, in percent of all CPUs.
    pub steal_pct: f64,
    /// How long CPU limits held this process back, over all CPUs; `None`: nothing counts that.
    pub throttled: Option<Nanos>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_quota_held_back_is_known_where_both_samples_count_it() {
        let at = |ms: u64, throttled: Option<u64>| MachineSample {
            at: MonoNanos(ms * 1_000_000),
            throttled: throttled.map(Nanos::from_millis),
            ..MachineSample::default()
        };
        let of = |before, after| at(2_000, after).since(&at(1_000, before)).throttled;
        assert_eq!(of(Some(500), Some(750)), Some(Nanos::from_millis(250)));
        assert_eq!(of(None, Some(750)), None);
    }

    #[test]
    fn own_work_is_counted_as_own() {
        let before = MachineSample::take();
        let begun = clock::process_cpu();
        let mut x = 1u64;
        while clock::process_cpu() - begun < Nanos::from_millis(120) {
            x = std::hint::black_box(x.wrapping_mul(31));
        }
        let used = MachineSample::take().since(&before);
        assert!(used.process_s >= 0.12, "{used:?}");
        // Other tests of this process may burn CPU time beside this one.
        assert!(used.usr_pct + used.sys_pct > 0.0 && used.wall_s > 0.0, "{used:?}");
    }
}
