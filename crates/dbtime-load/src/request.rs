//! What a script asks of its connection, beyond the statements that are known before the run.

use crate::program::Value;

/// One request. It is answered as a whole, however many statements it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request<'a> {
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
        /// Which one.
        handle: u32,
        /// Its parameters, in their order.
        parameters: &'a [Value],
        /// Whether its rows are to be kept; else they are counted.
        keeps_rows: bool,
    },
    /// Execute a text with parameters, without keeping it prepared. Only on PostgreSQL.
    QueryWith {
        /// The statement, with `$1` for its parameters.
        sql: &'a str,
        /// Its parameters, in their order.
        parameters: &'a [Value],
    },
    /// Forget a prepared statement.
    Close {
        /// Which one.
        handle: u32,
    },
    /// Execute several statements in one go, and wait for all of them; behind one that fails the
    /// others of its [`Piped::Sync`] are skipped. Only on PostgreSQL.
    Pipeline(&'a [Piped]),
}

/// One entry of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Piped {
    /// Execute a statement that was prepared.
    Execute {
        /// Which one.
        handle: u32,
        /// Its parameters, in their order.
        parameters: Vec<Value>,
    },
    /// Execute a text with parameters.
    QueryWith {
        /// The statement, with `$1` for its parameters.
        sql: String,
        /// Its parameters, in their order.
        parameters: Vec<Value>,
    },
    /// What follows succeeds or fails by itself.
    Sync,
}
