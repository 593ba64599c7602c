//! A file of which it is known how far it was read, so that what stands behind its end is noticed.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// A file that is read from its beginning.
pub(super) struct CountedFile {
    from: BufReader<File>,
    taken: Rc<Cell<u64>>,
}

/// What of it has not been read.
pub(super) struct FileRest {
    file: File,
    taken: Rc<Cell<u64>>,
}

impl CountedFile {
    /// Opens it.
    ///
    /// # Errors
    /// As opening.
    pub(super) fn open(path: &Path) -> io::Result<(Self, FileRest)> {
        let (file, taken) = (File::open(path)?, Rc::new(Cell::new(0)));
        let rest = FileRest { file: file.try_clone()?, taken: Rc::clone(&taken) };
        Ok((Self { from: BufReader::new(file), taken }, rest))
    }

    fn count(&self, bytes: usize) {
        self.taken.set(self.taken.get() + bytes as u64);
    }
}

impl Read for CountedFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(to)?;
        self.count(length);
        Ok(length)
    }
}

impl BufRead for CountedFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.count(length);
        self.from.consume(length);
    }
}

impl FileRest {
    /// How many bytes that is; none of a pipe, whose end nobody knows.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        let found = self.file.metadata()?;
        let length = if found.is_file() { found.len() } else { 0 };
        Ok(length.saturating_sub(self.taken.get()))
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
        let (mut file, rest) = CountedFile::open(&path).expect("opened");
        assert_eq!(rest.bytes().expect("a file"), 15);
        let mut line = String::new();
        file.read_line(&mut line).expect("a line");
        assert_eq!(rest.bytes().expect("a file"), 8);
        let mut word = [0; 3];
        file.read_exact(&mut word).expect("a word");
        assert_eq!((&word, rest.bytes().expect("a file")), (b"and", 5));
        let (_, endless) = CountedFile::open(Path::new("/dev/zero")).expect("opened");
        assert_eq!(endless.bytes().expect("a device"), 0);
    }
}
