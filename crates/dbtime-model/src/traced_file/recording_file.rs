//! The recording in a file, and how that ends: whoever shows or joins one judges it by this.

use super::{RecordedPart, TraceBegin, TraceFileError, TraceReader};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Unit: bytes; some blocks.
const READ_BYTES: usize = 256 << 10;

/// A recording that is read from its beginning.
#[derive(Debug)]
pub struct RecordingFile {
    reader: TraceReader<CountedFile>,
    /// Whether its end was read.
    has_end: bool,
}

/// How the file of a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingEnd {
    /// With the ledger.
    Whole,
    /// With the ledger, and so many bytes behind it, which nobody has read: what that is may be
    /// told by whoever made the file. Unit: bytes.
    Continued(u64),
    /// Behind a block, without a ledger.
    Unfinished,
    /// In the middle of a block or a line.
    Cut,
}

impl RecordingFile {
    /// Reads the beginning.
    ///
    /// # Errors
    /// The file cannot be read, or is no recording of this version or an earlier one.
    pub fn begin(file: File) -> Result<(TraceBegin, Self), TraceFileError> {
        let from = BufReader::with_capacity(READ_BYTES, file);
        let (begin, reader) = TraceReader::begin(CountedFile { from, taken: 0 })?;
        Ok((begin, Self { reader, has_end: false }))
    }

    /// As [`TraceReader::next`].
    ///
    /// # Errors
    /// As there.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on behind an error")]
    pub fn next(&mut self) -> Result<Option<RecordedPart>, TraceFileError> {
        let part = self.reader.next()?;
        self.has_end |= matches!(part, Some(RecordedPart::End(_)));
        Ok(part)
    }

    /// How it ends, once it was read up to there.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn end(&self) -> io::Result<RecordingEnd> {
        Ok(match (self.has_end, self.reader.is_cut()) {
            (true, _) => match self.reader.source().rest()? {
                0 => RecordingEnd::Whole,
                bytes => RecordingEnd::Continued(bytes),
            },
            (false, true) => RecordingEnd::Cut,
            (false, false) => RecordingEnd::Unfinished,
        })
    }
}

impl RecordingEnd {
    /// Whether it has no ledger: what was lost is not known.
    pub fn is_early(self) -> bool {
        matches!(self, Self::Unfinished | Self::Cut)
    }

    /// What is told of a file that ends so; `None`: nothing.
    pub fn notice_of(self, file: &Path) -> Option<String> {
        let file = file.display();
        let early = |how: &str| Some(format!("{file} ends {how}: what came behind is not known"));
        match self {
            Self::Whole => None,
            Self::Continued(bytes) => {
                Some(format!("{file}: {bytes} bytes behind the end of the recording, not read"))
            }
            Self::Unfinished => early("without its ledger"),
            Self::Cut => early("in the middle"),
        }
    }
}

/// A file of which it is known how far it was read.
#[derive(Debug)]
struct CountedFile {
    from: BufReader<File>,
    /// Unit: bytes.
    taken: u64,
}

impl CountedFile {
    /// How many bytes have not been read; none of a pipe, whose end nobody knows.
    fn rest(&self) -> io::Result<u64> {
        let found = self.from.get_ref().metadata()?;
        let length = if found.is_file() { found.len() } else { 0 };
        Ok(length.saturating_sub(self.taken))
    }
}

impl Read for CountedFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(to)?;
        self.taken += length as u64;
        Ok(length)
    }
}

impl BufRead for CountedFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.taken += length as u64;
        self.from.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_was_not_taken_and_not_what_was_not_buffered() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("it");
        std::fs::write(&path, "a line\nand more").expect("written");
        let open = |path: &Path| CountedFile {
            from: BufReader::new(File::open(path).expect("opened")),
            taken: 0,
        };
        let mut file = open(&path);
        assert_eq!(file.rest().expect("a file"), 15);
        let mut line = String::new();
        file.read_line(&mut line).expect("a line");
        assert_eq!(file.rest().expect("a file"), 8);
        let mut word = [0; 3];
        file.read_exact(&mut word).expect("a word");
        assert_eq!((&word, file.rest().expect("a file")), (b"and", 5));
        assert_eq!(open(Path::new("/dev/zero")).rest().expect("a device"), 0);
    }
}
