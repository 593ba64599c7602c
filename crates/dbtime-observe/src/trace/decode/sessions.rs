//! What the requests of a connection mean to each other: EXECUTE names a statement by the number
//! that an earlier PREPARE was answered with, or by the name that it gave.
//!
//! Everything here comes from clients. What is kept is bounded: texts that many connections prepare
//! are kept once, and when there are too many statements the connections that have been silent for
//! longest lose theirs.

use super::listed::ListedSessions;
use super::literals::{LiteralFilter, RawSql};
use super::meaning::{RequestContent, RequestMeaning, StatementReference, content, meaning};
use crate::kernel_layout::numbers::{REQUEST_CUT, REQUEST_FETCHES, REQUEST_MULTI, REQUEST_UNREAD};
use crate::trace::kernel::executed::RawExecuted;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::MonoNanos;
use dbtime_model::WireProtocol;
use dbtime_model::traced::{ExecutedStatement, SessionLogin, TextState, TracedRequest};
use dbtime_wire::mysql::command;
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Statements that are kept, of all connections together.
const MAX_STATEMENTS: usize = 100_000;

/// Connections of which something is kept.
const MAX_SESSIONS: usize = 65_536;

/// MariaDB's name for the statement that was prepared last.
const LAST_PREPARED: u32 = u32::MAX;

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct TracedSessions {
    // Their numbers are the tracer's own: nobody chooses them so that they collide.
    sessions: FxHashMap<u64, TracedSession>,
    texts: HashSet<RawSql>,
    statements: usize,
    /// Requests that named a statement which is not known.
    unresolved: u64,
    /// Requests so far; tells which connections have been silent.
    clock: u64,
    listed: ListedSessions,
    pub(crate) literals: LiteralFilter,
}

#[derive(Debug, Default)]
struct TracedSession {
    statements: HashMap<StatementReference, SessionStatement>,
    login: Option<Arc<SessionLogin>>,
    last: Option<StatementReference>,
    used: u64,
}

#[derive(Clone, Debug)]
struct SessionStatement {
    text: RawSql,
    is_cut: bool,
}

impl TracedSessions {
    /// None yet; their texts are shown as `literals` permits.
    pub(crate) fn new(literals: LiteralFilter) -> Self {
        Self { literals, ..Self::default() }
    }

    /// How many requests have named a statement which was not known.
    pub(crate) fn unresolved(&self) -> u64 {
        self.unresolved
    }

    /// Whose a connection is from here on.
    pub(super) fn logged_in(&mut self, connection: u64, login: SessionLogin) {
        self.session(connection).login = Some(Arc::new(login));
    }

    /// The sessions that a server has, of which some were there before the watching.
    pub(crate) fn list(&mut self, listed: ListedSessions) {
        self.listed = listed;
    }

    /// Looks for the connection of a request among those that the server has listed; `is_there`:
    /// it is there in this moment.
    pub(super) fn identify(&mut self, raw: &RawRequest<'_>, is_there: bool) {
        if self.listed.is_empty() {
            return;
        }
        let known =
            self.sessions.get(&raw.record.connection).and_then(|session| session.login.as_ref());
        if let Some(login) = self.listed.find(raw, is_there, known) {
            self.logged_in(raw.record.connection, login);
        }
    }

    /// What the server calls a connection, where that is known.
    pub(super) fn server_id(&self, connection: u64) -> Option<u64> {
        self.sessions.get(&connection)?.login.as_ref()?.id
    }

    /// What a request was, in the light of those before it.
    pub(crate) fn take(&mut self, raw: &RawRequest<'_>) -> TracedRequest {
        self.clock += 1;
        let login = self.login(raw.record.connection);
        let statements = self.statements_of(raw);
        let (text, text_state) = match statements.get(raw.chief()) {
            Some((text, chief)) => (text.clone(), chief.text_state),
            None => self.one(raw),
        };
        self.open_portal(raw, statements.last().map_or(&text, |(last, _)| last));
        let statements = statements.into_iter().map(|(_, statement)| statement).collect();
        TracedRequest { statements, ..self.request(raw, login, &text, text_state) }
    }

    /// A request with what is shown of its text.
    fn request(
        &mut self,
        raw: &RawRequest<'_>,
        login: Option<Arc<SessionLogin>>,
        text: &RawSql,
        text_state: TextState,
    ) -> TracedRequest {
        let is_match = self.literals.is_match(text);
        TracedRequest { is_match, ..request(raw, login, self.literals.open(text), text_state) }
    }

