//! For how long CPU limits of control groups have held this process back.

use dbtime_model::Nanos;
use std::fs;
use std::path::Path;

/// Where the one hierarchy of control groups is mounted (cgroups(7), version 2).
const MOUNT: &str = "/sys/fs/cgroup";

/// The time so far for which the process's own control group, or one above it, had used up its
/// share of a CPU, over all CPUs: of the one that was held back longest. `None`: none counts it.
///
/// Source: `throttled_usec` of `cpu.stat` (kernel: Documentation/admin-guide/cgroup-v2.rst).
pub(crate) fn throttled() -> Option<Nanos> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let stat = |group: &Path| {
        let text = fs::read_to_string(Path::new(MOUNT).join(group).join("cpu.stat")).ok()?;
        throttled_in(&text)
    };
    Path::new(own).ancestors().filter_map(stat).max()
}

/// What a `cpu.stat` says of it.
fn throttled_in(stat: &str) -> Option<Nanos> {
    let text = stat.lines().find_map(|line| line.strip_prefix("throttled_usec "))?;
    text.trim().parse().ok().map(Nanos::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_account_is_read() {
        let stat = "usage_usec 5\nnr_throttled 3\nthrottled_usec 1234\n";
        assert_eq!(throttled_in(stat), Some(Nanos::from_micros(1234)));
        assert_eq!(throttled_in("usage_usec 5\n"), None);
        assert_eq!(throttled_in("throttled_usec -1\n"), None);
    }
}
