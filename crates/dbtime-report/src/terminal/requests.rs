//! Requests that a server served, a line each, and the ledger of all that was seen.

use super::line::ReportLine;
use crate::format::{count, counted, fit, one_line, percent, us};
use dbtime_model::traced::{Blocker, ErrorCode, RequestOutcome, TextState, TracedRequest};
use dbtime_model::traced_ledger::{TraceCost, TraceLedger};
use dbtime_model::units::three_digits;
use dbtime_model::{MonoNanos, Nanos, Part, WireProtocol};
use std::fmt::Write;

fn push_command(request: &TracedRequest, name: &str, out: &mut String) {
    let digit = |four_bits: u8| char::from_digit(four_bits.into(), 16).unwrap_or('?');
    match request.protocol {
        // A recording may say anything.
        WireProtocol::Postgres if request.command.is_ascii_graphic() => {
            out.push(char::from(request.command));
        }
        _ => out.extend([digit(request.command >> 4), digit(request.command & 15)]),
    }
    out.push(':');
    out.push_str(name);
}

/// The headings of the lines below.
pub fn request_heading() -> String {
    let names = [
        "Time s",
        "Conn",
        "Thread",
        "Response",
        "CPU",
        "Longest wait",
        "Command",
        "Rows",
        "Length",
    ];
    format!("{}  Statement\n", cells(names))
}

/// Appends one request, whose command has this name. `since` is when the watching began, and
/// `room` the columns there are.
///
/// Cost: about a microsecond; a busy server has tens of thousands of them a second.
pub fn request_line(
    request: &TracedRequest,
    since: MonoNanos,
    command: &str,
    room: Option<usize>,
    out: &mut String,
) {
    let begin = out.len();
    let mut line = ReportLine(out);
    line.seconds(request.start - since, 10);
    line.gap(1).connection(request.server_id(), request.connection, 7);
    line.gap(1).number(request.thread.into(), 7);
    line.gap(1).time(request.response(), 8);
    match request.parts.measured_duration(Part::Cpu) {
        Some(cpu) => line.gap(1).time(cpu, 8),
        None => _ = line.gap(9),
    }
    line.gap(2).wait(weighty_wait(request), 16);
    line.gap(1).with(10, |out| push_command(request, command, out));
    match request.rows {
        Some(rows) => line.gap(1).number(rows, 5),
        None => _ = line.gap(6),
    }
    line.gap(1).number(request.length.into(), 6);
    line.gap(2);
    if request.outcome == RequestOutcome::Aborted {
        out.push_str("ABORTED ");
    }
    match &request.error {
        Some(ErrorCode::Number(number)) => _ = write!(out, "ERROR {number} "),
        // A recording may say anything.
        Some(ErrorCode::SqlState(state)) => _ = write!(out, "ERROR {} ", one_line(state)),
        None => {}
    }
    if let Some(blocker) = weighty_blocker(request) {
        out.push_str(&blocker);
        out.push(' ');
    }
    if request.executes > 1 {
        let _ = match request.statements.len() {
            0 => write!(out, "[{} executes] ", request.executes),
            number => {
                let statements = counted(number as u64, "statement");
                write!(out, "[{} executes of {statements}] ", request.executes)
            }
        };
    }
    match request.text_state {
        TextState::Whole => push_line(&request.text, out),
        TextState::Cut => {
            push_line(&request.text, out);
            out.push('…');
        }
        TextState::Unknown => out.push_str("(prepared before dbtime looked)"),
        TextState::None => {}
    }
    out.truncate(begin + out[begin..].trim_end().len());
    if let Some(room) = room {
        let fitted = fit(&out[begin..], room);
        out.truncate(begin);
        out.push_str(&fitted);
    }
    out.push('\n');
}

/// Appends a foreign text as one line.
fn push_line(text: &str, out: &mut String) {
    let is_tidy = text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) && !text.contains("  ");
    match is_tidy {
        true => out.push_str(text),
        false => out.push_str(&one_line(text)),
    }
}

