//! What may come of a statement once the client is let in, and of a wish for TLS.

use crate::mysql::behaviours::RogueBehaviour;
use crate::mysql::packets::{
    RogueGreeting, SSL, announced, error, ok, one_column, packet, welcome,
};
use crate::mysql::rogue::RogueStep::{Flood, Send, Silence, Wait};
use crate::mysql::rogue::{IN_TIME, RogueStep};

const PLUGIN: &str = "mysql_native_password";
const CLOSED: &str = "closed the connection";
const NO_COLUMNS: &str = "a result without columns";
const ENDLESS: &str = "sends more than 8 MiB";

/// Status: a result follows.
const MORE_RESULTS: u8 = 0x0a;

pub(super) fn all() -> Vec<RogueBehaviour> {
    let kinds = [answers(), floods(), set_ups(), encryption()];
    kinds.into_iter().flatten().collect()
}

/// One that lets the client in, waits for its statement, and then does this.
fn goes_on(name: &str, steps: Vec<RogueStep>, failure: &'static str) -> RogueBehaviour {
    let greeting = RogueGreeting::of(PLUGIN).packet();
    let begun = [Send(greeting), Wait, Send(packet(2, &welcome())), Wait];
    RogueBehaviour::new(name, begun.into_iter().chain(steps).collect(), failure)
}

/// One that answers the first statement with a packet, and goes.
fn answers_with(name: &str, payload: &[u8], failure: &'static str) -> RogueBehaviour {
    goes_on(name, vec![Send(packet(1, payload))], failure)
}

fn answers() -> Vec<RogueBehaviour> {
    let cut = packet(1, &[1])[..3].to_vec();
    let unasked = [packet(2, &welcome()), packet(0, &ok(0))].concat();
    let greeting = RogueGreeting::of(PLUGIN).packet();
    let unasked = vec![Send(greeting), Wait, Send(unasked)];
    vec![
        goes_on("lets in, and goes", vec![], CLOSED),
        goes_on("lets in, and says no more", vec![Silence], IN_TIME),
        goes_on("a cut-off answer", vec![Send(cut)], CLOSED),
        RogueBehaviour::new("an answer that nobody waits for", unasked, "makes no sense"),
        answers_with("a wish for a file", b"\xfb/etc/passwd", "local file, which is refused"),
        answers_with("a wish for a file without a name", b"\xfb", "local file, which is refused"),
        answers_with("a failure", &error(1064, b"this is odd"), "this is odd"),
        answers_with("a failure of one byte", &[0xff], "a cut-off error packet"),
        answers_with("an answer of nothing", &[], "an empty packet"),
        answers_with("an answer of one byte", &[0], "a cut-off OK packet"),
        answers_with("no column", &[0xfc, 0, 0], NO_COLUMNS),
        answers_with("a cut-off count", &[0xfc], NO_COLUMNS),
        answers_with("65,536 columns", &[0xfd, 0, 0, 1], NO_COLUMNS),
        answers_with("as many columns as there are", &[0xfe; 9], NO_COLUMNS),
        answers_with("65,535 columns that do not come", &[0xfc, 0xff, 0xff], CLOSED),
    ]
}

fn floods() -> Vec<RogueBehaviour> {
    let many = |packet: Vec<u8>| Flood(packet.repeat((1 << 16) / packet.len() + 1));
    let error = [announced(0xff_ffff, 1), error(1064, b"xxx")].concat();
    let (row, wide) = ([&[200u8][..], &[b'x'; 200]].concat(), vec![0; 1 << 20]);
    let result = [ok(MORE_RESULTS), vec![b'x'; 200]].concat();
    vec![
        goes_on("short rows", vec![Send(one_column(1)), many(packet(4, &row))], ENDLESS),
        goes_on("wide rows", vec![Send(one_column(1)), many(packet(4, &wide))], ENDLESS),
        goes_on("empty results", vec![many(packet(1, &result))], ENDLESS),
        goes_on(
            "wide columns",
            vec![Send(packet(1, &[0xfc, 0xff, 0xff])), many(packet(2, &[b'x'; 60_000]))],
            ENDLESS,
        ),
        goes_on("a failure of 16 MiB", vec![Send(error), many(b"x".to_vec())], ENDLESS),
    ]
}

/// The server's sessions begin without auto-commit, which the client turns on.
fn set_ups() -> Vec<RogueBehaviour> {
    let of = |name: &str, steps: Vec<RogueStep>, failure| {
        let greeting = RogueGreeting::of(PLUGIN).packet();
        let begun = [Send(greeting), Wait, Send(packet(2, &ok(0))), Wait];
        RogueBehaviour::new(name, begun.into_iter().chain(steps).collect(), failure)
    };
    let rows = vec![Send(one_column(1)), Flood(packet(4, b"\x01x").repeat(10_000))];
    let file = vec![Send(packet(1, b"\xfb/etc/passwd"))];
    vec![
        of("goes while a session is set up", vec![], CLOSED),
        of("a set-up that fails", vec![Send(packet(1, &error(1227, b"not you")))], "not you"),
        of("a set-up that wishes for a file", file, "local file, which is refused"),
        of("a set-up without end", rows, "has sent more than 256 KiB"),
    ]
}

fn encryption() -> Vec<RogueBehaviour> {
    let plain = RogueGreeting::of(PLUGIN);
    let capabilities = plain.capabilities | SSL;
    let offering = RogueGreeting { capabilities, ..RogueGreeting::of(PLUGIN) }.packet();
    let of = |name: &str, steps: Vec<RogueStep>, failure| {
        let begun = [Send(offering.clone()), Wait];
        RogueBehaviour::new(name, begun.into_iter().chain(steps).collect(), failure)
    };
    let ahead = [offering.clone(), packet(1, &welcome())].concat();
    // The largest record, with the beginning of a hello that has no end.
    let hello = [&[22, 3, 3, 64, 0, 2, 255, 255, 255][..], &[0; 16_380]].concat();
    vec![
        of("goes in place of TLS", vec![], CLOSED),
        of("says nothing in place of TLS", vec![Silence], IN_TIME),
        of("a welcome in place of TLS", vec![Send(packet(2, &welcome()))], "TLS"),
        of("another service in place of TLS", vec![Send(b"HTTP/1.1 200 OK\r\n".to_vec())], "TLS"),
        of("breaks TLS off", vec![Send(b"\x15\x03\x03\0\x02\x02\x28".to_vec())], "aborted the"),
        of("a hello without end", vec![Flood(hello)], "TLS"),
        RogueBehaviour::new("a welcome ahead of TLS", vec![Send(ahead)], "was encrypted"),
        RogueBehaviour::new("TLS left out", vec![Send(plain.packet())], "offers no TLS")
            .with("ssl-mode=required"),
    ]
}
