//! Messages between two processes: words as JSON, and open files beside them.
//!
//! A message is a packet of a Unix socket: it comes whole or not at all.

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// What a message may have. Unit: bytes. A socket takes 208 KiB where nobody has set it otherwise
/// (`net.core.wmem_default`), and keeps some of it for itself.
const MAX_MESSAGE_BYTES: usize = 160 << 10;

/// Files beside a message.
const MAX_FILES: usize = 64;

/// One end.
#[derive(Debug)]
pub struct MessageChannel(OwnedFd);

impl MessageChannel {
    /// Both ends.
    ///
    /// # Errors
    /// The system has no file for it.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    /// The end that a process was started with, in the place of its input.
    ///
    /// # Errors
    /// It was not started so.
    pub fn inherited() -> io::Result<Self> {
        let input = rustix::stdio::stdin();
        match rustix::net::sockopt::socket_type(input)? {
            SocketType::SEQPACKET => Ok(Self(input.try_clone_to_owned()?)),
            _ => Err(Errno::NOTSOCK.into()),
        }
    }

    /// For another process.
    pub fn into_file(self) -> OwnedFd {
        self.0
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Nobody is at the other end, or it is too long.
    pub fn send(&self, words: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let words = serde_json::to_vec(words)?;
        if words.len() > MAX_MESSAGE_BYTES || files.len() > MAX_FILES {
            return Err(Errno::MSGSIZE.into());
        }
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FILES))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(Errno::MSGSIZE.into());
        }
        let words = [IoSlice::new(&words)];
        retry_on_intr(|| sendmsg(&self.0, &words, &mut beside, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    /// Waits for a message; `None` when nobody is at the other end any more.
    ///
    /// # Errors
    /// It is none of these words, or it was cut.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let mut words = vec![0; MAX_MESSAGE_BYTES];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FILES))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            let mut words = [IoSliceMut::new(&mut words)];
            recvmsg(&self.0, &mut words, &mut beside, RecvFlags::CMSG_CLOEXEC)
        });
        let received = match received {
            Err(Errno::CONNRESET) => return Ok(None),
            received => received?,
        };
        if received.bytes == 0 {
            return Ok(None);
        }
        if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            return Err(Errno::MSGSIZE.into());
        }
        let mut files = Vec::new();
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(some) = message {
                files.extend(some);
            }
        }
        Ok(Some((serde_json::from_slice(&words[..received.bytes])?, files)))
    }

    /// Waits so long for a message, or for whoever is at the other end to leave it; whether either
    /// has come.
    pub(super) fn has_come(&self, patience: Duration) -> bool {
        let Ok(patience) = Timespec::try_from(patience) else { return true };
        let mut ends = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        // Whatever else fails, the receiving says.
        !matches!(poll(&mut ends, Some(&patience)), Ok(0) | Err(Errno::INTR))
    }

    /// Whether nobody is at the other end any more.
    pub fn is_over(&self) -> bool {
        let mut ends = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let polled = poll(&mut ends, Some(&at_once));
        polled.is_ok() && ends[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn words_come_with_their_files() {
        let (one, other) = MessageChannel::pair().expect("files are free");
        let (reader, mut writer) = io::pipe().expect("files are free");
        one.send(&("first", 1), &[reader.as_fd()]).expect("sent");
        one.send(&("second", 2), &[]).expect("sent");
        assert!(other.has_come(Duration::ZERO) && !one.has_come(Duration::ZERO));
        drop(reader);
        let (words, mut files) =
            other.receive::<(String, u32)>().expect("whole").expect("somebody is there");
        assert_eq!((words, files.len()), (("first".to_owned(), 1), 1));
        writer.write_all(b"through the file").expect("a reader is there");
        drop(writer);
        let mut said = String::new();
        File::from(files.remove(0)).read_to_string(&mut said).expect("text");
        assert_eq!(said, "through the file");
        assert_eq!(other.receive::<(String, u32)>().expect("whole").expect("there").1.len(), 0);
        assert!(!other.is_over());
        drop(one);
        assert!(other.is_over() && other.has_come(Duration::ZERO));
        assert!(other.receive::<u32>().expect("nothing is wrong").is_none());
        assert!(other.send(&1, &[]).is_err());
    }

    #[test]
    fn what_is_too_long_or_too_odd_is_refused() {
        let (one, other) = MessageChannel::pair().expect("files are free");
        let long = "x".repeat(MAX_MESSAGE_BYTES - 2);
        one.send(&long, &[]).expect("it fits");
        assert_eq!(
            other.receive::<String>().expect("whole").expect("there").0.len(),
            MAX_MESSAGE_BYTES - 2
        );
        assert!(one.send(&"x".repeat(MAX_MESSAGE_BYTES), &[]).is_err());
        one.send(&"no number", &[]).expect("sent");
        assert!(other.receive::<u32>().is_err());
        let many = vec![other.0.as_fd(); MAX_FILES + 1];
        assert!(one.send(&1, &many).is_err());
    }
}
