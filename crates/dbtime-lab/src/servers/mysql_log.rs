//! The log of a MySQL or MariaDB server, without statements and rows, and without what its own code
//! has made an error of.
//!
//! Source: `event_scheduler.cc`, `sql_class.cc` (unsafe statements), `sql_connect.cc`
//! (`init_connect`), `log.cc` (general and slow log), `signal_handler.cc` and InnoDB's
//! `lock0lock.cc` and `row0upd.cc` of MariaDB 10.11 and MySQL 8.0.

use super::mysql_messages::own_line;
use super::setting_errors::without_setting_value;
use dbtime_sql::{StatementShapes, without_mysql_values};
use std::borrow::Cow;

/// What the first bracket of a message has.
pub(super) const LEVELS: [&str; 4] = ["Note", "Warning", "ERROR", "System"];

/// What begins a message where each is a document of JSON, what that has, and what stands before
/// its words.
const JSON: (&str, &str) = ("{", "\"prio\"");
const JSON_WORDS: &str = "\"msg\" : \"";

/// What begins the number of a message, behind which its subsystem stands in brackets too.
pub(super) const NUMBER: &str = "[MY-";

/// What stands before a statement or a row, up to the end of a message, or before an error that the
/// database's own code may have made up; the last one is of MariaDB's audit.
const BEFORE_STATEMENTS: [&str; 12] = [
    "Statement: ",
    "Query: ",
    ", query: ",
    " event on table ",
    "Duplicate entry '",
    "Nearest query: ",
    "SQL statement ",
    ": Error '",
    "error message = ",
    "TUPLE (info_bits=",
    "RECORD(info_bits=",
    ",QUERY,",
];

/// What a message has behind which another one is the error of the statements that each connection
/// begins with; those of other connections may stand between the two.
const INIT_FAILED: &str = "(init_connect command failed)";

/// What an error of a connection has before it. With an older name of the program, MySQL 5.6 has
/// the number of the process in the place of the connection's, at the start too.
const PROGRAM: &str = "mariadbd: ";

/// The number of no connection.
const NO_CONNECTION: &str = "0";

/// What begins lines of the log of slow statements, where that goes to the same file.
const SLOW_LOG: [&str; 3] = ["# Time: ", "# User@Host: ", "# Query_time: "];

/// What stands before a piece of a statement, which may have lines of its own.
const BEFORE_PIECE: &str = " near '";

/// What a log of statements begins with.
const HEADER: &str = "Time\t\t    Id Command\tArgument";

/// What begins the message of an error in an event, and what stands before its words.
const EVENT: (&str, &str) = ("Event Scheduler: [", "] ");

/// What follows there in the place of words.
const EVENT_FAILED: &str = "event execution failed";

/// What a server that crashed, or that executes a file at its start, begins a line with.
const CRASHED_IN: &str = "Query (";
const FILE_ERROR: &str = "ERROR: ";

/// What a line of InnoDB's has behind which the statement stands that a transaction is at.
const TRANSACTION: [&str; 2] = ["thread id ", "query id "];

/// What a line has that is a row.
const ROW: [&str; 2] = ["; hex ", " asc "];

/// Goes over the entries of a log.
#[derive(Debug, Default)]
pub(super) struct MysqlLog {
    /// Whether it may have had a statement or a value. Either may have lines in it that look like
    /// messages, so that nothing stays from there on but what is known word by word.
    has_statements: bool,
    /// Whether `init_connect` has failed, so that a message of a connection may be its error.
    has_init_failed: bool,
}

impl MysqlLog {
    /// Before the first entry of a log that statements are written to, or that may have none.
    pub(super) fn new(has_statements: bool) -> Self {
        Self { has_statements, ..Self::default() }
    }

