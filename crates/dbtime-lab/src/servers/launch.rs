//! How a program of a server is started: as whom, where, on which CPUs, with what around it.

use super::account::ServerAccount;
use crate::error::LabError;
use dbtime_machine::{CpuList, PinnedThread};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where programs are looked for if nobody says.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a server sees of dbtime's own environment; all else stays out, so that a server behaves
/// alike whoever starts it.
const INHERITED: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "TZ"];

/// A program and all it needs to start.
#[derive(Clone, Debug)]
pub(super) struct ProgramLaunch {
    /// Its file.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    /// Variables beside [`INHERITED`]; a later one wins.
    pub(super) environment: Vec<(String, String)>,
    /// Where it starts, and its home.
    pub(super) folder: PathBuf,
    /// As whom; `None`: as dbtime.
    pub(super) account: Option<ServerAccount>,
    /// On which CPUs; `None`: as dbtime.
    pub(super) cpus: Option<CpuList>,
}

impl ProgramLaunch {
    /// Starts it as the leader of a process group of its own, so that no Ctrl-C meant for dbtime
    /// reaches it. What it prints goes to the end of `log`.
    ///
    /// Errors: it cannot be started, or not on these CPUs.
    pub(super) fn start(&self, input: Stdio, log: &Path) -> Result<Child, LabError> {
        let printed = File::options().create(true).append(true).open(log);
        let started = printed.and_then(|printed| {
            let mut command = self.command();
            command.stdin(input).stdout(printed.try_clone()?).stderr(printed);
            command.process_group(0);
            self.spawn(&mut command)
        });
        started.map_err(|error| {
            let who =
                self.account.as_ref().map_or(String::new(), |a| format!(" as user {}", a.name));
            let program = self.program.display();
            LabError::Target(format!("cannot start {program}{who}: {error}"))
        })
    }

    /// The command with its environment, to be started as it is.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).env_clear().env("PATH", PATH);
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", &self.folder).env("LC_ALL", "C");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(account) = &self.account {
            // Other groups are given up along with root.
            command.uid(account.uid).gid(account.gid);
        }
        command
    }

    /// The CPUs are those of the thread that starts it: one of its own, which then ends.
    fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let Some(cpus) = &self.cpus else { return command.spawn() };
        std::thread::scope(|scope| {
            let start = || PinnedThread::new(cpus).and_then(|_pinned| command.spawn());
            let pinned = scope.spawn(start);
            pinned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// `--NAME=value`, whatever characters a path has.
pub(super) fn option(name: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(value);
    option
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_gets_its_own_surroundings_and_a_group() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = dir.path().join("log");
        let launch = ProgramLaunch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), "echo $HOME $LC_ALL $EXTRA $CARGO; ps -o pgid= $$".into()],
            environment: vec![("EXTRA".into(), "1".into()), ("EXTRA".into(), "2".into())],
            folder: dir.path().to_owned(),
            account: None,
            cpus: Some("0".parse().expect("a list")),
        };
        let mut child = launch.start(Stdio::null(), &log).expect("there is a shell");
        let pid = child.id();
        child.wait().expect("it ends");
        let printed = fs::read_to_string(&log).expect("printed");
        assert!(printed.starts_with(&format!("{} C 2\n", dir.path().display())), "{printed}");
        if let Some(group) = printed.lines().nth(1) {
            assert_eq!(group.trim(), pid.to_string());
        }
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let launch = ProgramLaunch {
            program: "/nowhere/x".into(),
            arguments: vec![],
            environment: vec![],
            folder: dir.path().to_owned(),
            account: None,
            cpus: None,
        };
        let error = launch.start(Stdio::null(), &dir.path().join("log")).expect_err("missing");
        assert!(error.to_string().starts_with("cannot start /nowhere/x: No such file"), "{error}");
    }
}
