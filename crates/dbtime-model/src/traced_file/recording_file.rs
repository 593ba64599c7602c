//! The recording in a file, and how that ends: whoever shows or joins one judges it by this.

use super::{RecordedPart, TraceBegin, TraceFileError, TraceReader};
use crate::units::noun_for;
use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::Path;

/// Unit: bytes; some blocks.
const READ_BYTES: usize = 256 << 10;

/// A recording that is read from its beginning.
#[derive(Debug)]
pub struct RecordingFile {
    reader: TraceReader<BufReader<File>>,
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
        let (begin, reader) = TraceReader::begin(BufReader::with_capacity(READ_BYTES, file))?;
        Ok((begin, Self { reader }))
    }

    /// As [`TraceReader::next`].
    ///
    /// # Errors
    /// As there.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on behind an error")]
    pub fn next(&mut self) -> Result<Option<RecordedPart>, TraceFileError> {
        self.reader.next()
    }

    /// How it ends, once it was read up to there.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn end(&self) -> io::Result<RecordingEnd> {
        Ok(match (self.reader.is_over(), self.reader.is_cut()) {
            (true, _) => match rest(self.reader.source())? {
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
        let early = |how: &str| Some(format!("{file} ends {how}: the rest is unknown"));
        match self {
            Self::Whole => None,
            Self::Continued(bytes) => {
                let noun = noun_for(bytes, "byte");
                Some(format!("{file}: {bytes} {noun} after the end of the recording, not read"))
            }
            Self::Unfinished => early("without its ledger"),
            Self::Cut => early("in the middle"),
        }
    }
}

/// How many bytes have not been read; none of a pipe, whose end nobody knows.
fn rest(from: &BufReader<File>) -> io::Result<u64> {
    let mut file = from.get_ref();
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(0);
    }
    let taken = file.stream_position()?.saturating_sub(from.buffer().len() as u64);
    Ok(found.len().saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, Read};

    #[test]
    fn the_rest_is_what_was_not_taken_and_not_what_was_not_buffered() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("it");
        std::fs::write(&path, "a line\nand more").expect("written");
        let open = |path: &Path| BufReader::new(File::open(path).expect("opened"));
        let mut file = open(&path);
        assert_eq!(rest(&file).expect("a file"), 15);
        let mut line = String::new();
        file.read_line(&mut line).expect("a line");
        assert_eq!(rest(&file).expect("a file"), 8);
        let mut word = [0; 3];
        file.read_exact(&mut word).expect("a word");
        assert_eq!((&word, rest(&file).expect("a file")), (b"and", 5));
        assert_eq!(rest(&open(Path::new("/dev/zero"))).expect("a device"), 0);
    }
}
