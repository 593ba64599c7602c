//! Times in which the target gave no service, and a target that gave hardly any.

use super::warning;
use dbtime_model::record::{RunRecord, Warning, WarningKind};
use dbtime_model::units::{count, counted};

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
        "the target stood still or could not be reached: look at its log, and for other activity \
         of the target at that time (checkpoint, backup, lock, restart)",
    )
}

/// The shortest stall and the shortest outage, in seconds: what the window has less of is none.
const MIN_TIME_S: f64 = 0.1;

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
    let lengths = times.iter().map(|(from, until)| until - from);
    let lengths: Vec<f64> = lengths.filter(|length| *length >= MIN_TIME_S).collect();
    let longest = lengths.iter().copied().reduce(f64::max)?;
    Some((lengths.len(), longest, lengths.iter().sum()))
}

/// From when until when the window lasts, in seconds since the start of the load.
fn window(record: &RunRecord) -> (f64, f64) {
    let start_s = record.window.warmup_s;
    (start_s, start_s + record.window.measure_s)
}

/// Until when transactions of the window were served, likewise.
pub(super) fn load_end(record: &RunRecord) -> f64 {
    window(record).1 + record.window.rundown_s
}

/// The codes of a login that was not answered in its time, and of a statement whose connection was
/// given up for that.
const UNANSWERED_LOGIN: &str = "connect timeout";
const UNANSWERED_STATEMENT: &str = "timeout";

/// Connections that could not be made, and a target that served nobody to the end: most of what was
/// asked did not happen.
pub(super) fn unserved(record: &RunRecord) -> Option<Warning> {
    let load_end_s = load_end(record);
    let mut outages = record.connections.iter().flat_map(|info| &info.outages);
    if let Some(outage) = outages.find(|outage| outage.until_s.is_none()) {
        return out_of_reach(record, outage.from_s);
    }
    let stall = record.stalls.iter().find(|stall| stall.until_s >= load_end_s - END_S);
    if let Some(stall) = stall.filter(|_| record.counts.unfinished > 0) {
        return uncompleted(record, stall.from_s, load_end_s);
    }
    let (there, expected) = connections_there(record)?;
    (there < u64::div_ceil(expected, 2)).then(|| Warning {
        kind: WarningKind::MostlyFailed,
        text: format!("only {there} of {expected} connections could be made"),
        remedy: MORE_CONNECTIONS.to_owned(),
    })
}

/// Connections failed to the end of the load: they ended or were refused, or nobody was let in.
fn out_of_reach(record: &RunRecord, from_s: f64) -> Option<Warning> {
    let has = |code: &str| record.errors.contains_key(code);
    let gave_up = has(UNANSWERED_STATEMENT);
    let is_lost = !gave_up && record.connections.as_ref().is_some_and(|info| info.lost > 0);
    let others = record.errors.len() - usize::from(gave_up);
    if !is_lost && others == 1 && has(UNANSWERED_LOGIN) {
        return warning(
            WarningKind::MostlyFailed,
            format!("from {from_s:.2} s after the start to the end no login was answered in time"),
            "see what logins wait for (a full pooler, a busy server); a target's connect-timeout \
             limits their time",
        );
    }
    warning(
        WarningKind::MostlyFailed,
        format!("the target was lost {from_s:.2} s after the start and did not come back"),
        "see its log; the figures cover the time until then",
    )
}

/// The connections stood, and no transaction came to its end over them. Statements may have been
/// answered, one after the other, as in a script whose transaction has no end.
fn uncompleted(record: &RunRecord, from_s: f64, load_end_s: f64) -> Option<Warning> {
    warning(
        WarningKind::MostlyFailed,
        format!(
            "nothing was completed from {from_s:.2} s after the start to the end of the load, \
             within {:.2} s; unfinished: {}",
            load_end_s - from_s,
            count(record.counts.unfinished)
        ),
        "see what the transactions wait for: a lock, a full pooler, a server that stands still; \
         or run for longer than they take",
    )
}

