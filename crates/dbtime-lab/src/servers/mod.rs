//! Private servers: an installed MariaDB, MySQL or PostgreSQL, started on a throw-away data folder.
//!
//! A private server has its own data folder, socket and port on the loopback address, and reads
//! none of the system's configuration. It ends with whoever started it, however that one ends:
//! properly by [`PrivateServer::stop`] or by being dropped, otherwise by a watchdog, which notices
//! dbtime's death or is let loose by [`crate::abandon`].
//! Nothing here speaks SQL: what the server is asked beyond "do you answer" is the engines' affair.

mod account;
mod cpus;
mod find;
mod folders;
mod health;
mod launch;
mod log;
mod log_limit;
mod log_message;
mod logged_statement;
mod login;
mod message_form;
mod mysql;
mod mysql_log;
mod mysql_messages;
mod own_errors;
mod own_messages;
mod port;
mod postgres;
mod preload;
mod process;
mod processes;
mod product;
mod program_lines;
mod setting_errors;
mod settings;
mod site;
mod start;
mod watchdog;

pub use cpus::check_online;
pub(crate) use processes::is_inhabited;
pub(crate) use watchdog::abandon;

use crate::data_snapshot::{DataSnapshot, SnapshotRequest};
use crate::error::LabError;
use crate::progress::RunProgress;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::Server;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_machine::CpuList;
use dbtime_model::Product;
use process::ServerProcess;
use site::{INTERRUPTED, ServerAudience, ServerSite};
use start::{DataOrigin, StartedServer};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which server is to be started, and how.
#[derive(Clone, Debug)]
pub struct ServerRequest {
    /// What it must be.
    pub product: Product,
    /// Where it is installed, or its binary itself; `None`: where the system has it.
    pub prefix: Option<PathBuf>,
    /// Its settings by name; a later one wins.
    pub settings: Vec<(String, String)>,
    /// Variables of its environment by name; a later one wins. Any of them may be a secret.
    pub environment: Vec<(String, ServerSecret)>,
    /// The CPUs it may run on; `None`: those that dbtime may.
    pub cpus: Option<CpuList>,
    /// A folder in which its data folder is made; `None`: the one for temporary files.
    pub data: Option<PathBuf>,
    /// How many connections the load opens at most; `None`: no more than the server's default.
    pub connections: Option<u32>,
    /// The snapshot that its data are restored from, if it is there; `None`: they are made.
    pub snapshot: Option<SnapshotRequest>,
    /// A folder that keeps a copy of each new data folder, so that the next one is a copy of that;
    /// `None`: the product makes each anew.
    pub new_data: Option<PathBuf>,
}

/// The variable of the environment that names [`ServerRequest::new_data`].
const NEW_DATA: &str = "DBTIME_NEW_DATA";

impl ServerRequest {
    /// The system's `product`, as it comes; copies of new data folders are kept where the
    /// environment says so.
    pub fn new(product: Product) -> Self {
        let new_data = std::env::var_os(NEW_DATA).filter(|folder| !folder.is_empty());
        Self {
            product,
            prefix: None,
            settings: Vec::new(),
            environment: Vec::new(),
            cpus: None,
            data: None,
            connections: None,
            snapshot: None,
            new_data: new_data.map(PathBuf::from),
        }
    }

    /// Refuses what cannot be meant, whatever machine it is started on.
    ///
    /// Errors: [`LabError::Usage`].
    pub(crate) fn check(&self) -> Result<(), LabError> {
        settings::check(self)
    }
}

/// A server of one's own. Dropping it ends it and removes its folders.
pub struct PrivateServer {
    /// Ends before the folders go.
    process: Mutex<ServerProcess>,
    site: ServerSite,
    port: u16,
    socket: PathBuf,
    log: PathBuf,
    /// Of its data, where one was requested.
    snapshot: Option<DataSnapshot>,
    /// Whether its data are those of the snapshot.
    is_restored: bool,
}

/// The binary of the server that would be started, links resolved; `None`: it is not here.
pub(crate) fn installed_binary(request: &ServerRequest) -> Option<PathBuf> {
    Some(find::find(request, &RunStop::default()).ok()?.binary)
}

/// A server's binary, and the first two numbers of its version.
pub(crate) type VersionedBinary = (PathBuf, (u32, u32));

/// The servers of a product that the system has; `stop` ends the search early.
///
/// Errors: [`LabError::Usage`] for a product without servers.
pub(crate) fn installed(
    product: Product,
    stop: &RunStop,
) -> Result<Vec<VersionedBinary>, LabError> {
    let found = find::all(product, stop)?;
    Ok(found.into_iter().map(|server| (server.binary, server.identity.number)).collect())
}

