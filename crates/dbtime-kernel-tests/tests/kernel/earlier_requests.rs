//! Requests of PostgreSQL's that were under way as the watching began, whatever the rest of them
//! looks like: those behind them are seen, or counted as missing.

use super::conversation::{Conversation, ConversationTurn};
use super::copies::copy_in;
use super::last_words::watched;
use super::late_errors::told;
use super::openings::{client, ended, server};
use super::postgres::{answers, asks, complete, everything, message, query, ready};
use dbtime_model::WireProtocol;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_wire::postgres::{backend, frontend};

const DATA: &[u8] = b"12\tabc\n13\tabd\n";
const SELECT: &str = "SELECT 2";

fn done(tag: &str) -> ConversationTurn {
    answers(&[complete(tag), ready(b'I')])
}

fn select() -> [ConversationTurn; 2] {
    [asks(&[query(SELECT)]), done("SELECT 1")]
}

/// The last data of a COPY, their end, and what the client sends behind that.
fn copy_end(behind: &[u8]) -> ConversationTurn {
    client(&[DATA, &message(frontend::COPY_DONE, &[]), behind].concat())
}

/// The texts of the requests that have a line, and what was counted.
pub(crate) fn seen_of(
    protocol: WireProtocol,
    turns: &[ConversationTurn],
) -> (Vec<String>, TraceLedger) {
    let (seen, ledger) = Conversation { protocol, turns: turns.to_vec() }.whole();
    (seen.iter().map(|one| one.text.to_string()).collect(), ledger)
}

fn seen(turns: &[ConversationTurn]) -> (Vec<String>, TraceLedger) {
    seen_of(WireProtocol::Postgres, turns)
}

/// What is to be read of a COPY may begin as a message does, of any length.
#[test]
fn a_request_is_seen_behind_a_copy_from_before_whatever_its_data_look_like() {
    let looks: [&[u8]; 5] = [b"", b"p\t12345\n", b"B1234\t\n", b"Q 123\t\n", b"S\0\0\0\x04d1234\n"];
    for (look, is_first) in looks.into_iter().flat_map(|look| [(look, true), (look, false)]) {
        let begins = [client(DATA), client(&[look, DATA].concat())];
        let begins = &begins[usize::from(is_first)..];
        let turns = [begins, &[copy_end(b""), done("COPY 9")], &select()].concat();
        let (texts, ledger) = seen(&turns);
        assert_eq!(texts, [SELECT], "{look:?} {is_first}: {ledger:?}");
        let counts = (ledger.started, ledger.partial, ledger.is_whole());
        assert_eq!(counts, (2, 1, true), "{look:?} {is_first}: {ledger:?}");
    }
}

/// What was read with the rest of a COPY, or is taken for more of it, has no line.
#[test]
fn a_request_that_one_from_before_hides_is_counted() {
    let asked = query("SELECT 1");
    let (first, rest) = asked.split_at(7);
    let with_it = [copy_end(&asked), done("COPY 9"), done("SELECT 1")];
    let cut = [copy_end(first), done("COPY 9"), client(rest), done("SELECT 1")];
    let hides = |look: &[u8]| {
        let begins = [client(&[look, DATA].concat()), copy_end(b""), done("COPY 9")];
        [&begins[..], &select()].concat()
    };
    let (odd, swallowed) = (hides(b"S\0\0\0\x04x1234"), hides(b"Q\0\0\0\x0bCOMMIT\0d1234"));
    for hidden in [&with_it[..], &cut, &odd, &swallowed] {
        let turns = [hidden, &select()].concat();
        let ledger = ended(WireProtocol::Postgres, &turns);
        assert!(!ledger.is_whole(), "{hidden:?}: {ledger:?}");
        assert_eq!(seen(&turns).0.last().map(String::as_str), Some(SELECT), "{hidden:?}");
    }
}

