//! What went on beside a run: what others had of the machine's CPU, and how much longer responses
//! can be for it at most. What the driver's own standstills can have added has a file of its own.

use super::{busy, warning};
use dbtime_machine::cpus::machine_cpus;
use dbtime_model::record::{RunRecord, Warning, WarningKind};

/// Foreign CPU and steal above which a repeat elsewhere or later would differ: whoever wants a CPU
/// finds it taken with that probability.
pub(super) const MAX_FOREIGN_PCT: f64 = 3.0;

/// The share of the window from which on a CPU quota has changed figures.
pub(super) const MAX_THROTTLED_PCT: f64 = 1.0;

pub(super) fn foreign(record: &RunRecord) -> Option<Warning> {
    let pct = record.environment.foreign_cpu_pct;
    if pct <= MAX_FOREIGN_PCT {
        return None;
    }
    warning(
        WarningKind::ForeignCpu,
        format!("other processes used {pct:.0} % of the machine's CPU during the window"),
        "stop them, or repeat the run when the machine is quiet",
    )
}

pub(super) fn steal(record: &RunRecord) -> Option<Warning> {
    let pct = record.environment.steal_pct;
    if pct <= MAX_FOREIGN_PCT {
        return None;
    }
    warning(
        WarningKind::Steal,
        format!("the hypervisor took {pct:.0} % of the machine's CPU away during the window"),
        "repeat the run on a host with fewer neighbours",
    )
}

/// The share of the window in which the driver's CPU quota was used up: at most that, for CPUs are
/// counted side by side. `None`: nothing counts that.
pub(super) fn throttled_pct(record: &RunRecord) -> Option<f64> {
    let window_s = record.window.measure_s.max(1e-9);
    record.client.throttled_s.map(|held_s| (100.0 * held_s / window_s).min(100.0))
}

pub(super) fn throttled(record: &RunRecord) -> Option<Warning> {
    let pct = throttled_pct(record).filter(|pct| *pct > MAX_THROTTLED_PCT)?;
    warning(
        WarningKind::Throttled,
        format!("a CPU quota held the driver's control group back for {pct:.0} % of the window"),
        "raise the quota (CPUQuota of systemd, --cpus of a container, cpu.max), or run outside of it",
    )
}

/// What the machine did beside a run can have added to its figures at most. What it added to the
/// driver's lateness is known of each transaction, and not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NoiseBound {
    /// To all responses together, in seconds.
    pub(crate) response_s: f64,
    /// To the time that clients were not at work for, together with that, in seconds.
    pub(crate) idle_s: f64,
    /// What is left of a response without it at least, of the fastest one: whoever shares a CPU
    /// gets the rest of it on average, and the luckiest got no less. From 0 to 1.
    pub(crate) least_left: f64,
}

/// A machine of which others have nearly all leaves this to everybody.
const LEAST_LEFT: f64 = 0.05;

/// The bound on a run that is noisy; one that is not has no seconds of it but those in which its
/// driver stood still.
pub(crate) fn noise_bound(record: &RunRecord) -> NoiseBound {
    let window_s = record.window.measure_s;
    let machine = &record.environment;
    let of_window = |pct: f64| pct / 100.0 * window_s;
    // While one waits for a CPU, all that are under way may wait for it.
    let at_once = f64::from(record.load.workers.unwrap_or(record.load.connections)).max(1.0);
    let cpus = f64::from(machine_cpus());
    let others_s = foreign(record).map(|_| {
        let used_s = cpus * of_window(machine.foreign_cpu_pct);
        cpu_waits_s(record).map_or(used_s, |waited_s| used_s.min(waited_s))
    });
    let stolen_s = steal(record).map(|_| cpus * of_window(machine.steal_pct));
    let held_s = throttled(record).and(throttled_pct(record)).map(of_window);
    let waits_s: f64 = [others_s, stolen_s, held_s].into_iter().flatten().sum();
    let stood_still_s = record.standstill_share() * window_s;
    let response_s = at_once * waits_s;
    let quota_pct = throttled_pct(record).unwrap_or_default();
    let taken_pct = machine.foreign_cpu_pct + machine.steal_pct + quota_pct;
    let least_left = (1.0 - taken_pct / 100.0).max(LEAST_LEFT);
    // What a driver that had no CPU left would have asked for is not known.
    let idle_s = match busy(record) {
        Some(_) => f64::INFINITY,
        None => response_s + at_once * stood_still_s,
    };
    NoiseBound { response_s, idle_s, least_left }
}

