//! The MySQL client/server protocol, as MySQL 5.5 to 9 and MariaDB 10 to 12 speak it.
//!
//! Source: MySQL internals manual, "Client/Server Protocol"; MariaDB knowledge base,
//! "Clients & Servers Protocol".

mod answer;
mod row;

pub use answer::{ExpectedReply, MysqlError, MysqlResponse, MysqlResponseReader, PrepareResponse};
pub use row::{MysqlCell, MysqlColumn, binary_cells, column, text_cells};

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
    /// Bytes of a long parameter; there is no answer.
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    /// Forgets a prepared statement; there is no answer.
    pub const STMT_CLOSE: u8 = 0x19;
    /// Logs in as somebody else; prepared statements are gone.
    pub const CHANGE_USER: u8 = 0x11;
    /// A session as after logging in; prepared statements are gone.
    pub const RESET_CONNECTION: u8 = 0x1f;
    /// Forgets the cursor and the long parameters of a prepared statement.
    pub const STMT_RESET: u8 = 0x1a;
    /// More rows of a cursor.
    pub const STMT_FETCH: u8 = 0x1c;
    /// Executes a prepared statement for many rows of parameters (MariaDB).
    pub const STMT_BULK_EXECUTE: u8 = 0xfa;

    /// Names by number; what is not here is no command of any server's.
    const NAMES: [(u8, &str); 31] = [
        (0x01, "QUIT"),
        (0x02, "INIT_DB"),
        (0x03, "QUERY"),
        (0x04, "FIELD_LIST"),
        (0x05, "CREATE_DB"),
        (0x06, "DROP_DB"),
        (0x07, "REFRESH"),
        (0x08, "SHUTDOWN"),
        (0x09, "STATISTICS"),
        (0x0a, "PROCESS_INFO"),
        (0x0b, "CONNECT"),
        (0x0c, "PROCESS_KILL"),
        (0x0d, "DEBUG"),
        (0x0e, "PING"),
        (0x11, "CHANGE_USER"),
        (0x12, "BINLOG_DUMP"),
        (0x13, "TABLE_DUMP"),
        (0x14, "CONNECT_OUT"),
        (0x15, "REGISTER_SLAVE"),
        (0x16, "PREPARE"),
        (0x17, "EXECUTE"),
        (0x18, "LONG_DATA"),
        (0x19, "CLOSE_STMT"),
        (0x1a, "RESET_STMT"),
        (0x1b, "SET_OPTION"),
        (0x1c, "FETCH"),
        (0x1e, "BINLOG_GTID"),
        (0x1f, "RESET_CONN"),
        (0x20, "CLONE"),
        (0xfa, "BULK_EXEC"),
        (0xfe, "MULTI"),
    ];

    /// What a command is called, in at most eleven letters.
    pub fn name(command: u8) -> Option<&'static str> {
        NAMES.iter().find(|(number, _)| *number == command).map(|(_, name)| *name)
    }
}

/// Bytes before each packet: three of length, one of sequence number.
pub const HEADER: usize = 4;

/// A payload of this length goes on in the next packet.
pub const MAX_PAYLOAD: usize = 0xff_ffff;

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
        let (part, after) = rest.split_at(rest.len().min(MAX_PAYLOAD));
        let [a, b, c, _] = (part.len() as u32).to_le_bytes();
        out.extend_from_slice(&[a, b, c, sequence]);
        out.extend_from_slice(part);
        sequence = sequence.wrapping_add(1);
        rest = after;
        if part.len() < MAX_PAYLOAD {
            return sequence;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_split_where_the_protocol_says() {
        for (length, packets) in
            [(0, 1), (5, 1), (MAX_PAYLOAD - 1, 1), (MAX_PAYLOAD, 2), (MAX_PAYLOAD + 1, 2)]
        {
            let mut out = Vec::new();
            assert_eq!(write_packet(&vec![7; length], 0, &mut out), packets, "{length}");
            assert_eq!(out.len(), length + HEADER * usize::from(packets));
            assert_eq!(header(&out), Some((length.min(MAX_PAYLOAD), 0)));
        }
    }
}
