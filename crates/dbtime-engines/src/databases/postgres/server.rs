//! PostgreSQL as a server that can be loaded and driven.

use super::admin::PostgresDialect;
use super::facts::PostgresFactsReader;
use super::protocol::PostgresProtocol;
use super::shared::PostgresShared;
use super::target::PostgresTarget;
use crate::drive::observer::LoadObserver;
use crate::drive::plan::{LoadPlan, LoadResult, RunStop};
use crate::drive::shard::DriveError;
use crate::server::{
    self, AdminConnection, AdminSession, Server, ServerDialect, ServerError, ServerFacts,
    ServerOptions,
};
use crate::socket::{self, ExchangeBound, ReconnectPolicy, ServerAddress, SocketSettings};
use dbtime_load::pipelining::Pipelining;
use dbtime_model::WireProtocol;
use std::fmt;
use std::sync::Arc;

/// PostgreSQL.
#[derive(Clone, Debug)]
pub struct PostgresServer {
    target: PostgresTarget,
}

impl PostgresServer {
    /// The server of a target.
    pub fn new(target: PostgresTarget) -> Self {
        Self { target }
    }
}

impl fmt::Display for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.target.fmt(f)
    }
}

impl Server for PostgresServer {
    fn wire_protocol(&self) -> WireProtocol {
        WireProtocol::Postgres
    }

    fn url(&self) -> String {
        self.target.url()
    }

    fn address(&self) -> &ServerAddress {
        &self.target.address
    }

    fn database(&self) -> Option<&str> {
        Some(&self.target.identity.database)
    }

    fn with_database(&self, database: &str) -> Box<dyn Server> {
        Box::new(Self::new(self.target.with_database(database)))
    }

    fn dialect(&self) -> &dyn ServerDialect {
        &PostgresDialect
    }

    fn connect(&self, bound: &ExchangeBound) -> Result<Box<dyn AdminConnection>, ServerError> {
        let shared = PostgresShared::new(self.target.identity.clone());
        let sockets = self.target.sockets(ReconnectPolicy::WhenLost, None);
        let mut made = server::client::<PostgresProtocol>(self.to_string(), shared, sockets, bound);
        if let (Err(ServerError::Connect { failure, .. }), Some(note)) =
            (&mut made, &self.target.password_note)
        {
            failure.message += &format!("; {note}");
        }
        Ok(Box::new(made?))
    }

    fn facts(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        bound: &ExchangeBound,
    ) -> Result<ServerFacts, ServerError> {
        let mut admin = self.connect(bound)?;
        let shared = self.target.shared(&plan.workload.statements, options.protocol, None);
        let target = self.to_string();
        let session = AdminSession { target: &target, admin: &mut *admin };
        PostgresFactsReader { session }.facts(plan, shared.prepared_per_connection() as u64)
    }

    fn drive(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, DriveError> {
        let plan = &options.pipelined(plan, Pipelining::Transaction);
        let statements = &plan.workload.statements;
        let limit = options.statement_timeout;
        let shared = Arc::new(self.target.shared(statements, options.protocol, limit));
        let sockets = self.target.sockets(options.reconnect, limit)?;
        let sockets = SocketSettings { network: options.network, ..sockets };
        let sockets = Arc::new(sockets);
        let driven = socket::drive::<PostgresProtocol>(plan, &shared, &sockets, observer, stop)?;
        server::end_statements(self, &driven, |pid| format!("SELECT pg_terminate_backend({pid})"));
        Ok(driven)
    }
}
