//! Which statement it was that let a lock go, and what its transaction had done before. The request
//! that did so is mostly over a moment before the one that waited, and sometimes a moment after it:
//! that one is held back for so long, and with it what its connection sends after it: requests of a
//! connection stay in their order.
//!
//! Waits are added up as their ends are known. Where requests are not handed on one by one, those
//! alone come here that have waited for a lock for a millisecond or more, or have let one go.

use super::lock_sums::{LockStatement, LockSums};
use super::sessions::TracedSessions;
use super::transactions::TransactionTracker;
use crate::kernel_layout::numbers::REQUEST_LOCKS;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::traced::{BlockingTransaction, ErrorCode, TracedRequest};
use dbtime_model::traced_totals::LockWaitTotals;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Requests that are remembered: those of a tenth of a second, where there are very many. More
/// would not be in the processor's cache. Holders are looked for twice as often.
const MAX_RECENT: usize = 4096;

/// How often requests are taken before one goes without its blocker's statement.
const HOLD_ROUNDS: u8 = 3;

/// Errors by which a statement ends that waited in vain: whoever woke it for that held nothing that
/// it waited for. MySQL: an ended server, a lock wait's time-out, a deadlock, a killed statement or
/// connection, and one out of time.
const VAIN_WAIT_ERRORS_MYSQL: [u16; 8] = [1053, 1205, 1213, 1317, 1927, 1969, 3024, 3169];
/// PostgreSQL: a transaction out of time, a deadlock, a lock that is not available, a canceled
/// statement, an ended connection or server.
const VAIN_WAIT_ERRORS_POSTGRES: [&str; 6] = ["25P04", "40P01", "55P03", "57014", "57P01", "57P02"];

/// A request by its connection and its beginning.
type WaiterKey = (u64, u64);

/// What was seen lately, and what waits for more.
#[derive(Debug, Default)]
pub(crate) struct BlockerTracker {
    transactions: TransactionTracker,
    recent: FxHashMap<WaiterKey, RecentRequest>,
    order: VecDeque<WaiterKey>,
    /// In the order in which they came.
    waiting: Vec<WaitingRequest>,
    /// How many of these each connection has.
    held: FxHashMap<u64, u32>,
    /// Requests that came since holders were looked for.
    unsearched: usize,
    sums: LockSums,
}

#[derive(Clone, Debug)]
struct RecentRequest {
    text: Arc<str>,
    statement: LockStatement,
    /// What the server calls its connection.
    server_id: Option<u64>,
    /// What it has ended.
    transaction: Option<Arc<BlockingTransaction>>,
}

#[derive(Debug)]
struct WaitingRequest {
    request: TracedRequest,
    statement: LockStatement,
    is_for_sums: bool,
    /// The request that let the lock go, where one is known.
    blocker: Option<WaiterKey>,
    /// That request, once it is there.
    holder: Option<RecentRequest>,
    rounds: u8,
}

impl BlockerTracker {
    /// Takes a request in; what can go on goes to `out`.
    pub(crate) fn take(
        &mut self,
        raw: &RawRequest<'_>,
        mut request: TracedRequest,
        out: &mut Vec<TracedRequest>,
    ) {
        let is_for_sums = raw.has(REQUEST_LOCKS);
        self.remember(raw, &request, is_for_sums);
        // Much may come at once: the first of it would be forgotten before its waiters go on.
        if self.unsearched >= MAX_RECENT / 2 {
            self.find_holders();
        }
        let is_behind = self.held.contains_key(&request.connection);
        if request.blocker.is_none() && !is_behind {
            if !is_for_sums {
                out.push(request);
            }
            return;
        }
        let is_in_vain = request.error.as_ref().is_some_and(is_in_vain);
        if let Some(blocker) = request.blocker.as_mut().filter(|_| is_in_vain) {
            (blocker.thread, blocker.connection) = (None, None);
            (blocker.server_id, blocker.has_left) = (None, false);
        }
        let blocker = request.blocker.as_ref().and_then(|blocker| blocker.connection);
        let blocker = blocker.map(|connection| (connection, raw.blocker_start));
        let statement = LockStatement::of(raw, &request);
        let holder = find(&self.recent, blocker);
        let one = WaitingRequest { request, statement, is_for_sums, blocker, holder, rounds: 0 };
        if one.blocker.is_some() || is_behind {
            self.hold(one);
        } else {
            self.release(one, LockStatement::Unknown, out);
        }
    }

