//! How much is read of a file that says itself how long its pieces are: one that is full of holes
//! takes no room on disk and may say anything.

use object::ReadRef;
use std::cell::Cell;
use std::ops::Range;

/// What is read of a file in all. Unit: bytes; MariaDB with all that debuggers need is of 314 MB.
const MAX_BYTES: u64 = 1 << 30;

/// What is left of it.
#[derive(Debug)]
pub(crate) struct ReadBudget(Cell<u64>);

impl Default for ReadBudget {
    fn default() -> Self {
        Self(Cell::new(MAX_BYTES))
    }
}

impl ReadBudget {
    /// The file, of which no more can be read than is left.
    pub(crate) fn of<R>(&self, file: R) -> BoundedFile<'_, R> {
        BoundedFile { file, budget: self }
    }

    /// Takes so many bytes of what is left.
    fn take(&self, bytes: u64) -> Result<(), ()> {
        self.0.set(self.0.get().checked_sub(bytes).ok_or(())?);
        Ok(())
    }
}

/// A file that is read so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedFile<'a, R> {
    file: R,
    budget: &'a ReadBudget,
}

impl<'a, R: ReadRef<'a>> ReadRef<'a> for BoundedFile<'a, R> {
    fn len(self) -> Result<u64, ()> {
        self.file.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.budget.take(size)?;
        self.file.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        // Names: the file itself ends them.
        let name = self.file.read_bytes_at_until(range, delimiter)?;
        self.budget.take(name.len() as u64)?;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants::ProgramConstants;
    use super::super::imports::ProgramImports;
    use super::super::program::ServerProgram;
    use super::*;
    use std::fs::File;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn nothing_is_read_beyond_it() {
        let budget = ReadBudget(Cell::new(9));
        let file = budget.of(&b"0123456789"[..]);
        assert_eq!(file.read_bytes_at(2, 3), Ok(&b"234"[..]));
        assert_eq!(file.read_bytes_at(0, 7), Err(()));
        assert_eq!(file.read_bytes_at_until(4..10, b'7'), Ok(&b"456"[..]));
        assert_eq!((file.read_bytes_at(0, 4), file.read_bytes_at(0, 3).is_ok()), (Err(()), true));
    }

    /// A program with so much code and so many symbols, all of it a hole.
    fn full_of_holes(code: u64, symbols: u64) -> File {
        let mut head = vec![0; 64];
        head[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        (head[16], head[18], head[20], head[40], head[52], head[58]) = (3, 62, 1, 64, 64, 64);
        (head[60], head[62]) = (4, 3);
        let section = |name: u32, kind: u32, link: u32, offset: u64, size: u64, entry: u64| {
            let mut section = [name, kind].map(u32::to_le_bytes).concat();
            section.extend([6, 0x1000, offset, size].map(u64::to_le_bytes).concat());
            section.extend([link, 0].map(u32::to_le_bytes).concat());
            section.extend([1, entry].map(u64::to_le_bytes).concat());
            section
        };
        let names = b"\0.text\0.rodata\0";
        let sections = [
            section(0, 0, 0, 0, 0, 0),
            section(1, 1, 0, 4096, code, 0),
            section(0, 11, 3, 4096, symbols, 24),
            section(0, 3, 0, 512, names.len() as u64, 0),
        ];
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[head, sections.concat()].concat()).expect("room");
        file.seek(SeekFrom::Start(512)).and_then(|_| file.write_all(names)).expect("room");
        file.set_len(8192 + code.max(symbols)).expect("holes take no room");
        file
    }

    #[test]
    fn a_file_full_of_holes_is_refused() {
        let file = full_of_holes(4 << 40, 24);
        assert!(
            ServerProgram::read(&file).expect_err("too much code").contains("4398046511104 bytes")
        );
        assert!(ProgramConstants::read(&file).is_ok() && ProgramImports::read(&file).is_ok());
        let file = full_of_holes(4096, 3 << 30);
        assert!(ServerProgram::read(&file).is_err());
        assert!(ProgramConstants::read(&file).is_err() && ProgramImports::read(&file).is_err());
    }
}