impl PrivateServer {
    /// Finds, makes and starts a server; returns when it answers. `stop` ends that early.
    ///
    /// Errors: [`LabError::Usage`] for what cannot be meant, [`LabError::Target`] for what is not
    /// here or does not start, with what its log says; nothing of it is left behind.
    pub fn start(
        request: &ServerRequest,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<Self, LabError> {
        request.check()?;
        settings::check_libraries(request)?;
        if let Some(cpus) = &request.cpus {
            check_online(cpus, "--server-cpus")?;
        }
        let found = find::find(request, stop);
        if stop.is_set() {
            return Err(INTERRUPTED);
        }
        let installed = found?;
        let site = ServerSite::new(request.clone(), installed)?;
        let audience = ServerAudience { progress, stop };
        let snapshot = request.snapshot.as_ref().map(|request| site.snapshot(request));
        let origin = start::data(&site, snapshot.as_ref(), audience)?;
        let StartedServer { process, port, socket } = start::first(&site, &origin, audience)?;
        let is_restored = matches!(origin, DataOrigin::Restored);
        let log = site.folders.log();
        let process = Mutex::new(process);
        Ok(Self { process, site, port, socket, log, snapshot, is_restored })
    }

    /// Whether its data were restored from a snapshot, with the workload's tables.
    pub fn is_restored(&self) -> bool {
        self.restored().is_some()
    }

    /// The snapshot that its data were restored from.
    pub(crate) fn restored(&self) -> Option<&DataSnapshot> {
        self.snapshot.as_ref().filter(|_| self.is_restored)
    }

    /// Keeps its data as the snapshot that was requested, if one was: ends it properly, and starts
    /// it again.
    ///
    /// Errors: as [`PrivateServer::restart`]; it does not end, or the snapshot cannot be written.
    pub fn save_data(
        &mut self,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<(), LabError> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let audience = ServerAudience { progress, stop };
        let identity = &self.site.installed.identity;
        audience.report(format!("{identity}: keeping a snapshot of its data"));
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let is_whole = process.shut_down();
        if stop.is_set() {
            return Err(INTERRUPTED);
        }
        if !is_whole {
            return Err(LabError::Target(format!(
                "{identity} did not shut down for a snapshot of its data: {}",
                self.site.last_words()
            )));
        }
        snapshot.save(&self.site.folders.data(), stop)?;
        self.restart(progress, stop)
    }

    /// Of its main process; PostgreSQL has others.
    pub fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// The path of its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whom it lets in.
    pub fn user(&self) -> &str {
        self.site.installed.package.database_user
    }

    /// By what. Nobody else has it.
    pub fn password(&self) -> &ServerSecret {
        self.site.login.password()
    }

    /// The file by which the product's own clients log in: their option file
    /// (`--defaults-extra-file`) or password file (`PGPASSFILE`).
    pub fn login_file(&self) -> PathBuf {
        self.site.folders.login(self.site.installed.package)
    }

    /// Itself, to be logged in to.
    pub fn server(&self) -> Box<dyn Server> {
        self.site.login.server(&self.socket)
    }

    /// What its binary says it is.
    pub fn product(&self) -> Product {
        self.site.installed.identity.product
    }

    /// The version that its binary says it has.
    pub fn version(&self) -> &str {
        &self.site.installed.identity.version
    }

    /// Its binary, links resolved.
    pub fn binary(&self) -> &Path {
        &self.site.installed.binary
    }

    /// Its data folder.
    pub fn data(&self) -> PathBuf {
        self.site.folders.data()
    }

    /// What it prints; the file goes with the server, see [`PrivateServer::stop`].
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Copies what it has printed, without literals and passwords of statements, and without values
    /// of rows.
    ///
    /// # Errors
    /// The log cannot be read, or the copy cannot be written.
    pub fn keep_log(&self, copy: &Path) -> io::Result<()> {
        log::keep(&self.log, copy, self.site.log_format())
    }

    /// How its main process ended, such as `exit status: 1` or `signal: 9 (SIGKILL)`; `None` while
    /// it lives.
    pub fn ended(&self) -> Option<String> {
        self.process().ended()
    }

    /// What a failure behind this server comes from: that its log had too much, where it had.
    pub(crate) fn cause_of(&self, failure: LabError) -> LabError {
        match self.process().log_excess() {
            Some(excess) => LabError::Target(format!("{}: {excess}", self.site.installed.identity)),
            None => failure,
        }
    }

    /// Stops all its processes where they are (SIGSTOP): nobody is served.
    pub fn pause(&self) {
        self.process().pause();
    }

    /// Lets them go on.
    pub fn resume(&self) {
        self.process().resume();
    }

    /// Kills all its processes (SIGKILL), as a crash does; the data stays.
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Starts it anew on the same data, port and socket, as a new process; one that still lives is
    /// ended properly first.
    ///
    /// Errors: as [`PrivateServer::start`]; then there is no server.
    pub fn restart(
        &mut self,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<(), LabError> {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        process.end();
        *process = start::again(&self.site, self.port, ServerAudience { progress, stop })?.process;
        Ok(())
    }

    /// Ends it properly, keeps its log as `log` if that is given, and removes its folders.
    ///
    /// Errors: the log cannot be written; the server has ended all the same.
    pub fn stop(self, log: Option<&Path>) -> io::Result<()> {
        self.process().end();
        log.map_or(Ok(()), |path| self.keep_log(path))
    }

    fn process(&self) -> MutexGuard<'_, ServerProcess> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
