//! What a message means, whatever format it stands in.

use super::message_line::{LineText, MessageLine, MessageWriter};
use super::plans::plan_statement;
use super::severity::MessageSeverity;
use super::translations::in_english;
use crate::logs::EntryKind;
use crate::logs::numbers::{decimal, whole};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{LogFigure, UnreadReason};
use memchr::memmem;

/// Nanoseconds of a millisecond, in which PostgreSQL logs durations.
const MILLISECOND_NS: u64 = 1_000_000;

/// What stands before the text of a statement of the simple protocol.
const STATEMENT: &[u8] = b"statement: ";

/// Writes the pieces of a message.
pub(super) fn write_message(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    writer.note_message();
    match line.severity {
        MessageSeverity::Log => write_logged(line, writer),
        MessageSeverity::Failure(severity) => {
            writer.failure(line, severity);
            if without_place(line.message.bytes) == b"deadlock detected" {
                writer.event(line, "deadlock");
            }
            if !line.statement.bytes.is_empty() {
                writer.statement(line, EntryKind::ErrorStatement, line.statement, None);
            }
        }
        MessageSeverity::Statement => {
            writer.statement(line, EntryKind::ErrorStatement, line.message, None);
        }
        MessageSeverity::Aside => {}
    }
}

fn write_logged(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let message = line.message;
    let bytes = message.bytes;
    match bytes.first() {
        Some(b'd') if bytes.starts_with(b"duration: ") => write_timed(line, writer),
        Some(b's') if bytes.starts_with(STATEMENT) => {
            let text = message.behind(STATEMENT.len());
            writer.statement(line, EntryKind::StatementText, text, None);
        }
        Some(b'e') if bytes.starts_with(b"execute ") => {
            if let Some(text) = behind_name(message) {
                writer.statement(line, EntryKind::ExecuteText, text, None);
            }
        }
        _ => write_other(line, writer),
    }
}

/// What is not about a statement, or is in another language.
fn write_other(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let bytes = line.message.bytes;
    if let Some(english) = in_english(bytes) {
        let message = LineText::made(&english);
        return write_logged(&MessageLine { message, ..*line }, writer);
    }
    match bytes.first() {
        Some(b't') if bytes.starts_with(b"temporary file: ") => write_file(line, writer),
        Some(b'p') if bytes.starts_with(b"process ") => write_lock(line, writer),
        Some(b'c' | b'd' | b'r') => write_session(line, writer),
        Some(b'a') => write_maintenance(line, writer),
        _ => {}
    }
}

/// `duration: 1.234 ms`, alone or with a step of a statement.
fn write_timed(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let rest = line.message.behind(b"duration: ".len());
    let Some(end) = memmem::find(&rest.bytes[..rest.bytes.len().min(64)], b" ms") else {
        return writer.unread(UnreadReason::Form, line.at);
    };
    let duration = decimal(&rest.bytes[..end], MILLISECOND_NS);
    if duration.is_none() {
        writer.unread(UnreadReason::Number, line.at);
    }
    let step = rest.behind(end + b" ms".len()).trimmed();
    let (kind, text) = match step.bytes {
        [] => {
            if duration.is_some() {
                writer.piece(line, EntryKind::Duration, LineText::default(), duration);
            }
            return;
        }
        [b's', ..] if step.bytes.starts_with(STATEMENT) => {
            (EntryKind::Statement, Some(step.behind(STATEMENT.len())))
        }
        [b'e', ..] => (EntryKind::Statement, behind_name(step)),
        [b'b', ..] => (EntryKind::Bind, behind_name(step)),
        [b'p', b'l', ..] => return write_plan(line, step, duration, writer),
        [b'p', ..] => (EntryKind::Parse, behind_name(step)),
        [b'f', ..] => (EntryKind::Command, Some(LineText::made(b"fastpath"))),
        _ => (EntryKind::Statement, None),
    };
    match text {
        Some(text) => writer.statement(line, kind, text, duration),
        None => writer.unread(UnreadReason::Form, line.at),
    }
}

