//! Bytes of a server, in pieces of every size: no server is needed.

use dbtime_engines::databases::postgres::{PostgresIdentity, PostgresProtocol, PostgresShared};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::socket::{Protocol, ProtocolProgress, TlsRequirement, Transport};
use dbtime_load::program::SqlValue;
use dbtime_load::session::StatementCall;
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::{OperationId, StatementId};

/// Everything PostgreSQL 15.18 sent to a client that it trusts, up to its first ReadyForQuery.
const WELCOME: &[u8] = include_bytes!("recorded/welcome-15.18.bin");

fn shared(password: &str) -> PostgresShared {
    let identity = PostgresIdentity {
        user: "md5_user".to_owned(),
        password: ServerSecret::new(password),
        database: "db".to_owned(),
        ..PostgresIdentity::default()
    };
    let sql = StatementKind::Sql("SELECT a FROM t WHERE id = ?1".to_owned());
    let statement = |kind| Statement { operation: OperationId(0), name: "s".to_owned(), kind };
    let statements = [statement(sql), statement(StatementKind::Begin { write: true })];
    PostgresShared::of_workload(identity, &statements, StatementProtocol::Prepared)
}

/// One side of a conversation, fed in pieces of `chunk` bytes.
struct Side {
    protocol: PostgresProtocol,
    shared: PostgresShared,
    out: Vec<u8>,
    held: Vec<u8>,
    chunk: usize,
}

impl Side {
    fn open(password: &str, chunk: usize) -> Self {
        let (shared, mut out) = (shared(password), Vec::new());
        let mut protocol = PostgresProtocol::new(&shared);
        protocol.open(&shared, Transport::Tcp, TlsRequirement::No, &mut out);
        assert!(out.ends_with(b"\0client_encoding\0UTF8\0\0"));
        out.clear();
        Self { protocol, shared, out, held: Vec::new(), chunk }
    }

    fn hear(&mut self, bytes: &[u8]) -> ProtocolProgress {
        let mut last = ProtocolProgress::More;
        for piece in bytes.chunks(self.chunk) {
            self.held.extend_from_slice(piece);
            loop {
                let (used, progress) =
                    self.protocol.receive(&self.shared, &self.held, &mut self.out);
                self.held.drain(..used);
                let is_more = matches!(progress, ProtocolProgress::More);
                if !is_more {
                    last = progress;
                }
                if is_more && used == 0 || self.held.is_empty() {
                    break;
                }
            }
        }
        last
    }

