//! `postgres`: PostgreSQL 9.6 to 18 over its own protocol.

mod failure;
mod kept;
mod login;
mod protocol;
mod request;
mod shared;

pub use protocol::PostgresProtocol;
pub use shared::{Identity, PostgresShared, StatementProtocol};
