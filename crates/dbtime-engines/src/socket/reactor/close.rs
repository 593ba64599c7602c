//! Connections are ended, and at the end of a load it is waited until the server has ended them
//! too: only then has it booked what their sessions did.

use super::SocketReactor;
use crate::socket::connection::ConnectionStage;
use crate::socket::protocol::Protocol;
use dbtime_machine::clock::{now, timespec};
use dbtime_model::{MonoNanos, Nanos};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;

/// How long a server has to end all sessions.
const CLOSE_TIMEOUT: Nanos = Nanos::from_millis(50);

/// The sockets of connections that have been said goodbye to.
#[derive(Debug, Default)]
pub(super) struct ClosingSockets(Vec<OwnedFd>);

impl ClosingSockets {
    /// Waits until the server has closed all of them, or until then.
    fn wait(&self, until: MonoNanos) {
        for socket in &self.0 {
            loop {
                let left = until - now();
                let limit = timespec(left);
                let mut waited = [PollFd::new(socket, PollFlags::RDHUP)];
                let closed = poll(&mut waited, Some(&limit));
                // A signal that ends a wait ends no session.
                if closed.is_ok() || left == Nanos::ZERO {
                    break;
                }
            }
        }
    }
}

impl<P: Protocol> SocketReactor<P> {
    /// Says goodbye and closes a connection that nobody waits for.
    pub(super) fn terminate(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        if conn.stage != ConnectionStage::Up {
            return;
        }
        conn.protocol.terminate(&mut conn.out);
        // Whoever does not listen to a goodbye finds the connection closed.
        let _ = conn.send();
        let kept = self.closing.as_mut().zip(conn.socket());
        if let Some((closing, socket)) = kept {
            closing.0.extend(socket.try_clone());
        }
        self.close(id);
    }
}

impl<P: Protocol> Drop for SocketReactor<P> {
    fn drop(&mut self) {
        for id in 0..self.conns.len() as u32 {
            self.terminate(id);
        }
        if let Some(closing) = &self.closing {
            closing.wait(now() + CLOSE_TIMEOUT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::reactor_at;
    use crate::drive::shard::Reactor;
    use crate::socket::connection::{ConnectionStage, SocketChannel};
    use dbtime_machine::now;
    use dbtime_model::Nanos;
    use std::io::Read;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::Path;
    use std::time::Duration;

    /// How long a reactor takes to go, whose server ends a session so long after the goodbye.
    fn goes_in(ends: bool, server_takes: Duration) -> Nanos {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).expect("a free name");
        let mut reactor = reactor_at(Path::new("/nowhere"));
        let conn = &mut reactor.conns[0];
        let socket = UnixStream::connect(&path).expect("a listener").into();
        conn.channel = Some(SocketChannel::new(socket));
        conn.stage = ConnectionStage::Up;
        let (mut session, _) = listener.accept().expect("a client");
        let server = std::thread::spawn(move || {
            session.read_exact(&mut [0; 5]).expect("a goodbye");
            std::thread::sleep(server_takes);
        });
        if ends {
            reactor.ends();
        }
        let begun = now();
        drop(reactor);
        let took = now() - begun;
        server.join().expect("said goodbye to");
        took
    }

    #[test]
    fn at_the_end_the_server_is_waited_for_and_not_before() {
        let server_takes = Duration::from_millis(20);
        assert!(goes_in(true, server_takes) >= Nanos::from_millis(20));
        // Who comes late by chance does not do so each time.
        let mut tries = (0..50).map(|_| goes_in(false, server_takes));
        assert!(tries.any(|took| took < Nanos::from_millis(20)));
    }

    #[test]
    fn a_server_that_does_not_end_sessions_is_not_waited_for_long() {
        let mut tries = (0..20).map(|_| goes_in(true, Duration::from_millis(200)));
        let is_short = |took: &Nanos| *took < Nanos::from_millis(150);
        let took = tries.find(is_short).expect("not all of them are late by chance");
        assert!(took >= Nanos::from_millis(50), "{took}");
    }
}
