//! A traced request as JSON: the one form of `dbtime trace --json` and of recordings.
//!
//! Times are microseconds; instants count from the beginning of the watching.

use crate::parts::{Part, Parts};
use crate::record::WaitedFile;
use crate::traced::{
    Blocker, BlockingTransaction, ErrorCode, ExecutedStatement, Preemptor, QueryCache,
    RequestOutcome, SessionLogin, TextState, TracedRequest,
};
use crate::traced_files::{FileName, FileWait};
use crate::traced_ledger::TraceLedger;
use crate::{MonoNanos, Nanos, ServerQueueParts, WireProtocol};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A traced request.
#[derive(Serialize, Deserialize)]
pub(crate) struct RequestJson<'a> {
    /// When its first byte had been read.
    time_us: f64,
    /// dbtime's number.
    connection: u64,
    /// The server's number, for KILL and `pg_terminate_backend()`.
    server_id: Option<u64>,
    /// Address and port, behind a proxy those of its header.
    client: Option<SocketAddr>,
    /// Kernel's number of the client's end of a Unix socket (`SO_COOKIE`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_cookie: Option<NonZeroU64>,
    /// Its reader, by the machine's numbers, not a namespace's.
    process: u32,
    /// The thread likewise.
    thread: u32,
    /// Of the connection.
    #[serde(borrow)]
    user: Option<Cow<'a, str>>,
    /// Likewise.
    #[serde(borrow)]
    database: Option<Cow<'a, str>>,
    /// Until the answer was written.
    response_us: Nanos,
    /// Until the first piece of the answer.
    #[serde(default)]
    first_sent_us: Option<Nanos>,
    /// Parts of the response.
    parts_us: PartsJson,
    /// Signed remainder.
    unexplained_us: Option<f64>,
    /// Number of the last system call in `other`.
    other_call: Option<u16>,
    /// Wait in the server's socket before.
    server_queue_us: Option<Nanos>,
    /// Known parts of that.
    #[serde(default)]
    server_queue_parts_us: Option<ServerQueueParts>,
    /// Its longest wait for a lock.
    #[serde(borrow)]
    blocker: Option<BlockerJson<'a>>,
    /// Longest holder of the CPU while it was runnable.
    preemptor: Option<Cow<'a, Preemptor>>,
    /// The next two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    further_preemptors: Vec<Cow<'a, Preemptor>>,
    /// Its waits for files.
    #[serde(borrow)]
    files: Vec<FileJson<'a>>,
    /// Use of a query cache (MariaDB's).
    query_cache: QueryCache,
    /// Of the connection.
    protocol: WireProtocol,
    /// Number or letter in the protocol, and name.
    #[serde(borrow)]
    command: Cow<'a, str>,
    /// Executions; more than 1 on PostgreSQL alone.
    executes: u32,
    /// Each of several statements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    statements: Vec<Cow<'a, ExecutedStatement>>,
    /// Bytes of the command.
    length: u32,
    /// Without literals unless `--raw-sql`.
    #[serde(borrow)]
    text: Cow<'a, str>,
    /// How sure that is.
    text_state: TextState,
    /// Rows sent or changed, where all are known.
    rows: Option<u64>,
    /// MySQL's number, or an SQLSTATE.
    error: Option<ErrorCode>,
    /// Bytes of the answer.
    sent_bytes: u64,
    /// Writes of the answer.
    #[serde(alias = "sends")]
    writes: u32,
    /// What became of it.
    #[serde(alias = "fate")]
    outcome: RequestOutcome,
}

/// A wait for a lock, and its end. `connection` and `thread` released it; without a `thread` a
/// timer or signal ended it.
#[derive(Serialize, Deserialize)]
struct BlockerJson<'a> {
    /// Connection that released it; `None` for a thread without one.
    connection: Option<u64>,
    /// The server's number.
    server_id: Option<u64>,
    /// Thread that released it; `None`: a timer or signal ended the wait.
    thread: Option<u32>,
    /// Whether the client had gone.
    client_left: bool,
    /// The lock's name.
    #[serde(borrow)]
    lock: Option<Cow<'a, str>>,
    /// Statement that released it.
    #[serde(borrow)]
    statement: Option<Cow<'a, str>>,
    /// Transaction that held it.
    transaction: Option<Arc<BlockingTransaction>>,
    /// Length of the wait.
    wait_us: Nanos,
}

