//! The databases: each implements what a loop of [`crate::drive`] drives.
//!
//! A server has a protocol ([`crate::socket`]) and what the lab needs of it ([`crate::server`]).

mod der;
pub mod mysql;
pub mod null;
pub mod postgres;
pub mod sqlite;

use crate::server::Server;
use crate::socket::AddressError;
use dbtime_model::{Product, SqlDialect};
use mysql::{MysqlServer, MysqlTarget, MysqlTargetError};
use postgres::{PostgresServer, PostgresTarget, PostgresTargetError};
use std::sync::Arc;

/// The server of a product that a URL names. To add a database server, add its folder here and its
/// line in this function.
///
/// `variable` gives the variables of the environment by name.
///
/// # Errors
/// What is wrong with the URL, or with what stands for parts of it that it leaves out.
pub fn server(
    product: Product,
    url: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Server>, ServerUrlError> {
    Ok(match product.dialect() {
        SqlDialect::Mysql => Arc::new(MysqlServer::new(MysqlTarget::parse(url, variable)?)),
        SqlDialect::Postgres => {
            Arc::new(PostgresServer::new(PostgresTarget::parse(url, variable)?))
        }
        SqlDialect::Sqlite => return Err(ServerUrlError::NoServer(product)),
    })
}

/// Why a URL names no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerUrlError {
    /// One of MariaDB or MySQL.
    #[error("{0}")]
    Mysql(#[from] MysqlTargetError),
    /// One of PostgreSQL.
    #[error("{0}")]
    Postgres(#[from] PostgresTargetError),
    /// The product is a library.
    #[error("{0} has no servers")]
    NoServer(Product),
}

impl ServerUrlError {
    /// Whether the URL is well-formed and its host has no address.
    pub fn is_unknown_host(&self) -> bool {
        matches!(
            self,
            Self::Mysql(MysqlTargetError::Address(AddressError::Unknown { .. }))
                | Self::Postgres(PostgresTargetError::Address(AddressError::Unknown { .. }))
        )
    }
}
