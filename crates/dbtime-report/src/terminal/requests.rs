//! Requests that a server served, a line each, and the ledger of all that was seen.

use super::line::ReportLine;
use crate::format::{clean, count, counted, fit, percent, us};
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

fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
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
        (_, None) => return format!("{lock} that nobody let go"),
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
    for (trouble, what) in [
        (ledger.dropped, "dropped: they came faster than they were read; they are counted above"),
        (
            ledger.not_streamed,
            "not streamed: watching took more than --max-cost; they are counted above",
        ),
        (ledger.cut, "texts were longer than what is kept, and are shown with …"),
        (ledger.unread, "texts could not be read"),
        (ledger.pipelined_over, "were followed by another before they were answered"),
        (ledger.resync, "times a connection was lost track of: requests of it may be missing"),
        (ledger.no_storage, "reads and writes for which the kernel had no memory"),
        (
            ledger.missed_events,
            "events, of any process, may have been missed: requests may be missing",
        ),
        (
            ledger.unseen_arrivals,
            "times the kernel did not report that a thread got a CPU; its own record did",
        ),
    ]
    .into_iter()
    .chain(not_followed(ledger))
    {
        if trouble > 0 {
            text.push_str(&format!("! {} {what}\n", count(trouble)));
        }
    }
    text + &restarts(ledger)
}

