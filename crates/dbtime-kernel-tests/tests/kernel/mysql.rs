//! MySQL's protocol: what is said whole is seen whole, and cut into pieces it is the same.

use super::conversation::{Conversation, ConversationTurn, SeenRequest, differences};
use super::secrets::SECRETS;
use dbtime_model::WireProtocol;
use dbtime_model::traced::{ErrorCode, RequestOutcome, TextState};
use dbtime_wire::mysql::{command, write_packet};
use proptest::collection::vec;
use proptest::prelude::*;

/// What a client wants: the protocol of 4.1, a short proof, a database.
pub(crate) const CAPABILITIES: u32 = 1 << 9 | 1 << 15 | 1 << 3;
pub(crate) const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// A replica says who it is, with a password.
const REGISTER_REPLICA: u8 = 0x15;

/// Packets of a payload each, numbered from `first`.
pub(crate) fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let (mut bytes, mut number) = (Vec::new(), first);
    for payload in payloads {
        number = write_packet(payload, number, &mut bytes);
    }
    bytes
}

pub(crate) fn greeting() -> Vec<u8> {
    let mut payload = b"\x0a5.5.5-10.11-MariaDB\0".to_vec();
    payload.extend_from_slice(&77u32.to_le_bytes());
    payload.extend_from_slice(&[b'x'; 40]);
    packets(0, &[&payload])
}

pub(crate) fn login() -> Vec<u8> {
    let mut payload = CAPABILITIES.to_le_bytes().to_vec();
    payload.resize(32, 0);
    payload.extend_from_slice(b"app\0\x04\x01\x02\0\x03shop\0mysql_native_password\0");
    packets(1, &[&payload])
}

pub(crate) fn asks(command: u8, rest: &[u8]) -> ConversationTurn {
    ConversationTurn::Client(packets(0, &[&[&[command], rest].concat()]))
}

pub(crate) fn answers(payloads: &[&[u8]]) -> ConversationTurn {
    ConversationTurn::Server(packets(1, payloads))
}

/// A result of one column, with an EOF behind its definition and one behind the rows.
fn rows(rows: &[&[u8]], status: u8) -> ConversationTurn {
    let column = b"\x03def\x00\x01t\x01t\x01a\x01a\x0c\x21\0\x0b\0\0\0\x03\0\0\0\0\0";
    let end = [0xfe, 0, 0, status, 0];
    let mut payloads: Vec<&[u8]> = vec![&[1], column, &end];
    payloads.extend_from_slice(rows);
    payloads.push(&end);
    answers(&payloads)
}

fn error(number: u16) -> ConversationTurn {
    let mut payload = vec![0xff];
    payload.extend_from_slice(&number.to_le_bytes());
    payload.extend_from_slice(b"#42000You have an error");
    answers(&[&payload])
}

/// A query.
pub(crate) fn asks_query(text: &str) -> ConversationTurn {
    asks(command::QUERY, text.as_bytes())
}

/// A login, a change of user, an execution and rows with secrets in them.
pub(crate) fn with_secrets() -> Conversation {
    let [password, parameter, value] = SECRETS.map(str::as_bytes);
    let mut login = CAPABILITIES.to_le_bytes().to_vec();
    login.resize(32, 0);
    let proof = |password: &[u8]| [&[password.len() as u8][..], password].concat();
    login.extend([b"app\0", &proof(password)[..], b"shop\0mysql_clear_password\0"].concat());
    let change = [b"root\0", &proof(password)[..], b"shop\0\x21\0", password].concat();
    let prepared = [&[0][..], &7u32.to_le_bytes(), &[1, 0, 1, 0, 0, 0, 0]].concat();
    let execute = [&7u32.to_le_bytes()[..], &[0, 1, 0, 0, 0, 0, 1, 0xfe, 0, 9], parameter].concat();
    let long = [&7u32.to_le_bytes()[..], &[0, 0], parameter].concat();
    let row = [&[value.len() as u8][..], value].concat();
    let replica = [b"\x07\0\0\0\x04host\x04repl", &proof(password)[..], &[0; 10]].concat();
    let turns = [
        ConversationTurn::Server(greeting()),
        ConversationTurn::Client(packets(1, &[&login])),
        ConversationTurn::Server(packets(2, &[b"\xfemysql_clear_password\0"])),
        ConversationTurn::Client(packets(3, &[password])),
        ConversationTurn::Server(packets(4, &[OK])),
        asks(command::STMT_PREPARE, b"SELECT a FROM t WHERE b = ?"),
        answers(&[&prepared]),
        asks(command::STMT_SEND_LONG_DATA, &long),
        asks(command::STMT_EXECUTE, &execute),
        rows(&[&row, &row], 2),
        asks(REGISTER_REPLICA, &replica),
        answers(&[OK]),
        asks(command::CHANGE_USER, &change),
        ConversationTurn::Server(packets(1, &[b"\xfemysql_clear_password\0"])),
        ConversationTurn::Client(packets(2, &[password])),
        ConversationTurn::Server(packets(3, &[OK])),
        asks(command::QUERY, b"SELECT a FROM t"),
        rows(&[&row, &row], 2),
    ];
    Conversation { protocol: WireProtocol::Mysql, turns: turns.to_vec() }
}

