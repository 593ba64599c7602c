//! `postgres`: PostgreSQL 9.6 to 18 over its own protocol.

mod adhoc;
mod admin;
mod certificate;
mod facts;
mod failure;
mod login;
mod login_methods;
mod password_file;
mod protocol;
mod request;
mod row_sink;
mod row_stream;
mod server;
mod service_file;
mod shared;
mod target;

pub use login_methods::LoginMethods;
pub use protocol::PostgresProtocol;
pub use server::PostgresServer;
pub use shared::{BindingMode, PostgresIdentity, PostgresShared};
pub use target::{PostgresTarget, PostgresTargetError};
