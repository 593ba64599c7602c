//! What the requests of a connection mean to each other: EXECUTE names a statement by the number
//! that an earlier PREPARE was answered with, or by the name that it gave.
//!
//! Everything here comes from clients. What is kept is bounded: texts that many connections prepare
//! are kept once, and when there are too many statements the connections that have been silent for
//! longest lose theirs.

use super::listed::ListedSessions;
use super::literals::{LiteralFilter, RawSql};
use super::meaning::{RequestContent, RequestMeaning, StatementReference, content, meaning};
use super::naming::ServerNaming;
use super::traced_request::traced_request;
use crate::kernel_layout::numbers::{
    REQUEST_CUT, REQUEST_ESCAPES, REQUEST_FETCHES, REQUEST_MULTI, REQUEST_NO_ESCAPES,
    REQUEST_QUOTED_NAMES, REQUEST_UNREAD,
};
use crate::trace::kernel::executed::RawExecuted;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::Parts;
use dbtime_model::traced::{ExecutedStatement, SessionLogin, TextState, TracedRequest};
use dbtime_sql::LexicalRules;
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
    pub(crate) unresolved: u64,
    /// Requests so far; tells which connections have been silent.
    clock: u64,
    listed: ListedSessions,
    pub(crate) literals: LiteralFilter,
    pub(crate) lacks_parts: bool,
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
    /// None yet; their texts are shown as `literals` permits. `lacks_parts`: the kernel does not
    /// tell where responses went.
    pub(crate) fn new(literals: LiteralFilter, lacks_parts: bool) -> Self {
        Self { literals, lacks_parts, ..Self::default() }
    }

    /// Whose a connection is from here on; what the server calls it stays.
    pub(super) fn logged_in(&mut self, connection: u64, mut login: SessionLogin) {
        let session = self.session(connection);
        login.id = login.id.or_else(|| session.login.as_ref()?.id);
        session.login = Some(Arc::new(login));
    }

    /// Where the client of a connection is, which has not said who it is: a list may have.
    pub(super) fn found(&mut self, connection: u64, login: SessionLogin) {
        let SessionLogin { client, client_cookie, id, .. } = login;
        let known = self.session(connection).login.take();
        let known = known.map_or_else(SessionLogin::default, Arc::unwrap_or_clone);
        self.logged_in(
            connection,
            SessionLogin { client, client_cookie, id: id.or(known.id), ..known },
        );
    }

    /// The sessions that a server has, of which some were there before the watching.
    pub(crate) fn list(&mut self, listed: ListedSessions) {
        self.listed = listed;
    }

    /// Looks for the connection of a request among those that its server, which `naming` knows, has
    /// listed; `is_there`: it is there in this moment.
    pub(super) fn identify(
        &mut self,
        raw: &RawRequest<'_>,
        naming: &mut ServerNaming,
        is_there: bool,
    ) {
        if self.listed.is_empty() {
            return;
        }
        let server = naming.server(raw);
        let known =
            self.sessions.get(&raw.record.connection).and_then(|session| session.login.as_ref());
        if let Some(login) = self.listed.find(raw, server, is_there, known) {
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
        let (parts, queue_parts) = match self.lacks_parts {
            true => (Parts::default(), None),
            false => (raw.parts(), raw.queue_parts()),
        };
        TracedRequest {
            is_match,
            parts,
            queue_parts,
            ..traced_request(raw, login, self.literals.open(text), text_state)
        }
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

fn whole_or_cut(raw: &RawRequest<'_>) -> TextState {
    if raw.has(REQUEST_CUT) { TextState::Cut } else { TextState::Whole }
}

/// How the server reads the text of a request, as far as its session has shown that.
fn rules_of(raw: &RawRequest<'_>) -> LexicalRules {
    let unknown = LexicalRules::of_protocol(Some(raw.protocol));
    if !raw.has(REQUEST_ESCAPES | REQUEST_NO_ESCAPES) || raw.server_text().is_some() {
        return unknown;
    }
    // They may change between two statements of a text.
    let whole = raw.text.trim_ascii_end().split_last();
    if whole.is_some_and(|(_, text)| text.contains(&b';')) {
        return unknown;
    }
    unknown
        .with_escapes(Some(raw.has(REQUEST_ESCAPES)))
        .with_quoted_names(raw.has(REQUEST_QUOTED_NAMES).then_some(true))
}

/// The text of a request that has one, behind the attributes that MySQL 8 clients may send with a
/// QUERY, where there are none: a count of zero, and one set of them.
pub(super) fn text_of(raw: &RawRequest<'_>) -> RawSql {
    let bare = raw.text.strip_prefix(&[0, 1]).filter(|_| raw.record.command == command::QUERY);
    RawSql::new(raw.server_text().or(bare).unwrap_or(raw.text), rules_of(raw))
}

#[cfg(test)]
impl TracedSessions {
    /// None yet; their texts are shown as they are.
    pub(super) fn keeping_literals() -> Self {
        Self::new(LiteralFilter::new(true, None), false)
    }
}

#[cfg(test)]
mod tests;
