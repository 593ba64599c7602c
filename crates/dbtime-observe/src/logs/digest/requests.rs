//! Which statements the slowest requests ran: records of a web server's log joined with those of a
//! database's.

use super::overlap::RecordSpan;
use super::overlap_table::{OverlapSums, OverlapTable};
use crate::logs::numbers::SECOND_US;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

/// So many statements are kept; 24 bytes each.
const MAX_STATEMENTS: usize = 2_000_000;

/// Of each class of requests so many of the slowest are joined.
const SLOWEST: usize = 100;

/// So many requests are kept in all.
const MAX_REQUESTS: usize = 400_000;

/// So many statements that began before the end of a request are looked at for it.
const LOOKED_BACK: usize = 4096;

/// Of so many statements in a row it is known when the last one ended.
const CHUNK: usize = 64;

/// A statement by its class, session and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StatementSpan {
    start_us: i64,
    session: u64,
    serial: u32,
    /// At most 71 minutes.
    length_us: u32,
}

/// A request by its session and time, the shortest first in a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RequestSpan {
    /// From the longest to the shortest, for a heap that has its largest first.
    length_us: std::cmp::Reverse<u64>,
    start_us: i64,
    session: u64,
    /// How much later it may have been. Unit: microseconds.
    slack_us: i64,
}

/// What the slowest requests of a class ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RequestStatements {
    /// The classes of statements, most time first.
    pub(super) most: Vec<OverlapSums>,
    /// Whether they were found by time alone, because the logs have no session in common.
    pub(super) is_by_time_alone: bool,
}

/// Joins requests with statements.
#[derive(Debug, Default)]
pub(super) struct RequestJoin {
    statements: Vec<StatementSpan>,
    /// The latest end of each chunk of statements and of those before it, once they are sorted.
    /// Unit: microseconds.
    ends_us: Vec<i64>,
    /// By class.
    requests: FxHashMap<u32, BinaryHeap<RequestSpan>>,
    /// How many requests are kept.
    kept: usize,
    /// How many statements found no room.
    pub(super) dropped: u64,
    /// Whether any request has whole seconds.
    pub(super) is_coarse: bool,
}

impl RequestJoin {
    /// Keeps a statement, if there is room.
    pub(super) fn add_statement(&mut self, span: RecordSpan, session: u64) {
        if self.statements.len() >= MAX_STATEMENTS {
            self.dropped += 1;
            return;
        }
        let length_us = span.end_us.abs_diff(span.start_us);
        self.statements.push(StatementSpan {
            start_us: span.start_us,
            session,
            serial: span.serial,
            length_us: u32::try_from(length_us).unwrap_or(u32::MAX),
        });
    }

    /// Keeps a request, if it is among the slowest of its class; `is_coarse`: of a log with whole
    /// seconds.
    pub(super) fn add_request(&mut self, span: RecordSpan, session: u64, is_coarse: bool) {
        let length_us = std::cmp::Reverse(span.end_us.abs_diff(span.start_us));
        let slack_us = if is_coarse { SECOND_US } else { 0 };
        self.is_coarse |= is_coarse;
        let request = RequestSpan { length_us, start_us: span.start_us, session, slack_us };
        let slowest = self.requests.entry(span.serial).or_default();
        if slowest.len() < SLOWEST && self.kept < MAX_REQUESTS {
            slowest.push(request);
            self.kept += 1;
            return;
        }
        if let Some(mut shortest) = slowest.peek_mut()
            && request < *shortest
        {
            *shortest = request;
        }
    }

