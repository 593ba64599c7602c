//! One connection: its socket, what is still to be sent, and what has arrived but is no whole yet.

use super::io_failure::IoFailure;
use super::protocol::Protocol;
use crate::drive::shard::AnswerDelay;
use dbtime_load::connection_op::OwnedConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::{MonoNanos, Nanos, StatementId};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::ClientConnection;
use std::io::{self, ErrorKind, Read, Write};

/// How far a connection is, with what is known of its making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionStage {
    /// There is none.
    Down,
    /// One is to be made as soon as few enough others are being made, or a pause is over.
    Waiting {
        /// When the attempt to connect began; `None` before its turn.
        since: Option<MonoNanos>,
        /// When it goes on.
        retry_at: MonoNanos,
    },
    /// The socket is being connected.
    Connecting(ConnectionAttempt),
    /// The conversation has begun, the server has not let us in yet.
    Handshaking(ConnectionAttempt),
    /// Statements may be executed.
    Up,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionAttempt {
    /// When it began.
    pub(super) since: MonoNanos,
    /// Which of the host's addresses it is made to.
    pub(super) address_index: usize,
}

impl ConnectionStage {
    /// When the attempt to connect began that is under way.
    pub(super) fn since(&self) -> Option<MonoNanos> {
        match self {
            Self::Waiting { since, .. } => *since,
            Self::Connecting(attempt) | Self::Handshaking(attempt) => Some(attempt.since),
            Self::Down | Self::Up => None,
        }
    }
}

/// The way to a server.
pub(super) struct SocketChannel {
    pub(super) socket: OwnedFd,
    /// What encrypts it, from the moment it is asked for.
    pub(super) tls: Option<Box<ClientConnection>>,
    /// Whether encryption is being negotiated.
    is_negotiating: bool,
}

impl SocketChannel {
    /// Not encrypted.
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, tls: None, is_negotiating: false }
    }

    /// Begins to negotiate encryption.
    pub(super) fn encrypt(&mut self, tls: Box<ClientConnection>) {
        self.tls = Some(tls);
        self.is_negotiating = true;
    }

    /// Whether the negotiation of encryption has just ended.
    fn has_negotiated(&mut self) -> bool {
        let is_done = self.tls.as_ref().is_some_and(|tls| !tls.is_handshaking());
        let just = self.is_negotiating && is_done;
        self.is_negotiating &= !just;
        just
    }
}

/// What waits for its connection.
#[derive(Debug)]
pub(super) enum PendingWork {
    /// A statement of the workload.
    Execute { statement: StatementId, parameters: Vec<SqlValue>, needs_row: bool },
    /// What a script asks.
    Perform(OwnedConnectionOp),
}

pub(super) struct SocketConnection<P> {
    pub(super) stage: ConnectionStage,
    pub(super) protocol: P,
    /// From [`ConnectionStage::Connecting`] on.
    pub(super) channel: Option<SocketChannel>,
    /// What names it at both of its ends, or did when it was lost.
    pub(super) key: Option<ConnectionKey>,
    /// Bytes to be sent, of which `sent` have been.
    pub(super) out: Vec<u8>,
    sent: usize,
    /// Bytes to be sent that a simulated link is passing.
    pub(super) passing: usize,
    /// Arrived bytes that are no whole yet.
    pub(super) held: Vec<u8>,
    /// Bytes that were read from the socket.
    pub(super) received: u64,
    /// Bytes that a simulated link has passed or is passing, of those that were received or are
    /// still in the socket; zero without one.
    pub(super) passed: u64,
    /// While a simulated link is passing an answer: how long that had been there before.
    pub(super) arriving: Option<AnswerDelay>,
    /// Which socket it is of all that it had: what is held back of an earlier one is gone with it.
    pub(super) epoch: u32,
    /// Whether the reactor waits until more can be sent.
    pub(super) is_blocked: bool,
    /// Attempts that failed in a row.
    pub(super) failures: u32,
    /// Whether any attempt has not.
    pub(super) was_made: bool,
    /// How many connections had been made when the last of them failed: it may be tried in its turn
    /// when one more has been. `None`: none has failed.
    pub(super) refused_at: Option<u64>,
    pub(super) pending: Option<PendingWork>,
    /// Statements under way.
    pub(super) unanswered: u32,
    /// Whether a script has asked something of it: it is told of a loss, whenever that happens.
    pub(super) is_scripted: bool,
    /// Whether the transaction under way has had an answer: what was begun is tied to this socket.
    pub(super) is_used: bool,
    /// Why the socket was lost between two statements of a transaction.
    pub(super) lost: Option<DatabaseFailure>,
    /// By when the statement must have been answered.
    pub(super) deadline: Option<MonoNanos>,
}

/// What became of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendStatus {
    /// Everything.
    All,
    /// The socket takes no more for now.
    Blocked,
}

impl<P: Protocol> SocketConnection<P> {
    pub(super) fn new(protocol: P) -> Self {
        Self {
            stage: ConnectionStage::Down,
            protocol,
            channel: None,
            key: None,
            out: Vec::new(),
            sent: 0,
            passing: 0,
            held: Vec::new(),
            received: 0,
            passed: 0,
            arriving: None,
            epoch: 0,
            is_blocked: false,
            failures: 0,
            was_made: false,
            refused_at: None,
            pending: None,
            unanswered: 0,
            is_scripted: false,
            is_used: false,
            lost: None,
            deadline: None,
        }
    }

