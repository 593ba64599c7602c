//! PostgreSQL's protocol: what is said whole is seen whole, and cut into pieces it is the same.

use super::conversation::{Conversation, ConversationTurn, PAUSE, SeenRequest, differences};
use super::secrets::SECRETS;
use super::server::{WatchedServer, streamed};
use dbtime_model::WireProtocol;
use dbtime_model::traced::{RequestOutcome, TextState};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_wire::postgres::{backend, begin_message, end_message, frontend};
use proptest::collection::vec;
use proptest::prelude::*;

/// A message: its first byte, its length, its body.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let begun = begin_message(tag, &mut bytes);
    bytes.extend_from_slice(body);
    end_message(begun, &mut bytes);
    bytes
}

pub(crate) fn startup() -> Vec<u8> {
    let mut body = 196_608u32.to_be_bytes().to_vec();
    body.extend_from_slice(b"application_name\0psql\0user\0app\0database\0shop\0\0");
    [&(body.len() as u32 + 4).to_be_bytes()[..], &body].concat()
}

pub(crate) fn query(text: &str) -> Vec<u8> {
    message(frontend::QUERY, &[text.as_bytes(), b"\0"].concat())
}

pub(crate) fn parse(name: &str, text: &str) -> Vec<u8> {
    let body = [name.as_bytes(), b"\0", text.as_bytes(), b"\0\0\0"].concat();
    message(frontend::PARSE, &body)
}

pub(crate) fn bind(portal: &str, statement: &str) -> Vec<u8> {
    let parameters = b"\0\0\0\x01\0\0\0\x0242\0\0";
    let body = [portal.as_bytes(), b"\0", statement.as_bytes(), b"\0", parameters].concat();
    message(frontend::BIND, &body)
}

pub(crate) fn execute(portal: &str) -> Vec<u8> {
    message(frontend::EXECUTE, &[portal.as_bytes(), b"\0\0\0\0\0"].concat())
}

pub(crate) fn sync() -> Vec<u8> {
    message(frontend::SYNC, &[])
}

pub(crate) fn asks(messages: &[Vec<u8>]) -> ConversationTurn {
    ConversationTurn::Client(messages.concat())
}

pub(crate) fn complete(tag: &str) -> Vec<u8> {
    message(backend::COMMAND_COMPLETE, &[tag.as_bytes(), b"\0"].concat())
}

pub(crate) fn ready(state: u8) -> Vec<u8> {
    message(backend::READY, &[state])
}

/// Rows of so many bytes each, in all as many as there are of them.
pub(crate) fn rows(count: usize, width: usize) -> Vec<u8> {
    let mut body = vec![0, 1];
    body.extend_from_slice(&(width as u32).to_be_bytes());
    body.resize(body.len() + width, b'r');
    message(backend::DATA_ROW, &body).repeat(count)
}