/// The client sends all of it, whatever the server has answered, which passes over the rest.
#[test]
fn a_request_behind_a_copy_from_before_that_failed_is_seen_or_counted() {
    let fields = ["ERROR", "22021", "invalid byte sequence", "report_invalid_encoding"];
    let failed = || [told(backend::ERROR, fields), ready(b'I')].concat();
    let data = message(frontend::COPY_DATA, b"hello\n");
    let rest = [&data[..], &data, &data, &message(frontend::COPY_DONE, &[])].concat();
    let (half, other_half) = rest.split_at(13);
    let pieces = [&data[..], &data, &rest[26..]].map(client).to_vec();
    for (name, is_seen, begins) in [
        ("at once", true, vec![client(&rest), server(&failed())]),
        ("before", false, vec![server(&failed()), client(&rest)]),
        ("amid it", false, vec![client(half), server(&failed()), client(other_half)]),
        (
            "amid a message",
            false,
            vec![client(&rest[..16]), server(&failed()), client(&rest[16..])],
        ),
        ("before the watching", false, vec![client(&rest)]),
        ("in pieces", false, pieces),
    ] {
        let turns = [&begins[..], &select(), &select()].concat();
        let (texts, ledger) = seen(&turns);
        let expected = if is_seen { (&[SELECT; 2][..], 0) } else { (&[SELECT][..], 1) };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!((&texts[..], ledger.resync), expected, "{name}: {ledger:?}");
        assert_eq!(ledger.is_whole(), is_seen, "{name}: {ledger:?}");
    }
}

/// Nothing was read of the connection: all of them began before.
#[test]
fn requests_that_were_sent_ahead_before_are_all_from_before() {
    let answered = [done("SELECT 1"), done("SELECT 1"), done("SELECT 1")];
    let (texts, ledger) = seen(&[&answered[..], &select()].concat());
    assert_eq!(texts, [SELECT]);
    assert_eq!((ledger.started, ledger.partial, ledger.is_whole()), (4, 3, true), "{ledger:?}");
}

/// No line has data of a COPY for its text.
#[test]
fn what_looks_like_a_request_and_is_never_whole_is_from_before() {
    let mut copying = watched(WireProtocol::Postgres, &[client(b"Q 123\t4711\n"), client(DATA)]);
    copying.finds_the_end();
    assert!(copying.requests().is_empty(), "{:?}", copying.requests());
    let ledger = copying.ledger();
    assert_eq!((ledger.started, ledger.partial, ledger.vanished()), (1, 1, 0), "{ledger:?}");
}

/// The server takes its data: that is the first of its answer.
#[test]
fn a_copy_from_before_of_which_an_answer_was_seen_is_one_request() {
    let takes = server(&copy_in(0, 1));
    let turns = [&[takes, client(DATA), copy_end(b""), done("COPY 9")][..], &select()].concat();
    let (texts, ledger) = seen(&turns);
    assert_eq!(texts, [SELECT]);
    assert_eq!((ledger.started, ledger.partial, ledger.is_whole()), (2, 1, true), "{ledger:?}");
}

/// The request itself was read to its end: the server has asked for its data.
#[test]
fn a_copy_whose_client_leaves_amid_its_data_has_a_line() {
    let data = message(frontend::COPY_DATA, DATA);
    let turns = [asks(&[query("COPY t FROM STDIN")]), server(&copy_in(0, 1)), asks(&[data])];
    let mut copying = watched(WireProtocol::Postgres, &turns);
    copying.finds_the_end();
    assert_eq!(copying.requests().len(), 1);
    let ledger = copying.ledger();
    assert_eq!((ledger.started, ledger.aborted, ledger.partial), (1, 1, 0), "{ledger:?}");
}

/// On a standby an error may end an idle transaction.
#[test]
fn a_server_may_be_ready_again_without_a_request() {
    let fields = ["ERROR", "40001", "canceling statement", "ProcessInterrupts"];
    let turns = [&everything().turns[..2], &select()].concat();
    let mut standby = watched(WireProtocol::Postgres, &turns);
    standby.finds_nothing();
    standby.sends(&told(backend::ERROR, fields));
    standby.sends(&ready(b'E'));
    let ledger = standby.ledger();
    assert_eq!((ledger.started, ledger.ended, ledger.is_whole()), (1, 1, true), "{ledger:?}");
}
