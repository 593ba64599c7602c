//! What is the same for every database server: creating, loading and checking a workload's tables.
//!
//! A server's own way to write SQL is its [`ServerDialect`], its fastest way to take rows its
//! [`AdminConnection`].

mod admin;
mod asked;
mod dialect;
mod engine;
mod error;
mod options;

pub use admin::{AdminConnection, LoadedRows, TableLoader};
pub use asked::AdminSession;
pub(crate) use asked::client;
pub use dialect::ServerDialect;
pub(crate) use dialect::quoted_list;
pub(crate) use engine::end_statements;
pub use engine::{Server, ServerFacts};
pub use error::ServerError;
pub(crate) use options::STATEMENT_GRACE;
pub use options::{ProtocolError, ServerOptions, StatementProtocol};
