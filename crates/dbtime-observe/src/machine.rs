//! The machine's CPU and memory, and this process's share, from `/proc`.

use dbtime_model::record::Environment;
use dbtime_model::{MonoNanos, Nanos, clock, now};
use procfs::{Current, CurrentSI};

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
}

impl MachineSample {
    /// The counters now. What `/proc` does not tell stays zero.
    pub fn take() -> Self {
        let hertz = procfs::ticks_per_second() as f64;
        let mut sample = Self { at: now(), process: clock::process_cpu(), ..Self::default() };
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
        MachineUse {
            wall_s,
            process_s,
            usr_pct: pct(process_s * user_share),
            sys_pct: pct(process_s * (1.0 - user_share)),
            foreign_pct: pct((self.busy_s - earlier.busy_s - process_s).max(0.0)),
            steal_pct: pct((self.steal_s - earlier.steal_s).max(0.0)) / f64::from(machine_cpus()),
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
}

/// Local TCP ports: how many there are, and how many closed connections still hold one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Ports the kernel gives to connections (`net.ipv4.ip_local_port_range`).
    pub all: u64,
    /// Closed connections in TIME_WAIT, machine-wide (`/proc/net/sockstat`).
    pub time_wait: u64,
    /// Whether their ports are used again before the minute is over (`net.ipv4.tcp_tw_reuse`).
    pub reuse: PortReuse,
}

/// Which ports in TIME_WAIT are used again after a second (kernel, `ip-sysctl.rst`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortReuse {
    /// None.
    #[default]
    Never,
    /// Those of connections within this machine.
    Loopback,
    /// All.
    Always,
}

impl PortReuse {
    /// Whether it holds for connections within this machine, or to another one.
    pub fn holds_for(self, is_local: bool) -> bool {
        self == Self::Always || self == Self::Loopback && is_local
    }
}

/// The ports of this machine now; zero where the kernel does not tell.
pub fn ports() -> Ports {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let range = read("/proc/sys/net/ipv4/ip_local_port_range");
    let mut ends = range.split_whitespace().map_while(|text| text.parse::<u64>().ok());
    let all = ends.next().zip(ends.next()).map_or(0, |(low, high)| (high + 1).saturating_sub(low));
    let sockets = read("/proc/net/sockstat");
    let tcp = sockets.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let mut words = tcp.split_whitespace().skip_while(|word| *word != "tw").skip(1);
    let time_wait = words.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let reuse = match read("/proc/sys/net/ipv4/tcp_tw_reuse").trim() {
        "1" => PortReuse::Always,
        "2" => PortReuse::Loopback,
        _ => PortReuse::Never,
    };
    Ports { all, time_wait, reuse }
}

/// CPUs of the machine, whether this process may use them or not.
pub fn machine_cpus() -> u32 {
    let count = procfs::KernelStats::current().map_or(0, |stat| stat.cpu_time.len());
    u32::try_from(count).unwrap_or(0).max(1)
}

/// CPUs this process may run on.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Largest resident size of this process so far, in bytes; zero when unknown.
pub fn rss_peak_bytes() -> u64 {
    let status = procfs::process::Process::myself().and_then(|p| p.status());
    status.ok().and_then(|s| s.vmhwm).unwrap_or(0) * 1024
}

/// The machine's description; the figures of a run stay zero.
pub fn describe() -> Environment {
    let name = rustix::system::uname();
    let cpu_model =
        procfs::CpuInfo::current().ok().and_then(|info| info.model_name(0).map(str::to_owned));
    Environment {
        kernel: name.release().to_string_lossy().into_owned(),
        host: name.nodename().to_string_lossy().into_owned(),
        cpus: cpus(),
        cpu_model: cpu_model.unwrap_or_else(|| "unknown".to_owned()),
        memory_bytes: procfs::Meminfo::current().map_or(0, |m| m.mem_total),
        ..Environment::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_machine_is_described() {
        let machine = describe();
        assert!(machine.cpus > 0 && !machine.kernel.is_empty() && machine.memory_bytes > 0);
        assert!(rss_peak_bytes() > 0);
        let ports = ports();
        assert!((1..=65_536).contains(&ports.all), "{ports:?}");
    }
}
