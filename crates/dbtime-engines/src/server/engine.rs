//! A database server as the lab sees it, whichever product it is.

use super::admin::AdminConnection;
use super::dialect::ServerDialect;
use super::error::ServerError;
use super::options::ServerOptions;
use super::statement_connection::{StatementBound, StatementConnection};
use crate::drive::observer::LoadObserver;
use crate::drive::plan::{LoadPlan, LoadResult, RunStop};
use crate::drive::shard::DriveError;
use crate::socket::{ExchangeBound, ServerAddress};
use dbtime_model::{ErrorClass, Nanos, WireProtocol};
use std::collections::BTreeMap;
use std::fmt;

/// A server that can be loaded and driven. Its `Display` is the target as `--target` takes it,
/// without password.
pub trait Server: fmt::Display + fmt::Debug + Send + Sync {
    /// What it speaks.
    fn wire_protocol(&self) -> WireProtocol;

    /// As `--target` takes it, without its password and with what the environment added: for
    /// records. Messages, whose reader pastes it into a shell, show the server itself.
    fn url(&self) -> String;

    /// Where it listens.
    fn address(&self) -> &ServerAddress;

    /// The database that is used there, if one is named.
    fn database(&self) -> Option<&str>;

    /// The same server with another database.
    fn with_database(&self, database: &str) -> Box<dyn Server>;

    /// The same server, to which a connection takes this long at most, whatever its target gives.
    fn connecting_within(&self, limit: Nanos) -> Box<dyn Server>;

    /// How it writes SQL.
    fn dialect(&self) -> &dyn ServerDialect;

    /// A connection for loading and looking, whose exchanges are within `bound`.
    ///
    /// # Errors
    /// When it cannot be reached or does not let us in.
    fn connect(&self, bound: &ExchangeBound) -> Result<Box<dyn AdminConnection>, ServerError>;

    /// A connection for statements whose rows are looked at.
    ///
    /// # Errors
    /// As [`Self::connect`].
    fn statements(
        &self,
        bound: &StatementBound,
    ) -> Result<Box<dyn StatementConnection>, ServerError>;

    /// What ends the statement of the connection with this number, sent over another one.
    fn end_statement(&self, number: u32) -> String;

    /// What is worth knowing before the load; looks at every statement, so that a wrong one is
    /// known before the run.
    ///
    /// # Errors
    /// A statement that the server refuses, or more prepared statements than it holds.
    fn facts(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        bound: &ExchangeBound,
    ) -> Result<ServerFacts, ServerError>;

    /// Drives the plan and blocks until it has ended. The load begins
    /// when all connections are there.
    ///
    /// # Errors
    /// When not one connection could be made.
    fn drive(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, DriveError>;
}

/// How long a server is waited for when statements are ended.
const CANCEL_TIMEOUT: Nanos = Nanos::from_secs(2);

/// Ends the statements that nobody waited for any more: a server goes on with them although their
/// connections are closed, and would do so in the next run.
pub(crate) fn end_statements(
    server: &dyn Server,
    driven: &LoadResult,
    end: impl Fn(u32) -> String,
) {
    let abandoned = &driven.recorder.connections.abandoned;
    if abandoned.is_empty() {
        return;
    }
    // A server that hangs or is gone has nothing to be ended.
    let bound = ExchangeBound::within(CANCEL_TIMEOUT);
    let Ok(mut admin) = server.connect(&bound) else { return };
    for number in abandoned {
        // One that has ended by itself is not there any more.
        if admin.query(&end(*number)).is_err_and(|failure| failure.class == ErrorClass::Timeout) {
            return;
        }
    }
}

/// What is known of a server before the load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Product and version, such as `MariaDB 10.11.19`.
    pub version: String,
    /// Settings read back from it.
    pub settings: BTreeMap<String, String>,
    /// Bytes of the workload's tables with their indexes; `None` when it does not tell.
    pub data_bytes: Option<u64>,
    /// What connections are encrypted by: `off`, or the version of TLS and the cipher suite.
    pub tls: String,
    /// Statements that all connections together will have prepared.
    pub prepared_statements: Option<u64>,
    /// Whether something in between hands out the server's connections, of which it may have few.
    pub is_pooled: bool,
    /// How often the password is hashed to log in by SCRAM, where that makes it easy to guess for
    /// who listens in, or is in the server's place.
    pub weak_scram: Option<u64>,
}
