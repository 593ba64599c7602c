//! What machine this is, and what memory this process takes.

use crate::cpus::usable_cpus;
use dbtime_model::record::MachineEnvironment;
use procfs::Current;

/// Largest resident size of this process so far, in bytes; zero when unknown.
pub fn rss_peak_bytes() -> u64 {
    let status = procfs::process::Process::myself().and_then(|p| p.status());
    status.ok().and_then(|s| s.vmhwm).unwrap_or(0) * 1024
}

/// Kernel, host, CPUs and memory; the figures of a run stay zero.
pub fn environment() -> MachineEnvironment {
    let name = rustix::system::uname();
    let cpu_model =
        procfs::CpuInfo::current().ok().and_then(|info| info.model_name(0).map(str::to_owned));
    MachineEnvironment {
        kernel: name.release().to_string_lossy().into_owned(),
        host: name.nodename().to_string_lossy().into_owned(),
        cpus: usable_cpus(),
        cpu_model: cpu_model.unwrap_or_else(|| "unknown".to_owned()),
        memory_bytes: procfs::Meminfo::current().map_or(0, |m| m.mem_total),
        ..MachineEnvironment::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_known() {
        let machine = environment();
        assert!(machine.cpus > 0 && !machine.kernel.is_empty() && machine.memory_bytes > 0);
        assert!(rss_peak_bytes() > 0);
    }
}
