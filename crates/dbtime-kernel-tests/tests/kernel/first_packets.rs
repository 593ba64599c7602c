//! What is seen first of connections of MySQL's that were there before: data of a file are no
//! requests, whatever they look like, and the first request of an idle client has a line.

use super::conversation::{Conversation, ConversationTurn, PAUSE};
use super::earlier_requests::seen_of;
use super::last_words::watched;
use super::mysql::{OK, packets};
use super::openings::{client, server};
use super::server::WatchedServer;
use dbtime_model::WireProtocol;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_observe::trace::CaptureConfig;
use dbtime_wire::mysql::command;
use std::ops::Range;

const DATA: &[u8] = b"12\tsecret of a customer, and more of them\n";
const KILLED: &[u8] = b"\xff\x87\x07#70100Connection was killed";
const LOAD: &str = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t";
const SELECT: &str = "SELECT 2";

/// Two rows are changed, and another statement of the same text follows.
const MORE: &[u8] = &[0, 2, 0, 10, 0, 0, 0];

/// A packet, of which servers read the header by itself.
fn packet(number: usize, payload: &[u8]) -> Vec<ConversationTurn> {
    let bytes = packets(number as u8, &[payload]);
    let (header, rest) = bytes.split_at(4);
    [header, rest].into_iter().filter(|piece| !piece.is_empty()).map(client).collect()
}

fn answer(number: usize, payload: &[u8]) -> ConversationTurn {
    server(&packets(number as u8, &[payload]))
}

fn asked(code: u8, rest: &[u8]) -> Vec<ConversationTurn> {
    packet(0, &[&[code][..], rest].concat())
}

fn answered(text: &str) -> Vec<ConversationTurn> {
    [asked(command::QUERY, text.as_bytes()), vec![answer(1, OK)]].concat()
}

fn select() -> Vec<ConversationTurn> {
    answered(SELECT)
}

/// Packets of a file, and an empty one behind them.
fn file(numbers: Range<usize>, data: &[u8]) -> Vec<ConversationTurn> {
    let last = packet(numbers.end, b"");
    numbers.flat_map(|number| packet(number, data)).chain(last).collect()
}

/// The same, and what the server answers.
fn loaded(numbers: Range<usize>, data: &[u8]) -> Vec<ConversationTurn> {
    let last = numbers.end;
    [file(numbers, data), vec![answer(last + 1, OK)]].concat()
}

fn seen(turns: &[ConversationTurn]) -> (Vec<String>, TraceLedger) {
    seen_of(WireProtocol::Mysql, turns)
}

/// There was one request before, of which nothing is known.
fn expect_one_from_before(before: &[ConversationTurn]) {
    let (texts, ledger) = seen(&[before, &select()[..], &select()[..]].concat());
    assert_eq!(texts, [SELECT, SELECT], "{before:?}: {ledger:?}");
    let counts = (ledger.started, ledger.partial, ledger.is_whole());
    assert_eq!(counts, (3, 1, true), "{before:?}: {ledger:?}");
    let others = [ledger.logins, ledger.replication, ledger.connection_errors];
    assert_eq!(others, [0; 3], "{before:?}: {ledger:?}");
}

/// Each 256th packet is numbered as a command is, the next one as a login.
#[test]
fn data_of_a_file_are_no_requests_wherever_the_watching_begins_and_they_end() {
    for first in [1, 2, 9, 10, 250, 255, 256, 257] {
        expect_one_from_before(&loaded(first..600, DATA));
    }
    for last in 254..260 {
        expect_one_from_before(&loaded(250..last, DATA));
    }
    let wishes = vec![answer(1, b"\xfbfile")];
    expect_one_from_before(&[wishes, loaded(2..600, DATA)].concat());
    // An error, which is that request's.
    let failed = answer(301, b"\xff\x56\x05#HY000Incorrect integer value");
    expect_one_from_before(&[file(250..300, DATA), vec![failed]].concat());
}

#[test]
fn data_of_a_file_are_no_requests_whatever_they_look_like() {
    let looks: [&[u8]; 7] = [
        b"\x01secret",
        b"\x03SELECT secret",
        b"\x11root\0\0shop\0",
        b"\x12secret and more",
        b"\x18secret",
        b"\x19secret",
        b"\xef\xbc\x88secret and more",
    ];
    for data in looks {
        expect_one_from_before(&loaded(255..520, data));
        let amid = [packet(255, data), packet(256, data)].concat();
        let mut copying = watched(WireProtocol::Mysql, &amid);
        copying.finds_nothing();
        assert!(copying.requests().is_empty(), "{data:?}: {:?}", copying.requests());
    }
}

