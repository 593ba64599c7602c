//! How clients of PostgreSQL begin, wherever a read ends in that, and what servers refuse.

use super::conversation::{Conversation, ConversationTurn, SeenRequest};
use super::last_words::fatal;
use super::openings::{client, ended, opening, server};
use super::postgres::{
    answers, asks, complete, everything, message, parse, query, ready, startup, sync,
};
use super::server::{WatchedServer, streamed};
use dbtime_model::WireProtocol;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_wire::postgres::{backend, frontend};

fn seen(turns: &[ConversationTurn]) -> (Vec<SeenRequest>, TraceLedger) {
    Conversation { protocol: WireProtocol::Postgres, turns: turns.to_vec() }.whole()
}

fn let_in() -> ConversationTurn {
    answers(&[message(backend::AUTHENTICATION, &[0; 4]), ready(b'I')])
}

/// The texts and the rows of requests, which are all there are, and have been answered.
fn texts(turns: &[ConversationTurn]) -> Vec<(String, Option<u64>)> {
    let (seen, ledger) = seen(turns);
    let number = seen.len() as u64;
    let counts = [ledger.started, ledger.ended, ledger.pipelined_over + ledger.resync];
    assert_eq!(counts, [number, number, 0], "{ledger:?}");
    seen.iter().map(|one| (one.text.to_string(), one.rows)).collect()
}

#[test]
fn requests_may_come_with_a_startup_packet_or_a_password() {
    let both = [query("SELECT 1"), query("SELECT 2")].concat();
    let done = |tag| answers(&[complete(tag), ready(b'I')]);
    let expected = [("SELECT 1".to_owned(), Some(3)), ("SELECT 2".to_owned(), Some(4))];
    let trusted = client(&[startup(), both.clone()].concat());
    let turns = [trusted, let_in(), done("SELECT 3"), done("SELECT 4")];
    assert_eq!(texts(&turns), expected);
    let password = message(frontend::PASSWORD, b"Pa55w0rd\0");
    let asked = answers(&[message(backend::AUTHENTICATION, &[0, 0, 0, 3])]);
    let told = client(&[password, both].concat());
    let turns = [client(&startup()), asked, told, let_in(), done("SELECT 3"), done("SELECT 4")];
    assert_eq!(texts(&turns), expected);
}

