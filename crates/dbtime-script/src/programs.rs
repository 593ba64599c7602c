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

/// A program of a script. It belongs to the process group of dbtime, so that it has its terminal
/// and the signals that come from there. Dropped, it is waited for, as Lua does.
#[derive(Debug)]
pub(crate) struct ScriptChild(Child);

impl ScriptChild {
    /// Starts it.
    ///
    /// # Errors
    /// What keeps it from being started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut running = running();
        let child = command.spawn()?;
        running.push(child.id());
        Ok(Self(child))
    }

    /// Its pipes are those that the command asked for.
    pub(crate) fn pipes(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Waits for its end. The pipes to it end first.
    ///
    /// # Errors
    /// How it has ended is not known.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.0.stdout.take());
        let status = self.0.wait();
        let pid = self.0.id();
        running().retain(|shell| *shell != pid);
        status
    }
}

impl Drop for ScriptChild {
    fn drop(&mut self) {
        // It cannot be waited for twice in vain: its end is kept.
        let _ = self.wait();
    }
}
