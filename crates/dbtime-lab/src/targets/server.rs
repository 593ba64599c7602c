//! A database server that is there.

use super::{Dataset, Facts, Kind, Prepared, Tell, allow_files};
use crate::counters::{self, Sampler};
use crate::error::LabError;
use crate::progress::Progress;
use crate::request::RunRequest;
use crate::servers::PrivateServer;
use dbtime_engines::loaded::LoadMarker;
use dbtime_engines::mysql::{MysqlServer, MysqlTarget};
use dbtime_engines::plan::{Driven, Plan, Stop, Watcher};
use dbtime_engines::postgres::{PostgresServer, PostgresTarget};
use dbtime_engines::server::{Loader, Server, ServerError, ServerOptions};
use dbtime_engines::shard::DriveError;
use dbtime_engines::socket::Address;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use dbtime_model::record::{RunRecord, TargetInfo, Warning, WarningKind, file};
use dbtime_observe::machine;
use dbtime_observe::process::{self, Which};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Connections that load at once.
const LOADERS: usize = 4;

/// A server that is there.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) server: Arc<dyn Server>,
}

/// A server whose data is there.
pub(super) struct Ready {
    pub(super) server: Arc<dyn Server>,
    pub(super) options: ServerOptions,
    pub(super) scale: u64,
    /// The server itself, where the run has started it.
    pub(super) private: Option<PrivateServer>,
    /// How it was named.
    pub(super) url: String,
}

impl Given {
    pub(super) fn parse(text: &str) -> Result<Self, LabError> {
        let variable = |name: &str| std::env::var(name).ok();
        let usage = |error: &dyn std::fmt::Display| LabError::Usage(error.to_string());
        let server: Arc<dyn Server> = if text.starts_with("postgres") {
            let target = PostgresTarget::parse(text, &variable).map_err(|e| usage(&e))?;
            Arc::new(PostgresServer::new(target))
        } else {
            let target = MysqlTarget::parse(text, variable).map_err(|e| usage(&e))?;
            Arc::new(MysqlServer::new(target))
        };
        Ok(Self { server })
    }
}

impl Kind for Given {
    fn prepare(
        &self,
        request: &RunRequest,
        _: Tell<'_>,
        _: &Stop,
    ) -> Result<Box<dyn Prepared>, LabError> {
        let connections = request.load.workers.unwrap_or(request.load.connections);
        allow_files(connections.into(), &format!("{connections} connections"))?;
        let tables = &request.workload.tables;
        let mut scale = request.scale.unwrap_or(1);
        if !tables.is_empty() {
            named(&*self.server)?;
            let mut admin = self.server.connect(None)?;
            let target = self.server.to_string();
            let loader = loader(&*self.server, &target);
            let name = &request.workload.name;
            let marker = loader.check(&mut *admin, name, tables, request.scale);
            scale = marker.map_err(|error| error.named_as(&request.workload_given))?.scale;
        }
        let (server, options) = (Arc::clone(&self.server), request.server);
        let url = self.server.url();
        Ok(Box::new(Ready { server, options, scale, private: None, url }))
    }