/// The statement behind `execute NAME: `, `bind NAME/PORTAL: `, `execute fetch from NAME: `.
fn behind_name(step: LineText<'_>) -> Option<LineText<'_>> {
    memmem::find(step.bytes, b": ").map(|at| step.behind(at + 2))
}

/// A plan counts by its name, and its statement is in the log once more if that is logged itself.
fn write_plan(
    line: &MessageLine<'_>,
    step: LineText<'_>,
    duration: Option<Nanos>,
    writer: &mut MessageWriter<'_>,
) {
    writer.event(line, "plan");
    let mut made = Vec::new();
    match plan_statement(step, &mut made) {
        Some(text) => writer.statement(line, EntryKind::StatementText, text, duration),
        None => writer.unread(UnreadReason::Form, line.at),
    }
}

/// `temporary file: path "base/pgsql_tmp/…", size 1234`.
fn write_file(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let bytes = line.message.bytes;
    let size = memmem::rfind(bytes, b", size ").and_then(|at| whole(&bytes[at + 7..]));
    match size {
        Some(size) => writer.figure(LogFigure::TmpBytes, size),
        None => writer.unread(UnreadReason::Number, line.at),
    }
    writer.event(line, "temporary file");
}

/// A message without ` at character 15`, which only the text has behind it, for the statement.
fn without_place(message: &[u8]) -> &[u8] {
    let Some(at) = memmem::rfind(message, b" at character ") else { return message };
    let is_number = whole(&message[at + b" at character ".len()..]).is_some();
    if is_number { &message[..at] } else { message }
}

/// `process 7 still waiting for ShareLock on … after 1000.1 ms`, then `process 7 acquired …`: the
/// first counts the wait, the second has its length. The wait that a deadlock ends has both.
fn write_lock(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let words = line.message.behind(b"process ".len());
    let Some(blank) = memchr::memchr(b' ', words.bytes) else { return };
    let behind = &words.bytes[blank + 1..];
    let is_deadlock = behind.starts_with(b"detected deadlock while waiting for ");
    let is_begun = behind.starts_with(b"still waiting for ")
        || behind.starts_with(b"avoided deadlock for ")
        || is_deadlock;
    if is_deadlock || behind.starts_with(b"acquired ") {
        let after = memmem::rfind(behind, b" after ").map(|at| &behind[at + 7..]);
        let waited = after.and_then(|text| without_place(text).strip_suffix(b" ms"));
        match waited.and_then(|text| decimal(text, MILLISECOND_NS)) {
            Some(waited) => writer.figure(LogFigure::LockTime, waited.0),
            None => return writer.unread(UnreadReason::Number, line.at),
        }
    } else if !is_begun {
        return;
    }
    writer.event(line, if is_begun { "lock wait" } else { "" });
}

/// Sessions that begin and end, and checkpoints.
fn write_session(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let message = line.message;
    let bytes = message.bytes;
    let begins = |text: &[u8]| bytes.starts_with(text);
    let is_connect = begins(b"connection received: ")
        || begins(b"connection authorized: ")
        || begins(b"replication connection authorized: ");
    if is_connect || begins(b"disconnection: ") {
        let mut line = *line;
        for (name, place) in [
            (&b" user="[..], &mut line.user),
            (&b" database="[..], &mut line.database),
            (&b" host="[..], &mut line.host),
        ] {
            *place = named_value(message, name).unwrap_or(*place);
        }
        let kind = if is_connect { EntryKind::Connect } else { EntryKind::Disconnect };
        writer.piece(&line, kind, LineText::default(), None);
    } else if begins(b"checkpoint complete: ") || begins(b"restartpoint complete: ") {
        writer.event(line, "checkpoint");
    }
}

/// The value behind a name with its blank and sign, up to the next blank.
fn named_value<'a>(message: LineText<'a>, name: &[u8]) -> Option<LineText<'a>> {
    let start = memmem::find(message.bytes, name)? + name.len();
    let value = &message.bytes[start..];
    let length = memchr::memchr(b' ', value).unwrap_or(value.len());
    Some(message.part(start..start + length))
}

/// `automatic vacuum of table …`, `automatic aggressive vacuum …`, `automatic analyze of table …`.
fn write_maintenance(line: &MessageLine<'_>, writer: &mut MessageWriter<'_>) {
    let Some(words) = line.message.bytes.strip_prefix(b"automatic ") else { return };
    if words.starts_with(b"analyze of ") {
        writer.event(line, "autoanalyze");
    } else if words.starts_with(b"vacuum ") || words.starts_with(b"aggressive vacuum ") {
        writer.event(line, "autovacuum");
    }
}
