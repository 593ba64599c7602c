//! Greetings that are none, or not whole.

use crate::mysql::behaviours::RogueBehaviour;
use crate::mysql::packets::{PROTOCOL_41, RogueGreeting, announced, error, packet};
use crate::mysql::rogue::IN_TIME;
use crate::mysql::rogue::RogueStep::{Flood, Send, Silence};

const NO_GREETING: &str = "not MySQL's: is it a MySQL or MariaDB server?";
const NO_SENSE: &str = "makes no sense: is it MySQL or MariaDB?";
const CLOSED: &str = "closed the connection";
const OUT_OF_ORDER: &str = "not numbered in their order";

/// Before the version, in it, between its parts, in both parts of the nonce.
const CUTS: [usize; 14] = [0, 1, 2, 7, 8, 9, 12, 20, 21, 28, 30, 38, 39, 51];

pub(super) fn all() -> Vec<RogueBehaviour> {
    let kinds = [silent(), cut_off(), of_other_versions(), out_of_bounds(), errors(), others()];
    kinds.into_iter().flatten().collect()
}

fn greeting() -> RogueGreeting {
    RogueGreeting::of("caching_sha2_password")
}

/// One that sends this in place of a greeting, and goes.
fn sends(name: impl Into<String>, bytes: Vec<u8>, failure: &'static str) -> RogueBehaviour {
    RogueBehaviour::new(name, vec![Send(bytes)], failure)
}

fn silent() -> Vec<RogueBehaviour> {
    vec![
        RogueBehaviour::new("goes at once", vec![], CLOSED),
        RogueBehaviour::new("says nothing", vec![Silence], IN_TIME),
    ]
}

fn cut_off() -> Vec<RogueBehaviour> {
    let payload = greeting().payload();
    let whole = greeting().packet();
    let framed = CUTS.map(|length| {
        let name = format!("a greeting of {length} bytes");
        sends(name, packet(0, &payload[..length]), NO_GREETING)
    });
    let torn = [1, 3, 4, 5, 40].map(|length| {
        sends(format!("{length} bytes of a greeting"), whole[..length].to_vec(), CLOSED)
    });
    framed.into_iter().chain(torn).collect()
}

fn of_other_versions() -> Vec<RogueBehaviour> {
    let of = |protocol| RogueGreeting { protocol, ..greeting() }.packet();
    let unknown = [0, 1, 8, 11, 127, 254]
        .map(|protocol| sends(format!("protocol {protocol}"), of(protocol), NO_GREETING));
    let old = RogueGreeting { capabilities: !PROTOCOL_41 & 0xffff, ..greeting() };
    let known = [
        sends("protocol 9", of(9), "before MySQL 4.1"),
        sends("protocol 9, in short", packet(0, b"\x093.20.0\0\x01\0\0\0abcdefgh\0"), "4.1"),
        sends("a protocol of before 4.1", old.packet(), "before MySQL 4.1"),
    ];
    unknown.into_iter().chain(known).collect()
}

fn out_of_bounds() -> Vec<RogueBehaviour> {
    let nonces = [64, 128, 130, 135, 136, 200, 255].map(|length| {
        let greeting = RogueGreeting { length, ..greeting() };
        sends(format!("a nonce of {length} bytes, not sent"), greeting.packet(), NO_GREETING)
    });
    let numbers = [1, 2, 255].map(|sequence| {
        let bytes = packet(sequence, &greeting().payload());
        sends(format!("a greeting with the number {sequence}"), bytes, OUT_OF_ORDER)
    });
    let lengths = [(1 << 16) + 1, 0xff_fffe, 0xff_ffff].map(|length| {
        let bytes = [announced(length, 0), greeting().payload()].concat();
        sends(format!("a greeting of {length} bytes"), bytes, NO_SENSE)
    });
    let endless = RogueGreeting { version: vec![b'8'; 5000], plugin: "", ..greeting() };
    let endless = endless.payload()[..5001].to_vec();
    let rest = [
        sends("a version without an end", packet(0, &endless), NO_GREETING),
        RogueBehaviour::new("zeros without end", vec![Flood(vec![0; 1 << 16])], NO_GREETING),
        RogueBehaviour::new("ones without end", vec![Flood(vec![0xff; 1 << 16])], NO_SENSE),
    ];
    nonces.into_iter().chain(numbers).chain(lengths).chain(rest).collect()
}

fn errors() -> Vec<RogueBehaviour> {
    let huge = [announced(0xff_ffff, 0), error(1130, b"x")].concat();
    vec![
        sends("an error for a greeting", packet(0, &error(1040, b"too many")), "too many"),
        sends("an error of no words", packet(0, &error(1130, b"")), "mysql.user"),
        sends("an error of one byte", packet(0, &[0xff]), NO_SENSE),
        sends("an error of two bytes", packet(0, &[0xff, 0x10]), NO_SENSE),
        sends("an error out of its turn", packet(7, &error(1130, b"go away")), "go away"),
        sends("an error of 60,000 bytes", packet(0, &error(1130, &[b'x'; 60_000])), "xxx"),
        RogueBehaviour::new(
            "an error of 16 MiB",
            vec![Send(huge), Flood(vec![b'x'; 1 << 16])],
            NO_SENSE,
        ),
    ]
}

fn others() -> Vec<RogueBehaviour> {
    let services: [(&str, &[u8], &str); 5] = [
        ("SSH", b"SSH-2.0-OpenSSH_9.2p1\r\n", "an SSH server answers"),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n", "an HTTP server answers"),
        ("mail", b"220 mail.example ESMTP\r\n", "a mail or FTP server"),
        ("TLS", b"\x15\x03\x03\0\x02\x02\x46", "speaks TLS from its first byte"),
        ("text", b"hello, who is there?\r\n", NO_SENSE),
    ];
    services.map(|(name, bytes, failure)| sends(name, bytes.to_vec(), failure)).into()
}
