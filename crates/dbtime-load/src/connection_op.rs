//! What a script asks of its connection, beyond the statements that are known before the run.

use crate::program::SqlValue;

/// One request. It is answered as a whole, however many statements it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConnectionOp<'a> {
    /// Make the connection, where it is not there.
    Connect,
    /// Say goodbye and close it. What it had prepared is gone with it.
    Disconnect,
    /// Execute a text as it is, without parameters. It may hold several statements.
    Query(&'a str),
    /// Have a statement prepared; from here on it goes by its handle. Placeholders are written as
    /// the database wants them: `?` on MySQL and SQLite, `$1` on PostgreSQL.
    Prepare {
        /// A number that the script chose; small, for it is an index.
        handle: u32,
        /// The statement.
        sql: &'a str,
    },
    /// Execute a prepared statement.
    Execute {
        /// The number that it was prepared under.
        handle: u32,
        /// Its parameters, in their order.
        parameters: &'a [SqlValue],
        /// Whether its rows are to be kept; else they are counted.
        keeps_rows: bool,
    },
    /// Execute a text with parameters, without keeping it prepared. Only on PostgreSQL.
    QueryWith {
        /// The statement, with `$1` for its parameters.
        sql: &'a str,
        /// Its parameters, in their order.
        parameters: &'a [SqlValue],
    },
    /// Forget a prepared statement.
    Close {
        /// The number that it was prepared under.
        handle: u32,
    },
    /// Execute several statements in one go, and wait for all of them; behind one that fails the
    /// others of its [`PipelineEntry::Sync`] are skipped. Only on PostgreSQL.
    Pipeline(&'a [PipelineEntry]),
    /// Execute a `COPY … FROM STDIN` with this data, in one go. Only on PostgreSQL.
    Copy {
        /// The statement.
        sql: &'a str,
        /// What it reads, in the format that it says.
        data: &'a [u8],
    },
}

/// One entry of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum PipelineEntry {
    /// Execute a statement that was prepared.
    Execute {
        /// The number that it was prepared under.
        handle: u32,
        /// Its parameters, in their order.
        parameters: Vec<SqlValue>,
    },
    /// Execute a text with parameters.
    QueryWith {
        /// The statement, with `$1` for its parameters.
        sql: String,
        /// Its parameters, in their order.
        parameters: Vec<SqlValue>,
    },
    /// What follows succeeds or fails by itself.
    Sync,
}

/// A request that waits for its connection.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedConnectionOp(KeptRequest);

/// A [`ConnectionOp`] with what that borrows.
#[derive(Clone, Debug, PartialEq)]
enum KeptRequest {
    Connect,
    Disconnect,
    Query(String),
    Prepare(u32, String),
    Execute(u32, Vec<SqlValue>, bool),
    QueryWith(String, Vec<SqlValue>),
    Close(u32),
    Pipeline(Vec<PipelineEntry>),
    Copy(String, Vec<u8>),
}

impl ConnectionOp<'_> {
    /// The same request, to be kept.
    pub fn to_owned(&self) -> OwnedConnectionOp {
        OwnedConnectionOp(match *self {
            Self::Connect => KeptRequest::Connect,
            Self::Disconnect => KeptRequest::Disconnect,
            Self::Query(sql) => KeptRequest::Query(sql.to_owned()),
            Self::Prepare { handle, sql } => KeptRequest::Prepare(handle, sql.to_owned()),
            Self::Execute { handle, parameters, keeps_rows } => {
                KeptRequest::Execute(handle, parameters.to_vec(), keeps_rows)
            }
            Self::QueryWith { sql, parameters } => {
                KeptRequest::QueryWith(sql.to_owned(), parameters.to_vec())
            }
            Self::Close { handle } => KeptRequest::Close(handle),
            Self::Pipeline(piped) => KeptRequest::Pipeline(piped.to_vec()),
            Self::Copy { sql, data } => KeptRequest::Copy(sql.to_owned(), data.to_vec()),
        })
    }
}

impl OwnedConnectionOp {
    /// The request.
    pub fn borrow(&self) -> ConnectionOp<'_> {
        match &self.0 {
            KeptRequest::Connect => ConnectionOp::Connect,
            KeptRequest::Disconnect => ConnectionOp::Disconnect,
            KeptRequest::Query(sql) => ConnectionOp::Query(sql),
            KeptRequest::Prepare(handle, sql) => ConnectionOp::Prepare { handle: *handle, sql },
            KeptRequest::Execute(handle, parameters, keeps_rows) => {
                ConnectionOp::Execute { handle: *handle, parameters, keeps_rows: *keeps_rows }
            }
            KeptRequest::QueryWith(sql, parameters) => ConnectionOp::QueryWith { sql, parameters },
            KeptRequest::Close(handle) => ConnectionOp::Close { handle: *handle },
            KeptRequest::Pipeline(piped) => ConnectionOp::Pipeline(piped),
            KeptRequest::Copy(sql, data) => ConnectionOp::Copy { sql, data },
        }
    }
}