/// A login is answered by more than one piece, of which the last may be any part of what says that
/// the server is ready.
#[test]
fn a_server_is_ready_wherever_what_says_so_is_cut() {
    let asked = client(&[startup(), query("SELECT 1")].concat());
    let turns = [asked, let_in(), answers(&[complete("SELECT 3"), ready(b'I')])];
    let conversation = Conversation { protocol: WireProtocol::Postgres, turns: turns.to_vec() };
    let is_login = |turn: &ConversationTurn| *turn == let_in();
    let found = conversation.cut_everywhere(is_login, |_, _| true);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn requests_that_come_with_a_refused_login_are_none() {
    let asked = client(&[startup(), query("SELECT 1")].concat());
    let ledger = ended(WireProtocol::Postgres, &[asked, answers(&[fatal("28P01")])]);
    assert_eq!((ledger.started, ledger.connection_errors), (0, 1), "{ledger:?}");
    assert!(ledger.is_whole(), "{ledger:?}");
}

/// The server has turned to what it had read, and nobody has seen that it was ready.
#[test]
fn a_request_that_comes_with_a_startup_packet_is_not_lost_in_silence() {
    let mut watched = WatchedServer::new(WireProtocol::Postgres, &streamed());
    watched.reads(&[startup(), query("SELECT 1")].concat());
    watched.reads(&query("SELECT 2"));
    watched.sends(&[complete("SELECT 1"), ready(b'I')].concat());
    watched.finds_nothing();
    let ledger = watched.ledger();
    assert_eq!((ledger.started, ledger.ended, ledger.is_whole()), (1, 1, false), "{ledger:?}");
}

#[test]
fn a_login_names_whom_its_startup_packet_names() {
    let long = "n".repeat(80);
    let cases: [(String, Option<&str>, &str); 6] = [
        ("user\0app\0\0".to_owned(), Some("app"), "app"),
        ("users\0no\0user\0app\0database\0shop\0\0".to_owned(), Some("app"), "shop"),
        (format!("options\0{long}\0user\0app\0\0"), Some("app"), "app"),
        (format!("user\0{long}\0database\0shop\0\0"), Some(&long[..63]), "shop"),
        // What ends within a word the server refuses.
        ("user\0app\0database\0sho".to_owned(), None, ""),
        ("database\0shop\0\0".to_owned(), None, ""),
    ];
    for (settings, user, database) in cases {
        let turns = [
            opening([3, 0], settings.as_bytes()),
            let_in(),
            asks(&[parse("", "SELECT 1"), sync()]),
            answers(&[message(backend::PARSE_COMPLETE, b""), ready(b'I')]),
        ];
        let (seen, ledger) = seen(&turns);
        assert_eq!(seen[0].user.as_deref(), user, "{settings}");
        assert_eq!(seen[0].database.as_deref(), user.map(|_| database), "{settings}");
        assert_eq!(ledger.unknown_users(), u64::from(user.is_none()), "{settings}");
    }
}

/// What was counted of a connection whose server closes it behind these reads.
fn refused(reads: &[&[u8]]) -> TraceLedger {
    let mut watched = WatchedServer::new(WireProtocol::Postgres, &streamed());
    watched.has_tls_probes(WireProtocol::Postgres);
    reads.iter().for_each(|bytes| watched.reads(bytes));
    watched.closes();
    watched.ledger()
}

#[test]
fn what_a_server_refuses_is_not_understood_wherever_it_is_cut() {
    let hello = [&[0x16u8, 3, 1, 0, 200][..], &[7; 200]].concat();
    let opened = startup();
    let said: [&[u8]; 6] = [
        &hello,
        b"PROXY TCP4 192.0.2.7 192.0.2.1 56324 3306\r\n",
        &opened[..opened.len() - 1],
        &[0x80; 20],
        b"GET / HTTP/1.1\r\nHost: db\r\n\r\n",
        // From some places on it looks like a message.
        b"none: Q 123, P 123, B 123, p 123, X 123, d 123",
    ];
    for bytes in said {
        // The header of a record by itself says that TLS was agreed on.
        for cut in (1..=bytes.len()).filter(|cut| bytes[0] != 0x16 || *cut != 5) {
            let (first, rest) = bytes.split_at(cut);
            let ledger = if rest.is_empty() { refused(&[first]) } else { refused(&[first, rest]) };
            assert_eq!((ledger.unparsed, ledger.started), (1, 0), "{cut}: {bytes:?}");
        }
    }
}

#[test]
fn who_agrees_on_tls_or_answers_it_has_understood_it() {
    let tls = opening([1234, 5679], b"");
    let record = [0x16u8, 3, 1, 0, 200];
    assert_eq!(refused(&[tls.bytes(), &record]).unparsed, 0);
    let hello = [&record[..], &[7; 200]].concat();
    let mut watched = WatchedServer::new(WireProtocol::Postgres, &streamed());
    watched.has_tls_probes(WireProtocol::Postgres);
    watched.reads(&hello);
    watched.sends(&hello);
    watched.closes();
    assert_eq!(watched.ledger().unparsed, 0);
}

/// Whatever stands in the place of a startup packet may come in pieces, too.
#[test]
fn what_stands_in_the_place_of_a_startup_packet_may_be_cut() {
    let cancels = opening([1234, 5678], &[0; 8]);
    let asks_tls = opening([1234, 5679], b"");
    for cut in 1..8 {
        let (first, rest) = cancels.bytes().split_at(cut);
        let ledger = ended(WireProtocol::Postgres, &[client(first), client(rest)]);
        assert_eq!((ledger.cancels, ledger.unparsed), (1, 0), "{cut}: {ledger:?}");
        let (first, rest) = asks_tls.bytes().split_at(cut);
        let begins = [client(first), client(rest), server(b"N")];
        let (seen, ledger) = seen(&[&begins[..], &everything().turns].concat());
        assert_eq!(seen, everything().whole().0, "{cut}: {ledger:?}");
    }
}
