//! MySQL or MariaDB as a server that can be loaded and driven.

use super::admin::MysqlDialect;
use super::facts;
use super::protocol::MysqlProtocol;
use super::shared::MysqlShared;
use super::target::MysqlTarget;
use crate::drive::observer::LoadObserver;
use crate::drive::plan::{LoadPlan, LoadResult, RunStop};
use crate::drive::shard::DriveError;
use crate::server::{
    self, AdminConnection, AdminSession, STATEMENT_GRACE, Server, ServerDialect, ServerError,
    ServerFacts, ServerOptions, StatementBound, StatementClient, StatementConnection,
};
use crate::socket::{
    self, ExchangeBound, ReconnectPolicy, ServerAddress, SocketClient, SocketSettings,
};
use dbtime_load::pipelining::Pipelining;
use dbtime_model::{Nanos, WireProtocol};
use std::sync::{Arc, OnceLock};

/// MySQL or MariaDB.
#[derive(Clone, Debug)]
pub struct MysqlServer {
    target: MysqlTarget,
    /// Its version, once it has been asked.
    version: OnceLock<String>,
}

impl MysqlServer {
    /// The server of a target.
    pub fn new(target: MysqlTarget) -> Self {
        Self { target, version: OnceLock::new() }
    }

    fn client(&self, bound: &ExchangeBound) -> Result<SocketClient<MysqlProtocol>, ServerError> {
        let shared = MysqlShared::new(self.target.identity.clone());
        let sockets = self.target.sockets(ReconnectPolicy::WhenLost, None);
        let client = server::client::<MysqlProtocol>(self.to_string(), shared, sockets, bound)?;
        // Set once; connections of a load need it for their set-up.
        let _ = self.version.set(client.protocol().server_version().to_owned());
        Ok(client)
    }

    /// Statements that tell the server how long others may take.
    fn setup(&self, limit: Option<Nanos>) -> Vec<String> {
        let Some(limit) = limit else { return Vec::new() };
        let version = self.version.get().map_or("", String::as_str);
        match facts::statement_limit(version) {
            Some(facts::StatementLimit::Seconds(name)) => {
                // Nothing at all would be no limit.
                vec![format!("SET {name} = {:.3}", limit.as_secs().max(0.001))]
            }
            Some(facts::StatementLimit::Millis(name)) => {
                vec![format!("SET {name} = {}", limit.0.div_ceil(1_000_000))]
            }
            None => Vec::new(),
        }
    }
}

impl std::fmt::Display for MysqlServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.target.fmt(f)
    }
}

impl Server for MysqlServer {
    fn wire_protocol(&self) -> WireProtocol {
        WireProtocol::Mysql
    }

    fn url(&self) -> String {
        self.target.url.clone()
    }

    fn address(&self) -> &ServerAddress {
        &self.target.address
    }

    fn database(&self) -> Option<&str> {
        self.target.identity.database.as_deref()
    }

    fn with_database(&self, database: &str) -> Box<dyn Server> {
        let mut server = self.clone();
        server.target.identity.database = Some(database.to_owned());
        Box::new(server)
    }

    fn connecting_within(&self, limit: Nanos) -> Box<dyn Server> {
        let mut server = self.clone();
        let limit = self.address().share_of(limit);
        server.target.connect_timeout = self.target.connect_timeout.min(limit);
        Box::new(server)
    }

    fn dialect(&self) -> &dyn ServerDialect {
        &MysqlDialect
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
        format!("KILL QUERY {number}")
    }

    fn facts(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        bound: &ExchangeBound,
    ) -> Result<ServerFacts, ServerError> {
        let mut admin = self.connect(bound)?;
        let version = self.version.get().map_or("", String::as_str);
        let shared = self.target.shared(Vec::new(), &plan.workload.statements, options.protocol);
        let target = self.to_string();
        let session = AdminSession { target: &target, admin: &mut *admin };
        let reader = facts::MysqlFactsReader { session, version, pipelines: options.pipeline };
        reader.facts(plan, shared.prepared_per_connection() as u64)
    }

    fn drive(
        &self,
        plan: &LoadPlan,
        options: &ServerOptions,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, DriveError> {
        let plan = &options.pipelined(plan, Pipelining::BehindReads);
        let setup = self.setup(options.statement_timeout);
        let statements = &plan.workload.statements;
        let shared = Arc::new(self.target.shared(setup, statements, options.protocol));
        let limit = options.statement_timeout.map(|limit| limit + STATEMENT_GRACE);
        let sockets = self.target.sockets(options.reconnect, limit)?;
        let sockets = SocketSettings { network: options.network, ..sockets };
        let sockets = Arc::new(sockets);
        let driven = socket::drive::<MysqlProtocol>(plan, &shared, &sockets, observer, stop)?;
        server::end_statements(self, &driven, |id| format!("KILL {id}"));
        Ok(driven)
    }
}