    fn hold(&mut self, one: WaitingRequest) {
        *self.held.entry(one.request.connection).or_default() += 1;
        self.waiting.push(one);
    }

    /// All that was there has been taken: who waited for what is known now goes on, and who has
    /// waited for long enough. At the end nobody waits any more.
    pub(super) fn settle(
        &mut self,
        is_end: bool,
        sessions: &TracedSessions,
        out: &mut Vec<TracedRequest>,
    ) {
        self.find_holders();
        self.held.clear();
        for mut one in std::mem::take(&mut self.waiting) {
            one.rounds += 1;
            let is_missing = one.blocker.is_some() && one.holder.is_none();
            let is_sought = is_missing && one.rounds < HOLD_ROUNDS;
            let is_behind = self.held.contains_key(&one.request.connection);
            if (is_sought || is_behind) && !is_end {
                self.hold(one);
                continue;
            }
            let holder = one.holder.take();
            describe(&mut one.request, holder.as_ref(), &self.transactions, sessions);
            let let_go = holder.map_or(LockStatement::Unknown, |holder| holder.statement);
            self.release(one, let_go, out);
        }
    }

    /// Keeps the holders that have come: they are remembered for [`MAX_RECENT`] requests alone.
    fn find_holders(&mut self) {
        self.unsearched = 0;
        for one in self.waiting.iter_mut().filter(|one| one.holder.is_none()) {
            one.holder = find(&self.recent, one.blocker);
        }
    }

    /// What waits for locks came to so far, longest first; `texts` knows what the kernel's numbers
    /// of statements stand for.
    pub(crate) fn totals(&self, texts: impl FnMut(u64) -> Option<Arc<str>>) -> Vec<LockWaitTotals> {
        self.sums.totals(texts)
    }

    fn release(
        &mut self,
        one: WaitingRequest,
        let_go: LockStatement,
        out: &mut Vec<TracedRequest>,
    ) {
        if let Some(blocker) = &one.request.blocker {
            self.sums.add(&one.statement, blocker, let_go);
        }
        if !one.is_for_sums {
            out.push(one.request);
        }
    }

    fn remember(&mut self, raw: &RawRequest<'_>, request: &TracedRequest, is_for_sums: bool) {
        // Where most requests are not seen, nothing is known of transactions.
        let transaction = if is_for_sums { None } else { self.transactions.take(raw, request) };
        if self.order.len() >= MAX_RECENT
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
        let (text, statement) = (Arc::clone(&request.text), LockStatement::of(raw, request));
        let server_id = request.server_id();
        let key = (request.connection, request.start.0);
        self.order.push_back(key);
        self.unsearched += 1;
        self.recent.insert(key, RecentRequest { text, statement, server_id, transaction });
    }
}

/// The request that let a lock go, while it is remembered.
fn find(
    recent: &FxHashMap<WaiterKey, RecentRequest>,
    blocker: Option<WaiterKey>,
) -> Option<RecentRequest> {
    recent.get(&blocker?).cloned()
}

/// Whether a statement with this error had waited in vain.
fn is_in_vain(error: &ErrorCode) -> bool {
    match error {
        ErrorCode::Number(number) => VAIN_WAIT_ERRORS_MYSQL.contains(number),
        ErrorCode::SqlState(state) => VAIN_WAIT_ERRORS_POSTGRES.contains(&state.as_str()),
    }
}

