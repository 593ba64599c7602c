//! What is the same for every database server: creating, loading and checking a workload's tables.
//!
//! A server's own way to write SQL is its [`ServerDialect`], its fastest way to take rows its
//! [`AdminConnection`].

mod admin;
mod admin_session;
mod arrived_rows;
mod dialect;
mod engine;
mod error;
mod options;
pub mod password_verifier;
pub mod secret;
mod statement_client;
mod statement_connection;
pub mod url;

pub(crate) use admin::RowLoader;
pub use admin::{AdminConnection, LoadStep, LoadedRows, TableLoader};
pub use admin_session::AdminSession;
pub(crate) use admin_session::client;
pub(crate) use arrived_rows::{ArrivedPart, ArrivedRows};
pub use dialect::ServerDialect;
pub(crate) use dialect::loaded_columns;
pub(crate) use engine::end_statements;
pub use engine::{Server, ServerFacts};
pub use error::ServerError;
pub(crate) use options::STATEMENT_GRACE;
pub use options::{ServerOptions, StatementProtocol};
pub(crate) use statement_client::{RowStreamer, StatementClient};
pub use statement_connection::{
    CellValue, ExecutedStep, ExecutionInstants, PreparedForm, RowVisitor, StatementAnswer,
    StatementBound, StatementConnection,
};
