//! How long a CPU quota has held this process back, from the control groups that it is in.
//!
//! Only groups of version 2 are read (kernel: Documentation/admin-guide/cgroup-v2.rst, `cpu.stat`).

use dbtime_model::Nanos;
use std::fs::read_to_string;
use std::path::Path;

/// Where control groups are.
const GROUPS: &str = "/sys/fs/cgroup";

/// For how long the quotas of this process's group and of those above it have held back what is in
/// them, CPUs side by side; `None` where no group counts that.
pub(crate) fn throttled() -> Option<Nanos> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    let own = own_group(&groups)?;
    let of = |group: &Path| {
        let folder = Path::new(GROUPS).join(group.strip_prefix("/").unwrap_or(group));
        throttled_in(&read_to_string(folder.join("cpu.stat")).ok()?)
    };
    Path::new(own).ancestors().filter_map(of).reduce(|sum, more| sum + more)
}

/// The group of version 2 in a `/proc/PID/cgroup`.
fn own_group(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| line.strip_prefix("0::"))
}

/// What a `cpu.stat` says, which counts nothing where there can be no quota.
fn throttled_in(stat: &str) -> Option<Nanos> {
    let us = stat.lines().find_map(|line| line.strip_prefix("throttled_usec "))?;
    us.trim().parse::<u64>().ok().map(|us| Nanos(us.saturating_mul(1_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_a_quota_held_back_is_read() {
        assert_eq!(own_group("4:cpu:/old\n0::/user.slice/a.scope\n"), Some("/user.slice/a.scope"));
        assert_eq!(own_group("4:cpu:/old\n"), None);
        let stat = "usage_usec 12\nnr_periods 7\nnr_throttled 2\nthrottled_usec 1500\n";
        assert_eq!(throttled_in(stat), Some(Nanos::from_micros(1500)));
        assert_eq!(throttled_in("usage_usec 12\n"), None);
    }
}
