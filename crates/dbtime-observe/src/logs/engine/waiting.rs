//! Reading what may never come: a pipe that has fallen silent does not keep a digest from being
//! ended early, with what was read until then.
//!
//! ```text
//!   CountedRead   gives `WouldBlock` after a moment in which a pipe had nothing
//!   PatientRead   tries again, unless that is to end: then the beginning is what there is of it
//!   WatchedRead   tries again, unless it is to end: then what there is ends in an error
//! ```

use super::blocks::stop_error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::Cell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::rc::Rc;

/// Breaks to end reading.
pub(super) type GoesOn<'a> = &'a dyn Fn() -> ControlFlow<()>;

/// Never breaks: for files, which never wait.
pub(super) fn always() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// How long a pipe may have nothing before it is looked whether reading is to end.
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Counts what is read.
pub(super) struct CountedRead<R> {
    pub(super) inner: R,
    pub(super) count: Rc<Cell<u64>>,
    /// Whether it may have nothing for a while; a file never does.
    pub(super) is_pipe: bool,
}

impl<R: Read + AsFd> Read for CountedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_pipe {
            let mut ends = [PollFd::new(&self.inner, PollFlags::IN)];
            if poll(&mut ends, Some(&MOMENT))? == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// Waits for what is to come; where that is to end, nothing comes.
pub(super) struct PatientRead<'a, R> {
    pub(super) inner: R,
    pub(super) goes_on: GoesOn<'a>,
}

impl<R: Read> Read for PatientRead<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if (self.goes_on)().is_break() {
                        return Ok(0);
                    }
                }
                read => return read,
            }
        }
    }
}

/// Waits for what is to come, unless reading is to end.
pub(super) struct WatchedRead<'a, R> {
    pub(super) inner: R,
    pub(super) goes_on: GoesOn<'a>,
}

impl<R: Read> Read for WatchedRead<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if (self.goes_on)().is_break() {
                return Err(stop_error());
            }
            match self.inner.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::engine::blocks::{BlockDivider, BlockSizes};
    use crate::logs::engine::test_lines::TestLines;
    use std::io::Write;

    /// What a divider gives of a source, and whether it was ended early.
    fn blocks(source: impl Read) -> (Vec<Vec<u8>>, bool) {
        let sizes = BlockSizes { block: 1 << 10, longest: 1 << 10 };
        let mut divider = BlockDivider::new(source, 0, &TestLines, sizes);
        let mut blocks = Vec::new();
        while let Some(block) = divider.next(Vec::new()).expect("read") {
            blocks.push(block.bytes);
        }
        (blocks, divider.is_stopped())
    }

    #[test]
    fn a_silent_pipe_can_be_left_with_what_it_gave() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"R a\nR b\nR c").expect("written");
        let looks = Cell::new(0);
        let goes_on = || {
            looks.set(looks.get() + 1);
            if looks.get() > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let inner = CountedRead { inner: reader, count: Rc::default(), is_pipe: true };
        let count = Rc::clone(&inner.count);
        let found = blocks(WatchedRead { inner, goes_on: &goes_on });
        assert_eq!(found, (vec![b"R a\n".to_vec()], true));
        assert_eq!(count.get(), 11);
        drop(writer);
    }

    #[test]
    fn a_record_without_end_can_be_left() {
        let looks = Cell::new(0);
        let goes_on = || {
            looks.set(looks.get() + 1);
            if looks.get() > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = blocks(WatchedRead { inner: io::repeat(b'a'), goes_on: &goes_on });
        assert_eq!(found, (Vec::new(), true));
    }

    #[test]
    fn a_beginning_is_waited_for() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let counted = CountedRead { inner: reader, count: Rc::default(), is_pipe: true };
        let late = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(250));
            writer.write_all(b"late").expect("written");
        });
        let mut text = String::new();
        let mut patient = PatientRead { inner: counted, goes_on: &always };
        patient.read_to_string(&mut text).expect("read");
        late.join().expect("written");
        assert_eq!(text, "late");
    }

    #[test]
    fn a_beginning_may_be_all_that_comes() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"soon").expect("written");
        let inner = CountedRead { inner: reader, count: Rc::default(), is_pipe: true };
        let mut text = String::new();
        let mut patient = PatientRead { inner, goes_on: &|| ControlFlow::Break(()) };
        patient.read_to_string(&mut text).expect("read");
        assert_eq!(text, "soon");
        drop(writer);
    }
}
