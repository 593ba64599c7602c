//! A log by its path: opened to be read alone, unpacked where it is packed, never mapped, because a
//! log that is truncated while it is read would end the process.

use super::LogError;
use super::waiting::{CountedRead, GoesOn, PatientRead};
use flate2::read::MultiGzDecoder;
use rustix::fs::OFlags;
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How much of a log is looked at to find its format. Unit: bytes.
const HEAD_BYTES: usize = 64 << 10;

/// The path of standard input.
pub(super) const STDIN: &str = "-";

/// What files begin with that were packed, by what, and what unpacks them.
const FOREIGN_PACKERS: [(&[u8], &str, &str); 6] = [
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"BZh", "bzip2", "bzcat"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4cat"),
    (b"\x1f\x9d", "compress", "zcat"),
    (b"PK\x03\x04", "zip", "funzip"),
];

/// What a file of gzip begins with.
const GZIP: &[u8] = b"\x1f\x8b";

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileNumber {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// A log that is being read.
pub(super) struct LogInput {
    path: PathBuf,
    source: Box<dyn Read>,
    /// What was read to find the format, and how much of it is read again.
    head: Vec<u8>,
    head_read: usize,
    /// How much was read before it was unpacked.
    raw_bytes: Rc<Cell<u64>>,
    /// For a regular file that is not packed: the same open file, for seeking.
    handle: Option<File>,
    /// For a regular file: which, and how long it is.
    file: Option<(FileNumber, u64)>,
    is_packed: bool,
    trouble: Option<String>,
}

impl LogInput {
    /// Opens a file or pipe, or standard input for `-`, and reads its beginning. A pipe without a
    /// writer is waited for, and where `goes_on` breaks, its beginning is what has come.
    ///
    /// Errors: it is no file, cannot be read, or is packed by something else than gzip.
    pub(super) fn open(path: &Path, goes_on: GoesOn<'_>) -> Result<Self, LogError> {
        let failed = |source| LogError::Open { path: path.to_owned(), source };
        let raw_bytes = Rc::new(Cell::new(0));
        if path == Path::new(STDIN) {
            // Not the buffered one, which may have what its pipe has no more.
            let inner = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
            let source = CountedRead { inner, count: Rc::clone(&raw_bytes), is_pipe: true };
            return Self::unpacked(path, Box::new(source), raw_bytes, (None, None), goes_on);
        }
        let opened = open_at_once(path).map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(LogError::Folder { path: path.to_owned() });
        }
        let (mut file, mut handle) = (None, None);
        if metadata.is_file() {
            let identity = FileNumber { device: metadata.dev(), inode: metadata.ino() };
            file = Some((identity, metadata.len()));
            handle = Some(opened.try_clone().map_err(failed)?);
        }
        let (count, is_pipe) = (Rc::clone(&raw_bytes), file.is_none());
        let source = CountedRead { inner: opened, count, is_pipe };
        Self::unpacked(path, Box::new(source), raw_bytes, (file, handle), goes_on)
    }

    /// Unpacks what is packed, and reads the beginning.
    fn unpacked(
        path: &Path,
        mut source: Box<dyn Read>,
        raw_bytes: Rc<Cell<u64>>,
        (file, handle): (Option<(FileNumber, u64)>, Option<File>),
        goes_on: GoesOn<'_>,
    ) -> Result<Self, LogError> {
        let failed = |source| LogError::Read { path: path.to_owned(), source };
        let head = head_of(&mut source, goes_on).map_err(failed)?;
        refuse_packed(path, &head)?;
        let is_packed = head.starts_with(GZIP);
        let handle = handle.filter(|_| !is_packed);
        let path = path.to_owned();
        let (head_read, trouble) = (0, None);
        let mut input =
            Self { path, source, head, head_read, raw_bytes, handle, file, is_packed, trouble };
        if is_packed {
            input.unpack(goes_on).map_err(failed)?;
        }
        Ok(input)
    }

    /// Puts a decoder before the source.
    fn unpack(&mut self, goes_on: GoesOn<'_>) -> io::Result<()> {
        let packed_head = io::Cursor::new(std::mem::take(&mut self.head));
        let packed = std::mem::replace(&mut self.source, Box::new(io::empty()));
        self.source = Box::new(MultiGzDecoder::new(packed_head.chain(packed)));
        // Damage at the beginning is trouble too, and what was read before it is kept.
        self.head = head_of(self, goes_on)?;
        Ok(())
    }

    /// Its path as it was given.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its first 64 KiB or less, once unpacked.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// What of that is not read yet, which is passed over then.
    pub(super) fn take_head(&mut self) -> Vec<u8> {
        let head = self.head[self.head_read..].to_vec();
        self.head_read = self.head.len();
        head
    }

    /// Which file it is, and its size before it is unpacked; `None`: it is a pipe. Unit: bytes.
    pub(super) fn file(&self) -> Option<(FileNumber, u64)> {
        self.file
    }

    /// Whether it is unpacked on the way.
    pub(super) fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// How much was read before it was unpacked. Unit: bytes.
    pub(super) fn raw_bytes(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.raw_bytes)
    }

    /// Why it ended before its end, in words behind "it is".
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Goes on behind so many bytes, once unpacked; a file that has fewer is at its end then.
    ///
    /// Errors: as reading.
    pub(super) fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        if offset == 0 {
            return Ok(());
        }
        if let Some(handle) = &mut self.handle {
            // Both share one position.
            handle.seek(SeekFrom::Start(offset))?;
            self.raw_bytes.set(offset);
            self.head_read = self.head.len();
            return Ok(());
        }
        io::copy(&mut Read::by_ref(self).take(offset), &mut io::sink()).map(drop)
    }
}