/// Whoever waits through the whole window for one answer is in no figure but this.
pub(super) fn outstanding(record: &RunRecord) -> Option<Warning> {
    let outstanding = through_window(record);
    if outstanding == 0 {
        return None;
    }
    let when = match (record.counts.outstanding, outstanding - record.counts.outstanding) {
        (_, 0) => "before the window",
        (0, _) => "as the window began",
        _ => "before the window, or as it began,",
    };
    let kind = match outstanding_share(record) > MAX_OUTSTANDING_SHARE {
        true => WarningKind::OutstandingWrong,
        false => WarningKind::Outstanding,
    };
    warning(
        kind,
        format!(
            "{} sent {when} had no answer at its end: each of their clients finished nothing in \
             the window ({}: {})",
            counted(outstanding, "transaction"),
            if record.load.workers.is_some() { "workers" } else { "connections" },
            count(expected_connections(record))
        ),
        "see what they wait for (a lock, a pooler with fewer places than clients), or run for many \
         times as long as they take; the responses count only the observed part of them, and no \
         limit on responses or on errors is met",
    )
}

/// How many transactions were under way through the whole window, whether they were sent before it
/// or as it began. In a run that was ended before its time what began then may be as short as any.
fn through_window(record: &RunRecord) -> u64 {
    let (counts, window) = (&record.counts, &record.window);
    let is_short = window.ended_early && window.measure_s < LONG_S;
    let held = Some(counts.held).filter(|_| !is_short);
    counts.outstanding.saturating_add(held.unwrap_or(0))
}

/// What was sent in the first second of so long a window and not answered took nearly all of it.
const LONG_S: f64 = 20.0;

/// The largest share of the clients that may have finished nothing: as of those whose time is in no
/// response.
pub(super) const MAX_OUTSTANDING_SHARE: f64 = super::laws::MAX_LITTLE_GAP_VALID;

/// Which share of the connections, or workers, was busy with one transaction through the window.
pub(super) fn outstanding_share(record: &RunRecord) -> f64 {
    (through_window(record) as f64 / expected_connections(record).max(1) as f64).min(1.0)
}

/// A transaction that began within the window and never ended kept its client from the rest of it.
/// A schedule that was not carried, and a target that went silent, have warnings of their own.
pub(super) fn unfinished(record: &RunRecord) -> Option<Warning> {
    let unfinished = begun_unfinished(record);
    let is_elsewhere = super::rate_missed(record).is_some() || unserved(record).is_some();
    if unfinished == 0 || is_elsewhere || record.window.ended_early {
        return None;
    }
    warning(
        WarningKind::Unfinished,
        format!(
            "{} began within the window and had no answer when the load was ended, {:.2} s after \
             it",
            counted(unfinished, "transaction"),
            record.window.rundown_s
        ),
        "see what they wait for (a lock, a backend that stands still), or run for many times as \
         long as they take; the responses count only their age, later requests of their clients \
         are in no figure, and no limit is met that these could miss",
    )
}

/// How many transactions never ended that were not under way from the window's beginning.
fn begun_unfinished(record: &RunRecord) -> u64 {
    record.counts.unfinished.saturating_sub(record.counts.held_unfinished)
}

/// Which share of the clients had one of these at the end.
pub(super) fn unfinished_share(record: &RunRecord) -> f64 {
    (begun_unfinished(record) as f64 / clients(record).max(1) as f64).min(1.0)
}

/// With fewer connections than were asked for the load is another.
pub(super) fn few_connections(record: &RunRecord) -> Option<Warning> {
    let (there, expected) = connections_there(record)?;
    if there >= expected || there < u64::div_ceil(expected, 2) {
        return None;
    }
    warning(
        WarningKind::FewConnections,
        format!("{} of {expected} connections could not be made", expected - there),
        MORE_CONNECTIONS,
    )
}

const MORE_CONNECTIONS: &str = "let the server admit more, or use fewer connections";

/// The largest share of the connections that may be missing before most of what was asked did not
/// happen.
pub(super) const MAX_MISSING_SHARE: f64 = 0.5;

/// Which share of the connections that were asked for could not be made.
pub(super) fn missing_share(record: &RunRecord) -> f64 {
    let share = |(there, expected): (u64, u64)| {
        expected.saturating_sub(there) as f64 / expected.max(1) as f64
    };
    connections_there(record).map_or(0.0, share)
}

