//! Single timelines, each with its whole outcome.

pub(crate) mod fixtures;
mod long_statements;
mod prepared_pipelines;
mod random_timelines;
mod relayed;
mod true_timelines;

use super::{JoinedTransaction, StatementJoiner};
use dbtime_model::exchange::StatementExchange;
use dbtime_model::exemplar::ServedTimes;
use dbtime_model::record::JoinCounts;
use dbtime_model::recorder::{Recorder, Window};
use dbtime_model::traced::{AnswerTaking, Blocker, RequestOutcome, TracedRequest};
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts, StatementId};
use fixtures::{driven, exchange, several, traced};

/// Joins one transaction of these exchanges with these requests.
fn join(
    exchanges: &[StatementExchange],
    requests: &[TracedRequest],
) -> (Option<JoinedTransaction>, JoinCounts) {
    join_by(StatementJoiner::new(), exchanges, requests)
}

fn join_by(
    mut joiner: StatementJoiner,
    exchanges: &[StatementExchange],
    requests: &[TracedRequest],
) -> (Option<JoinedTransaction>, JoinCounts) {
    requests.iter().for_each(|request| joiner.request(request));
    exchanges.iter().for_each(|exchange| joiner.exchange(*exchange));
    joiner.transaction(driven(1, exchanges, 7));
    let (mut joined, counts) = joiner.finish();
    assert!(joined.len() <= 1);
    (joined.pop(), counts)
}

fn counts(matched: u64) -> JoinCounts {
    JoinCounts { matched, transactions: 1, ..JoinCounts::default() }
}

fn left_out() -> JoinCounts {
    JoinCounts { left_out: 1, ..JoinCounts::default() }
}

fn statement_parts(joined: &JoinedTransaction) -> Vec<Parts> {
    joined.statements.iter().map(|statement| statement.parts).collect()
}

/// Parts of a statement; the other parts of a request are measured and nothing.
fn parts(wire: i64, queue: Option<i64>, cpu: i64, unexplained: i64) -> Parts {
    let mut parts = Parts::traced(|_| Nanos::ZERO);
    let amounts = [(Part::Wire, wire), (Part::Cpu, cpu), (Part::Unexplained, unexplained)];
    amounts.into_iter().for_each(|(part, ns)| parts.add(part, ns));
    queue.into_iter().for_each(|ns| parts.add(Part::ServerQueue, ns));
    parts
}

fn is_measured(parts: &Parts, part: Part) -> bool {
    parts.measured().iter().any(|measured| measured == part)
}

#[test]
fn a_statement_is_its_request_and_the_ways_to_and_fro() {
    let sent = StatementExchange { late: Nanos(4), ..exchange(1, 100, 200) };
    let (joined, found) = join(&[sent], &[traced(1, (120, 180), Some(5), 50)]);
    let joined = joined.expect("it is matched");
    assert_eq!(found, counts(1));
    // Out: 100 to 115; back: 180 to 200, of which 4 in the driver's socket.
    assert_eq!(statement_parts(&joined), [parts(15 + 16, Some(5), 50, 10)]);
    assert_eq!(joined.statements[0].took, Nanos(96));
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
    assert_eq!(joined.parts.get(Part::Client), joined.driven.parts.get(Part::Client));
    assert!(!is_measured(&joined.parts, Part::ServerAndWire));
    assert_eq!(joined.statements[0].answer.served, Some(times(Some(115), 120, 180)));
}

/// On connection 1, by thread 1.
fn times(arrived: Option<u64>, start: u64, end: u64) -> ServedTimes {
    let (start, end, arrived) = (MonoNanos(start), MonoNanos(end), arrived.map(MonoNanos));
    ServedTimes { connection: 1, thread: 1, arrived, start, end }
}

