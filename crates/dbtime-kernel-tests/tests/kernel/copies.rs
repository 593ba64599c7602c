//! COPY FROM STDIN of PostgreSQL's: while a server takes its data it passes over Sync and Flush.

use super::conversation::{Conversation, ConversationTurn, SeenRequest};
use super::late_errors::told;
use super::postgres::{
    answers, asks, bind, complete, done, everything, execute, message, parse, query, ready, rows,
    sync,
};
use super::server::{WatchedServer, streamed};
use dbtime_model::WireProtocol;
use dbtime_model::traced::RequestOutcome;
use dbtime_wire::postgres::{backend, frontend};

const COPY: &str = "COPY t FROM STDIN";
const SELECT: &str = "SELECT 7";

/// That the server takes data, for so many columns of a format.
pub(crate) fn copy_in(format: u8, columns: u16) -> Vec<u8> {
    let formats = u16::from(format).to_be_bytes().repeat(columns.into());
    message(b'G', &[&[format][..], &columns.to_be_bytes(), &formats].concat())
}

fn data(count: usize) -> Vec<u8> {
    message(frontend::COPY_DATA, b"abc\n").repeat(count)
}

fn end() -> Vec<u8> {
    message(frontend::COPY_DONE, &[])
}

fn flush() -> Vec<u8> {
    message(b'H', &[])
}

fn prepared() -> Vec<u8> {
    [parse("", COPY), bind("", ""), execute("")].concat()
}

/// What a prepared COPY is answered with before its data.
fn takes_data() -> ConversationTurn {
    let (parsed, bound) = (done(backend::PARSE_COMPLETE), done(backend::BIND_COMPLETE));
    answers(&[parsed, bound, done(backend::NO_DATA), copy_in(0, 1)])
}

fn fails(state: &str) -> ConversationTurn {
    answers(&[told(backend::ERROR, ["ERROR", state, "invalid input", "pg_strtoint32_safe"])])
}

fn is_ready() -> ConversationTurn {
    answers(&[ready(b'I')])
}

fn copied(rows: u32) -> ConversationTurn {
    answers(&[complete(&format!("COPY {rows}")), ready(b'I')])
}

fn selected() -> ConversationTurn {
    answers(&[complete("SELECT 1"), ready(b'I')])
}

fn conversation(turns: &[ConversationTurn]) -> Conversation {
    let turns = [&everything().turns[..2], turns].concat();
    Conversation { protocol: WireProtocol::Postgres, turns }
}

/// Each request by its text, or without one by its command; its rows and its error. Behind: how
/// often it was not known where one begins.
fn seen(turns: &[ConversationTurn]) -> (Vec<String>, u64) {
    let (seen, ledger) = conversation(turns).whole();
    assert!(seen.iter().all(|one| one.outcome == RequestOutcome::Ended), "{seen:?}");
    assert_eq!((ledger.pipelined_over, ledger.aborted), (0, 0), "{ledger:?}");
    let told = |one: &SeenRequest| {
        let what = match &*one.text {
            "" => char::from(one.command).to_string(),
            text => text.to_owned(),
        };
        let rows = one.rows.map_or_else(String::new, |rows| format!(" {rows}"));
        let error = one.error.as_ref().map_or_else(String::new, |error| format!(" {error}"));
        format!("{what}{rows}{error}")
    };
    (seen.iter().map(told).collect(), ledger.resync)
}

fn copy_and_select() -> (Vec<String>, u64) {
    (vec!["COPY t FROM STDIN 3".to_owned(), "SELECT 7 1".to_owned()], 0)
}

fn failed_copy_and_select(state: &str) -> (Vec<String>, u64) {
    (vec![format!("COPY t FROM STDIN {state}"), "SELECT 7 1".to_owned()], 0)
}

/// As libpq does it: a Sync before the data, and one behind.
#[test]
fn the_sync_before_the_data_of_a_copy_is_none() {
    for (format, columns) in [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 2), (0, 1600), (1, 300)] {
        let takes = answers(&[done(backend::BIND_COMPLETE), copy_in(format, columns)]);
        let copy = [
            asks(&[prepared(), sync()]),
            takes,
            asks(&[data(3)]),
            asks(&[end()]),
            asks(&[sync()]),
            copied(3),
        ];
        let select = [asks(&[query(SELECT)]), selected()];
        assert_eq!(seen(&[&copy[..], &select].concat()), copy_and_select(), "{format} {columns}");
        let (twice, _) = seen(&[&copy[..], &copy, &select].concat());
        assert_eq!(twice, [&copy_and_select().0[..1], &copy_and_select().0].concat());
    }
    // In one read with what follows.
    let turns = [
        asks(&[prepared(), sync()]),
        takes_data(),
        asks(&[data(3), end(), sync(), query(SELECT)]),
        copied(3),
        selected(),
    ];
    assert_eq!(seen(&turns), copy_and_select());
}

