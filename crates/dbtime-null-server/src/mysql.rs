//! MySQL's protocol, as much of it as a client of the null server needs.
//!
//! Source: MySQL internals manual, "Client/Server Protocol".

use crate::faults::{FaultAction, FaultPlan};
use crate::reply::NullReply;
use crate::session::{ProtocolSession, SessionStep};
use dbtime_wire::mysql::{HEADER, command, header, write_packet};
use mysql_common::constants::CapabilityFlags;
use std::sync::LazyLock;

/// The version it says it has.
const VERSION: &[u8] = b"8.0.0-null";

/// What it can do: both ways to end a result, no TLS.
const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// Types of columns: an integer of eight bytes, and a text.
const LONGLONG: u8 = 8;
const VAR_STRING: u8 = 253;

/// Commands beyond those that a driver sends.
const INIT_DB: u8 = 0x02;
const STMT_SEND_LONG_DATA: u8 = 0x18;
const STMT_RESET: u8 = 0x1a;
const RESET_CONNECTION: u8 = 0x1f;

const UNKNOWN_COMMAND: u16 = 1047;
const UNSUPPORTED: u16 = 1235;

/// Status after everything: statements commit by themselves.
const AUTOCOMMIT: [u8; 2] = [2, 0];

/// One client's conversation.
pub(crate) struct MySqlSession {
    is_authenticated: bool,
    without_eof: bool,
    /// The answers to prepared statements; the first has number 1.
    prepared: Vec<NullReply>,
}

impl MySqlSession {
    /// A conversation, which begins with the server's greeting.
    pub(crate) fn new(number: u32, out: &mut Vec<u8>) -> Self {
        write_packet(&greeting(number), 0, out);
        Self { is_authenticated: false, without_eof: false, prepared: Vec::new() }
    }

    /// Whoever it is, and whatever the password.
    fn authenticate(&mut self, payload: &[u8], sequence: u8, out: &mut Vec<u8>) -> SessionStep {
        let Some(flags) = payload.first_chunk() else { return SessionStep::Close };
        let theirs = CapabilityFlags::from_bits_truncate(u32::from_le_bytes(*flags));
        self.without_eof = theirs.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        self.is_authenticated = true;
        write_packet(&ok(0x00), sequence.wrapping_add(1), out);
        SessionStep::GoOn
    }

    #[inline]
    fn command(&mut self, payload: &[u8], out: &mut Vec<u8>, plan: &FaultPlan) -> SessionStep {
        let Some((&command, rest)) = payload.split_first() else { return SessionStep::Close };
        match command {
            command::STMT_EXECUTE => {
                let number = rest.first_chunk().map_or(0, |id| u32::from_le_bytes(*id)) as usize;
                let reply = number.checked_sub(1).and_then(|index| self.prepared.get(index));
                return match reply {
                    Some(reply) => self.reply(*reply, true, out, plan),
                    None => SessionStep::Close,
                };
            }
            command::QUERY => return self.reply(NullReply::to(rest), false, out, plan),
            command::STMT_PREPARE => self.prepare(rest, out),
            command::PING | INIT_DB | STMT_RESET | RESET_CONNECTION => {
                write_packet(&ok(0x00), 1, out);
            }
            command::STMT_CLOSE | STMT_SEND_LONG_DATA => {}
            command::QUIT => return SessionStep::Close,
            _ => error(UNKNOWN_COMMAND, "the null server does not know this command", out),
        }
        SessionStep::GoOn
    }

    #[inline]
    fn reply(
        &self,
        reply: NullReply,
        is_binary: bool,
        out: &mut Vec<u8>,
        plan: &FaultPlan,
    ) -> SessionStep {
        if reply.is_load() {
            match plan.next() {
                FaultAction::Answered => {}
                FaultAction::Failed => {
                    error(plan.faults.mysql_error, "the null server was told to fail", out);
                    return SessionStep::Load;
                }
                FaultAction::Closed => return SessionStep::Close,
            }
        }
        let results = &RESULTS[usize::from(self.without_eof)];
        match (reply, is_binary) {
            (NullReply::One, true) => out.extend_from_slice(&results.one_binary),
            (NullReply::One, false) => out.extend_from_slice(&results.one_text),
            (NullReply::Zero, true) => out.extend_from_slice(&results.zero_binary),
            (NullReply::Zero, false) => out.extend_from_slice(&results.zero_text),
            (NullReply::Version, true) => out.extend_from_slice(&results.version_binary),
            (NullReply::Version, false) => out.extend_from_slice(&results.version_text),
            (NullReply::Empty, _) => out.extend_from_slice(&results.empty),
            (NullReply::Done(_), _) => {
                write_packet(&ok(0x00), 1, out);
            }
            (NullReply::Refused, _) => error(UNSUPPORTED, "the null server holds no data", out),
        }
        if reply.is_load() { SessionStep::Load } else { SessionStep::GoOn }
    }

