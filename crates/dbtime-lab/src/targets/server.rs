//! A database server that is there.

use super::room::{self, DiskRoom};
use super::server_process::pid_of;
use super::server_process::traced_pid_of;
use super::{
    Dataset, PreparedTarget, ProgressListener, TargetFacts, TargetKind, allow_files, load_summary,
};
use crate::counters::{self, CounterSampler};
use crate::doctor::{PlannedServerUse, TargetLook, look_at_server, quick_findings_of_server};
use crate::drive::BEFORE_WINDOW;
use crate::error::LabError;
use crate::progress::RunProgress;
use crate::query::{QueryPlace, ServerPlace};
use crate::request::{RecordDetail, RunRequest};
use crate::second_sampler::SecondSampler;
use crate::servers::PrivateServer;
use dbtime_engines::databases;
use dbtime_engines::drive::observer::LoadObserver;
use dbtime_engines::drive::plan::{LoadPlan, LoadResult, RunStop};
use dbtime_engines::drive::shard::DriveError;
use dbtime_engines::load_marker::{LoadMarker, ReplaceScope};
use dbtime_engines::server::{
    AdminSession, LoadStep, LoadedRows, Server, ServerError, ServerOptions, TableLoader,
};
use dbtime_engines::socket::{ExchangeBound, ServerAddress};
use dbtime_load::workload::Workload;
use dbtime_machine::ports::local_ports;
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::record::{RunRecord, TargetInfo, Warning, WarningKind, file};
use dbtime_model::secret_text::first_word;
use dbtime_model::units::counted;
use dbtime_model::{MonoNanos, Nanos, Product};
use dbtime_sql::LexicalRules;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Connections that load at once.
const LOADING_CONNECTIONS: usize = 4;

/// A server that is there.
#[derive(Clone, Debug)]
pub(super) struct ExistingServer {
    pub(super) server: Arc<dyn Server>,
}

/// A server whose data is there.
pub(super) struct ReadyServer {
    pub(super) server: Arc<dyn Server>,
    pub(super) options: ServerOptions,
    pub(super) scale: u64,
    /// The server itself, where the run has started it.
    pub(super) private: Option<PrivateServer>,
    /// How it was named.
    pub(super) url: String,
    pub(super) detail: RecordDetail,
    /// Whether a pooler hands out its connections: dbtime takes none of them from the load.
    pub(super) is_pooled: AtomicBool,
}

impl ExistingServer {
    pub(super) fn parse(text: &str, product: Product) -> Result<Self, LabError> {
        let variable = |name: &str| std::env::var(name).ok();
        Ok(Self { server: databases::server(product, text, &variable)? })
    }
}

impl TargetKind for ExistingServer {
    fn check(&self, request: &RunRequest) -> Result<(), LabError> {
        match request.workload.tables.is_empty() {
            true => Ok(()),
            false => named(&*self.server),
        }
    }