/// How long what is measured waited for a CPU, threads side by side; `None` where nobody knows.
/// Waits of a driver that only sends and receives are its lateness.
fn cpu_waits_s(record: &RunRecord) -> Option<f64> {
    match (&record.server, &record.connections) {
        (Some(server), _) => server.run_delay_s,
        // A server that is not seen, perhaps on this machine.
        (None, Some(_)) => None,
        (None, None) if record.load.shards.is_some() => Some(0.0),
        (None, None) => record.client.threads_runq_s,
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::quiet;
    use super::*;
    use dbtime_model::record::{ConnectionsInfo, LoadMode, ServerInfo, SpanInfo, ValidityGrade};

    /// A window of 10 s over four connections.
    fn beside(foreign_cpu_pct: f64) -> RunRecord {
        let mut record = quiet();
        record.load.connections = 4;
        record.environment.foreign_cpu_pct = foreign_cpu_pct;
        record
    }

    #[test]
    fn a_quota_held_back_for_a_share_of_the_window() {
        let mut record = beside(0.0);
        assert_eq!(throttled_pct(&record), None);
        for (windows, pct) in [(0.25, 25.0), (3.0, 100.0)] {
            record.client.throttled_s = Some(windows * record.window.measure_s);
            assert_eq!(throttled_pct(&record), Some(pct), "CPUs side by side count too");
        }
    }

    #[test]
    fn what_others_took_makes_a_run_noisy() {
        assert_eq!(judge(&beside(2.9)).grade(), ValidityGrade::Sound);
        let noisy = judge(&beside(88.0));
        assert_eq!((noisy.grade(), noisy.valid), (ValidityGrade::Noisy, true));
        let reason = noisy.reasons[0];
        assert_eq!((reason.kind, reason.share_pct), (WarningKind::ForeignCpu, Some(88.0)));
        assert_eq!(reason.threshold_pct, Some(3.0));
        let mut record = beside(0.0);
        record.client.throttled_s = Some(0.4 * record.window.measure_s);
        assert_eq!(judge(&record).grade(), ValidityGrade::Noisy);
        record.client.throttled_s = Some(0.005 * record.window.measure_s);
        assert_eq!(judge(&record).grade(), ValidityGrade::Sound);
    }

    #[test]
    fn no_more_was_added_than_was_waited_for_a_cpu() {
        let quiet = NoiseBound { response_s: 0.0, idle_s: 0.0, least_left: 1.0 };
        assert_eq!(noise_bound(&beside(0.0)), quiet);
        assert!((noise_bound(&beside(60.0)).least_left - 0.4).abs() < 1e-9);
        assert_eq!(noise_bound(&beside(99.0)).least_left, 0.05);
        let mut record = beside(50.0);
        record.connections = Some(ConnectionsInfo::default());
        let used_s = f64::from(machine_cpus()) * 5.0;
        assert_eq!(noise_bound(&record).response_s, 4.0 * used_s, "of a server that is not seen");
        record.server = Some(ServerInfo { run_delay_s: Some(0.25), ..ServerInfo::default() });
        assert_eq!(noise_bound(&record).response_s, 1.0, "each wait may have held up all four");
        (record.server, record.connections) = (None, None);
        record.client.threads_runq_s = Some(0.5);
        assert_eq!(noise_bound(&record).response_s, 2.0, "an embedded engine");
        record.load.shards = Some(1);
        assert_eq!(noise_bound(&record).response_s, 0.0, "the driver's own lateness is known");
    }

    #[test]
    fn a_driver_that_did_not_ask_has_left_clients_without_work() {
        let mut record = beside(0.0);
        record.client.standstills = vec![SpanInfo { from_s: 1.0, until_s: 2.0 }];
        let bound = noise_bound(&record);
        assert_eq!(bound.response_s, 0.0);
        assert!((bound.idle_s - 4.0).abs() < 1e-9, "{bound:?}");
        record.load.mode = LoadMode::Closed;
        record.client.busy = 0.95;
        assert_eq!(noise_bound(&record).idle_s, f64::INFINITY);
    }
}