    fn prepare(&mut self, sql: &[u8], out: &mut Vec<u8>) {
        let reply = NullReply::to(sql);
        self.prepared.push(reply);
        let columns = columns_of(reply);
        let parameters = parameters(sql);
        let mut head = vec![0x00];
        head.extend_from_slice(&(self.prepared.len() as u32).to_le_bytes());
        head.extend_from_slice(&(columns.len() as u16).to_le_bytes());
        head.extend_from_slice(&parameters.to_le_bytes());
        head.extend_from_slice(&[0, 0, 0]);
        let mut sequence = write_packet(&head, 1, out);
        let of_parameters = vec![("?", VAR_STRING); usize::from(parameters)];
        for described in [&of_parameters[..], columns] {
            sequence = descriptions(described, self.without_eof, sequence, out);
        }
    }
}

impl ProtocolSession for MySqlSession {
    #[inline]
    fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        plan: &FaultPlan,
    ) -> Option<(usize, SessionStep)> {
        let (length, sequence) = header(input)?;
        let payload = input.get(HEADER..HEADER + length)?;
        let step = if self.is_authenticated {
            self.command(payload, out, plan)
        } else {
            self.authenticate(payload, sequence, out)
        };
        Some((HEADER + length, step))
    }
}

/// Results as they go over the wire, with or without end-of-file packets.
struct NullResults {
    one_text: Vec<u8>,
    one_binary: Vec<u8>,
    zero_text: Vec<u8>,
    zero_binary: Vec<u8>,
    version_text: Vec<u8>,
    version_binary: Vec<u8>,
    empty: Vec<u8>,
}

static RESULTS: LazyLock<[NullResults; 2]> = LazyLock::new(|| [false, true].map(NullResults::new));

impl NullResults {
    fn new(without_eof: bool) -> Self {
        let of = |reply: NullReply, is_binary| {
            let text = [&[VERSION.len() as u8], VERSION].concat();
            let row = match (reply.number(), is_binary) {
                (Some(number), true) => Some(u64::from(number).to_le_bytes().to_vec()),
                (Some(number), false) => Some(vec![1, b'0' + number]),
                (None, _) => (reply == NullReply::Version).then_some(text),
            };
            // Rows of the binary protocol begin with a zero, and one bit for each that is NULL.
            let begin: &[u8] = if is_binary { &[0x00, 0x00] } else { &[] };
            let row = row.map(|row| [begin, &row].concat());
            result(columns_of(reply), row.as_deref(), without_eof)
        };
        Self {
            one_text: of(NullReply::One, false),
            one_binary: of(NullReply::One, true),
            zero_text: of(NullReply::Zero, false),
            zero_binary: of(NullReply::Zero, true),
            version_text: of(NullReply::Version, false),
            version_binary: of(NullReply::Version, true),
            empty: of(NullReply::Empty, false),
        }
    }
}

/// Names and types of the columns of a reply.
fn columns_of(reply: NullReply) -> &'static [(&'static str, u8)] {
    match reply {
        NullReply::One | NullReply::Zero => &[("1", LONGLONG)],
        NullReply::Version => &[("VERSION()", VAR_STRING)],
        NullReply::Empty => &[("Variable_name", VAR_STRING), ("Value", VAR_STRING)],
        NullReply::Done(_) | NullReply::Refused => &[],
    }
}

fn result(columns: &[(&str, u8)], row: Option<&[u8]>, without_eof: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sequence = write_packet(&[columns.len() as u8], 1, &mut out);
    sequence = descriptions(columns, without_eof, sequence, &mut out);
    if let Some(row) = row {
        sequence = write_packet(row, sequence, &mut out);
    }
    if without_eof {
        write_packet(&ok(0xfe), sequence, &mut out)
    } else {
        write_packet(&eof(), sequence, &mut out)
    };
    out
}

/// Columns one by one, and what ends their list; nothing for none.
fn descriptions(
    columns: &[(&str, u8)],
    without_eof: bool,
    mut sequence: u8,
    out: &mut Vec<u8>,
) -> u8 {
    for (name, kind) in columns {
        // Catalogue `def`; no schema, table or origin.
        let mut payload = b"\x03def\0\0\0".to_vec();
        payload.push(name.len() as u8);
        payload.extend_from_slice(name.as_bytes());
        // No origin; twelve bytes: UTF-8, length, type, no flags, no decimals.
        payload.extend_from_slice(&[0, 12, 45, 0, 64, 0, 0, 0, *kind, 0, 0, 0, 0, 0]);
        sequence = write_packet(&payload, sequence, out);
    }
    if columns.is_empty() || without_eof { sequence } else { write_packet(&eof(), sequence, out) }
}

fn ok(first: u8) -> [u8; 7] {
    [first, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1], 0, 0]
}

fn eof() -> [u8; 5] {
    [0xfe, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1]]
}

/// A failed statement; only the number of a deadlock has a state of its own.
#[cold]
fn error(code: u16, message: &str, out: &mut Vec<u8>) {
    let state = if code == 1213 { b"#40001" } else { b"#HY000" };
    let payload = [&[0xff], &code.to_le_bytes()[..], state, message.as_bytes()].concat();
    write_packet(&payload, 1, out);
}

