//! A relay between a client and a server, which may hold every byte back for a while.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Listens on `address`, relays to a port of this machine; bytes take `delay` each way. Lives as
/// long as the tests.
pub(crate) fn relay(address: Ipv4Addr, to: u16, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind((address, 0)).expect("an address of this machine");
    let here = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A server that is gone refuses: the client sees its connection closed.
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
            let both = |stream: &TcpStream| stream.try_clone().expect("a second handle");
            one_way(both(&client), both(&server), delay);
            one_way(server, client, delay);
        }
    });
    here
}

fn one_way(mut from: TcpStream, to: TcpStream, delay: Duration) {
    let (hold, held) = channel::<(Instant, Vec<u8>)>();
    from.set_nodelay(true).expect("a socket");
    std::thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if hold.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || release(&held, to));
}

fn release(held: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) {
    while let Ok((at, bytes)) = held.recv() {
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
