//! What the requests of a connection mean to each other: EXECUTE names a statement by the number
//! that an earlier PREPARE was answered with.
//!
//! Everything here comes from clients. What is kept is bounded: texts that many connections prepare
//! are kept once, and when there are too many statements the connections that have been silent for
//! longest lose theirs.

use super::layout::{CUT, RawRequest, UNREAD};
use dbtime_model::traced::{TextState, TracedRequest};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_wire::mysql::command;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Statements that are kept, of all connections together.
const MOST_STATEMENTS: usize = 100_000;

/// MariaDB's name for the statement that was prepared last.
const LAST: u32 = u32::MAX;

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: HashMap<u64, Session>,
    texts: HashSet<Arc<str>>,
    statements: usize,
    /// Requests so far; tells which connections have been silent.
    clock: u64,
}

#[derive(Debug, Default)]
struct Session {
    statements: HashMap<u32, Statement>,
    last: Option<u32>,
    used: u64,
}

#[derive(Clone, Debug)]
struct Statement {
    text: Arc<str>,
    is_cut: bool,
}

impl Sessions {
    /// What a request was, in the light of those before it.
    pub(super) fn take(&mut self, raw: &RawRequest<'_>) -> TracedRequest {
        self.clock += 1;
        let (text, text_state) = self.text(raw);
        self.follow(raw, &text, text_state);
        TracedRequest {
            connection: raw.connection,
            process: raw.process,
            thread: raw.thread,
            start: MonoNanos(raw.start),
            first_sent: (raw.first_sent > 0).then_some(MonoNanos(raw.first_sent)),
            end: MonoNanos(raw.end.max(raw.start)),
            command: raw.command,
            length: raw.length,
            text,
            text_state,
            sent_bytes: raw.sent_bytes,
            sends: raw.sends,
            error: (raw.error > 0).then_some(raw.error),
            fate: raw.fate,
            server_queue: raw.server_queue.map(Nanos),
            parts: raw.parts,
            blocker: raw.blocker.clone(),
            preemptor: raw.preemptor.clone(),
            file: raw.file.clone(),
        }
    }

    fn text(&mut self, raw: &RawRequest<'_>) -> (Arc<str>, TextState) {
        let nothing = || Arc::from("");
        if raw.flags & UNREAD != 0 {
            return (nothing(), TextState::None);
        }
        match raw.command {
            command::QUERY => (text_of(without_attributes(raw.text)), whole_or_cut(raw)),
            command::STMT_PREPARE | INIT_DB => (text_of(raw.text), whole_or_cut(raw)),
            command::STMT_EXECUTE
            | command::STMT_SEND_LONG_DATA
            | command::STMT_CLOSE
            | command::STMT_RESET
            | command::STMT_FETCH
            | command::STMT_BULK_EXECUTE => {
                match number(raw.text).and_then(|number| self.statement(raw.connection, number)) {
                    Some(Statement { text, is_cut: false }) => (text, TextState::Whole),
                    Some(Statement { text, is_cut: true }) => (text, TextState::Cut),
                    None => (nothing(), TextState::Unknown),
                }
            }
            _ => (nothing(), TextState::None),
        }
    }

    fn statement(&mut self, connection: u64, number: u32) -> Option<Statement> {
        let session = self.sessions.get_mut(&connection)?;
        session.used = self.clock;
        let number = if number == LAST { session.last? } else { number };
        session.statements.get(&number).cloned()
    }

    /// Remembers what later requests may mean.
    fn follow(&mut self, raw: &RawRequest<'_>, text: &Arc<str>, state: TextState) {
        match raw.command {
            command::STMT_PREPARE if raw.reply == 0 && raw.sends > 0 => {
                let text = self.shared(text);
                let statement = Statement { text, is_cut: state == TextState::Cut };
                self.keep(raw.connection, raw.statement, statement);
            }
            command::STMT_CLOSE => {
                let session = self.sessions.get_mut(&raw.connection);
                if let Some((session, number)) = session.zip(number(raw.text))
                    && session.statements.remove(&number).is_some()
                {
                    self.statements -= 1;
                }
            }
            command::QUIT | command::CHANGE_USER | command::RESET_CONNECTION => {
                self.forget(raw.connection);
            }
            _ => {}
        }
    }

    fn keep(&mut self, connection: u64, number: u32, statement: Statement) {
        if self.statements >= MOST_STATEMENTS {
            self.make_room();
        }
        let session = self.sessions.entry(connection).or_default();
        (session.last, session.used) = (Some(number), self.clock);
        if session.statements.insert(number, statement).is_none() {
            self.statements += 1;
        }
    }

    fn forget(&mut self, connection: u64) {
        if let Some(session) = self.sessions.remove(&connection) {
            self.statements -= session.statements.len();
        }
    }

