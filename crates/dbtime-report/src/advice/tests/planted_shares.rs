//! Shares of random size, one of them planted: the first piece of advice is on that.

use super::{mariadb, postgres};
use crate::advice::RunAdvice;
use dbtime_model::Part;
use proptest::prelude::*;

/// Parts whose advice is ordered by what it can win, and their rules.
const ORDINARY: [(Part, &str); 10] = [
    (Part::Lag, "driver_delay"),
    (Part::Backoff, "retries"),
    (Part::Wire, "round_trips"),
    (Part::Cpu, "server_cpu"),
    (Part::Lock, "lock_waits"),
    (Part::IoRead, "file_reads"),
    (Part::IoWrite, "page_writes"),
    (Part::Sync, "log_sync"),
    (Part::Net, "network"),
    (Part::Other, "elsewhere"),
];

/// Parts that change all else.
const FIRST: [(Part, &str); 2] = [(Part::Stopped, "stopped"), (Part::Throttled, "cpu_limit")];

/// This part of a response of 1 ms, and the rest divided among the ordinary ones.
fn planted(part: Part, us: f64, weights: &[f64]) -> Vec<(Part, f64)> {
    let others = || ORDINARY.into_iter().zip(weights).filter(|((other, _), _)| *other != part);
    let sum: f64 = others().map(|(_, weight)| weight).sum();
    let share = |((other, _), weight): ((Part, _), &f64)| (other, (1000.0 - us) * weight / sum);
    let mut parts: Vec<_> = others().map(share).collect();
    parts.push((part, us));
    parts
}

fn first_rule(parts: &[(Part, f64)]) -> Vec<&'static str> {
    let first = |record| RunAdvice::of(&record).advice.first().map(|advice| advice.rule);
    [mariadb(parts), postgres(parts)].into_iter().filter_map(first).collect()
}

proptest! {
    #[test]
    fn what_holds_most_of_the_time_is_first(
        (part, rule) in prop::sample::select(&ORDINARY[..]),
        us in 550.0..900.0f64,
        weights in prop::collection::vec(0.01..1.0f64, ORDINARY.len()),
    ) {
        prop_assert_eq!(first_rule(&planted(part, us, &weights)), [rule; 2]);
    }

    #[test]
    fn what_changes_all_else_is_first_from_a_tenth_on(
        (part, rule) in prop::sample::select(&FIRST[..]),
        us in 101.0..900.0f64,
        weights in prop::collection::vec(0.01..1.0f64, ORDINARY.len()),
    ) {
        prop_assert_eq!(first_rule(&planted(part, us, &weights)), [rule; 2]);
    }
}