#[test]
fn instants_at_the_server_are_those_of_a_statements_own_requests() {
    let served = |exchanges: &[StatementExchange], requests: &[TracedRequest]| {
        let joined = join(exchanges, requests).0.expect("it is matched");
        joined.statements.iter().map(|statement| statement.answer.served).collect::<Vec<_>>()
    };
    let prepare = TracedRequest { command: 0x16, ..traced(1, (110, 120), Some(2), 9) };
    let requests = [prepare, traced(1, (150, 170), None, 20)];
    assert_eq!(served(&[exchange(1, 100, 200)], &requests), [Some(times(Some(108), 110, 170))]);
    let both = [exchange(1, 100, 200), exchange(1, 100, 230)];
    let requests = [traced(1, (110, 120), None, 9), traced(1, (130, 170), Some(4), 20)];
    let own = [Some(times(None, 110, 120)), Some(times(Some(126), 130, 170))];
    assert_eq!(served(&both, &requests), own);
    let shared = [several(traced(1, (110, 190), None, 9), &[Some(30), Some(50)])];
    assert_eq!(served(&both, &shared), [None, None]);
}

#[test]
fn a_transaction_that_is_kept_whole_has_its_statements_and_who_let_go() {
    let blocker = Blocker { thread: Some(9), length: Nanos(30), ..Blocker::default() };
    let waited = TracedRequest { blocker: Some(blocker), ..traced(1, (320, 380), None, 10) };
    let exchanges = [exchange(1, 100, 200), exchange(1, 300, 400)];
    let joined = join(&exchanges, &[traced(1, (120, 180), None, 50), waited]).0.expect("matched");
    let window = Window { start: MonoNanos(0), end: MonoNanos(1_000) };
    let mut recorder: Recorder = Recorder::new(window, 1, 1, 1);
    joined.record(&mut recorder);
    let kept = recorder.operations[0].exemplars.slowest();
    let [only] = &kept[..] else { panic!("{kept:?}") };
    let holders = only.statements.iter().map(|s| s.blocker.as_deref().and_then(|b| b.thread));
    assert_eq!(holders.collect::<Vec<_>>(), [None, Some(9)]);
    assert_eq!(only.statements[1].served, Some(times(None, 320, 380)));
}

#[test]
fn the_way_back_ends_where_the_answer_arrives() {
    let sent = StatementExchange { late: Nanos(4), ..exchange(1, 100, 200) };
    let arrived_at = |at| TracedRequest {
        answer_arrived: Some(MonoNanos(at)),
        ..traced(1, (120, 180), Some(5), 50)
    };
    let taken_of = |arrived| TracedRequest {
        taken: Some(AnswerTaking { arrived: MonoNanos(arrived), runq: Nanos(9) }),
        ..traced(1, (250, 260), Some(5), 1)
    };
    // Out: 100 to 115; back: 180 to the arrival; then 200 is the reading, 4 of it late already.
    for (at, back, taking, waited) in [(176, -4, 20, 5), (190, 10, 6, 5)] {
        let (joined, found) = join(&[sent], &[arrived_at(at), taken_of(at)]);
        let joined = joined.expect("it is matched");
        assert_eq!(found, JoinCounts { outside: 1, arrived: 1, ..counts(1) });
        let mut expected = parts(15 + back, Some(5), 50, 10);
        expected.add(Part::Client, taking);
        assert_eq!(statement_parts(&joined), [expected]);
        assert_eq!(joined.statements[0].took, Nanos(96));
        assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
        let between = joined.driven.parts.get(Part::Client);
        assert_eq!(joined.parts.get(Part::Client), between + taking);
        let runq = (joined.client_runq, joined.statements[0].client_runq);
        // That is a part of what the driver took, and no more than it.
        assert_eq!(runq, (Some(Nanos(waited)), Some(Nanos(waited))));
    }
    // The arrival was noted behind the reading: the way goes on until then.
    let joined = join(&[sent], &[arrived_at(205), taken_of(205)]).0.expect("it is matched");
    assert_eq!(statement_parts(&joined), [parts(15 + 16, Some(5), 50, 10)]);
    assert_eq!(
        (joined.client_runq, joined.statements[0].client_runq),
        (Some(Nanos(0)), Some(Nanos(0)))
    );
    // What was taken is another answer, or none was.
    for next in [vec![], vec![taken_of(150)]] {
        let requests = [vec![arrived_at(176)], next].concat();
        let joined = join(&[sent], &requests).0.expect("it is matched");
        assert_eq!((joined.client_runq, joined.statements[0].client_runq), (None, None));
    }
    // The driver leaves answers in its socket as if they were on their way.
    let mut behind_network = StatementJoiner::new();
    behind_network.ignore_arrivals();
    let (joined, found) = join_by(behind_network, &[sent], &[arrived_at(176), taken_of(176)]);
    assert_eq!(found, JoinCounts { outside: 1, ..counts(1) });
    let joined = joined.expect("it is matched");
    assert_eq!(statement_parts(&joined), [parts(15 + 16, Some(5), 50, 10)]);
    assert_eq!(joined.client_runq, None);
}

