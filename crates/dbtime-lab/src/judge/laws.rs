//! Laws that hold for any system whatever it does: figures that break them contradict each other.

use super::warning;
use dbtime_model::Nanos;
use dbtime_model::record::{LoadMode, RunRecord, Warning, WarningKind};
use dbtime_model::units::{count, counted, human_ns};

/// The largest share of the clients' time that may be in no response.
const MAX_LITTLE_GAP: f64 = 0.05;

/// From here on the latencies are not those of the workload.
pub(super) const MAX_LITTLE_GAP_VALID: f64 = 0.20;

/// Lengths of a window that differ by less are the same, in seconds.
const ROUNDING_S: f64 = 1e-6;

/// How far CPU times by the kernel's clock ticks may go past what there is.
const CPU_SLACK: f64 = 1.02;

/// How many clients of a closed loop of a given length were at work on average, and which share of
/// them all was in no response; `None` where the law says nothing.
pub(super) fn little_gap(record: &RunRecord) -> Option<(f64, f64)> {
    at_work(record).filter(|_| !is_counted(record))
}

/// The same of a run that a number of transactions ends: without a warm-up nothing began before the
/// window, so that whoever is in no response had nothing left to do. The threads of an embedded
/// engine may have waited for a CPU.
pub(super) fn idle_share(record: &RunRecord) -> Option<(f64, f64)> {
    let window = &record.window;
    let is_whole = window.warmup_s == 0.0 && window.outside == 0 && !window.ended_early;
    let info = record.connections.as_ref();
    let all_there = info.is_some_and(|info| info.never_made.unwrap_or(0) == 0);
    let is_known = is_whole && all_there && record.counts.unfinished == 0;
    at_work(record).filter(|_| is_known && is_counted(record))
}

/// Whether a number of transactions ended the window. One that ends before its time without a
/// signal had no more to do.
fn is_counted(record: &RunRecord) -> bool {
    let (window, spec) = (&record.window, record.known_spec().map(|spec| &spec.window));
    if spec.is_some_and(|spec| spec.transactions.is_some()) {
        return true;
    }
    // Records of before have it in their written form alone.
    let written_s = || spec.and_then(|spec| spec.time).map(Nanos::as_secs);
    match window.planned_s.or_else(written_s) {
        Some(planned_s) => !window.ended_early && window.measure_s < planned_s - ROUNDING_S,
        None => true,
    }
}

/// How many clients of a closed loop were at work on average, and which share of them all was in no
/// response.
fn at_work(record: &RunRecord) -> Option<(f64, f64)> {
    let window_s = record.window.measure_s;
    let is_lost = record.connections.as_ref().is_some_and(|made| made.lost + made.failed > 0);
    // Nor does the law know when a client has ended.
    let all_stay = !is_lost && record.client.quit == 0;
    if record.load.mode != LoadMode::Closed || !all_stay || window_s <= 0.0 {
        return None;
    }
    let counts = &record.counts;
    // What was held and failed is among what failed.
    let held = counts.held.saturating_sub(counts.held_failed);
    let others = [counts.failed, counts.outstanding, held].map(|n| n as f64);
    let others = others.iter().sum::<f64>() / window_s;
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
    let text = in_no_response(record, at_work, gap);
    let remedy = match record.connections.is_some() {
        true => format!(
            "transactions that began before the window are in no latency: run for many times the \
             longest response, {}",
            human_ns(record.latency_us.response.max * 1e3)
        ),
        false => "the driver's threads waited for a CPU between two transactions: use fewer \
                  clients than CPUs"
            .to_owned(),
    };
    warning(kind, text, &remedy)
}

fn in_no_response(record: &RunRecord, at_work: f64, gap: f64) -> String {
    let cycle = if record.load.think_us.is_some() { "response and think time" } else { "response" };
    format!(
        "throughput times mean {cycle} is {at_work:.1} clients of {}: {:.0} % of their time is \
         in no response",
        count(u64::from(record.load.connections)),
        100.0 * gap
    )
}

