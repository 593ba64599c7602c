//! The log of a MySQL or MariaDB server, without statements and rows, and without what its own code
//! has made an error of.
//!
//! Source: `event_scheduler.cc`, `sql_class.cc` (unsafe statements), `signal_handler.cc` and
//! InnoDB's `lock0lock.cc` of MariaDB 10.11 and MySQL 8.0.

use dbtime_sql::{StatementShapes, without_mysql_values};
use std::borrow::Cow;

/// What the first bracket of a message has.
const LEVELS: [&str; 4] = ["Note", "Warning", "ERROR", "System"];

/// What stands before a statement, up to the end of a message, or before an error that the
/// database's own code may have made up.
const BEFORE_STATEMENTS: [&str; 5] =
    ["Statement: ", "Query: ", "SQL statement ", ": Error '", "error message = "];

/// What begins the message of an error in an event, and what stands before its words.
const EVENT: (&str, &str) = ("Event Scheduler: [", "] ");

/// What follows there in the place of words.
const EVENT_FAILED: &str = "event execution failed";

/// What a server that crashed, or that executes a file at its start, begins a line with.
const CRASHED_IN: &str = "Query (";
const CONNECTION: &str = "Connection ID ";
const FILE_ERROR: &str = "ERROR: ";

/// What a line of InnoDB's has behind which the statement stands that a transaction is at.
const TRANSACTION: [&str; 2] = ["thread id ", "query id "];

/// What a line has that is a row.
const ROW: [&str; 2] = ["; hex ", " asc "];

/// What of the next lines is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HiddenLines {
    #[default]
    None,
    /// All up to the next message, as a statement may have any lines.
    UpToMessage,
    /// All up to the connection that a server crashed in.
    UpToConnection,
}

/// Goes over the entries of a log.
#[derive(Debug, Default)]
pub(super) struct MysqlLog {
    hidden: HiddenLines,
}

impl MysqlLog {
    /// The next entry without statements and values; `None`: nothing of it is left.
    pub(super) fn without_values<'a>(
        &mut self,
        entry: &'a str,
        shapes: &StatementShapes,
    ) -> Option<Cow<'a, str>> {
        let ends = match self.hidden {
            HiddenLines::None => true,
            HiddenLines::UpToMessage => is_message(entry),
            HiddenLines::UpToConnection => is_message(entry) || entry.starts_with(CONNECTION),
        };
        if !ends || ROW.iter().all(|mark| entry.contains(mark)) {
            return None;
        }
        self.hidden = HiddenLines::None;
        if TRANSACTION.iter().all(|mark| entry.contains(mark)) {
            self.hidden = HiddenLines::UpToMessage;
            return entry.lines().next().map(Cow::Borrowed);
        }
        if entry.starts_with(CRASHED_IN) {
            self.hidden = HiddenLines::UpToConnection;
            return Some(Cow::Owned(format!("{CRASHED_IN}?)")));
        }
        if let Some(shown) = file_error(entry, shapes) {
            return Some(Cow::Owned(shown));
        }
        let Some(begin) = values_from(entry) else { return Some(Cow::Borrowed(entry)) };
        self.hidden = HiddenLines::UpToMessage;
        Some(Cow::Owned(format!("{}?", &entry[..begin])))
    }
}