impl Read for LogInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut head = &self.head[self.head_read..];
        if !head.is_empty() {
            let read = head.read(buffer)?;
            self.head_read += read;
            return Ok(read);
        }
        match self.source.read(buffer) {
            Err(error) if self.is_packed && !is_passing(&error) => {
                self.trouble = Some(format!("damaged or cut short ({error})"));
                self.source = Box::new(io::empty());
                Ok(0)
            }
            read => read,
        }
    }
}

/// Whether what could not be read now can be read later.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

/// Opens a file for reading. That a pipe has no writer yet shows when it is read.
fn open_at_once(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// The beginning of what is read here.
fn head_of(source: &mut dyn Read, goes_on: GoesOn<'_>) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let patient = PatientRead { inner: source, goes_on };
    patient.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Refuses what was packed by something else than gzip.
fn refuse_packed(path: &Path, head: &[u8]) -> Result<(), LogError> {
    match FOREIGN_PACKERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        Some(&(_, packer, unpacker)) => {
            Err(LogError::Packed { path: path.to_owned(), packer, unpacker })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::engine::waiting::always;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::io::Write;
    use tempfile::TempDir;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("in memory");
        encoder.finish().expect("in memory")
    }

    fn file(folder: &TempDir, bytes: &[u8]) -> PathBuf {
        let path = folder.path().join("a.log");
        fs::write(&path, bytes).expect("written");
        path
    }

    fn read_all(input: &mut LogInput) -> Vec<u8> {
        let mut all = Vec::new();
        input.read_to_end(&mut all).expect("read");
        all
    }

    #[test]
    fn gzip_is_known_by_its_bytes_and_may_have_several_members() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = b"one\ntwo\n".repeat(20_000);
        let path = file(&folder, &[packed(&text), packed(b"three\n")].concat());
        let mut input = LogInput::open(&path, &always).expect("opened");
        assert!(input.is_packed() && input.head() == &text[..HEAD_BYTES]);
        assert_eq!(read_all(&mut input), [&text[..], b"three\n"].concat());
        assert_eq!(input.trouble(), None);
        let size = fs::metadata(&path).expect("there").len();
        assert_eq!(input.raw_bytes().get(), size);
    }

    #[test]
    fn what_a_damaged_file_has_before_the_damage_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bytes = packed(b"one\n");
        bytes.extend(b"no member of gzip");
        let mut input = LogInput::open(&file(&folder, &bytes), &always).expect("opened");
        assert_eq!(read_all(&mut input), b"one\n");
        assert!(input.trouble().is_some_and(|why| why.contains("damaged")));
    }

    #[test]
    fn reading_goes_on_behind_what_is_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = b"0123456789".repeat(20_000);
        for bytes in [text.clone(), packed(&text)] {
            let path = file(&folder, &bytes);
            let mut input = LogInput::open(&path, &always).expect("opened");
            input.skip_to(150_005).expect("skipped");
            assert_eq!(read_all(&mut input), &text[150_005..]);
            let mut input = LogInput::open(&path, &always).expect("opened");
            input.skip_to(1_000_000).expect("skipped");
            assert_eq!(read_all(&mut input), b"");
        }
    }

    #[test]
    fn other_packers_are_named_with_what_unpacks_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file(&folder, b"\x28\xb5\x2f\xfd....");
        let error = LogInput::open(&path, &always).err().expect("refused").to_string();
        assert!(error.contains("by zstd") && error.contains("zstdcat /"), "{error}");
        let error = refuse_packed(Path::new(STDIN), b"BZh9").expect_err("refused").to_string();
        assert!(error.contains("way: … | bzcat | dbtime log -"), "{error}");
        let cases: [(&[u8], &str); 3] = [
            (b"PK\x03\x04", "funzip a.zip |"),
            (b"\x04\x22\x4d\x18", "lz4cat a.zip |"),
            (b"\x1f\x9d\x90", "zcat a.zip |"),
        ];
        for (magic, unpacker) in cases {
            let error = refuse_packed(Path::new("a.zip"), magic).expect_err("refused").to_string();
            assert!(error.contains(unpacker), "{error}");
        }
        let error = LogInput::open(folder.path(), &always).err().expect("refused").to_string();
        assert!(error.contains("is a folder"), "{error}");
    }
}
