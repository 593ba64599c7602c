//! Where statements run.

use crate::error::LabError;
use dbtime_engines::databases::sqlite::SqliteTarget;
use dbtime_engines::server::{Server, StatementBound, StatementConnection};
use dbtime_engines::socket::ExchangeBound;
use dbtime_model::{Nanos, SqlDialect};
use dbtime_sql::LexicalRules;
use std::fmt;
use std::sync::Arc;

/// How long a server is waited for when a statement is ended there.
const CANCEL_TIMEOUT: Nanos = Nanos::from_secs(2);

/// A database that is there, which statements can be sent to.
pub(crate) trait QueryPlace: fmt::Debug + Send + Sync {
    /// Connects.
    ///
    /// # Errors
    /// When the database cannot be reached or does not let us in.
    fn connect(&self, bound: &StatementBound) -> Result<Box<dyn StatementConnection>, LabError>;

    /// How it writes SQL.
    fn dialect(&self) -> SqlDialect;

    /// How it reads texts, as far as that is known without asking.
    fn lexical_rules(&self) -> LexicalRules {
        LexicalRules::unknown(self.dialect())
    }

    /// As `--target` takes it, without its password.
    fn url(&self) -> String;

    /// What it is a copy of; `None`: it is the target itself.
    fn copy_of(&self) -> Option<String> {
        None
    }

    /// Ends what the connection with this number has under way.
    fn end_statement(&self, _number: u32) {}

    /// The process of a server on this machine.
    fn server_pid(&self) -> Option<u32> {
        None
    }

    /// The file of a database that has one.
    fn sqlite(&self) -> Option<&SqliteTarget> {
        None
    }

    /// The server, where it is one.
    fn server(&self) -> Option<&Arc<dyn Server>> {
        None
    }
}

/// A server that runs.
#[derive(Debug)]
pub(crate) struct ServerPlace {
    pub(crate) server: Arc<dyn Server>,
    /// Its process, where that is on this machine.
    pub(crate) pid: Option<u32>,
}

impl QueryPlace for ServerPlace {
    fn connect(&self, bound: &StatementBound) -> Result<Box<dyn StatementConnection>, LabError> {
        Ok(self.server.statements(bound)?)
    }

    fn dialect(&self) -> SqlDialect {
        self.server.wire_protocol().dialect()
    }

    fn url(&self) -> String {
        self.server.url()
    }

    fn end_statement(&self, number: u32) {
        // A server that hangs, and a statement that has ended by itself, need nothing more.
        if let Ok(mut admin) = self.server.connect(&ExchangeBound::within(CANCEL_TIMEOUT)) {
            let _ = admin.query(&self.server.end_statement(number));
        }
    }

    fn server_pid(&self) -> Option<u32> {
        self.pid
    }

    fn server(&self) -> Option<&Arc<dyn Server>> {
        Some(&self.server)
    }
}

/// A database in a file.
#[derive(Debug)]
pub(crate) struct SqlitePlace {
    pub(crate) target: SqliteTarget,
    /// As it was named.
    pub(crate) url: String,
}

impl QueryPlace for SqlitePlace {
    fn connect(&self, bound: &StatementBound) -> Result<Box<dyn StatementConnection>, LabError> {
        let connection = self.target.statements(bound);
        Ok(Box::new(connection.map_err(|error| LabError::Target(error.to_string()))?))
    }

    fn dialect(&self) -> SqlDialect {
        SqlDialect::Sqlite
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn sqlite(&self) -> Option<&SqliteTarget> {
        Some(&self.target)
    }
}