/// Some of everything, each behind the login.
pub(crate) fn everything() -> Conversation {
    let execute = [&7u32.to_le_bytes()[..], &[0, 1, 0, 0, 0, 0, 42]].concat();
    let prepared = [&[0][..], &7u32.to_le_bytes(), &[1, 0, 1, 0, 0, 0, 0]].concat();
    let changed = [0, 3, 0, 3, 0, 0, 0];
    let wide = [b"\xfc\x2c\x01".to_vec(), vec![b'w'; 300]].concat();
    let turns = [
        ConversationTurn::Server(greeting()),
        ConversationTurn::Client(login()),
        ConversationTurn::Server(packets(2, &[OK])),
        asks(command::QUERY, b"SELECT a FROM t WHERE id = 1"),
        rows(&[b"\x011", b"\x012", b"\xfb"], 2),
        asks(command::QUERY, b"SELEC"),
        error(1064),
        asks(command::STMT_PREPARE, b"UPDATE t SET a = ?"),
        answers(&[&prepared]),
        asks(command::STMT_EXECUTE, &execute),
        answers(&[&changed]),
        asks(command::PING, b""),
        answers(&[OK]),
        asks(command::QUERY, b"USE other"),
        answers(&[OK]),
        asks(command::QUERY, b"SELECT wide FROM t"),
        rows(&[&wide, &wide, &wide, &wide, &wide], 2),
        asks(command::STMT_CLOSE, &7u32.to_le_bytes()),
        asks(command::QUERY, b""),
        error(1065),
    ];
    Conversation { protocol: WireProtocol::Mysql, turns: turns.to_vec() }
}

#[test]
fn each_request_is_seen_with_what_it_says_and_what_it_was_answered() {
    let (seen, ledger) = everything().whole();
    let short = |one: &SeenRequest| (one.command, one.text.to_string(), one.rows);
    let text = |text: &str| text.to_owned();
    let expected = [
        (command::QUERY, text("SELECT a FROM t WHERE id = 1"), Some(3)),
        (command::QUERY, text("SELEC"), None),
        (command::STMT_PREPARE, text("UPDATE t SET a = ?"), None),
        (command::STMT_EXECUTE, text("UPDATE t SET a = ?"), Some(3)),
        (command::PING, text(""), None),
        (command::QUERY, text("USE other"), Some(0)),
        (command::QUERY, text("SELECT wide FROM t"), Some(5)),
        (command::STMT_CLOSE, text("UPDATE t SET a = ?"), None),
        (command::QUERY, text(""), None),
    ];
    assert_eq!(seen.iter().map(short).collect::<Vec<_>>(), expected);
    assert!(
        seen.iter()
            .all(|one| one.outcome == RequestOutcome::Ended && one.text_state != TextState::Cut)
    );
    let errors = seen.iter().filter_map(|one| one.error.clone()).collect::<Vec<_>>();
    assert_eq!(errors, [ErrorCode::Number(1064), ErrorCode::Number(1065)]);
    let databases: Vec<_> = seen.iter().map(|one| one.database.as_deref()).collect();
    assert_eq!(databases[0], Some("shop"));
    assert_eq!((databases[6], databases[8]), (Some("other"), Some("other")));
    assert_eq!((ledger.started, ledger.ended, ledger.resync), (9, 9, 0));
}

/// Whether a place is in a packet that says how many rows there were, or that there are no more: it
/// is only read where it is whole.
fn is_in_the_last(turn: &ConversationTurn, place: usize) -> bool {
    const HEADER: usize = 4;
    let (bytes, mut from) = (turn.bytes(), 0);
    while let Some([low, high, .., first]) = bytes.get(from..from + HEADER + 1) {
        let next = from + HEADER + usize::from(u16::from_le_bytes([*low, *high]));
        if (from + 1..next).contains(&place) {
            return matches!(first, 0 | 0xfe) && place > from + HEADER;
        }
        from = next;
    }
    false
}

#[test]
fn requests_are_the_same_wherever_a_read_ends() {
    let is_read = |turn: &ConversationTurn| matches!(turn, ConversationTurn::Client(_));
    // Of a login what ends with a read is not known.
    let found = everything().cut_everywhere(is_read, |turn, _| *turn.bytes() != login());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Nobody is in no database because that was not read.
#[test]
fn a_login_is_known_with_its_database_or_not_at_all() {
    let conversation = everything();
    let (_, ledger) = conversation.whole();
    assert_eq!((ledger.logins, ledger.unknown_users()), (1, 0));
    let mut unknown = 0;
    for end in 1..login().len() {
        let (seen, ledger) = conversation.watched(|number, _| match number {
            1 => vec![end],
            _ => Vec::new(),
        });
        let first = (seen[0].user.as_deref(), seen[0].database.as_deref());
        let expected = if ledger.logins > 0 { (Some("app"), Some("shop")) } else { (None, None) };
        assert_eq!(first, expected, "{end}");
        unknown += ledger.unknown_users();
    }
    assert!(unknown > 0);
}

#[test]
fn requests_are_the_same_wherever_a_write_ends() {
    // The greeting is looked at as it is sent.
    let is_answer = |turn: &ConversationTurn| match turn {
        ConversationTurn::Server(bytes) => *bytes != greeting(),
        ConversationTurn::Client(_) => false,
    };
    let found = everything().cut_everywhere(is_answer, |turn, end| !is_in_the_last(turn, end));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

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
