//! The keys in the comments of a slow log, and what the value of each is.

use super::lines::trimmed;
use crate::logs::numbers::{decimal, seconds, whole};
use dbtime_model::log_digest::{LogFigure, LogFigureUnit};
use std::ops::Range;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowKey {
    /// The duration, in seconds.
    Duration,
    /// A figure; times are seconds.
    Figure(LogFigure),
    /// A figure in milliseconds.
    Millis(LogFigure),
    /// The number of the session.
    Session,
    /// The database.
    Database,
    /// The code of an error; 0: none.
    Error,
    /// The code of the error that ended the statement from outside; 0: none.
    Killed,
    /// The server's ID of the statement.
    QueryId,
    /// One in so many was logged.
    Weight,
    /// What is sampled, statements or sessions: it changes no weight.
    SampleKind,
}

impl SlowKey {
    /// What a key is for; `None`: dbtime does not know it.
    pub(super) fn of(key: &[u8]) -> Option<Self> {
        let figure = match key {
            b"Query_time" => return Some(Self::Duration),
            b"Id" | b"Thread_id" | b"Conn_ID" => return Some(Self::Session),
            b"Schema" | b"DB" => return Some(Self::Database),
            b"Last_errno" | b"Errno" => return Some(Self::Error),
            b"Killed" => return Some(Self::Killed),
            b"Digest" | b"Query_id" | b"Query_ID" => return Some(Self::QueryId),
            b"Log_slow_rate_limit" => return Some(Self::Weight),
            b"Log_slow_rate_type" => return Some(Self::SampleKind),
            // MariaDB has these two in milliseconds, all other times in seconds.
            b"Pages_read_time" => return Some(Self::Millis(LogFigure::ReadWait)),
            b"Engine_time" => return Some(Self::Millis(LogFigure::EngineTime)),
            _ => figure_of(key)?,
        };
        Some(Self::Figure(figure))
    }
}

/// The figure of a key. Older versions of Percona Server name some of them in another order.
fn figure_of(key: &[u8]) -> Option<LogFigure> {
    Some(match key {
        b"Lock_time" => LogFigure::LockTime,
        b"Parse_time" => LogFigure::ParseTime,
        b"Rows_sent" => LogFigure::RowsSent,
        b"Rows_examined" => LogFigure::RowsExamined,
        b"Rows_affected" => LogFigure::RowsAffected,
        b"Rows_read" => LogFigure::RowsRead,
        b"Bytes_sent" => LogFigure::BytesSent,
        b"Bytes_received" => LogFigure::BytesReceived,
        b"Tmp_tables" | b"Created_tmp_tables" => LogFigure::TmpTables,
        b"Tmp_disk_tables" | b"Created_tmp_disk_tables" => LogFigure::TmpDiskTables,
        b"Tmp_table_sizes" => LogFigure::TmpBytes,
        b"Merge_passes" | b"Sort_merge_passes" => LogFigure::MergePasses,
        b"Sort_rows" => LogFigure::SortRows,
        b"InnoDB_IO_r_ops" => LogFigure::ReadCalls,
        b"InnoDB_IO_r_bytes" => LogFigure::ReadBytes,
        b"InnoDB_IO_r_wait" => LogFigure::ReadWait,
        b"InnoDB_rec_lock_wait" => LogFigure::RowLockWait,
        b"InnoDB_queue_wait" => LogFigure::QueueWait,
        b"InnoDB_pages_distinct" => LogFigure::PagesDistinct,
        b"Pages_accessed" => LogFigure::PagesAccessed,
        b"Pages_read" => LogFigure::PagesRead,
        b"Profile_total_cpu" => LogFigure::CpuTime,
        b"QC_hit" | b"QC_Hit" => LogFigure::CacheHit,
        b"Full_scan" => LogFigure::FullScan,
        b"Full_join" => LogFigure::FullJoin,
        b"Tmp_table" => LogFigure::TmpTable,
        b"Tmp_table_on_disk" | b"Disk_tmp_table" => LogFigure::TmpTableOnDisk,
        b"Filesort" => LogFigure::Filesort,
        b"Filesort_on_disk" | b"Disk_filesort" => LogFigure::FilesortOnDisk,
        _ => return None,
    })
}

/// The value of a figure; times in nanoseconds. `None`: it is none.
pub(super) fn figure_value(figure: LogFigure, value: &[u8]) -> Option<u64> {
    match figure.unit() {
        LogFigureUnit::Time => seconds(value).map(|time| time.0),
        LogFigureUnit::Bytes | LogFigureUnit::Count => whole(value),
        LogFigureUnit::Flag => match value {
            b"Yes" => Some(1),
            b"No" => Some(0),
            _ => None,
        },
    }
}

/// A time in milliseconds. Unit: nanoseconds.
pub(super) fn millis_value(value: &[u8]) -> Option<u64> {
    decimal(value, 1_000_000).map(|time| time.0)
}

