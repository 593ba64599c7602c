//! CPU quotas of control groups, which stop a process until its period is over.

use super::super::control_groups::{MOUNT, group_files};
use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_model::Nanos;
use dbtime_model::doctor::DoctorFinding;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "quota",
    "cpu.max, cpu.cfs_quota_us and cpu.stat of the control groups of dbtime",
    "no CPU quota, or one of all CPUs",
);

/// What a group may use of a period. Unit: microseconds.
struct CpuQuota<'a> {
    path: &'a str,
    quota_us: u64,
    period_us: u64,
}

impl CpuQuota<'_> {
    fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// What becomes of a group.
const BECAUSE: &str = "a group that has used up its quota stands still until its period is over, \
                       so that responses have steps of the period";

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let files = group_files(tree, "cpu", ["cpu.max", "cpu.cfs_quota_us"])?;
    let window = tree.window().ok();
    // One of as many CPUs as there are stops nothing.
    let is_short = |quota: &CpuQuota<'_>| {
        window.is_none_or(|window| quota.cpus() < f64::from(window.cpus.max(1)))
    };
    let quotas = files.iter().filter_map(|path| quota_in(tree, path)).filter(is_short);
    let tightest = quotas.min_by(|a, b| a.cpus().total_cmp(&b.cpus()));
    let held = window.and_then(|window| window.used.throttled);
    match (held.filter(|held| *held > Nanos::ZERO), tightest) {
        (Some(held), _) => Ok(FRAME.bad(
            "a quota held dbtime back while it did next to nothing",
            BECAUSE,
            format!("measured: {held} of a second. Raise the quota, or run outside of the group"),
        )),
        (None, Some(quota)) => Ok(limited(&quota)),
        (None, None) if files.is_empty() => Err("no control group shares out the CPU".to_owned()),
        (None, None) if !tree.has(MOUNT) => Err(format!("there is no /{MOUNT} here")),
        (None, None) => Ok(FRAME.good("none", "no group is stopped for its use of the CPU")),
    }
}

/// That a group has a quota, which has not held dbtime back yet.
fn limited(quota: &CpuQuota<'_>) -> DoctorFinding {
    let CpuQuota { path, quota_us, period_us } = quota;
    FRAME.note(
        format!("{:.2} CPUs: {quota_us} µs of {period_us} µs, by /{path}", quota.cpus()),
        BECAUSE,
        format!(
            "up to {period_us} µs a stop: Documentation/scheduler/sched-bwc.rst of the kernel; \
             `run` reports how long a quota held it back"
        ),
    )
}

/// The quota that a file holds, of version 1 with the period beside it; `None`: there is none, or
/// it cannot be read.
fn quota_in<'a>(tree: &MachineTree, path: &'a str) -> Option<CpuQuota<'a>> {
    let text = tree.text(path).ok()?;
    let mut words = text.split_whitespace();
    let quota_us: u64 = words.next()?.parse().ok()?;
    let period_us = match (words.next(), path.strip_suffix("cpu.cfs_quota_us")) {
        (Some(word), _) => word.parse().ok()?,
        (None, Some(folder)) => tree.number(&format!("{folder}cpu.cfs_period_us")).ok()?,
        (None, None) => return None,
    };
    (period_us > 0).then_some(CpuQuota { path, quota_us, period_us })
}
