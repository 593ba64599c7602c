//! Where a server is being made: its installation, folders, user, and who watches over it.

use super::ServerRequest;
use super::account::ServerAccount;
use super::find::InstalledServer;
use super::folders::ServerFolders;
use super::launch::ProgramLaunch;
use super::log::{LogFormat, LogFrom};
use super::login::{PrivateLogin, write_secret};
use super::process::POLL_INTERVAL;
use super::processes::{SharedProcesses, is_group, is_still, living_in, signal_group};
use super::settings;
use super::watchdog::{ServerWatchdog, no_watchdog};
use crate::data_snapshot::{DataSnapshot, SnapshotRequest};
use crate::error::LabError;
use crate::progress::RunProgress;
use dbtime_engines::drive::plan::RunStop;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long making a data folder may take.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(180);

/// How long a program and those it started may take to end when they are killed.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// What Ctrl-C ends while a server is being made.
pub(super) const INTERRUPTED: LabError =
    LabError::Interrupted("while the server was starting: nothing was measured");

/// A server that is being made.
pub(super) struct ServerSite {
    /// What was asked for.
    pub(super) request: ServerRequest,
    /// What was found.
    pub(super) installed: InstalledServer,
    /// Whom it lets in.
    pub(super) login: PrivateLogin,
    /// As whom it runs; `None`: as dbtime.
    pub(super) account: Option<ServerAccount>,
    /// Told to end the server should dbtime be killed. Dropped before the folders.
    pub(super) watchdog: ServerWatchdog,
    /// Where it lives.
    pub(super) folders: ServerFolders,
}

/// Who is told what happens, and who may end it.
#[derive(Clone, Copy)]
pub(super) struct ServerAudience<'a> {
    /// Hears of each step.
    pub(super) progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Ends the start early.
    pub(super) stop: &'a RunStop,
}

impl ServerAudience<'_> {
    /// Tells what is done now.
    pub(super) fn report(&self, what: String) {
        (self.progress)(RunProgress::Server { step: what });
    }
}

impl ServerSite {
    /// Makes the folders and puts a watchdog over them.
    ///
    /// Errors: nowhere to make them, nobody to run as, a binary that this user cannot reach, or no
    /// randomness for a password.
    pub(super) fn new(
        request: ServerRequest,
        installed: InstalledServer,
    ) -> Result<Self, LabError> {
        let account = ServerAccount::of(installed.package)?;
        if let Some(account) = &account {
            check_reach(account, &installed.binary)?;
        }
        let folders = ServerFolders::make(request.data.as_deref(), account.as_ref())?;
        let watchdog =
            ServerWatchdog::over(&installed.binary, &folders.all()).map_err(no_watchdog)?;
        let login = PrivateLogin::new(installed.package)?;
        Ok(Self { request, installed, login, account, watchdog, folders })
    }

    /// Makes an empty folder that the server may write.
    pub(super) fn make_folder(&self, path: &Path) -> Result<(), LabError> {
        self.give(path, fs::create_dir(path))
    }

    /// Makes a file that nobody but the server's user may read.
    pub(super) fn make_secret(&self, path: &Path, text: &str) -> Result<(), LabError> {
        self.give(path, write_secret(path, text))
    }

    /// Gives a file or folder that was just made to the server's user.
    pub(super) fn give(&self, path: &Path, made: io::Result<()>) -> Result<(), LabError> {
        let given = made.and_then(|()| self.hand_over(path));
        given.map_err(|error| self.no_data(&format!("{}: {error}", path.display())))
    }

    /// Makes the server's user the owner of a file or folder.
    pub(super) fn hand_over(&self, path: &Path) -> io::Result<()> {
        match &self.account {
            Some(account) => chown(path, Some(account.uid), Some(account.gid)),
            None => Ok(()),
        }
    }

    /// The snapshot of these rows in a server like this.
    pub(super) fn snapshot(&self, request: &SnapshotRequest) -> DataSnapshot {
        request.of(&self.engine(), &self.request.settings)
    }

    /// The copy of a new data folder of a server like this, in the folder of such copies.
    pub(super) fn new_data(&self, folder: &Path) -> DataSnapshot {
        let mut settings = self.installed.package.birth_settings(&self.request.settings);
        // initdb writes it into the settings.
        if let Ok(zone) = std::env::var("TZ") {
            settings.push(("TZ".to_owned(), zone));
        }
        DataSnapshot::of_new_data(folder, &self.engine(), &settings)
    }

    /// Product, version and binary.
    fn engine(&self) -> String {
        format!("{} {}", self.installed.identity, self.installed.binary.display())
    }

    /// The end of its log.
    pub(super) fn last_words(&self) -> String {
        LogFrom { path: &self.folders.log(), offset: 0 }.quote(self.log_format())
    }

    /// What its log has in it.
    pub(super) fn log_format(&self) -> LogFormat {
        LogFormat::of(self.installed.identity.product, &self.request.settings)
    }

    /// A program of the installation, ready to start.
    pub(super) fn launch(&self, program: PathBuf, arguments: Vec<OsString>) -> ProgramLaunch {
        ProgramLaunch {
            program,
            arguments,
            environment: self.installed.environment.clone(),
            folder: self.folders.run().to_owned(),
            account: self.account.clone(),
            cpus: None,
        }
    }

