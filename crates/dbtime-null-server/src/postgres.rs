//! PostgreSQL's protocol, as much of it as a client of the null server needs.
//!
//! Source: PostgreSQL manual, "Frontend/Backend Protocol", version 3.0.

use crate::faults::{FaultAction, FaultPlan};
use crate::reply::NullReply;
use crate::session::{ProtocolSession, SessionStep};
use dbtime_wire::postgres::{HEADER, backend, frontend};
use std::collections::BTreeMap;

/// Requests that come in place of a greeting.
const CANCEL: u32 = 1234 << 16 | 5678;
const SSL: u32 = 1234 << 16 | 5679;
const GSS: u32 = 1234 << 16 | 5680;

const VERSION: &str = "PostgreSQL 15.0 (null)";

/// What it says of itself once it has let somebody in.
const PARAMETERS: [(&str, &str); 7] = [
    ("server_version", "15.0 (null)"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("standard_conforming_strings", "on"),
    ("integer_datetimes", "on"),
    ("DateStyle", "ISO, MDY"),
    ("TimeZone", "UTC"),
];

/// Object identifiers of types.
const INT4: u32 = 23;
const TEXT: u32 = 25;

const UNSUPPORTED: &str = "0A000";
const UNKNOWN_STATEMENT: &str = "26000";
const UNKNOWN_PORTAL: &str = "34000";

/// One client's conversation.
pub(crate) struct PostgresSession {
    number: u32,
    is_authenticated: bool,
    /// `I`, or `T` inside of a transaction, or `E` when that has failed.
    status: u8,
    /// After an error everything up to Sync is passed over.
    skips_to_sync: bool,
    statements: BTreeMap<Vec<u8>, NullStatement>,
    portals: BTreeMap<Vec<u8>, NullPortal>,
}

#[derive(Clone, Copy, Debug)]
struct NullStatement {
    reply: NullReply,
    parameters: u16,
}

#[derive(Clone, Copy, Debug)]
struct NullPortal {
    reply: NullReply,
    is_binary: bool,
}

impl PostgresSession {
    pub(crate) fn new(number: u32) -> Self {
        let statements = BTreeMap::new();
        let portals = BTreeMap::new();
        Self {
            number,
            is_authenticated: false,
            status: b'I',
            skips_to_sync: false,
            statements,
            portals,
        }
    }

    /// Whoever it is, and without a password.
    fn greet(&mut self, message: &[u8], out: &mut Vec<u8>) -> SessionStep {
        match message.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)) {
            Some(SSL | GSS) => {
                out.push(b'N');
                return SessionStep::GoOn;
            }
            Some(CANCEL) | None => return SessionStep::Close,
            Some(_) => {}
        }
        self.is_authenticated = true;
        write(backend::AUTHENTICATION, &[&[0; 4]], out);
        for (name, value) in PARAMETERS {
            write(
                backend::PARAMETER_STATUS,
                &[name.as_bytes(), b"\0", value.as_bytes(), b"\0"],
                out,
            );
        }
        write(backend::KEY_DATA, &[&self.number.to_be_bytes(), &[0; 4]], out);
        write(backend::READY, &[b"I"], out);
        SessionStep::GoOn
    }

    #[inline]
    fn message(
        &mut self,
        kind: u8,
        body: &[u8],
        out: &mut Vec<u8>,
        plan: &FaultPlan,
    ) -> SessionStep {
        match kind {
            frontend::TERMINATE => return SessionStep::Close,
            frontend::SYNC => self.ready(out),
            frontend::QUERY => return self.query(body, out, plan),
            _ if self.skips_to_sync => {}
            frontend::PARSE => self.parse(body, out),
            frontend::BIND => self.bind(body, out),
            frontend::DESCRIBE => self.describe(body, out),
            frontend::EXECUTE => {
                let (name, _) = text(body);
                match self.portals.get(name) {
                    Some(portal) => return self.execute(*portal, out, plan),
                    None => self.fail(UNKNOWN_PORTAL, "there is no such portal", out),
                }
            }
            frontend::CLOSE => {
                let (name, _) = text(body.get(1..).unwrap_or_default());
                match body.first() {
                    Some(b'S') => drop(self.statements.remove(name)),
                    _ => drop(self.portals.remove(name)),
                }
                write(backend::CLOSE_COMPLETE, &[], out);
            }
            // Flush, and data for a COPY that was refused.
            _ => {}
        }
        SessionStep::GoOn
    }

    #[inline]
    fn ready(&mut self, out: &mut Vec<u8>) {
        self.skips_to_sync = false;
        write(backend::READY, &[&[self.status]], out);
    }

    /// A statement as text, and all there is to say to it.
    #[inline]
    fn query(&mut self, body: &[u8], out: &mut Vec<u8>, plan: &FaultPlan) -> SessionStep {
        let (sql, _) = text(body);
        let reply = NullReply::to(sql);
        let next = match show_parameter(sql).filter(|_| reply == NullReply::Empty) {
            Some((name, value)) => {
                out.extend_from_slice(&columns(&[(name, TEXT)], false));
                row_of_text(value, out);
                write(backend::COMMAND_COMPLETE, &[b"SHOW\0"], out);
                SessionStep::GoOn
            }
            None => {
                if reply.has_columns() {
                    out.extend_from_slice(&row_description(reply, false));
                }
                self.execute(NullPortal { reply, is_binary: false }, out, plan)
            }
        };
        self.ready(out);
        next
    }

    fn parse(&mut self, body: &[u8], out: &mut Vec<u8>) {
        let (name, rest) = text(body);
        let (sql, _) = text(rest);
        let statement = NullStatement { reply: NullReply::to(sql), parameters: parameters(sql) };
        self.statements.insert(name.to_vec(), statement);
        write(backend::PARSE_COMPLETE, &[], out);
    }

    #[inline]
    fn bind(&mut self, body: &[u8], out: &mut Vec<u8>) {
        let (portal, rest) = text(body);
        let (name, rest) = text(rest);
        let Some(statement) = self.statements.get(name) else {
            return self.fail(UNKNOWN_STATEMENT, "there is no such prepared statement", out);
        };
        let bound = NullPortal { reply: statement.reply, is_binary: is_binary_result(rest) };
        match self.portals.get_mut(portal) {
            Some(found) => *found = bound,
            None => drop(self.portals.insert(portal.to_vec(), bound)),
        }
        write(backend::BIND_COMPLETE, &[], out);
    }

    fn describe(&mut self, body: &[u8], out: &mut Vec<u8>) {
        let (name, _) = text(body.get(1..).unwrap_or_default());
        match body.first() {
            Some(b'S') => match self.statements.get(name) {
                Some(NullStatement { reply, parameters }) => {
                    let types = TEXT.to_be_bytes().repeat(usize::from(*parameters));
                    write(
                        backend::PARAMETER_DESCRIPTION,
                        &[&parameters.to_be_bytes(), &types],
                        out,
                    );
                    out.extend_from_slice(&row_description(*reply, false));
                }
                None => self.fail(UNKNOWN_STATEMENT, "there is no such prepared statement", out),
            },
            _ => match self.portals.get(name) {
                Some(NullPortal { reply, is_binary }) => {
                    out.extend_from_slice(&row_description(*reply, *is_binary));
                }
                None => self.fail(UNKNOWN_PORTAL, "there is no such portal", out),
            },
        }
    }

    /// Rows, if there are any, and the end of the statement.
    #[inline]
    fn execute(&mut self, portal: NullPortal, out: &mut Vec<u8>, plan: &FaultPlan) -> SessionStep {
        let NullPortal { reply, is_binary } = portal;
        if reply.is_load() {
            match plan.next() {
                FaultAction::Answered => {}
                FaultAction::Failed => {
                    self.fail(&plan.faults.postgres_error, "the null server was told to fail", out);
                    return SessionStep::Load;
                }
                FaultAction::Closed => return SessionStep::Close,
            }
        }
        match (reply, reply.number()) {
            (_, Some(number)) => {
                if is_binary {
                    write(backend::DATA_ROW, &[&[0, 1, 0, 0, 0, 4, 0, 0, 0, number]], out)
                } else {
                    write(backend::DATA_ROW, &[&[0, 1, 0, 0, 0, 1, b'0' + number]], out)
                }
                write(backend::COMMAND_COMPLETE, &[b"SELECT 1\0"], out);
            }
            (NullReply::Version, _) => {
                row_of_text(VERSION, out);
                write(backend::COMMAND_COMPLETE, &[b"SELECT 1\0"], out);
            }
            (NullReply::Refused, _) => self.fail(UNSUPPORTED, "the null server holds no data", out),
            (NullReply::Done(tag), _) => {
                self.status = match (tag, self.status) {
                    ("BEGIN", b'I') => b'T',
                    ("COMMIT" | "ROLLBACK", _) => b'I',
                    (_, status) => status,
                };
                write(backend::COMMAND_COMPLETE, &[tag.as_bytes(), b"\0"], out);
            }
            _ => write(backend::COMMAND_COMPLETE, &[b"SELECT 0\0"], out),
        }
        if reply.is_load() { SessionStep::Load } else { SessionStep::GoOn }
    }

    #[cold]
    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<u8>) {
        let fields: [&[u8]; 5] =
            [b"SERROR\0VERROR\0C", code.as_bytes(), b"\0M", message.as_bytes(), b"\0\0"];
        write(backend::ERROR, &fields, out);
        self.skips_to_sync = true;
        if self.status == b'T' {
            self.status = b'E';
        }
    }
}

