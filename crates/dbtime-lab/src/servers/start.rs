//! From a data folder to a server that answers.

use super::NEW_DATA;
use super::cpus;
use super::health::{self, HealthStatus};
use super::launch::option;
use super::log::LogFrom;
use super::port;
use super::preload;
use super::process::{POLL_INTERVAL, ServerProcess};
use super::settings;
use super::site::{INTERRUPTED, ServerAudience, ServerSite};
use crate::data_snapshot::{DataSnapshot, go_on, make_place};
use crate::error::LabError;
use crate::scratch::CreatedFolders;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long a new server may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How long one that was killed may take: it repairs its data first.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(600);

/// Attempts at a port, should others take it between choosing and binding it.
const MAX_PORT_ATTEMPTS: u32 = 5;

/// A server that answers.
pub(super) struct StartedServer {
    pub(super) process: ServerProcess,
    /// Where it listens on the loopback address.
    pub(super) port: u16,
    /// Where it listens on this machine.
    pub(super) socket: PathBuf,
}

/// Where the data folder of a server came from.
pub(super) enum DataOrigin {
    /// The product made it.
    Made,
    /// A copy of what was kept when it was new.
    Copied(DataSnapshot),
    /// A snapshot, with the workload's tables.
    Restored,
}

impl DataOrigin {
    /// What else may be the matter with a server that does not start on it.
    fn explain(&self, error: LabError) -> LabError {
        match (self, error) {
            (Self::Copied(kept), LabError::Target(why)) => LabError::Target(format!(
                "{why}; its data folder is a copy of {}: remove that if it is damaged",
                kept.path().display()
            )),
            (_, error) => error,
        }
    }
}

/// Makes the data folder, or restores it from a snapshot that is there.
pub(super) fn data(
    site: &ServerSite,
    snapshot: Option<&DataSnapshot>,
    audience: ServerAudience<'_>,
) -> Result<DataOrigin, LabError> {
    let Some(snapshot) = snapshot.filter(|snapshot| snapshot.is_there()) else {
        return new_data(site, audience);
    };
    audience.report(format!("{}: restoring its data", site.installed.identity));
    restore(snapshot, site, audience).map(|()| DataOrigin::Restored)
}

/// Makes the data folder, or copies one that was kept when it was new.
fn new_data(site: &ServerSite, audience: ServerAudience<'_>) -> Result<DataOrigin, LabError> {
    audience.report(format!("{}: making its data folder", site.installed.identity));
    let make = || (site.installed.package.make_data)(site, audience.stop);
    let Some(folder) = &site.request.new_data else {
        return make().map(|()| DataOrigin::Made);
    };
    let kept = site.new_data(folder);
    check_owner(folder)?;
    if kept.is_there() {
        restore(&kept, site, audience)?;
        return Ok(DataOrigin::Copied(kept));
    }
    make()?;
    // Not before: another process may have found it there when it goes again.
    let _made = make_own_place(folder)?;
    kept.keep(&site.folders.data(), audience.stop).map_err(|error| match error.kind() {
        ErrorKind::Interrupted => INTERRUPTED,
        _ => LabError::Target(format!(
            "{NEW_DATA} {}: no copy can be kept there: {error}; make room, or unset it",
            folder.display()
        )),
    })?;
    Ok(DataOrigin::Made)
}

/// Makes the folder of copies where it is missing; only its owner may enter it.
fn make_own_place(folder: &Path) -> Result<CreatedFolders, LabError> {
    let is_new = !folder.exists();
    let made = make_place(NEW_DATA, folder)?;
    if is_new {
        let own = fs::Permissions::from_mode(0o700);
        fs::set_permissions(folder, own).map_err(|error| {
            LabError::Target(format!("{NEW_DATA} {}: {error}", folder.display()))
        })?;
    }
    Ok(made)
}