pub(crate) fn description() -> Vec<u8> {
    message(backend::ROW_DESCRIPTION, b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0")
}

pub(crate) fn failure(state: &str) -> Vec<u8> {
    let body = format!("SERROR\0VERROR\0C{state}\0Msyntax error at or near \"SELEC\"\0P1\0\0");
    message(backend::ERROR, body.as_bytes())
}

pub(crate) fn answers(messages: &[Vec<u8>]) -> ConversationTurn {
    ConversationTurn::Server(messages.concat())
}

pub(crate) fn done(tag: u8) -> Vec<u8> {
    message(tag, &[])
}

/// A login, executions and rows with secrets in them, and a COPY of them.
pub(crate) fn with_secrets() -> Conversation {
    let [password, parameter, value] = SECRETS.map(str::as_bytes);
    let length = (parameter.len() as u32).to_be_bytes();
    let bind = |names: &[u8]| {
        let body = [names, b"\0\0\0\x01", &length, parameter, b"\0\0"].concat();
        message(frontend::BIND, &body)
    };
    let row = [&[0, 1][..], &(value.len() as u32).to_be_bytes(), value].concat();
    let rows = message(backend::DATA_ROW, &row).repeat(2);
    let (parsed, bound) = (backend::PARSE_COMPLETE, backend::BIND_COMPLETE);
    let copied = message(frontend::COPY_DATA, value);
    let selects = "SELECT a FROM t WHERE b = $1";
    let turns = [
        ConversationTurn::Client(startup()),
        answers(&[message(backend::AUTHENTICATION, &[0, 0, 0, 3])]),
        asks(&[message(frontend::PASSWORD, &[password, b"\0"].concat())]),
        answers(&[message(backend::AUTHENTICATION, &[0, 0, 0, 0]), ready(b'I')]),
        asks(&[parse("s_1", selects), bind(b"\0s_1\0"), execute(""), sync()]),
        answers(&[done(parsed), done(bound), rows.clone(), complete("SELECT 2"), ready(b'I')]),
        asks(&[
            parse("", "BEGIN"),
            bind(b"\0\0"),
            execute(""),
            bind(b"p_1\0s_1\0"),
            execute("p_1"),
            sync(),
        ]),
        answers(&[done(parsed), done(bound), complete("BEGIN"), done(bound), rows]),
        answers(&[complete("SELECT 2"), ready(b'T')]),
        asks(&[query("COPY t FROM STDIN")]),
        answers(&[message(b'G', &[0, 0, 0])]),
        asks(&[copied.clone(), copied, message(frontend::COPY_DONE, &[])]),
        answers(&[complete("COPY 2"), ready(b'T')]),
    ];
    Conversation { protocol: WireProtocol::Postgres, turns: turns.to_vec() }
}

/// Some of everything, each behind the login.
pub(crate) fn everything() -> Conversation {
    let (parsed, bound) = (backend::PARSE_COMPLETE, backend::BIND_COMPLETE);
    let turns = [
        ConversationTurn::Client(startup()),
        answers(&[message(backend::AUTHENTICATION, &[0, 0, 0, 0]), ready(b'I')]),
        asks(&[query("SELECT a FROM t WHERE id = 1")]),
        answers(&[description(), rows(3, 4), complete("SELECT 3"), ready(b'I')]),
        asks(&[query("SELEC")]),
        answers(&[failure("42601"), ready(b'I')]),
        asks(&[parse("s_1", "UPDATE t SET a = $1"), bind("", "s_1"), execute(""), sync()]),
        answers(&[done(parsed), done(bound), complete("UPDATE 12"), ready(b'I')]),
        asks(&[bind("", "s_1"), execute(""), sync()]),
        answers(&[done(bound), complete("UPDATE 1"), ready(b'I')]),
        asks(&[
            parse("", "BEGIN"),
            bind("", ""),
            execute(""),
            bind("", "s_1"),
            execute(""),
            sync(),
        ]),
        answers(&[
            done(parsed),
            done(bound),
            complete("BEGIN"),
            done(bound),
            complete("UPDATE 7"),
            ready(b'T'),
        ]),
        asks(&[query("COMMIT")]),
        answers(&[complete("COMMIT"), ready(b'I')]),
        asks(&[query("SELECT 2")]),
        answers(&[description(), rows(1, 4), complete("SELECT 1"), ready(b'I')]),
        asks(&[message(frontend::TERMINATE, &[])]),
    ];
    Conversation { protocol: WireProtocol::Postgres, turns: turns.to_vec() }
}

#[test]
fn each_request_is_seen_with_what_it_says_and_what_it_was_answered() {
    let (seen, ledger) = everything().whole();
    let short = |one: &SeenRequest| (one.command, one.text.to_string(), one.rows);
    let text = |text: &str| text.to_owned();
    let expected = [
        (frontend::QUERY, text("SELECT a FROM t WHERE id = 1"), Some(3)),
        (frontend::QUERY, text("SELEC"), None),
        (frontend::EXECUTE, text("UPDATE t SET a = $1"), Some(12)),
        (frontend::EXECUTE, text("UPDATE t SET a = $1"), Some(1)),
        (frontend::EXECUTE, text("UPDATE t SET a = $1"), Some(7)),
        (frontend::QUERY, text("COMMIT"), None),
        (frontend::QUERY, text("SELECT 2"), Some(1)),
        (frontend::TERMINATE, text(""), None),
    ];
    assert_eq!(seen.iter().map(short).collect::<Vec<_>>(), expected);
    assert!(
        seen.iter()
            .all(|one| one.outcome == RequestOutcome::Ended && one.text_state != TextState::Cut)
    );
    assert_eq!(seen[1].error.as_ref().map(ToString::to_string).as_deref(), Some("42601"));
    let statements = seen[4]
        .statements
        .iter()
        .map(|(text, _, executes, rows)| (text.to_string(), *executes, *rows));
    let expected = [(text("BEGIN"), 1, None), (text("UPDATE t SET a = $1"), 1, Some(7))];
    assert_eq!(statements.collect::<Vec<_>>(), expected);
    assert!(seen.iter().all(|one| one.user.as_deref() == Some("app")));
    assert!(seen.iter().all(|one| one.database.as_deref() == Some("shop")));
    assert_eq!((ledger.started, ledger.ended, ledger.resync), (8, 8, 0));
}

/// The one that its clients know: in a container it is another than the machine's.
#[test]
fn a_connection_has_the_number_that_its_process_has_for_itself() {
    for inner in [None, Some(42)] {
        let mut server = WatchedServer::new(WireProtocol::Postgres, &streamed());
        if let Some(number) = inner {
            server.machine.put_in_namespace(server.task, number);
        }
        for turn in &everything().turns {
            match turn {
                ConversationTurn::Client(bytes) => server.reads(bytes),
                ConversationTurn::Server(bytes) => server.sends(bytes),
            }
        }
        let requests = server.requests();
        let own = inner.unwrap_or(requests[0].process);
        assert!(requests.iter().all(|one| one.server_id() == Some(own.into())), "{requests:?}");
        assert!(requests.iter().all(|one| one.process != 42), "the machine's is beside it");
    }
}

/// The message that a place is in, by its first byte, and whether that is in its body; nothing: one
/// begins there.
fn message_at(turn: &ConversationTurn, place: usize) -> Option<(u8, bool)> {
    const HEADER: usize = 5;
    let (bytes, mut from) = (turn.bytes(), 0);
    while let Some([tag, length @ ..]) = bytes.get(from..from + HEADER) {
        let next = from + 1 + u32::from_be_bytes(length.try_into().ok()?) as usize;
        if (from + 1..next).contains(&place) {
            return Some((*tag, place > from + HEADER));
        }
        from = next;
    }
    None
}

#[test]
fn what_is_only_prepared_has_no_rows_of_others() {
    let (parsed, bound) = (backend::PARSE_COMPLETE, backend::BIND_COMPLETE);
    let prepared = parse("s_2", "DELETE FROM t WHERE id = $1");
    let turns = [
        asks(&[parse("s_1", "UPDATE t SET a = $1"), sync()]),
        answers(&[done(parsed), ready(b'I')]),
        asks(&[prepared, bind("", "s_1"), execute(""), sync()]),
        answers(&[done(parsed), done(bound), complete("UPDATE 7"), ready(b'I')]),
    ];
    let (seen, _) =
        Conversation { protocol: WireProtocol::Postgres, turns: turns.to_vec() }.whole();
    let statements = seen[1]
        .statements
        .iter()
        .map(|(text, _, executes, rows)| (text.to_string(), *executes, *rows));
    let (deletes, updates) = ("DELETE FROM t WHERE id = $1", "UPDATE t SET a = $1");
    let expected = [(deletes.to_owned(), 0, None), (updates.to_owned(), 1, Some(7))];
    assert_eq!(statements.collect::<Vec<_>>(), expected);
}

#[test]
fn requests_are_the_same_wherever_a_read_ends() {
    let is_read = |turn: &ConversationTurn| matches!(turn, ConversationTurn::Client(_));
    // Of what names something, that is known where it is read at once.
    let is_same = |turn: &ConversationTurn, place: usize| match message_at(turn, place) {
        Some((tag, is_body)) => !is_body || tag == frontend::QUERY || turn.bytes() == startup(),
        None => true,
    };
    let found = everything().cut_everywhere(is_read, is_same);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn requests_are_the_same_wherever_a_write_ends() {
    let is_answer = |turn: &ConversationTurn| matches!(turn, ConversationTurn::Server(_));
    // What says how many rows there were is only read with what follows.
    let is_same = |turn: &ConversationTurn, place: usize| {
        matches!(message_at(turn, place), Some((backend::DATA_ROW, true)))
    };
    let found = everything().cut_everywhere(is_answer, is_same);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Servers send what fills their buffer, wherever that ends.
#[test]
fn an_answer_may_fill_the_servers_buffer_up_to_its_last_bytes() {
    const BUFFER: usize = 8192;
    for beyond in 0..20 {
        let beside = [description(), complete("SELECT 1"), ready(b'I')].concat().len();
        let empty = rows(1, 0).len();
        let width = BUFFER + beyond - beside - empty;
        let answer = [description(), rows(1, width), complete("SELECT 1"), ready(b'I')];
        let one = [asks(&[query("SELECT a")]), answers(&answer)];
        let turns = [&one[..], &one, &one].concat();
        let conversation = Conversation { protocol: WireProtocol::Postgres, turns };
        let (seen, ledger) = conversation.watched(|_, _| vec![BUFFER]);
        let all = (ledger.started, ledger.ended, ledger.pipelined_over, ledger.aborted);
        assert_eq!(all, (3, 3, 0, 0), "{beyond} bytes beyond the buffer: {seen:?}");
    }
}

/// What a client sends ahead of answers, or with its startup packet, lies in the server's buffer
/// until it comes to that: it reads on where a request is not whole, behind what is left, which it
/// moves to the buffer's beginning.
fn watched_ahead(conversation: &Conversation, reads: &mut dyn Iterator<Item = usize>) -> Seen {
    let mut server = WatchedServer::new(WireProtocol::Postgres, &streamed());
    let turns = conversation.turns.iter();
    let asked = turns.clone().filter(|turn| matches!(turn, ConversationTurn::Client(_)));
    let mut coming = asked.flat_map(ConversationTurn::bytes).copied();
    let (mut buffer, mut from, mut to) = (vec![0; 8192], 0, 0);
    for turn in turns {
        server.passes(PAUSE);
        match turn {
            ConversationTurn::Client(bytes) => {
                while to - from < bytes.len() {
                    buffer.copy_within(from..to, 0);
                    (from, to) = (0, to - from);
                    let end = to + reads.next().expect("it goes on for ever");
                    let read = buffer[to..end].iter_mut().zip(coming.by_ref());
                    let read = to..to + read.map(|(place, byte)| *place = byte).count();
                    server.reads_into(&buffer, read.clone());
                    to = read.end;
                }
                from += bytes.len();
            }
            ConversationTurn::Server(bytes) => server.sends(bytes),
        }
    }
    server.finds_nothing();
    let seen = server.requests().iter().map(SeenRequest::of).collect();
    (seen, server.ledger())
}

type Seen = (Vec<SeenRequest>, TraceLedger);

#[test]
fn requests_that_are_sent_ahead_are_the_same() {
    let conversation = everything();
    let (whole, _) = conversation.whole();
    let all: usize = conversation.turns.iter().map(|turn| turn.bytes().len()).sum();
    for first in 1..all {
        let (seen, ledger) = watched_ahead(&conversation, &mut [first, all].into_iter().cycle());
        assert_eq!(differences(&seen, &whole), [""; 0], "{first} bytes first");
        assert_eq!((ledger.pipelined_over, ledger.resync, ledger.aborted), (0, 0, 0), "{first}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn requests_that_are_sent_ahead_are_the_same_in_any_pieces(steps in vec(1..90usize, 1..100)) {
        let conversation = everything();
        let (whole, _) = conversation.whole();
        let (seen, ledger) = watched_ahead(&conversation, &mut steps.into_iter().cycle());
        prop_assert_eq!(differences(&seen, &whole), Vec::<String>::new());
        prop_assert_eq!((ledger.pipelined_over, ledger.resync, ledger.aborted), (0, 0, 0));
    }

    #[test]
    fn requests_are_the_same_in_any_pieces(steps in vec(1..60usize, 1..100)) {
        let conversation = everything();
        let (whole, _) = conversation.whole();
        let mut steps = steps.iter().cycle();
        let (seen, ledger) = conversation.watched(|number, turn| {
            let (mut ends, mut end) = (Vec::new(), 0);
            while number > 0 && end < turn.bytes().len() {
                end += steps.next().expect("it goes on for ever");
                ends.push(end);
            }
            ends
        });
        prop_assert_eq!(differences(&seen, &whole), Vec::<String>::new());
        prop_assert_eq!((ledger.resync, ledger.pipelined_over, ledger.aborted), (0, 0, 0));
    }
}
