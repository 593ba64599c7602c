//! Statements that are in flight for longer than it takes to settle.

use super::super::{JoinedTransaction, StatementJoiner};
use super::fixtures::{driven, exchange, traced};
use super::{counts, parts, statement_parts};
use dbtime_model::exchange::StatementExchange;
use dbtime_model::record::JoinCounts;
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Nanos};

const SECOND: u64 = 1_000_000_000;

/// What comes of the two sides, at the instants at which it does.
#[derive(Default)]
struct Handover {
    requests: Vec<TracedRequest>,
    exchanges: Vec<StatementExchange>,
}

impl Handover {
    /// Joins as a run does: every five seconds all is settled that is older than a minute. A
    /// transaction is over with its last answer. The server's side comes at once, or behind the
    /// driver's.
    fn join(&self, is_server_first: bool) -> (Vec<JoinedTransaction>, JoinCounts) {
        let mut joiner = StatementJoiner::new();
        let mut joined = Vec::new();
        for tick in 0..60 {
            let (from, until) = (MonoNanos(tick * 5 * SECOND), MonoNanos((tick + 1) * 5 * SECOND));
            let is_now = |at: MonoNanos| at >= from && at < until;
            let serve = |joiner: &mut StatementJoiner| {
                let ended = self.requests.iter().filter(|request| is_now(request.end));
                ended.for_each(|request| joiner.request(request));
            };
            if is_server_first {
                serve(&mut joiner);
            }
            for exchange in self.exchanges.iter().filter(|exchange| is_now(exchange.read)) {
                joiner.exchange(*exchange);
                let is_same =
                    |other: &&StatementExchange| other.transaction == exchange.transaction;
                let whole: Vec<_> = self.exchanges.iter().filter(is_same).copied().collect();
                if whole.last() == Some(exchange) {
                    joiner.transaction(driven(exchange.transaction, &whole, 0));
                }
            }
            if !is_server_first {
                serve(&mut joiner);
            }
            joiner.settle(MonoNanos(until.0.saturating_sub(60 * SECOND)));
            joined.extend(joiner.take_joined());
        }
        assert_eq!(joiner.undecided(), 0);
        let (last, counts) = joiner.finish();
        assert!(last.is_empty());
        (joined, counts)
    }
}

fn of_transaction(transaction: u64, sent: u64, read: u64) -> StatementExchange {
    StatementExchange { transaction, ..exchange(1, sent, read) }
}

fn seconds(from: u64, until: u64) -> (u64, u64) {
    (from * SECOND, until * SECOND)
}

#[test]
fn a_statement_in_flight_for_longer_is_matched() {
    let short = of_transaction(1, SECOND, 2 * SECOND);
    let long = of_transaction(2, 3 * SECOND, 103 * SECOND);
    let requests =
        vec![traced(1, (SECOND, SECOND + 9), None, 9), traced(1, seconds(4, 102), Some(5), 9)];
    for is_server_first in [true, false] {
        let whole = Handover { requests: requests.clone(), exchanges: vec![short, long] };
        let (joined, found) = whole.join(is_server_first);
        assert_eq!(found, JoinCounts { transactions: 2, ..counts(2) });
        assert_eq!(joined[1].statements[0].took, Nanos(100 * SECOND));
        let first = Handover { requests: requests[1..].to_vec(), exchanges: vec![long] };
        assert_eq!(first.join(is_server_first).1, counts(1));
    }
}

#[test]
fn what_was_prepared_for_it_is_its_own() {
    let short = of_transaction(1, SECOND, 2 * SECOND);
    let long = of_transaction(2, 3 * SECOND, 103 * SECOND);
    let prepare = TracedRequest { command: 0x16, ..traced(1, seconds(4, 5), Some(2), 9) };
    let requests = vec![
        traced(1, (SECOND, SECOND + 9), None, 9),
        prepare,
        traced(1, seconds(6, 102), Some(5), 9),
    ];
    for is_server_first in [true, false] {
        let whole = Handover { requests: requests.clone(), exchanges: vec![short, long] };
        let (joined, found) = whole.join(is_server_first);
        assert_eq!(found, JoinCounts { transactions: 2, ..counts(2) });
        let [second, idle] = [SECOND.cast_signed(), 97 * SECOND.cast_signed() - 18];
        assert_eq!(statement_parts(&joined[1]), [parts(3 * second - 7, Some(7), 18, idle)]);
    }
}

#[test]
fn statements_sent_together_with_it_are_one_group() {
    let short = of_transaction(1, SECOND, 2 * SECOND);
    let pipelined = [3, 103].map(|read| of_transaction(2, 2 * SECOND + 1, read * SECOND));
    let requests = vec![
        traced(1, (SECOND, SECOND + 9), None, 9),
        traced(1, (2 * SECOND + 5, 2 * SECOND + 9), Some(2), 4),
        traced(1, (2 * SECOND + 9, 102 * SECOND), Some(2), 9),
    ];
    for is_server_first in [true, false] {
        let exchanges = vec![short, pipelined[0], pipelined[1]];
        let whole = Handover { requests: requests.clone(), exchanges };
        let (joined, found) = whole.join(is_server_first);
        assert_eq!(found, JoinCounts { transactions: 2, ..counts(3) });
        let took = joined[1].statements.iter().map(|statement| statement.took);
        assert_eq!(took.sum::<Nanos>(), Nanos(101 * SECOND - 1));
    }
}

#[test]
fn what_nobody_drives_is_kept_no_longer() {
    let mut joiner = StatementJoiner::new();
    let prepare = TracedRequest { command: 0x16, ..traced(1, (110, 150), Some(2), 9) };
    joiner.request(&prepare);
    joiner.request(&traced(2, (110, 150), Some(2), 9));
    joiner.settle(MonoNanos(150));
    assert_eq!(joiner.undecided(), 2);
    joiner.settle(MonoNanos(151));
    assert_eq!((joiner.undecided(), joiner.counts().foreign), (0, 2));
}
