//! Files that are read whole: with a bound on their size, for they may come from elsewhere, and a
//! file without an end would take all memory.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// The most that people write: workloads, plans, scripts, lists of passwords. Unit: bytes.
const WRITTEN_BYTES: u64 = 64 << 20;

/// The most that a file of a record has: of a second a few kilobytes, for days. Unit: bytes.
const RECORDED_BYTES: u64 = 1 << 30;

/// The text of a file that somebody wrote; it may be a pipe.
///
/// # Errors
/// It cannot be read, is no text, or is larger than 64 MiB.
pub fn written_text(path: &Path) -> io::Result<String> {
    text_from(File::open(path)?)
}

/// As [`written_text`], of whatever bytes.
///
/// # Errors
/// It cannot be read, or is larger than 64 MiB.
pub fn written_bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_from(File::open(path)?, WRITTEN_BYTES)
}

/// What somebody wrote, up to its end: of standard input, for instance.
///
/// # Errors
/// As [`written_text`].
pub fn text_from(from: impl Read) -> io::Result<String> {
    text(bytes_from(from, WRITTEN_BYTES)?)
}

/// The next line of what somebody writes, without its end, and nothing behind it.
///
/// # Errors
/// As [`written_text`].
pub fn line_from(from: impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(WRITTEN_BYTES + 1).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 > WRITTEN_BYTES {
        return Err(too_large(WRITTEN_BYTES));
    }
    let mut line = text(bytes)?;
    line.truncate(line.trim_end_matches('\n').len());
    Ok(line)
}

/// Opens a file of a record, or one that is read several times.
///
/// # Errors
/// It cannot be opened, or is a pipe or a device.
pub fn recorded_file(path: &Path) -> io::Result<File> {
    let found = path.metadata()?;
    // Opening a pipe would block, and a device may never end.
    if !found.is_file() && !found.is_dir() {
        let text = "it is no regular file: copy what it holds into one";
        return Err(io::Error::new(ErrorKind::InvalidInput, text));
    }
    File::open(path)
}

/// The bytes of a file of a record.
///
/// # Errors
/// As those of [`recorded_file`], or it is larger than 1 GiB.
pub fn recorded_bytes(path: &Path) -> io::Result<Vec<u8>> {
    recorded_from(recorded_file(path)?)
}

/// As [`recorded_bytes`], of a file that is open.
///
/// # Errors
/// It cannot be read, or is larger than 1 GiB.
pub fn recorded_from(from: impl Read) -> io::Result<Vec<u8>> {
    bytes_from(from, RECORDED_BYTES)
}

/// As [`recorded_bytes`], of a text.
///
/// # Errors
/// As those of [`recorded_bytes`], or it is no text.
pub fn recorded_text(path: &Path) -> io::Result<String> {
    text(recorded_bytes(path)?)
}

fn bytes_from(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 <= most {
        true => Ok(bytes),
        false => Err(too_large(most)),
    }
}

fn too_large(most: u64) -> io::Error {
    let text = format!("it is larger than {} MiB, as no file of its kind is", most >> 20);
    io::Error::new(ErrorKind::FileTooLarge, text)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let no_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(no_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let error = bytes_from(io::repeat(b'x'), 99).expect_err("endless");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(bytes_from(&[b'x'; 99][..], 99).expect("as large as may be").len(), 99);
        assert!(bytes_from(&[b'x'; 100][..], 99).is_err());
        let named = too_large(WRITTEN_BYTES).to_string();
        assert!(named.starts_with("it is larger than 64 MiB"), "{named}");
    }

    #[test]
    fn a_device_is_no_file_of_a_record() {
        let error = recorded_bytes(Path::new("/dev/zero")).expect_err("refused");
        assert!(error.to_string().contains("no regular file"), "{error}");
        let error = recorded_text(Path::new("/none/such")).expect_err("missing");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn what_is_no_text_says_so() {
        assert_eq!(text_from(&b"a text"[..]).expect("a text"), "a text");
        let error = text_from(&b"\xff"[..]).expect_err("no text").to_string();
        assert_eq!(error, "it is not UTF-8 text");
    }
}
