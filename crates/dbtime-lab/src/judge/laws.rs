//! Laws that hold for any system whatever it does: figures that break them contradict each other.

use super::warning;
use dbtime_model::record::{LoadMode, RunRecord, Warning, WarningKind};
use dbtime_model::units::{count, human_ns};

/// The largest share of the clients' time that may be in no response.
const MAX_LITTLE_GAP: f64 = 0.05;

/// From here on the latencies are not those of the workload.
pub(super) const MAX_LITTLE_GAP_VALID: f64 = 0.20;

/// How far CPU times by the kernel's clock ticks may go past what there is.
const CPU_SLACK: f64 = 1.02;

/// How many clients of a closed loop were at work on average, and which share of them all was in no
/// response; `None` where the law says nothing.
pub(super) fn little_gap(record: &RunRecord) -> Option<(f64, f64)> {
    let window_s = record.window.measure_s;
    let is_counted = (record.spec.as_ref()).is_some_and(|spec| spec.window.transactions.is_some());
    let is_lost = record.connections.as_ref().is_some_and(|made| made.lost + made.failed > 0);
    if record.load.mode != LoadMode::Closed || is_counted || is_lost || window_s <= 0.0 {
        return None;
    }
    let others = (record.counts.failed as f64 + record.counts.outstanding as f64) / window_s;
    let ended = record.throughput_tps + others;
    let cycle_us = record.latency_us.response.mean + record.load.think_us.unwrap_or(0.0);
    let at_work = ended * cycle_us / 1e6;
    Some((at_work, 1.0 - at_work / f64::from(record.load.connections)))
}

/// Little's law (Little, A proof for the queuing formula L = λW, 1961): in a closed loop the
/// throughput times response and think time is the number of clients. A response that began before
/// the window is in no latency, though its client was at work: where responses take seconds, those
/// left are too short.
pub(super) fn little(record: &RunRecord) -> Option<Warning> {
    let (at_work, gap) = little_gap(record)?;
    if gap <= MAX_LITTLE_GAP {
        return None;
    }
    // The threads of an embedded engine are the driver's own: their wait for a CPU is between two.
    let kind = match gap > MAX_LITTLE_GAP_VALID && record.connections.is_some() {
        true => WarningKind::LittleWrong,
        false => WarningKind::Little,
    };
    let cycle = if record.load.think_us.is_some() { "response and think time" } else { "response" };
    let text = format!(
        "throughput times mean {cycle} is {at_work:.1} clients of {}: {:.0} % of their time is \
         in no response",
        count(u64::from(record.load.connections)),
        100.0 * gap
    );
    let remedy = match record.connections.is_some() {
        true => format!(
            "what began before the window is in no latency: run for many times the longest response, \
             {}",
            human_ns(record.latency_us.response.max * 1e3)
        ),
        false => "the driver's threads waited for a CPU between two transactions: use fewer \
                  clients than CPUs"
            .to_owned(),
    };
    warning(kind, text, &remedy)
}

/// The utilisation law: throughput times the CPU of a transaction is the CPU that was used, no more
/// than there is.
pub(super) fn utilisation(record: &RunRecord) -> Option<Warning> {
    let server = record.server.as_ref()?;
    let there = f64::from(server.cpus) * server.wall_s;
    if there <= 0.0 || server.cpu_s <= CPU_SLACK * there {
        return None;
    }
    warning(
        WarningKind::Counts,
        format!(
            "the server used {:.2} s of CPU in {:.2} s on {} CPUs",
            server.cpu_s, server.wall_s, server.cpus
        ),
        "this is a bug in dbtime: please report it with the record",
    )
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{kinds, quiet};
    use super::*;
    use dbtime_model::record::{ConnectionsInfo, ServerInfo};

    /// 10 clients, 500 transactions a second of 20 ms each.
    fn closed() -> RunRecord {
        let mut record = quiet();
        record.load.mode = LoadMode::Closed;
        record.load.connections = 10;
        record.latency_us.response.mean = 20_000.0;
        record
    }

    #[test]
    fn clients_of_which_the_time_is_known_are_fine() {
        assert_eq!(kinds(&closed()), []);
        let mut record = closed();
        record.latency_us.response.mean = 15_000.0;
        record.load.think_us = Some(5_000.0);
        assert_eq!(kinds(&record), []);
    }

    #[test]
    fn responses_that_the_window_cuts_off_are_named_and_make_a_run_doubtful() {
        let mut record = closed();
        record.latency_us.response.mean = 18_000.0;
        assert_eq!(kinds(&record), [WarningKind::Little]);
        assert!(judge(&record).valid);
        record.latency_us.response.mean = 14_000.0;
        assert!(judge(&record).valid, "threads of an embedded engine");
        record.connections = Some(ConnectionsInfo { made: 100, ..ConnectionsInfo::default() });
        let judged = judge(&record);
        assert!(!judged.valid);
        let text = &judged.warnings[0].text;
        assert!(text.starts_with("throughput times mean response is 7.0 clients of 10"), "{text}");
        let lost = ConnectionsInfo { made: 100, lost: 1, ..ConnectionsInfo::default() };
        record.connections = Some(lost);
        assert_eq!(kinds(&record), [], "clients without a connection are in no response");
    }

    #[test]
    fn more_cpu_than_there_is_is_a_bug() {
        let mut record = closed();
        let server = ServerInfo { cpus: 2, wall_s: 10.0, cpu_s: 20.1, ..ServerInfo::default() };
        record.server = Some(server.clone());
        assert_eq!(kinds(&record), []);
        record.server = Some(ServerInfo { cpu_s: 25.0, ..server });
        assert_eq!(kinds(&record), [WarningKind::Counts]);
    }
}
