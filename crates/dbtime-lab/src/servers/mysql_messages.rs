//! Messages of MariaDB and MySQL that are known word by word.
//!
//! Once a log has had a statement in it any further line may be of a literal, with whatever a
//! message begins with. Only lines that are known here are the server's then.
//!
//! Source: the logs of MariaDB 10.2 to 11.8 and MySQL 5.5 to 9 at their start and end, under load,
//! and where they do not start.

use super::message_form::of_form;
use super::mysql_log::{LEVELS, NUMBER, words_from};

/// What stands behind the number of a message.
const SUBSYSTEMS: [&str; 3] = ["Server", "InnoDB", "Repl"];

/// What a message begins with, each digit as a 9: a day, or one with the time.
const DAYS: [&str; 2] = ["9999-99-99", "999999"];
const DAY_WITH_TIME: &str = "9999-99-99T99:99:99";

/// Words of messages, in the words of [`super::message_form`].
const FORMS: &[&str] = &[
    "*: ready for connections.",
    "*: ready for connections. Version: *",
    "*: Normal shutdown",
    "*: Shutdown complete",
    "*: Shutdown complete *",
    "*: unknown variable '*'",
    "*: unknown option '*'",
    "*: Forcing close of thread # user: '*'",
    "*: File '*' not found (Errcode: # \"~\")",
    "* starting as process #",
    "Aborted connection # to db: '*' user: '*' host: '*' (~)",
    "Aborting",
    "Access denied for user '*'",
    "Access denied for user '*' (using password: ~)",
    "Added new Master_info '*' to hash table",
    "CA certificate * is self signed.",
    "Can't start server: Bind on TCP/IP port. Got error: #: ~",
    "Can't start server: Bind on TCP/IP port: ~",
    "Could not increase number of max_open_files to more than # (request: #)",
    "Could not use * for logging (error #). Turning logging off *",
    "Do you already have another server running on port: # ?",
    "Do you already have another mysqld server running on port: # ?",
    "Event Scheduler: Killing the scheduler thread, thread id #",
    "Event Scheduler: Loaded # events",
    "Event Scheduler: Purging the queue. # events",
    "Event Scheduler: Stopped",
    "Event Scheduler: Waiting for the scheduler thread to reply",
    "Event Scheduler: scheduler thread started with id #",
    "Giving # client threads a chance to die gracefully",
    "IPv6 is available.",
    "Initializing built-in plugins",
    "Initializing installed plugins",
    "Initializing plugins specified on the command line",
    "InnoDB initialization has ended.",
    "InnoDB initialization has started.",
    "InnoDB: # out of # rollback segments are active.",
    "InnoDB: # rollback segments are active.",
    "InnoDB: # rollback segments in # undo tablespaces are active.",
    "InnoDB: # started; log sequence number #",
    "InnoDB: # started; log sequence number #; transaction id #",
    "InnoDB: Buffer pool(s) dump completed at #",
    "InnoDB: Buffer pool(s) load completed at #",
    "InnoDB: Buffered log writes (block size=# bytes)",
    "InnoDB: Cannot allocate memory for the buffer pool",
    "InnoDB: Completed initialization of buffer pool",
    "InnoDB: Compressed tables use zlib #",
    "InnoDB: Creating shared tablespace for temporary tables",
    "InnoDB: Doublewrite buffer created",
    "InnoDB: Doublewrite buffer not found: creating new",
    "InnoDB: Dumping buffer pool(s) to *",
    "InnoDB: End of log at LSN=#",
    "InnoDB: FTS optimize thread exiting.",
    "InnoDB: File '*' size is now # MB.",
    "InnoDB: File '*' size is now #MiB.",
    "InnoDB: File system buffers for log disabled (block size=# bytes)",
    "InnoDB: Initializing buffer pool, total size = *",
    "InnoDB: Loading buffer pool(s) from *",
    "InnoDB: Memory-mapped log (block size=# bytes)",
    "InnoDB: Mutexes and rw_locks use GCC atomic builtins",
    "InnoDB: Number of pools: #",
    "InnoDB: Number of transaction pools: #",
    "InnoDB: Plugin initialization aborted at * with error *",
    "InnoDB: Plugin initialization aborted with error *",
    "InnoDB: Removed temporary tablespace data file: \"*\"",
    "InnoDB: Setting file '*' size to # MB. Physically writing the file full; Please wait ...",
    "InnoDB: Setting file '*' size to #MiB. Physically writing the file full; Please wait ...",
    "InnoDB: Shutdown completed; log sequence number #",
    "InnoDB: Shutdown completed; log sequence number #; transaction id #",
    "InnoDB: Starting crash recovery from checkpoint LSN=#",
    "InnoDB: Starting final batch to recover # pages from redo log.",
    "InnoDB: Starting shutdown...",
    "InnoDB: The first data file '*' did not exist. A new tablespace will be created!",
    "InnoDB: Transactions deadlock detected, dumping detailed information.",
    "InnoDB: Unable to lock * error: #",
    "InnoDB: Using AVX512 instructions",
    "InnoDB: Using Linux native AIO",
    "InnoDB: Using SSE4.2 crc32 instructions",
    "InnoDB: Using crc32 + pclmulqdq instructions",
    "InnoDB: Using generic crc32 instructions",
    "InnoDB: Using io_uring",
    "InnoDB: Using liburing",
    "InnoDB: Waiting for purge to start",
    "InnoDB: innodb_buffer_pool_size_max=#m, innodb_buffer_pool_size=#m",
    "InnoDB: log sequence number #; transaction id #",
    "InnoDB: to purge # transactions",
    "Plugin '*' init function returned error.",
    "Plugin '*' is disabled.",
    "Plugin '*' registration as a STORAGE ENGINE failed.",
    "Reading of all Master_info entries succeeded",
    "Received SHUTDOWN from user *",
    "Server hostname (bind-address): '*'; port: #",
    "Server socket created on IP: '#', port: '#'.",
    "Server socket created on IP: '*'.",
    "Starting MariaDB * as process #",
    "Starting XA crash recovery...",
    "Unknown/unsupported storage engine: *",
    "Using PAUSE multiplier #",
    "XA crash recovery finished.",
];

