//! What is written to the terminal, which may take its time: somebody has stopped it, the line is
//! slow, or nobody reads it. Nothing waits for it but the end, and that not for long.

use crate::screen::takes_output;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A terminal that is written to without waiting. What it does not take waits here.
///
/// Writing never fails: that the terminal has gone is found out by the keyboard, and what draws
/// would print such an error, to nobody.
#[derive(Clone)]
pub(super) struct TopOutput(Rc<RefCell<UnsentOutput>>);

struct UnsentOutput {
    terminal: File,
    unsent: Vec<u8>,
}

impl TopOutput {
    /// The terminal of stdout. To be called with the rights of whoever has started dbtime.
    pub(super) fn open() -> io::Result<Self> {
        let stdout = io::stdout();
        let terminal = match opened_anew(stdout.as_fd()) {
            Ok(terminal) => terminal,
            // As after `su`: writing may wait then, although there was room.
            Err(_) => stdout.as_fd().try_clone_to_owned()?.into(),
        };
        Ok(Self::to(terminal))
    }

    fn to(terminal: File) -> Self {
        Self(Rc::new(RefCell::new(UnsentOutput { terminal, unsent: Vec::new() })))
    }

    /// Sends what the terminal takes; returns whether that was all.
    pub(super) fn send(&self) -> bool {
        self.0.borrow_mut().send()
    }

    /// Forgets what waits.
    pub(super) fn discard(&self) {
        self.0.borrow_mut().unsent.clear();
    }

    /// Sends what waits, and waits for that, not longer than so long.
    pub(super) fn send_within(&self, patience: Duration) -> bool {
        let begin = Instant::now();
        loop {
            let mut output = self.0.borrow_mut();
            if output.send() {
                return true;
            }
            let left = patience.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return false;
            }
            let mut ends = [PollFd::from_borrowed_fd(output.terminal.as_fd(), PollFlags::OUT)];
            // Whatever ends it, it is looked again.
            let _ = poll(&mut ends, Timespec::try_from(left).ok().as_ref());
        }
    }
}

/// The same terminal as another file: that it never waits is so of this one alone, and not of the
/// one that a shell has as well.
fn opened_anew(terminal: BorrowedFd<'_>) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", terminal.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?.into())
}

impl UnsentOutput {
    fn send(&mut self) -> bool {
        while !self.unsent.is_empty() && takes_output(&self.terminal) {
            match self.terminal.write(&self.unsent) {
                Ok(0) => return false,
                Ok(length) => {
                    self.unsent.drain(..length);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Nobody is there to see it.
                Err(_) => self.unsent.clear(),
            }
        }
        self.unsent.is_empty()
    }
}

impl Write for TopOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().unsent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    use std::io::Read;

    /// More than a terminal keeps for who does not read. Unit: bytes.
    const MUCH: usize = 1 << 20;

    const SOON: Duration = Duration::from_millis(1);

    /// Both ends of a terminal that changes nothing on the way.
    fn terminal() -> (File, File) {
        let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&far).expect("granted");
        unlockpt(&far).expect("unlocked");
        let name = ptsname(&far, Vec::new()).expect("a name");
        let near = File::options().read(true).write(true).open(name.to_str().expect("text"));
        let near = near.expect("its other end");
        let mut raw = tcgetattr(&near).expect("modes");
        raw.make_raw();
        tcsetattr(&near, OptionalActions::Now, &raw).expect("set");
        (far.into(), near)
    }

    #[test]
    fn what_nobody_reads_waits_and_arrives_in_whole() {
        let (mut far, near) = terminal();
        let mut output = TopOutput::to(opened_anew(near.as_fd()).expect("it is there"));
        let text: Vec<u8> = (0..MUCH).map(|at| b'a' + (at % 23) as u8).collect();
        output.write_all(&text).expect("it never fails");
        assert!(!output.send(), "nobody has read anything");
        assert!(!output.send_within(SOON));
        let mut read = vec![0; MUCH];
        let mut length = 0;
        while length < MUCH {
            output.send_within(SOON);
            let mut ends = [PollFd::from_borrowed_fd(far.as_fd(), PollFlags::IN)];
            let soon = Timespec::try_from(SOON).expect("a short time");
            if poll(&mut ends, Some(&soon)) == Ok(1) {
                length += far.read(&mut read[length..]).expect("there is some");
            }
        }
        assert!(output.send() && read == text);
    }

    #[test]
    fn a_terminal_that_has_gone_takes_everything() {
        let (far, near) = terminal();
        let mut output = TopOutput::to(opened_anew(near.as_fd()).expect("it is there"));
        output.write_all(&vec![b'x'; MUCH]).expect("it never fails");
        assert!(!output.send(), "nobody has read anything");
        drop(far);
        assert!(output.send_within(Duration::from_secs(3600)));
    }
}