/// The throughput of a run that a number of transactions ends is over all of it, however few
/// clients were still at work.
pub(super) fn few_at_work(record: &RunRecord) -> Option<Warning> {
    let (at_work, gap) = idle_share(record).filter(|(_, gap)| *gap > MAX_LITTLE_GAP_VALID)?;
    warning(
        WarningKind::FewAtWork,
        format!(
            "{}, because they had no transaction left while others had; the throughput covers the \
             whole window",
            in_no_response(record, at_work, gap)
        ),
        "end the run by its time, not by a number of transactions, or see what the last of them \
         waited for (the longest response, a lock)",
    )
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
            "the server used {:.2} s of CPU in {:.2} s on {}",
            server.cpu_s,
            server.wall_s,
            counted(server.cpus.into(), "CPU")
        ),
        "this is a bug in dbtime: please report it with the record",
    )
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{kinds, quiet};
    use super::*;
    use dbtime_model::record::{ConnectionsInfo, ServerInfo, ValidityGrade};
    use dbtime_model::spec::RunSpec;

    /// 10 clients, 500 transactions a second of 20 ms each.
    fn closed() -> RunRecord {
        let mut record = quiet();
        record.load.mode = LoadMode::Closed;
        record.load.connections = 10;
        record.latency_us.response.mean = 20_000.0;
        record.window.planned_s = Some(10.0);
        record
    }

    #[test]
    fn clients_that_had_no_transaction_left_make_a_counted_run_noisy() {
        let mut record = closed();
        record.connections = Some(ConnectionsInfo { made: 10, ..ConnectionsInfo::default() });
        record.window.planned_s = None;
        assert_eq!(kinds(&record), [], "all had enough to do");
        record.latency_us.response.mean = 10_400.0;
        let validity = judge(&record);
        assert_eq!((validity.grade(), validity.valid), (ValidityGrade::Noisy, true));
        let (reason, text) = (validity.reasons[0], &validity.warnings[0].text);
        assert_eq!((reason.kind, validity.warnings.len()), (WarningKind::FewAtWork, 1));
        assert!((reason.share_pct.expect("a share") - 48.0).abs() < 1e-9, "{reason:?}");
        assert!(text.contains("5.2 clients of 10: 48 % of their time is in no response, because"));
        // Nobody knows how long those were under way that began before the window.
        record.window.outside = 3;
        assert_eq!(kinds(&record), []);
        record.window.outside = 0;
        record.connections = None;
        assert_eq!(kinds(&record), [], "threads of an embedded engine wait for a CPU");
    }

    #[test]
    fn a_window_that_its_last_transaction_closed_is_of_no_given_length() {
        let counted = |planned_s, ended_early| {
            let mut record = closed();
            (record.window.planned_s, record.window.ended_early) = (planned_s, ended_early);
            is_counted(&record)
        };
        assert!(counted(None, false), "of a program in the place of pgbench");
        assert!(counted(Some(60.0), false), "all were done before its time");
        assert!(!counted(Some(10.0), false));
        assert!(!counted(Some(60.0), true), "a signal came");
        let mut record = closed();
        record.window.planned_s = None;
        let mut spec = RunSpec::default();
        spec.window.time = Some(Nanos::from_secs(10));
        record.spec = Some(spec.clone().into());
        assert!(!is_counted(&record), "a record of before");
        spec.window.transactions = Some(300);
        record.spec = Some(spec.into());
        assert!(is_counted(&record));
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
    fn a_client_that_is_held_is_at_work_once_though_it_fails() {
        // Six of ten clients completed one transaction of 10 s each, and four were held.
        let mut record = closed();
        (record.throughput_tps, record.latency_us.response.mean) = (0.6, 10e6);
        for (failed, held_failed) in [(0, 0), (4, 4)] {
            record.counts.held = 4;
            (record.counts.failed, record.counts.held_failed) = (failed, held_failed);
            let (at_work, gap) = at_work(&record).expect("all stay");
            assert!((at_work - 10.0).abs() < 1e-9 && gap.abs() < 1e-9, "{at_work}, {gap}");
        }
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
        record.connections = Some(ConnectionsInfo { made: 100, ..ConnectionsInfo::default() });
        record.client.quit = 3;
        assert_eq!(kinds(&record), [], "nor are clients that ended with an error");
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
