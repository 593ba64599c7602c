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
pub struct OwnedConnectionOp {
    kind: ConnectionOpKind,
    handle: u32,
    keeps_rows: bool,
    sql: String,
    parameters: Vec<SqlValue>,
    piped: Vec<PipelineEntry>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionOpKind {
    Connect,
    Disconnect,
    Query,
    Prepare,
    Execute,
    QueryWith,
    Close,
    Pipeline,
    Copy,
}

impl ConnectionOp<'_> {
    /// The same request, to be kept.
    pub fn to_owned(&self) -> OwnedConnectionOp {
        let empty = |kind| OwnedConnectionOp {
            kind,
            handle: 0,
            keeps_rows: false,
            sql: String::new(),
            parameters: Vec::new(),
            piped: Vec::new(),
            data: Vec::new(),
        };
        match *self {
            Self::Connect => empty(ConnectionOpKind::Connect),
            Self::Disconnect => empty(ConnectionOpKind::Disconnect),
            Self::Query(sql) => {
                OwnedConnectionOp { sql: sql.to_owned(), ..empty(ConnectionOpKind::Query) }
            }
            Self::Prepare { handle, sql } => OwnedConnectionOp {
                handle,
                sql: sql.to_owned(),
                ..empty(ConnectionOpKind::Prepare)
            },
            Self::Execute { handle, parameters, keeps_rows } => {
                let parameters = parameters.to_vec();
                OwnedConnectionOp {
                    handle,
                    parameters,
                    keeps_rows,
                    ..empty(ConnectionOpKind::Execute)
                }
            }
            Self::QueryWith { sql, parameters } => {
                let sql = sql.to_owned();
                let parameters = parameters.to_vec();
                OwnedConnectionOp { sql, parameters, ..empty(ConnectionOpKind::QueryWith) }
            }
            Self::Close { handle } => {
                OwnedConnectionOp { handle, ..empty(ConnectionOpKind::Close) }
            }
            Self::Pipeline(piped) => {
                OwnedConnectionOp { piped: piped.to_vec(), ..empty(ConnectionOpKind::Pipeline) }
            }
            Self::Copy { sql, data } => {
                let sql = sql.to_owned();
                let data = data.to_vec();
                OwnedConnectionOp { sql, data, ..empty(ConnectionOpKind::Copy) }
            }
        }
    }
}

impl OwnedConnectionOp {
    /// The request.
    pub fn borrow(&self) -> ConnectionOp<'_> {
        let Self { kind, handle, keeps_rows, sql, parameters, piped, data } = self;
        let handle = *handle;
        let keeps_rows = *keeps_rows;
        match kind {
            ConnectionOpKind::Connect => ConnectionOp::Connect,
            ConnectionOpKind::Disconnect => ConnectionOp::Disconnect,
            ConnectionOpKind::Query => ConnectionOp::Query(sql),
            ConnectionOpKind::Prepare => ConnectionOp::Prepare { handle, sql },
            ConnectionOpKind::Execute => ConnectionOp::Execute { handle, parameters, keeps_rows },
            ConnectionOpKind::QueryWith => ConnectionOp::QueryWith { sql, parameters },
            ConnectionOpKind::Close => ConnectionOp::Close { handle },
            ConnectionOpKind::Pipeline => ConnectionOp::Pipeline(piped),
            ConnectionOpKind::Copy => ConnectionOp::Copy { sql, data },
        }
    }
}