/// Whether an entry begins as messages do: with an instant, and its level in the first bracket.
fn is_message(entry: &str) -> bool {
    let level = entry.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let has_level = level.is_some_and(|(level, _)| LEVELS.contains(&level));
    has_level && entry.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Where in a message a statement, or words that may have values in them, begin.
fn values_from(entry: &str) -> Option<usize> {
    let marks = BEFORE_STATEMENTS.iter().filter_map(|mark| Some(entry.find(mark)? + mark.len()));
    marks.chain(event_words(entry)).min()
}

/// Where the words of an error in an event begin: `Event Scheduler: [u@h][d.e] x`.
fn event_words(entry: &str) -> Option<usize> {
    let begin = entry.find(EVENT.0)? + EVENT.0.len();
    let words = begin + entry[begin..].find(EVENT.1)? + EVENT.1.len();
    (!entry[words..].starts_with(EVENT_FAILED)).then_some(words)
}

/// An error in a file that is executed at the start: `ERROR: 1054  Unknown column 'x' in 'SELECT'`.
fn file_error(entry: &str, shapes: &StatementShapes) -> Option<String> {
    let (code, words) = entry.strip_prefix(FILE_ERROR)?.split_once(' ')?;
    let plain = without_mysql_values(code.parse().ok()?, "HY000", words);
    Some(format!("{FILE_ERROR}{code} {}", shapes.without_repeated(code, &plain)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(log: &str) -> String {
        let (mut filter, shapes) = (MysqlLog::default(), StatementShapes::unknown());
        let lines = log.lines().filter_map(|line| filter.without_values(line, &shapes));
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn errors_of_events_are_left_out() {
        let begin = "2026-11-30 10:00:00 7 [ERROR] Event Scheduler: [root@localhost][d.e] ";
        for words in [
            "Unknown column 'hush' in 'SELECT'",
            "Duplicate entry 'hush' for key 'PRIMARY'",
            "account of hush\nis [hush] closed\n2026-11-30 hush",
        ] {
            assert_eq!(kept(&format!("{begin}{words}\n")), format!("{begin}?\n"));
        }
        let plain = "2026-11-30 10:00:00 7 [Note] Event Scheduler: [root@localhost].[d.e] event \
                     execution failed.\n";
        assert_eq!(kept(plain), plain);
        let mysql = "2026-11-30T10:00:00.1Z 7 [ERROR] [MY-010045] [Server] Event Scheduler: [u@h]";
        assert_eq!(kept(&format!("{mysql}[d.e] hush\n")), format!("{mysql}[d.e] ?\n"));
    }

    #[test]
    fn statements_are_left_out_up_to_the_next_message() {
        let next = "2026-11-30 10:00:01 0 [Note] InnoDB: ready\n";
        for (log, expected) in [
            (
                "2026-11-30 10:00:00 5 [Warning] Unsafe … Statement: SELECT 'hush'\nhush\n",
                "2026-11-30 10:00:00 5 [Warning] Unsafe … Statement: ?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [ERROR] Slave SQL: Error 'hush' on query. Query: 'hush'\n",
                "2026-11-30 10:00:00 5 [ERROR] Slave SQL: Error '?\n",
            ),
            (
                "2026-11-30 10:00:00 0 [ERROR] [MY-013178] [Server] Execution of server-side SQL \
                 statement 'SELECT hush' failed\n",
                "2026-11-30 10:00:00 0 [ERROR] [MY-013178] [Server] Execution of server-side SQL \
                 statement ?\n",
            ),
            (
                "MariaDB thread id 5, OS thread handle 1, query id 10 localhost u Updating\n\
                 UPDATE t SET a = 'hush'\n 0: len 4; hex 68757368; asc hush;;\n",
                "MariaDB thread id 5, OS thread handle 1, query id 10 localhost u Updating\n",
            ),
            (" 0: len 4; hex 68757368; asc hush;;\n", ""),
            (
                "Query (0x7f00): SELECT 'hush'\n, 'hush'\nConnection ID (thread ID): 5\n",
                "Query (?)\nConnection ID (thread ID): 5\n",
            ),
            ("ERROR: 1049  Unknown database 'hush'\n", "ERROR: 1049  Unknown database '?'\n"),
        ] {
            assert_eq!(kept(&format!("{log}{next}")), format!("{expected}{next}"));
        }
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "2026-11-30 10:00:00 5 [Warning] Aborted connection 5 to db: 'd' (Got an error)\n",
            "2026-11-30 10:00:00 0 [ERROR] unknown variable 'x=1'\n",
            "Version: '10.11'  socket: '/run/s.sock'  port: 3306\n",
        ] {
            assert_eq!(kept(line), line);
        }
    }
}