    fn is_server(&self) -> bool {
        true
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, LabError> {
        counters::of_server(&*self.server)
    }

    fn init(&self, data: &Dataset<'_>, tell: Tell<'_>, stop: &Stop) -> Result<String, LabError> {
        named(&*self.server)?;
        let begun = dbtime_model::now();
        let rows = fill(&*self.server, data, tell, stop)?;
        let took = dbtime_model::now() - begun;
        let (name, scale, server) = (&data.workload.name, data.scale, &self.server);
        Ok(format!("{name} at scale {scale}: {rows} rows loaded into {server} in {took}"))
    }
}

/// Tables need a database.
fn named(server: &dyn Server) -> Result<(), LabError> {
    match server.database() {
        Some(_) => Ok(()),
        None => Err(ServerError::NoDatabase { target: server.to_string() }.into()),
    }
}

fn loader<'a>(server: &'a dyn Server, target: &'a str) -> Loader<'a> {
    Loader { target, dialect: server.dialect(), server, connections: LOADERS }
}

/// Creates and loads a workload's tables. Returns the number of rows.
pub(super) fn fill(
    server: &dyn Server,
    data: &Dataset<'_>,
    tell: Tell<'_>,
    stop: &Stop,
) -> Result<u64, LabError> {
    let target = server.to_string();
    let marker = LoadMarker {
        workload: data.workload.name.clone(),
        scale: data.scale,
        seed: data.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let rows = loader(server, &target).load(data.workload, &marker, &|table, done, total| {
        tell(Progress::Loading { table: table.to_owned(), done, total });
        !stop.is_set()
    })?;
    rows.ok_or(LabError::Interrupted("while loading: what was loaded does not count"))
}

impl Prepared for Ready {
    fn scale(&self) -> u64 {
        self.scale
    }

    fn drive(&self, plan: &Plan, watcher: Watcher<'_>, stop: &Stop) -> Result<Driven, LabError> {
        let driven = self.server.drive(plan, &self.options, watcher, stop);
        driven.map_err(|error| match error {
            DriveError::Script(error) => LabError::Script(error.to_string()),
            error => LabError::Target(format!("{}: {error}", self.server)),
        })
    }

    fn facts(&self, plan: &Plan) -> Result<Facts, LabError> {
        let facts = self.server.facts(plan, &self.options)?;
        let target = TargetInfo {
            engine: self.server.engine().to_owned(),
            version: facts.version,
            url: self.url.clone(),
            settings: facts.settings,
            data_bytes: facts.data_bytes,
            protocol: Some(self.options.to_string()),
            prepared_statements: facts.prepared_statements,
        };
        Ok(Facts { target, warnings: Vec::new() })
    }

    fn is_fresh(&self) -> bool {
        self.private.is_some()
    }

    fn is_sharded(&self) -> bool {
        true
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn sampler(&self) -> Option<Box<dyn Sampler>> {
        // Who may not look at the counters is driven without.
        counters::of_server(&*self.server).ok()
    }

    fn server_pid(&self) -> Option<u32> {
        if let Some(private) = &self.private {
            return Some(private.pid());
        }
        let which = match self.server.address() {
            Address::Unix(path) => Which::Socket(path.clone()),
            address @ Address::Tcp { port, .. } if address.is_local() => Which::Port(*port),
            Address::Tcp { .. } => return None,
        };
        // A server in a container, or of another user, may not be seen: then nothing is known.
        process::only(&which).ok()
    }

    fn keep_log(&self, folder: &Path) -> io::Result<()> {
        match &self.private {
            Some(private) => fs::copy(private.log(), folder.join(file::SERVER_LOG)).map(drop),
            None => Ok(()),
        }
    }

    fn fill(&self, record: &mut RunRecord, _: &Workload, _: Nanos) {
        record.validity.warnings.extend(out_of_ports(record, self.server.address()));
        let Some(ended) = self.private.as_ref().and_then(PrivateServer::ended) else { return };
        record.validity.warnings.push(Warning {
            kind: WarningKind::Target,
            text: format!("the private server had ended before the run did: {ended}"),
            remedy: "server.log in the record's folder says why (--no-record keeps none)"
                .to_owned(),
        });
    }
}

/// A warning where closed connections hold so many local ports that they bound the rate. A port is
/// free again after a minute (tcp(7), TIME_WAIT), to the same address after a second where
/// `net.ipv4.tcp_tw_reuse` allows it.
fn out_of_ports(record: &RunRecord, address: &Address) -> Option<Warning> {
    const MINUTE: u64 = 60;
    let Address::Tcp { .. } = address else { return None };
    let ports = machine::ports();
    let refused = record.errors.get("EADDRNOTAVAIL").copied().unwrap_or(0);
    // Those that others have closed, or that are free again at once, bound nothing here.
    let made = record.connections.as_ref().map_or(0, |connections| connections.made);
    let holds_half = 2 * ports.time_wait.min(made) >= ports.all.max(1);
    if refused == 0 && (!holds_half || ports.reuse.holds_for(address.is_local())) {
        return None;
    }
    Some(Warning {
        kind: WarningKind::Ports,
        text: format!(
            "closed connections hold {} of {} local ports (TIME_WAIT); connections found none \
             {refused} times",
            ports.time_wait, ports.all
        ),
        remedy: format!(
            "without reuse {} ports carry {} new connections a second: use a Unix socket, widen \
             net.ipv4.ip_local_port_range, or set net.ipv4.tcp_tw_reuse=1",
            ports.all,
            ports.all / MINUTE
        ),
    })
}

impl From<ServerError> for LabError {
    fn from(error: ServerError) -> Self {
        Self::Target(error.to_string())
    }
}
