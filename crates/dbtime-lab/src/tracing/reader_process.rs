//! The reader's process, as its session has it.

use super::attended_stream::{AttendedStream, stream_ends};
use super::reader_messages::{FrameStream, ReaderBegin, ReaderCommand, ReaderError, ReaderStart};
use crate::error::LabError;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_batch::RequestBatch;
use dbtime_observe::trace::{
    BorrowedTerminal, MessageChannel, TraceError, WaitedChild, wait_for_end,
};
use serde::de::DeserializeOwned;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

/// The first argument that makes this program a reader.
pub const READER: &str = "trace-reader";

/// A reader. It ends when this is dropped, which waits for that: what is attached goes with it. One
/// that somebody has stopped is made to go on where it is waited for.
#[derive(Debug)]
pub(super) struct ReaderProcess {
    /// Closed once it is to end, or has ended.
    stream: FrameStream<AttendedStream>,
    child: Child,
}

impl ReaderProcess {
    /// Starts one, with the rights of this process, and waits until it watches. What it has to
    /// say of a fault of its own goes to `stderr`; `note` is told that it stands still.
    pub(super) fn start(
        start: &ReaderStart,
        stderr: Stdio,
        note: fn(&str),
    ) -> Result<(Self, ReaderBegin, Option<BorrowedTerminal>), LabError> {
        let failed = |error: io::Error| reader_error(format!("is not there: {error}"));
        let lent = start.options.borrows_terminal.then(BorrowedTerminal::lend).transpose();
        let (terminal, lent) = lent.map_err(failed)?.unzip();
        let (own, far) = stream_ends().map_err(failed)?;
        let (channel, other) = MessageChannel::pair().map_err(failed)?;
        let child = Command::new("/proc/self/exe")
            .arg0("dbtime")
            .arg(READER)
            .stdin(Stdio::from(other.into_file()))
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .map_err(failed)?;
        let stream = AttendedStream::new(own, WaitedChild::of(&child), note);
        let mut reader = Self { stream: FrameStream::new(stream), child };
        let mut files: Vec<BorrowedFd<'_>> = vec![far.as_fd()];
        files.extend(lent.iter().flatten().map(AsFd::as_fd));
        let sent = channel.send(start, &files);
        // It ends where it is not sent anything, and is waited for.
        drop((channel, far, lent));
        if let Err(error) = sent {
            return Err(reader_error(format!("cannot be given its options: {error}")));
        }
        let begin = reader.reply()?;
        Ok((reader, begin, terminal))
    }

    /// As whoever waits for it has it.
    pub(super) fn waited(&self) -> WaitedChild {
        WaitedChild::of(&self.child)
    }

    /// That it was stopped since the last time, and had to be made to go on, for people.
    pub(super) fn take_stop(&mut self) -> Option<String> {
        self.stream.get_mut().take_stop().then(|| {
            format!(
                "the reader of client requests, process {}, was stopped by another process; \
                 dbtime has resumed it, and what there was no room for meanwhile is `dropped` in \
                 the ledger",
                self.child.id()
            )
        })
    }

    /// The reply to a command.
    pub(super) fn call<T: DeserializeOwned>(
        &mut self,
        command: &ReaderCommand,
    ) -> Result<T, LabError> {
        self.send(command)?;
        self.reply()
    }

    /// The reply to a command that hands requests on, and these.
    pub(super) fn call_with_requests<T: DeserializeOwned>(
        &mut self,
        command: &ReaderCommand,
    ) -> Result<(Vec<TracedRequest>, T), LabError> {
        self.send(command)?;
        let mut requests = Vec::new();
        loop {
            let batch = self.receive::<RequestBatch<Vec<TracedRequest>>>()?.into_requests();
            match (requests.is_empty(), batch.is_empty()) {
                (_, true) => break,
                (true, false) => requests = batch,
                (false, false) => requests.extend(batch),
            }
        }
        Ok((requests, self.reply()?))
    }

    fn send(&mut self, command: &ReaderCommand) -> Result<(), LabError> {
        let sent = self.stream.send(command).and_then(|()| self.stream.flush());
        sent.map_err(|_| self.ended())
    }

    fn reply<T: DeserializeOwned>(&mut self) -> Result<T, LabError> {
        Ok(self.receive::<Result<T, ReaderError>>()??)
    }

    fn receive<T: DeserializeOwned>(&mut self) -> Result<T, LabError> {
        match self.stream.receive() {
            Ok(Some(message)) => Ok(message),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(reader_error(format!("sends what is no message: {error}")))
            }
            _ => Err(self.ended()),
        }
    }

    /// The error of a reader that is not there any more.
    #[cold]
    fn ended(&mut self) -> LabError {
        let stream = self.stream.get_mut();
        stream.close();
        let status = wait_for_end(&mut self.child, || stream.look()).ok();
        let how = match status.map(|status| (status.signal(), status.code())) {
            Some((Some(signal), _)) => format!("was ended by signal {signal}"),
            Some((_, Some(code))) => format!(
                "ended with exit code {code}, which is a bug in dbtime: please report the lines \
                 that it printed"
            ),
            _ => "was ended".to_owned(),
        };
        reader_error(format!("(process {}) {how}", self.child.id()))
    }
}

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // It ends when the other end of its stream is closed.
        let stream = self.stream.get_mut();
        stream.close();
        // One that is not waited for is only not taken out of the system's list.
        let _ = wait_for_end(&mut self.child, || stream.look());
    }
}

fn reader_error(why: String) -> LabError {
    TraceError::Reader(why).into()
}