#[test]
fn a_copy_is_the_same_wherever_a_read_ends() {
    let turns = [
        asks(&[prepared(), sync()]),
        takes_data(),
        asks(&[data(3), end(), sync()]),
        copied(3),
        asks(&[query(SELECT)]),
        selected(),
    ];
    let is_read = |turn: &ConversationTurn| matches!(turn, ConversationTurn::Client(_));
    let found = conversation(&turns).cut_everywhere(is_read, |_, _| false);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What it sends before fills its buffer at any place of the message that says so, or the socket
/// has no room for that at once.
#[test]
fn a_server_may_say_in_pieces_that_it_takes_data() {
    const ROOM: usize = 8192;
    let before = [rows(10, 20), complete("SELECT 10")].concat();
    for columns in [0, 1, 2, 40] {
        let says = copy_in(0, columns);
        let pieces = [(ROOM, says.len() / 3 + 1), (ROOM, 5)].into_iter();
        let seams = (1..says.len()).map(|cut| (before.len() + cut, before.len() + cut));
        for (room, at_once) in pieces.chain(seams) {
            let mut server = WatchedServer::new(WireProtocol::Postgres, &streamed());
            server.reads(
                &[parse("", SELECT), bind("", ""), execute(""), prepared(), sync()].concat(),
            );
            server.sends_buffered((room, at_once), &[&before[..], &says].concat());
            server.reads(&[data(3), end(), sync(), query(SELECT)].concat());
            server.sends(&[complete("COPY 3"), ready(b'I')].concat());
            server.sends(&[complete("SELECT 1"), ready(b'I')].concat());
            server.finds_nothing();
            let (found, ledger) = (server.requests(), server.ledger());
            let place = format!("{columns} columns, {room} and {at_once} at once: {found:?}");
            assert_eq!(found.len(), 2, "{place}");
            assert_eq!((&*found[1].text, found[1].rows), (SELECT, Some(1)), "{place}");
            assert_eq!((ledger.started, ledger.ended, ledger.resync), (2, 2, 0), "{place}");
        }
    }
}

#[test]
fn a_copy_that_fails_is_answered_once() {
    let begins = [asks(&[prepared(), sync()]), takes_data()];
    let select = [asks(&[query(SELECT)]), selected()];
    let in_time = [asks(&[data(3), end(), sync()]), fails("22P02"), is_ready()];
    let early = [asks(&[data(3)]), fails("22P02"), asks(&[data(3), end(), sync()]), is_ready()];
    // Its client sends nothing but the Sync then.
    let no_more = [asks(&[data(3)]), fails("22P02"), asks(&[sync()]), is_ready()];
    let given_up = [
        asks(&[data(3), message(frontend::COPY_FAIL, b"no\0"), sync()]),
        fails("57014"),
        is_ready(),
    ];
    for (state, copy) in
        [("22P02", &in_time[..]), ("22P02", &early), ("22P02", &no_more), ("57014", &given_up)]
    {
        let turns = [&begins[..], copy, &select].concat();
        assert_eq!(seen(&turns), failed_copy_and_select(state));
        let flushed = [asks(&[prepared(), flush()]), takes_data()];
        assert_eq!(seen(&[&flushed[..], copy, &select].concat()), failed_copy_and_select(state));
    }
}

/// Of a view it takes no data though it asks for them: it has not come to the first Sync by then,
/// and answers both.
#[test]
fn a_copy_that_fails_before_its_data_is_answered_at_the_first_sync() {
    let turns = [
        asks(&[prepared(), sync()]),
        takes_data(),
        fails("42809"),
        is_ready(),
        asks(&[data(3), end(), sync()]),
        is_ready(),
        asks(&[query(SELECT)]),
        selected(),
    ];
    let told = ["COPY t FROM STDIN 42809", "S", "SELECT 7 1"].map(str::to_owned);
    assert_eq!(seen(&turns), (told.to_vec(), 0));
}

#[test]
fn a_copy_that_is_refused_takes_no_data() {
    let refused = [asks(&[prepared(), sync()]), fails("42P01"), is_ready()];
    let select = [asks(&[query(SELECT)]), selected()];
    assert_eq!(seen(&[&refused[..], &select].concat()), failed_copy_and_select("42P01"));
    // Its client has sent them ahead: both Syncs are answered.
    let turns = [
        asks(&[prepared(), sync(), data(3), end(), sync(), query(SELECT)]),
        fails("42P01"),
        is_ready(),
        is_ready(),
        selected(),
    ];
    let told = ["COPY t FROM STDIN 42P01", "S", "SELECT 7 1"].map(str::to_owned);
    assert_eq!(seen(&turns), (told.to_vec(), 0));
}

#[test]
fn data_of_a_copy_may_be_sent_ahead() {
    let (copies, select) = (prepared(), query(SELECT));
    let all = [&copies[..], &sync(), &data(3), &end(), &sync(), &select].concat();
    let without = [&copies[..], &data(3), &end(), &sync(), &select].concat();
    let simple = [&query(COPY)[..], &data(3), &end(), &select].concat();
    for asked in [all, without, simple] {
        let turns = [asks(&[asked]), takes_data(), copied(3), selected()];
        assert_eq!(seen(&turns), copy_and_select());
    }
    let flushed = [asks(&[copies, flush()]), takes_data(), asks(&[data(3), end(), sync(), select])];
    assert_eq!(seen(&[&flushed[..], &[copied(3), selected()]].concat()), copy_and_select());
}

#[test]
fn what_a_query_copies_may_have_syncs_in_it() {
    let (odd, select) = ([data(1), flush(), sync(), data(2), end()].concat(), query(SELECT));
    let answered = [copied(3), selected()];
    let ahead = [asks(&[query(COPY), odd.clone(), select.clone()]), answers(&[copy_in(0, 1)])];
    assert_eq!(seen(&[&ahead[..], &answered].concat()), copy_and_select());
    let behind = [asks(&[query(COPY)]), answers(&[copy_in(0, 1)]), asks(&[odd, select])];
    assert_eq!(seen(&[&behind[..], &answered].concat()), copy_and_select());
    // Two of one text, each with its data.
    let both = format!("{COPY}; {COPY}");
    let turns = [
        asks(&[query(&both)]),
        answers(&[copy_in(0, 1)]),
        asks(&[data(1), sync(), end()]),
        answers(&[complete("COPY 1"), copy_in(0, 1)]),
        asks(&[flush(), data(3), end(), query(SELECT)]),
        copied(3),
        selected(),
    ];
    // Their rows are not known.
    assert_eq!(seen(&turns), (vec![both, "SELECT 7 1".to_owned()], 0));
}

/// Where data fail that a Sync stands amid or before, which were sent at once, nobody sees whether
/// the server had come to that.
#[test]
fn a_sync_that_may_have_been_passed_over_is_counted() {
    let ahead = asks(&[prepared(), sync(), data(3), end(), sync()]);
    let select = [asks(&[query(SELECT)]), selected()];
    let turns = [ahead, takes_data(), fails("22P02"), is_ready()];
    assert_eq!(seen(&[&turns[..], &select].concat()).1, 1);
    let amid = asks(&[data(3), sync(), end()]);
    let turns = [asks(&[query(COPY)]), answers(&[copy_in(0, 1)]), amid, fails("22P02"), is_ready()];
    assert_eq!(seen(&[&turns[..], &select].concat()).1, 1);
}

/// The server says so in pieces of which the first is gone by then: the Sync behind the data seems
/// to be a request, until it is answered with what the next one asks for.
#[test]
fn a_copy_that_was_not_seen_to_begin_makes_the_trace_incomplete_and_no_more() {
    let says = [done(backend::BIND_COMPLETE), copy_in(0, 1)].concat();
    let (first, rest) = says.split_at(9);
    let piece = |bytes: &[u8]| ConversationTurn::Server(bytes.to_vec());
    let select = [asks(&[query(SELECT)]), selected()];
    let turns = [
        asks(&[prepared(), sync()]),
        piece(first),
        piece(rest),
        asks(&[data(3), end(), sync()]),
        copied(3),
    ];
    let turns = [&turns[..], &select, &select].concat();
    let (seen, ledger) = conversation(&turns).whole();
    let told: Vec<_> = seen.iter().map(|one| (&*one.text, one.rows, one.outcome)).collect();
    let (ended, aborted) = (RequestOutcome::Ended, RequestOutcome::Aborted);
    assert_eq!(told, [(COPY, Some(3), ended), ("", None, aborted), (SELECT, Some(1), ended)]);
    assert_eq!(ledger.resync, 1, "{ledger:?}");
}

/// Rows may end as that message does.
#[test]
fn an_answer_that_looks_like_taking_data_is_none() {
    let row = message(backend::DATA_ROW, &[&[0, 1, 0, 0, 0, 10][..], &copy_in(0, 1)].concat());
    let select = asks(&[parse("", SELECT), bind("", ""), execute(""), sync()]);
    let turns = [select.clone(), answers(&[row]), selected(), asks(&[query(SELECT)]), selected()];
    let twice = vec!["SELECT 7 1".to_owned(); 2];
    assert_eq!(seen(&turns), (twice, 0));
}