/// Waits for a file.
#[derive(Serialize, Deserialize)]
pub struct FileJson<'a> {
    /// Kind of thing.
    kind: WaitedFile,
    /// Of `named` alone.
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    /// Of the response.
    part: Part,
    /// Number of waits.
    waits: u64,
    /// Time waited.
    wait_us: Nanos,
}

/// The parts of a request by their names, all of them; `null`: none was measured.
#[derive(Deserialize)]
pub struct PartsJson(pub Parts);

impl Serialize for PartsJson {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.are_unknown() {
            return to.serialize_unit();
        }
        let mut map = to.serialize_map(Some(Part::TRACED.len()))?;
        for part in Part::TRACED {
            map.serialize_entry(part.name(), &(self.0.get(part) as f64 / 1e3))?;
        }
        map.end()
    }
}

/// Everything that was seen, counted by what became of it.
#[derive(Serialize)]
pub struct LedgerJson<'a> {
    /// The counts.
    #[serde(flatten)]
    counts: &'a TraceLedger,
    /// Requests whose socket vanished without an event; normally 0.
    vanished: i64,
}

impl<'a> LedgerJson<'a> {
    /// Of this ledger.
    pub fn of(counts: &'a TraceLedger) -> Self {
        Self { counts, vanished: counts.vanished() }
    }
}

impl<'a> RequestJson<'a> {
    /// A request of a watching that began at `since`, whose command has this name.
    pub(crate) fn of(request: &'a TracedRequest, since: MonoNanos, command_name: &str) -> Self {
        let after = |at: MonoNanos| at.signed_since(since) as f64 / 1e3;
        Self {
            time_us: after(request.start),
            connection: request.connection,
            server_id: request.server_id(),
            client: request.client(),
            client_cookie: request.login.as_ref().and_then(|login| login.client_cookie),
            process: request.process,
            thread: request.thread,
            user: request.user().map(Cow::Borrowed),
            database: request.database().map(Cow::Borrowed),
            response_us: request.response(),
            first_sent_us: request.first_sent.map(|at| at - request.start),
            parts_us: PartsJson(request.parts),
            unexplained_us: request.unexplained_ns().map(|ns| ns as f64 / 1e3),
            other_call: request.other_call,
            server_queue_us: request.server_queue,
            server_queue_parts_us: request.queue_parts_within(),
            blocker: request.blocker.as_ref().map(BlockerJson::of),
            preemptor: request.preemptors.first().map(Cow::Borrowed),
            further_preemptors: request.preemptors.iter().skip(1).map(Cow::Borrowed).collect(),
            files: request.files.iter().map(FileJson::of).collect(),
            query_cache: request.cache,
            protocol: request.protocol,
            command: command_cell(request.protocol, request.command, command_name).into(),
            executes: request.executes,
            statements: request.statements.iter().map(Cow::Borrowed).collect(),
            length: request.length,
            text: Cow::Borrowed(&request.text),
            text_state: request.text_state,
            rows: request.rows,
            error: request.error.clone(),
            sent_bytes: request.sent_bytes,
            writes: request.writes,
            outcome: request.outcome,
        }
    }

    /// The request; the reverse of [`RequestJson::of`].
    pub(crate) fn into_request(self, since: MonoNanos) -> Result<TracedRequest, String> {
        let command = command_of(self.protocol, &self.command)
            .ok_or_else(|| format!("`{}` is no command", self.command))?;
        let start = MonoNanos(since.0.saturating_add_signed((self.time_us * 1e3).round() as i64));
        let login = self.login();
        let preemptors = self.preemptor.into_iter().chain(self.further_preemptors);
        Ok(TracedRequest {
            connection: self.connection,
            process: self.process,
            thread: self.thread,
            start,
            first_sent: self.first_sent_us.map(|after| start + after),
            end: start + self.response_us,
            login,
            protocol: self.protocol,
            command,
            executes: self.executes,
            statements: self.statements.into_iter().map(Cow::into_owned).collect(),
            length: self.length,
            text: Arc::from(self.text),
            text_state: self.text_state,
            sent_bytes: self.sent_bytes,
            writes: self.writes,
            rows: self.rows,
            error: self.error,
            outcome: self.outcome,
            server_queue: self.server_queue_us,
            queue_parts: self.server_queue_parts_us,
            parts: self.parts_us.0,
            other_call: self.other_call,
            blocker: self.blocker.map(BlockerJson::into_blocker),
            preemptors: preemptors.map(Cow::into_owned).collect(),
            files: self.files.into_iter().map(FileJson::into_wait).collect(),
            cache: self.query_cache,
            is_match: false,
            answer_arrived: None,
            taken: None,
            stacks: Vec::new(),
        })
    }

