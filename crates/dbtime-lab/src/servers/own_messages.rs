//! Messages of PostgreSQL's own that it logs without an error, by what they begin with.
//!
//! With `log_error_verbosity=terse` a log does not say what has reported a message: the words of
//! RAISE LOG and of the server's own stand there alike. Only what is known here is the server's.
//!
//! Source: `postmaster.c`, `xlog.c`, `xlogrecovery.c`, `checkpointer.c`, `autovacuum.c`, `proc.c`,
//! `guc-file.l`, `postgres.c`, `tcop`, `libpq` and `fd.c` of PostgreSQL 9.6 to 18.

use super::logged_statement::is_logged;
use std::borrow::Cow;

/// What such messages begin with; `#` stands for a digit.
const BEGINNINGS: [&str; 83] = [
    "starting PostgreSQL ",
    "listening on ",
    "could not bind IPv",
    "could not bind Unix ",
    "could not listen on ",
    "could not create any ",
    "could not create directory ",
    "could not create file ",
    "could not create lock file ",
    "could not create listen socket ",
    "could not create semaphores",
    "could not create shared memory segment",
    "could not extend file ",
    "could not fork ",
    "could not fsync file ",
    "could not map anonymous shared memory",
    "could not open file \"base/",
    "could not open file \"pg_wal/",
    "could not read block ",
    "could not receive data from client",
    "could not resize shared memory segment ",
    "could not send data to client",
    "could not write block ",
    "could not write to file ",
    "could not write to log file ",
    "database system is ",
    "database system was ",
    "entering standby mode",
    "consistent recovery state reached",
    "redo starts at #",
    "redo done at #",
    "redo is not required",
    "redo in progress, elapsed time: ",
    "invalid record length at ",
    "invalid magic number ",
    "invalid resource manager ID ",
    "incorrect resource manager data checksum ",
    "incorrect prev-link ",
    "record with incorrect prev-link ",
    "unexpected pageaddr ",
    "contrecord is requested by ",
    "there is no contrecord flag at ",
    "last completed transaction was at log time ",
    "selected new timeline ID: #",
    "archive recovery complete",
    "archive command failed with exit code ",
    "archive command was terminated by ",
    "checkpoint starting:",
    "checkpoint complete:",
    "checkpoints are occurring too frequently ",
    "restartpoint starting:",
    "restartpoint complete:",
    "received fast shutdown request",
    "received smart shutdown request",
    "received immediate shutdown request",
    "received SIGHUP, reloading configuration files",
    "shutting down",
    "aborting any active transactions",
    "background worker \"",
    "autovacuum launcher ",
    "automatic vacuum of table ",
    "automatic aggressive vacuum of table ",
    "automatic analyze of table ",
    "sending cancel to blocking autovacuum PID #",
    "server process (PID #",
    "parallel worker (PID #",
    "terminating any other active server processes",
    "terminating connection because of crash of another server process",
    "all server processes terminated; reinitializing",
    "issuing SIGKILL to recalcitrant children",
    "process #",
    "temporary file: path ",
    "connection received: host=",
    "connection authenticated: ",
    "connection authorized: user=",
    "disconnection: session time: #",
    "unexpected EOF on client connection",
    "incomplete startup packet",
    "invalid length of startup packet",
    "configuration file \"",
    "loaded library \"",
    "MultiXact member wraparound protections are ",
    "using stale statistics ",
];

/// What a message begins with that tells of a setting, and what stands before its new value.
const SETTING: (&str, &str) = ("parameter \"", "\" changed to \"");

/// What a detail of theirs begins with that has no value.
const DETAILS: [&str; 3] =
    ["Process holding the lock: ", "Processes holding the lock: ", "Process #"];

/// What stands in a message before what a setting has the server execute, or connect to.
const SETTING_MARKS: [&str; 2] = ["command \"", "could not connect to the primary server"];

/// Whether a message is one of the server's own.
pub(super) fn is_own(message: &str) -> bool {
    let begins = |beginning: &&str| begins_like(message, beginning);
    BEGINNINGS.iter().any(begins) || message.starts_with(SETTING.0) || is_logged(message)
}

/// Whether a detail of such a message has no value.
pub(super) fn is_plain_detail(detail: &str) -> bool {
    DETAILS.iter().any(|beginning| begins_like(detail, beginning))
}

/// Whether an error quotes the value of a setting.
pub(super) fn quotes_setting(message: &str) -> bool {
    SETTING_MARKS.iter().any(|mark| message.contains(mark))
}

/// A message without the new value of a setting.
pub(super) fn without_setting(message: &str) -> Cow<'_, str> {
    let place = message.starts_with(SETTING.0).then(|| message.find(SETTING.1)).flatten();
    match place {
        Some(at) => Cow::Owned(format!("{}?\"", &message[..at + SETTING.1.len()])),
        None => Cow::Borrowed(message),
    }
}

fn begins_like(text: &str, beginning: &str) -> bool {
    match beginning.strip_suffix('#') {
        Some(words) => {
            let rest = text.strip_prefix(words);
            rest.is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
        }
        None => text.starts_with(beginning),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_server_s_own_are_known() {
        for text in [
            "starting PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu",
            "database system is ready to accept connections",
            "process 5 still waiting for ShareLock on transaction 7 after 1000.1 ms",
            "server process (PID 7) was terminated by signal 9: Killed",
            "duration: 0.5 ms",
            "execute <unnamed>: SELECT 1",
            "parameter \"work_mem\" removed from configuration file, reset to default",
        ] {
            assert!(is_own(text), "{text}");
        }
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
            assert!(!is_own(text), "{text}");
        }
    }

    #[test]
    fn new_values_of_settings_are_left_out() {
        for (text, expected) in [
            (
                "parameter \"primary_conninfo\" changed to \"host=h password=\"hush\"\"",
                "parameter \"primary_conninfo\" changed to \"?\"",
            ),
            ("parameter \"a\" changed to \"hush", "parameter \"a\" changed to \"?\""),
            ("parameter \"a\" cannot be changed", "parameter \"a\" cannot be changed"),
            ("the parameter \"a\" changed to \"x\"", "the parameter \"a\" changed to \"x\""),
        ] {
            assert_eq!(without_setting(text), expected);
        }
    }
}