/// Adds who the holder was, and what it had done.
fn describe(
    request: &mut TracedRequest,
    holder: Option<&RecentRequest>,
    transactions: &TransactionTracker,
    sessions: &TracedSessions,
) {
    let Some(blocker) = &mut request.blocker else { return };
    let ended = holder.and_then(|holder| holder.transaction.clone());
    // The wait was over by the request's end.
    let open = || transactions.open(blocker.connection?, request.end);
    blocker.transaction = ended.or_else(open);
    blocker.statement = holder.map(|holder| Arc::clone(&holder.text));
    let of_session = || sessions.server_id(blocker.connection?);
    let of_connection = holder.and_then(|holder| holder.server_id).or_else(of_session);
    // Of who serves none the kernel's side tells what the server calls it.
    blocker.server_id = of_connection.or(blocker.server_id);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_layout::numbers::{REQUEST_IN_TRANSACTION, REQUEST_NO_TRANSACTION};
    use crate::trace::kernel::layout::tests::{blocked_by, written};
    use dbtime_model::traced_totals::StatementName;

    /// A millisecond and more, which is added up.
    const LONG: u64 = 2_000_000;

    /// Takes a request that a connection had blocked; `says` are its flags, `error` its error.
    fn take_with(
        (seen, out): (&mut BlockerTracker, &mut Vec<TracedRequest>),
        (connection, text): (u64, &str),
        blocker: Option<u64>,
        (says, error): (u16, u16),
    ) {
        let waits = blocker.map_or(vec![], |blocker| blocked_by(LONG, blocker, 1));
        let request = written(connection, 3, text.as_bytes(), |record| {
            (record.error, record.flags) = (error.into(), says);
        });
        let bytes = [waits, request].concat();
        let raw = RawRequest::read(&bytes).expect("a request");
        seen.take(&raw, TracedSessions::keeping_literals().take(&raw), out);
    }

    fn take(
        (seen, out): (&mut BlockerTracker, &mut Vec<TracedRequest>),
        (connection, text): (u64, &str),
        blocker: Option<u64>,
    ) {
        take_with((seen, out), (connection, text), blocker, (0, 0));
    }

    /// The statements that blocked those that went on.
    fn blockers(out: &[TracedRequest]) -> Vec<Option<&str>> {
        let statement = |request: &TracedRequest| {
            request.blocker.as_ref().and_then(|blocker| blocker.statement.as_deref().map(str::len))
        };
        assert!(out.iter().all(|request| statement(request).is_none_or(|length| length > 0)));
        out.iter()
            .map(|request| request.blocker.as_ref().and_then(|b| b.statement.as_deref()))
            .collect()
    }

    #[test]
    fn a_blockers_statement_is_found_before_and_after() {
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        take((&mut seen, &mut out), (2, "UPDATE t"), Some(1));
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        assert!(out.is_empty(), "it waits");
        take((&mut seen, &mut out), (1, "COMMIT"), None);
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        assert_eq!(blockers(&out), [None, Some("COMMIT")]);
        out.clear();
        take((&mut seen, &mut out), (3, "DELETE"), Some(1));
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        assert_eq!(blockers(&out), [Some("COMMIT")]);
    }

    #[test]
    fn a_blocker_is_found_however_much_comes_at_once() {
        let many = 3 * MAX_RECENT as u64;
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        take((&mut seen, &mut out), (1, "COMMIT"), None);
        take((&mut seen, &mut out), (2, "UPDATE t"), Some(1));
        take((&mut seen, &mut out), (3, "DELETE"), Some(4));
        take((&mut seen, &mut out), (4, "ROLLBACK"), None);
        (0..many).for_each(|index| take((&mut seen, &mut out), (index + 5, "x"), None));
        out.clear();
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        assert_eq!(blockers(&out), [Some("COMMIT"), Some("ROLLBACK")]);
    }

    #[test]
    fn requests_of_a_connection_stay_in_their_order() {
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        let texts = |out: &[TracedRequest]| -> Vec<String> {
            out.iter().map(|request| request.text.to_string()).collect()
        };
        take((&mut seen, &mut out), (2, "UPDATE t"), Some(7));
        take((&mut seen, &mut out), (2, "COMMIT"), None);
        take((&mut seen, &mut out), (3, "SELECT 1"), None);
        assert_eq!(texts(&out), ["SELECT 1"]);
        let sessions = TracedSessions::keeping_literals();
        (0..HOLD_ROUNDS).for_each(|_| seen.settle(false, &sessions, &mut out));
        assert_eq!(texts(&out), ["SELECT 1", "UPDATE t", "COMMIT"]);
        take((&mut seen, &mut out), (2, "ROLLBACK"), None);
        assert_eq!(out.len(), 4, "nothing is held any more");
    }

    #[test]
    fn nobody_waits_for_ever() {
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        for is_end in [false, true] {
            take((&mut seen, &mut out), (2, "UPDATE t"), Some(7));
            (0..HOLD_ROUNDS)
                .for_each(|_| seen.settle(is_end, &TracedSessions::keeping_literals(), &mut out));
            assert_eq!(blockers(&std::mem::take(&mut out)), [None]);
        }
        for index in 0..2 * MAX_RECENT as u64 {
            take((&mut seen, &mut out), (index + 1, "x"), None);
        }
        assert_eq!((seen.order.len(), seen.recent.len()), (MAX_RECENT, MAX_RECENT));
    }

    #[test]
    fn waits_of_statements_that_are_added_up_wait_for_whoever_let_go() {
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        let flags = (REQUEST_LOCKS, 0);
        take_with((&mut seen, &mut out), (2, "UPDATE t"), Some(1), flags);
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        assert_eq!(seen.totals(|_| None), []);
        take_with((&mut seen, &mut out), (1, "COMMIT"), None, flags);
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        assert_eq!(out, [], "nothing of it is handed on");
        let totals = seen.totals(|_| None);
        let [total] = &totals[..] else { panic!("{totals:?}") };
        let statements = (&total.statement, total.holder.as_ref().map(|holder| &holder.statement));
        let text = |text: &str| StatementName::Text(text.into());
        assert_eq!(statements, (&text("UPDATE t"), Some(&text("COMMIT"))));
        take_with((&mut seen, &mut out), (2, "UPDATE t"), Some(1), (REQUEST_LOCKS, 1213));
        let holders = seen.totals(|_| None).iter().filter(|total| total.holder.is_some()).count();
        assert_eq!((holders, seen.totals(|_| None).len()), (1, 2), "it waited in vain");
    }

    #[test]
    fn whoever_ends_a_wait_in_vain_is_no_blocker() {
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        for error in [1213, 1053, 1062] {
            take_with((&mut seen, &mut out), (2, "UPDATE t"), Some(1), (0, error));
        }
        seen.settle(true, &TracedSessions::keeping_literals(), &mut out);
        let found = |request: &TracedRequest| {
            let blocker = request.blocker.as_ref().expect("it has waited");
            (blocker.connection, blocker.thread.is_some())
        };
        let expected = [(None, false), (None, false), (Some(1), true)];
        assert_eq!(out.iter().map(found).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn beside_a_commit_stands_what_its_transaction_did() {
        let (mut seen, mut out) = (BlockerTracker::default(), Vec::new());
        for (text, says) in [
            ("BEGIN", REQUEST_IN_TRANSACTION),
            ("UPDATE a", REQUEST_IN_TRANSACTION),
            ("COMMIT", REQUEST_NO_TRANSACTION),
        ] {
            take_with((&mut seen, &mut out), (1, text), None, (says, 0));
        }
        // All three have begun at the same instant: the last is the one that is known by it.
        take((&mut seen, &mut out), (2, "UPDATE t"), Some(1));
        seen.settle(false, &TracedSessions::keeping_literals(), &mut out);
        let blocker = out.pop().and_then(|request| request.blocker).expect("it has waited");
        let did = blocker.transaction.expect("it is known");
        assert_eq!((did.statements, did.latest.len()), (3, 2));
        assert_eq!(blocker.statement.as_deref(), Some("COMMIT"));
    }
}
