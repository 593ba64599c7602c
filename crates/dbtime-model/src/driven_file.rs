//! The driver's side of a run, statement by statement, for a join with a recording of the server's:
//! `driven.jsonl.gz` of a record, before it is packed.
//!
//! ```text
//!   {"begin":{"version":1,…}}
//!   {"statement":{…}}          as they were answered
//!   {"transaction":{…}}        behind the last of its statements
//!   {"end":{"operations":[…],"statements":[…]}}
//! ```
//!
//! Instants are nanoseconds of the driver's `CLOCK_MONOTONIC`, durations nanoseconds.

use crate::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use crate::recorder::Window;
use crate::{ErrorClass, MonoNanos, Nanos, OperationId, Outcome, Part, Parts, Sample, StatementId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::net::SocketAddr;
use std::num::NonZeroU64;

/// The version that is written, and the only one there is.
pub const VERSION: u32 = 1;

/// Longer lines are none of ours. The longest is the end, of some hundred kilobytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// What stands at the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenBegin {
    /// Of the format.
    pub version: u32,
    /// The driver's clock: recordings with the same one have the same clock. The boot of its
    /// machine, and what its time namespace adds, where it has one.
    pub clock_id: String,
    /// When the load began.
    pub start_ns: u64,
    /// When the window began.
    pub window_start_ns: u64,
    /// When it was to end; the largest number: by a count of transactions.
    pub window_end_ns: u64,
}

impl DrivenBegin {
    /// The window of the run.
    pub fn window(&self) -> Window {
        Window { start: MonoNanos(self.window_start_ns), end: MonoNanos(self.window_end_ns) }
    }
}

/// The names behind the numbers of operations and statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenNames {
    /// By [`OperationId`].
    pub operations: Vec<String>,
    /// By [`StatementId`].
    pub statements: Vec<DrivenStatementName>,
}

/// What a statement is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenStatementName {
    /// The number of its operation.
    pub operation: u16,
    /// Its name in the workload.
    pub name: String,
    /// Its text without literals and parameters.
    pub fingerprint: String,
}

/// A line of the file.
#[derive(Clone, Debug)]
pub enum DrivenLine {
    /// The first.
    Begin(DrivenBegin),
    /// A statement that was answered.
    Statement(StatementExchange),
    /// A transaction that is over.
    Transaction(Box<DrivenTransaction>),
    /// The last.
    End(DrivenNames),
}

/// What is to be done about one that was not kept as it was written.
const DAMAGED: &str =
    "the file is damaged or incomplete; restore it from a copy, or repeat the run";

/// Why such a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DrivenFileError {
    /// The system's words.
    #[error(transparent)]
    Io(io::Error),
    /// It cannot be unpacked.
    #[error("{0}: {DAMAGED}")]
    Packing(io::Error),
    /// It begins otherwise, or is of another version.
    #[error("it is none of this dbtime's files of a driver's statements (format {VERSION})")]
    NoDrivenFile,
    /// A line that is none.
    #[error("line {number}: {error}: {DAMAGED}")]
    Line {
        /// From 1.
        number: u64,
        /// What is wrong with it.
        error: String,
    },
    /// Its last line, which names everything, is not there.
    #[error("it has no end: {DAMAGED}")]
    NoEnd,
    /// Its last line does not name what other lines refer to.
    #[error("its end does not name {what} {number}: {DAMAGED}")]
    Unnamed {
        /// An operation or a statement.
        what: &'static str,
        /// From 0.
        number: u16,
    },
}

impl From<io::Error> for DrivenFileError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match error.kind() {
            InvalidData | InvalidInput | UnexpectedEof => Self::Packing(error),
            _ => Self::Io(error),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineJson {
    Begin(DrivenBegin),
    Statement(DrivenStatementJson),
    Transaction(DrivenTransactionJson),
    End(DrivenNames),
}

#[derive(Serialize, Deserialize)]
struct DrivenStatementJson {
    transaction: u64,
    statement: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<SocketAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_cookie: Option<NonZeroU64>,
    #[serde(default)]
    server_id: Option<u32>,
    sent_ns: u64,
    received_ns: u64,
    late_ns: u64,
}

impl DrivenStatementJson {
    fn of(exchange: &StatementExchange) -> Self {
        let (client, client_cookie) = match exchange.key {
            Some(ConnectionKey::Tcp(address)) => (Some(address), None),
            Some(ConnectionKey::Unix(cookie)) => (None, Some(cookie)),
            None => (None, None),
        };
        Self {
            transaction: exchange.transaction,
            statement: exchange.statement.map(|id| id.0),
            client,
            client_cookie,
            server_id: exchange.server_id,
            sent_ns: exchange.sent.0,
            received_ns: exchange.read.0,
            late_ns: exchange.late.0,
        }
    }

