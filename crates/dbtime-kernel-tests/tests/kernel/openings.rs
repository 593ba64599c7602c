//! How connections begin: behind the header of a proxy, and in ways that hide their requests or
//! have none.

use super::conversation::{Conversation, ConversationTurn};
use super::hostile::earnest;
use super::server::{WatchedServer, streamed};
use super::{mysql, postgres};
use dbtime_model::WireProtocol;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_wire::mysql::command;
use std::collections::BTreeSet;

/// The other end of the simulated socket.
const PROXY: Option<&str> = Some("127.0.0.1:40000");

/// A header that tells its length.
fn binary(command_and_family: [u8; 2], rest: &[u8]) -> Vec<u8> {
    let length = (rest.len() as u16).to_be_bytes();
    [&b"\r\n\r\n\0\r\nQUIT\n"[..], &command_and_family, &length, rest].concat()
}

/// Headers, and whose connection each says that it is.
fn headers() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let ports: [u8; 4] = [0xdc, 0x04, 0x0c, 0xea];
    let client = Some("192.0.2.7:56324");
    let four = [&[192, 0, 2, 7, 192, 0, 2, 1][..], &ports].concat();
    let more = [&four[..], &[7; 90]].concat();
    let address = |last: u8| [&[0x20, 1, 0x0d, 0xb8][..], &[0; 11], &[last]].concat();
    let six = [&address(7)[..], &address(1), &ports].concat();
    vec![
        (b"PROXY TCP4 192.0.2.7 192.0.2.1 56324 3306\r\n".to_vec(), client),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 56324 3306\r\n".to_vec(), None),
        (b"PROXY UNKNOWN\r\n".to_vec(), PROXY),
        (b"PROXY UNKNOWN 4.4.4.4 4.4.4.4 44 44\r\n".to_vec(), PROXY),
        (binary([0x21, 0x11], &four), client),
        (binary([0x21, 0x11], &more), client),
        (binary([0x21, 0x21], &six), Some("[2001:db8::7]:56324")),
        (binary([0x21, 0x31], &[0; 216]), None),
        // It claims an address, and has none.
        (binary([0x21, 0x11], &[]), None),
        // The proxy's own connection.
        (binary([0x20, 0x00], &[]), PROXY),
    ]
}

pub(crate) fn client(bytes: &[u8]) -> ConversationTurn {
    ConversationTurn::Client(bytes.to_vec())
}

pub(crate) fn server(bytes: &[u8]) -> ConversationTurn {
    ConversationTurn::Server(bytes.to_vec())
}

/// Some of everything, with a header in that place.
fn proxied(protocol: WireProtocol, header: &[u8], place: usize) -> Conversation {
    let mut turns = earnest(protocol).turns;
    turns.insert(place, client(header));
    Conversation { protocol, turns }
}

/// Where servers read it: MariaDB behind its greeting, others before anything else.
const PLACES: [(WireProtocol, usize); 3] =
    [(WireProtocol::Mysql, 1), (WireProtocol::Mysql, 0), (WireProtocol::Postgres, 0)];

