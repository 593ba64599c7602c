//! What the process was started with, as a place to write to: `/dev/stdout`, or `/dev/fd/63` of a
//! shell's `>(...)`. Opened anew, a file behind one of these would be written over from its
//! beginning, or be cut off first.

use crate::screen;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Where a process finds its own by number.
const NUMBERED: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// Whether a path is of what the process was started with. A number that it does not have is none.
pub(crate) fn is_own(path: &Path) -> bool {
    named_number(path).is_some() || (number_of(path).is_some() && path.exists())
}

/// Whether a path is of the standard output that the process was started with.
pub(crate) fn is_stdout(path: &Path) -> bool {
    number_of(path) == Some(1)
}

/// Writes to one of these, or to a device that takes signs.
///
/// Errors: it cannot be written.
pub(crate) fn write_stream(path: &Path, text: &str) -> io::Result<()> {
    match number_of(path) {
        Some(1) => screen::result(text),
        Some(2) => screen::to_stderr(text),
        Some(number) if path.is_file() => given_file(number, path)?.write_all(text.as_bytes())?,
        _ => write_opened(path, text)?,
    }
    Ok(())
}

fn named_number(path: &Path) -> Option<i32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => None,
    }
}

/// The number under which this process has it; `None`: it has none.
fn number_of(path: &Path) -> Option<i32> {
    let of_folder = |folder: &&str| path.strip_prefix(folder).ok()?.to_str()?.parse::<i32>().ok();
    named_number(path).or_else(|| NUMBERED.iter().find_map(of_folder))
}

/// The file that this process has under a number, with the place in it that was reached so far.
fn given_file(number: i32, path: &Path) -> io::Result<File> {
    let own = pidfd_open(getpid(), PidfdFlags::empty());
    match own.and_then(|own| pidfd_getfd(own, number, PidfdGetfdFlags::empty())) {
        Ok(given) => Ok(given.into()),
        // Linux before 5.6 has no such call, and a container may forbid it: nothing that stands
        // there is lost.
        Err(_) => File::options().append(true).open(path),
    }
}

fn write_opened(path: &Path, text: &str) -> io::Result<()> {
    // Opening does not wait: a pipe whose reader has gone is an error, and so is a socket.
    let no_wait = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let mut file = File::options().write(true).custom_flags(no_wait).open(path)?;
    // A reader that is slow is waited for.
    fcntl_setfl(&file, OFlags::empty())?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_process_s_own_is_known_by_its_number() {
        let number = |path: &str| number_of(Path::new(path));
        assert_eq!(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].map(number), [Some(1); 3]);
        assert_eq!(["/dev/stderr", "/dev/fd/2"].map(number), [Some(2); 2]);
        assert_eq!(["/dev/null", "/dev/fd/x", "/dev/fdx/3", "3"].map(number), [None; 4]);
        assert!(["/dev/fd/1", "/dev/stdout"].iter().all(|own| is_own(Path::new(own))));
        // What is not open is refused before anything is measured, as other places are.
        assert!(!["/dev/fd/999999", "/dev/null"].iter().any(|other| is_own(Path::new(other))));
    }
}
