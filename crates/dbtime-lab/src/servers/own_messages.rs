//! What PostgreSQL itself says in its log, by its form.
//!
//! A log does not tell reliably what has said something: RAISE takes any level, SQLSTATE and words,
//! a session may turn contexts off, and a program that the server has started may print lines that
//! look like messages. Only what has a form that is known here is the server's, and only as far as
//! it has it.
//!
//! Source: `postmaster.c`, `xlog.c`, `xlogrecovery.c`, `checkpointer.c`, `autovacuum.c`, `proc.c`,
//! `guc-file.l`, `postgres.c`, `tcop`, `libpq` and `fd.c` of PostgreSQL 9.6 to 18.

use super::logged_statement::{LEFT_OUT, logged_detail, logged_head};
use super::message_form::{as_far_as_of_form, of_form};
use super::own_errors;

/// Such messages, in the words of [`super::message_form`].
const FORMS: &[&str] = &[
    "starting PostgreSQL # *",
    "listening on IPv4 address \"#\", port #",
    "listening on IPv6 address \"*\", port #",
    "listening on Unix socket \"*\"",
    "could not bind IPv4 address \"#\": ~",
    "could not bind IPv6 address \"*\": ~",
    "could not bind Unix address \"*\": ~",
    "could not listen on IPv4 address \"#\": ~",
    "could not listen on IPv6 address \"*\": ~",
    "could not listen on Unix address \"*\": ~",
    "could not accept new connection: ~",
    "could not accept SSL connection: ~",
    "could not create any TCP/IP sockets",
    "could not create any Unix-domain sockets",
    "could not create directory \"*\": ~",
    "could not create file \"*\": ~",
    "could not create listen socket for \"*\"",
    "could not create lock file \"*\": ~",
    "could not create semaphores: ~",
    "could not create shared memory segment: ~",
    "could not create shared memory segment \"*\": ~",
    "could not extend file \"*\": ~",
    "could not fork autovacuum launcher process: ~",
    "could not fork autovacuum worker process: ~",
    "could not fork new process for connection: ~",
    "could not fork worker process: ~",
    "could not fsync file \"*\": ~",
    "could not map anonymous shared memory: ~",
    "could not open file \"*\": ~",
    "could not read block # in file \"*\": ~",
    "could not read block # in file \"*\": read only # of # bytes",
    "could not receive data from client: ~",
    "could not resize shared memory segment \"*\" to # bytes: ~",
    "could not send data to client: ~",
    "could not write block # in file \"*\": ~",
    "could not write to file \"*\": ~",
    "could not write to log file *: ~",
    "database system is ready to accept connections",
    "database system is ready to accept read only connections",
    "database system is ready to accept read-only connections",
    "database system is shut down",
    "database system is shutting down",
    "database system is starting up",
    "database system shutdown was interrupted; last known up at # ~",
    "database system was interrupted; last known up at # ~",
    "database system was interrupted while in recovery at # ~",
    "database system was interrupted while in recovery at log time # ~",
    "database system was not properly shut down; automatic recovery in progress",
    "database system was shut down at # ~",
    "database system was shut down in recovery at # ~",
    "entering standby mode",
    "consistent recovery state reached",
    "consistent recovery state reached at #",
    "redo starts at #",
    "redo done at #",
    "redo done at # system usage: CPU: user: # s, system: # s, elapsed: # s",
    "redo in progress, elapsed time: # s, current LSN: #",
    "redo is not required",
    "invalid magic number * in log segment *, offset #",
    "invalid magic number * in WAL segment *, LSN #, offset #",
    "invalid record length at #: wanted #, got #",
    "invalid record length at #: expected at least #, got #",
    "invalid resource manager ID # at #",
    "incorrect resource manager data checksum in record at #",
    "record with incorrect prev-link # at #",
    "unexpected pageaddr # in log segment *, offset #",
    "unexpected pageaddr # in WAL segment *, LSN #, offset #",
    "contrecord is requested by #",
    "there is no contrecord flag at #",
    "last completed transaction was at log time # ~",
    "last completed transaction was at log time *",
    "selected new timeline ID: #",
    "archive recovery complete",
    "archive command failed with exit code #",
    "archive command was terminated by signal #: ~",
    "checkpoint starting: ~",
    "checkpoint complete: wrote # buffers (#%); # transaction log file(s) added, # removed, # \
     recycled; write=# s, sync=# s, total=# s; sync files=#, longest=# s, average=# s; distance=# \
     kB, estimate=# kB",
    "checkpoint complete: wrote # buffers (#%); # WAL file(s) added, # removed, # recycled; \
     write=# s, sync=# s, total=# s; sync files=#, longest=# s, average=# s; distance=# kB, \
     estimate=# kB",
    "checkpoint complete: wrote # buffers (#%); # WAL file(s) added, # removed, # recycled; \
     write=# s, sync=# s, total=# s; sync files=#, longest=# s, average=# s; distance=# kB, \
     estimate=# kB; lsn=#, redo lsn=#",
    "checkpoint complete: wrote # buffers (#%), wrote # SLRU buffers; # WAL file(s) added, # \
     removed, # recycled; write=# s, sync=# s, total=# s; sync files=#, longest=# s, average=# s; \
     distance=# kB, estimate=# kB; lsn=#, redo lsn=#",
    "checkpoints are occurring too frequently (# second apart)",
    "checkpoints are occurring too frequently (# seconds apart)",
    "restartpoint starting: ~",
    "restartpoint complete: wrote # buffers (#%); *",
    "restartpoint complete: wrote # buffers (#%), *",
    "received fast shutdown request",
    "received smart shutdown request",
    "received immediate shutdown request",
    "received SIGHUP, reloading configuration files",
    "shutting down",
    "aborting any active transactions",
    "autovacuum launcher started",
    "autovacuum launcher shutting down",
    "automatic vacuum of table \"*\": index scans: #\n*",
    "automatic aggressive vacuum of table \"*\": index scans: #\n*",
    "automatic analyze of table \"*\" system usage: *",
    "automatic analyze of table \"*\"\n*",
    "background worker \"*\" (PID #) exited with exit code #",
    "background worker \"*\" (PID #) was terminated by signal #: ~",
    "parallel worker (PID #) exited with exit code #",
    "parallel worker (PID #) was terminated by signal #: ~",
    "server process (PID #) exited with exit code #",
    "server process (PID #) was terminated by signal #: ~",
    "sending cancel to blocking autovacuum PID #",
    "terminating any other active server processes",
    "terminating connection because of crash of another server process",
    "all server processes terminated; reinitializing",
    "issuing SIGKILL to recalcitrant children",
    "process # acquired ~ on @ after # ms",
    "process # avoided deadlock for ~ on @ by rearranging queue order after # ms",
    "process # detected deadlock while waiting for ~ on @ after # ms",
    "process # still waiting for ~ on @ after # ms",
    "temporary file: path \"*\", size #",
    "connection received: host=[local]",
    "connection received: host=*",
    "connection received: host=# port=#",
    "connection authenticated: identity=*",
    "connection authenticated: user=*",
    "connection authorized: user=*",
    "connection ready: setup total=# ms, fork=# ms, authentication=# ms",
    "disconnection: session time: # user=*",
    "unexpected EOF on client connection",
    "unexpected EOF on client connection with an open transaction",
    "incomplete startup packet",
    "invalid length of startup packet",
    "configuration file \"*\" contains errors",
    "configuration file \"*\" contains errors; no changes were applied",
    "configuration file \"*\" contains errors; unaffected changes were applied",
    "loaded library \"*\"",
    "parameter \"^\" cannot be changed without restarting the server",
    "parameter \"^\" changed to \"*\"",
    "parameter \"^\" removed from configuration file, reset to default",
    "invalid value for parameter \"^\": \"*\"",
    "unrecognized configuration parameter \"^\" in file \"*\" line #",
    "syntax error in file \"*\" line #, near token \"*\"",
    "syntax error in file \"*\" line #, near end of line",
    "MultiXact member wraparound protections are disabled because oldest checkpointed MultiXact # \
     does not exist on disk",
    "MultiXact member wraparound protections are now enabled",
    "using stale statistics instead of current ones because stats collector is not responding",
];