/// What lock it waited for and who let that go, where the wait was most of its waiting.
fn weighty_blocker(request: &TracedRequest) -> Option<String> {
    let blocker = request.blocker.as_ref()?;
    let (part, _) = request.parts.longest_wait()?;
    (part == Part::Lock && weighty_wait(request).is_some())
        .then(|| format!("[{}]", blocker_text(blocker)))
}

/// A connection by the server's number of it, or by dbtime's own behind a sign.
pub(crate) fn connection_name(server_id: Option<u64>, own: u64) -> String {
    server_id.map_or_else(|| format!("#{own}"), |id| id.to_string())
}

fn blocker_text(blocker: &Blocker) -> String {
    let lock = one_line(blocker.lock.as_deref().unwrap_or("lock"));
    let (connection, thread) = (blocker.connection, blocker.thread);
    let mut text = match (connection, thread) {
        (_, None) => return format!("{lock} whose holder is not known"),
        (Some(connection), _) => {
            let name = connection_name(blocker.server_id, connection);
            format!("{lock} from connection {name}")
        }
        // Such as a worker of PostgreSQL's.
        (None, Some(thread)) => match blocker.server_id {
            Some(id) => format!("{lock} from process {id}"),
            None => format!("{lock} from thread {thread}"),
        },
    };
    if blocker.has_left {
        text += ", whose client had gone";
    } else if let (Some(_), Some(statement)) = (connection, &blocker.statement)
        && !statement.is_empty()
    {
        text += ": ";
        text += &one_line(statement);
    }
    if let Some(transaction) = blocker.transaction.as_ref().filter(|one| one.statements > 1) {
        let (statements, idle) = (transaction.statements, us(transaction.idle.as_micros()));
        let _ = write!(text, ", {statements} statements, {idle} idle");
    }
    text
}

/// The longest part that is not CPU, where it is of any weight.
fn weighty_wait(request: &TracedRequest) -> Option<(&'static str, Nanos)> {
    const WEIGHT: u64 = 20;
    let (part, ns) = request.parts.longest_wait()?;
    let length = Nanos(ns.unsigned_abs());
    (length.0.saturating_mul(WEIGHT) >= request.response().0).then_some((part.name(), length))
}

fn cells(
    [time, connection, thread, response, cpu, wait, command, rows, length]: [&str; 9],
) -> String {
    format!(
        "{time:>10} {connection:>7} {thread:>7} {response:>8} {cpu:>8}  {wait:<16} {command:<10} \
         {rows:>5} {length:>6}"
    )
}

/// What became of everything that was seen; troubles only where there were some.
pub fn ledger_lines(ledger: &TraceLedger) -> String {
    let mut text = format!(
        "requests     {} started = {} ended + {} in flight + {} aborted + {} under way before",
        count(ledger.started),
        count(ledger.ended),
        count(ledger.in_flight),
        count(ledger.aborted),
        count(ledger.partial),
    );
    match ledger.vanished() {
        0 => {}
        vanished => text.push_str(&format!(" + {vanished} whose connection was gone")),
    }
    text.push('\n');
    if ledger.for_stream() > 0 {
        let [streamed, dropped] = [ledger.streamed, ledger.dropped].map(count);
        text.push_str(&format!("stream       {streamed} handed on + {dropped} dropped"));
        if ledger.not_streamed > 0 {
            text.push_str(&format!(" + {} not streamed", count(ledger.not_streamed)));
        }
        text.push('\n');
    }
    text.push_str(&connections_line(ledger));
    for trouble in ledger_troubles(ledger) {
        text.push_str(&format!("! {trouble}\n"));
    }
    text
}

