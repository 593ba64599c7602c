//! The stream to a process that this one has started, which is made to go on where somebody has
//! stopped it and it is waited for; that it stands still otherwise is said.

use dbtime_observe::trace::{StandstillLook, WAKE_INTERVAL, WaitedChild};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

/// Says of a reader that is waited for that it stands still.
#[derive(Debug)]
struct StandstillNote {
    reader: u32,
    look: StandstillLook,
    /// Is told at once: whoever waits for the reader returns nothing meanwhile.
    note: fn(&str),
}

impl StandstillNote {
    fn of(child: WaitedChild, note: fn(&str)) -> Self {
        Self { reader: child.process(), look: StandstillLook::of(child), note }
    }

    /// Looks at it, to be called while it is waited for.
    fn look(&mut self) {
        if let Some(why) = self.look.look() {
            (self.note)(&format!(
                "the reader of client requests, process {}, {why}; it is waited for, and a \
                 second Ctrl-C ends dbtime without it",
                self.reader
            ));
        }
    }
}

/// Two ends of a stream: for [`AttendedStream::new`], and for the child.
///
/// # Errors
/// The system has no such streams, or no such waits.
pub(super) fn stream_ends() -> io::Result<(UnixStream, UnixStream)> {
    let (own, far) = UnixStream::pair()?;
    own.set_read_timeout(Some(WAKE_INTERVAL))?;
    own.set_write_timeout(Some(WAKE_INTERVAL))?;
    Ok((own, far))
}

#[derive(Debug)]
pub(super) struct AttendedStream {
    /// `None` once it is closed.
    stream: Option<UnixStream>,
    child: WaitedChild,
    standstill: StandstillNote,
    /// Whether it was found stopped, and nobody has been told.
    was_stopped: bool,
}

impl AttendedStream {
    /// Over the own one of [`stream_ends`], whose other is the child's. `note` is told that it
    /// stands still.
    pub(super) fn new(own: UnixStream, child: WaitedChild, note: fn(&str)) -> Self {
        let standstill = StandstillNote::of(child, note);
        Self { stream: Some(own), child, standstill, was_stopped: false }
    }

    /// Closes it: nothing comes or goes by it any more.
    pub(super) fn close(&mut self) {
        self.stream = None;
    }

    /// Looks whether the child stands still, to be called while its end is waited for.
    pub(super) fn look(&mut self) {
        self.standstill.look();
    }

    /// Whether it was found stopped since the last time.
    pub(super) fn take_stop(&mut self) -> bool {
        std::mem::take(&mut self.was_stopped)
    }

    /// Does it, however long it takes.
    fn attend<T>(
        &mut self,
        mut act: impl FnMut(&mut UnixStream) -> io::Result<T>,
    ) -> io::Result<T> {
        let stream = self.stream.as_mut().ok_or(ErrorKind::NotConnected)?;
        loop {
            match act(stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.was_stopped |= self.child.wake();
                    self.standstill.look();
                }
                done => {
                    self.standstill.look.clear();
                    return done;
                }
            }
        }
    }
}

impl Read for AttendedStream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.attend(|stream| stream.read(to))
    }
}

impl Write for AttendedStream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.attend(|stream| stream.write(from))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attend(UnixStream::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_observe::trace::wait_for_end;
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};

    #[test]
    fn who_is_stopped_answers_all_the_same_and_that_is_told_once() {
        let (own, far) = stream_ends().expect("files are free");
        let far = || Stdio::from(OwnedFd::from(far.try_clone().expect("a copy")));
        let mut child = Command::new("cat").stdin(far()).stdout(far()).spawn().expect("it starts");
        let waited = WaitedChild::of(&child);
        let mut stream = AttendedStream::new(own, waited, |_| ());
        let mut answer = [0; 4];
        stream.write_all(b"word").expect("it is there");
        stream.read_exact(&mut answer).expect("it answers");
        assert!(answer == *b"word" && !stream.take_stop());
        kill_process(Pid::from_child(&child), Signal::STOP).expect("it is there");
        stream.write_all(b"more").expect("it is there");
        stream.read_exact(&mut answer).expect("it answers");
        assert!(answer == *b"more" && stream.take_stop() && !stream.take_stop());
        // It ends by itself: nothing can come to it any more.
        stream.close();
        assert!(wait_for_end(&mut child, || stream.look()).expect("it ends").success());
        let refused = stream.read(&mut answer).expect_err("it is closed");
        assert_eq!(refused.kind(), ErrorKind::NotConnected);
    }
}
