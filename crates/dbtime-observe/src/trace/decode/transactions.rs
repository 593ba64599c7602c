//! What transactions did that others had to wait for: their latest statements, and how long their
//! clients said nothing in between. Whether one is open the server's answers say.

use super::meaning::{RequestMeaning, meaning};
use crate::kernel_layout::numbers::{REQUEST_IN_TRANSACTION, REQUEST_NO_TRANSACTION};
use crate::trace::commands::is_statement;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::traced::{BlockingTransaction, TracedRequest};
use dbtime_model::{MonoNanos, Nanos};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Statements of one that are kept.
const MAX_LATEST: usize = 4;

/// Connections of which an open one is kept. Those that ended without a word leave theirs behind:
/// where there is no room, all go.
const MAX_OPEN: usize = 65_536;

/// The transactions that are open, by their connections.
#[derive(Debug, Default)]
pub(crate) struct TransactionTracker {
    open: FxHashMap<u64, OpenTransaction>,
}

#[derive(Debug)]
struct OpenTransaction {
    statements: u64,
    latest: VecDeque<Arc<str>>,
    start: MonoNanos,
    idle: Nanos,
    /// The end of its last statement.
    end: MonoNanos,
}

impl TransactionTracker {
    /// Takes a request in. Returns what the transaction had done that it has ended, where there was
    /// more than this one.
    pub(crate) fn take(
        &mut self,
        raw: &RawRequest<'_>,
        request: &TracedRequest,
    ) -> Option<Arc<BlockingTransaction>> {
        let connection = request.connection;
        if matches!(meaning(raw), RequestMeaning::Leaves) {
            let ended = self.open.remove(&connection)?;
            return Some(Arc::new(ended.until(request.arrival(), request.start, 0)));
        }
        if !is_statement(request.protocol, request.command) {
            return None;
        }
        if raw.has(REQUEST_NO_TRANSACTION) {
            let ended = self.open.remove(&connection)?;
            return Some(Arc::new(ended.until(request.arrival(), request.end, 1)));
        }
        match self.open.get_mut(&connection) {
            Some(open) => open.add(request),
            None if raw.has(REQUEST_IN_TRANSACTION) => {
                if self.open.len() >= MAX_OPEN {
                    self.open.clear();
                }
                self.open.insert(connection, OpenTransaction::new(request));
            }
            None => {}
        }
        None
    }

    /// What a connection's open transaction had done up to `at`.
    pub(crate) fn open(&self, connection: u64, at: MonoNanos) -> Option<Arc<BlockingTransaction>> {
        self.open.get(&connection).map(|open| Arc::new(open.until(at, at, 0)))
    }
}

impl OpenTransaction {
    fn new(request: &TracedRequest) -> Self {
        let mut open = Self {
            statements: 0,
            latest: VecDeque::new(),
            start: request.start,
            idle: Nanos::ZERO,
            end: request.start,
        };
        open.add(request);
        open
    }

    fn add(&mut self, request: &TracedRequest) {
        self.statements += u64::from(request.executes.max(1));
        self.idle += request.arrival() - self.end;
        self.end = request.end;
        self.latest.truncate(MAX_LATEST - 1);
        self.latest.push_front(Arc::clone(&request.text));
    }

    /// Up to `end`; its client was silent until `next`, and asked for so many more statements then.
    fn until(&self, next: MonoNanos, end: MonoNanos, more: u64) -> BlockingTransaction {
        BlockingTransaction {
            statements: self.statements + more,
            latest: self.latest.iter().rev().cloned().collect(),
            length: end - self.start,
            idle: self.idle + (next - self.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sessions::TracedSessions;
    use super::*;
    use crate::trace::kernel::layout::tests::written;

    /// A statement from one instant to another, and the flags of its answer.
    fn request(
        transactions: &mut TransactionTracker,
        text: &str,
        times: (u64, u64),
        flags: u16,
    ) -> Option<Arc<BlockingTransaction>> {
        queued(transactions, text, times, (0, flags))
    }

    /// The same of one that lay in the socket before.
    fn queued(
        transactions: &mut TransactionTracker,
        text: &str,
        (start, end): (u64, u64),
        (queue, flags): (u64, u16),
    ) -> Option<Arc<BlockingTransaction>> {
        let bytes = written(7, 3, text.as_bytes(), |record| {
            (record.start, record.end, record.flags) = (start, end, flags);
            record.server_queue = queue;
        });
        let raw = RawRequest::read(&bytes).expect("a request");
        transactions.take(&raw, &TracedSessions::keeping_literals().take(&raw))
    }

    #[test]
    fn one_that_ends_tells_what_it_did_and_how_long_it_idled() {
        let mut transactions = TransactionTracker::default();
        assert_eq!(request(&mut transactions, "SELECT 0", (1, 2), REQUEST_NO_TRANSACTION), None);
        assert_eq!(request(&mut transactions, "SELECT 0", (3, 4), 0), None);
        assert_eq!(request(&mut transactions, "BEGIN", (10, 11), REQUEST_IN_TRANSACTION), None);
        for start in [20, 30, 40, 50] {
            let flags = if start == 30 { 0 } else { REQUEST_IN_TRANSACTION };
            assert_eq!(request(&mut transactions, "UPDATE t", (start, start + 1), flags), None);
        }
        let open = transactions.open(7, MonoNanos(60)).expect("it is open");
        assert_eq!((open.statements, open.length, open.idle), (5, Nanos(50), Nanos(45)));
        let ended = request(&mut transactions, "COMMIT", (60, 62), REQUEST_NO_TRANSACTION)
            .expect("it was open");
        assert_eq!((ended.statements, ended.length, ended.idle), (6, Nanos(52), Nanos(45)));
        assert_eq!(ended.latest, ["UPDATE t", "UPDATE t", "UPDATE t", "UPDATE t"].map(Arc::from));
        assert_eq!(transactions.open(7, MonoNanos(70)), None);
    }

    /// What comes while the server cannot read it is not late.
    #[test]
    fn a_client_whose_request_lies_in_the_socket_is_not_idle() {
        let mut transactions = TransactionTracker::default();
        request(&mut transactions, "BEGIN", (10, 11), REQUEST_IN_TRANSACTION);
        queued(&mut transactions, "UPDATE t", (20, 21), (6, REQUEST_IN_TRANSACTION));
        // Sent ahead.
        queued(&mut transactions, "UPDATE t", (22, 23), (9, REQUEST_IN_TRANSACTION));
        let ended = queued(&mut transactions, "COMMIT", (60, 62), (30, REQUEST_NO_TRANSACTION))
            .expect("one");
        assert_eq!((ended.statements, ended.length, ended.idle), (4, Nanos(52), Nanos(3 + 7)));
    }

    #[test]
    fn one_whose_client_leaves_is_over() {
        let mut transactions = TransactionTracker::default();
        request(&mut transactions, "BEGIN", (10, 11), REQUEST_IN_TRANSACTION);
        let quit = written(7, dbtime_wire::mysql::command::QUIT, b"", |record| record.start = 20);
        let raw = RawRequest::read(&quit).expect("a request");
        let ended = transactions
            .take(&raw, &TracedSessions::keeping_literals().take(&raw))
            .expect("it was open");
        assert_eq!((ended.statements, ended.idle), (1, Nanos(9)));
        assert_eq!(request(&mut transactions, "COMMIT", (30, 31), REQUEST_NO_TRANSACTION), None);
    }
}
