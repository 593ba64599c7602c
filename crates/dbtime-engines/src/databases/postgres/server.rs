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
    ServerOptions, StatementBound, StatementClient, StatementConnection,
};
use crate::socket::{
    self, ExchangeBound, ReconnectPolicy, ServerAddress, SocketClient, SocketSettings, TlsMode,
};
use dbtime_load::pipelining::Pipelining;
use dbtime_model::{Nanos, WireProtocol};
use std::fmt;
use std::sync::Arc;

/// How often PostgreSQL has a password hashed by default.
const USUAL_ITERATIONS: u64 = 4096;

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

    fn client(&self, bound: &ExchangeBound) -> Result<SocketClient<PostgresProtocol>, ServerError> {
        let shared = PostgresShared::new(self.target.identity.clone());
        let sockets = self.target.sockets(ReconnectPolicy::WhenLost, None);
        let mut made = server::client::<PostgresProtocol>(self.to_string(), shared, sockets, bound);
        if let (Err(ServerError::Connect { failure, .. }), Some(note)) =
            (&mut made, &self.target.password_note)
        {
            failure.message += &format!("; {note}");
        }
        made
    }

    /// How often the server has the password hashed, where that is seldom and somebody may listen
    /// in or be in its place: not on this machine, nor where the certificate is looked at.
    fn weak_scram(&self, iterations: Option<u64>) -> Option<u64> {
        let is_sure = self.target.address.is_local()
            || matches!(self.target.ssl_mode, TlsMode::VerifyCa | TlsMode::VerifyFull);
        iterations.filter(|count| *count < USUAL_ITERATIONS && !is_sure)
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

    fn connecting_within(&self, limit: Nanos) -> Box<dyn Server> {
        let mut server = self.clone();
        let limit = self.address().share_of(limit);
        server.target.connect_timeout = self.target.connect_timeout.min(limit);
        Box::new(server)
    }

    fn dialect(&self) -> &dyn ServerDialect {
        &PostgresDialect
    }

    fn connect(&self, bound: &ExchangeBound) -> Result<Box<dyn AdminConnection>, ServerError> {
        Ok(Box::new(self.client(bound)?))
    }

    fn statements(
        &self,
        bound: &StatementBound,
    ) -> Result<Box<dyn StatementConnection>, ServerError> {
        Ok(Box::new(StatementClient::new(self.client(&bound.exchanges())?)))
    }

    fn end_statement(&self, number: u32) -> String {
        format!("SELECT pg_cancel_backend({number})")
    }

    fn facts(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        bound: &ExchangeBound,
    ) -> Result<ServerFacts, ServerError> {
        let mut admin = self.client(bound)?;
        let weak_scram = self.weak_scram(admin.protocol().scram_iterations());
        let shared = self.target.shared(&plan.workload.statements, options.protocol, None);
        let target = self.to_string();
        let session = AdminSession { target: &target, admin: &mut admin };
        let prepared = shared.prepared_per_connection() as u64;
        PostgresFactsReader { session, weak_scram }.facts(plan, prepared)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_iterations_are_weak_where_the_server_may_be_another() {
        let weak = |text: &str, iterations| {
            let target = PostgresTarget::parse(text, &|_| None).expect(text);
            PostgresServer::new(target).weak_scram(iterations)
        };
        let far = "postgres://me@192.0.2.1/";
        assert_eq!([Some(1), Some(4095)].map(|count| weak(far, count)), [Some(1), Some(4095)]);
        assert_eq!([Some(4096), None].map(|count| weak(far, count)), [None, None]);
        assert_eq!(weak("postgres://me@192.0.2.1/?sslmode=require", Some(1)), Some(1));
        for sure in ["postgres://me@127.0.0.1/", "postgres://me@[::1]/", "postgres://me@/"] {
            assert_eq!(weak(sure, Some(1)), None, "{sure}");
        }
        assert_eq!(weak("postgres://me@192.0.2.1/?sslmode=verify-full", Some(1)), None);
    }
}