    /// Forgets classes that are no longer counted apart.
    pub(super) fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.requests.retain(|serial, _| is_kept(*serial));
        self.kept = self.requests.values().map(BinaryHeap::len).sum();
    }

    /// Puts the statements in the order of their beginnings, as [`RequestJoin::statements`] needs
    /// them.
    pub(super) fn sort(&mut self) {
        let key = |span: &StatementSpan| (span.start_us, span.serial, span.session, span.length_us);
        self.statements.sort_unstable_by_key(key);
        let mut latest = i64::MIN;
        let ends = self.statements.chunks(CHUNK).map(|chunk| {
            latest = chunk.iter().map(StatementSpan::end_us).fold(latest, i64::max);
            latest
        });
        self.ends_us = ends.collect();
    }

    /// What the slowest requests of a class ran: of the sessions that both logs name where at least
    /// half of the requests have one, else whatever ran at their time.
    pub(super) fn statements(&self, serial: u32) -> RequestStatements {
        let Some(requests) = self.requests.get(&serial) else {
            return RequestStatements::default();
        };
        let (mut by_session, mut by_time) = (OverlapTable::default(), OverlapTable::default());
        let mut matched = 0;
        for request in requests {
            let mut is_matched = false;
            for (statement, us) in self.beside(request) {
                by_time.add(statement.serial, us);
                if request.session != 0 && statement.session == request.session {
                    by_session.add(statement.serial, us);
                    is_matched = true;
                }
            }
            matched += usize::from(is_matched);
        }
        let is_by_time_alone = matched * 2 < requests.len();
        let table = if is_by_time_alone { by_time } else { by_session };
        RequestStatements { most: table.most(), is_by_time_alone }
    }

    /// The statements that ran at the time of a request, and for how long of it.
    fn beside(&self, request: &RequestSpan) -> impl Iterator<Item = (&StatementSpan, u64)> {
        let request = *request;
        self.looked_at(&request).iter().filter_map(move |span| Some((span, request.time_of(span)?)))
    }

    /// The last statements that began before the end of a request, but for those that were all over
    /// before it began: a busy server has thousands for each request, and most are of others.
    fn looked_at(&self, request: &RequestSpan) -> &[StatementSpan] {
        let end = request.last_end_us();
        let until = self.statements.partition_point(|span| span.start_us < end);
        // A log with whole seconds may have an end so much too early.
        let begun = request.start_us.saturating_sub(SECOND_US);
        let over = self.ends_us.partition_point(|end| *end <= begun) * CHUNK;
        &self.statements[until.saturating_sub(LOOKED_BACK).max(over).min(until)..until]
    }

    /// How many of the slowest requests began before the first statement that is looked at for
    /// them, so that some of theirs are missing.
    pub(super) fn cut_requests(&self) -> usize {
        let is_cut = |request: &&RequestSpan| {
            let looked_at = self.looked_at(request);
            looked_at.len() == LOOKED_BACK && looked_at[0].start_us > request.start_us
        };
        self.requests.values().flatten().filter(is_cut).count()
    }
}

impl StatementSpan {
    fn end_us(&self) -> i64 {
        self.start_us.saturating_add_unsigned(self.length_us.into())
    }
}

impl RequestSpan {
    /// When it ended at the latest.
    fn last_end_us(&self) -> i64 {
        let end = self.start_us.saturating_add_unsigned(self.length_us.0);
        end.saturating_add(self.slack_us)
    }

    /// How long a statement ran within this request; `None`: it did not. Where a log has whole
    /// seconds, a statement of the request may lie anywhere in them, but takes no longer than the
    /// request.
    fn time_of(&self, statement: &StatementSpan) -> Option<u64> {
        let length = u64::from(statement.length_us);
        let statement_end = statement.end_us();
        let slack_us = slack_us(statement.start_us, statement_end);
        let start = self.start_us.max(statement.start_us);
        let end = self.last_end_us().min(statement_end.saturating_add(slack_us));
        if self.slack_us == 0 && slack_us == 0 {
            return (start < end).then(|| end.abs_diff(start));
        }
        (start < end && length <= self.length_us.0).then_some(length)
    }
}