/// Servers that were not watched from their beginning on.
fn restarts(ledger: &TraceLedger) -> String {
    if ledger.restarts == 0 {
        return String::new();
    }
    format!(
        "! {} of servers: what they served in the {} before they were found may be missing\n",
        counted(ledger.restarts, "restart"),
        us(ledger.unwatched.as_micros())
    )
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
        (
            ledger.tls,
            "connections spoke TLS of a library that shows no plain text: their requests are missing",
        ),
        (
            ledger.gss,
            "connections were encrypted by GSS, which is not read: their requests are missing",
        ),
        (
            ledger.compressed,
            "connections were compressed, which is not read: their requests are missing",
        ),
        (
            ledger.other_protocol,
            "connections spoke another protocol, such as HTTP or MySQL's X protocol: their requests \
             are missing",
        ),
        (
            ledger.unparsed,
            "connections spoke what was not understood: if they had requests, these are missing",
        ),
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
mod tests {
    use super::*;
    use dbtime_model::Nanos;
    use dbtime_model::Parts;
    use dbtime_model::traced::{BlockingTransaction, QueryCache};

    fn request() -> TracedRequest {
        TracedRequest {
            connection: 3,
            login: None,
            executes: 0,
            statements: Vec::new(),
            process: 4711,
            thread: 6487,
            start: MonoNanos(1_010_071_000),
            first_sent: Some(MonoNanos(1_010_100_000)),
            end: MonoNanos(1_010_122_000),
            protocol: WireProtocol::Mysql,
            command: 3,
            length: 24,
            text: "SELECT  1\nFROM\tt\x1b[2J".into(),
            text_state: TextState::Cut,
            sent_bytes: 64,
            writes: 1,
            rows: Some(7),
            error: Some(ErrorCode::Number(1146)),
            outcome: RequestOutcome::Ended,
            server_queue: None,
            queue_parts: None,
            parts: Parts::of(&[(Part::Cpu, 30_000), (Part::Lock, 20_000)]),
            other_call: None,
            blocker: None,
            preemptors: Vec::new(),
            files: Vec::new(),
            cache: QueryCache::NotAsked,
            is_match: false,
            answer_arrived: None,
            taken: None,
            stacks: Vec::new(),
        }
    }

    #[test]
    fn what_it_took_is_told_for_each_request() {
        let cost = TraceCost {
            kernel: Nanos(2_200_000),
            probe_hits: 7000,
            trap: Nanos(600),
            own: Nanos(800_000),
        };
        let line = cost_line(&cost, 1000, Nanos(1_000_000_000));
        let expected = "cost         0.7 % of one CPU: a request 2.20 µs in the kernel (estimated), \
                        800 ns in dbtime, 7.00 traps of 600 ns\n";
        assert_eq!(line, expected);
        let none = cost_line(&TraceCost::default(), 0, Nanos(1_000_000_000));
        assert_eq!(none, "cost         0 % of one CPU\n");
    }

    #[test]
    fn a_request_is_one_line_whatever_its_text() {
        let request = request();
        let line = |room| {
            let mut line = String::new();
            request_line(&request, MonoNanos(1_000_000_000), "QUERY", room, &mut line);
            line
        };
        assert_eq!(
            line(None),
            "  0.010071      #3    6487  51.0 µs  30.0 µs  lock 20.0 µs     03:QUERY       7     24  \
             ERROR 1146 SELECT 1 FROM t\u{fffd}[2J…\n"
        );
        assert_eq!(line(Some(40)).chars().count(), 41);
        let odd =
            TracedRequest { protocol: WireProtocol::Postgres, command: 0x1b, ..request.clone() };
        let mut out = String::new();
        push_command(&odd, "?", &mut out);
        assert_eq!(std::mem::take(&mut out), "1b:?");
        push_line("\x1b", &mut out);
        assert_eq!(out, "\u{fffd}");
    }

    #[test]
    fn waits_for_a_cpu_of_both_kinds_are_one_in_a_line() {
        let kinds = [(Part::RunqPreempted, 9_000), (Part::RunqWoken, 7_000), (Part::Lock, 12_000)];
        let request = TracedRequest { parts: Parts::of(&kinds), ..request() };
        let mut line = String::new();
        request_line(&request, MonoNanos(0), "QUERY", None, &mut line);
        assert!(line.contains("  runq 16.0 µs  "), "{line}");
    }

    #[test]
    fn no_foreign_text_of_a_request_drives_the_terminal() {
        let lock = Some("\x1b[31mrow".into());
        let blocker =
            Blocker { lock, length: Nanos(20_000), thread: Some(7), ..Blocker::default() };
        let hostile = TracedRequest {
            error: Some(ErrorCode::SqlState("\x1b]0;42P01\x07".to_owned())),
            blocker: Some(blocker),
            ..request()
        };
        let mut line = String::new();
        request_line(&hostile, MonoNanos(0), "QUERY", None, &mut line);
        let expected = "ERROR \u{fffd}]0;42P01\u{fffd} [\u{fffd}[31mrow from thread 7] SELECT";
        assert!(line.contains(expected), "{line:?}");
        let mut blocker = hostile.blocker.expect("one");
        blocker.server_id = Some(42);
        assert_eq!(blocker_text(&blocker), "\u{fffd}[31mrow from process 42");
    }

    #[test]
    fn who_let_a_lock_go_is_named() {
        let blocker = Blocker {
            thread: Some(12),
            connection: Some(8),
            lock: Some("row lock".into()),
            statement: Some("COMMIT".into()),
            length: Nanos(20_000),
            ..Blocker::default()
        };
        let line = |blocker| {
            let text = "UPDATE t".into();
            let request = TracedRequest { blocker: Some(blocker), error: None, text, ..request() };
            let mut line = String::new();
            request_line(&request, MonoNanos(0), "QUERY", None, &mut line);
            line
        };
        let end = "  [row lock from connection #8: COMMIT] UPDATE t…\n";
        assert!(line(blocker.clone()).ends_with(end));
        let held = BlockingTransaction {
            statements: 3,
            idle: Nanos(2_000_000_000),
            ..BlockingTransaction::default()
        };
        let held =
            Blocker { transaction: Some(held.into()), server_id: Some(99), ..blocker.clone() };
        let end = "connection 99: COMMIT, 3 statements, 2.00 s idle] UPDATE t…\n";
        assert!(line(held.clone()).ends_with(end));
        let end = "connection 99, whose client had gone, 3 statements, 2.00 s idle] UPDATE t…\n";
        assert!(line(Blocker { has_left: true, ..held }).ends_with(end));
        let other = Blocker { connection: None, lock: None, ..blocker.clone() };
        assert!(line(other).ends_with("  [lock from thread 12] UPDATE t…\n"));
        let nobody = Blocker { connection: None, thread: None, ..blocker };
        assert!(line(nobody).ends_with("  [row lock that nobody let go] UPDATE t…\n"));
    }

    #[test]
    fn a_ledger_tells_troubles_where_there_are_some() {
        let fine = TraceLedger {
            started: 3,
            ended: 3,
            streamed: 3,
            connections: 1,
            logins: 1,
            ..TraceLedger::default()
        };
        assert_eq!(
            ledger_lines(&fine),
            "requests     3 started = 3 ended + 0 in flight + 0 aborted + 0 under way before\n\
             stream       3 handed on + 0 dropped\nconnections  1 followed\n"
        );
        let lossy = TraceLedger { started: 4, dropped: 1, streamed: 2, ..fine };
        let text = ledger_lines(&lossy);
        assert!(text.contains("+ 1 whose connection was gone") && text.contains("! 1 dropped"));
        let older = ledger_lines(&TraceLedger { connections: 3, ..fine });
        assert!(older.contains("\nconnections  3 followed, 2 of unknown users, from before\n"));
        let refused = ledger_lines(&TraceLedger { connection_errors: 2, ..fine });
        assert!(refused.ends_with("\nconnections  1 followed; 2 errors outside of requests\n"));
        let restarted = TraceLedger { restarts: 2, unwatched: Nanos(52_100_000), ..fine };
        let line = "\n! 2 restarts of servers: what they served in the 52.1 ms before they were \
                    found may be missing\n";
        assert!(ledger_lines(&restarted).ends_with(line), "{}", ledger_lines(&restarted));
        let turned_away = TraceLedger { connections: 2, refused: 1, connection_errors: 1, ..fine };
        let line = "\nconnections  2 followed, 1 of clients that were refused before they had said \
                    who they are; 1 error outside of requests\n";
        assert!(ledger_lines(&turned_away).ends_with(line), "{}", ledger_lines(&turned_away));
        let quiet = TraceLedger { connections: 4, replication: 1, cancels: 2, ..fine };
        let line = "\nconnections  4 followed, 1 of unknown users, from before, 1 of replicas, \
                    2 that only cancelled a request\n";
        assert!(ledger_lines(&quiet).ends_with(line), "{}", ledger_lines(&quiet));
    }

    #[test]
    fn each_kind_of_connection_that_is_not_read_has_its_line() {
        let none = TraceLedger::default();
        for (ledger, reason) in [
            (TraceLedger { tls: 2, ..none }, "! 2 connections spoke TLS"),
            (TraceLedger { gss: 3, ..none }, "! 3 connections were encrypted by GSS"),
            (TraceLedger { compressed: 4, ..none }, "! 4 connections were compressed"),
            (TraceLedger { other_protocol: 5, ..none }, "! 5 connections spoke another protocol"),
            (TraceLedger { unparsed: 6, ..none }, "! 6 connections spoke what was not understood"),
        ] {
            let text = ledger_lines(&ledger);
            assert!(text.contains(reason) && text.ends_with("missing\n"), "{text}");
        }
    }
}