/// How many of the connections that were asked for could be made, or were never needed, and how
/// many they were; `None` without a server.
fn connections_there(record: &RunRecord) -> Option<(u64, u64)> {
    let (info, expected) = (record.connections.as_ref()?, expected_connections(record));
    // A record of before does not know it: where most are not there, as many as attempts failed.
    let is_short = info.made.saturating_mul(2) < expected;
    let failed = info.failed.min(expected.saturating_sub(info.made));
    let never_made = info.never_made.unwrap_or(if is_short { failed } else { 0 });
    Some((expected.saturating_sub(never_made), expected))
}

/// How many connections, or workers, the load was to have.
pub(super) fn expected_connections(record: &RunRecord) -> u64 {
    record.load.workers.unwrap_or(record.load.connections).into()
}

/// How many clients a closed loop has, where workers serve them too.
pub(super) fn clients(record: &RunRecord) -> u64 {
    u64::from(record.load.connections).max(expected_connections(record))
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::quiet;
    use super::*;
    use dbtime_model::record::{ConnectionsInfo, LoadMode, OutageInfo, SpanInfo, ValidityGrade};

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
        let warnings = judge(&stalled(3.0, 7.0)).warnings;
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
    fn a_target_that_completes_nothing_to_the_end_is_not_lost() {
        let found = unserved(&stalled(9.0, 16.0)).expect("nothing was completed");
        let text = found.text;
        assert!(text.starts_with("nothing was completed from 9.00 s after"), "{text}");
        assert!(text.ends_with("within 7.00 s; unfinished: 2,000"), "{text}");
        let overloaded = unserved(&stalled(9.0, 12.0));
        assert_eq!(overloaded, None, "it went on in the rundown");
    }

    #[test]
    fn a_target_is_lost_where_connections_end_or_are_refused() {
        let of = |lost, codes: &[&str]| {
            let mut record = stalled(9.0, 16.0);
            record.errors.extend(codes.iter().map(|code| ((*code).to_owned(), 7)));
            let outages = vec![OutageInfo { from_s: 9.0, until_s: None }];
            record.load.connections = 4;
            record.connections =
                Some(ConnectionsInfo { made: 4, lost, outages, ..ConnectionsInfo::default() });
            unserved(&record).expect("it has an outage").text
        };
        let (lost, silent) =
            ("the target was lost 9.00 s", "from 9.00 s after the start to the end");
        assert!(of(0, &["ECONNREFUSED"]).starts_with(lost));
        assert!(of(4, &[UNANSWERED_LOGIN]).starts_with(lost));
        assert!(of(0, &[UNANSWERED_LOGIN]).starts_with(silent));
        // It was dbtime that ended these connections.
        let slow = of(4, &[UNANSWERED_LOGIN, UNANSWERED_STATEMENT]);
        assert!(slow.starts_with(silent), "{slow}");
    }

    /// A run over ten connections, of which so many could not be made.
    fn lacking(never_made: u64, made: u64) -> RunRecord {
        let mut record = quiet();
        record.load.connections = 10;
        let (failed, never_made) = (never_made, Some(never_made));
        let info = ConnectionsInfo { made, failed, never_made, ..Default::default() };
        record.connections = Some(info);
        record
    }

    /// The same in a record of before, in which so many attempts failed.
    fn lacking_before(failed: u64, made: u64) -> RunRecord {
        let mut record = lacking(failed, made);
        record.connections.iter_mut().for_each(|info| info.never_made = None);
        record
    }

    #[test]
    fn a_run_that_lacks_connections_is_noisy_and_one_that_lacks_most_is_not_valid() {
        let found = |record: &RunRecord| {
            let validity = judge(record);
            let reason = validity.reasons.first();
            (validity.grade(), reason.map(|reason| (reason.kind, reason.share_pct)))
        };
        let of = |never_made, made| found(&lacking(never_made, made));
        let of_before = |failed, made| found(&lacking_before(failed, made));
        assert_eq!(of(0, 10), (ValidityGrade::Sound, None));
        let few = |pct| Some((WarningKind::FewConnections, Some(pct)));
        assert_eq!(of(1, 9), (ValidityGrade::Noisy, few(10.0)));
        assert_eq!(of(5, 40), (ValidityGrade::Noisy, few(50.0)), "the others were made again");
        let most = |pct| Some((WarningKind::MostlyFailed, Some(pct)));
        assert_eq!(of(7, 3), (ValidityGrade::Invalid, most(70.0)));
        assert_eq!(of_before(7, 3), (ValidityGrade::Invalid, most(70.0)), "most were refused");
        assert_eq!(of_before(3, 7), (ValidityGrade::Sound, None), "which were refused is unknown");
        for made in [0, 3, 7] {
            assert_eq!(of(0, made), (ValidityGrade::Sound, None), "no client needed the others");
            assert_eq!(of_before(0, made), (ValidityGrade::Sound, None));
        }
        let mut retried = lacking(0, 1);
        retried.connections.iter_mut().for_each(|info| info.failed = 9);
        assert_eq!(found(&retried), (ValidityGrade::Sound, None), "one took ten attempts");
    }

    #[test]
    fn what_is_outstanding_through_the_window_is_told_with_its_share() {
        let of = |outstanding, held| {
            let mut record = lacking(0, 10);
            (record.counts.outstanding, record.counts.held) = (outstanding, held);
            let validity = judge(&record);
            (validity.grade(), validity.reasons.first().map(|reason| reason.kind))
        };
        let noisy = (ValidityGrade::Noisy, Some(WarningKind::Outstanding));
        let invalid = (ValidityGrade::Invalid, Some(WarningKind::OutstandingWrong));
        assert_eq!(of(0, 0), (ValidityGrade::Sound, None));
        assert_eq!([of(2, 0), of(0, 2), of(1, 1)], [noisy; 3], "with and without a warm-up");
        assert_eq!([of(6, 0), of(0, 6), of(2, 1)], [invalid; 3]);
    }

    #[test]
    fn what_began_in_the_window_and_never_ended_is_told_once() {
        let mut record = lacking(0, 10);
        record.load.mode = LoadMode::Closed;
        record.load.rate_tps = None;
        record.latency_us.response.mean = 20_000.0;
        record.window.rundown_s = 5.0;
        (record.counts.completed, record.counts.unfinished) = (4999, 1);
        let validity = judge(&record);
        let reason = validity.reasons.first().map(|reason| (reason.kind, reason.share_pct));
        assert_eq!(reason, Some((WarningKind::Unfinished, Some(10.0))));
        assert_eq!((validity.grade(), validity.warnings.len()), (ValidityGrade::Noisy, 1));
        let text = &validity.warnings[0].text;
        assert!(text.starts_with("1 transaction began within the window and had no"), "{text}");
        record.counts.held = 1;
        assert_eq!(begun_unfinished(&record), 1, "what was held has ended behind the window");
        record.counts.held_unfinished = 1;
        let told = judge(&record).warnings;
        assert_eq!(told.iter().map(|one| one.kind).collect::<Vec<_>>(), [WarningKind::Outstanding]);
        (record.counts.held, record.counts.held_unfinished) = (0, 0);
        record.load.rate_tps = Some(500.0);
        let told = judge(&record).warnings;
        assert_eq!(told.iter().map(|one| one.kind).collect::<Vec<_>>(), [WarningKind::RateMissed]);
        record.load.rate_tps = None;
        record.window.ended_early = true;
        assert_eq!(unfinished(&record), None, "a signal ends what is under way");
    }

    #[test]
    fn what_a_signal_left_of_a_run_was_not_under_way_through_all_of_it() {
        let of = |measure_s| {
            let mut record = lacking(0, 10);
            record.counts.held = 10;
            (record.window.ended_early, record.window.measure_s) = (true, measure_s);
            through_window(&record)
        };
        assert_eq!([of(0.5), of(19.0), of(21.0)], [0, 0, 10]);
    }

    #[test]
    fn a_moment_at_the_edge_of_the_window_is_no_stall() {
        let of = |from_s, until_s| without_service(&stalled(from_s, until_s));
        assert_eq!([of(0.0, 1.01), of(10.99, 16.0)], [None; 2]);
        let mut record = stalled(0.0, 0.5);
        let outages = vec![OutageInfo { from_s: 0.5, until_s: Some(1.05) }];
        record.connections = Some(ConnectionsInfo { outages, ..ConnectionsInfo::default() });
        assert_eq!(without_service(&record), None);
    }
}