/// How much later a record may have been than its log has it: one with whole seconds cuts what is
/// behind them. Unit: microseconds.
const fn slack_us(start_us: i64, end_us: i64) -> i64 {
    if start_us % SECOND_US == 0 || end_us % SECOND_US == 0 { SECOND_US } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record whose instants are no whole seconds.
    const fn span(serial: u32, start_us: i64, end_us: i64) -> RecordSpan {
        RecordSpan { serial, start_us: start_us + 1, end_us: end_us + 1 }
    }

    fn found(join: &RequestJoin, serial: u32) -> (Vec<(u32, u64, u64)>, bool) {
        let found = join.statements(serial);
        let most = found.most.iter().map(|slot| (slot.serial, slot.count, slot.time_us));
        (most.collect(), found.is_by_time_alone)
    }

    #[test]
    fn statements_of_the_same_session_are_those_of_the_request() {
        let mut join = RequestJoin::default();
        join.add_statement(span(7, 20, 40), 5);
        join.add_statement(span(8, 10, 90), 6);
        join.add_request(span(1, 0, 100), 5, false);
        join.sort();
        assert_eq!(found(&join, 1), (vec![(7, 1, 20)], false));
        assert_eq!(found(&join, 2), (vec![], false));
    }

    #[test]
    fn without_a_common_session_time_alone_decides() {
        let mut join = RequestJoin::default();
        join.add_request(span(1, 0, 100), 500, false);
        join.add_statement(span(7, 20, 40), 5);
        join.add_statement(span(8, 90, 190), 0);
        join.add_statement(span(9, 100, 190), 6);
        join.sort();
        assert_eq!(found(&join, 1), (vec![(7, 1, 20), (8, 1, 10)], true));
    }

    #[test]
    fn requests_with_whole_seconds_find_what_ran_within_them() {
        let mut join = RequestJoin::default();
        // Both came at 5.6 s, whose fraction the log has cut.
        join.add_request(RecordSpan { serial: 1, start_us: 5_000_000, end_us: 5_003_000 }, 8, true);
        join.add_request(RecordSpan { serial: 2, start_us: 5_000_000, end_us: 5_400_000 }, 9, true);
        join.add_statement(span(7, 5_600_000, 5_602_000), 8);
        join.add_statement(span(8, 5_600_000, 5_900_000), 9);
        join.sort();
        assert!(join.is_coarse);
        assert_eq!(found(&join, 1), (vec![(7, 1, 2000)], false));
        assert_eq!(found(&join, 2), (vec![(8, 1, 300_000)], false));
        let mut apart = RequestJoin::default();
        apart.add_request(
            RecordSpan { serial: 1, start_us: 5_000_000, end_us: 5_003_000 },
            0,
            true,
        );
        apart.add_statement(span(7, 5_600_000, 5_602_000), 8);
        apart.add_statement(span(8, 5_600_000, 5_900_000), 9);
        apart.add_statement(span(7, 6_100_000, 6_102_000), 8);
        apart.sort();
        assert_eq!(found(&apart, 1), (vec![(7, 1, 2000)], true));
    }

    #[test]
    fn requests_with_too_many_statements_are_counted() {
        let mut join = RequestJoin::default();
        join.add_request(span(1, 0, 100_000), 0, false);
        join.add_request(span(2, 100_000, 100_010), 0, false);
        for at in 0..5000 {
            join.add_statement(span(7, at * 10, at * 10 + 5), 0);
        }
        join.sort();
        assert_eq!(join.cut_requests(), 1);
    }

    #[test]
    fn what_was_over_before_a_request_is_not_looked_at() {
        let mut join = RequestJoin::default();
        for at in 0..10_000 {
            join.add_statement(span(7, at * 10_000, at * 10_000 + 5000), 0);
        }
        join.add_request(span(1, 90_000_000, 90_020_000), 0, false);
        join.sort();
        let request = join.requests[&1].peek().copied().expect("a request");
        let looked_at = join.looked_at(&request);
        assert!(looked_at.len() < 100 + 2 * CHUNK + 2, "{}", looked_at.len());
        assert_eq!(found(&join, 1), (vec![(7, 2, 10_000)], true));
    }

    #[test]
    fn the_slowest_requests_are_kept() {
        let mut join = RequestJoin::default();
        for at in 0..1000 {
            join.add_request(span(1, at * 10_000, at * 10_000 + at), 0, false);
            join.add_statement(span(7, at * 10_000, at * 10_000 + 1000), 0);
        }
        join.sort();
        let expected: u64 = (900..1000).sum();
        assert_eq!(found(&join, 1), (vec![(7, 100, expected)], true));
        join.retain(|serial| serial != 1);
        assert_eq!(found(&join, 1), (vec![], false));
    }
}
