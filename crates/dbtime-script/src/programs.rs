//! Programs that scripts start: which of them run, so that dbtime's end at once ends them too.

use std::ffi::OsStr;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shells that run.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shells that scripts have started and that still run, by their processes; this process is to
/// end now. No program starts after that: a thread that would start one, or go on after one that
/// has ended, waits for the end of the process.
pub fn abandon_programs() -> Vec<u32> {
    let mut running = running();
    let shells = std::mem::take(&mut *running);
    std::mem::forget(running);
    shells
}

/// A command line for the shell, as C's `system` and `popen` run it.
pub(crate) fn shell_command(line: &OsStr) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line);
    command
}

/// Runs a command line to its end, as C's `system` does.
///
/// # Errors
/// It cannot be started, or how it has ended is not known.
pub(crate) fn run_line(line: &OsStr) -> io::Result<ExitStatus> {
    ScriptChild::start(&mut shell_command(line))?.wait()
}

/// A program of a script. It belongs to the process group of dbtime, so that it has its terminal
/// and the signals that come from there. Dropped, it is waited for, as Lua does.
#[derive(Debug)]
pub(crate) struct ScriptChild {
    child: Child,
    /// Whether it is among those that run.
    is_listed: bool,
}

impl ScriptChild {
    /// Starts it.
    ///
    /// # Errors
    /// What keeps it from being started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut running = running();
        let child = command.spawn()?;
        running.push(child.id());
        Ok(Self { child, is_listed: true })
    }

    /// Its pipes are those that the command asked for.
    pub(crate) fn pipes(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for its end. The pipes to it end first.
    ///
    /// # Errors
    /// How it has ended is not known.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.child.stdout.take());
        let status = self.child.wait();
        // Its number may be that of the next program by now, which stays listed.
        if std::mem::take(&mut self.is_listed) {
            let mut running = running();
            let pid = self.child.id();
            if let Some(index) = running.iter().position(|shell| *shell == pid) {
                running.swap_remove(index);
            }
        }
        status
    }
}

impl Drop for ScriptChild {
    fn drop(&mut self) {
        // Where it was waited for before, its end is known.
        let _ = self.wait();
    }
}
