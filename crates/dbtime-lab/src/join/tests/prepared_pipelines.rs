//! Statements under way together that are prepared on their first use.

use super::fixtures::{exchange, traced};
use super::{counts, join, parts, statement_parts};
use dbtime_model::Part;
use dbtime_model::record::JoinCounts;
use dbtime_model::traced::TracedRequest;

fn prepare(times: (u64, u64), queue: u64) -> TracedRequest {
    TracedRequest { command: 0x16, ..traced(1, times, Some(queue), 3) }
}

#[test]
fn what_prepares_belongs_to_the_statement_that_is_executed_next() {
    let exchanges = [exchange(1, 100, 180), exchange(1, 100, 260)];
    let requests = [
        prepare((110, 120), 5),
        traced(1, (122, 150), Some(17), 20),
        prepare((150, 160), 45),
        traced(1, (161, 240), Some(56), 70),
    ];
    let (joined, found) = join(&exchanges, &requests);
    assert_eq!(found, counts(2));
    let joined = joined.expect("both are matched");
    let expected = [parts(5 + 20, Some(5 + 2), 3 + 20, 7 + 8), parts(0, Some(1), 3 + 70, 7 + 9)];
    assert_eq!(statement_parts(&joined), expected);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn what_prepares_last_is_of_no_known_statement() {
    let exchanges = [exchange(1, 100, 180), exchange(1, 100, 260)];
    let requests = [
        traced(1, (110, 150), Some(5), 20),
        traced(1, (150, 160), Some(45), 5),
        prepare((161, 240), 56),
    ];
    let (joined, found) = join(&exchanges, &requests);
    assert_eq!(found, JoinCounts { unsplit: 2, ..counts(2) });
    let joined = joined.expect("both are matched");
    assert_eq!(joined.parts.get(Part::Cpu), 28);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}
