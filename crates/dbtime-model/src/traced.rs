//! Requests that a server was seen to serve.

use crate::exchange::ConnectionKey;
use crate::traced_files::FileWait;
use crate::traced_stacks::TracedStack;
use crate::{MonoNanos, Nanos, Parts, ServerQueueParts, WireProtocol};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// Answered, or of a kind without answer.
    Ended,
    /// Its connection ended before the answer.
    Aborted,
}

/// How sure a request's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextState {
    /// Complete.
    Whole,
    /// Its beginning.
    Cut,
    /// Of a statement prepared before the tracer looked.
    Unknown,
    /// Unreadable, or left alone.
    None,
}

/// A request that is over, from the read that brought it to the write that ended its answer.
///
/// Its own serialized form is for binary formats, between processes and in recordings (a changed
/// field needs a new version of these), and the one in which recordings of the versions 1 and 2 are
/// read; what is written as JSON is in `traced_json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedRequest {
    /// Its connection, from 1 in the order of first sight.
    pub connection: u64,
    /// The server's process.
    pub process: u32,
    /// The thread that read it.
    pub thread: u32,
    /// When its first byte had been read.
    #[serde(rename = "start_us")]
    pub start: MonoNanos,
    /// When the first piece of its answer had been handed to the kernel.
    #[serde(rename = "first_sent_us")]
    pub first_sent: Option<MonoNanos>,
    /// When the last piece had been; without an answer, when the server turned to the next request.
    #[serde(rename = "end_us")]
    pub end: MonoNanos,
    /// Whose connection it is, as far as that is known.
    pub login: Option<Arc<SessionLogin>>,
    /// What its client speaks.
    pub protocol: WireProtocol,
    /// Its command in the protocol: a number of MySQL's, a message's first byte of PostgreSQL's.
    pub command: u8,
    /// PostgreSQL: how often it executes something; 0 elsewhere.
    #[serde(default)]
    pub executes: u32,
    /// Where these are several statements, each of them; text and rows are those of the one that
    /// took longest, or that is likely to have.
    #[serde(default)]
    pub statements: Vec<ExecutedStatement>,
    /// Bytes of the command, also of those that were not kept.
    pub length: u32,
    /// Its statement. Unit: none; as the client sent it, control characters included.
    #[serde(deserialize_with = "shared_text")]
    pub text: Arc<str>,
    /// What can be said of the text.
    pub text_state: TextState,
    /// Bytes of its answer.
    pub sent_bytes: u64,
    /// Writes of its answer.
    #[serde(alias = "sends")]
    pub writes: u32,
    /// Rows that it sent or changed, as the answer says; of several results together. `None` where
    /// it does not say, or was not whole.
    #[serde(default)]
    pub rows: Option<u64>,
    /// The server's error, where the answer begins with one.
    pub error: Option<ErrorCode>,
    /// What became of it.
    #[serde(alias = "fate")]
    pub outcome: RequestOutcome,
    /// How long it was there before it was read; `None` where that was not seen. Not part of the
    /// response.
    #[serde(rename = "server_queue_us")]
    pub server_queue: Option<Nanos>,
    /// What of that time its thread could not run; `None` where nothing is known of threads, or not
    /// when the request came. A [`RequestBatch`](crate::traced_batch::RequestBatch) has it beside
    /// the requests.
    #[serde(skip)]
    pub queue_parts: Option<ServerQueueParts>,
    /// Where the response went, each part measured on its own.
    ///
    /// Source: the scheduler's own events, and the system call that a thread was in when it lost
    /// the CPU.
    pub parts: Parts,
    /// The number of the last system call that is among [`Part::Other`](crate::Part::Other).
    #[serde(default)]
    pub other_call: Option<u16>,
    /// Its longest wait for a lock, and who let that go.
    pub blocker: Option<Blocker>,
    /// Who had the CPU while it could have run, before it was read too: those who had it for
    /// longest, longest first, three at most. The first versions of recordings have one.
    #[serde(default, rename = "preemptor", deserialize_with = "preemptors")]
    pub preemptors: Vec<Preemptor>,
    /// The files that it waited for: those with the longest waits, eight at most, and what is left
    /// of each part.
    #[serde(default)]
    pub files: Vec<FileWait>,
    /// What became of it in the query cache.
    #[serde(default)]
    pub cache: QueryCache,
    /// Whether its text, literals included, holds what was searched for while it was watched.
    #[serde(default)]
    pub is_match: bool,
    /// When the last of its answer came to the client's socket; `None` where that was not seen, and
    /// of every client but the driver of a run that was traced.
    #[serde(default)]
    pub answer_arrived: Option<MonoNanos>,
    /// How the driver took the answer before it on the connection, likewise.
    #[serde(default)]
    pub taken: Option<AnswerTaking>,
    /// Where its thread was, each place once; nothing unless stacks are traced. No part of
    /// recordings.
    #[serde(default)]
    pub stacks: Vec<TracedStack>,
}

