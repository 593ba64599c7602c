//! How many CPUs there are.

use procfs::CurrentSI;

/// CPUs of the machine, whether this process may use them or not.
pub fn machine_cpus() -> u32 {
    let count = procfs::KernelStats::current().map_or(0, |stat| stat.cpu_time.len());
    u32::try_from(count).unwrap_or(0).max(1)
}

/// CPUs this process may run on.
pub fn usable_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    #[test]
    fn a_thread_that_is_kept_to_one_cpu_can_use_one() {
        let of_one = std::thread::spawn(|| {
            let usual = sched_getaffinity(None).expect("its CPUs");
            let first = (0..CpuSet::MAX_CPU).find(|cpu| usual.is_set(*cpu)).expect("it has one");
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).expect("it is its own");
            (usable_cpus(), machine_cpus())
        });
        assert_eq!(of_one.join().expect("no panic"), (1, machine_cpus()));
    }
}