    /// What a request is that is not over.
    pub(super) fn decode_unfinished(&mut self, raw: &RawRequest<'_>) -> TracedRequest {
        let unresolved = self.unresolved;
        let (text, text_state) = self.text(raw);
        // It will be counted when it is over.
        self.unresolved = unresolved;
        let login = self.login(raw.record.connection);
        self.request(raw, login, &text, text_state)
    }

    /// The statement of a request, which those behind it may mean.
    fn one(&mut self, raw: &RawRequest<'_>) -> (RawSql, TextState) {
        let (text, text_state) = self.text(raw);
        self.follow(raw, &text, text_state);
        (text, text_state)
    }

    /// Each statement of a request that executes several, with its text.
    fn statements_of(&mut self, raw: &RawRequest<'_>) -> Vec<(RawSql, ExecutedStatement)> {
        let statement = |executed: &RawExecuted<'_>| {
            let (text, text_state) = self.one(&raw.only(executed));
            let shown = ExecutedStatement {
                text: self.literals.open(&text),
                text_state,
                executes: executed.executes,
                rows: executed.rows,
                length: executed.length,
                has_others: executed.flags & REQUEST_MULTI != 0,
            };
            (text, shown)
        };
        raw.executed.iter().map(statement).collect()
    }

    /// A portal with a name was made, of which later requests fetch rows.
    fn open_portal(&mut self, raw: &RawRequest<'_>, text: &RawSql) {
        if raw.portal.is_empty() || raw.has(REQUEST_FETCHES) || raw.error().is_some() {
            return;
        }
        let statement = SessionStatement { text: self.shared(text), is_cut: false };
        self.keep(raw.record.connection, StatementReference::Portal(raw.portal.into()), statement);
    }

    /// Whose a connection is that has said something just now.
    fn login(&mut self, connection: u64) -> Option<Arc<SessionLogin>> {
        let session = self.sessions.get_mut(&connection)?;
        session.used = self.clock;
        session.login.clone()
    }

    fn text(&mut self, raw: &RawRequest<'_>) -> (RawSql, TextState) {
        let nothing = RawSql::nothing;
        if raw.has(REQUEST_UNREAD) {
            return (nothing(), TextState::None);
        }
        match content(raw) {
            RequestContent::Text => (text_of(raw), whole_or_cut(raw)),
            RequestContent::Reference(reference) => {
                match self.statement(raw.record.connection, &reference) {
                    Some(SessionStatement { text, is_cut: false }) => (text, TextState::Whole),
                    Some(SessionStatement { text, is_cut: true }) => (text, TextState::Cut),
                    None => self.server_text_of(raw, reference),
                }
            }
            RequestContent::Nothing => (nothing(), TextState::None),
        }
    }

    /// A statement that was prepared before that could be seen: the server may have told of it.
    fn server_text_of(
        &mut self,
        raw: &RawRequest<'_>,
        reference: StatementReference,
    ) -> (RawSql, TextState) {
        self.unresolved += 1;
        if raw.server_text().is_none() {
            return (RawSql::nothing(), TextState::Unknown);
        }
        let (text, state) = (self.shared(&text_of(raw)), whole_or_cut(raw));
        let statement = SessionStatement { text: text.clone(), is_cut: state == TextState::Cut };
        self.keep(raw.record.connection, reference, statement);
        (text, state)
    }

    fn statement(
        &self,
        connection: u64,
        reference: &StatementReference,
    ) -> Option<SessionStatement> {
        let session = self.sessions.get(&connection)?;
        let last = (*reference == StatementReference::Number(LAST_PREPARED))
            .then_some(session.last.as_ref())
            .flatten();
        session.statements.get(last.unwrap_or(reference)).cloned()
    }

    /// Remembers what later requests may mean.
    fn follow(&mut self, raw: &RawRequest<'_>, text: &RawSql, state: TextState) {
        match meaning(raw) {
            RequestMeaning::Prepares(reference) => {
                let text = self.shared(text);
                let statement = SessionStatement { text, is_cut: state == TextState::Cut };
                self.keep(raw.record.connection, reference, statement);
            }
            RequestMeaning::Closes(reference) => {
                let session = self.sessions.get_mut(&raw.record.connection);
                if session.is_some_and(|session| session.statements.remove(&reference).is_some()) {
                    self.statements -= 1;
                }
            }
            RequestMeaning::EndsAll => {
                if let Some(session) = self.sessions.get_mut(&raw.record.connection) {
                    self.statements -= session.statements.len();
                    session.statements.clear();
                }
            }
            RequestMeaning::Leaves => self.forget(raw.record.connection),
            RequestMeaning::None => {}
        }
    }

    fn keep(
        &mut self,
        connection: u64,
        reference: StatementReference,
        statement: SessionStatement,
    ) {
        if self.statements >= MAX_STATEMENTS {
            self.make_room();
        }
        let session = self.session(connection);
        session.last = Some(reference.clone());
        if session.statements.insert(reference, statement).is_none() {
            self.statements += 1;
        }
    }

    /// What is kept of a connection.
    fn session(&mut self, connection: u64) -> &mut TracedSession {
        if self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains_key(&connection) {
            self.make_room();
        }
        let session = self.sessions.entry(connection).or_default();
        session.used = self.clock;
        session
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
        self.texts.retain(RawSql::is_shared);
    }

    /// The same text, kept once.
    fn shared(&mut self, text: &RawSql) -> RawSql {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        if self.texts.len() >= MAX_STATEMENTS {
            self.texts.retain(RawSql::is_shared);
        }
        self.texts.insert(text.clone());
        text.clone()
    }
}

