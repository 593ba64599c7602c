//! What holds of every timeline, and of what is none.

use super::super::{JoinedStatement, StatementJoiner};
use super::fixtures::{driven, exchange, traced};
use super::true_timelines::{SideEvent, Timelines, connections};
use dbtime_model::exchange::{DrivenTransaction, StatementExchange};
use dbtime_model::record::JoinCounts;
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The transactions that were joined, by their numbers, and the counts.
type Outcomes = (BTreeMap<u64, (Parts, Vec<JoinedStatement>)>, JoinCounts);

/// Joins the sides in an interleaving that follows from `seed`. Transactions come when they are
/// over, or together a while later.
fn join(mut sides: Vec<VecDeque<SideEvent>>, mut seed: u64) -> Outcomes {
    let mut joiner = StatementJoiner::new();
    let (mut joined, mut over) = (BTreeMap::new(), Vec::new());
    while !sides.is_empty() {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let side = (seed >> 33) as usize % sides.len();
        match sides[side].pop_front() {
            Some(SideEvent::Sent(exchange)) => joiner.exchange(exchange),
            Some(SideEvent::Over(driven)) => over.push(driven),
            Some(SideEvent::Served(request)) => joiner.request(&request),
            None => drop(sides.swap_remove(side)),
        }
        if seed >> 61 < 3 {
            over.drain(..).for_each(|driven| joiner.transaction(driven));
        }
        if seed >> 60 == 0 {
            joined.extend(
                joiner.take_joined().map(|j| (j.driven.transaction, (j.parts, j.statements))),
            );
        }
    }
    over.into_iter().for_each(|driven| joiner.transaction(driven));
    let (rest, counts) = joiner.finish();
    for transaction in rest {
        let sample = &transaction.driven.sample;
        assert_eq!(transaction.parts.total(), sample.response().signed());
        joined.insert(transaction.driven.transaction, (transaction.parts, transaction.statements));
    }
    (joined, counts)
}

/// Without the driver's parts, and without those that came to nothing.
fn on_the_server(parts: &Parts) -> Vec<(Part, i64)> {
    let server = [Part::Wire, Part::ServerQueue, Part::Cpu, Part::Unexplained, Part::ServerAndWire];
    server.into_iter().map(|part| (part, parts.get(part))).collect()
}

proptest! {
    #[test]
    fn what_belongs_together_is_matched(connections in connections(), seed: u64) {
        let timelines = Timelines::new(&connections);
        let (joined, counts) = join(timelines.sides, seed);
        let expected = JoinCounts {
            matched: timelines.statements,
            arrived: timelines.arrived,
            outside: timelines.outside,
            transactions: timelines.truth.len() as u64,
            ..JoinCounts::default()
        };
        prop_assert_eq!(counts, expected);
        for (number, truth) in &timelines.truth {
            let (parts, statements) = &joined[number];
            prop_assert_eq!(on_the_server(parts), on_the_server(truth));
            let mut sum = Parts::default();
            for statement in statements {
                prop_assert_eq!(statement.parts.total(), statement.took.signed());
                prop_assert!(statement.parts.get(Part::Client) >= 0, "{statement:?}");
                sum.add_all(&statement.parts);
            }
            prop_assert_eq!(on_the_server(&sum), on_the_server(truth));
            prop_assert_eq!(sum.get(Part::Client), truth.get(Part::Client));
        }
    }

    #[test]
    fn the_interleaving_of_the_sides_changes_nothing(
        connections in connections(), first: u64, second: u64,
    ) {
        let sides = Timelines::new(&connections).sides;
        prop_assert_eq!(join(sides.clone(), first), join(sides, second));
    }

    #[test]
    fn a_lost_request_leaves_its_transaction_out_and_changes_no_other(
        connections in connections(), lost in vec(any::<prop::sample::Index>(), 0..5), seed: u64,
    ) {
        let timelines = Timelines::new(&connections);
        if timelines.executing.is_empty() {
            return Ok(());
        }
        let lost: BTreeSet<(u64, MonoNanos)> =
            lost.iter().map(|index| *index.get(&timelines.executing)).collect();
        let (whole, counts) = join(timelines.sides.clone(), seed);
        let mut sides = timelines.sides;
        for side in &mut sides {
            side.retain(|event| match event {
                SideEvent::Served(request) => !lost.iter().any(|(number, start)| {
                    *start == request.start && number / 1000 == request.connection
                }),
                _ => true,
            });
        }
        let (joined, with_lost) = join(sides, seed ^ 1);
        let left_out: BTreeSet<u64> = lost.iter().map(|(number, _)| *number).collect();
        let mut expected = whole;
        expected.retain(|number, _| !left_out.contains(number));
        prop_assert_eq!(joined, expected);
        prop_assert_eq!(with_lost.left_out, left_out.len() as u64);
        prop_assert_eq!(with_lost.matched + with_lost.unmatched, counts.matched);
        prop_assert_eq!((with_lost.ambiguous, with_lost.outside), (0, counts.outside));
    }

    #[test]
    fn whatever_comes_adds_up(
        exchanges in vec((0..3u16, 0..200u64, 0..200u64, 0..50u64, 0..4u64), 0..30),
        requests in vec(
            (0..4u16, 0..200u64, 0..200u64, any::<Option<u8>>(), 0..300u64, any::<Option<u8>>()),
            0..30,
        ),
        settled in (0..250u64, 0..60usize),
    ) {
        let mut joiner = StatementJoiner::new();
        let mut handed_over = [0u32; 4];
        for (index, request) in requests.into_iter().enumerate() {
            let (connection, start, end, queue, cpu, arrived) = request;
            let times = (start, end.max(start));
            joiner.request(&TracedRequest {
                answer_arrived: arrived.map(|at| MonoNanos(at.into())),
                queue_parts: queue.map(|length| ServerQueueParts {
                    runq_woken: Nanos(cpu),
                    throttled: Nanos(length.into()),
                    ..ServerQueueParts::default()
                }),
                ..traced(connection, times, queue.map(u64::from), cpu)
            });
            if index == settled.1 {
                joiner.settle(MonoNanos(settled.0));
            }
        }
        for (connection, sent, read, late, transaction) in exchanges {
            handed_over[transaction as usize] += 1;
            let exchange = exchange(connection, sent, read);
            joiner.exchange(StatementExchange { late: Nanos(late), transaction, ..exchange });
        }
        for (number, exchanges) in (0..).zip(handed_over) {
            joiner.transaction(DrivenTransaction { exchanges, ..driven(number, &[], 5) });
        }
        let (joined, counts) = joiner.finish();
        let decided = counts.matched + counts.unmatched + counts.ambiguous;
        prop_assert_eq!(decided, handed_over.iter().map(|n| u64::from(*n)).sum::<u64>());
        prop_assert_eq!(counts.transactions + counts.left_out, 4);
        prop_assert_eq!(joined.len() as u64, counts.transactions);
        for transaction in joined {
            prop_assert_eq!(transaction.parts.total(), 5);
            for statement in transaction.statements {
                prop_assert_eq!(statement.parts.total(), statement.took.signed());
                prop_assert!(statement.parts.get(Part::Client) >= 0, "{statement:?}");
            }
        }
    }
}