    /// The next entry without statements and values; `None`: nothing of it is left.
    pub(super) fn without_values<'a>(
        &mut self,
        entry: &'a str,
        shapes: &StatementShapes,
    ) -> Option<Cow<'a, str>> {
        if self.has_statements {
            return own_line(entry).map(Cow::Owned);
        }
        let logged = logged_from(entry);
        if logged.is_none() && ROW.iter().all(|mark| entry.contains(mark)) {
            return None;
        }
        if let Some(shown) = self.of_server_state(entry).filter(|_| logged.is_none()) {
            return Some(shown);
        }
        let is_of_init = entry.contains(INIT_FAILED);
        self.has_init_failed |= is_of_init;
        let may_be_of_init = self.has_init_failed && !is_of_init;
        let is_init_error = may_be_of_init && connection(entry) != Some(NO_CONNECTION);
        let init_error = words_from(entry).filter(|_| is_init_error);
        let begins = [logged, init_error, values_from(entry)];
        let Some(begin) = begins.into_iter().flatten().min() else {
            let error = numbered_error(entry, shapes);
            let has_piece = error.is_some() || entry.contains(BEFORE_PIECE);
            self.has_statements |= has_piece || entry.lines().any(|line| line == HEADER);
            let shown = error.or_else(|| without_setting_value(entry));
            return Some(shown.map_or(Cow::Borrowed(entry), Cow::Owned));
        };
        self.has_statements = true;
        Some(Cow::Owned(format!("{}?", &entry[..begin])))
    }

    /// A line about what a transaction is at, or the server was when it crashed; `None`: it is
    /// another one.
    fn of_server_state<'a>(&mut self, entry: &'a str) -> Option<Cow<'a, str>> {
        if TRANSACTION.iter().all(|mark| entry.contains(mark)) {
            self.has_statements = true;
            return entry.lines().next().map(Cow::Borrowed);
        }
        entry.starts_with(CRASHED_IN).then(|| {
            self.has_statements = true;
            Cow::Owned(format!("{CRASHED_IN}?)"))
        })
    }
}

/// Whether an entry begins as messages do: with an instant, and its level in the first bracket.
fn is_message(entry: &str) -> bool {
    if entry.starts_with(JSON.0) {
        return entry.contains(JSON.1);
    }
    let level = entry.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let has_level = level.is_some_and(|(level, _)| LEVELS.contains(&level));
    has_level && entry.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Where the words of a message begin, behind its level, and its number and subsystem where it has
/// these: words may begin with a bracket too.
pub(super) fn words_from(entry: &str) -> Option<usize> {
    if !is_message(entry) {
        return None;
    }
    if entry.starts_with(JSON.0) {
        return Some(entry.find(JSON_WORDS).map_or(JSON.0.len(), |at| at + JSON_WORDS.len()));
    }
    let behind = |at: usize| Some(at + entry[at..].find("] ")? + "] ".len());
    let words = behind(entry.find('[')?)?;
    let is_numbered = entry[words..].starts_with(NUMBER);
    let numbered = is_numbered.then(|| behind(words).and_then(behind)).flatten();
    Some(numbered.unwrap_or(words))
}

/// The number of the connection that a message is of, which stands before its level.
fn connection(entry: &str) -> Option<&str> {
    entry.split('[').next()?.split_whitespace().next_back()
}

/// Where in a message a statement, or words that may have values in them, begin.
fn values_from(entry: &str) -> Option<usize> {
    let marks = BEFORE_STATEMENTS.iter().filter_map(|mark| Some(entry.find(mark)? + mark.len()));
    marks.chain(event_words(entry)).chain(connection_error(entry)).min()
}

/// Where the words of an error in an event begin: `Event Scheduler: [u@h][d.e] x`.
fn event_words(entry: &str) -> Option<usize> {
    let begin = entry.find(EVENT.0)? + EVENT.0.len();
    let words = begin + entry[begin..].find(EVENT.1)? + EVENT.1.len();
    (!entry[words..].starts_with(EVENT_FAILED)).then_some(words)
}

/// Where the words of an error begin that a connection has met: `5 [ERROR] mariadbd: x`. Those of
/// the start have no connection, and no values of rows.
fn connection_error(entry: &str) -> Option<usize> {
    let words = words_from(entry)?;
    let connection = connection(entry)?;
    let is_one = connection.parse::<u64>().is_ok() && connection != NO_CONNECTION;
    let (path, _) = entry[words..].split_once(PROGRAM)?;
    let is_program = is_one && !path.contains(char::is_whitespace);
    is_program.then_some(words + path.len() + PROGRAM.len())
}

/// Where in an entry a statement begins that the server was set to log, or what is known of a slow
/// one.
fn logged_from(entry: &str) -> Option<usize> {
    let mut begin = 0;
    entry.split_inclusive('\n').find_map(|line| {
        let from = begin;
        begin += line.len();
        let slow = SLOW_LOG.iter().find(|mark| line.starts_with(**mark)).map(|mark| mark.len());
        slow.or_else(|| argument_from(line)).map(|at| from + at)
    })
}

/// Where the argument of a command stands in a line of the general log, behind a tab: `8 Query`.
fn argument_from(line: &str) -> Option<usize> {
    let is_command = |field: &str| {
        let (connection, command) = field.trim_start().split_once(' ')?;
        let is_word = |sign: char| sign.is_ascii_alphabetic() || matches!(sign, ' ' | '_');
        let is_number = connection.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && !command.is_empty() && command.chars().all(is_word)).then_some(())
    };
    let mut begin = 0;
    line.match_indices('\t').find_map(|(tab, _)| {
        let field = &line[std::mem::replace(&mut begin, tab + 1)..tab];
        is_command(field).map(|()| tab + 1)
    })
}

