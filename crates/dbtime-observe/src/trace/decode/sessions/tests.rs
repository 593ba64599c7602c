//! Tests of what requests mean to each other.

use super::*;
use crate::kernel_layout::capture::RequestRecord;
use crate::kernel_layout::numbers::{
    PROTOCOL_POSTGRES, REQUEST_NAMED, REQUEST_SERVER_TEXT, SERVER_TEXT_AT,
};
use crate::trace::kernel::layout::tests::written;
use dbtime_model::MonoNanos;
use dbtime_model::lock_picture::ServerSession;
use dbtime_wire::postgres::frontend;
use proptest::collection::vec;
use proptest::prelude::*;

fn take(sessions: &mut TracedSessions, bytes: &[u8]) -> (String, TextState) {
    let raw = RawRequest::read(bytes).expect("a request");
    let request = sessions.take(&raw);
    (request.text.to_string(), request.text_state)
}

fn prepare(connection: u64, number: u32, text: &str) -> Vec<u8> {
    written(connection, command::STMT_PREPARE, text.as_bytes(), |record| {
        (record.writes, record.statement) = (1, number);
    })
}

fn execute(connection: u64, number: u32) -> Vec<u8> {
    written(connection, command::STMT_EXECUTE, &number.to_le_bytes(), |_| {})
}

#[test]
fn a_number_means_what_its_own_connection_prepared() {
    let mut sessions = TracedSessions::keeping_literals();
    let whole = |text: &str| (text.to_owned(), TextState::Whole);
    assert_eq!(take(&mut sessions, &prepare(1, 5, "SELECT ?")), whole("SELECT ?"));
    assert_eq!(take(&mut sessions, &execute(1, 5)), whole("SELECT ?"));
    assert_eq!(take(&mut sessions, &execute(1, LAST_PREPARED)), whole("SELECT ?"));
    let unknown = (String::new(), TextState::Unknown);
    assert_eq!(take(&mut sessions, &execute(2, 5)), unknown);
    let close = written(1, command::STMT_CLOSE, &5u32.to_le_bytes(), |_| {});
    assert_eq!(take(&mut sessions, &close), whole("SELECT ?"));
    assert_eq!(take(&mut sessions, &execute(1, 5)), unknown);
    assert_eq!(sessions.statements, 0);
}

/// A request of PostgreSQL's.
fn tagged(command: u8, text: &str, name: &str, flags: u16) -> Vec<u8> {
    let bytes = written(1, command, text.as_bytes(), |record| {
        (record.writes, record.flags) = (1, flags);
        (record.protocol, record.name_length) = (PROTOCOL_POSTGRES, name.len() as u8);
    });
    [bytes, name.as_bytes().to_vec()].concat()
}

#[test]
fn a_name_means_what_was_prepared_under_it_last() {
    let mut sessions = TracedSessions::keeping_literals();
    let whole = |text: &str| (text.to_owned(), TextState::Whole);
    let unknown = (String::new(), TextState::Unknown);
    let named = |name: &str| tagged(frontend::EXECUTE, "", name, REQUEST_NAMED);
    assert_eq!(take(&mut sessions, &tagged(frontend::PARSE, "A $1", "s", 0)), whole("A $1"));
    assert_eq!(take(&mut sessions, &tagged(frontend::EXECUTE, "B $1", "", 0)), whole("B $1"));
    assert_eq!(take(&mut sessions, &named("s")), whole("A $1"));
    assert_eq!(take(&mut sessions, &named("")), whole("B $1"));
    assert_eq!(take(&mut sessions, &named("t")), unknown);
    take(&mut sessions, &tagged(frontend::EXECUTE, "C", "", 0));
    assert_eq!(take(&mut sessions, &named("")), whole("C"));
    assert_eq!(take(&mut sessions, &tagged(b'S', "", "", 0)).1, TextState::None);
    take(&mut sessions, &tagged(frontend::TERMINATE, "", "", 0));
    assert_eq!(take(&mut sessions, &named("s")), unknown);
}

#[test]
fn what_the_server_tells_is_kept_for_the_next_time() {
    let mut sessions = TracedSessions::keeping_literals();
    let mut text = 7u32.to_le_bytes().to_vec();
    text.resize(SERVER_TEXT_AT, 0);
    text.extend_from_slice(b"SELECT 8");
    let with_text =
        written(1, command::STMT_EXECUTE, &text, |record| record.flags = REQUEST_SERVER_TEXT);
    assert_eq!(take(&mut sessions, &execute(1, 7)).1, TextState::Unknown);
    for bytes in [with_text, execute(1, 7)] {
        let found = take(&mut sessions, &bytes);
        // The number stands before the text.
        assert_eq!(found, ("SELECT 8".to_owned(), TextState::Whole));
    }
    assert_eq!(sessions.unresolved, 2);
}