    fn said(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn execute(&mut self, statement: u16, parameters: &[SqlValue]) -> Vec<u8> {
        let statement = StatementId(statement);
        let call = StatementCall { statement, parameters, needs_row: false };
        self.protocol.execute(&self.shared, call, &mut self.out).expect("sent");
        self.said()
    }
}

#[test]
fn a_conversation_is_the_same_in_pieces_of_every_size() {
    for chunk in 1..=WELCOME.len() {
        let mut side = Side::open("", chunk);
        assert!(matches!(side.hear(WELCOME), ProtocolProgress::Connected), "by {chunk}");
        assert_eq!(side.protocol.server_version(), "15.18 (Debian 15.18-0+deb12u1)");
        assert_eq!(side.protocol.backend_pid(), Some(24_198));

        // The first execution prepares in the same breath; the second does not.
        let first = side.execute(0, &[SqlValue::Integer(5)]);
        let bound = b"B\0\0\0\x13\0s0\0\0\0\0\x01\0\0\0\x015\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
        assert!(first.starts_with(b"P\0\0\0\x27s0\0SELECT a FROM t WHERE id = $1\0\0\0"));
        assert!(first.ends_with(bound));
        let row =
            b"1\0\0\0\x042\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x017C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
        let ProtocolProgress::Answered(answer) = side.hear(row) else {
            panic!("no answer by {chunk}")
        };
        assert_eq!((answer.rows, answer.round_trips, answer.warnings), (Ok(1), 1, 0));
        assert_eq!(side.execute(0, &[SqlValue::Integer(5)]), bound);
        let failed = b"2\0\0\0\x04N\0\0\0\x0bSWARNING\0\0E\0\0\0\x28SERROR\0VERROR\0C40001\0Mcould not serialize\0\0Z\0\0\0\x05I";
        let failed = fix_lengths(failed);
        let ProtocolProgress::Answered(answer) = side.hear(&failed) else {
            panic!("no answer by {chunk}")
        };
        let failure = answer.rows.expect_err("failed");
        assert_eq!((failure.code.as_str(), failure.undone, answer.warnings), ("40001", true, 1));
        assert_eq!(side.execute(1, &[]), b"Q\0\0\0\x0aBEGIN\0");

        // A last word while nobody asks.
        assert!(matches!(
            side.hear(b"C\0\0\0\x0aBEGIN\0Z\0\0\0\x05T"),
            ProtocolProgress::Answered(_)
        ));
        let bye =
            fix_lengths(b"S\0\0\0\0TimeZone\0UTC\0\0E\0\0\0\0SFATAL\0VFATAL\0C57P01\0Mbye\0\0");
        let ProtocolProgress::Broken(failure) = side.hear(&bye) else {
            panic!("not broken by {chunk}")
        };
        assert_eq!(failure.code, "57P01");
    }
}

/// Writes the lengths of messages that end where the next one, or nothing, begins: each ends in two
/// zero bytes or is ReadyForQuery.
fn fix_lengths(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), bytes);
    while let Some((tag, body)) = rest.split_first() {
        let body = &body[4..];
        let length = match tag {
            b'Z' => 1,
            b'2' => 0,
            _ => body.windows(2).position(|pair| pair == b"\0\0").expect("an end") + 2,
        };
        out.push(*tag);
        out.extend_from_slice(&(length as u32 + 4).to_be_bytes());
        out.extend_from_slice(&body[..length]);
        rest = &body[length..];
    }
    out
}

#[test]
fn passwords_are_hashed_as_the_server_asks() {
    for chunk in 1..20 {
        let mut side = Side::open("password", chunk);
        assert!(matches!(
            side.hear(b"R\0\0\0\x0c\0\0\0\x05\x2a\x3d\x8f\xe0"),
            ProtocolProgress::More
        ));
        assert_eq!(side.said(), b"p\0\0\0\x28md562af4dd09bbb41884907a838a3233294\0");
        assert!(matches!(side.hear(WELCOME), ProtocolProgress::Connected));
    }
}

#[test]
fn what_is_no_postgresql_is_told() {
    let told = |bytes: &[u8]| {
        let mut side = Side::open("x", 7);
        match side.hear(bytes) {
            ProtocolProgress::Broken(failure) => failure,
            other => panic!("{other:?}"),
        }
    };
    let mysql = told(b"J\0\0\0\x0a5.5.5-10.11.19-MariaDB\0");
    assert!(mysql.message.ends_with("is it a PostgreSQL server?"), "{mysql:?}");
    let http = told(b"HTTP/1.1 400 Bad Request\r\n");
    assert!(http.message.ends_with("is it a PostgreSQL server?"), "{http:?}");
    let old = told(b"Ecould not fork new process for connection: no memory\n\0");
    assert!(old.message.starts_with("could not fork"), "{old:?}");
    let refused = told(&fix_lengths(
        b"E\0\0\0\0SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0",
    ));
    assert_eq!(refused.code, "57P03");
    assert!(refused.message.contains("try again"), "{refused:?}");
    let gss = told(b"R\0\0\0\x08\0\0\0\x07");
    assert!(gss.message.contains("GSSAPI"), "{gss:?}");
    let unasked = {
        let mut side = Side::open("", 7);
        side.hear(WELCOME);
        match side.hear(b"Z\0\0\0\x05I") {
            ProtocolProgress::Broken(failure) => failure,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(unasked.code, "protocol");
    let complained = {
        let mut side = Side::open("", 7);
        side.hear(WELCOME);
        match side.hear(&fix_lengths(b"E\0\0\0\0SERROR\0VERROR\0CXX000\0Modd\0\0Z\0\0\0\x05I")) {
            ProtocolProgress::Broken(failure) => failure,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(complained.code, "XX000", "an error that nobody asked for");
}
