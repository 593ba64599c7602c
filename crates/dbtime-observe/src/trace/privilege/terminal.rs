//! The terminal of a reader that has the whole screen: it is to be as it was also where the reader
//! comes to an end without seeing to that, killed or by a fault.
//!
//! ```text
//!   reader   BorrowedTerminal ── "given back", or the end of the pipe ──► LentTerminal   helper
//! ```

use nix::sys::signal::{SigSet, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Ends colours, leaves the whole screen, shows the cursor. Whatever was written by half is void
/// with the first of them.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?1049l\x1b[?25h";

/// How long a reader that ends may take to close its files, or to give the terminal back.
const END_TIMEOUT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// How long somebody who looks at the terminal may take to make room for [`LEAVE`]. Nobody may be
/// there, and what is attached to servers is not to wait for that.
const WRITE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// A terminal that this process has for itself. Where it ends before the terminal has been given
/// back, the helper restores it. (A reader of its own, between both, may be killed as well.)
#[derive(Debug)]
pub struct BorrowedTerminal(PipeWriter);

impl BorrowedTerminal {
    /// Lends this process's terminal to whichever process restores it (`Capture::lend_terminal`):
    /// its input, its output, and the end of a pipe. To be called while the terminal is as it is
    /// to be again.
    ///
    /// # Errors
    /// There are no more files.
    pub fn lend() -> io::Result<(Self, [OwnedFd; 3])> {
        let (given_back, pipe) = io::pipe()?;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((Self(pipe), [input, output, given_back.into()]))
    }

    /// To be called once the terminal is as it was: from here on the helper leaves it alone.
    pub fn give_back(&mut self) {
        // A helper that has ended restores nothing.
        let _ = self.0.write_all(b".");
    }
}

/// The same terminal, for the helper.
pub(crate) struct LentTerminal {
    input: File,
    output: File,
    modes: Termios,
    /// The other end of the reader's.
    given_back: File,
}

impl LentTerminal {
    /// Takes the terminal's input and output and the end of a pipe, in this order.
    ///
    /// # Errors
    /// They are something else.
    pub(crate) fn new(files: Vec<OwnedFd>) -> io::Result<Self> {
        let files = files.into_iter().map(File::from).collect::<Vec<_>>().try_into();
        let [input, output, given_back]: [File; 3] =
            files.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // Nothing but a terminal is ever written to.
        tcgetattr(&output)?;
        let modes = tcgetattr(&input)?;
        Ok(Self { input, output, modes, given_back })
    }

    /// Restores it where the reader has ended without doing so.
    pub(super) fn take_back(mut self) {
        if !self.is_missing() {
            return;
        }
        // Who has started the reader may have the terminal again, and whoever else changes it then
        // is stopped.
        let mut stopping = SigSet::empty();
        stopping.add(Signal::SIGTTOU);
        // What follows cannot be reported to anybody.
        let _ = stopping.thread_block();
        if self.is_raw() {
            let _ = tcsetattr(&self.input, OptionalActions::Now, &self.modes);
        }
        if is_ready(&self.output, PollFlags::OUT, &WRITE_TIMEOUT) {
            let _ = self.output.write(LEAVE);
        }
    }

    /// Whether the reader has ended and not given it back.
    fn is_missing(&mut self) -> bool {
        is_ready(&self.given_back, PollFlags::IN, &END_TIMEOUT)
            && matches!(self.given_back.read(&mut [0]), Ok(0))
    }

    /// Whether the modes are those that the reader has made of them. A shell sets its own as soon
    /// as it has the terminal again, and wants to keep these.
    fn is_raw(&self) -> bool {
        let mut raw = self.modes.clone();
        raw.make_raw();
        tcgetattr(&self.input).is_ok_and(|now| {
            now.local_modes == raw.local_modes
                && now.input_modes == raw.input_modes
                && now.output_modes == raw.output_modes
        })
    }
}

/// Waits until something can be done with a file, or its other end has gone.
fn is_ready(file: &File, what: PollFlags, patience: &Timespec) -> bool {
    poll(&mut [PollFd::from_borrowed_fd(file.as_fd(), what)], Some(patience)) == Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::LocalModes;

    /// Both ends of a terminal that a reader has made raw, and what the two sides have of it.
    fn lent() -> (File, File, BorrowedTerminal, LentTerminal) {
        let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&far).expect("granted");
        unlockpt(&far).expect("unlocked");
        let name = ptsname(&far, Vec::new()).expect("a name");
        let near = File::options().read(true).write(true).open(name.to_str().expect("text"));
        let near = near.expect("its other end");
        let copy = || OwnedFd::from(near.try_clone().expect("a copy"));
        let (given_back, pipe) = io::pipe().expect("files are free");
        let lent = LentTerminal::new(vec![copy(), copy(), given_back.into()]).expect("a terminal");
        let mut raw = tcgetattr(&near).expect("modes");
        raw.make_raw();
        tcsetattr(&near, OptionalActions::Now, &raw).expect("set");
        (far.into(), near, BorrowedTerminal(pipe), lent)
    }

    fn is_canonical(terminal: &File) -> bool {
        tcgetattr(terminal).expect("modes").local_modes.contains(LocalModes::ICANON)
    }

    fn has_been_left(far: &mut File) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut told = [0; 64];
        is_ready(far, PollFlags::IN, &at_once)
            && far.read(&mut told).is_ok_and(|length| told[..length] == *LEAVE)
    }

    #[test]
    fn what_is_not_given_back_is_restored() {
        let (mut far, near, borrowed, lent) = lent();
        drop(borrowed);
        lent.take_back();
        assert!(is_canonical(&near) && has_been_left(&mut far));
    }

    #[test]
    fn what_is_given_back_or_still_in_use_is_left_alone() {
        for gives_back in [true, false] {
            let (mut far, near, mut borrowed, lent) = lent();
            if gives_back {
                borrowed.give_back();
            }
            lent.take_back();
            assert!(!is_canonical(&near) && !has_been_left(&mut far));
        }
    }

    #[test]
    fn modes_that_somebody_has_set_since_stay() {
        let (mut far, near, borrowed, lent) = lent();
        let mut modes = lent.modes.clone();
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        tcsetattr(&near, OptionalActions::Now, &modes).expect("set");
        drop(borrowed);
        lent.take_back();
        assert!(!is_canonical(&near) && has_been_left(&mut far));
    }

    #[test]
    fn what_is_no_terminal_is_refused() {
        let (reader, writer) = io::pipe().expect("files are free");
        let copy = reader.try_clone().expect("a copy");
        assert!(LentTerminal::new(vec![reader.into(), writer.into(), copy.into()]).is_err());
        assert!(LentTerminal::new(Vec::new()).is_err());
    }
}
