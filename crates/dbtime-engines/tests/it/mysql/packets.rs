//! What a server of MySQL's kind sends, well-formed or not.

use dbtime_wire::mysql::write_packet;

/// What a proof is made with.
pub(super) const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";

/// Capabilities: 4.1's protocol, encryption, the longer nonce, names of plugins.
pub(super) const PROTOCOL_41: u32 = 0x200;
pub(super) const SSL: u32 = 0x800;
const SECURE: u32 = 0x8000;
const PLUGINS: u32 = 0x8_0000;

/// Status: each statement is a transaction of its own.
const AUTOCOMMIT: u8 = 2;

/// A greeting, of which a test changes what it is about.
pub(super) struct RogueGreeting {
    pub(super) protocol: u8,
    pub(super) version: Vec<u8>,
    pub(super) capabilities: u32,
    /// How long the nonce is, as it says.
    pub(super) length: u8,
    pub(super) plugin: &'static str,
}

impl RogueGreeting {
    /// As MySQL 8 greets, with this default plugin.
    pub(super) fn of(plugin: &'static str) -> Self {
        Self {
            protocol: 10,
            version: b"8.0.40\0".to_vec(),
            capabilities: PROTOCOL_41 | SECURE | PLUGINS,
            length: 21,
            plugin,
        }
    }

    pub(super) fn payload(&self) -> Vec<u8> {
        let [low, high, upper, top] = self.capabilities.to_le_bytes();
        let mut payload = vec![self.protocol];
        payload.extend(&self.version);
        payload.extend([7, 0, 0, 0]);
        payload.extend(&NONCE[..8]);
        payload.extend([0, low, high, 255, AUTOCOMMIT, 0, upper, top, self.length]);
        payload.extend([0; 10]);
        payload.extend(&NONCE[8..]);
        payload.push(0);
        payload.extend(self.plugin.as_bytes());
        payload.push(0);
        payload
    }

    pub(super) fn packet(&self) -> Vec<u8> {
        packet(0, &self.payload())
    }
}

/// A packet with this number.
pub(super) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_packet(payload, sequence, &mut bytes);
    bytes
}

/// The beginning of a packet that says to be so long.
pub(super) fn announced(length: u32, sequence: u8) -> Vec<u8> {
    let [a, b, c, _] = length.to_le_bytes();
    vec![a, b, c, sequence]
}

/// A wish that the client log in by a plugin, with this challenge.
pub(super) fn switch(plugin: &str, challenge: &[u8]) -> Vec<u8> {
    [&[0xfe][..], plugin.as_bytes(), &[0], challenge].concat()
}

/// More of the present plugin.
pub(super) fn more(data: &[u8]) -> Vec<u8> {
    [&[1][..], data].concat()
}

/// A refusal.
pub(super) fn error(code: u16, text: &[u8]) -> Vec<u8> {
    [&[0xff][..], &code.to_le_bytes()[..], b"#28000", text].concat()
}

/// A welcome, or the end of a statement.
pub(super) fn ok(status: u8) -> Vec<u8> {
    vec![0, 0, 0, status, 0, 0, 0]
}

/// A welcome to a session that needs no more.
pub(super) fn welcome() -> Vec<u8> {
    ok(AUTOCOMMIT)
}

/// The beginning of a result with one column, from this number on.
pub(super) fn one_column(first: u8) -> Vec<u8> {
    let column = b"\x03def\0\0\0\x01a\0\x0c\x2d\0\0\0\0\0\xfd\0\0\0\0\0";
    let end = [0xfe, 0, 0, AUTOCOMMIT, 0];
    [packet(first, &[1]), packet(first + 1, column), packet(first + 2, &end)].concat()
}