/// Until it is known what they are, they are no text of what is under way either.
#[test]
fn data_of_a_file_or_a_copy_are_in_no_snapshot() {
    let packet = packet(256, b"\x03secret");
    let message = vec![client(b"Q 123\tsecret\n")];
    for (protocol, said) in [(WireProtocol::Mysql, packet), (WireProtocol::Postgres, message)] {
        let mut copying = watched(protocol, &said);
        let before = copying.machine.records();
        copying.keep(before);
        copying.capture.snapshot(&mut copying.machine, copying.socket);
        let shown = copying.machine.records().concat();
        let is_shown = shown.windows(6).any(|piece| piece == b"secret");
        assert!(!shown.is_empty() && !is_shown, "{protocol:?}");
    }
}

/// The rest of a long statement may have in it what looks like a header, by itself.
#[test]
fn what_only_looks_like_a_packet_hides_no_request() {
    let (short, long, piece) = (b"\x05\0\0\0", b"ab\0\0", b"ab\0\x03");
    for (header, answered_by) in [(short, 3), (short, 1), (long, 3), (long, 1), (piece, 3)] {
        let rest = [&b"SELECT the rest of"[..], header, b"more of it"].map(client);
        expect_one_from_before(&[&rest[..], &[answer(answered_by, OK)]].concat());
    }
}

#[test]
fn a_file_of_many_packets_is_one_request() {
    for last in [600, 512, 511] {
        let begins = [asked(command::QUERY, LOAD.as_bytes()), vec![answer(1, b"\xfbf")]].concat();
        let turns = [begins, loaded(2..last, DATA), select()].concat();
        let (texts, ledger) = seen(&turns);
        assert_eq!(texts, [LOAD, SELECT], "{last}: {ledger:?}");
        let counts = (ledger.started, ledger.ended, ledger.is_whole());
        assert_eq!(counts, (2, 2, true), "{last}: {ledger:?}");
    }
}

/// The server has another file sent behind its answer to the first, whatever the packets' numbers.
#[test]
fn files_of_several_statements_are_of_one_request() {
    let loads = format!("{LOAD}; {LOAD}");
    let sums = CaptureConfig { adds_up: true, ..CaptureConfig::default() };
    for (first, last) in [(10, 600), (300, 511), (253, 767)] {
        let turns = [
            asked(command::QUERY, loads.as_bytes()),
            vec![answer(1, b"\xfbf")],
            file(2..first, DATA),
            vec![answer(first + 1, MORE), answer(first + 2, b"\xfbf")],
            file(first + 3..last, DATA),
            vec![answer(last + 1, &[0, 3, 0, 2, 0, 0, 0])],
            select(),
        ];
        let mut loading = watched(WireProtocol::Mysql, &turns[..4].concat());
        loading.finds_nothing();
        assert!(loading.requests().is_empty(), "{last}: {:?}", loading.requests());
        drop(loading);

        let talk = Conversation { protocol: WireProtocol::Mysql, turns: turns.concat() };
        let (requests, ledger) = talk.whole();
        let lines: Vec<_> = requests.iter().map(|one| (&*one.text, one.rows)).collect();
        assert_eq!(lines, [(&*loads, Some(5)), (SELECT, Some(0))], "{last}: {ledger:?}");
        let counts = (ledger.started, ledger.ended, ledger.is_whole());
        assert_eq!(counts, (2, 2, true), "{last}: {ledger:?}");

        let mut summed = WatchedServer::new(WireProtocol::Mysql, &sums);
        talk.play(&mut summed, &mut |_, _| Vec::new());
        let count: u64 = summed.statements().iter().map(|(_, totals)| totals.count).sum();
        assert_eq!(count, 2, "{last}: sums know no rows");
    }
}

/// It may be a row that begins with NULL: no packet of a file follows.
#[test]
fn what_only_looks_like_a_request_for_a_file_hides_no_request() {
    let several = "DO 1; SELECT NULL";
    let looks = vec![answer(1, MORE), answer(2, b"\xfb\x01a")];
    let turns = [asked(command::QUERY, several.as_bytes()), looks, select(), select()].concat();
    let (texts, ledger) = seen(&turns);
    assert_eq!(texts, [several, SELECT, SELECT], "{ledger:?}");
    assert!(ledger.is_whole() && ledger.resync == 0, "{ledger:?}");
}

