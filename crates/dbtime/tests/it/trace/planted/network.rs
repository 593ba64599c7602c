//! Causes on the way between client and server.

use super::*;
use crate::relay::{Relay, RelayPace};
use std::net::Ipv4Addr;

#[test]
fn a_delay_of_the_network_is_the_wire() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let delays = [Duration::ZERO, Duration::from_millis(2)];
        let paces = delays.map(|delay| RelayPace { delay, ..RelayPace::default() });
        is_found(|| {
            let relays =
                paces.map(|pace| Relay::start(Ipv4Addr::LOCALHOST, server.server.port(), pace));
            let runs = relays.each_ref().map(|relay| {
                let target = server.target_at(server.server.user(), "", relay.at);
                let load = "--connections 2 --rate 100/s --time 3s";
                ExplainedRun::of(&format!("--query 'SELECT 1' --target '{target}' {load}"))
            });
            let [Some(without), Some(with)] = runs else { return None };
            let [before, held] = relays.each_ref().map(Relay::mean_hold);
            with.advises("round_trips", &["round trip"]);
            // There and back.
            let found = growth(&without, &with, &["wire"]).0;
            let planted = 2e6 * (held - before).as_secs_f64();
            Some(with.if_first("the network, a relay or a proxy", (found, planted)))
        });
    }
}

#[test]
fn a_client_that_reads_slowly_is_the_net() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        // Of both there are some in the window, which begins after the first.
        let loads = [(Duration::ZERO, 40), (Duration::from_micros(500), 4)];
        let series = match product {
            Product::Postgres => "generate_series(1, 40)",
            _ => "seq_1_to_40",
        };
        let query = format!("SELECT REPEAT('x', 1000000) FROM {series}");
        is_found(|| {
            let runs = loads.map(|(pause, transactions)| {
                let pace = RelayPace { pause, ..RelayPace::default() };
                let relay = Relay::start(Ipv4Addr::LOCALHOST, server.server.port(), pace);
                let target = server.target_at(server.server.user(), "", relay.at);
                let load = format!("--connections 1 --transactions {transactions}");
                ExplainedRun::of(&format!("--query \"{query}\" --target '{target}' {load}"))
            });
            let [Some(without), Some(with)] = runs else { return None };
            let budget = &with.record["budget_us"];
            assert!(with.part_us("net") > 2.0 * with.part_us("wire"), "{budget}");
            with.advises("network", &["did not read", "fewer and smaller rows"]);
            let words = "takes answers more slowly than the server sends them";
            Some(with.if_first(words, growth(&without, &with, &["net", "wire"])))
        });
    }
}
