//! How a line of a general log begins: `[time] id command argument`.

use super::lines::trimmed;
use crate::logs::numbers::whole;
use std::ops::Range;

/// The names of commands, most frequent first.
const COMMANDS: [&[u8]; 37] = [
    b"Query",
    b"Execute",
    b"Prepare",
    b"Close stmt",
    b"Connect",
    b"Quit",
    b"Init DB",
    b"Ping",
    b"Reset stmt",
    b"Long Data",
    b"Field List",
    b"Statistics",
    b"Change user",
    b"Reset Connection",
    b"Set option",
    b"Fetch",
    b"Kill",
    b"Processlist",
    b"Refresh",
    b"Shutdown",
    b"Binlog Dump",
    b"Binlog Dump GTID",
    b"Register Slave",
    b"Register Replica",
    b"Connect Out",
    b"Table Dump",
    b"Create DB",
    b"Drop DB",
    b"Delayed insert",
    b"Debug",
    b"Daemon",
    b"Time",
    b"Sleep",
    b"Error",
    b"Clone",
    b"Bulk_execute",
    b"Slave_worker",
];

/// The longest name of a command that is not among them.
const LONGEST_COMMAND: usize = 48;

/// The length of a time of the old form.
const SHORT_TIME: usize = 15;

/// The longest time in ISO 8601.
const LONGEST_TIME: usize = 40;

/// The beginning of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntryHead<'a> {
    /// Its time; empty: that of the entry before.
    pub(super) time: &'a [u8],
    /// The number of its session.
    pub(super) session: u64,
    /// The place of the name of its command in the line.
    pub(super) command: Range<usize>,
    /// Where its argument begins in the line.
    pub(super) argument: usize,
    /// Whether the command is one that dbtime knows.
    pub(super) is_known: bool,
}

impl<'a> EntryHead<'a> {
    /// Reads the beginning of a line. `None`: no entry begins there.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let time = time_length(line)?;
        let blanks = blank_count(&line[time..]);
        if blanks == 0 {
            return None;
        }
        let id = time + blanks;
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let digits = line[id..].iter().take_while(is_digit).count();
        let session = whole(&line[id..id + digits])?;
        let rest = line[id + digits..].strip_prefix(b" ")?;
        let at = id + digits + 1;
        let time = &line[..time];
        if let Some((name, argument)) = known_command(rest) {
            let command = at..at + name;
            return Some(Self { time, session, command, argument: at + argument, is_known: true });
        }
        let name = other_command(rest)?;
        let command = at..at + name;
        Some(Self { time, session, command, argument: at + name + 1, is_known: false })
    }
}

/// The length of the time that a line begins with; 0: it begins with a blank. `None`: with neither.
fn time_length(line: &[u8]) -> Option<usize> {
    let first = line.first()?;
    if matches!(first, b' ' | b'\t') {
        return Some(0);
    }
    if !first.is_ascii_digit() {
        return None;
    }
    if line.get(6) == Some(&b' ') {
        let is_short = line.get(9) == Some(&b':') && line.get(12) == Some(&b':');
        let is_whole = matches!(line.get(SHORT_TIME), Some(b' ' | b'\t'));
        return (is_short && is_whole).then_some(SHORT_TIME);
    }
    let is_iso = line.get(4) == Some(&b'-') && line.get(10) == Some(&b'T');
    let end = line.iter().take(LONGEST_TIME).position(|byte| matches!(byte, b' ' | b'\t'));
    end.filter(|_| is_iso)
}

fn blank_count(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The length of the name of a known command, and where its argument begins: behind a TAB, or
/// behind the blanks that old servers fill the column with.
fn known_command(rest: &[u8]) -> Option<(usize, usize)> {
    COMMANDS.iter().find_map(|name| {
        let behind = rest.strip_prefix(*name)?;
        let length = name.len();
        match behind {
            [] | [b' '] => Some((length, length)),
            [b'\t', ..] => Some((length, length + 1)),
            [b' ', b' ', ..] => Some((length, length + blank_count(behind))),
            _ => None,
        }
    })
}

/// The length of what looks like the name of a command, up to its TAB.
fn other_command(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(LONGEST_COMMAND).position(|byte| *byte == b'\t')?;
    let name = &rest[..end];
    let is_of_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_');
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_of_name);
    is_name.then_some(end)
}

