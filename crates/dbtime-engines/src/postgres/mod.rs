//! `postgres`: PostgreSQL 9.6 to 18 over its own protocol.

mod failure;
mod kept;
mod login;
mod password_file;
mod protocol;
mod request;
mod shared;
mod target;

pub use protocol::PostgresProtocol;
pub use shared::{Identity, PostgresShared, StatementProtocol};
pub use target::{PostgresTarget, SslMode, TargetError};