/// An error with its number, without values: of a file that is executed at the start, `ERROR: 1054
/// Unknown column 'x' in 'SELECT'`, or the same behind the brackets of a message.
fn numbered_error(entry: &str, shapes: &StatementShapes) -> Option<String> {
    let is_of_file = entry.starts_with(FILE_ERROR);
    let begin = if is_of_file { FILE_ERROR.len() } else { words_from(entry)? };
    let (code, words) = entry[begin..].split_once(' ')?;
    let number = code.parse::<u16>().ok().filter(|_| is_of_file || words.starts_with(' '))?;
    let words = words.trim_start();
    let plain = without_mysql_values(number, "HY000", words);
    let before = &entry[..entry.len() - words.len()];
    Some(format!("{before}{}", shapes.without_repeated(code, &plain)))
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
        let next = "2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring\n";
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
            (
                "2026-11-30T10:00Z 0 [ERROR] [MY-000061] [Server] 1049  Unknown database 'hush'\n",
                "2026-11-30T10:00Z 0 [ERROR] [MY-000061] [Server] 1049  Unknown database '?'\n",
            ),
            (
                "2026-11-30 10:00:00 0 [ERROR] 1105  Bootstrap file error. Nearest query: 'hush'\n",
                "2026-11-30 10:00:00 0 [ERROR] 1105  Bootstrap file error. Nearest query: ?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [Warning] Aborted 5 (init_connect command failed)\n\
                 2026-11-30 10:00:00 5 [Warning] no account of hush\nhush\n",
                "2026-11-30 10:00:00 5 [Warning] Aborted 5 (init_connect command failed)\n\
                 2026-11-30 10:00:00 5 [Warning] ?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [Warning] Aborted 5 (init_connect command failed)\n\
                 2026-11-30 10:00:00 6 [Warning] Aborted 6 (init_connect command failed)\n\
                 2026-11-30 10:00:00 5 [Warning] [hush] hush\n\
                 2026-11-30 10:00:00 6 [Warning] [MY-000001] [Server] [hush\n",
                "2026-11-30 10:00:00 5 [Warning] Aborted 5 (init_connect command failed)\n\
                 2026-11-30 10:00:00 6 [Warning] Aborted 6 (init_connect command failed)\n\
                 2026-11-30 10:00:00 5 [Warning] ?\n",
            ),
            (
                "20261130 10:00:00,h,u,localhost,5,7,QUERY,d,'SELECT hush',0\n",
                "20261130 10:00:00,h,u,localhost,5,7,QUERY,?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [ERROR] mariadbd: no account of hush\n",
                "2026-11-30 10:00:00 5 [ERROR] mariadbd: ?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [ERROR] InnoDB: not found: TUPLE (info_bits=0): {[4]hush}\n",
                "2026-11-30 10:00:00 5 [ERROR] InnoDB: not found: TUPLE (info_bits=?\n",
            ),
        ] {
            assert_eq!(kept(&format!("{log}{next}")), format!("{expected}{next}"));
        }
    }

    #[test]
    fn statements_of_a_general_or_slow_log_are_left_out() {
        let next = "2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring\n";
        for (log, expected) in [
            (
                "2026-11-30T10:00:00.123456Z\t    8 Query\tSELECT 'hush',\n'[Note] hush'\n",
                "2026-11-30T10:00:00.123456Z\t    8 Query\t?\n",
            ),
            ("261130 10:00:00\t    8 Query\tSELECT 'hush'\n", "261130 10:00:00\t    8 Query\t?\n"),
            ("\t\t     8 Init DB\thush\n\t\t     8 Query\thush\n", "\t\t     8 Init DB\t?\n"),
            ("\t\t     8 Bulk_execute\tSELECT 'hush'\n", "\t\t     8 Bulk_execute\t?\n"),
            ("# Time: 261130 10:00:00\n# Query_time: 1\nSELECT 'hush';\n", "# Time: ?\n"),
            ("# User@Host: u[u] @ h []\nSELECT 'hush';\n", "# User@Host: ?\n"),
        ] {
            assert_eq!(kept(&format!("{log}{next}")), format!("{expected}{next}"));
        }
        let header = "Time\t\t    Id Command\tArgument\n";
        assert_eq!(kept(header), header);
        let (mut filter, shapes) = (MysqlLog::default(), StatementShapes::unknown());
        let begin = "2026-11-30 10:00:00 0 [Note] ready\n\t\t     8 Query\t";
        let joined = format!("{begin}SELECT 'hush'");
        let shown = filter.without_values(&joined, &shapes);
        assert_eq!(shown.as_deref(), Some(&*format!("{begin}?")));
    }

    #[test]
    fn statements_and_rows_in_messages_are_left_out() {
        let next = "2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring\n";
        for (log, expected) in [
            (
                "2026-11-30 10:00:00 5 [Note] Sort aborted, host: h, thread: 5, query: 'hush'\n",
                "2026-11-30 10:00:00 5 [Note] Sort aborted, host: h, thread: 5, query: ?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [ERROR] Could not execute Write_rows event on table d.t; \
                 Duplicate entry 'hush' for key 'PRIMARY'\n",
                "2026-11-30 10:00:00 5 [ERROR] Could not execute Write_rows event on table ?\n",
            ),
            (
                "2026-11-30 10:00:00 5 [ERROR] You have an error near ''\nhush'\n",
                "2026-11-30 10:00:00 5 [ERROR] You have an error near ''\n",
            ),
        ] {
            assert_eq!(kept(&format!("{log}{next}")), format!("{expected}{next}"));
        }
    }

    #[test]
    fn behind_a_statement_only_what_is_known_word_by_word_stays() {
        let next = "2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring\n";
        for line in [
            "2026-11-30 10:00:00 0 [Note] InnoDB: hush",
            "2026-11-30 10:00:00 0 [ERROR] hush",
            "Version: 'hush'",
            "# Time: hush",
            "261130 10:00:00\t    8 Query hush",
            "\t\t     8 Query\thush",
            "hush 0 [Note] InnoDB: Using io_uring",
            "ERROR: 1049  Unknown database of hush",
            "{ \"prio\" : 2, \"msg\" : \"hush\" }",
            "MariaDB thread id 5, query id 10 localhost hush",
            "Query (hush): SELECT 1",
        ] {
            for (begin, shown) in [
                ("\t\t     8 Query\tSELECT 'a", "\t\t     8 Query\t?"),
                ("# Query_time: 1\nSELECT 'a", "# Query_time: ?"),
                ("ERROR: 1064  error near 'a", "ERROR: 1064  error near '?"),
                ("Query (0x7f00): SELECT 'a", "Query (?)"),
                ("Time\t\t    Id Command\tArgument", "Time\t\t    Id Command\tArgument"),
            ] {
                let log = format!("{begin}\n{line}\n'\n{next}{line}\n{next}");
                assert_eq!(kept(&log), format!("{shown}\n{next}{next}"), "{line}");
            }
        }
    }

    #[test]
    fn a_log_that_statements_are_written_to_has_no_other_lines() {
        let (mut filter, shapes) = (MysqlLog::new(true), StatementShapes::unknown());
        let known = "2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring";
        assert_eq!(filter.without_values(known, &shapes).as_deref(), Some(known));
        assert_eq!(filter.without_values("2026-11-30 10:00:01 0 [Note] hush", &shapes), None);
    }

    #[test]
    fn messages_may_be_documents() {
        let next = "{ \"prio\" : 3, \"msg\" : \"ready\" }\n";
        let unsafe_one = "{ \"prio\" : 2, \"msg\" : \"Unsafe. Statement: ";
        let log = format!("{next}{unsafe_one}SELECT 'hush'\" }}\nhush\n{next}");
        assert_eq!(kept(&log), format!("{next}{unsafe_one}?\n"));
        let init = "{ \"prio\" : 2, \"msg\" : \"Aborted 5 (init_connect command failed)\" }\n";
        let error = "{ \"prio\" : 2, \"msg\" : \"";
        let log = format!("{init}{error}account of hush\" }}\n");
        assert_eq!(kept(&log), format!("{init}{error}?\n"));
    }

    #[test]
    fn values_of_settings_are_left_out() {
        let begin = "2026-11-30 10:00:00 0 [ERROR] mariadbd: unknown variable 'x=";
        let next = "2026-11-30 10:00:00 0 [ERROR] Aborting\n2026-11-30 10:00:00 0 [Note] ready\n";
        assert_eq!(kept(&format!("{begin}hush'\n{next}")), format!("{begin}?'\n{next}"));
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "2026-11-30 10:00:00 5 [Warning] Aborted connection 5 to db: 'd' (Got an error)\n",
            "2026-11-30 10:00:00 0 [ERROR] mariadbd: unknown variable 'x'\n",
            "2026-11-30 10:00:00 0 [Note] 3 threads\n",
            "Version: '10.11'  socket: '/run/s.sock'  port: 3306\n",
        ] {
            assert_eq!(kept(line), line);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_entries_are_taken(
            log in "(\n9 5 \\[ERROR\\] |1054  |mariadbd: |\t|8 Query|# Time: |[ '\\[é表]){0,20}",
        ) {
            kept(&log);
        }
    }
}