/// What may be missing in a trace, or is not shown whole, a sentence each; empty where nothing is.
pub(crate) fn ledger_troubles(ledger: &TraceLedger) -> Vec<String> {
    let troubles = [
        (ledger.dropped, "request", "dropped: more came than were read; all are counted above"),
        (
            ledger.not_streamed,
            "request",
            "not streamed: watching took more than --max-cost; all are counted above",
        ),
        (ledger.cut, "text", "longer than the kept part, shown with …"),
        (ledger.unread, "text", "that could not be read"),
        (ledger.pipelined_over, "request", "followed by another before an answer"),
        (ledger.resync, "time", "a connection was lost track of: requests of it may be missing"),
        (ledger.no_storage, "call", "to read or write for which the kernel had no memory"),
        (
            ledger.missed_events,
            "event",
            "of some process that may have been missed: requests may be missing",
        ),
        (
            ledger.unseen_arrivals,
            "time",
            "the kernel did not report that a thread got a CPU; its own record did",
        ),
    ];
    let not_followed = not_followed(ledger).map(|(number, what)| (number, "connection", what));
    let found = troubles.into_iter().chain(not_followed).filter(|(number, ..)| *number > 0);
    let sentences = found.map(|(number, noun, what)| format!("{} {what}", counted(number, noun)));
    sentences.chain(restarts(ledger)).collect()
}

/// Servers that were not watched from their beginning on.
fn restarts(ledger: &TraceLedger) -> Option<String> {
    let (number, unwatched) = (counted(ledger.restarts, "restart"), ledger.unwatched);
    (ledger.restarts > 0).then(|| {
        format!(
            "{number} of servers: requests in the {} before they were found may be missing",
            us(unwatched.as_micros())
        )
    })
}

/// How many connections there were, which of them are known to have no requests, or whose user is
/// not known, and how many errors were sent on them that answered none.
fn connections_line(ledger: &TraceLedger) -> String {
    let mut line = format!("connections  {} followed", count(ledger.connections));
    let kinds = [
        (ledger.unknown_users(), "of unknown users, from before"),
        (ledger.replication, "of replicas"),
        (ledger.cancels, "that only cancelled a request"),
        (ledger.refused, "of clients that were refused before they had said who they are"),
    ];
    for (connections, what) in kinds.into_iter().filter(|(number, _)| *number > 0) {
        line.push_str(&format!(", {} {what}", count(connections)));
    }
    match ledger.connection_errors {
        0 => {}
        errors => line.push_str(&format!("; {} outside of requests", counted(errors, "error"))),
    }
    line + "\n"
}

/// Connections that were not followed, with what that means.
fn not_followed(ledger: &TraceLedger) -> [(u64, &'static str); 5] {
    [
        (ledger.tls, "spoke TLS of a library that shows no plain text: requests are missing"),
        (ledger.gss, "encrypted by GSS, which is not read: requests are missing"),
        (ledger.compressed, "compressed, which is not read: requests are missing"),
        (
            ledger.other_protocol,
            "spoke another protocol, such as HTTP or MySQL's X protocol: requests are missing",
        ),
        (ledger.unparsed, "sent data that dbtime did not understand: requests may be missing"),
    ]
}

/// What watching took, of which `requests` have come in `length`.
pub fn cost_line(cost: &TraceCost, requests: u64, length: Nanos) -> String {
    let share = 100.0 * cost.all().as_secs() / length.as_secs().max(1e-9);
    let each = |time: Nanos| us(time.as_micros() / requests.max(1) as f64);
    let mut line = format!("cost         {} of one CPU", percent(share));
    if requests > 0 {
        let (kernel, own) = (each(cost.kernel), each(cost.own));
        line.push_str(&format!(": a request {kernel} in the kernel (estimated), {own} in dbtime"));
        if cost.probe_hits > 0 {
            let hits = three_digits(cost.probe_hits as f64 / requests as f64);
            let each = us(cost.trap.as_micros());
            line.push_str(&format!(", {hits} traps of {each}"));
        }
    }
    line + "\n"
}

#[cfg(test)]
mod tests;