/// Details of theirs that have no value.
const DETAILS: &[&str] = &[
    "Process holding the lock: #. Wait queue: #.",
    "Process holding the lock: #. Wait queue: .",
    "Processes holding the lock: #. Wait queue: #.",
    "Processes holding the lock: #. Wait queue: .",
    "Process # waits for ~ on @; blocked by process #.",
];

/// Hints of theirs.
const HINTS: &[&str] = &[
    "Consider increasing the configuration parameter \"^\".",
    "In a moment you should be able to reconnect to the database and repeat your command.",
    "Is another postmaster already running on port #? If not, wait a few seconds and retry.",
];

/// What stands behind the words of an error that points into a statement.
const BEFORE_PLACE: &str = " at character ";

/// A message of any level as far as it has a form of the server's own; of another one a sign.
pub(super) fn own_message(message: &str) -> String {
    if let Some(head) = logged_head(message) {
        return head;
    }
    let forms = [FORMS, own_errors::MESSAGES].concat();
    let words = without_place(message);
    if let Some(shown) = of_form(&forms, words) {
        return shown + &message[words.len()..];
    }
    as_far_as_of_form(&forms, message).unwrap_or_else(|| LEFT_OUT.to_owned())
}

/// A message without the place in a statement.
fn without_place(message: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let placed = message.rsplit_once(BEFORE_PLACE).filter(|(_, place)| is_number(place));
    placed.map_or(message, |(words, _)| words)
}