    /// Lets the longest silent half of all connections go.
    #[cold]
    fn make_room(&mut self) {
        let mut used: Vec<(u64, u64)> =
            self.sessions.iter().map(|(connection, session)| (session.used, *connection)).collect();
        used.sort_unstable();
        for (_, connection) in used.iter().take(used.len().div_ceil(2)) {
            self.forget(*connection);
        }
        self.texts.retain(|text| Arc::strong_count(text) > 1);
    }

    /// The same text, kept once.
    fn shared(&mut self, text: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        if self.texts.len() >= MOST_STATEMENTS {
            self.texts.retain(|text| Arc::strong_count(text) > 1);
        }
        self.texts.insert(Arc::clone(text));
        Arc::clone(text)
    }
}

/// USE, as a command.
const INIT_DB: u8 = 0x02;

fn whole_or_cut(raw: &RawRequest<'_>) -> TextState {
    if raw.flags & CUT == 0 { TextState::Whole } else { TextState::Cut }
}

fn text_of(bytes: &[u8]) -> Arc<str> {
    Arc::from(String::from_utf8_lossy(bytes))
}

/// The text behind the attributes that MySQL 8 clients may send with it, where there are none: a
/// count of zero, and one set of them.
fn without_attributes(text: &[u8]) -> &[u8] {
    text.strip_prefix(&[0, 1]).unwrap_or(text)
}

fn number(parameters: &[u8]) -> Option<u32> {
    parameters.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::written;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn take(sessions: &mut Sessions, bytes: &[u8]) -> (String, TextState) {
        let raw = RawRequest::read(bytes).expect("a request");
        let request = sessions.take(&raw);
        (request.text.to_string(), request.text_state)
    }

    fn prepare(connection: u64, number: u32, text: &str) -> Vec<u8> {
        written(connection, command::STMT_PREPARE, text.as_bytes(), |head| {
            head[48] = 1;
            head[64..68].copy_from_slice(&number.to_le_bytes());
        })
    }

    fn execute(connection: u64, number: u32) -> Vec<u8> {
        written(connection, command::STMT_EXECUTE, &number.to_le_bytes(), |_| {})
    }

    #[test]
    fn a_number_means_what_its_own_connection_prepared() {
        let mut sessions = Sessions::default();
        let whole = |text: &str| (text.to_owned(), TextState::Whole);
        assert_eq!(take(&mut sessions, &prepare(1, 5, "SELECT ?")), whole("SELECT ?"));
        assert_eq!(take(&mut sessions, &execute(1, 5)), whole("SELECT ?"));
        assert_eq!(take(&mut sessions, &execute(1, LAST)), whole("SELECT ?"));
        let unknown = (String::new(), TextState::Unknown);
        assert_eq!(take(&mut sessions, &execute(2, 5)), unknown);
        let close = written(1, command::STMT_CLOSE, &5u32.to_le_bytes(), |_| {});
        assert_eq!(take(&mut sessions, &close), whole("SELECT ?"));
        assert_eq!(take(&mut sessions, &execute(1, 5)), unknown);
        assert_eq!(sessions.statements, 0);
    }

    #[test]
    fn a_refused_statement_has_no_number() {
        let mut sessions = Sessions::default();
        let mut refused = prepare(1, 0, "SELEC");
        refused[77] = 0xff;
        take(&mut sessions, &refused);
        assert_eq!(sessions.statements, 0);
    }

    #[test]
    fn what_is_not_said_is_not_made_up() {
        let mut sessions = Sessions::default();
        let ping = written(1, command::PING, b"", |_| {});
        assert_eq!(take(&mut sessions, &ping).1, TextState::None);
        let cut = written(1, command::QUERY, b"\0\x01SELECT", |head| head[74] = 1);
        assert_eq!(take(&mut sessions, &cut), ("SELECT".to_owned(), TextState::Cut));
        let unread = written(1, command::QUERY, b"", |head| head[74] = 2);
        assert_eq!(take(&mut sessions, &unread).1, TextState::None);
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut sessions = Sessions::default();
        for index in 0..MOST_STATEMENTS as u64 + 10 {
            take(&mut sessions, &prepare(index, 1, "SELECT 1"));
        }
        assert!(sessions.statements <= MOST_STATEMENTS);
        assert_eq!(sessions.texts.len(), 1);
        let newest = MOST_STATEMENTS as u64 + 9;
        assert_eq!(take(&mut sessions, &execute(newest, 1)).1, TextState::Whole);
        assert_eq!(take(&mut sessions, &execute(0, 1)).1, TextState::Unknown);
    }

    proptest! {
        #[test]
        fn clients_may_say_anything(
            requests in vec((any::<u64>(), any::<u8>(), any::<Vec<u8>>()), 0..50)
        ) {
            let mut sessions = Sessions::default();
            for (connection, command, text) in requests {
                let bytes = written(connection % 3, command, &text, |_| {});
                take(&mut sessions, &bytes);
            }
            let kept: usize = sessions.sessions.values().map(|s| s.statements.len()).sum();
            prop_assert_eq!(kept, sessions.statements);
        }
    }
}
