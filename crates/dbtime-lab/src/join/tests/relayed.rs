//! Connections that the server knows under another name than the driver.

use super::fixtures::{driven, exchange, traced};
use crate::join::StatementJoiner;
use dbtime_model::MonoNanos;
use dbtime_model::exchange::StatementExchange;
use dbtime_model::record::JoinCounts;
use dbtime_model::traced::{SessionLogin, TracedRequest};
use proptest::prelude::*;
use std::sync::Arc;

/// A statement on the driver's connection of that port, which the server calls so.
fn sent(port: u16, server_id: u32, at: u64) -> StatementExchange {
    StatementExchange { server_id: Some(server_id), ..exchange(port, at, at + 100) }
}

/// Its request, which came from that port.
fn served(port: u16, server_id: u32, at: u64) -> TracedRequest {
    let request = traced(port, (at + 30, at + 70), Some(5), 40);
    let client = request.client();
    let login = SessionLogin { client, id: Some(server_id.into()), ..SessionLogin::default() };
    TracedRequest { login: Some(Arc::new(login)), ..request }
}

/// One side's call.
#[derive(Clone, Debug)]
enum Call {
    Exchange(StatementExchange),
    Request(Box<TracedRequest>),
}

fn join(calls: &[Call], exchanges: &[StatementExchange]) -> JoinCounts {
    let mut joiner = StatementJoiner::new();
    for call in calls {
        match call {
            Call::Exchange(exchange) => joiner.exchange(*exchange),
            Call::Request(request) => joiner.request(request),
        }
    }
    joiner.transaction(driven(1, exchanges, 7));
    joiner.finish().1
}

/// `each` statements on each of `connections` connections, relayed or not, and their requests; and
/// one request of a client that has nothing to do with them.
fn both_sides(
    connections: u16,
    each: u64,
    is_relayed: bool,
) -> (Vec<StatementExchange>, Vec<TracedRequest>) {
    let (mut exchanges, mut requests) = (Vec::new(), vec![served(9_000, 900, 150)]);
    for number in 0..each {
        for connection in 1..=connections {
            let at = 200 * (number * u64::from(connections) + u64::from(connection));
            let port = if is_relayed { connection + 500 } else { connection };
            exchanges.push(sent(connection, connection.into(), at));
            requests.push(served(port, connection.into(), at));
        }
    }
    (exchanges, requests)
}

proptest! {
    /// In whatever order the sides come, as long as each connection's own order is kept.
    #[test]
    fn every_statement_finds_its_request(
        connections in 1_u16..4,
        each in 1_u64..5,
        is_relayed: bool,
        turns in prop::collection::vec(any::<bool>(), 60),
    ) {
        let (exchanges, requests) = both_sides(connections, each, is_relayed);
        let (mut sent, mut served) = (exchanges.iter(), requests.iter());
        let mut calls = Vec::new();
        let exchange = |sent: &StatementExchange| Call::Exchange(*sent);
        let request = |served: &TracedRequest| Call::Request(Box::new(served.clone()));
        for is_driver in turns {
            match is_driver {
                true => calls.extend(sent.next().map(exchange)),
                false => calls.extend(served.next().map(request)),
            }
        }
        calls.extend(sent.map(exchange));
        calls.extend(served.map(request));
        let counts = join(&calls, &exchanges);
        let matched = u64::from(connections) * each;
        let expected =
            JoinCounts { matched, transactions: 1, foreign: 1, ..JoinCounts::default() };
        prop_assert_eq!(counts, expected);
    }
}

#[test]
fn what_is_settled_is_found_again() {
    let mut joiner = StatementJoiner::new();
    for (number, at) in [(1, 1_000), (2, 5_000)] {
        let sent = StatementExchange { transaction: number, ..sent(1, 7, at) };
        joiner.request(&served(501, 7, at));
        joiner.exchange(sent);
        joiner.transaction(driven(number, &[sent], 7));
        joiner.settle(MonoNanos(at + 2_000));
        assert_eq!(joiner.undecided(), 0);
    }
    assert_eq!(joiner.finish().1.matched, 2);
}

/// The ports of a relay are those of another network, and may be the driver's by number.
#[test]
fn a_name_that_both_networks_have_is_not_taken_for_the_drivers() {
    let exchanges = [sent(1, 7, 1_000), sent(2, 8, 2_000)];
    let requests = [served(2, 7, 1_000), served(1, 8, 2_000)];
    let exchanged = exchanges.iter().map(|sent| Call::Exchange(*sent));
    let calls: Vec<_> = exchanged
        .chain(requests.into_iter().map(|request| Call::Request(Box::new(request))))
        .collect();
    assert_eq!(join(&calls, &exchanges).matched, 2);
}

/// A number that the server gives again is that of the new connection.
#[test]
fn a_number_may_come_again() {
    let exchanges = [sent(1, 7, 1_000), sent(2, 7, 2_000)];
    let calls: Vec<_> = exchanges
        .iter()
        .zip([501, 502])
        .flat_map(|(sent, port)| {
            [Call::Exchange(*sent), Call::Request(Box::new(served(port, 7, sent.sent.0)))]
        })
        .collect();
    assert_eq!(join(&calls, &exchanges).matched, 2);
}
