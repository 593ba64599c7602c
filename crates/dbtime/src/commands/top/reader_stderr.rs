//! The stderr of the reader of `dbtime top`. On the terminal, what a panic prints would stand on
//! the screen of `dbtime top`, and go with it.

use crate::screen;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;

/// What is printed of it at the most. Unit: bytes.
const MAX_BYTES: usize = 64 << 10;

/// A file in memory, whose text is printed when this goes. To be made before the screen is taken
/// and the reader is there, so that it goes behind both.
pub(super) struct ReaderStderr(File);

impl ReaderStderr {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(memfd_create("dbtime-stderr", MemfdFlags::CLOEXEC)?.into()))
    }

    /// The same file, for the reader, whose helper has it as well.
    pub(super) fn for_reader(&self) -> io::Result<Stdio> {
        Ok(self.0.try_clone()?.into())
    }

    /// What was written so far. The place to write at is the reader's.
    fn text(&self) -> io::Result<String> {
        let mut bytes = vec![0; MAX_BYTES];
        let mut length = 0;
        loop {
            match self.0.read_at(&mut bytes[length..], length as u64)? {
                0 => break,
                more => length += more,
            }
        }
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}

impl Drop for ReaderStderr {
    fn drop(&mut self) {
        // Memory that cannot be read is none that is missed here.
        let text = self.text().unwrap_or_default();
        if !text.is_empty() {
            screen::note(text.trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_processes_write_is_there_in_whole_or_to_its_limit() {
        let stderr = ReaderStderr::new().expect("memory");
        for text in ["one", "two"] {
            let mut writer = Command::new("sh");
            writer.args(["-c", &format!("echo {text} >&2")]);
            writer.stderr(stderr.for_reader().expect("a copy"));
            assert!(writer.status().expect("it starts").success());
        }
        assert_eq!(stderr.text().expect("text"), "one\ntwo\n");
        stderr.0.write_all_at(&[b'x'; MAX_BYTES + 1], 0).expect("memory");
        assert_eq!(stderr.text().expect("text").len(), MAX_BYTES);
        stderr.0.set_len(0).expect("memory");
    }
}
