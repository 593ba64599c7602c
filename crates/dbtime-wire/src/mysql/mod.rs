//! The MySQL client/server protocol, as MySQL 5.5 to 9 and MariaDB 10 to 12 speak it.
//!
//! Source: MySQL internals manual, "Client/Server Protocol"; MariaDB knowledge base,
//! "Clients & Servers Protocol".

mod answer;
mod row;

pub use answer::{Answer, AnswerReader, Expect, Prepared, ServerError};
pub use row::{Cell, Column, binary_cells, column, text_cells};

/// First bytes of commands.
pub mod command {
    /// Says goodbye; there is no answer.
    pub const QUIT: u8 = 0x01;
    /// Statement as text.
    pub const QUERY: u8 = 0x03;
    /// Is the server there?
    pub const PING: u8 = 0x0e;
    /// Prepares a statement.
    pub const STMT_PREPARE: u8 = 0x16;
    /// Executes a prepared statement.
    pub const STMT_EXECUTE: u8 = 0x17;
    /// Forgets a prepared statement; there is no answer.
    pub const STMT_CLOSE: u8 = 0x19;
}

/// Bytes before each packet: three of length, one of sequence number.
pub const HEADER: usize = 4;

/// A payload of this length goes on in the next packet.
pub const LONGEST: usize = 0xff_ffff;

/// Length and sequence number of a packet.
#[inline]
pub fn header(bytes: &[u8]) -> Option<(usize, u8)> {
    let [a, b, c, sequence] = *bytes.first_chunk::<HEADER>()?;
    Some((u32::from_le_bytes([a, b, c, 0]) as usize, sequence))
}

/// Writes `payload` as one packet or, from 16 MiB on, as several; returns the next sequence number.
pub fn write_packet(payload: &[u8], mut sequence: u8, out: &mut Vec<u8>) -> u8 {
    let mut rest = payload;
    loop {
        let (part, after) = rest.split_at(rest.len().min(LONGEST));
        let [a, b, c, _] = (part.len() as u32).to_le_bytes();
        out.extend_from_slice(&[a, b, c, sequence]);
        out.extend_from_slice(part);
        sequence = sequence.wrapping_add(1);
        rest = after;
        if part.len() < LONGEST {
            return sequence;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_split_where_the_protocol_says() {
        for (length, packets) in [(0, 1), (5, 1), (LONGEST - 1, 1), (LONGEST, 2), (LONGEST + 1, 2)]
        {
            let mut out = Vec::new();
            assert_eq!(write_packet(&vec![7; length], 0, &mut out), packets, "{length}");
            assert_eq!(out.len(), length + HEADER * usize::from(packets));
            assert_eq!(header(&out), Some((length.min(LONGEST), 0)));
        }
    }
}
