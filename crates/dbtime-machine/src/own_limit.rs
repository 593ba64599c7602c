//! For how long CPU limits of control groups have held this process back.

use dbtime_model::Nanos;
use std::fs;
use std::path::{Path, PathBuf};

/// Where control groups are mounted (cgroups(7)); those of version 1 in folders of their
/// controllers.
const MOUNT: &str = "/sys/fs/cgroup";

/// The time so far for which the process's own control group, or one above it, had used up its
/// share of a CPU, over all CPUs: of the one that was held back longest. `None`: none counts it.
///
/// Source: `cpu.stat` (kernel: Documentation/admin-guide/cgroup-v2.rst and
/// Documentation/scheduler/sched-bwc.rst).
pub(crate) fn throttled() -> Option<Nanos> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().filter_map(group).filter_map(|(mount, own)| throttled_above(&mount, own)).max()
}

/// Where the group of a line is mounted, and its path there, if the CPU is shared out by it.
fn group(line: &str) -> Option<(PathBuf, &str)> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let mount = match controllers {
        "" => PathBuf::from(MOUNT),
        _ if controllers.split(',').any(|name| name == "cpu") => Path::new(MOUNT).join("cpu"),
        _ => return None,
    };
    Some((mount, path.strip_prefix('/')?))
}

/// The longest of a group and those above it.
fn throttled_above(mount: &Path, own: &str) -> Option<Nanos> {
    let stat = |group: &Path| {
        let text = fs::read_to_string(mount.join(group).join("cpu.stat")).ok()?;
        throttled_in(&text)
    };
    Path::new(own).ancestors().filter_map(stat).max()
}

/// What a `cpu.stat` says of it: version 2 has microseconds, version 1 nanoseconds.
fn throttled_in(stat: &str) -> Option<Nanos> {
    let figure = |name: &str| -> Option<u64> {
        stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    let us = figure("throttled_usec ").map(|us| Nanos(us.saturating_mul(1_000)));
    us.or_else(|| figure("throttled_time ").map(Nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_account_is_read() {
        let stat = "usage_usec 5\nnr_throttled 3\nthrottled_usec 1234\n";
        assert_eq!(throttled_in(stat), Some(Nanos(1_234_000)));
        assert_eq!(throttled_in("nr_periods 9\nthrottled_time 55\n"), Some(Nanos(55)));
        assert_eq!(throttled_in("usage_usec 5\n"), None);
        assert_eq!(throttled_in("throttled_usec -1\n"), None);
    }

    #[test]
    fn groups_that_share_out_the_cpu_are_those_of_version_2_and_of_its_controller() {
        let at = |folder: &str| PathBuf::from(MOUNT).join(folder);
        assert_eq!(group("0::/user.slice/a"), Some((PathBuf::from(MOUNT), "user.slice/a")));
        assert_eq!(group("4:cpu,cpuacct:/"), Some((at("cpu"), "")));
        assert_eq!(group("5:cpuset:/a"), None);
    }
}
