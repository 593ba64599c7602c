//! The most that standstills of the driver can have added to the responses of a run.
//!
//! Of each transaction that was due while it stood still the wait for it is known, as its lag. Not
//! known is when the answers came to those under way, and how much sooner those behind would have
//! had their connection. None is later by more than the driver stood still, and none at all once
//! the backlog is over: so many are held up at most, each by so much.
//!
//! ```text
//!   under way ──┐    due meanwhile    due behind    first second that ends without a backlog
//!   ────────────┴─ stands still ────┬────────────────────────┤
//! ```

use super::service::{clients, expected_connections, load_end};
use dbtime_model::Nanos;
use dbtime_model::record::{LoadMode, RunRecord, SeriesRow, SpanInfo};
use dbtime_model::units::count_sum;

/// The most that standstills can have added to responses, beside the lag of each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StandstillBound {
    /// How many transactions they have held up.
    pub(crate) transactions: u64,
    /// By how much each of them.
    pub(crate) each: Nanos,
}

/// The bound on a run with these seconds; of one whose driver never stood still it is zero.
pub(crate) fn standstill_bound(record: &RunRecord, series: &[SeriesRow]) -> StandstillBound {
    let backlog = ScheduleBacklog::of(record, series);
    let mut bound = StandstillBound::default();
    for span in &record.client.standstills {
        let held_up = match record.load.mode {
            LoadMode::Open => backlog.held_up(span, record),
            _ => held_up_in_closed_loop(span, record),
        };
        if let Some(transactions) = held_up {
            bound.transactions = bound.transactions.saturating_add(transactions);
            bound.each += Nanos::from_secs_f64(span.until_s - span.from_s);
        }
    }
    bound
}

/// Two transactions of each client: the one under way, and the one that all of them begin at once
/// as the driver goes on; `None` where these are none of the window's.
fn held_up_in_closed_loop(span: &SpanInfo, record: &RunRecord) -> Option<u64> {
    let meets = span.until_s > record.window.warmup_s && span.from_s < load_end(record);
    meets.then(|| 2 * clients(record))
}

/// The transactions of a schedule that were due and not over, second by second.
struct ScheduleBacklog<'a> {
    series: &'a [SeriesRow],
    /// Their number at the end of each second. Dropped ones are in it to the end.
    left: Vec<u64>,
    /// How many can be under way at once.
    under_way: u64,
}

impl<'a> ScheduleBacklog<'a> {
    fn of(record: &RunRecord, series: &'a [SeriesRow]) -> Self {
        let (mut offered, mut ended) = (0u64, 0u64);
        let left = series.iter().map(|row| {
            offered = offered.saturating_add(row.offered.unwrap_or(0));
            ended = count_sum([ended, row.completed, row.failed]);
            offered.saturating_sub(ended)
        });
        Self { series, left: left.collect(), under_way: expected_connections(record) }
    }

    /// The number of those that were under way or waited when the driver stopped, or were due from
    /// then until none waited any more; `None` where these are none of the window's.
    fn held_up(&self, span: &SpanInfo, record: &RunRecord) -> Option<u64> {
        let (first, last) = (span.from_s as usize, span.until_s as usize);
        let is_over = |left: &u64| *left <= self.under_way;
        let over = self.left.iter().skip(last).position(is_over).map(|seconds| last + seconds);
        let end = over.unwrap_or(self.left.len()) + 1;
        if end as f64 <= record.window.warmup_s || span.from_s >= load_end(record) {
            return None;
        }
        let waiting = first.checked_sub(1).and_then(|before| self.left.get(before)).copied();
        let due = self.series.iter().take(end).skip(first).map(|row| row.offered.unwrap_or(0));
        Some(count_sum([self.under_way, waiting.unwrap_or(0)]).saturating_add(count_sum(due)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::quiet;
    use super::*;

    /// A window from 1 s to 11 s of a thousand a second over eight connections, and a driver that
    /// stood still from 4.0 s to 5.0 s: what was due then was over when the seventh second ended.
    fn stopped() -> (RunRecord, Vec<SeriesRow>) {
        let mut record = quiet();
        record.load.connections = 8;
        record.load.rate_tps = Some(1000.0);
        record.window.warmup_s = 1.0;
        record.client.standstills = vec![SpanInfo { from_s: 4.0, until_s: 5.0 }];
        let completed = [998, 1000, 1000, 1000, 0, 1500, 1500, 1000, 1000, 1000, 1000];
        let row = |completed| SeriesRow { offered: Some(1000), completed, ..SeriesRow::default() };
        (record, completed.into_iter().map(row).collect())
    }

    #[test]
    fn a_stop_holds_up_what_was_due_until_its_backlog_is_over() {
        let (mut record, series) = stopped();
        let second = Nanos::from_secs(1);
        // Eight under way at once, two that waited, and what was due in three seconds.
        let bound = StandstillBound { transactions: 3010, each: second };
        assert_eq!(standstill_bound(&record, &series), bound);
        record.client.standstills = vec![SpanInfo { from_s: 12.0, until_s: 13.0 }];
        assert_eq!(standstill_bound(&record, &series).transactions, 0, "behind the window");
        record.window.rundown_s = 5.0;
        let bound = StandstillBound { transactions: 8, each: second };
        assert_eq!(standstill_bound(&record, &series), bound, "what is left of the window");
        record.client.standstills = vec![SpanInfo { from_s: 0.2, until_s: 0.4 }];
        assert_eq!(standstill_bound(&record, &series).transactions, 0, "in the warm-up");
        record.client.standstills = Vec::new();
        assert_eq!(standstill_bound(&record, &series), StandstillBound::default());
    }

    #[test]
    fn a_stop_delays_all_that_follows_where_the_backlog_stays() {
        let (record, mut series) = stopped();
        series.iter_mut().skip(5).for_each(|row| row.completed = 1000);
        assert_eq!(standstill_bound(&record, &series).transactions, 7010);
    }

    #[test]
    fn clients_that_wait_for_their_answers_have_one_under_way_each() {
        let (mut record, series) = stopped();
        record.load.mode = LoadMode::Closed;
        assert_eq!(standstill_bound(&record, &series).transactions, 16);
        record.client.standstills[0] = SpanInfo { from_s: 0.0, until_s: 1.0 };
        assert_eq!(standstill_bound(&record, &series), StandstillBound::default());
    }
}
