//! A relay between a client and a server, which may hold every byte back for a while, or read the
//! server's answers slowly.

use rustix::net::connect_unspec;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a relay does to bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RelayPace {
    /// How long they take, each way.
    pub(crate) delay: Duration,
    /// How long it sleeps after each 16 KiB that it has read of the server's.
    pub(crate) pause: Duration,
}

/// A relay; lives as long as the tests.
pub(crate) struct Relay {
    pub(crate) at: SocketAddr,
    held: Arc<HeldTime>,
    to_server: Arc<Mutex<Vec<TcpStream>>>,
}

/// How often bytes were held back, and for how long in all.
#[derive(Default)]
struct HeldTime {
    times: AtomicU64,
    ns: AtomicU64,
}

/// Listens on `address`, relays to a port of this machine; bytes take `delay` each way. Lives as
/// long as the tests.
pub(crate) fn relay(address: Ipv4Addr, to: u16, delay: Duration) -> SocketAddr {
    Relay::start(address, to, RelayPace { delay, ..RelayPace::default() }).at
}

impl Relay {
    /// Listens on `address`, relays to a port of this machine.
    pub(crate) fn start(address: Ipv4Addr, to: u16, pace: RelayPace) -> Self {
        let listener = TcpListener::bind((address, 0)).expect("an address of this machine");
        let at = listener.local_addr().expect("it listens");
        let held = Arc::new(HeldTime::default());
        let of_all = held.clone();
        let to_server = Arc::<Mutex<Vec<TcpStream>>>::default();
        let all = to_server.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is gone refuses: the client sees its connection closed.
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
                let both = |stream: &TcpStream| stream.try_clone().expect("a second handle");
                all.lock().expect("no thread has failed").push(both(&server));
                let there = RelayPace { pause: Duration::ZERO, ..pace };
                one_way(both(&client), both(&server), there, of_all.clone());
                one_way(server, client, pace, of_all.clone());
            }
        });
        Self { at, held, to_server }
    }

    /// Resets all connections to the server, as an interface that goes down does.
    pub(crate) fn reset(&self) {
        for server in self.to_server.lock().expect("no thread has failed").drain(..) {
            // Of one that has ended there is nothing to reset.
            let _ = connect_unspec(&server);
        }
    }

    #[cfg_attr(not(feature = "planted"), expect(dead_code, reason = "of planted causes alone"))]
    /// How long it has held bytes back each time, in the mean; they also take a while to be read.
    pub(crate) fn mean_hold(&self) -> Duration {
        let times = self.held.times.load(Ordering::Relaxed).max(1);
        Duration::from_nanos(self.held.ns.load(Ordering::Relaxed) / times)
    }
}

fn one_way(mut from: TcpStream, to: TcpStream, pace: RelayPace, held: Arc<HeldTime>) {
    let (hold, waiting) = channel::<(Instant, Vec<u8>)>();
    from.set_nodelay(true).expect("a socket");
    std::thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if hold.send((Instant::now(), buffer[..count].to_vec())).is_err() {
                break;
            }
            std::thread::sleep(pace.pause);
        }
    });
    std::thread::spawn(move || release(&waiting, to, pace.delay, &held));
}

fn release(
    waiting: &Receiver<(Instant, Vec<u8>)>,
    mut to: TcpStream,
    delay: Duration,
    held: &HeldTime,
) {
    while let Ok((since, bytes)) = waiting.recv() {
        std::thread::sleep((since + delay).saturating_duration_since(Instant::now()));
        held.times.fetch_add(1, Ordering::Relaxed);
        held.ns.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