fn greeting(number: u32) -> Vec<u8> {
    let [a, b, c, d] = CAPABILITIES.bits().to_le_bytes();
    let mut out = vec![10];
    out.extend_from_slice(VERSION);
    out.push(0);
    out.extend_from_slice(&number.to_le_bytes());
    // Nobody is kept out, so the challenge may be known.
    out.extend_from_slice(b"challeng\0");
    out.extend_from_slice(&[a, b, 45, AUTOCOMMIT[0], AUTOCOMMIT[1], c, d, 21]);
    out.extend_from_slice(&[0; 10]);
    out.extend_from_slice(b"e of twelve.\0mysql_native_password\0");
    out
}

/// Question marks outside of quotes.
fn parameters(sql: &[u8]) -> u16 {
    let mut quote = None;
    let mut count = 0;
    for byte in sql {
        match (quote, byte) {
            (Some(begun), byte) if begun == byte => quote = None,
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'?') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::FaultSchedule;
    use crate::session::ReceiveResult;
    use dbtime_wire::ReadProgress;
    use dbtime_wire::mysql::{ExpectedReply, MysqlResponse, MysqlResponseReader};

    /// Lets a client in that can do what `flags` say.
    fn session(flags: CapabilityFlags) -> MySqlSession {
        let mut session = MySqlSession::new(1, &mut Vec::new());
        let mut login = Vec::new();
        write_packet(&[&flags.bits().to_le_bytes()[..], &[0; 28]].concat(), 1, &mut login);
        let plan = FaultPlan::new(FaultSchedule::default());
        let taken = session.receive(&login, &mut Vec::new(), &plan);
        assert_eq!(taken, ReceiveResult { used: login.len(), closes: false, has_load: false });
        session
    }

    fn answer(
        session: &mut MySqlSession,
        payload: &[u8],
        faults: &FaultSchedule,
    ) -> (ReceiveResult, MysqlResponse) {
        let (mut input, mut out) = (Vec::new(), Vec::new());
        write_packet(payload, 0, &mut input);
        let taken = session.receive(&input, &mut out, &FaultPlan::new(faults.clone()));
        let mut reader = MysqlResponseReader::new(session.without_eof);
        let is_prepare = payload[0] == command::STMT_PREPARE;
        reader.expect(
            if is_prepare { ExpectedReply::Prepare } else { ExpectedReply::Results },
            false,
        );
        let read = reader.feed(&out, &mut ()).expect("an answer");
        assert_eq!(read, (out.len(), ReadProgress::Done), "{payload:?}");
        (taken, reader.take())
    }

    #[test]
    fn answers_are_whole_with_and_without_end_of_file_packets() {
        for flags in [CapabilityFlags::empty(), CapabilityFlags::CLIENT_DEPRECATE_EOF] {
            let mut session = session(flags);
            let mut ask = |payload: &[u8]| answer(&mut session, payload, &FaultSchedule::default());
            let (taken, one) = ask(b"\x03SELECT 1");
            assert_eq!((one.rows, one.has_result, taken.has_load), (1, true, true));
            let (taken, none) = ask(b"\x03SHOW VARIABLES");
            assert_eq!((none.rows, none.has_result, taken.has_load), (0, true, false));
            assert_eq!(ask(b"\x03SELECT version()").1.rows, 1);
            assert!(!ask(b"\x03SET x = 1").1.has_result);
            let (_, prepared) = ask(b"\x16SELECT c FROM t WHERE a = ? AND b = '?' AND d = ?");
            let prepared = prepared.prepared.expect("prepared");
            assert_eq!((prepared.id, prepared.columns, prepared.parameters), (1, 1, 2));
            assert_eq!(ask(b"\x17\x01\0\0\0\0\x01\0\0\0").1.rows, 1);
        }
    }

    #[test]
    fn statements_fail_and_connections_close_as_told() {
        let mut session = session(CAPABILITIES);
        let faults =
            FaultSchedule { fail_every: Some(1), mysql_error: 1205, ..FaultSchedule::default() };
        let (_, failed) = answer(&mut session, b"\x03SELECT 1", &faults);
        assert_eq!(failed.error.expect("an error").code, 1205);
        assert_eq!(answer(&mut session, b"\x03COMMIT", &faults).1.error, None);
        let plan =
            FaultPlan::new(FaultSchedule { close_every: Some(1), ..FaultSchedule::default() });
        let mut input = Vec::new();
        write_packet(b"\x03SELECT 1", 0, &mut input);
        assert!(session.receive(&input, &mut Vec::new(), &plan).closes);
    }

    #[test]
    fn a_packet_that_is_not_whole_is_waited_for() {
        let mut session = session(CAPABILITIES);
        let plan = FaultPlan::new(FaultSchedule::default());
        let mut input = Vec::new();
        write_packet(b"\x03SELECT 1", 0, &mut input);
        for length in 0..input.len() {
            let taken = session.receive(&input[..length], &mut Vec::new(), &plan);
            assert_eq!(taken, ReceiveResult::default());
        }
        assert_eq!(plan.count(), 0);
    }
}