/// What the argument of a connection has, by places in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LoginParts {
    pub(super) user: Range<usize>,
    pub(super) host: Range<usize>,
    pub(super) database: Range<usize>,
}

impl LoginParts {
    /// Reads `user@host [as account] on [database] [using transport]`.
    pub(super) fn read(text: &[u8]) -> Self {
        let find = |mark: &[u8], from: usize| {
            memchr::memmem::find(&text[from..], mark).map_or(text.len(), |at| from + at)
        };
        let on = find(b" on ", 0);
        let account_end = on.min(find(b" as ", 0));
        let at = memchr::memrchr(b'@', &text[..account_end]).unwrap_or(account_end);
        let database = text.len().min(on + b" on ".len());
        // Without a database the two blanks around its name are one behind the other.
        let database_end = find(b" using ", database.saturating_sub(1)).max(database);
        Self {
            user: trimmed(text, 0..at),
            host: trimmed(text, account_end.min(at + 1)..account_end),
            database: trimmed(text, database..database_end),
        }
    }

    /// Reads `Access denied for user 'user'@'host' …`; the places are empty where that is not so.
    pub(super) fn of_refusal(text: &[u8]) -> Self {
        let mut quotes = memchr::memchr_iter(b'\'', text);
        let mut quoted = || Some(quotes.next()? + 1..quotes.next()?);
        let user = quoted().unwrap_or_default();
        let host = quoted().unwrap_or_default();
        Self { user, host, database: 0..0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Option<(&str, u64, &str, &str)> {
        let head = EntryHead::read(line.as_bytes())?;
        let time = std::str::from_utf8(head.time).expect("a time");
        Some((time, head.session, &line[head.command], &line[head.argument..]))
    }

    #[test]
    fn entries_begin_in_every_form() {
        let old = "071007 21:55:24\t     42 Query\tselect 1";
        assert_eq!(parts(old), Some(("071007 21:55:24", 42, "Query", "select 1")));
        let iso = "2021-10-12T01:13:38.132884Z\t    8 Close stmt\t";
        assert_eq!(parts(iso), Some(("2021-10-12T01:13:38.132884Z", 8, "Close stmt", "")));
        assert_eq!(parts("\t\t     8 Init DB\tshop"), Some(("", 8, "Init DB", "shop")));
        let padded = "                      1 Connect     a@b on c";
        assert_eq!(parts(padded), Some(("", 1, "Connect", "a@b on c")));
        assert_eq!(parts("\t\t 3 Binlog Dump GTID\tx"), Some(("", 3, "Binlog Dump GTID", "x")));
        assert_eq!(parts("\t\t 3 Quit"), Some(("", 3, "Quit", "")));
        assert_eq!(parts("\t\t 3 New thing\tx"), Some(("", 3, "New thing", "x")));
        let new = EntryHead::read(b"\t\t 3 New thing\tx").expect("an entry");
        assert!(!new.is_known);
    }

    #[test]
    fn other_lines_begin_no_entry() {
        let lines = [
            "",
            "select 1",
            "8 Query\tselect 1",
            "\t\t",
            "  5 AS five",
            "\t\t x Query\tselect 1",
            "\t\t 99999999999999999999 Query\tselect 1",
            "071007 21-55:24\t 1 Query\tselect 1",
            "Time                 Id Command    Argument",
        ];
        for line in lines {
            assert_eq!(parts(line), None, "{line}");
        }
    }

    #[test]
    fn logins_are_read_in_every_form() {
        let read = |text: &'static str| {
            let parts = LoginParts::read(text.as_bytes());
            (&text[parts.user], &text[parts.host], &text[parts.database])
        };
        assert_eq!(read("root@localhost on shop using Socket"), ("root", "localhost", "shop"));
        assert_eq!(read("root@localhost on  using TCP/IP"), ("root", "localhost", ""));
        assert_eq!(read("a@b@10.0.0.1 as anonymous on shop"), ("a@b", "10.0.0.1", "shop"));
        assert_eq!(read("root@localhost on "), ("root", "localhost", ""));
        assert_eq!(read("root"), ("root", "", ""));
        assert_eq!(read(""), ("", "", ""));
        let text = "Access denied for user 'a'@'b' (using password: YES)";
        let parts = LoginParts::of_refusal(text.as_bytes());
        assert_eq!((&text[parts.user], &text[parts.host]), ("a", "b"));
        assert_eq!(LoginParts::of_refusal(b"Access denied'"), LoginParts::default());
    }
}