fn request(
    raw: &RawRequest<'_>,
    login: Option<Arc<SessionLogin>>,
    text: Arc<str>,
    text_state: TextState,
) -> TracedRequest {
    let record = &raw.record;
    TracedRequest {
        connection: record.connection,
        login,
        process: record.tgid,
        thread: record.tid,
        start: MonoNanos(record.start),
        first_sent: (record.first_sent > 0).then_some(MonoNanos(record.first_sent)),
        end: MonoNanos(record.end.max(record.start)),
        command: record.command,
        executes: record.executes.into(),
        statements: Vec::new(),
        length: record.length,
        text,
        text_state,
        sent_bytes: record.sent_bytes,
        writes: record.writes,
        rows: rows(raw),
        error: raw.error(),
        protocol: raw.protocol,
        outcome: raw.outcome,
        server_queue: raw.server_queue(),
        parts: raw.parts(),
        other_call: raw.other_call(),
        blocker: raw.blocker.clone(),
        preemptor: raw.preemptor.clone(),
        files: raw.files.clone(),
        cache: raw.cache(),
        is_match: false,
    }
}

/// PostgreSQL tells of the last command alone: of what may be several nobody knows all rows.
fn rows(raw: &RawRequest<'_>) -> Option<u64> {
    let is_end = |byte: &u8| *byte == b';' || byte.is_ascii_whitespace();
    let may_be_several = match (raw.protocol, raw.record.command) {
        (WireProtocol::Mysql, _) => false,
        (WireProtocol::Postgres, b'Q') => {
            let end = raw.text.iter().rposition(|byte| !is_end(byte)).unwrap_or(0);
            raw.has(REQUEST_CUT | REQUEST_UNREAD) || has_semicolon(&raw.text[..end])
        }
        // What each of several had is known apart.
        (WireProtocol::Postgres, _) => raw.record.executes > 1 && raw.executed.is_empty(),
    };
    raw.rows().filter(|_| !may_be_several)
}

/// Whether there is one outside of literals and comments.
fn has_semicolon(text: &[u8]) -> bool {
    let mut fingerprint = String::new();
    text.contains(&b';') && {
        dbtime_sql::fingerprint(&String::from_utf8_lossy(text), &mut fingerprint);
        fingerprint.contains(';')
    }
}

fn whole_or_cut(raw: &RawRequest<'_>) -> TextState {
    if raw.has(REQUEST_CUT) { TextState::Cut } else { TextState::Whole }
}

/// The text of a request that has one, behind the attributes that MySQL 8 clients may send with a
/// QUERY, where there are none: a count of zero, and one set of them.
pub(super) fn text_of(raw: &RawRequest<'_>) -> RawSql {
    let bare = raw.text.strip_prefix(&[0, 1]).filter(|_| raw.record.command == command::QUERY);
    RawSql::decode(raw.server_text().or(bare).unwrap_or(raw.text))
}

#[cfg(test)]
impl TracedSessions {
    /// None yet; their texts are shown as they are.
    pub(super) fn keeping_literals() -> Self {
        Self::new(LiteralFilter::new(true, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_layout::capture::RequestRecord;
    use crate::kernel_layout::numbers::{
        PROTOCOL_POSTGRES, REQUEST_NAMED, REQUEST_SERVER_TEXT, SERVER_TEXT_AT,
    };
    use crate::trace::kernel::layout::tests::written;
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
        assert_eq!(sessions.unresolved(), 2);
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
}