#[test]
fn a_connection_belongs_to_whom_it_was_said_to_last() {
    let mut sessions = TracedSessions::keeping_literals();
    let login = |user: &str| SessionLogin {
        user: user.to_owned(),
        database: "shop".to_owned(),
        ..SessionLogin::default()
    };
    let ping = |connection| written(connection, command::PING, b"", |_| {});
    let user = |sessions: &mut TracedSessions, bytes: &[u8]| {
        let raw = RawRequest::read(bytes).expect("a request");
        sessions.take(&raw).login.map(|login| login.user.clone())
    };
    assert_eq!(user(&mut sessions, &ping(1)), None);
    sessions.logged_in(1, login("app"));
    assert_eq!(user(&mut sessions, &ping(1)).as_deref(), Some("app"));
    assert_eq!(user(&mut sessions, &ping(2)), None);
    sessions.logged_in(1, login("root"));
    let change = written(1, command::CHANGE_USER, b"", |_| {});
    assert_eq!(user(&mut sessions, &change).as_deref(), Some("root"));
    let quit = written(1, command::QUIT, b"", |_| {});
    assert_eq!(user(&mut sessions, &quit).as_deref(), Some("root"));
    assert!(sessions.sessions.is_empty());
    (0..=MAX_SESSIONS as u64).for_each(|one| sessions.logged_in(one, login("app")));
    assert!(sessions.sessions.len() <= MAX_SESSIONS);
}

/// A walk over all connections may find one before the record with its client's address is read.
#[test]
fn what_a_list_said_stays_where_an_address_comes_later() {
    let mut sessions = TracedSessions::keeping_literals();
    let request = written(1, command::PING, b"", |record| record.tid = 11);
    let raw = RawRequest::read(&request).expect("a request");
    let listed = ServerSession {
        id: 22,
        user: "app".to_owned(),
        database: "shop".to_owned(),
        thread: Some(11),
        ..ServerSession::default()
    };
    sessions.list(ListedSessions::new(raw.record.tgid, MonoNanos(0), vec![listed]));
    sessions.identify(&raw, &mut ServerNaming::default(), true);
    let client = Some("127.0.0.1:4000".parse().expect("an address"));
    sessions.found(1, SessionLogin { client, ..SessionLogin::default() });
    let login = sessions.take(&raw).login.expect("it is known");
    assert_eq!((&*login.user, &*login.database, login.id), ("app", "shop", Some(22)));
    assert_eq!(login.client, client);
    // It has become another's, and it is not known whose: it is still the server's 22.
    sessions.logged_in(1, SessionLogin { client, ..SessionLogin::default() });
    let login = sessions.take(&raw).login.expect("it is known");
    assert_eq!((&*login.user, &*login.database, login.id), ("", "", Some(22)));
}

#[test]
fn a_refused_statement_has_no_number() {
    let mut sessions = TracedSessions::keeping_literals();
    let refused = |record: &mut RequestRecord| (record.writes, record.reply) = (1, 0xff);
    let refused = written(1, command::STMT_PREPARE, b"SELEC", refused);
    take(&mut sessions, &refused);
    assert_eq!(sessions.statements, 0);
}

#[test]
fn what_is_not_said_is_not_made_up() {
    let mut sessions = TracedSessions::keeping_literals();
    let ping = written(1, command::PING, b"", |_| {});
    assert_eq!(take(&mut sessions, &ping).1, TextState::None);
    let cut = written(1, command::QUERY, b"\0\x01SELECT", |record| record.flags = REQUEST_CUT);
    assert_eq!(take(&mut sessions, &cut), ("SELECT".to_owned(), TextState::Cut));
    let unread = written(1, command::QUERY, b"", |record| record.flags = REQUEST_UNREAD);
    assert_eq!(take(&mut sessions, &unread).1, TextState::None);
}

#[test]
fn what_is_kept_has_an_end() {
    let mut sessions = TracedSessions::keeping_literals();
    for index in 1..=MAX_STATEMENTS as u64 + 10 {
        take(&mut sessions, &prepare(index, 1, "SELECT 1"));
    }
    assert!(sessions.statements <= MAX_STATEMENTS);
    assert_eq!(sessions.texts.len(), 1);
    let newest = MAX_STATEMENTS as u64 + 10;
    assert_eq!(take(&mut sessions, &execute(newest, 1)).1, TextState::Whole);
    assert_eq!(take(&mut sessions, &execute(1, 1)).1, TextState::Unknown);
}

proptest! {
    #[test]
    fn clients_may_say_anything(
        requests in vec((any::<u64>(), any::<u8>(), any::<Vec<u8>>()), 0..50)
    ) {
        let mut sessions = TracedSessions::keeping_literals();
        for (connection, command, text) in requests {
            let bytes = written(1 + connection % 3, command, &text, |_| {});
            take(&mut sessions, &bytes);
        }
        let kept: usize = sessions.sessions.values().map(|s| s.statements.len()).sum();
        prop_assert_eq!(kept, sessions.statements);
    }
}