/// A detail without values; empty where it has no form of the server's.
pub(super) fn own_detail(detail: &str) -> String {
    let forms = [DETAILS, own_errors::DETAILS].concat();
    logged_detail(detail).or_else(|| of_form(&forms, detail)).unwrap_or_default()
}

/// A hint; empty where it has no form of the server's.
pub(super) fn own_hint(hint: &str) -> String {
    of_form(&[HINTS, own_errors::HINTS].concat(), hint).unwrap_or_default()
}

/// A context, up to the first line that is not wholly of a form of the server's.
pub(super) fn own_context(context: &str) -> String {
    let mut shown = Vec::new();
    for line in context.lines() {
        let known = of_form(own_errors::CONTEXTS, line);
        let is_known = known.is_some();
        let departed = || as_far_as_of_form(own_errors::CONTEXTS, line);
        shown.push(known.or_else(departed).unwrap_or_else(|| LEFT_OUT.to_owned()));
        if !is_known {
            break;
        }
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_other_messages_nothing_stays() {
        for text in [
            "account of hush",
            "process hush",
            "duration: hush",
            "parse error: account of hush",
            "received replication command: hush",
            "could not create account of hush",
            "statement: hush",
            "",
        ] {
            assert_eq!(own_message(text), "?", "{text}");
        }
    }

    #[test]
    fn messages_of_the_server_s_own_stay_whole() {
        for text in [
            "listening on IPv4 address \"127.0.0.1\", port 5432",
            "database system was shut down at 2026-11-30 10:00:00 UTC",
            "redo starts at 0/15A3B40",
            "redo done at 0/15A3B78 system usage: CPU: user: 0.00 s, system: 0.01 s, elapsed: 0.02 \
             s",
            "invalid record length at 0/15A3B78: wanted 24, got 0",
            "checkpoint starting: end-of-recovery immediate wait",
            "checkpoint complete: wrote 3 buffers (0.0%); 0 WAL file(s) added, 0 removed, 0 \
             recycled; write=0.001 s, sync=0.001 s, total=0.004 s; sync files=2, longest=0.001 s, \
             average=0.001 s; distance=0 kB, estimate=0 kB",
            "process 5 acquired AccessExclusiveLock on relation 7 of database 5 after 1000.1 ms",
            "process 5 still waiting for ShareLock on transaction 7 after 1000.1 ms",
            "connection received: host=127.0.0.1 port=5433",
            "server process (PID 7) was terminated by signal 9: Killed",
            "duration: 0.5 ms",
            "parameter \"work_mem\" removed from configuration file, reset to default",
            "deadlock detected",
            "division by zero at character 8",
            "sorry, too many clients already",
        ] {
            assert_eq!(own_message(text), text);
        }
        for detail in [
            "Process holding the lock: 5. Wait queue: 7, 8.",
            "Process 5 waits for ShareLock on transaction 7; blocked by process 8.",
        ] {
            assert_eq!(own_detail(detail), detail);
        }
    }

    #[test]
    fn what_only_begins_as_one_is_masked_from_where_it_departs() {
        for (text, expected) in [
            ("checkpoint complete: hush", "checkpoint complete: ?"),
            (
                "checkpoint complete: wrote 3 buffers of hush",
                "checkpoint complete: wrote 3 buffers ?",
            ),
            ("checkpoint starting: hush", "checkpoint starting: ?"),
            (
                "database system is ready to accept connections of hush",
                "database system is ready to accept ?",
            ),
            (
                "listening on IPv6 address \"hush\", port 5",
                "listening on IPv6 address \"?\", port 5",
            ),
            ("listening on Unix socket \"hush\"", "listening on Unix socket \"?\""),
            (
                "connection authorized: user=hush application_name=hush",
                "connection authorized: user=?",
            ),
            ("parameter \"my hush\" changed to \"hush\"", "parameter \"?\" changed to \"?\""),
            ("could not open file \"hush\": hush", "could not open file \"?\": ?"),
            (
                "duplicate key value violates unique constraint \"hush\"",
                "duplicate key value violates unique constraint \"?\"",
            ),
            (
                "relation \"hush\" does not exist at character 9",
                "relation \"?\" does not exist at character 9",
            ),
            ("column t.hush does not exist", "column ? does not exist"),
            ("permission denied for table hush", "permission denied for table ?"),
            (
                "invalid input syntax for type integer: \"hush\"",
                "invalid input syntax for type integer: \"?\"",
            ),
            ("division by zero of hush", "division by ?"),
        ] {
            assert_eq!(own_message(text), expected);
        }
        assert_eq!(own_detail("Process holding the lock: hush"), "");
    }

    #[test]
    fn nothing_of_a_statement_or_a_value_of_a_setting_is_left() {
        for (text, expected) in [
            ("statement: SELECT hush", "statement: ?"),
            (
                "duration: 1.5 ms  execute <unnamed>: SELECT hush",
                "duration: 1.5 ms  execute <unnamed>: ?",
            ),
            ("parameter \"hush\" changed to \"hush\"", "parameter \"?\" changed to \"?\""),
            (
                "parameter \"primary_conninfo\" changed to \"host=h password=\"hush\"\"",
                "parameter \"primary_conninfo\" changed to \"?\"",
            ),
            (
                "invalid value for parameter \"work_mem\": \"hush\"",
                "invalid value for parameter \"work_mem\": \"?\"",
            ),
            (
                "5 is outside the valid range for parameter \"port\" (6 .. 7)",
                "? is outside the valid range for parameter \"port\" (?)",
            ),
            (
                "could not access file \"hush\": No such file or directory",
                "could not access file \"?\": No such file or directory",
            ),
        ] {
            assert_eq!(own_message(text), expected);
        }
    }

    #[test]
    fn contexts_stay_up_to_the_first_line_that_is_not_known() {
        let at = "PL/pgSQL function inline_code_block line 3 at PERFORM";
        for (context, expected) in [
            (at.to_owned(), at.to_owned()),
            (
                "PL/pgSQL function hush() line 3 at hush".to_owned(),
                "PL/pgSQL function ? line 3 at ?".to_owned(),
            ),
            (format!("SQL statement \"hush\"\n{at}"), format!("SQL statement \"?\"\n{at}")),
            (format!("SQL statement \"hush\nhush\"\n{at}"), "SQL statement \"?".to_owned()),
            (format!("hush\n{at}"), "?".to_owned()),
            (
                "COPY t, line 1, column a: \"hush\"".to_owned(),
                "COPY ?, line 1, column ?: ?".to_owned(),
            ),
        ] {
            assert_eq!(own_context(&context), expected);
        }
    }
}
