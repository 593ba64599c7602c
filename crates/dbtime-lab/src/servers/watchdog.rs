//! What ends a server when dbtime is killed and cannot.
//!
//! A small shell holds one end of a pipe and the names of the server's folders. That the pipe
//! closes without a word is how it learns that dbtime is gone, however that came about.

use crate::servers::processes::started_at;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// What the shell does.
const SCRIPT: &str = include_str!("watchdog.sh");

/// The shell, and this end of its pipe. Dropping it properly lets the shell end idle.
pub(super) struct Watchdog {
    shell: Child,
    orders: Option<ChildStdin>,
}

impl Watchdog {
    /// Starts watching over these folders, and over processes of `program` that live there.
    pub(super) fn over(program: &Path, folders: &[&Path]) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "dbtime-watchdog"]).arg(program).args(folders);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What ends dbtime by its process group must not end this.
        command.process_group(0).current_dir("/");
        let mut shell = command.spawn()?;
        let orders = shell.stdin.take();
        Ok(Self { shell, orders })
    }

    /// From now on this process and the group it leads are ended too: by `signal` first.
    pub(super) fn guard(&mut self, pid: u32, signal: &str) -> io::Result<()> {
        // One that has ended already needs no watching over.
        let Some(started) = started_at(pid) else { return Ok(()) };
        self.order(&format!("{pid} {started} {signal}"))
    }

    /// From now on there is no process to be ended.
    pub(super) fn release(&mut self) -> io::Result<()> {
        self.order("none 0 KILL")
    }

    fn order(&mut self, line: &str) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(format!("{line}\n").as_bytes())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // If the shell is gone there is nobody to be told.
        let _ = self.order("done 0 0");
        self.orders = None;
        let _ = self.shell.wait();
    }
}
