//! What lies between Lua and Rust: the client that runs has its slot in the host, where the
//! functions that Lua calls put its requests and find its answers.

use super::failure::{ClassifiedError, judge};
use super::histogram::SysbenchHistogram;
use super::lua_state::CoroutineResume;
use super::lua_visits::LuaVisits;
use super::main_state::{MainTask, MainThreadReply};
use super::random::SysbenchRandom;
use super::script::SysbenchSetup;
use super::settings::SysbenchSettings;
use super::stats::SysbenchCounter;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_load::script::ScriptProgramStep;
use dbtime_model::{Nanos, OperationId, SqlDialect, StatementId};
use dbtime_sql::{LexicalRules, StatementShapes, fingerprint, without_repeated_passwords};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// What a client asks for, without its texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HostCall {
    #[default]
    Connect,
    Disconnect,
    Query,
    /// Undoes what a failure left open; counted nowhere.
    Rollback,
    Prepare,
    Execute,
    Close,
}

/// How a parameter is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Integer,
    Real,
    Text,
}

/// A statement that a client has prepared.
#[derive(Debug)]
pub(super) struct PreparedQuery {
    pub(super) id: StatementId,
    pub(super) kinds: Box<[ParameterKind]>,
    /// Where the server prepares nothing.
    pub(super) text: Option<Box<str>>,
}

/// All that Rust keeps of a client.
#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) client: u32,
    pub(super) random: SysbenchRandom,
    pub(super) call: HostCall,
    pub(super) text: String,
    pub(super) values: Vec<SqlValue>,
    pub(super) handle: u32,
    pub(super) statement: Option<StatementId>,
    pub(super) prepared: Vec<Option<PreparedQuery>>,
    /// Which of the client's connections is spoken to.
    pub(super) connection: u16,
    /// What each connection has brought back last.
    pub(super) last_results: Vec<ConnectionResult>,
    pub(super) failure: Option<ClassifiedError>,
    pub(super) sleep: Nanos,
    pub(super) restarts: u32,
    pub(super) bulk: BulkInsert,
}

/// What a connection has brought back last.
#[derive(Debug, Default)]
pub(super) struct ConnectionResult {
    pub(super) results: ResultSets,
    /// Which of the results the script is at.
    pub(super) set: usize,
}

/// A bulk insert under way.
#[derive(Debug, Default)]
pub(super) struct BulkInsert {
    pub(super) prefix: String,
    pub(super) text: String,
}

impl ClientState {
    pub(super) fn new(client: u32, seed: u64) -> Self {
        Self {
            client,
            random: SysbenchRandom::new(seed, client),
            call: HostCall::default(),
            text: String::new(),
            values: Vec::new(),
            handle: 0,
            statement: None,
            prepared: Vec::new(),
            connection: 0,
            last_results: vec![ConnectionResult::default()],
            failure: None,
            sleep: Nanos(0),
            restarts: 0,
            bulk: BulkInsert::default(),
        }
    }

    /// What the client asks for, in the engine's words.
    #[inline]
    pub(super) fn step(&self, lua_host: &LuaHost) -> ScriptProgramStep<'_> {
        let handle = self.handle;
        let keeps_rows = lua_host.keeps_rows();
        let op = match self.call {
            HostCall::Connect => ConnectionOp::Connect,
            HostCall::Disconnect => ConnectionOp::Disconnect,
            HostCall::Query | HostCall::Rollback => ConnectionOp::Query(&self.text),
            HostCall::Prepare => ConnectionOp::Prepare { handle, sql: &self.text },
            HostCall::Execute => {
                ConnectionOp::Execute { handle, parameters: &self.values, keeps_rows }
            }
            HostCall::Close => ConnectionOp::Close { handle },
        };
        ScriptProgramStep::Perform { op, statement: self.statement, connection: self.connection }
    }

    /// Asks for something that is no statement.
    pub(super) fn set_call(&mut self, call: HostCall) {
        (self.call, self.statement) = (call, None);
    }

    /// Speaks to a connection from here on.
    pub(super) fn select_connection(&mut self, connection: u16) {
        self.connection = connection;
        let most = self.last_results.len().max(usize::from(connection) + 1);
        self.last_results.resize_with(most, ConnectionResult::default);
    }

    /// What the present connection has brought back last.
    #[inline]
    pub(super) fn last_result(&mut self) -> &mut ConnectionResult {
        &mut self.last_results[usize::from(self.connection)]
    }

    /// Takes what came of a request, and says what the client is resumed with.
    #[inline]
    pub(super) fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
        lua_host: &LuaHost,
    ) -> CoroutineResume {
        match reply {
            Ok(results) => {
                let (columns, rows) = self.take(results, lua_host);
                CoroutineResume::Answered(columns, rows)
            }
            Err(failure) => {
                if matches!(self.call, HostCall::Query | HostCall::Execute) {
                    lua_host.add(self.client, SysbenchCounter::Error);
                }
                let setup = &lua_host.setup;
                let mut judged = judge(failure, setup.settings.driver, &setup.ignored);
                judged.message = self.shown_message(failure, &setup.settings, &judged);
                self.failure = Some(judged);
                CoroutineResume::Failed
            }
        }
    }

    /// What a script learns of the database's words: without passwords, and without names that
    /// neither the statement nor the target has. The text of a prepared one is not known.
    fn shown_message(
        &self,
        failure: &DatabaseFailure,
        settings: &SysbenchSettings,
        judged: &ClassifiedError,
    ) -> String {
        let is_known = matches!(self.call, HostCall::Query | HostCall::Prepare);
        if !is_known && self.call != HostCall::Execute {
            return judged.message.clone();
        }
        let text = is_known.then_some(self.text.as_str());
        let shapes = StatementShapes::of(text, &LexicalRules::unknown(settings.driver));
        let shapes = shapes.with_names(&settings.target);
        let named = shapes.without_unknown_names(&failure.code, &judged.message);
        without_repeated_passwords(text.unwrap_or_default(), &named).into_owned()
    }

    /// Takes what a request brought back: the columns and rows of its first result; without columns
    /// the rows that it changed.
    fn take(&mut self, results: &mut ResultSets, lua_host: &LuaHost) -> (u32, u32) {
        let first = results.set(0);
        let columns = first.map_or(0, |set| set.columns());
        let affected = first.map_or(0, |set| set.affected());
        let rows = if columns == 0 { affected } else { first.map_or(0, |set| set.rows()) };
        if matches!(self.call, HostCall::Query | HostCall::Execute) {
            lua_host.count(self.client, columns, affected);
            let last_results = self.last_result();
            last_results.set = 0;
            if lua_host.reads_rows.get() {
                std::mem::swap(results, &mut last_results.results);
            }
        }
        (columns as u32, rows as u32)
    }
}