/// How the driver of a run took an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerTaking {
    /// When that had come to its socket: [`TracedRequest::answer_arrived`] names it.
    pub arrived: MonoNanos,
    /// For how long of the time since then the thread that took it could have run, and had no CPU.
    pub runq: Nanos,
}

/// A text, borrowed where the input has it as it is.
#[derive(Deserialize)]
pub(crate) struct BorrowedText<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// A text with one allocation instead of three; most of a message's are texts.
fn shared_text<'a, D: Deserializer<'a>>(from: D) -> Result<Arc<str>, D::Error> {
    BorrowedText::deserialize(from).map(|text| Arc::from(text.0))
}

/// One of several statements that a request of PostgreSQL's executes before a Sync. `length_us`
/// lasts until the server turned to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedStatement {
    /// As that of a request.
    pub text: Arc<str>,
    /// What can be said of the text.
    pub text_state: TextState,
    /// How often it was executed in a row.
    pub executes: u32,
    /// Rows that it sent or changed, all times together, where the answer says.
    #[serde(default)]
    pub rows: Option<u64>,
    /// From when the server turned to it until it turned to the next; `None` where that was not
    /// seen. Unit of the file: microseconds.
    #[serde(default, rename = "length_us")]
    pub length: Option<Nanos>,
    /// Whether further statements are in it, for which there was no room.
    #[serde(default)]
    pub has_others: bool,
}

/// Whose a connection is, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionLogin {
    /// The user, as the client named it; at most 63 bytes of the name. Empty: the client logged in
    /// before that could be seen.
    pub user: String,
    /// The database, likewise; empty: none.
    pub database: String,
    /// What the server calls the connection: MySQL and MariaDB where the greeting was seen,
    /// PostgreSQL by the number that its process has in the PID namespace that it is in.
    #[serde(default)]
    pub id: Option<u64>,
    /// The client's address and port; `None`: it comes by a Unix socket.
    #[serde(default)]
    pub client: Option<SocketAddr>,
    /// The number of the client's end of a Unix socket, as `SO_COOKIE` gives it; `None`: it has
    /// none, for nobody has requested one (socket(7)).
    #[serde(default)]
    pub client_cookie: Option<NonZeroU64>,
}

/// The longest wait for a lock, and who let that go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocker {
    /// Its thread; `None`: nobody let it go, a timer or a signal ended the wait.
    #[serde(deserialize_with = "somebodys")]
    pub thread: Option<u32>,
    /// The connection whose request it served, or had served last; `None`: none that is watched.
    pub connection: Option<u64>,
    /// What the server calls that connection, where it is known.
    pub server_id: Option<u64>,
    /// Whether the client of that connection had gone by then.
    pub has_left: bool,
    /// What its transaction had done, where it had more than one statement.
    pub transaction: Option<Arc<BlockingTransaction>>,
    /// What the server calls what was waited for, where it says so.
    pub lock: Option<Cow<'static, str>>,
    /// The statement of that request, where it is known.
    pub statement: Option<Arc<str>>,
    /// How long the wait was.
    #[serde(rename = "length_us")]
    pub length: Nanos,
}

/// A thread; 0, which stood for a timer in the first recordings, is nobody's.
fn somebodys<'a, D: Deserializer<'a>>(from: D) -> Result<Option<u32>, D::Error> {
    Ok(Option::<u32>::deserialize(from)?.filter(|thread| *thread > 0))
}

/// A transaction that others had to wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockingTransaction {
    /// Statements of it that were over, or let go.
    pub statements: u64,
    /// The latest of them but for the one that let go, in their order; four at most.
    pub latest: Vec<Arc<str>>,
    /// From its first statement on.
    #[serde(rename = "length_us")]
    pub length: Nanos,
    /// How much of that its client said nothing.
    #[serde(rename = "idle_us")]
    pub idle: Nanos,
}

/// Those who had the CPU: of JSON one at most.
fn preemptors<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<Preemptor>, D::Error> {
    match from.is_human_readable() {
        true => Ok(Option::<Preemptor>::deserialize(from)?.into_iter().collect()),
        false => Vec::deserialize(from),
    }
}

