//! MySQL 5.5 to 9 and MariaDB 10 to 12.
//!
//! [`MysqlProtocol`] is one connection: it logs in ([`login`]), prepares statements when they are
//! first needed, sends them ([`request`]) and reads where their answers end. What all connections
//! of a run share is in [`MysqlShared`].

mod adhoc;
mod admin;
mod error;
mod facts;
mod greeting;
mod login;
mod options_file;
mod protocol;
mod public_key;
mod request;
mod row_sink;
mod row_stream;
mod server;
mod shared;
mod target;

pub use public_key::PublicKeyError;
pub use server::MysqlServer;
pub use shared::{MysqlIdentity, MysqlShared};
pub use target::{MysqlTarget, MysqlTargetError};