#[test]
fn a_connection_behind_a_proxy_is_followed_wherever_its_header_is_cut() {
    for (protocol, place) in PLACES {
        for (header, _) in headers() {
            let conversation = proxied(protocol, &header, place);
            assert_eq!(conversation.whole(), earnest(protocol).whole(), "{header:?}");
            let is_header = |turn: &ConversationTurn| turn.bytes() == header;
            let found = conversation.cut_everywhere(is_header, |_, _| true);
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
    }
}

#[test]
fn a_header_may_come_together_with_what_the_client_says() {
    for (protocol, place) in [(WireProtocol::Mysql, 1), (WireProtocol::Postgres, 0)] {
        for (header, _) in headers() {
            let mut conversation = earnest(protocol);
            let first = conversation.turns[place].bytes();
            conversation.turns[place] = client(&[&header[..], first].concat());
            assert_eq!(conversation.whole(), earnest(protocol).whole(), "{header:?}");
        }
    }
}

#[test]
fn a_requests_client_is_the_one_that_the_header_names() {
    for (protocol, place) in PLACES {
        for (header, expected) in headers() {
            let mut watched = WatchedServer::new(protocol, &streamed());
            proxied(protocol, &header, place).play(&mut watched, &mut |_, _| Vec::new());
            let requests = watched.requests();
            let clients = requests.iter().map(|one| one.client().map(|at| at.to_string()));
            let clients: BTreeSet<_> = clients.collect();
            let expected = BTreeSet::from([expected.map(str::to_owned)]);
            assert_eq!(clients, expected, "{header:?}");
        }
    }
}

/// A login's length may be the first byte of a header.
#[test]
fn what_begins_like_a_header_is_none() {
    for first in [b'P', b'\r'] {
        let mut payload = mysql::CAPABILITIES.to_le_bytes().to_vec();
        payload.resize(32, 0);
        payload.extend_from_slice(b"app\0\x04\x01\x02\0\x03shop\0mysql_native_password\0");
        let length = if first == b'P' { 80 } else { 256 + 13 };
        payload.resize(length, 0);
        let login = mysql::packets(1, &[&payload]);
        assert_eq!(login[0], first);
        let mut conversation = earnest(WireProtocol::Mysql);
        conversation.turns[1] = client(&login);
        assert_eq!(conversation.whole(), earnest(WireProtocol::Mysql).whole());
        let is_login = |turn: &ConversationTurn| turn.bytes() == login;
        let found = conversation.cut_everywhere(is_login, |_, end| end < 4);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn what_goes_on_as_no_header_does_is_not_understood() {
    let endless = [&b"PROXY TCP4 "[..], &[b'1'; 100]].concat();
    for said in [&endless[..], b"PROXIED TCP4\r\n", b"\r\n\r\n\0\r\nQUIET\n\0\0\0\0\0"] {
        for cut in [2, 4, said.len()] {
            let (first, second) = said.split_at(cut);
            let turns = [client(first), client(second), server(b"E")];
            let ledger = ended(WireProtocol::Postgres, &turns);
            assert_eq!((ledger.unparsed, ledger.started), (1, 0), "{said:?}: {ledger:?}");
        }
    }
}

/// What was counted of a connection over which this is said, until the watching ends.
pub(crate) fn ended(protocol: WireProtocol, turns: &[ConversationTurn]) -> TraceLedger {
    let mut watched = WatchedServer::new(protocol, &streamed());
    let conversation = Conversation { protocol, turns: turns.to_vec() };
    conversation.play(&mut watched, &mut |_, _| Vec::new());
    watched.ends();
    let ledger = watched.ledger();
    assert_eq!(ledger.vanished(), 0, "{ledger:?}");
    ledger
}

/// Connections by their reasons: compressed, GSS, another protocol, of replicas, cancelling, not
/// understood; and requests.
fn reasons(ledger: &TraceLedger) -> [u64; 7] {
    let TraceLedger { compressed, gss, other_protocol, replication, cancels, .. } = *ledger;
    [compressed, gss, other_protocol, replication, cancels, ledger.unparsed, ledger.started]
}

fn check(protocol: WireProtocol, turns: &[ConversationTurn], expected: [u64; 7]) {
    let ledger = ended(protocol, turns);
    assert_eq!(reasons(&ledger), expected, "{turns:?}");
    let [compressed, gss, other, _, _, unparsed, _] = expected;
    assert_eq!(ledger.is_whole(), compressed + gss + other + unparsed == 0, "{ledger:?}");
}

fn login_with(capabilities: u32) -> ConversationTurn {
    let mut payload = (mysql::CAPABILITIES | capabilities).to_le_bytes().to_vec();
    payload.resize(32, 0);
    payload.extend_from_slice(b"app\0\0");
    ConversationTurn::Client(mysql::packets(1, &[&payload]))
}

#[test]
fn connections_to_mysql_that_are_not_followed_have_their_reason() {
    const COMPRESS: u32 = 1 << 5;
    const ZSTD: u32 = 1 << 26;
    let (greeting, ok) = (server(&mysql::greeting()), server(&mysql::packets(2, &[mysql::OK])));
    let check = |turns: &[ConversationTurn], expected| check(WireProtocol::Mysql, turns, expected);
    for capability in [COMPRESS, ZSTD] {
        check(&[greeting.clone(), login_with(capability), ok.clone()], [1, 0, 0, 0, 0, 0, 0]);
    }
    let http = client(b"GET / HTTP/1.1\r\nHost: db\r\n\r\n");
    check(&[greeting.clone(), http], [0, 0, 1, 0, 0, 0, 0]);
    // TLS from the first byte on: its record's length begins where a packet has its number.
    for length in [200u16, 0x0120, 0x0620] {
        let rest = vec![0x2a; length.into()];
        let hello = [&[0x16, 3, 1][..], &length.to_be_bytes(), &rest].concat();
        check(&[greeting.clone(), client(&hello)], [0, 0, 1, 0, 0, 0, 0]);
    }
    // The X protocol, with the server's notice at the beginning and without.
    let asks_x = [client(&[6, 0, 0, 0]), client(&[12, 1, 2, 3, 4, 5])];
    let answers_x = server(&[5, 0, 0, 0, 0x0c, 8, 7, 6, 5]);
    let hello = server(&[5, 0, 0, 0, 0x0b, 8, 5, 0x1a, 0]);
    let [header, body] = asks_x.clone();
    check(&[hello, header, body, answers_x.clone()], [0, 0, 1, 0, 0, 0, 0]);
    let [header, body] = asks_x;
    check(&[header, body, answers_x], [0, 0, 1, 0, 0, 0, 1]);
    // A replica, from its login on and in midst of what it takes.
    let dump = mysql::asks(0x12, b"\x04\0\0\0\0\0\x07\0\0\0bin.000001");
    let event = server(&mysql::packets(1, &[b"\0events"]));
    let follows = [greeting, login_with(0), ok, dump, event.clone(), event];
    check(&follows, [0, 0, 0, 1, 0, 0, 1]);
    let has = mysql::packets(0, &[b"\xef\0\0\0\0\0\0\0\0bin.000001"]);
    check(&[client(&has[..4]), client(&has[4..])], [0, 0, 0, 1, 0, 0, 1]);
    // A command that was compressed before.
    let compressed = [client(&[13, 0, 0, 0, 0, 0, 0]), client(b"\x09\0\0\0\x03SELECT 1")];
    check(&compressed, [0, 0, 0, 0, 0, 1, 0]);
}

/// What may stand in the place of a startup packet.
pub(crate) fn opening(code: [u16; 2], rest: &[u8]) -> ConversationTurn {
    let length = (rest.len() as u32 + 8).to_be_bytes();
    let [upper, lower] = code.map(u16::to_be_bytes);
    ConversationTurn::Client([&length[..], &upper, &lower, rest].concat())
}

#[test]
fn connections_to_postgresql_that_are_not_followed_have_their_reason() {
    let check = |turns: &[ConversationTurn], expected| {
        check(WireProtocol::Postgres, turns, expected);
    };
    let (gss, tls) = (opening([1234, 5680], b""), opening([1234, 5679], b""));
    let sealed = client(&[0, 0, 0, 12, 0x60, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    check(&[gss.clone(), server(b"G"), sealed], [0, 1, 0, 0, 0, 0, 0]);
    // Whoever leaves then has said nothing that is missing.
    check(&[gss.clone(), server(b"G")], [0; 7]);
    check(&[opening([2, 0], &[b'x'; 288])], [0, 0, 1, 0, 0, 0, 0]);
    check(&[opening([1234, 5678], &[0; 8])], [0, 0, 0, 0, 1, 0, 0]);
    // Whoever wants encryption and gets none leaves, or goes on without.
    check(&[gss.clone(), server(b"N")], [0; 7]);
    check(&[tls.clone(), server(b"N")], [0; 7]);
    let begin = [gss, server(b"N"), tls, server(b"N")];
    let rest = postgres::everything().turns;
    check(&[&begin[..], &rest].concat(), [0, 0, 0, 0, 0, 0, 8]);
    let streams = postgres::asks(&[postgres::query("START_REPLICATION 0/0")]);
    for (value, is_replica) in [("true", true), ("database", true), ("off", false), ("0", false)] {
        let settings = format!("user\0app\0replication\0{value}\0database\0shop\0\0");
        let turns = [opening([3, 0], settings.as_bytes()), streams.clone()];
        check(&turns, [0, 0, 0, is_replica.into(), 0, 0, (!is_replica).into()]);
    }
    let progress = postgres::message(b'd', &[&b"r"[..], &[0; 33]].concat());
    check(&[client(&progress), client(&progress)], [0, 0, 0, 1, 0, 0, 0]);
    let http = client(b"GET / HTTP/1.1\r\nHost: db\r\n\r\n");
    check(&[http, postgres::answers(&[postgres::failure("08P01")])], [0, 0, 0, 0, 0, 1, 0]);
}

#[test]
fn a_connection_that_its_server_closes_is_counted_once() {
    let mut watched = WatchedServer::new(WireProtocol::Postgres, &streamed());
    watched.reads(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(watched.ledger().unparsed, 0);
    watched.closes();
    assert_eq!(watched.ledger().unparsed, 1);
    watched.ends();
    assert_eq!(watched.ledger().unparsed, 1);
}

/// What was read before the first answer that is seen belongs to that.
#[test]
fn the_rest_of_a_request_from_before_is_nothing_strange() {
    let turns = [client(b"ELECT a FROM t"), mysql::answers(&[mysql::OK])];
    let ledger = ended(WireProtocol::Mysql, &turns);
    assert_eq!((ledger.unparsed, ledger.partial, ledger.started), (0, 1, 1), "{ledger:?}");
}

#[test]
fn a_login_under_way_is_followed_as_the_watching_begins() {
    let everything = earnest(WireProtocol::Mysql);
    let (header, body) = everything.turns[1].bytes().split_at(4);
    let turns = [&[client(header), client(body)][..], &everything.turns[2..]].concat();
    let (seen, ledger) = Conversation { protocol: WireProtocol::Mysql, turns }.whole();
    assert_eq!(seen, everything.whole().0);
    assert_eq!((ledger.partial, ledger.unparsed, ledger.logins), (0, 0, 1), "{ledger:?}");
}

#[test]
fn a_tls_library_that_shows_no_plain_text_is_found_out() {
    const TLS: u32 = 1 << 11;
    let mut watched = WatchedServer::new(WireProtocol::Mysql, &streamed());
    watched.has_tls_probes(WireProtocol::Mysql);
    watched.sends(&mysql::greeting());
    let mut wish = (mysql::CAPABILITIES | TLS).to_le_bytes().to_vec();
    wish.resize(32, 0);
    watched.reads(&mysql::packets(1, &[&wish]));
    let record = [0x17, 3, 3, 0, 16];
    // The agreement is two of these turns, the login the third.
    for turn in 1..9 {
        watched.reads(&record);
        watched.reads(&[7; 16]);
        watched.sends(&[&record[..], &[7; 16]].concat());
        assert_eq!(watched.ledger().tls, u64::from(turn > 3), "turn {turn}");
    }
    watched.ends();
    assert_eq!((watched.ledger().tls, watched.ledger().unparsed), (1, 0));
}

/// Of 3.23 and 4.0: a capability is missing, and with it much of what answers say.
#[test]
fn a_client_of_the_old_protocol_is_followed_without_what_it_does_not_say() {
    let login = mysql::packets(1, &[b"\x05\x24\0\0\x10app\0 8scramble and more of what proves it"]);
    let column = b"\x01t\x01a\x03\x0b\0\0\x01\x03\x03\0\0\0";
    let turns = [
        server(&mysql::greeting()),
        client(&login),
        server(&mysql::packets(2, &[b"\0\0\0\x02\0"])),
        mysql::asks_query("SELECT a FROM t"),
        mysql::answers(&[b"\x01", column, b"\xfe", b"\x011", b"\x012", b"\xfe"]),
        mysql::asks(command::QUERY, b"SELEC"),
        mysql::answers(&[b"\xff\x28\x04You have an error"]),
    ];
    let (seen, ledger) =
        Conversation { protocol: WireProtocol::Mysql, turns: turns.to_vec() }.whole();
    let short: Vec<_> =
        seen.iter().map(|one| (&*one.text, one.rows, one.user.as_deref())).collect();
    assert_eq!(short, [("SELECT a FROM t", None, None), ("SELEC", None, None)]);
    assert_eq!(seen[1].error.as_ref().map(ToString::to_string).as_deref(), Some("1064"));
    assert!(ledger.is_whole(), "{ledger:?}");
}
