//! One connection to a null server: its socket, and what is held in either direction.

use crate::faults::FaultPlan;
use crate::mysql::MySqlSession;
use crate::postgres::PostgresSession;
use crate::session::{ProtocolSession, ReceiveResult};
use dbtime_model::WireProtocol;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// The conversation of a connection.
pub(crate) enum NullSession {
    MySql(MySqlSession),
    Postgres(PostgresSession),
}

/// The client has gone, or is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientGone;

pub(crate) struct NullConnection {
    pub(crate) socket: OwnedFd,
    session: NullSession,
    /// Tells it from others that had its place before.
    pub(crate) number: u64,
    /// Arrived bytes that are no whole yet.
    held: Vec<u8>,
    /// What is to be sent; the first `released` bytes of it at once.
    out: Vec<u8>,
    released: usize,
    /// Whether the socket takes no more for now.
    pub(crate) is_blocked: bool,
}

impl NullConnection {
    pub(crate) fn new(socket: OwnedFd, wire: WireProtocol, number: u64) -> Self {
        let mut out = Vec::new();
        let session = match wire {
            WireProtocol::Mysql => NullSession::MySql(MySqlSession::new(number as u32, &mut out)),
            WireProtocol::Postgres => NullSession::Postgres(PostgresSession::new(number as u32)),
        };
        let released = out.len();
        Self { socket, session, number, held: Vec::new(), out, released, is_blocked: false }
    }

    /// Reads what has arrived and answers it. Returns how many bytes of answers have to wait.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        plan: &FaultPlan,
    ) -> Result<usize, ClientGone> {
        let count = match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => return Err(ClientGone),
            Ok((count, _)) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Err(_) => return Err(ClientGone),
        };
        let before = self.out.len();
        let taken = if self.held.is_empty() {
            let taken = self.session.receive(&buffer[..count], &mut self.out, plan);
            self.held.extend_from_slice(&buffer[taken.used..count]);
            taken
        } else {
            self.held.extend_from_slice(&buffer[..count]);
            let taken = self.session.receive(&self.held, &mut self.out, plan);
            self.held.drain(..taken.used);
            taken
        };
        let added = self.out.len() - before;
        let waits = taken.has_load && plan.faults.delay.is_some();
        // Nothing overtakes what waits already.
        if waits || self.released < before {
            return if taken.closes { Err(ClientGone) } else { Ok(added) };
        }
        self.release(added)?;
        if taken.closes { Err(ClientGone) } else { Ok(0) }
    }

    /// Sends so many bytes more.
    #[inline]
    pub(crate) fn release(&mut self, bytes: usize) -> Result<(), ClientGone> {
        self.released += bytes;
        self.flush()
    }

    /// Sends what may be sent.
    #[inline]
    pub(crate) fn flush(&mut self) -> Result<(), ClientGone> {
        let mut sent = 0;
        self.is_blocked = false;
        while sent < self.released {
            match send(&self.socket, &self.out[sent..self.released], SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.is_blocked = true;
                    break;
                }
                Err(_) => return Err(ClientGone),
            }
        }
        self.out.drain(..sent);
        self.released -= sent;
        Ok(())
    }
}

impl NullSession {
    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, plan: &FaultPlan) -> ReceiveResult {
        match self {
            Self::MySql(session) => session.receive(input, out, plan),
            Self::Postgres(session) => session.receive(input, out, plan),
        }
    }
}
