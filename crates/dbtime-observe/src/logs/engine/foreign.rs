//! Logs that are well known, and that dbtime does not read: what to read in their place.

use crate::logs::lines::{first_lines, mostly_right};
use memchr::memmem::find;

/// How many lines are looked at.
const LINES: usize = 20;

/// A log that dbtime does not read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForeignLog {
    /// What it is.
    pub(super) name: &'static str,
    /// What to read in its place.
    pub(super) remedy: &'static str,
    /// Whether a line is of it.
    is_like: fn(&[u8]) -> bool,
}

/// What to read in the place of a server's messages.
const SLOW_LOG: &str = "name the slow log, whose place `SHOW VARIABLES LIKE 'slow_query_log_file'` \
                        shows";
const ACCESS_LOG: &str = "name the access log";

/// Those that are known, special ones first.
const KNOWN: [ForeignLog; 8] = [
    ForeignLog {
        name: "a log of HAProxy",
        remedy: "have HAProxy write JSON (its log-format) and name the keys with --json-fields, or \
                 name the access log of the servers behind it",
        is_like: |line| find(line, b"haproxy[").is_some() || has_timers(line),
    },
    ForeignLog {
        name: "an access log of Squid in its own format",
        remedy: "have Squid write the format combined (access_log … combined)",
        is_like: |line| line.starts_with(b"1") && find(line, b" TCP_").is_some(),
    },
    ForeignLog {
        name: "an access log of Envoy",
        remedy: "have Envoy write JSON (json_format) and name the keys with --json-fields",
        is_like: |line| line.starts_with(b"[2") && find(line, b"Z] \"").is_some(),
    },
    ForeignLog {
        name: "an error log of nginx",
        remedy: ACCESS_LOG,
        is_like: |line| line.get(4) == Some(&b'/') && find(line, b"] ").is_some_and(|at| at < 40),
    },
    ForeignLog {
        name: "an error log of Apache",
        remedy: ACCESS_LOG,
        is_like: |line| line.starts_with(b"[") && find(line, b"] [").is_some_and(|at| at < 40),
    },
    ForeignLog {
        name: "an error log of MySQL or MariaDB",
        remedy: SLOW_LOG,
        is_like: is_of_mysql_errors,
    },
    ForeignLog {
        name: "a log of PgBouncer",
        remedy: "name the log of the PostgreSQL server behind it",
        is_like: |line| [&b" LOG C-0x"[..], b" LOG S-0x"].iter().any(|of| find(line, of).is_some()),
    },
    ForeignLog {
        name: "a log of MongoDB",
        remedy: "the statements of MySQL, MariaDB and PostgreSQL are read, and web requests",
        is_like: |line| line.starts_with(b"{\"t\":{\"$date\""),
    },
];

/// What files begin with that have no lines of text.
const BINARY: [(&[u8], ForeignLog); 2] = [
    (b"\xfebin", ForeignLog { name: "a binary log of MySQL", remedy: SLOW_LOG, is_like: |_| true }),
    (
        b"\xff\xfe",
        ForeignLog {
            name: "a text in UTF-16",
            remedy: "put it into UTF-8 first (iconv -f UTF-16 -t UTF-8)",
            is_like: |_| true,
        },
    ),
];

/// What a log is that begins like this; `None`: it is not known either.
pub(super) fn foreign_log(head: &[u8]) -> Option<ForeignLog> {
    let binary = BINARY.into_iter().find(|(magic, _)| head.starts_with(magic));
    binary.map(|(_, log)| log).or_else(|| KNOWN.into_iter().find(|log| is_of(head, log)))
}

fn is_of(head: &[u8], log: &ForeignLog) -> bool {
    let lines = || first_lines(head, LINES);
    let right = lines().filter(|line| (log.is_like)(&head[line.clone()])).count();
    mostly_right(right, lines().count())
}

/// Whether a line has the five times of HAProxy: `10/0/30/69/109`.
fn has_timers(line: &[u8]) -> bool {
    let is_time = |part: &[u8]| {
        let digits = part.strip_prefix(b"-").or(part.strip_prefix(b"+")).unwrap_or(part);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let mut words = line.split(|byte| *byte == b' ');
    words.any(|word| {
        let mut parts = word.split(|byte| *byte == b'/');
        parts.clone().count() == 5 && parts.all(is_time)
    })
}

/// Whether a line is a message of a server: its kind stands in brackets behind the thread.
fn is_of_mysql_errors(line: &[u8]) -> bool {
    let kinds = [&b" [Note] "[..], b" [Warning] ", b" [ERROR] ", b" [System] [MY-"];
    let kind = kinds.iter().find_map(|kind| find(line, kind));
    line.starts_with(b"2") && kind.is_some_and(|at| at < 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_that_are_not_read_are_known_by_their_lines() {
        let cases: [(&[u8], &str); 10] = [
            (b"Feb  6 12:14:14 h haproxy[9]: 10.0.1.2:3 [06/Feb/2009:12:14:14.655]", "HAProxy"),
            (b"10.0.1.2:3 [06/Feb/2009:12:14:14.655] in s/srv1 10/0/30/69/109 200 2750", "HAProxy"),
            (b"1286536308.779    180 192.168.0.224 TCP_MISS/200 411 GET http://a/", "Squid"),
            (b"[2016-04-15T20:17:00.310Z] \"POST /api HTTP/2\" 204 - 154 0 226", "Envoy"),
            (b"2026/11/30 10:00:00 [error] 12#12: *5 open() failed", "nginx"),
            (b"[Mon Nov 30 10:00:00.123456 2026] [mpm_event:notice] [pid 1:tid 5] A", "Apache"),
            (b"2026-11-30T10:00:00.123456Z 0 [System] [MY-010931] [Server] ready", "MySQL"),
            (b"2026-11-30 10:00:00 0 [Note] InnoDB: Using transactional memory", "MariaDB"),
            (b"2026-11-30 10:00:00.123 UTC [1234] LOG C-0x55: db/user@127.0.0.1:1 x", "PgBouncer"),
            (b"{\"t\":{\"$date\":\"2026-11-30T10:00:00.000+00:00\"},\"s\":\"I\"}", "MongoDB"),
        ];
        for (line, name) in cases {
            let head = [line, b"\n"].concat().repeat(3);
            let found = foreign_log(&head).map(|log| log.name);
            assert!(found.is_some_and(|found| found.contains(name)), "{name}: {found:?}");
        }
        let binary = [&b"\xfebin\0\0"[..], b"\xff\xfea\0"].map(|head| foreign_log(head).is_some());
        assert_eq!(binary, [true, true]);
        for odd in [&b""[..], b"nothing of the kind\n", b"1,2,3\n", b"{\"a\":1}\n"] {
            assert!(foreign_log(odd).is_none(), "{}", String::from_utf8_lossy(odd));
        }
    }
}