    fn prepare(
        &self,
        request: &RunRequest,
        _: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<Box<dyn PreparedTarget>, LabError> {
        let connections = request.spec.load.servers();
        allow_files(connections.into(), &format!("{connections} connections"))?;
        let tables = &request.workload.tables;
        let given = request.spec.workload.scale;
        let mut scale = given.unwrap_or(1);
        if !tables.is_empty() {
            scale = check_data(&*self.server, request, given, stop)?;
        }
        let (server, options) = (Arc::clone(&self.server), request.server());
        let url = self.server.url();
        let detail = request.detail;
        let is_pooled = AtomicBool::new(false);
        Ok(Box::new(ReadyServer { server, options, scale, private: None, url, detail, is_pooled }))
    }

    fn is_server(&self) -> bool {
        true
    }

    fn is_elsewhere(&self) -> bool {
        !self.server.address().is_local()
    }

    fn is_over_socket(&self) -> bool {
        matches!(self.server.address(), ServerAddress::Unix(_))
    }

    fn place(&self) -> Result<Box<dyn QueryPlace>, LabError> {
        let (server, pid) = (Arc::clone(&self.server), pid_of(&*self.server));
        Ok(Box::new(ServerPlace { server, pid }))
    }

    fn sampler(&self) -> Result<Box<dyn CounterSampler>, LabError> {
        counters::of_server(&*self.server)
    }

    fn look(&self, planned: &PlannedServerUse, until: MonoNanos) -> TargetLook {
        look_at_server(&*self.server, planned, until)
    }

    fn init(
        &self,
        data: &Dataset<'_>,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<String, LabError> {
        named(&*self.server)?;
        let begun = dbtime_machine::now();
        self.check_room(data, stop)?;
        let loaded = fill(&*self.server, data, progress, stop)?;
        Ok(load_summary(data, &loaded, &self.server, dbtime_machine::now() - begun))
    }
}

impl ExistingServer {
    /// Refuses data that cannot fit where the server has its own, as far as that is seen from here.
    fn check_room(&self, data: &Dataset<'_>, stop: &RunStop) -> Result<(), LabError> {
        let Some(pid) = pid_of(&*self.server) else { return Ok(()) };
        let mut admin = self.server.connect(&ExchangeBound::until(stop))?;
        let target = self.server.to_string();
        let mut session = AdminSession { target: &target, admin: &mut *admin };
        let folder = match session.query(self.server.dialect().data_folder_query()) {
            Ok(rows) => rows.value().map(str::to_owned),
            Err(error) if error.is_lost() => return Err(error.into()),
            // Not every user may know.
            Err(_) => None,
        };
        let Some(folder) = folder else { return Ok(()) };
        let (name, tables) = (&data.workload.name, &data.workload.tables);
        let found = loader(&*self.server, &target, stop).check(&mut *admin, name, tables, None);
        let freed = found.map_or(0, |marker| room::estimate(data.workload, marker.scale));
        // In a container it may be another folder than the one of that name here.
        let seen = format!("/proc/{pid}/root{folder}");
        let elsewhere = "use a server with more room";
        let room = DiskRoom { folder: Path::new(&seen), name: folder, freed, elsewhere };
        room.check(data.workload, data.scale)
    }
}

/// Tables need a database.
fn named(server: &dyn Server) -> Result<(), LabError> {
    match server.database() {
        Some(_) => Ok(()),
        None => Err(ServerError::NoDatabase { target: server.to_string() }.into()),
    }
}

fn loader<'a>(server: &'a dyn Server, target: &'a str, stop: &RunStop) -> TableLoader<'a> {
    let replacing = ReplaceScope::Same;
    let bound = ExchangeBound::until(stop);
    TableLoader {
        target,
        dialect: server.dialect(),
        server,
        connections: LOADING_CONNECTIONS,
        replacing,
        bound,
    }
}

/// Checks that a workload's tables are there and whole, at this scale if one is given. Returns the
/// scale.
pub(super) fn check_data(
    server: &dyn Server,
    request: &RunRequest,
    scale: Option<u64>,
    stop: &RunStop,
) -> Result<u64, LabError> {
    let mut admin = server.connect(&ExchangeBound::until(stop))?;
    let target = server.to_string();
    let (name, tables) = (&request.workload.name, &request.workload.tables);
    let marker = loader(server, &target, stop).check(&mut *admin, name, tables, scale);
    Ok(marker.map_err(|error| error.named_as(request.given_name()))?.scale)
}

/// Creates and loads a workload's tables. Returns what was done.
pub(super) fn fill(
    server: &dyn Server,
    data: &Dataset<'_>,
    progress: ProgressListener<'_>,
    stop: &RunStop,
) -> Result<LoadedRows, LabError> {
    let target = server.to_string();
    let marker = LoadMarker {
        workload: data.workload.name.clone(),
        scale: data.scale,
        seed: data.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let loader = TableLoader { replacing: data.replacing, ..loader(server, &target, stop) };
    let loaded = loader.load(data.workload, &marker, &|step| {
        progress(match step {
            LoadStep::Rows { table, done, total } => {
                RunProgress::Loading { table: table.to_owned(), done, total }
            }
            LoadStep::Statement(words) => RunProgress::Building { statement: words.to_owned() },
        });
        !stop.is_set()
    });
    match loaded {
        Ok(Some(loaded)) => Ok(loaded),
        Err(error) if !error.is_interrupted() => Err(error.into()),
        Ok(None) | Err(_) => {
            Err(LabError::Interrupted("while loading: what was loaded does not count"))
        }
    }
}

impl ReadyServer {
    /// How statements go to the server, for the record.
    fn protocol(&self, plan: &LoadPlan) -> String {
        let own = plan.workload.script.as_ref().and_then(|script| script.protocol());
        own.map_or_else(|| self.options.to_string(), str::to_owned)
    }

    /// What checks of the server find for a load whose connections have so many statements prepared
    /// in all.
    fn findings(&self, plan: &LoadPlan, prepared: Option<u64>) -> Vec<DoctorFinding> {
        let connections = u64::from(plan.concurrency);
        let planned = PlannedServerUse {
            connections: Some(connections),
            statements: prepared.map(|all| all / connections.max(1)),
            run_s: plan.measure.map(|measured| (plan.warmup + measured).as_secs()),
        };
        quick_findings_of_server(&*self.server, &planned)
    }

    /// Whether it is asked for its counters.
    fn is_sampled(&self) -> bool {
        self.detail != RecordDetail::Load && !self.is_pooled.load(Ordering::Relaxed)
    }
}

impl PreparedTarget for ReadyServer {
    fn scale(&self) -> u64 {
        self.scale
    }

    fn drive(
        &self,
        plan: &LoadPlan,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, LabError> {
        let driven = self.server.drive(plan, &self.options, observer, stop);
        let driven = driven.map_err(|error| match error {
            DriveError::Script(error) => LabError::Script(error),
            DriveError::Stopped if stop.is_set() => LabError::Interrupted(BEFORE_WINDOW),
            DriveError::Refused(failure) => {
                LabError::Refused { target: self.server.to_string(), failure }
            }
            error => LabError::Drive { target: self.server.to_string(), source: Box::new(error) },
        });
        driven.map_err(|failure| match &self.private {
            Some(private) => private.cause_of(failure),
            None => failure,
        })
    }

    fn lexical_rules(&self) -> LexicalRules {
        LexicalRules::of_protocol(Some(self.server.wire_protocol()))
    }

    fn facts(&self, plan: &LoadPlan, stop: &RunStop) -> Result<TargetFacts, LabError> {
        let unread = TargetInfo {
            engine: self.server.wire_protocol().name().to_owned(),
            url: self.url.clone(),
            // Such a script decides for each statement.
            protocol: plan.connects_first().then(|| self.protocol(plan)),
            ..TargetInfo::default()
        };
        let bound = ExchangeBound::until(stop);
        let facts = match self.server.facts(plan, &self.options, &bound) {
            Ok(facts) => facts,
            // What becomes of a script without a server is the script's affair.
            Err(error) if !plan.connects_first() => {
                let warnings = vec![unreachable(&error)];
                return Ok(TargetFacts { target: unread, warnings, ..TargetFacts::default() });
            }
            Err(error) => return Err(error.into()),
        };
        let target = TargetInfo {
            version: facts.version,
            settings: facts.settings,
            data_bytes: facts.data_bytes,
            tls: Some(facts.tls.into()),
            prepared_statements: facts.prepared_statements,
            is_restored: self.private.as_ref().is_some_and(PrivateServer::is_restored),
            ..unread
        };
        self.is_pooled.store(facts.is_pooled, Ordering::Relaxed);
        let warnings = [facts.is_pooled.then(pooled), facts.weak_scram.map(weakly_hashed)];
        // A pooler may have no connection to spare for a look.
        let findings = match facts.is_pooled {
            true => Vec::new(),
            false => self.findings(plan, facts.prepared_statements),
        };
        let warnings = warnings.into_iter().flatten().collect();
        Ok(TargetFacts { target, warnings, findings })
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

    fn sampler(&self) -> Option<Box<dyn CounterSampler>> {
        // Who may not look at the counters is driven without.
        self.is_sampled().then(|| counters::of_server(&*self.server).ok())?
    }

    fn second_sampler(&self) -> Option<SecondSampler> {
        self.is_sampled().then(|| SecondSampler::of_server(&*self.server).ok())??
    }

    fn server_pid(&self) -> Option<u32> {
        match &self.private {
            _ if self.detail == RecordDetail::Load => None,
            Some(private) => Some(private.pid()),
            None => pid_of(&*self.server),
        }
    }

    fn traced_pid(&self) -> Option<u32> {
        match &self.private {
            Some(_) => self.server_pid(),
            None => traced_pid_of(&*self.server),
        }
    }

    fn keep_log(&self, folder: &Path) -> io::Result<()> {
        match &self.private {
            Some(private) => private.keep_log(&folder.join(file::SERVER_LOG)),
            None => Ok(()),
        }
    }

    fn fill(&self, record: &mut RunRecord, _: &Workload, _: Nanos) {
        record.validity.warnings.extend(out_of_ports(record, self.server.address()));
        let Some(ended) = self.private.as_ref().and_then(PrivateServer::ended) else { return };
        record.validity.warnings.push(Warning {
            kind: WarningKind::Target,
            text: format!("the private server had ended before the run did: {ended}"),
            remedy: "see server.log in the record's folder (--no-record keeps none)".to_owned(),
        });
    }
}

/// A warning that the server is not asked for its counters.
fn pooled() -> Warning {
    Warning {
        kind: WarningKind::Target,
        text:
            "a pooler stands before the server: its counters are not sampled, as each connection \
               that looks would take one from the load"
                .to_owned(),
        remedy: "for counters drive the server itself, or sample it meanwhile with dbtime counters"
            .to_owned(),
    }
}

/// A warning that the password may be guessed from what the login sends.
fn weakly_hashed(iterations: u64) -> Warning {
    Warning {
        kind: WarningKind::Target,
        text: format!(
            "the login is by SCRAM with {iterations} in place of 4096 iterations: who listens in, \
             or is in the server's place, can guess the password that much faster"
        ),
        remedy: "verify the server with sslmode=verify-full, or set scram_iterations there and \
                 the user's password anew"
            .to_owned(),
    }
}

/// A warning that the record knows nothing of the server.
fn unreachable(error: &ServerError) -> Warning {
    Warning {
        kind: WarningKind::Target,
        text: format!("version and settings of the server could not be read: {error}"),
        remedy: "check that the server runs and admits this user".to_owned(),
    }
}

/// A warning where closed connections hold so many local ports that they bound the rate. A port is
/// free again after a minute (tcp(7), TIME_WAIT), to the same address after a second where
/// `net.ipv4.tcp_tw_reuse` allows it.
fn out_of_ports(record: &RunRecord, address: &ServerAddress) -> Option<Warning> {
    const TIME_WAIT_S: u64 = 60;
    let ServerAddress::Tcp { .. } = address else { return None };
    let ports = local_ports();
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
            "closed connections hold {} of {} local ports (TIME_WAIT); connections found none {}",
            ports.time_wait,
            ports.all,
            counted(refused, "time")
        ),
        remedy: format!(
            "without reuse {} ports carry {} new connections a second: use a Unix socket, widen \
             net.ipv4.ip_local_port_range, or set net.ipv4.tcp_tw_reuse=1",
            ports.all,
            ports.all / TIME_WAIT_S
        ),
    })
}

/// A server that is there, by its URL.
///
/// Errors: [`LabError::Usage`] for anything else.
pub(crate) fn server_of(text: &str) -> Result<Arc<dyn Server>, LabError> {
    let Some(super::TargetForm::Server(product)) = super::TargetForm::of(text) else {
        return Err(LabError::Usage(format!(
            "`{}` is no URL of a server: write mysql://USER@HOST/, mariadb://… or postgres://… \
             (passwords: ~/.my.cnf, MYSQL_PWD, ~/.pgpass, PGPASSWORD)",
            first_word(text)
        )));
    };
    ExistingServer::parse(text, product).map(|given| given.server)
}