    /// Runs a program of the installation to its end.
    ///
    /// Errors: it fails (with what it printed), takes too long, or is interrupted.
    pub(super) fn run(
        &self,
        program: &ProgramLaunch,
        input: Option<&Path>,
        stop: &RunStop,
    ) -> Result<(), LabError> {
        let path = self.folders.log();
        let log = LogFrom::end_of(&path);
        let input = match input.map(File::open).transpose() {
            Ok(input) => input.map_or_else(Stdio::null, Stdio::from),
            Err(error) => return Err(self.no_data(&error.to_string())),
        };
        let mut child = self.watchdog.start("KILL", || program.start(input, &path))?;
        let mut shared = SharedProcesses::default();
        let ended = self.wait(&mut child, &mut shared, stop);
        match &ended {
            Ok(Some(status)) if status.success() => {}
            Ok(Some(_)) => {
                shared.note_crashed(child.id(), &self.folders.data());
                shared.remove();
            }
            // Nobody else ends it meanwhile, who would not know what is to be removed.
            _ => self.watchdog.meanwhile(|| self.end(&mut child)),
        }
        self.watchdog.release()?;
        let name = program.program.file_name().unwrap_or_default().to_string_lossy();
        let why = match ended? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("{name} ended with {status}"),
            None => format!("{name} took longer than {} s", PROGRAM_TIMEOUT.as_secs()),
        };
        let quoted = log.quote(self.log_format());
        Err(self.no_data_by(&format!("{why}; {quoted}"), &log.trouble()))
    }

    /// How a program ended; `None` if it takes too long. What servers share that it starts on the
    /// data is noted meanwhile.
    fn wait(
        &self,
        child: &mut Child,
        shared: &mut SharedProcesses,
        stop: &RunStop,
    ) -> Result<Option<ExitStatus>, LabError> {
        let (begun, data) = (Instant::now(), self.folders.data());
        while begun.elapsed() < PROGRAM_TIMEOUT {
            shared.note_owner(&data);
            if let Some(status) = child.try_wait().map_err(|e| self.no_data(&e.to_string()))? {
                return Ok(Some(status));
            }
            if stop.is_set() {
                return Err(INTERRUPTED);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(None)
    }

    /// Kills a program and those it started. Asked to end, some of them would still make what they
    /// share, and leave it.
    fn end(&self, child: &mut Child) {
        let (leader, begun) = (child.id(), Instant::now());
        signal_group(leader, Signal::STOP);
        let places = [self.folders.data(), self.folders.run().to_owned()];
        let found = || places.iter().flat_map(|place| living_in(place, &self.installed.binary));
        // What is under way in the kernel goes on until then.
        while !found().all(is_still) && begun.elapsed() < TERM_GRACE {
            std::thread::sleep(POLL_INTERVAL);
        }
        let mut shared = SharedProcesses::default();
        found().for_each(|pid| shared.note(pid));
        signal_group(leader, Signal::KILL);
        // Once buried, the leader does not count as one of the group.
        let _ = child.wait();
        while is_group(leader) && begun.elapsed() < TERM_GRACE {
            std::thread::sleep(POLL_INTERVAL);
        }
        shared.remove();
    }

    /// The password could not be kept.
    pub(super) fn no_login(&self, error: &io::Error) -> LabError {
        let folder = self.folders.run().display();
        LabError::Target(format!("cannot keep the server's password in {folder}: {error}"))
    }

    /// The data folder could not be made, and what helps.
    pub(super) fn no_data(&self, why: &str) -> LabError {
        self.no_data_by(why, why)
    }

    /// The same where the cause is in what was printed, of which `why` quotes less.
    fn no_data_by(&self, why: &str, printed: &str) -> LabError {
        let (identity, data) = (&self.installed.identity, self.folders.data());
        let has = |words: &[&str]| words.iter().any(|word| printed.contains(word));
        // Some servers only give the number of the error.
        let is_full = has(&[
            "No space left",
            "out of disk space",
            "free disk space",
            "error 28",
            "rrcode: 28",
        ]);
        let remedy = if is_full {
            "\nmake room there, or choose another disk with --server-data".to_owned()
        } else if has(&["Permission denied", "rrcode: 13", "OS errno 13"]) {
            "\nif the folder's mode is not the cause, a security module such as AppArmor may keep \
             this server in its usual folders: see the kernel's log, or use an unpacked server"
                .to_owned()
        } else {
            settings::as_written(&self.request)
                .map_or(String::new(), |written| format!("\ncheck {written}"))
        };
        let data = data.display();
        LabError::Target(format!("{identity} cannot make its data folder {data}: {why}{remedy}"))
    }
}

/// Refuses a binary that the server's user may not execute.
fn check_reach(account: &ServerAccount, binary: &Path) -> Result<(), LabError> {
    let may_execute = fs::metadata(binary).is_ok_and(|found| account.may_use(&found));
    if may_execute && binary.parent().is_some_and(|folder| account.may_enter(folder)) {
        return Ok(());
    }
    Err(LabError::Target(format!(
        "started by root the server runs as user {}, who may not execute {}: open it and the \
         folders above it (chmod a+rx), or run dbtime as another user",
        account.name,
        binary.display()
    )))
}