/// Lines that no instant stands before.
const LINES: &[&str] = &[
    "Connection ID (thread ID): #",
    "RECORD LOCKS space id # page no # n bits # index * of table * trx id # lock_mode *",
    "Status: NOT_KILLED",
    "Tcp port: #  Unix socket: *",
    "Time\t\t    Id Command\tArgument",
    "Version: '*'  socket: '*'  port: #  *",
];

/// The first line of an entry, without what may be a value; `None`: it is not known as the
/// server's. Further lines may be of a log of statements.
pub(super) fn own_line(entry: &str) -> Option<String> {
    let line = entry.lines().next()?;
    let of_message = || {
        let (head, words) = line.split_at(words_from(line)?);
        let shown = is_head(head).then(|| of_form(FORMS, words)).flatten()?;
        Some(format!("{head}{shown}"))
    };
    of_form(LINES, line).or_else(of_message)
}

/// Whether nothing stands before the words of a message but an instant, the number of a connection,
/// and brackets of the server's.
fn is_head(head: &str) -> bool {
    let Some((instant, brackets)) = head.split_once('[') else { return false };
    let Some(brackets) = brackets.strip_suffix("] ") else { return false };
    let is_bracket = |inner: &str| {
        let number = NUMBER.strip_prefix('[').and_then(|begin| inner.strip_prefix(begin));
        let is_number = number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
        is_number || LEVELS.contains(&inner) || SUBSYSTEMS.contains(&inner)
    };
    is_instant(instant) && brackets.split("] [").all(is_bracket)
}

/// Whether a text is `2026-11-30 10:00:00 0`, `2026-11-30T10:00:00.123456Z 8` or `261130 10:00:00`.
fn is_instant(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let day = words.next().unwrap_or_default();
    let of_nines = |sign: char| if sign.is_ascii_digit() { '9' } else { sign };
    let shape: String = day.chars().map(of_nines).collect();
    let fraction = shape.strip_prefix(DAY_WITH_TIME);
    let has_time = fraction.is_some_and(|rest| rest.chars().all(|sign| "9.Z+-:".contains(sign)));
    let is_of_rest = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || b == b':');
    (DAYS.contains(&shape.as_str()) || has_time) && words.all(is_of_rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_server_stay_without_names() {
        for (line, expected) in [
            ("2026-11-30 10:00:00 0 [Note] InnoDB: Using io_uring", ""),
            ("2026-11-30  9:56:04 0 [Note] InnoDB: 128 rollback segments are active.", ""),
            (
                "2026-11-30T10:00:00.1Z 0 [System] [MY-013576] [InnoDB] InnoDB initialization has \
                 started.",
                "",
            ),
            ("261130 10:00:00 [Note] Event Scheduler: Loaded 0 events", ""),
            ("2026-11-30 10:00:00 0 [Note] Server socket created on IP: '1.1.1.1', port: '5'.", ""),
            (
                "2026-11-30 10:00:00 0 [Note] /usr/sbin/mariadbd: ready for connections.",
                "2026-11-30 10:00:00 0 [Note] ?: ready for connections.",
            ),
            (
                "2026-11-30 10:00:00 5 [Warning] Aborted connection 5 to db: 'hush' user: 'hush' \
                 host: 'hush' (Got an error reading communication packets)",
                "2026-11-30 10:00:00 5 [Warning] Aborted connection 5 to db: '?' user: '?' \
                 host: '?' (Got an error reading communication packets)",
            ),
            (
                "2026-11-30 10:00:00 5 [Warning] Access denied for user 'hush'@'hush' (using \
                 password: YES)",
                "2026-11-30 10:00:00 5 [Warning] Access denied for user '?' (using password: YES)",
            ),
            (
                "Version: '10.11.19'  socket: '/run/s.sock'  port: 3306  Debian n/a",
                "Version: '?'  socket: '?'  port: 3306  ?",
            ),
            (
                "2026-11-30 10:00:00 0 [Note] InnoDB: Using io_uring\n\thush",
                "2026-11-30 10:00:00 0 [Note] InnoDB: Using io_uring",
            ),
        ] {
            let expected = if expected.is_empty() { line } else { expected };
            assert_eq!(own_line(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_are_not_known_whatever_they_begin_with() {
        for line in [
            "2026-11-30 10:00:00 0 [Note] InnoDB: hush",
            "2026-11-30 10:00:00 0 [Note] InnoDB: Using io_uring hush",
            "2026-11-30 10:00:00 hush [Note] InnoDB: Using io_uring",
            "hush 0 [Note] InnoDB: Using io_uring",
            "2026-11-30Thush [Note] InnoDB: Using io_uring",
            "2026-11-30 10:00:00 0 [Note] [MY-000001] [hush] InnoDB: Using io_uring",
            "Version: 'hush'",
            "{ \"prio\" : 3, \"msg\" : \"hush\" }",
            "hush",
            "",
        ] {
            assert_eq!(own_line(line), None, "{line}");
        }
    }
}
