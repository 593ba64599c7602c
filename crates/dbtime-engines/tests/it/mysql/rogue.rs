//! A server of MySQL's kind that does one thing after the other, whatever the client does.

use crate::mysql::packets::NONCE;
use dbtime_engines::databases;
use dbtime_engines::socket::ExchangeBound;
use dbtime_model::{Nanos, Product};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::JoinHandle;

/// What a rogue is after.
pub(super) const PASSWORD: &str = "correct-horse-battery";

/// Long enough for the busiest machine, where a rogue says something.
const PATIENCE: &str = "60s";

/// How long one that says nothing is waited for, and what is said then.
const IMPATIENCE: &str = "150ms";
pub(super) const IN_TIME: &str = "within 150 ms";

/// No proof that one knows a password is longer; what is hidden with an RSA key is.
const LONGEST_PROOF: usize = 96;

/// No rogue may send more than this before it is given up.
const MOST_TAKEN: u64 = 40 << 20;

/// What a rogue does.
#[derive(Clone, Debug)]
pub(super) enum RogueStep {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes again and again, until nobody takes them.
    Flood(Vec<u8>),
    /// Waits for a packet of the client's.
    Wait,
    /// Waits until the client goes.
    Silence,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct RogueMeeting {
    /// Why the client went.
    pub(super) failure: String,
    /// What it sent, without the headers of packets.
    pub(super) packets: Vec<Vec<u8>>,
    /// What the rogue got rid of.
    sent: u64,
}

impl RogueMeeting {
    /// Meets a rogue that does this, by a target with these parameters.
    pub(super) fn new(steps: &[RogueStep], parameters: &str) -> Self {
        let is_silent = steps.iter().any(|step| matches!(step, RogueStep::Silence));
        let patience = if is_silent { IMPATIENCE } else { PATIENCE };
        let (port, rogue) = rogue(steps);
        let url = format!(
            "mysql://root:{PASSWORD}@127.0.0.1:{port}/d?connect-timeout={patience}&{parameters}"
        );
        let failure = visit(&url, patience.parse().expect("a duration"));
        let (received, sent) = rogue.join().expect("the rogue ends");
        Self { failure, packets: packets(&received), sent }
    }

    /// That nothing which the client sent, and nothing that it printed, has the password in it.
    pub(super) fn assert_kept_secret(&self, name: &str) {
        let mixed: Vec<u8> =
            PASSWORD.bytes().zip(NONCE).map(|(byte, nonce)| byte ^ nonce).collect();
        let is_in = |bytes: &[u8]| {
            let has = |secret: &[u8]| bytes.windows(secret.len()).any(|part| part == secret);
            has(PASSWORD.as_bytes()) || has(&mixed)
        };
        assert!(!is_in(self.failure.as_bytes()), "{name}: {}", self.failure);
        assert!(!self.packets.iter().any(|packet| is_in(packet)), "{name}: {self:?}");
        assert!(self.sent <= MOST_TAKEN, "{name}: {} bytes were taken", self.sent);
    }

    /// That nothing was sent which only the owner of a key can read.
    pub(super) fn assert_nothing_hidden(&self, name: &str) {
        // The beginning of TLS has no login in it.
        let mut later = self.packets.iter().skip(1).filter(|packet| !packet.starts_with(&[22, 3]));
        assert!(later.all(|packet| packet.len() <= LONGEST_PROOF), "{name}: {self:?}");
    }
}

/// A server that does this with the first client that comes. Returns its port, and what becomes of
/// it: what was received, and how much was sent.
pub(super) fn rogue(steps: &[RogueStep]) -> (u16, JoinHandle<(Vec<u8>, u64)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let steps = steps.to_vec();
    let rogue = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        RogueSide { stream, received: Vec::new(), sent: 0 }.serve(&steps)
    });
    (port, rogue)
}

/// Logs in and asks something. Returns why that did not work.
fn visit(url: &str, limit: Nanos) -> String {
    let server = databases::server(Product::Mysql, url, &|_| None).expect("a target");
    match server.connect(&ExchangeBound::within(limit)) {
        Err(error) => error.to_string(),
        Ok(mut admin) => match admin.query("SELECT 1") {
            Err(failure) => failure.message,
            Ok((table, _)) => format!("an answer: {table:?}"),
        },
    }
}

/// The rogue's end of a connection.
struct RogueSide {
    stream: TcpStream,
    received: Vec<u8>,
    sent: u64,
}

impl RogueSide {
    /// Returns what was received, and how much was sent.
    fn serve(mut self, steps: &[RogueStep]) -> (Vec<u8>, u64) {
        for step in steps {
            let goes_on = match step {
                RogueStep::Send(bytes) => self.send(bytes),
                RogueStep::Flood(bytes) => {
                    while self.sent <= 2 * MOST_TAKEN && self.send(bytes) {}
                    false
                }
                RogueStep::Wait => self.wait(),
                RogueStep::Silence => {
                    // Until the client has gone, well-behaved or not.
                    let _ = self.stream.read_to_end(&mut self.received);
                    false
                }
            };
            if !goes_on {
                break;
            }
        }
        // Who has gone already is not to be told, and has said all.
        let _ = self.stream.shutdown(Shutdown::Write);
        let _ = self.stream.read_to_end(&mut self.received);
        (self.received, self.sent)
    }

    fn send(&mut self, bytes: &[u8]) -> bool {
        let is_sent = self.stream.write_all(bytes).is_ok();
        self.sent += if is_sent { bytes.len() as u64 } else { 0 };
        is_sent
    }

    /// Takes a packet. Returns whether one came.
    fn wait(&mut self) -> bool {
        let mut head = [0; 4];
        if self.stream.read_exact(&mut head).is_err() {
            return false;
        }
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        let mut payload = vec![0; length];
        let is_whole = self.stream.read_exact(&mut payload).is_ok();
        self.received.extend(head);
        self.received.extend(payload);
        is_whole
    }
}

/// The packets that bytes are; what is none, such as the beginning of TLS, is one without a header.
fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        packets.push(payload.to_vec());
        bytes = rest;
    }
    if !bytes.is_empty() {
        packets.push(bytes.to_vec());
    }
    packets
}