/// The pairs `Key: value` in a line, by their places in it. A value may be missing; words that are
/// neither are passed over.
#[derive(Debug)]
pub(super) struct KeyPairs<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> KeyPairs<'a> {
    /// Those of a whole line.
    pub(super) fn of(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// The next word; empty at the end of the line.
    fn word(&self) -> Range<usize> {
        let line = self.line;
        let is_blank = |at: &usize| line.get(*at).is_some_and(u8::is_ascii_whitespace);
        let start = (self.at..line.len()).find(|at| !is_blank(at)).unwrap_or(line.len());
        let end = (start..line.len()).find(is_blank).unwrap_or(line.len());
        start..end
    }

    /// Whether a word is a key.
    fn is_key(&self, word: &Range<usize>) -> bool {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        match self.line[word.clone()].split_last() {
            Some((b':', name)) => !name.is_empty() && name.iter().all(is_of_name),
            _ => false,
        }
    }
}

impl Iterator for KeyPairs<'_> {
    type Item = (Range<usize>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let key = self.word();
            if key.is_empty() {
                return None;
            }
            self.at = key.end;
            if self.is_key(&key) {
                let mut value = self.word();
                if self.is_key(&value) {
                    // The next key: this one has no value.
                    value.end = value.start;
                }
                self.at = value.end;
                return Some((key.start..key.end - 1, value));
            }
        }
    }
}

/// The account in a line, by the places in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AccountParts {
    pub(super) user: Range<usize>,
    /// As Percona's tools name it: without an account it is the user, in its brackets.
    pub(super) account: Range<usize>,
    pub(super) host: Range<usize>,
    /// Where what follows begins.
    pub(super) end: usize,
}

impl AccountParts {
    /// Reads `priv[user] @ host [ip]` from behind so many bytes of a line; any of the names may be
    /// missing. The user is who has logged in, and the account what this was found to be.
    pub(super) fn read(line: &[u8], from: usize) -> Option<Self> {
        // Names are too short for a search to pay.
        let next = |byte: u8, from: usize| {
            Some(from + line.get(from..)?.iter().position(|other| *other == byte)?)
        };
        let open = next(b'[', from)?;
        let close = next(b']', open)?;
        let host = next(b'@', close)? + 1;
        let address = next(b'[', host)?;
        let end = next(b']', address)?;
        let either = |first: Range<usize>, second: Range<usize>| {
            let first = trimmed(line, first);
            if first.is_empty() { trimmed(line, second) } else { first }
        };
        let bracketed = if close > open + 1 { open..close + 1 } else { open..open };
        Some(Self {
            account: either(from..open, bracketed),
            user: either(open + 1..close, from..open),
            host: either(host..address, address + 1..end),
            end: end + 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(line: &str) -> Vec<(&str, &str)> {
        KeyPairs::of(line.as_bytes()).map(|(key, value)| (&line[key], &line[value])).collect()
    }

    #[test]
    fn pairs_may_be_without_value() {
        let line = "# Thread_id: 5  Schema:   Last_errno: 0  x Killed:";
        let found = [("Thread_id", "5"), ("Schema", ""), ("Last_errno", "0"), ("Killed", "")];
        assert_eq!(pairs(line), found);
        assert_eq!(pairs("#   Client: 10.0.0.1:3306\r"), [("Client", "10.0.0.1:3306")]);
        assert!(pairs("# No InnoDB statistics available for this query").is_empty());
        assert!(pairs("# a-b: : 1").is_empty());
    }

    #[test]
    fn accounts_may_lack_any_name() {
        let read = |line: &'static str| {
            let parts = AccountParts::read(line.as_bytes(), 1).expect("an account");
            (&line[parts.user], &line[parts.host], &line[parts.end..])
        };
        assert_eq!(read(" p[u] @ h [10.0.0.1]  Id: 5"), ("u", "h", "  Id: 5"));
        assert_eq!(read(" p[] @  [10.0.0.1]"), ("p", "10.0.0.1", ""));
        assert_eq!(read(" [SQL_SLAVE] @  []"), ("SQL_SLAVE", "", ""));
        assert_eq!(read(" [] @  []"), ("", "", ""));
        assert_eq!(AccountParts::read(b" root[root] @ localhost", 1), None);
    }

    #[test]
    fn accounts_are_named_as_percona_names_them() {
        let account = |line: &'static str| {
            &line[AccountParts::read(line.as_bytes(), 1).expect("an account").account]
        };
        assert_eq!(account(" p[u] @ h [10.0.0.1]  Id: 5"), "p");
        assert_eq!(account(" [SQL_SLAVE] @  []"), "[SQL_SLAVE]");
        assert_eq!(account(" [] @  []"), "");
    }

    #[test]
    fn values_are_of_the_unit_of_their_key() {
        assert_eq!(SlowKey::of(b"Engine_time"), Some(SlowKey::Millis(LogFigure::EngineTime)));
        assert_eq!(SlowKey::of(b"engine_time"), None);
        assert_eq!(millis_value(b"0.0345"), Some(34_500));
        assert_eq!(figure_value(LogFigure::LockTime, b"0.000012"), Some(12_000));
        assert_eq!(figure_value(LogFigure::FullScan, b"Yes"), Some(1));
        assert_eq!(figure_value(LogFigure::FullScan, b"1"), None);
    }
}