/// Who had the CPU that a request got, while the request could have run: threads of one name.
/// `wait_us` is their time on it; `thread` is one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preemptor {
    /// One of the threads.
    pub thread: u32,
    /// Their name.
    pub name: String,
    /// How long they had it, in all.
    #[serde(rename = "wait_us", alias = "length_us")]
    pub length: Nanos,
}

impl TracedRequest {
    /// Whose connection it is, where that is known.
    pub fn user(&self) -> Option<&str> {
        self.known_login().map(|login| &*login.user)
    }

    /// The database it is in, where that is known.
    pub fn database(&self) -> Option<&str> {
        self.known_login().map(|login| &*login.database)
    }

    /// The login, if it was seen.
    fn known_login(&self) -> Option<&SessionLogin> {
        self.login.as_deref().filter(|login| !login.user.is_empty())
    }

    /// What the server calls the connection, for KILL or `pg_terminate_backend`.
    pub fn server_id(&self) -> Option<u64> {
        match self.protocol {
            // Older recordings have the process alone, by the number that the machine has for it.
            WireProtocol::Postgres => {
                let process = self.process.into();
                self.login.as_ref().map(|login| login.id.unwrap_or(process))
            }
            WireProtocol::Mysql => self.login.as_ref()?.id,
        }
    }

    /// What names the connection at both of its ends, where that was seen.
    pub fn connection_key(&self) -> Option<ConnectionKey> {
        let login = self.login.as_deref()?;
        let unix = || login.client_cookie.map(ConnectionKey::Unix);
        login.client.map(ConnectionKey::Tcp).or_else(unix)
    }

    /// The client's address and port, where it has one.
    pub fn client(&self) -> Option<SocketAddr> {
        self.login.as_ref()?.client
    }

    /// From the read that brought it to the write that ended its answer.
    pub fn response(&self) -> Nanos {
        self.end - self.start
    }

    /// When it came to the server's socket; where that is not known, when it was read.
    pub fn arrival(&self) -> MonoNanos {
        self.start - self.server_queue.unwrap_or(Nanos::ZERO)
    }

    /// What the thread that read it waited for meanwhile, no longer than it lay in the socket.
    pub(crate) fn queue_parts_within(&self) -> Option<ServerQueueParts> {
        Some(self.queue_parts?.within(self.server_queue?))
    }

    /// Whether clocks can have shown its instants; a file may say anything.
    pub(crate) fn is_possible(&self) -> bool {
        let taken = self.taken.as_ref();
        let others = [self.first_sent, self.answer_arrived, taken.map(|taken| taken.arrived)];
        let mut instants = [self.start, self.end].into_iter().chain(others.into_iter().flatten());
        let lengths = [self.server_queue, taken.map(|taken| taken.runq)];
        instants.all(MonoNanos::is_possible)
            && lengths.into_iter().flatten().all(Nanos::is_possible)
            && self.queue_parts.is_none_or(|parts| parts.are_possible())
    }

    /// What no part explains; `None` where none was measured. Signed: negative where parts overlap.
    /// Unit: nanoseconds.
    pub(crate) fn unexplained_ns(&self) -> Option<i64> {
        let response = || self.response().signed();
        (!self.parts.are_unknown()).then(|| response().wrapping_sub(self.parts.total()))
    }
}

/// What a server calls an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// MySQL's number.
    Number(u16),
    /// PostgreSQL's SQLSTATE, letters and digits.
    SqlState(String),
}

/// The code by itself, as JSON has it: a number or a string.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BareErrorCode {
    Number(u16),
    SqlState(String),
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let is_bare = to.is_human_readable();
        match self {
            Self::Number(number) if is_bare => number.serialize(to),
            Self::SqlState(state) if is_bare => state.serialize(to),
            Self::Number(number) => Ok::<_, &str>(number).serialize(to),
            Self::SqlState(state) => Err::<u16, _>(state).serialize(to),
        }
    }
}

impl<'a> Deserialize<'a> for ErrorCode {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            let code = Result::<u16, String>::deserialize(from)?;
            return Ok(code.map_or_else(Self::SqlState, Self::Number));
        }
        Ok(match BareErrorCode::deserialize(from)? {
            BareErrorCode::Number(number) => Self::Number(number),
            BareErrorCode::SqlState(state) => Self::SqlState(state),
        })
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::SqlState(signs) => f.write_str(signs),
        }
    }
}

/// What became of a statement in a query cache (MariaDB's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryCache {
    /// It was not looked for.
    #[default]
    NotAsked,
    /// Its answer was not there or not usable.
    Miss,
    /// Its answer came from there.
    Hit,
}

impl fmt::Display for RequestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "ended",
            Self::Aborted => "aborted",
        })
    }
}
