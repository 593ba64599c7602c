//! What ends a server when dbtime is killed and cannot, or must not wait for it.
//!
//! A small shell holds one end of a pipe and the names of the server's folders. That the pipe
//! closes without a word is how it learns that dbtime is gone, however that came about.

use crate::error::LabError;
use crate::scratch::ScratchFolder;
use dbtime_observe::process::start_tick_of;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the shell does.
const SCRIPT: &str = include_str!("watchdog.sh");

/// Every shell that watches. Whoever ends the process has it, and all of them, for ever.
static WATCHING: Mutex<Vec<Arc<Mutex<WatchdogShell>>>> = Mutex::new(Vec::new());

/// The shell, and this end of its pipe.
struct WatchdogShell {
    process: Child,
    orders: Option<ChildStdin>,
}

/// Watches over a server and its folders. Dropping it properly lets the shell end idle.
pub(super) struct ServerWatchdog(Arc<Mutex<WatchdogShell>>);

impl ServerWatchdog {
    /// Starts watching over these folders, and over processes of `program` that live there.
    pub(super) fn over(program: &Path, folders: &[&ScratchFolder]) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "dbtime-watchdog"]).arg(program);
        command.args(folders.iter().map(|folder| folder.path()));
        // It prints nothing: what it has there says that the folders are not left behind.
        let hold = |index: usize| {
            folders.get(index).map_or_else(|| Ok(Stdio::null()), |one| one.hold().map(Stdio::from))
        };
        command.stdin(Stdio::piped()).stdout(hold(0)?).stderr(hold(1)?);
        // What ends dbtime by its process group must not end this.
        command.process_group(0).current_dir("/");
        let mut watching = locked(&WATCHING);
        let mut process = command.spawn()?;
        let orders = process.stdin.take();
        let shell = Arc::new(Mutex::new(WatchdogShell { process, orders }));
        watching.push(Arc::clone(&shell));
        Ok(Self(shell))
    }

    /// Starts a process, which is ended from now on too, with the group it leads: by `signal`
    /// first. There is no instant at which it runs and nobody would end it.
    ///
    /// Errors: it does not start, or there is nobody to end it; then it is killed.
    pub(super) fn start(
        &self,
        signal: &str,
        start: impl FnOnce() -> Result<Child, LabError>,
    ) -> Result<Child, LabError> {
        let mut shell = locked(&self.0);
        let mut child = start()?;
        // One that has ended already needs no watching over.
        let Some(started) = start_tick_of(child.id()) else { return Ok(child) };
        match shell.order(&format!("{} {started} {signal}", child.id())) {
            Ok(()) => Ok(child),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(no_watchdog(error))
            }
        }
    }

    /// Does something while the shell is not let loose.
    pub(super) fn meanwhile<T>(&self, work: impl FnOnce() -> T) -> T {
        let _shell = locked(&self.0);
        work()
    }

    /// From now on there is no process to be ended.
    pub(super) fn release(&self) -> Result<(), LabError> {
        locked(&self.0).order("none 0 KILL").map_err(no_watchdog)
    }
}

impl WatchdogShell {
    fn order(&mut self, line: &str) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(format!("{line}\n").as_bytes())
    }

    /// Closes its pipe and waits until it has done what it does then.
    fn end(&mut self) {
        self.orders = None;
        let _ = self.process.wait();
    }
}

impl Drop for ServerWatchdog {
    fn drop(&mut self) {
        {
            let mut shell = locked(&self.0);
            // If the shell is gone there is nobody to be told.
            let _ = shell.order("done 0 0");
            shell.end();
        }
        locked(&WATCHING).retain(|shell| !Arc::ptr_eq(shell, &self.0));
    }
}

/// Has every server ended at once and its folders removed. Nobody starts another one after that:
/// who tries waits for the end of the process.
pub(crate) fn abandon() {
    let watching = locked(&WATCHING);
    let mut shells: Vec<_> = watching.iter().map(|shell| locked(shell)).collect();
    // All of them at the same time.
    shells.iter_mut().for_each(|shell| shell.orders = None);
    shells.iter_mut().for_each(|shell| shell.end());
    std::mem::forget(shells);
    std::mem::forget(watching);
}

/// There is nobody to end the server should dbtime be killed.
pub(super) fn no_watchdog(error: io::Error) -> LabError {
    LabError::Target(format!(
        "the shell (/bin/sh) that is to end the server should dbtime be killed does not run: {error}"
    ))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