/// What is restored is executed by the server, settings included: only what this user has kept is.
fn check_owner(folder: &Path) -> Result<(), LabError> {
    let Ok(metadata) = fs::metadata(folder) else { return Ok(()) };
    let why = if metadata.uid() != rustix::process::geteuid().as_raw() {
        "it is another user's"
    } else if metadata.mode() & 0o022 != 0 {
        "others may write there"
    } else {
        return Ok(());
    };
    let folder = folder.display();
    Err(LabError::Target(format!(
        "{NEW_DATA} {folder}: {why}, and what they put there a server would execute; name a folder \
         of your own that only you may write to (chmod 700)"
    )))
}

fn restore(
    snapshot: &DataSnapshot,
    site: &ServerSite,
    audience: ServerAudience<'_>,
) -> Result<(), LabError> {
    let adopt = |path: &Path| go_on(audience.stop).and_then(|()| site.hand_over(path));
    let restored = snapshot.restore(&site.folders.data(), &adopt);
    restored.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => INTERRUPTED,
        ErrorKind::StorageFull => site.no_data(&error.to_string()),
        _ => snapshot.unusable(&error.to_string()),
    })?;
    (site.installed.package.adopt_data)(site, audience.stop).map_err(|error| match error {
        LabError::Interrupted(_) => error,
        _ => snapshot.unusable(&error.to_string()),
    })
}

/// Starts the server on a free port, or the one that was asked for.
pub(super) fn first(
    site: &ServerSite,
    origin: &DataOrigin,
    audience: ServerAudience<'_>,
) -> Result<StartedServer, LabError> {
    let given_port = settings::port(&site.request.settings)?;
    let mut attempt = 1;
    loop {
        let free = given_port.map_or_else(port::free, Ok);
        let port = free.map_err(|error| {
            LabError::Target(format!("no port on 127.0.0.1 is free for a server: {error}"))
        })?;
        let script = first_statements(site)?;
        let first = StartAttempt { port, limit: START_TIMEOUT, script: script.as_deref() };
        let begun = on_port(site, first, audience);
        // It holds the password.
        let removed = script.map_or(Ok(()), fs::remove_file);
        let removed = removed.map_err(|error| site.no_login(&error));
        match begun {
            Err(StartFailure::PortTaken) if given_port.is_none() && attempt < MAX_PORT_ATTEMPTS => {
                removed?;
                attempt += 1;
            }
            // Why it did not start says more than what became of the file.
            Err(StartFailure::PortTaken) => return Err(StartFailure::PortTaken.into_error(port)),
            Err(failure) => return Err(origin.explain(failure.into_error(port))),
            Ok(started) => {
                removed?;
                let path = site.folders.login(site.installed.package);
                let written = site.login.write(&path, &started.socket, port);
                return written.map(|()| started).map_err(|error| site.no_login(&error));
            }
        }
    }
}

/// The file of statements that a server executes when it first starts, where one sets its password
/// by that: those of the user come behind.
fn first_statements(site: &ServerSite) -> Result<Option<PathBuf>, LabError> {
    let Some(mut text) = (site.installed.package.first_statements)(site) else { return Ok(None) };
    if let Some(path) = settings::value(&site.request.settings, "init_file") {
        text +=
            &fs::read_to_string(path).map_err(|error| settings::unreadable("init_file", &error))?;
    }
    let path = site.folders.run().join("first.sql");
    site.make_secret(&path, &text)?;
    Ok(Some(path))
}

/// Starts it again where it was.
pub(super) fn again(
    site: &ServerSite,
    port: u16,
    audience: ServerAudience<'_>,
) -> Result<StartedServer, LabError> {
    let attempt = StartAttempt { port, limit: RECOVERY_TIMEOUT, script: None };
    on_port(site, attempt, audience).map_err(|failure| failure.into_error(port))
}

/// A start on a port.
#[derive(Clone, Copy)]
struct StartAttempt<'a> {
    port: u16,
    /// How long it may take.
    limit: Duration,
    /// Statements that it executes before it lets anybody in.
    script: Option<&'a Path>,
}

/// Why a server did not start.
enum StartFailure {
    /// Somebody else has the port.
    PortTaken,
    /// Anything else.
    Final(LabError),
}