    /// Sends what is to be sent.
    #[inline]
    pub(super) fn send(&mut self) -> Result<SendStatus, IoFailure> {
        let Some(SocketChannel { socket, tls, .. }) = &mut self.channel else {
            return Err(Errno::NOTCONN.into());
        };
        if let Some(tls) = tls {
            return send_encrypted(tls, socket, &mut self.out);
        }
        while self.sent < self.out.len() {
            match send(&*socket, &self.out[self.sent..], SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(SendStatus::Blocked),
                Err(error) => return Err(error.into()),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(SendStatus::All)
    }

    /// Reads into `buffer`, no more than a simulated link has passed; `Ok(None)` when nothing is
    /// there for now.
    #[inline]
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, IoFailure> {
        // Where all of that was read, nothing is there, or the end of the connection.
        let most = if self.has_passed() { self.passed - self.received } else { u64::MAX };
        let Some(SocketChannel { socket, tls, .. }) = &mut self.channel else {
            return Err(Errno::NOTCONN.into());
        };
        if let Some(tls) = tls {
            let mut socket = RawSocket { socket, may_read: most };
            let received = receive_encrypted(tls, &mut socket, buffer);
            self.received += most - socket.may_read;
            return received;
        }
        let size = size_within(buffer, most);
        loop {
            match recv(&*socket, &mut buffer[..size], RecvFlags::empty()) {
                Ok((count, _)) => {
                    self.received += count as u64;
                    return Ok(Some(count));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether a simulated link has passed something that was not read yet.
    #[inline]
    pub(super) fn has_passed(&self) -> bool {
        self.passed > self.received
    }

    /// Bytes that have still to be sent.
    #[inline]
    pub(super) fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Whether encryption is being negotiated.
    #[inline]
    pub(super) fn is_negotiating(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.is_negotiating)
    }

    /// Whether the negotiation of encryption has just ended.
    pub(super) fn has_negotiated(&mut self) -> bool {
        self.channel.as_mut().is_some_and(SocketChannel::has_negotiated)
    }

    /// The socket, where there is one.
    #[inline]
    pub(super) fn socket(&self) -> Option<&OwnedFd> {
        self.channel.as_ref().map(|channel| &channel.socket)
    }

    /// What encrypts it, where it is encrypted.
    #[inline]
    pub(super) fn tls(&self) -> Option<&ClientConnection> {
        self.channel.as_ref()?.tls.as_deref()
    }

    /// Whether there is something to send.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        !self.out.is_empty() || self.tls().is_some_and(|tls| tls.wants_write())
    }

    /// Closes the socket and forgets what was on its way.
    pub(super) fn close(&mut self) {
        self.channel = None;
        self.stage = ConnectionStage::Down;
        self.out.clear();
        self.held.clear();
        self.sent = 0;
        (self.is_blocked, self.unanswered, self.deadline) = (false, 0, None);
        (self.passing, self.received, self.passed, self.arriving) = (0, 0, 0, None);
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// An attempt has failed, with so many connections made before.
    pub(super) fn refused(&mut self, made: u64) {
        self.failures += 1;
        self.refused_at = Some(made);
    }

    /// How long to pause before the next attempt: 10 ms after the first failure, then twice as long
    /// each time, up to 200 ms.
    pub(super) fn pause(&self) -> Nanos {
        match self.failures {
            0 => Nanos::ZERO,
            n => Nanos::from_millis((10u64 << (n - 1).min(5)).min(200)),
        }
    }
}

/// How much of a buffer may be filled.
#[inline]
fn size_within(buffer: &[u8], most: u64) -> usize {
    usize::try_from(most).map_or(buffer.len(), |most| most.min(buffer.len()))
}

/// A socket as rustls reads and writes it.
struct RawSocket<'a> {
    socket: &'a OwnedFd,
    /// Bytes that may be read now; behind them it is as if there were none.
    may_read: u64,
}

impl Read for RawSocket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.may_read == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let size = size_within(buffer, self.may_read);
        let (count, _) = recv(self.socket, &mut buffer[..size], RecvFlags::empty())?;
        self.may_read -= count as u64;
        Ok(count)
    }
}

impl Write for RawSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.socket, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn send_encrypted(
    tls: &mut ClientConnection,
    socket: &OwnedFd,
    out: &mut Vec<u8>,
) -> Result<SendStatus, IoFailure> {
    loop {
        if !out.is_empty() && !tls.is_handshaking() {
            // It takes no more than a buffer's full at once; the rest stays where it is.
            let taken = tls.writer().write(out).map_err(|error| IoFailure::of(&error))?;
            out.drain(..taken);
        }
        if !tls.wants_write() {
            return Ok(SendStatus::All);
        }
        match tls.write_tls(&mut RawSocket { socket, may_read: 0 }) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(SendStatus::Blocked),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(IoFailure::of(&error)),
        }
    }
}

/// Reads in which nothing comes that is no affair of TLS alone, such as tickets for other sessions:
/// they may come without end.
const MAX_RECORDS: usize = 64;

fn receive_encrypted(
    tls: &mut ClientConnection,
    socket: &mut RawSocket<'_>,
    buffer: &mut [u8],
) -> Result<Option<usize>, IoFailure> {
    for _ in 0..MAX_RECORDS {
        if let Some(count) = read_decrypted(tls, buffer)? {
            return Ok(Some(count));
        }
        match tls.read_tls(socket) {
            Ok(0) => return Ok(Some(0)),
            Ok(_) => {
                tls.process_new_packets().map_err(IoFailure::Tls)?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(IoFailure::of(&error)),
        }
    }
    read_decrypted(tls, buffer)
}

/// Reads what has been decrypted; `None`: nothing so far.
fn read_decrypted(
    tls: &mut ClientConnection,
    buffer: &mut [u8],
) -> Result<Option<usize>, IoFailure> {
    match tls.reader().read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(IoFailure::of(&error)),
    }
}
