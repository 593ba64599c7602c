//! Times in which the target gave no service, and a target that gave hardly any.

use super::warning;
use dbtime_model::record::{RunRecord, Warning, WarningKind};

/// A span that ends so shortly before the load lasts to its end, in seconds.
const END_S: f64 = 0.01;

/// Whoever waits for a target that stands still waits for nothing that a lower rate would mend.
pub(super) fn stall(record: &RunRecord) -> Option<Warning> {
    let (count, longest, total) = without_service(record)?;
    warning(
        WarningKind::Stall,
        format!(
            "nothing was completed for {longest:.2} s of the window{}",
            match count {
                1 => String::new(),
                _ => format!(" at the longest, {count} times, {total:.2} s in all"),
            }
        ),
        "the target stood still or was not to be reached: look at its log and at what else it did \
         then (checkpoint, backup, lock, restart)",
    )
}

/// How often the target gave no service in the window, for how long at the longest, and in all, in
/// seconds. A stall that meets an outage is one time with it.
pub(super) fn without_service(record: &RunRecord) -> Option<(usize, f64, f64)> {
    let (start_s, end_s) = window(record);
    let outages = record.connections.iter().flat_map(|info| &info.outages);
    let outages = outages.map(|o| (o.from_s, o.until_s.unwrap_or(end_s)));
    let stalls = record.stalls.iter().map(|stall| (stall.from_s, stall.until_s));
    let within = stalls.chain(outages).map(|(from, until)| (from.max(start_s), until.min(end_s)));
    let mut times: Vec<(f64, f64)> = within.filter(|(from, until)| from < until).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times.dedup_by(|next, time| {
        let meets = next.0 <= time.1;
        if meets {
            time.1 = time.1.max(next.1);
        }
        meets
    });
    let lengths: Vec<f64> = times.iter().map(|(from, until)| until - from).collect();
    let longest = lengths.iter().copied().reduce(f64::max)?;
    Some((lengths.len(), longest, lengths.iter().sum()))
}

/// From when until when the window lasts, in seconds since the start of the load.
fn window(record: &RunRecord) -> (f64, f64) {
    let start_s = record.window.warmup_s;
    (start_s, start_s + record.window.measure_s)
}

/// Connections that could not be made, and a target that did not come back: most of what was asked
/// did not happen.
pub(super) fn unserved(record: &RunRecord) -> Option<Warning> {
    let load_end_s = window(record).1 + record.window.rundown_s;
    let info = record.connections.as_ref();
    let outage = info.and_then(|info| info.outages.iter().find(|outage| outage.until_s.is_none()));
    let stall = record.stalls.iter().find(|stall| stall.until_s >= load_end_s - END_S);
    let stall = stall.filter(|_| record.counts.unfinished > 0);
    if let Some(from_s) = outage.map(|o| o.from_s).or(stall.map(|stall| stall.from_s)) {
        return warning(
            WarningKind::MostlyFailed,
            format!("the target was lost {from_s:.2} s after the start and did not come back"),
            "see its log; figures cover what was measured until then",
        );
    }
    let (info, expected) = (info?, record.load.workers.unwrap_or(record.load.connections).into());
    (info.made < u64::div_ceil(expected, 2)).then(|| Warning {
        kind: WarningKind::MostlyFailed,
        text: format!("only {} of {expected} connections could be made", info.made),
        remedy: "let the server admit more, or use fewer connections".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{ConnectionsInfo, LoadMode, OutageInfo, SpanInfo};

    /// A window from 1 s to 11 s, and a rundown of 5 s.
    fn stalled(from_s: f64, until_s: f64) -> RunRecord {
        let mut record = RunRecord::default();
        record.counts.offered = 5000;
        record.counts.completed = 3000;
        record.counts.unfinished = 2000;
        record.load.mode = LoadMode::Open;
        record.load.rate_tps = Some(500.0);
        record.throughput_tps = 300.0;
        let window = &mut record.window;
        (window.warmup_s, window.measure_s, window.rundown_s) = (1.0, 10.0, 5.0);
        record.stalls = vec![SpanInfo { from_s, until_s }];
        record
    }

    #[test]
    fn a_target_that_stood_still_is_not_told_to_get_less() {
        let warnings = super::super::judge(&stalled(3.0, 7.0)).warnings;
        let kinds: Vec<_> = warnings.iter().map(|w| w.kind).collect();
        assert_eq!(kinds, [WarningKind::Stall, WarningKind::RateMissed]);
        assert!(warnings[0].text.contains("4.00 s"), "{}", warnings[0].text);
        assert!(!warnings[1].remedy.contains("lower"), "{}", warnings[1].remedy);
    }

    #[test]
    fn nobody_stands_still_for_longer_than_the_window() {
        let of = |from_s, until_s| without_service(&stalled(from_s, until_s));
        assert_eq!(of(0.0, 16.0), Some((1, 10.0, 10.0)));
        assert_eq!(of(9.0, 16.0), Some((1, 2.0, 2.0)));
        assert_eq!(of(11.5, 16.0), None, "in the rundown");
    }

    #[test]
    fn a_stall_that_meets_an_outage_is_counted_once() {
        let with = |from_s, until_s, outages: &[(f64, Option<f64>)]| {
            let mut record = stalled(from_s, until_s);
            let outages = outages.iter();
            let outages = outages.map(|&(from_s, until_s)| OutageInfo { from_s, until_s });
            let outages = outages.collect();
            record.connections = Some(ConnectionsInfo { outages, ..ConnectionsInfo::default() });
            without_service(&record)
        };
        assert_eq!(with(3.0, 5.0, &[(4.0, Some(7.0))]), Some((1, 4.0, 4.0)));
        assert_eq!(with(3.0, 7.0, &[(4.0, Some(5.0))]), Some((1, 4.0, 4.0)), "within it");
        assert_eq!(with(3.0, 5.0, &[(5.0, None)]), Some((1, 8.0, 8.0)), "up to the end");
        assert_eq!(with(3.0, 5.0, &[(6.0, Some(7.0))]), Some((2, 2.0, 3.0)));
    }

    #[test]
    fn a_target_is_lost_when_nothing_is_completed_to_the_end_of_the_load() {
        assert!(unserved(&stalled(9.0, 16.0)).expect("lost").text.contains("lost 9.00 s after"));
        let overloaded = unserved(&stalled(9.0, 12.0));
        assert_eq!(overloaded, None, "it went on in the rundown");
    }
}