    fn login(&self) -> Option<Arc<SessionLogin>> {
        let id = self.server_id;
        let has_address = self.client.is_some() || self.client_cookie.is_some();
        let is_known = self.user.is_some() || id.is_some() || has_address;
        let text = |text: &Option<Cow<'_, str>>| text.as_deref().unwrap_or_default().to_owned();
        is_known.then(|| {
            let (user, database) = (text(&self.user), text(&self.database));
            let Self { client, client_cookie, .. } = *self;
            Arc::new(SessionLogin { user, database, id, client, client_cookie })
        })
    }
}

impl<'a> BlockerJson<'a> {
    fn of(blocker: &'a Blocker) -> Self {
        Self {
            connection: blocker.connection,
            server_id: blocker.server_id,
            thread: blocker.thread,
            client_left: blocker.has_left,
            lock: blocker.lock.as_deref().map(Cow::Borrowed),
            statement: blocker.statement.as_deref().map(Cow::Borrowed),
            transaction: blocker.transaction.clone(),
            wait_us: blocker.length,
        }
    }

    fn into_blocker(self) -> Blocker {
        Blocker {
            thread: self.thread,
            connection: self.connection,
            server_id: self.server_id,
            has_left: self.client_left,
            transaction: self.transaction,
            lock: self.lock.map(|lock| Cow::Owned(lock.into_owned())),
            statement: self.statement.map(Arc::from),
            length: self.wait_us,
        }
    }
}

impl<'a> FileJson<'a> {
    /// Of these waits.
    pub fn of(wait: &'a FileWait) -> Self {
        let (kind, name) = wait.file.kind_and_name();
        let name = name.map(Cow::Borrowed);
        Self { kind, name, part: wait.part, waits: wait.count, wait_us: wait.length }
    }

    fn into_wait(self) -> FileWait {
        let file = match self.kind {
            WaitedFile::Named => FileName::Named(self.name.unwrap_or_default().into_owned()),
            WaitedFile::Mapped => FileName::Mapped,
            WaitedFile::Others | WaitedFile::NotNamed => FileName::Others,
        };
        FileWait { file, part: self.part, count: self.waits, length: self.wait_us }
    }
}

/// A command by its number or letter in the protocol, and its name: `03:QUERY`, `Q:QUERY`.
pub(crate) fn command_cell(protocol: WireProtocol, command: u8, name: &str) -> String {
    match protocol {
        // A recording may say anything.
        WireProtocol::Postgres if command.is_ascii_graphic() => {
            format!("{}:{name}", char::from(command))
        }
        _ => format!("{command:02x}:{name}"),
    }
}

/// The number or letter of [`command_cell`].
fn command_of(protocol: WireProtocol, cell: &str) -> Option<u8> {
    let bytes = cell.as_bytes();
    match (protocol, bytes) {
        (WireProtocol::Postgres, [letter, b':', ..]) if letter.is_ascii_graphic() => Some(*letter),
        (_, [_, _, b':', ..]) => u8::from_str_radix(cell.get(..2)?, 16).ok(),
        _ => None,
    }
}

/// Reads a request of this form.
///
/// # Errors
/// It is none.
pub(crate) fn read_request<'de, D: Deserializer<'de>>(
    from: D,
    since: MonoNanos,
) -> Result<TracedRequest, D::Error> {
    RequestJson::deserialize(from)?.into_request(since).map_err(D::Error::custom)
}