/// Of a file's packets the last was not read, or none was.
#[test]
fn a_file_whose_end_was_not_read_hides_no_request() {
    for last in [2, 300, 511] {
        let begins = [asked(command::QUERY, LOAD.as_bytes()), vec![answer(1, b"\xfbf")]].concat();
        let data: Vec<_> = (2..last).flat_map(|number| packet(number, DATA)).collect();
        let ends = vec![answer(last + 1, OK)];
        let (texts, ledger) = seen(&[begins, data, ends, select(), select()].concat());
        assert_eq!(texts, [LOAD, SELECT, SELECT], "{last}: {ledger:?}");
        let counts = (ledger.started, ledger.ended, ledger.is_whole());
        assert_eq!(counts, (3, 3, true), "{last}: {ledger:?}");
    }
}

/// More packets come at once than are looked at in a read: where the file ends is not known.
#[test]
fn requests_behind_a_file_that_was_lost_track_of_have_lines() {
    let begins = [asked(command::QUERY, b"LOAD"), vec![answer(1, b"\xfbf")]].concat();
    let pieces = file(2..3000, b"x");
    let at_once: Vec<u8> = pieces.iter().flat_map(|turn| turn.bytes()).copied().collect();
    let ends = [client(&at_once), answer(3001, OK)];
    let (texts, ledger) = seen(&[&begins[..], &ends, &select(), &select()].concat());
    assert_eq!(texts, [SELECT, SELECT], "{ledger:?}");
    assert!(ledger.resync > 0 && ledger.vanished() == 0, "{ledger:?}");
}

/// A command without a text is seen by its line alone.
#[test]
fn the_first_requests_of_an_idle_client_have_lines() {
    let id = [7, 0, 0, 0];
    let failed = [asked(command::QUERY, b"SELEC"), vec![answer(1, b"\xff\x28\x04#42000no")]];
    let closed = [asked(command::STMT_CLOSE, &id), answered("DO 1")];
    let long = asked(command::STMT_SEND_LONG_DATA, &[7, 0, 0, 0, 0, 0, b'x']);
    let executed =
        [asked(command::STMT_EXECUTE, &[7, 0, 0, 0, 0, 1, 0, 0, 0]), vec![answer(1, OK)]];
    let progress = answer(1, b"\xff\xff\xff\x01\x01\x02\0\0\0\x05stage");
    let slow = [asked(command::QUERY, b"ALTER TABLE t"), vec![progress, answer(2, OK)]];
    let changed = [asked(command::CHANGE_USER, b"root\0\0shop\0"), vec![answer(1, OK)]];
    let pieces = packets(1, &[OK]);
    let (head, tail) = pieces.split_at(3);
    let in_pieces = [asked(command::QUERY, b"DO 2"), vec![server(head), server(tail)]];
    let quits = asked(command::QUIT, b"");
    for (first, expected) in [
        (failed.concat(), 1),
        (closed.concat(), 2),
        ([long, executed.concat()].concat(), 2),
        (slow.concat(), 1),
        (changed.concat(), 1),
        (in_pieces.concat(), 1),
        (quits, 1),
    ] {
        let (texts, ledger) = seen(&first);
        assert_eq!(texts.len(), expected, "{first:?}: {ledger:?}");
        assert!(ledger.is_whole() && ledger.partial == 0, "{first:?}: {ledger:?}");
    }
}

/// What comes next says what it was, however late.
#[test]
fn a_first_command_without_an_answer_lasts_until_the_server_has_read_it() {
    let sent = asked(command::STMT_SEND_LONG_DATA, &[7, 0, 0, 0, 0, 0, b'x']);
    let mut idle = watched(WireProtocol::Mysql, &sent);
    idle.finds_nothing();
    idle.passes(1_000 * PAUSE);
    asked(command::QUERY, b"DO 1").iter().for_each(|turn| idle.reads(turn.bytes()));
    let requests = idle.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].response().0 < 10 * PAUSE, "{requests:?}");
}

#[test]
fn a_request_behind_a_large_answer_from_before_has_a_line() {
    let piece = server(&[b'w'; 300]);
    expect_one_from_before(&[piece.clone(), piece.clone(), piece]);
}

/// No answer has said what it was: a request, or data of a file.
#[test]
fn what_may_have_been_a_request_counts_as_missing() {
    for (turns, is_answered) in [
        (asked(command::QUERY, b"SELECT secret"), false),
        ([packet(255, DATA), packet(256, DATA)].concat(), false),
        (asked(command::QUERY, b"SELECT secret"), true),
        ([packet(255, DATA), packet(256, DATA)].concat(), true),
    ] {
        let mut left = watched(WireProtocol::Mysql, &turns);
        if is_answered {
            left.sends(&packets(1, &[KILLED]));
        }
        left.finds_the_end();
        assert!(left.requests().is_empty(), "{:?}", left.requests());
        let ledger = left.ledger();
        let counts = (ledger.started, ledger.partial, ledger.resync);
        assert_eq!(counts, (1, 1, 1), "{turns:?}: {ledger:?}");
    }
}
