//! What stands before an entry of a pax archive (POSIX.1-2001) because it has no room in the entry:
//! bsdtar writes such ones, and GNU tar with `--format=pax`.

use super::{MAX_PATH_BYTES, invalid, path_of};
use std::io::{self, Read};
use std::path::PathBuf;

/// The most that is read of one; with attributes it has some hundred bytes.
const MAX_BYTES: u64 = 64 << 10;

/// What one says that matters here. Times, owners and attributes do not: none of them is unpacked.
#[derive(Debug, Default)]
pub(super) struct PaxHeader {
    /// The path of the entry, in the place of its own.
    pub(super) path: Option<PathBuf>,
    /// How long its file is.
    size: Option<u64>,
}

impl PaxHeader {
    /// Reads one.
    ///
    /// # Errors
    /// It is none, or longer than any.
    pub(super) fn read(entry: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        if entry.take(MAX_BYTES + 1).read_to_end(&mut bytes)? as u64 > MAX_BYTES {
            return Err(invalid("an extended header in it is too long"));
        }
        let mut header = Self::default();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (length, key, value) =
                record(rest).ok_or_else(|| invalid("an extended header in it is damaged"))?;
            header.take(key, value)?;
            rest = &rest[length..];
        }
        Ok(header)
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        match key {
            b"path" if value.len() as u64 > MAX_PATH_BYTES => {
                return Err(invalid("a path in it is too long"));
            }
            b"path" => self.path = Some(path_of(value.to_vec())),
            b"size" => {
                let size = str::from_utf8(value).ok().and_then(|size| size.parse().ok());
                let size = size.ok_or_else(|| invalid("a length in it is no number"))?;
                self.size = Some(size);
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses an entry of another length than the header says, behind which nobody would know
    /// where the next one begins.
    ///
    /// # Errors
    /// As said.
    pub(super) fn refuse_other_length(&self, length: u64) -> io::Result<()> {
        match self.size.is_none_or(|size| size == length) {
            true => Ok(()),
            false => Err(invalid("an entry in it has two lengths")),
        }
    }

    /// Refuses one that is meant for all entries and says what only one of them can have.
    ///
    /// # Errors
    /// As said.
    pub(super) fn refuse_for_all(&self) -> io::Result<()> {
        match self.path.is_none() && self.size.is_none() {
            true => Ok(()),
            false => Err(invalid("all its entries have one path or length")),
        }
    }
}

/// The length, the key and the value of the first record, `LENGTH KEY=VALUE⏎`; the length is that
/// of all of it.
fn record(bytes: &[u8]) -> Option<(usize, &[u8], &[u8])> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length: usize = str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
    let pair = bytes.get(digits..length)?.strip_prefix(b" ")?.strip_suffix(b"\n")?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    Some((length, &pair[..equals], &pair[equals + 1..]))
}