    fn exchange(self) -> StatementExchange {
        let unix = self.client_cookie.map(ConnectionKey::Unix);
        StatementExchange {
            key: self.client.map(ConnectionKey::Tcp).or(unix),
            server_id: self.server_id,
            transaction: self.transaction,
            statement: self.statement.map(StatementId),
            sent: MonoNanos(self.sent_ns),
            read: MonoNanos(self.received_ns),
            late: Nanos(self.late_ns),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct DrivenTransactionJson {
    transaction: u64,
    operation: u16,
    outcome: OutcomeJson,
    due_ns: u64,
    ready_ns: u64,
    sent_ns: u64,
    done_ns: u64,
    late_ns: u64,
    retries: u32,
    /// How many of its statements were answered.
    statements: u32,
    /// What was measured, by the names of the parts.
    parts_ns: BTreeMap<Part, i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeJson {
    Completed,
    Failed(ErrorClass),
    Dropped,
    Unfinished,
}

impl DrivenTransactionJson {
    fn of(driven: &DrivenTransaction) -> Self {
        let (sample, parts) = (&driven.sample, &driven.parts);
        Self {
            transaction: driven.transaction,
            operation: sample.operation.0,
            outcome: match sample.outcome {
                Outcome::Completed => OutcomeJson::Completed,
                Outcome::Failed(class) => OutcomeJson::Failed(class),
                Outcome::Dropped => OutcomeJson::Dropped,
                Outcome::Unfinished => OutcomeJson::Unfinished,
            },
            due_ns: sample.due.0,
            ready_ns: sample.ready.0,
            sent_ns: sample.sent.0,
            done_ns: sample.done.0,
            late_ns: sample.late.0,
            retries: sample.retries,
            statements: driven.exchanges,
            parts_ns: parts.measured().iter().map(|part| (part, parts.get(part))).collect(),
        }
    }

    fn driven(self) -> DrivenTransaction {
        let mut parts = Parts::default();
        self.parts_ns.iter().for_each(|(part, ns)| parts.add(*part, *ns));
        let sample = Sample {
            operation: OperationId(self.operation),
            outcome: match self.outcome {
                OutcomeJson::Completed => Outcome::Completed,
                OutcomeJson::Failed(class) => Outcome::Failed(class),
                OutcomeJson::Dropped => Outcome::Dropped,
                OutcomeJson::Unfinished => Outcome::Unfinished,
            },
            due: MonoNanos(self.due_ns),
            ready: MonoNanos(self.ready_ns),
            sent: MonoNanos(self.sent_ns),
            done: MonoNanos(self.done_ns),
            late: Nanos(self.late_ns),
            retries: self.retries,
        };
        let (transaction, exchanges) = (self.transaction, self.statements);
        DrivenTransaction { transaction, sample, parts, exchanges }
    }
}

/// Writes such a file.
#[derive(Debug)]
pub struct DrivenWriter<W: Write> {
    to: W,
}

impl<W: Write> DrivenWriter<W> {
    /// Begins one.
    ///
    /// # Errors
    /// As writing.
    pub fn begin(to: W, begin: &DrivenBegin) -> io::Result<Self> {
        let mut writer = Self { to };
        writer.line(&LineJson::Begin(begin.clone()))?;
        Ok(writer)
    }

    /// Adds a statement.
    ///
    /// # Errors
    /// As writing.
    pub fn statement(&mut self, exchange: &StatementExchange) -> io::Result<()> {
        self.line(&LineJson::Statement(DrivenStatementJson::of(exchange)))
    }

    /// Adds a transaction.
    ///
    /// # Errors
    /// As writing.
    pub fn transaction(&mut self, driven: &DrivenTransaction) -> io::Result<()> {
        self.line(&LineJson::Transaction(DrivenTransactionJson::of(driven)))
    }

    /// Ends it, and returns what it was written to.
    ///
    /// # Errors
    /// As writing.
    pub fn end(mut self, names: DrivenNames) -> io::Result<W> {
        self.line(&LineJson::End(names))?;
        Ok(self.to)
    }

    fn line(&mut self, line: &LineJson) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, line)?;
        self.to.write_all(b"\n")
    }
}

/// Reads such a file.
#[derive(Debug)]
pub struct DrivenReader<R> {
    from: R,
    number: u64,
    /// Room for a line.
    line: Vec<u8>,
}

impl<R: BufRead> DrivenReader<R> {
    /// Reads its beginning.
    ///
    /// # Errors
    /// It is no such file.
    pub fn begin(from: R) -> Result<(DrivenBegin, Self), DrivenFileError> {
        let mut reader = Self { from, number: 0, line: Vec::new() };
        match reader.next() {
            Ok(Some(DrivenLine::Begin(begin))) if begin.version == VERSION => Ok((begin, reader)),
            Err(error @ (DrivenFileError::Io(_) | DrivenFileError::Packing(_))) => Err(error),
            _ => Err(DrivenFileError::NoDrivenFile),
        }
    }

    /// The next line behind the beginning; `None` at the end of the file.
    ///
    /// # Errors
    /// The line is none, or cannot be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on behind an error")]
    pub fn next(&mut self) -> Result<Option<DrivenLine>, DrivenFileError> {
        self.line.clear();
        self.from.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line)?;
        self.number += 1;
        if self.line.is_empty() {
            return Ok(None);
        }
        let failed = |error: serde_json::Error| DrivenFileError::Line {
            number: self.number,
            error: error.to_string(),
        };
        Ok(Some(match serde_json::from_slice(&self.line).map_err(failed)? {
            LineJson::Begin(begin) => DrivenLine::Begin(begin),
            LineJson::Statement(statement) => DrivenLine::Statement(statement.exchange()),
            LineJson::Transaction(one) => DrivenLine::Transaction(Box::new(one.driven())),
            LineJson::End(names) => DrivenLine::End(names),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin() -> DrivenBegin {
        DrivenBegin {
            version: VERSION,
            clock_id: "b".to_owned(),
            start_ns: 5,
            window_start_ns: 7,
            window_end_ns: u64::MAX,
        }
    }

    fn exchange(key: Option<ConnectionKey>) -> StatementExchange {
        let (sent, read, late) = (MonoNanos(1 << 60), MonoNanos((1 << 60) + 3), Nanos(1));
        let (server_id, statement) = (Some(11), Some(StatementId(2)));
        StatementExchange { key, server_id, transaction: 9, statement, sent, read, late }
    }

    fn driven(outcome: Outcome) -> DrivenTransaction {
        let at = MonoNanos(77);
        let (operation, late, retries) = (OperationId(1), Nanos(3), 4);
        let sample =
            Sample { operation, outcome, due: at, ready: at, sent: at, done: at, late, retries };
        let parts = Parts::of(&[(Part::Queue, 0), (Part::Client, 5), (Part::Unexplained, -5)]);
        DrivenTransaction { transaction: 9, sample, parts, exchanges: 2 }
    }

    #[test]
    fn what_is_written_is_read() {
        let keys = [
            None,
            Some(ConnectionKey::Tcp("[::1]:5".parse().expect("an address"))),
            NonZeroU64::new(8).map(ConnectionKey::Unix),
        ];
        let outcomes = [Outcome::Completed, Outcome::Failed(ErrorClass::Busy), Outcome::Unfinished];
        let names = DrivenNames {
            operations: vec!["o".to_owned()],
            statements: vec![DrivenStatementName {
                operation: 0,
                name: "s".to_owned(),
                fingerprint: "SELECT ?".to_owned(),
            }],
        };
        let mut writer = DrivenWriter::begin(Vec::new(), &begin()).expect("memory");
        keys.iter().for_each(|key| writer.statement(&exchange(*key)).expect("memory"));
        outcomes.iter().for_each(|one| writer.transaction(&driven(*one)).expect("memory"));
        let bytes = writer.end(names.clone()).expect("memory");

        let (found, mut reader) = DrivenReader::begin(&bytes[..]).expect("a beginning");
        assert_eq!(found, begin());
        for key in keys {
            let line = reader.next().expect("a line");
            assert!(matches!(line, Some(DrivenLine::Statement(one)) if one == exchange(key)));
        }
        for outcome in outcomes {
            let Ok(Some(DrivenLine::Transaction(one))) = reader.next() else { panic!("none") };
            let expected = driven(outcome);
            assert_eq!(format!("{one:?}"), format!("{expected:?}"));
        }
        assert!(matches!(reader.next(), Ok(Some(DrivenLine::End(found))) if found == names));
        assert!(matches!(reader.next(), Ok(None)));
    }

    #[test]
    fn what_is_none_says_so() {
        for bytes in [&b""[..], b"SELECT 1\n", b"{\"begin\":{\"version\":9}}\n"] {
            let error = DrivenReader::begin(bytes).expect_err("none").to_string();
            assert!(error.contains("format 1"), "{error}");
        }
        let mut bytes = DrivenWriter::begin(Vec::new(), &begin()).expect("memory").to;
        bytes.extend_from_slice(b"{\"statement\":{\"transaction\":1");
        let (_, mut reader) = DrivenReader::begin(&bytes[..]).expect("a beginning");
        assert!(reader.next().expect_err("cut").to_string().starts_with("line 2: "));
    }
}