/// The driver had no CPU for longer than its answer was there: no part is less than nothing for
/// that, and what counts twice is said to.
#[test]
fn lateness_from_before_an_answer_came_counts_twice() {
    let request = |arrived: Option<u64>| TracedRequest {
        answer_arrived: arrived.map(MonoNanos),
        ..traced(1, (120, 180), Some(5), 50)
    };
    let sent = StatementExchange { late: Nanos(30), ..exchange(1, 100, 200) };
    // Of 30 without a CPU the last 12 were behind the arrival; where that is not known all may have
    // been on the ways, which are 35 long.
    for (arrived, wire, client, twice) in [(Some(188), 15 + 8, Some(0), 18), (None, 5, None, 0)] {
        let joined = join(&[sent], &[request(arrived)]).0.expect("it is matched");
        let mut expected = parts(wire, Some(5), 50, 10 - twice);
        client.into_iter().for_each(|ns| expected.add(Part::Client, ns));
        assert_eq!(statement_parts(&joined), [expected]);
        assert_eq!(joined.statements[0].took, Nanos(70));
        let known = Nanos(twice as u64);
        assert_eq!((joined.twice, joined.statements[0].twice), (known, known));
        assert_eq!(joined.parts.get(Part::Client), joined.driven.parts.get(Part::Client));
        assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
    }
}