impl StartFailure {
    fn into_error(self, port: u16) -> LabError {
        match self {
            Self::Final(error) => error,
            Self::PortTaken => LabError::Target(format!(
                "port {port} on 127.0.0.1 is taken by another process; end that, or leave the \
                 port to dbtime"
            )),
        }
    }
}

impl From<LabError> for StartFailure {
    fn from(error: LabError) -> Self {
        Self::Final(error)
    }
}

fn on_port(
    site: &ServerSite,
    attempt: StartAttempt<'_>,
    audience: ServerAudience<'_>,
) -> Result<StartedServer, StartFailure> {
    let port = attempt.port;
    audience.report(format!("{}: starting", site.installed.identity));
    let package = site.installed.package;
    let mut arguments = (package.arguments)(site, port);
    let socket = (package.socket)(site, port);
    arguments.extend(attempt.script.map(|path| option("init-file", path)));
    let mut launch = site.launch(site.installed.binary.clone(), arguments);
    let given = site.request.environment.iter();
    let given = given.map(|(name, value)| (name.clone(), value.reveal().to_owned()));
    launch.environment.splice(0..0, given);
    launch.cpus = site.request.cpus.clone();
    let path = site.folders.log();
    let log = LogFrom::end_of(&path);
    let child =
        site.watchdog.start(package.watchdog_signal, || launch.start(Stdio::null(), &path))?;
    let (data, stop) = (site.folders.data(), audience.stop.clone());
    let mut process = ServerProcess::new(child, &site.installed, data, stop);
    process.bound_log(path.clone());
    if let Some(cpus) = &site.request.cpus {
        cpus::verify(process.pid(), cpus)?;
    }
    let started = StartedServer { process, port, socket };
    wait_until_ready(site, started, log, attempt.limit, audience)
}

fn wait_until_ready(
    site: &ServerSite,
    mut started: StartedServer,
    log: LogFrom<'_>,
    limit: Duration,
    audience: ServerAudience<'_>,
) -> Result<StartedServer, StartFailure> {
    let begun = Instant::now();
    let server = site.login.server(&started.socket);
    let identity = &site.installed.identity;
    let refuse = |why: String| {
        let check =
            settings::as_written(&site.request).map_or(String::new(), |t| format!("\ncheck {t}"));
        let quoted = log.quote(site.log_format());
        StartFailure::Final(LabError::Target(format!("{identity} {why}; {quoted}{check}")))
    };
    loop {
        if let Some(status) = started.process.ended() {
            let is_taken = is_port_taken(&log.text());
            let failed = || refuse(format!("did not start ({status})"));
            return Err(if is_taken { StartFailure::PortTaken } else { failed() });
        }
        match health::probe(&*server, audience.stop) {
            HealthStatus::Ready => {
                started.process.note_answer();
                break;
            }
            HealthStatus::NotYet => {}
            HealthStatus::Refused(why) => return Err(refuse(format!("refuses a login: {why}"))),
        }
        if audience.stop.is_set() {
            return Err(INTERRUPTED.into());
        }
        if begun.elapsed() > limit {
            return Err(refuse(format!("did not answer within {} s", limit.as_secs())));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let libraries = site.request.environment.iter().rev().find(|(n, _)| n == preload::VARIABLE);
    if let Some((_, value)) = libraries {
        preload::verify(started.process.pid(), value.reveal(), &log.text())?;
    }
    Ok(started)
}

/// Whether a log says that the port is somebody else's, in the words of any of the servers.
fn is_port_taken(log: &str) -> bool {
    log.contains("Address already in use")
        && ["Bind on TCP/IP port", "could not bind IPv4"].iter().any(|what| log.contains(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_known_by_the_log() {
        assert!(is_port_taken(
            "[ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use"
        ));
        assert!(is_port_taken(
            "LOG:  could not bind IPv4 address \"127.0.0.1\": Address already in use\nHINT: x"
        ));
        assert!(!is_port_taken("could not create socket: Address already in use"));
    }
}
