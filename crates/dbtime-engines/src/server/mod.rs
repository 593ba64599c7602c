//! What is the same for every database server: creating, loading and checking a workload's tables.
//!
//! A server's own way to write SQL is its [`Dialect`], its fastest way to take rows its [`Admin`].

mod admin;
mod asked;
mod dialect;
mod engine;
mod error;
mod options;

pub use admin::{Admin, LoadedRows, Loader};
pub use asked::Asked;
pub(crate) use asked::client;
pub use dialect::Dialect;
pub(crate) use dialect::quoted_list;
pub(crate) use engine::end_statements;
pub use engine::{Server, ServerFacts};
pub use error::ServerError;
pub(crate) use options::STATEMENT_GRACE;
pub use options::{ProtocolError, ServerOptions, StatementProtocol};