/// What the clients of a thread share.
pub(super) struct LuaHost {
    pub(super) setup: Arc<SysbenchSetup>,
    pub(super) visits: Arc<LuaVisits>,
    /// Latencies of the events of this thread.
    pub(super) latencies: Arc<SysbenchHistogram>,
    /// The slot of the client that runs.
    pub(super) slot: RefCell<Box<ClientState>>,
    /// Whether any of the script's files says how to read a row. If none does, no row is kept.
    pub(super) reads_rows: Cell<bool>,
    /// Whether any of them says how to get to a database.
    pub(super) names_sql: Cell<bool>,
    /// Whether the state has run into its memory limit.
    pub(super) is_full: Cell<bool>,
    /// What a main state is to do, and what came of it.
    pub(super) task: RefCell<Option<MainTask>>,
    pub(super) answer: RefCell<Option<MainThreadReply>>,
    /// A text that many functions need for a moment.
    pub(super) scratch: RefCell<Vec<u8>>,
    ids: RefCell<StatementIds>,
}

/// The numbers of statements, as far as this thread has met them.
#[derive(Default)]
struct StatementIds {
    known: HashMap<Box<str>, StatementId>,
    fingerprint: String,
}

impl LuaHost {
    pub(super) fn new(setup: Arc<SysbenchSetup>, visits: Arc<LuaVisits>) -> Self {
        Self {
            latencies: setup.stats.histogram(),
            slot: RefCell::new(Box::new(ClientState::new(u32::MAX, setup.seed))),
            reads_rows: Cell::new(false),
            names_sql: Cell::new(false),
            is_full: Cell::new(false),
            task: RefCell::default(),
            answer: RefCell::default(),
            scratch: RefCell::default(),
            ids: RefCell::default(),
            setup,
            visits,
        }
    }

    /// Adds one to a counter of a client.
    #[inline]
    pub(super) fn add(&self, client: u32, counter: SysbenchCounter) {
        self.setup.stats.count(client as usize, counter, 1);
    }

    /// Adds one to a counter of the client that runs.
    pub(super) fn add_own(&self, counter: SysbenchCounter) {
        self.add(self.slot.borrow().client, counter);
    }

    /// Whether the rows of prepared statements are wanted. On MySQL they cannot be fetched.
    pub(super) fn keeps_rows(&self) -> bool {
        self.reads_rows.get() && self.setup.settings.driver == SqlDialect::Postgres
    }

    /// Counts a statement that answered.
    #[inline]
    pub(super) fn count(&self, client: u32, columns: usize, affected: u64) {
        self.add(
            client,
            match (columns, affected) {
                (0, 0) => SysbenchCounter::Other,
                (0, _) => SysbenchCounter::Write,
                _ => SysbenchCounter::Read,
            },
        );
    }

    /// Remembers why the run ends, with what to do about the one error that is not the script's.
    pub(super) fn report_fatal(&self, words: &str, trace: &str) {
        let limit = self.setup.settings.memory_limit;
        let is_full = limit > 0 && words.contains("not enough memory");
        let remedy = if is_full {
            self.is_full.set(true);
            format!(
                " (the limit for a thread's Lua state is {limit} bytes; raise it, or use more \
                 threads)"
            )
        } else {
            String::new()
        };
        self.setup.report_fatal(&format!("{words}{remedy}{trace}"));
    }

    /// The number of a statement. What a thread has met before takes no lock, and allocates
    /// nothing.
    pub(super) fn number(&self, sql: &str) -> StatementId {
        let ids = &mut *self.ids.borrow_mut();
        let rules = LexicalRules::unknown(self.setup.settings.driver);
        fingerprint(sql, &rules, &mut ids.fingerprint);
        if let Some(&id) = ids.known.get(ids.fingerprint.as_str()) {
            return id;
        }
        let id = self.setup.registry.number(OperationId(0), &ids.fingerprint);
        // A script that makes up ever new statements must not fill the memory with them.
        if ids.known.len() < 2 * crate::statement_registry::MAX_STATEMENTS {
            ids.known.insert(ids.fingerprint.as_str().into(), id);
        }
        id
    }
}
