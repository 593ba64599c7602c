//! Pipes in the place of files: whoever waits for one is told so.

use crate::screen;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// After so long it is said what is waited for. Whoever writes at once, as in `<(command)`, has the
/// screen to itself.
const PATIENCE: Duration = Duration::from_secs(1);

/// Opens or reads a file. Where that is a pipe and nobody writes into it, it says so: opening one
/// waits for a writer, and reading for what that writes.
pub(crate) fn awaited<T>(path: &Path, read: impl FnOnce() -> T) -> T {
    let found = fs::metadata(path);
    if !found.is_ok_and(|found| found.file_type().is_fifo()) {
        return read();
    }
    let (done, wait) = channel::<()>();
    let text = format!("waiting for a writer of the pipe {}", path.display());
    let notice = thread::spawn(move || {
        if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            screen::error(&text);
        }
    });
    let outcome = read();
    drop(done);
    // It only prints.
    let _ = notice.join();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pipe_is_read_at_once() {
        let path = Path::new("/proc/self/stat");
        let text = awaited(path, || fs::read_to_string(path)).expect("a file");
        assert!(!text.is_empty());
        assert!(awaited(Path::new("/none"), || fs::read("/none")).is_err());
    }
}
