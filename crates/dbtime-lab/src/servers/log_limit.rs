//! The bound of what a server prints: one that prints more is ended, before it fills the disk.

use dbtime_observe::process::EndWatch;
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The most that a log may have. Unit: bytes.
const MOST_BYTES: u64 = 1 << 30;

/// How often its size is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// After so many looks a process that was told to end is killed.
const PATIENCE_LOOKS: u32 = 8;

/// Why a server has ended whose log had more, with what helps.
pub(super) const EXCESS: &str = "dbtime ended it because its log had more than 1 GiB; have it log \
                                 less (--server-set)";

/// Looks at a log as long as this lives, and ends the process that writes it.
pub(super) struct LogLimit {
    is_exceeded: Arc<AtomicBool>,
    /// With it the looking ends.
    _looking: Sender<()>,
}

impl LogLimit {
    /// The bound of the log of a process, which this signal ends at once.
    pub(super) fn of(writer: u32, ended_by: Signal, log: PathBuf) -> Self {
        Self::at(MOST_BYTES, writer, ended_by, log)
    }

    fn at(most_bytes: u64, writer: u32, ended_by: Signal, log: PathBuf) -> Self {
        let (looking, is_over) = channel::<()>();
        let is_exceeded = Arc::new(AtomicBool::new(false));
        let (noted, writer) = (Arc::clone(&is_exceeded), EndWatch::new(writer));
        let look = move || {
            let mut signals = 0;
            while is_over.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if fs::metadata(&log).is_ok_and(|found| found.len() > most_bytes) {
                    // First: its end is not seen before the reason is there.
                    noted.store(true, Ordering::Release);
                    // Killed, it would leave its shared memory behind.
                    writer.signal(if signals < PATIENCE_LOOKS { ended_by } else { Signal::KILL });
                    signals += 1;
                }
            }
        };
        // Without a thread there is no bound, and the server runs all the same.
        let _ = std::thread::Builder::new().name("server log".to_owned()).spawn(look);
        Self { is_exceeded, _looking: looking }
    }

    /// Whether the process was ended for it.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};

    /// How a script ends whose output is bounded, and whether that is why.
    fn bounded(most_bytes: u64, script: &str) -> (ExitStatus, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("server.log");
        let mut shell = Command::new("/bin/sh");
        let printed = File::create(&log).expect("a file");
        let mut shell = shell.args(["-c", script]).stdout(printed).spawn().expect("a shell");
        let limit = LogLimit::at(most_bytes, shell.id(), Signal::TERM, log);
        let status = shell.wait().expect("it ends");
        (status, limit.is_exceeded())
    }

    #[test]
    fn one_that_prints_without_end_is_ended() {
        let prints = "while :; do echo x; sleep 0.01; done";
        for (script, signal) in [(prints.to_owned(), 15), (format!("trap '' TERM; {prints}"), 9)] {
            let (status, is_exceeded) = bounded(8, &script);
            assert_eq!((status.signal(), is_exceeded), (Some(signal), true));
        }
        // It is looked at meanwhile.
        let (status, is_exceeded) = bounded(8, "echo x; sleep 0.6");
        assert_eq!((status.code(), is_exceeded), (Some(0), false));
    }
}