impl ProtocolSession for PostgresSession {
    #[inline]
    fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        plan: &FaultPlan,
    ) -> Option<(usize, SessionStep)> {
        // The greeting has no kind.
        let kind_length = usize::from(self.is_authenticated);
        let length = input.get(kind_length..)?.first_chunk::<4>()?;
        let end = kind_length + (u32::from_be_bytes(*length) as usize).max(4);
        let message = input.get(kind_length + 4..end)?;
        let step = if self.is_authenticated {
            self.message(input[0], message, out, plan)
        } else {
            self.greet(message, out)
        };
        Some((end, step))
    }
}

/// The parameter that a SHOW asks for, with its value.
fn show_parameter(sql: &[u8]) -> Option<(&'static str, &'static str)> {
    let name = sql.split(u8::is_ascii_whitespace).rfind(|word| !word.is_empty())?;
    let known = PARAMETERS.into_iter();
    let mut named = known.filter(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
    named.next()
}

/// Writes a message.
#[inline]
fn write(kind: u8, parts: &[&[u8]], out: &mut Vec<u8>) {
    let length = parts.iter().map(|part| part.len()).sum::<usize>() + HEADER - 1;
    out.push(kind);
    out.extend_from_slice(&(length as u32).to_be_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// A text up to its zero byte, and what follows.
fn text(body: &[u8]) -> (&[u8], &[u8]) {
    let end = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
    (&body[..end], body.get(end + 1..).unwrap_or_default())
}

/// The description of a reply's columns.
fn row_description(reply: NullReply, is_binary: bool) -> Vec<u8> {
    match reply {
        NullReply::One | NullReply::Zero => columns(&[("?column?", INT4)], is_binary),
        NullReply::Version => columns(&[("version", TEXT)], is_binary),
        NullReply::Empty => columns(&[("name", TEXT), ("setting", TEXT)], is_binary),
        NullReply::Done(_) | NullReply::Refused => {
            let mut out = Vec::new();
            write(backend::NO_DATA, &[], &mut out);
            out
        }
    }
}

/// A row of one text.
fn row_of_text(text: &str, out: &mut Vec<u8>) {
    let length = (text.len() as u32).to_be_bytes();
    write(backend::DATA_ROW, &[&[0, 1], &length, text.as_bytes()], out);
}

/// The description of columns by name and type.
fn columns(columns: &[(&str, u32)], is_binary: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = (columns.len() as u16).to_be_bytes().to_vec();
    for (name, kind) in columns {
        body.extend_from_slice(name.as_bytes());
        // No table, no column of it; type; size and modifier that say nothing; format.
        body.extend_from_slice(&[0; 7]);
        body.extend_from_slice(&kind.to_be_bytes());
        body.extend_from_slice(&[0xff; 6]);
        body.extend_from_slice(&u16::from(is_binary).to_be_bytes());
    }
    write(backend::ROW_DESCRIPTION, &[&body], &mut out);
    out
}

/// Whether a Bind, read from its formats on, asks for a binary result.
#[inline]
fn is_binary_result(body: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = body.get(at..)?.first_chunk::<2>()?;
        Some(usize::from(u16::from_be_bytes(*bytes)))
    };
    let find = || {
        let mut at = 2 + 2 * number(0)?;
        let values = number(at)?;
        at += 2;
        for _ in 0..values {
            let length = i32::from_be_bytes(*body.get(at..)?.first_chunk::<4>()?);
            at += 4 + usize::try_from(length).unwrap_or(0);
        }
        Some(number(at)? > 0 && number(at + 2)? == 1)
    };
    find().unwrap_or(false)
}

/// The highest number behind a dollar sign.
fn parameters(sql: &[u8]) -> u16 {
    let after = |(at, byte): (usize, &u8)| {
        let digits = sql[at + 1..].iter().take_while(|byte| byte.is_ascii_digit());
        let number = digits.fold(0u16, |n, digit| n.saturating_mul(10) + u16::from(digit - b'0'));
        (*byte == b'$').then_some(number)
    };
    sql.iter().enumerate().filter_map(after).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::FaultSchedule;

    fn session() -> PostgresSession {
        let mut session = PostgresSession::new(7);
        let mut out = Vec::new();
        let plan = FaultPlan::new(FaultSchedule::default());
        let hello = [&8u32.to_be_bytes()[..], &SSL.to_be_bytes(), &[0, 0, 0, 9, 0, 3, 0, 0, 0]];
        let hello = hello.concat();
        assert_eq!(session.receive(&hello, &mut out, &plan).used, hello.len());
        assert_eq!((out[0], out[1], &out[out.len() - 6..]), (b'N', b'R', &b"Z\0\0\0\x05I"[..]));
        session
    }

    /// Kinds of the messages that come back.
    fn kinds(
        session: &mut PostgresSession,
        messages: &[(u8, &[u8])],
        faults: &FaultSchedule,
    ) -> String {
        let (mut input, mut out) = (Vec::new(), Vec::new());
        messages.iter().for_each(|(kind, body)| write(*kind, &[body], &mut input));
        let plan = FaultPlan::new(faults.clone());
        assert_eq!(session.receive(&input, &mut out, &plan).used, input.len());
        let (mut rest, mut kinds) = (&out[..], String::new());
        while let [kind, a, b, c, d, ..] = rest {
            kinds.push(char::from(*kind));
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            rest = &rest[1 + length..];
        }
        assert!(rest.is_empty());
        kinds
    }

    #[test]
    fn simple_and_prepared_statements_are_answered_in_order() {
        let mut session = session();
        let none = FaultSchedule::default();
        let mut ask = |messages: &[(u8, &[u8])]| kinds(&mut session, messages, &none);
        assert_eq!(ask(&[(b'Q', b"SELECT 1\0")]), "TDCZ");
        assert_eq!(ask(&[(b'Q', b"SHOW server_version\0")]), "TDCZ");
        assert_eq!(ask(&[(b'Q', b"SHOW shared_buffers\0")]), "TCZ");
        assert_eq!(ask(&[(b'Q', b"BEGIN\0")]), "CZ");
        let bind: (u8, &[u8]) = (b'B', b"\0s\0\0\0\0\x01\0\0\0\x011\0\0");
        let execute: (u8, &[u8]) = (b'E', b"\0\0\0\0\0");
        let parse: (u8, &[u8]) = (b'P', b"s\0SELECT c FROM t WHERE a = $1\0\0\0");
        let sync: (u8, &[u8]) = (b'S', b"");
        assert_eq!(ask(&[parse, bind, execute, sync]), "12DCZ");
        assert_eq!(ask(&[(b'D', b"Ss\0"), bind, execute, sync]), "tT2DCZ");
        assert_eq!(ask(&[(b'B', b"\0nowhere\0\0\0\0\0\0\0"), execute, sync]), "EZ");
        assert_eq!(session.status, b'E');
    }

    #[test]
    fn after_an_error_everything_up_to_sync_is_passed_over() {
        let mut session = session();
        let faults = FaultSchedule { fail_every: Some(1), ..FaultSchedule::default() };
        let parse: (u8, &[u8]) = (b'P', b"\0SELECT 1\0\0\0");
        let bind: (u8, &[u8]) = (b'B', b"\0\0\0\0\0\0\0\x01\0\x01");
        let execute: (u8, &[u8]) = (b'E', b"\0\0\0\0\0");
        let messages = [parse, bind, execute, execute, (b'S', &b""[..])];
        assert_eq!(kinds(&mut session, &messages, &faults), "12EZ");
        assert!(session.portals[&b""[..]].is_binary);
    }

    #[test]
    fn parameters_are_counted_by_their_highest_number() {
        assert_eq!(parameters(b"SELECT $2 + $10 + $1"), 10);
        assert_eq!(parameters(b"SELECT 1"), 0);
    }
}
