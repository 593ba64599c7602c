//! Clients and servers that keep to no protocol: nothing may be miscounted, whatever they say.
//!
//! The process that is watched is the test itself.

use super::*;
use std::io::Read;
use std::net::{TcpListener, TcpStream};

const CONVERSATIONS: u64 = 400;

/// Chances that are the same each time: a congruential generator (Knuth's MMIX).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u32 {
        let product = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = product.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// A number from 0 to one below this.
    fn below(&mut self, end: usize) -> usize {
        self.roll() as usize % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What is said looks like packets of MySQL's, or messages of PostgreSQL's, in some respects.
fn babble(kind: &str, dice: &mut Dice) -> Vec<u8> {
    let mut said = Vec::new();
    for _ in 0..=dice.below(7) {
        let length = dice.below(40);
        // Often what is announced is not what comes.
        let announced = match dice.below(5) {
            0 => dice.roll() >> dice.below(31),
            _ => length as u32,
        };
        if kind == "mysql" {
            said.extend_from_slice(&announced.to_le_bytes()[..3]);
            said.push(dice.one_of(&[0, 0, 0, 1, 2, 255]));
            said.push(dice.one_of(&[1, 2, 3, 3, 3, 0x0e, 0x11, 0x16, 0x17, 0x19, 0x85, 0xff]));
        } else {
            said.push(dice.one_of(b"QPBEDCFSHXdcpf\0\x16"));
            said.extend_from_slice(&announced.saturating_add(4).to_be_bytes());
        }
        let text = b"use \0select 'user\0database\0;`\x1b[2J\xff\xfe";
        let at = dice.below(text.len());
        said.extend(text.iter().cycle().skip(at).take(length));
    }
    said
}

/// Reads in pieces of any size and answers with what may be an answer, until the client has gone.
fn serve(kind: &'static str, mut stream: TcpStream, mut dice: Dice) {
    let answers: [&[u8]; 6] = match kind {
        "mysql" => [
            b"\x01\0\0\x01\0",
            b"\x03\0\0\x01\xff\x10\x04",
            b"\x05\0\0\0\x0aabcd",
            b"\xff",
            b"\x05\0\0\x01\xfbfile",
            b"\x09\0\0\x01\xff\xff\xff123456",
        ],
        _ => [
            b"Z\0\0\0\x05I",
            b"E\0\0\0\x10SERROR\0C42601\0\0",
            b"1\0\0\0\x042\0\0\0\x04Z\0\0\0\x05T",
            b"G\0\0\0\x09",
            b"N",
            b"Z",
        ],
    };
    if dice.below(2) == 0 && stream.write_all(answers[2]).is_err() {
        return;
    }
    let mut room = [0; 64];
    loop {
        let most = 1 + dice.below(room.len());
        match stream.read(&mut room[..most]) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let answer = dice.one_of(&answers);
        if dice.below(5) < 2 && stream.write_all(answer).is_err() {
            return;
        }
    }
}

fn talk(kind: &str, port: u16, dice: &mut Dice) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let said = babble(kind, dice);
    let mut rest = &said[..];
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(1 + dice.below(rest.len()));
        if stream.write_all(piece).is_err() {
            return;
        }
        rest = behind;
    }
    if dice.below(2) == 0 {
        // What it is told is thrown away unread: the server sees the connection reset.
        return;
    }
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn whatever_is_said_is_accounted_for() {
    for kind in ["mysql", "postgres"] {
        let sandbox = Sandbox::new();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let options = format!("--server-kind {kind} --port {port} --json --raw-sql");
        let started = Tracer::start_of(&sandbox, std::process::id(), &options);
        let Some((tracer, left_out)) = started else { return };
        assert!(left_out.contains("does not export"), "{left_out}");
        let server = std::thread::spawn(move || {
            for seed in 0..CONVERSATIONS {
                let (stream, _) = listener.accept().expect("a client");
                serve(kind, stream, Dice(seed));
            }
        });
        let mut dice = Dice(4711);
        (0..CONVERSATIONS).for_each(|_| talk(kind, port, &mut dice));
        server.join().expect("it serves");
        let seen = tracer.end();
        assert_eq!(seen.code, Some(0), "{}", seen.ledger);
        seen.adds_up();
        assert!(seen.counted("started") > CONVERSATIONS / 4, "{}", seen.ledger);
        assert!(seen.counted("aborted") > 0, "{}", seen.ledger);
    }
}