#[test]
fn an_early_answer_of_a_pipeline_waits_while_the_server_is_at_the_next() {
    let first = StatementExchange { late: Nanos(40), ..exchange(1, 100, 200) };
    let requests = [
        traced(1, (110, 130), Some(5), 20),
        TracedRequest {
            answer_arrived: Some(MonoNanos(230)),
            ..traced(1, (130, 240), Some(25), 110)
        },
    ];
    let joined = join(&[first, exchange(1, 100, 260)], &requests).0.expect("both are matched");
    // Out: 5; back: 240 to 230.
    let mut whole = parts(5 - 10, Some(5), 130, -40);
    whole.add(Part::Client, 30);
    let mut sum = Parts::default();
    statement_parts(&joined).iter().for_each(|of_one| sum.add_all(of_one));
    assert_eq!(sum, whole);
    let shares: Nanos = joined.statements.iter().map(|statement| statement.twice).sum();
    assert_eq!((joined.twice, shares), (Nanos(40), Nanos(40)));
    assert_eq!(joined.parts.get(Part::Client), joined.driven.parts.get(Part::Client) + 30);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn a_statement_may_have_several_requests() {
    let prepare = TracedRequest { command: 0x16, ..traced(1, (110, 120), Some(2), 9) };
    let requests = [prepare, traced(1, (150, 170), Some(3), 20)];
    let (joined, found) = join(&[exchange(1, 100, 200)], &requests);
    assert_eq!(found, counts(1));
    let gap = 147 - 120;
    let expected = parts(8 + gap + 30, Some(5), 29, 1);
    assert_eq!(statement_parts(&joined.expect("it is matched")), [expected]);
}

#[test]
fn what_is_only_prepared_is_not_matched() {
    let prepare = || TracedRequest { command: 0x16, ..traced(1, (110, 120), Some(2), 9) };
    let (joined, found) = join(&[exchange(1, 100, 200)], &[prepare()]);
    assert!(joined.is_none());
    assert_eq!(found, JoinCounts { unmatched: 1, ..left_out() });
    let of_script = StatementExchange { statement: None, ..exchange(1, 100, 200) };
    assert_eq!(join(&[of_script], &[prepare()]).1, counts(1));
    let error = Some(dbtime_model::traced::ErrorCode::Number(1064));
    let refused = TracedRequest { error, ..prepare() };
    assert_eq!(join(&[exchange(1, 100, 200)], &[refused]).1, counts(1));
}

#[test]
fn logins_and_settings_are_outside() {
    // The login's last write ends after the first statement was sent: it was read before.
    let requests = [
        traced(1, (50, 90), None, 1),
        traced(1, (92, 101), Some(1), 1),
        traced(1, (110, 150), Some(2), 9),
        traced(1, (200, 210), Some(20), 1),
    ];
    let (joined, found) = join(&[exchange(1, 100, 200)], &requests);
    assert_eq!(found, JoinCounts { outside: 3, ..counts(1) });
    assert_eq!(statement_parts(&joined.expect("it is matched")), [parts(58, Some(2), 9, 31)]);
}

#[test]
fn others_requests_are_foreign() {
    let keyless = TracedRequest { login: None, ..traced(2, (110, 150), None, 1) };
    let requests = [traced(2, (110, 150), None, 1), keyless, traced(1, (110, 150), None, 1)];
    let (_, found) = join(&[exchange(1, 100, 200)], &requests);
    assert_eq!(found, JoinCounts { foreign: 2, ..counts(1) });
}

#[test]
fn a_transaction_may_go_on_with_another_connection() {
    let exchanges = [exchange(1, 100, 200), exchange(2, 400, 500)];
    let requests = [traced(2, (410, 450), Some(1), 9), traced(1, (110, 150), Some(1), 5)];
    let (joined, found) = join(&exchanges, &requests);
    assert_eq!(found, counts(2));
    let joined = joined.expect("both are matched");
    assert_eq!(joined.statements.iter().map(|s| s.exchange.sent.0).collect::<Vec<_>>(), [100, 400]);
    assert_eq!(joined.parts.get(Part::Cpu), 14);
}

#[test]
fn connecting_stays_with_server_and_wire() {
    let mut joiner = StatementJoiner::new();
    let sent = exchange(1, 100, 200);
    let mut over = driven(1, &[sent], 7);
    over.parts.add(Part::ServerAndWire, 30);
    over.parts.close(over.sample.response());
    joiner.exchange(sent);
    joiner.transaction(over);
    joiner.request(&traced(1, (110, 150), Some(1), 9));
    let (joined, _) = joiner.finish();
    assert_eq!(joined[0].parts.get(Part::ServerAndWire), 30);
    assert_eq!(joined[0].parts.total(), over.sample.response().signed());
}

#[test]
fn pipelined_statements_have_their_own_requests() {
    let exchanges = [exchange(1, 100, 200), exchange(1, 100, 200), exchange(1, 100, 260)];
    // The second and third lay in the socket while the server was at those before them.
    let requests = [
        traced(1, (110, 130), Some(5), 20),
        traced(1, (134, 154), Some(29), 10),
        traced(1, (154, 240), Some(49), 80),
    ];
    let (joined, found) = join(&exchanges, &requests);
    assert_eq!(found, counts(3));
    let joined = joined.expect("all are matched");
    let expected =
        [parts(5 + 20, Some(5), 20, 0), parts(0, Some(4), 10, 10), parts(0, Some(0), 80, 6)];
    assert_eq!(statement_parts(&joined), expected);
    assert_eq!(joined.statements.iter().map(|s| s.took.0).sum::<u64>(), 160);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn one_request_of_several_statements_is_split_by_their_lengths() {
    let exchanges = [exchange(1, 100, 200), exchange(1, 100, 200), exchange(1, 100, 200)];
    let batch = several(traced(1, (110, 190), Some(5), 70), &[Some(10), Some(30), Some(39)]);
    let (joined, found) = join(&exchanges, &[batch]);
    assert_eq!(found, counts(3));
    let joined = joined.expect("all are matched");
    let expected = [
        parts(15, Some(5), 70 * 10 / 79, 10 - 8),
        parts(0, None, 70 * 30 / 79, 30 - 26),
        parts(0, None, 70 - 8 - 26, 40 - 36),
    ];
    assert_eq!(statement_parts(&joined), expected);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn statements_that_cannot_be_told_apart_have_no_parts_of_their_own() {
    let exchanges = [exchange(1, 100, 200), exchange(1, 100, 200)];
    let batch = several(traced(1, (110, 190), Some(5), 70), &[Some(10), None]);
    let (joined, found) = join(&exchanges, &[batch]);
    assert_eq!(found, JoinCounts { unsplit: 2, ..counts(2) });
    let joined = joined.expect("both are matched");
    assert!(joined.statements.is_empty());
    assert_eq!((joined.parts.get(Part::Cpu), joined.parts.get(Part::Wire)), (70, 15));
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn a_pipeline_without_one_of_its_requests_is_not_matched() {
    let exchanges = [exchange(1, 100, 200), exchange(1, 100, 200)];
    let (_, found) = join(&exchanges, &[traced(1, (110, 130), Some(5), 20)]);
    assert_eq!(found, JoinCounts { unmatched: 2, ..left_out() });
}

#[test]
fn one_statement_without_a_request_leaves_its_transaction_out() {
    let exchanges = [exchange(1, 100, 200), exchange(1, 210, 300)];
    let (joined, found) = join(&exchanges, &[traced(1, (110, 150), Some(1), 9)]);
    assert!(joined.is_none());
    assert_eq!(found, JoinCounts { matched: 1, unmatched: 1, ..left_out() });
    let unnamed = StatementExchange { key: None, ..exchange(1, 100, 200) };
    assert_eq!(join(&[unnamed], &[]).1, JoinCounts { unmatched: 1, ..left_out() });
}

#[test]
fn a_transaction_that_lacks_an_exchange_is_left_out() {
    let mut joiner = StatementJoiner::new();
    joiner.exchange(exchange(1, 100, 200));
    joiner.request(&traced(1, (110, 150), Some(1), 9));
    joiner.transaction(driven(1, &[exchange(1, 100, 200), exchange(1, 210, 300)], 7));
    assert_eq!(joiner.finish().1, JoinCounts { matched: 1, ..left_out() });
}

#[test]
fn contradictions_are_ambiguous() {
    let ambiguous = JoinCounts { ambiguous: 1, ..left_out() };
    let arrived_before = [traced(1, (110, 150), Some(11), 9)];
    assert_eq!(join(&[exchange(1, 100, 200)], &arrived_before).1, ambiguous);
    let outcome = RequestOutcome::Aborted;
    let aborted = [TracedRequest { outcome, ..traced(1, (110, 150), Some(1), 9) }];
    assert_eq!(join(&[exchange(1, 100, 200)], &aborted).1, ambiguous);
    let of_other = TracedRequest { connection: 99, ..traced(1, (160, 170), Some(1), 9) };
    let requests = [traced(1, (110, 150), Some(1), 9), of_other];
    assert_eq!(join(&[exchange(1, 100, 200)], &requests).1, ambiguous);
}

#[test]
fn a_statement_may_be_sent_before_the_last_answers_write_is_over() {
    let exchanges = [exchange(1, 100, 200), exchange(1, 203, 300)];
    let requests = [traced(1, (110, 230), Some(1), 90), traced(1, (232, 280), Some(20), 40)];
    let (joined, found) = join(&exchanges, &requests);
    assert_eq!(found, counts(2));
    let joined = joined.expect("both are matched");
    // Back: 230 to 200.
    let expected = [parts(9 - 30, Some(1), 90, 30), parts(9 + 20, Some(20), 40, 8)];
    assert_eq!(statement_parts(&joined), expected);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn an_unknown_queue_is_on_the_wire_and_not_measured() {
    let (joined, _) = join(&[exchange(1, 100, 200)], &[traced(1, (120, 180), None, 50)]);
    let joined = joined.expect("it is matched");
    assert_eq!(statement_parts(&joined), [parts(20 + 20, None, 50, 10)]);
    assert!(!is_measured(&joined.parts, Part::ServerQueue));
}

/// What a thread waited for before it read a request: woken so long, throttled so long.
fn waited_for(runq_woken: u64, throttled: u64) -> Option<ServerQueueParts> {
    let (runq_woken, throttled) = (Nanos(runq_woken), Nanos(throttled));
    Some(ServerQueueParts { runq_woken, throttled, ..ServerQueueParts::default() })
}

#[test]
fn what_the_thread_waited_for_before_it_read_is_no_queue() {
    let request =
        TracedRequest { queue_parts: waited_for(3, 10), ..traced(1, (120, 180), Some(15), 50) };
    let (joined, _) = join(&[exchange(1, 100, 200)], &[request]);
    let joined = joined.expect("it is matched");
    let mut expected = parts(5 + 20, Some(2), 50, 10);
    expected.add(Part::RunqWoken, 3);
    expected.add(Part::Throttled, 10);
    assert_eq!(statement_parts(&joined), [expected]);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
    assert_eq!(joined.statements[0].answer.served, Some(times(Some(105), 120, 180)));
}

/// The second lies there while the first is served, by another thread of a pool.
#[test]
fn waits_while_another_request_was_served_are_no_part_of_the_next() {
    let sent = [exchange(1, 100, 160), exchange(1, 100, 200)];
    let second =
        TracedRequest { queue_parts: waited_for(40, 0), ..traced(1, (154, 190), Some(49), 20) };
    let (joined, _) = join(&sent, &[traced(1, (110, 150), Some(5), 20), second]);
    let joined = joined.expect("both are matched");
    assert_eq!(joined.parts.get(Part::RunqWoken), 4);
    assert_eq!(joined.parts.get(Part::ServerQueue), 5);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn a_request_without_parts_is_one_number() {
    let unknown = |request| TracedRequest { parts: Parts::default(), ..request };
    let (joined, found) =
        join(&[exchange(1, 100, 200)], &[unknown(traced(1, (120, 180), Some(5), 50))]);
    assert_eq!(found, counts(1));
    let joined = joined.expect("it is matched");
    let parts = [(Part::Wire, 15 + 20), (Part::ServerQueue, 5), (Part::ServerAndWire, 60)];
    assert_eq!(statement_parts(&joined), [Parts::of(&parts)]);
    assert!(!is_measured(&joined.parts, Part::Cpu) && !is_measured(&joined.parts, Part::Lock));
    assert_eq!(joined.parts.get(Part::Unexplained), 0);
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn a_transaction_without_statements_did_nothing_at_the_server() {
    let (joined, found) = join(&[], &[]);
    assert_eq!(found, counts(0));
    let joined = joined.expect("nothing was to be matched");
    assert!(is_measured(&joined.parts, Part::Cpu) && is_measured(&joined.parts, Part::Wire));
    assert_eq!(joined.parts.total(), joined.driven.sample.response().signed());
}

#[test]
fn what_is_decided_is_handed_on_and_forgotten() {
    let mut joiner = StatementJoiner::new();
    for number in 0..1000u64 {
        let at = number * 200;
        let sent = StatementExchange { transaction: number, ..exchange(1, at + 100, at + 200) };
        joiner.request(&traced(1, (at + 110, at + 150), Some(1), 9));
        joiner.exchange(sent);
        joiner.transaction(driven(number, &[sent], 0));
        let joined: Vec<u64> = joiner.take_joined().map(|j| j.driven.transaction).collect();
        assert_eq!(joined, number.checked_sub(1).into_iter().collect::<Vec<_>>());
        assert!(joiner.undecided() <= 3, "{}", joiner.undecided());
    }
}

#[test]
fn a_pipeline_waits_for_its_last_answer() {
    let mut joiner = StatementJoiner::new();
    let of_next = |read| StatementExchange { transaction: 2, ..exchange(1, 300, read) };
    // A transaction is over while the next one is under way.
    joiner.exchange(exchange(1, 100, 200));
    joiner.exchange(of_next(400));
    joiner.transaction(driven(1, &[exchange(1, 100, 200)], 7));
    joiner.request(&traced(1, (110, 190), Some(5), 20));
    joiner.request(&traced(1, (310, 390), Some(5), 20));
    joiner.request(&traced(1, (410, 490), Some(90), 20));
    assert_eq!(joiner.take_joined().count(), 1);
    joiner.exchange(of_next(500));
    joiner.transaction(driven(2, &[of_next(400), of_next(500)], 7));
    let (joined, found) = joiner.finish();
    assert_eq!(found, JoinCounts { transactions: 2, ..counts(3) });
    assert_eq!(joined[0].statements.len(), 2);
}

#[test]
fn settling_decides_closed_idle_and_foreign_connections() {
    let mut joiner = StatementJoiner::new();
    for number in 0..1000u16 {
        let at = u64::from(number) * 200;
        let sent = StatementExchange {
            transaction: number.into(),
            ..exchange(number, at + 100, at + 200)
        };
        joiner.request(&traced(number, (at + 110, at + 150), Some(1), 9));
        joiner.request(&traced(number + 1000, (at + 110, at + 150), Some(1), 9));
        joiner.exchange(sent);
        joiner.transaction(driven(number.into(), &[sent], 0));
        joiner.settle(MonoNanos(at + 200));
        assert_eq!(joiner.take_joined().count(), 1);
        assert_eq!(joiner.undecided(), 0);
    }
    let expected = JoinCounts { foreign: 1000, transactions: 1000, ..counts(1000) };
    assert_eq!(joiner.counts(), expected);
    // What comes too late is no match: a request of it may have been dropped.
    joiner.exchange(exchange(1, 100, 200));
    assert_eq!(joiner.counts().ambiguous, 1);
}

#[test]
fn joined_transactions_make_a_budget() {
    let window = Window { start: MonoNanos(0), end: MonoNanos(1000) };
    let mut recorder = Recorder::new(window, 1, 1, 1);
    let sent =
        [exchange(1, 100, 200), StatementExchange { statement: None, ..exchange(1, 300, 400) }];
    let requests = [traced(1, (120, 180), Some(5), 50), traced(1, (320, 380), Some(5), 50)];
    let joined = join(&sent, &requests).0.expect("both are matched");
    joined.record(&mut recorder);
    let budget = recorder.operations[0].cells.total();
    assert_eq!((budget.count, budget.sums.get(Part::Cpu)), (1, 100));
    assert_eq!(budget.sums.total(), budget.response_ns.cast_signed());
    let statement = recorder.statements[StatementId(0).0 as usize].budget;
    assert_eq!((statement.count, statement.response_ns), (1, 100));
    assert_eq!(statement.sums.get(Part::Cpu), 50);
}
