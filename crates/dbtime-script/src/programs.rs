//! Programs that scripts start: which of them run, so that dbtime's end at once ends them too.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The variable of the environment that programs of scripts have, and what these leave behind: the
/// process that has started them.
pub const PROGRAM_MARK: &str = "DBTIME_PROGRAM_OF";

/// What is called as programs of scripts start.
#[derive(Clone, Copy, Debug)]
pub struct ProgramWatch {
    /// Before one is started, by several threads at a time.
    pub starting: fn(),
    /// One has started, as this process; one at a time. dbtime's end at once waits for it.
    pub started: fn(u32),
}

static WATCH: OnceLock<ProgramWatch> = OnceLock::new();

/// Has the programs watched that scripts start from now on. Only the first call counts.
pub fn watch_programs(watch: ProgramWatch) {
    let _ = WATCH.set(watch);
}

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

/// How a program has ended, as C's `system` and `pclose` have it.
pub(crate) fn raw_status(ended: io::Result<ExitStatus>) -> i32 {
    // What C has of one that could not be started, or whose end is not known.
    const UNKNOWN: i32 = -1;
    ended.map_or(UNKNOWN, ExitStatusExt::into_raw)
}

/// A program of a script. It belongs to the process group of dbtime, so that it has its terminal
/// and the signals that come from there. Dropped, it is waited for, as Lua does, unless it is left.
#[derive(Debug)]
pub(crate) struct ScriptChild {
    child: Child,
    /// Whether it is among those that run.
    is_listed: bool,
    /// Whether it may go on without this.
    is_left: bool,
}

impl ScriptChild {
    /// Starts it.
    ///
    /// # Errors
    /// What keeps it from being started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let watch = WATCH.get();
        // Before the list is taken, which the end at once needs: it may wait, as for a terminal.
        if let Some(watch) = watch {
            (watch.starting)();
        }
        command.env(PROGRAM_MARK, std::process::id().to_string());
        let mut running = running();
        let child = command.spawn()?;
        running.push(child.id());
        if let Some(watch) = watch {
            (watch.started)(child.id());
        }
        Ok(Self { child, is_listed: true, is_left: false })
    }

    /// The pipe that it reads from, if the command asked for one and it was not taken before.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The pipe that it writes to, likewise.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Has it go on when this is dropped, until the end of the process.
    pub(crate) fn leave(&mut self) {
        self.is_left = true;
    }

    /// Whether it goes on when this is dropped.
    pub(crate) fn is_left(&self) -> bool {
        self.is_left
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
        if !self.is_left {
            // Where it was waited for before, its end is known.
            let _ = self.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_program_has_the_pipes_that_its_command_asked_for_once() {
        let mut command = shell_command(OsStr::new("true"));
        let mut child = ScriptChild::start(command.stdout(Stdio::piped())).expect("a shell");
        assert!(child.take_stdin().is_none());
        assert!(child.take_stdout().is_some());
        assert!(child.take_stdout().is_none());
        assert!(child.wait().expect("its end").success());
    }
}
