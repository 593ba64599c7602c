//! SQLite: the names of `sqlite3_status` and `sqlite3_db_status`, and what the header of a database
//! file and of its write-ahead log tell anybody who reads them.
//!
//! `sqlite3_status` counts for one process and `sqlite3_db_status` for one connection: another
//! process cannot ask for them. What it can see is in the files, and reading them disturbs nobody;
//! a connection of its own would take locks, and the last one to close checkpoints the log.
//! Sources: <https://sqlite.org/c3ref/c_status_malloc_count.html>,
//! <https://sqlite.org/c3ref/c_dbstatus_options.html>, <https://sqlite.org/fileformat.html> §1.3
//! and §4.1, <https://sqlite.org/walformat.html> §2.

use super::dialect::{CounterDialect, KeyCounter, is_like};
use dbtime_model::counters::{CounterSample, CounterValue, CounterValues};
use dbtime_model::record::CounterUnit::Count;

/// The group of what the headers of the files tell.
pub(super) const FILE: &str = "file";

pub(super) const DIALECT: CounterDialect = CounterDialect {
    is_gauge: |name| GAUGES.iter().any(|pattern| is_like(name, pattern)),
    family: |group, _| group.to_owned(),
    transactions: &[(FILE, &["wal_transactions", "journal_transactions"])],
    wraps: true,
    restart_resets: false,
    key_counters: KEY_COUNTERS,
    pages: None,
};

/// What does not count.
const GAUGES: &[&str] = &[
    "SQLITE_DBSTATUS_CACHE_USED*",
    "SQLITE_DBSTATUS_DEFERRED_FKS",
    "SQLITE_DBSTATUS_LOOKASIDE_USED",
    "SQLITE_DBSTATUS_SCHEMA_USED",
    "SQLITE_DBSTATUS_STMT_USED",
    // What is in use now, or the largest of its kind.
    "SQLITE_STATUS_*",
    "freelist_pages",
    "page_count",
    "page_size",
    "wal_bytes",
    "wal_checkpointed_frames",
    "wal_frames",
];

const fn key(counter: &'static str, meaning: &'static str, source: &'static str) -> KeyCounter {
    KeyCounter { group: "*", counter, label: None, unit: Count, meaning, source }
}

const STATUS: &str = "sqlite.org, Status Parameters for database connections";
const FORMAT: &str = "sqlite.org, Database File Format";
const WAL: &str = "sqlite.org, WAL-mode File Format";

const KEY_COUNTERS: &[KeyCounter] = &[
    key("wal_transactions", "write transactions committed to the log", WAL),
    key("journal_transactions", "write transactions committed to the file", FORMAT),
    key("schema_changes", "changes of the schema", FORMAT),
    key("wal_restarts", "times the log began anew after a checkpoint", WAL),
    key("SQLITE_DBSTATUS_CACHE_HIT", "pages found in the page cache", STATUS),
    key("SQLITE_DBSTATUS_CACHE_MISS", "pages read from the file or the log", STATUS),
    key("SQLITE_DBSTATUS_CACHE_WRITE", "pages written", STATUS),
    key("SQLITE_DBSTATUS_CACHE_SPILL", "pages written early for want of cache", STATUS),
];

/// The first bytes of a database file, of its `-wal` and of its `-shm`, as far as they exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteHeaders<'a> {
    /// At least [`SqliteHeaders::FILE_BYTES`].
    pub file: &'a [u8],
    /// At least [`SqliteHeaders::WAL_BYTES`]; empty without a log.
    pub wal: &'a [u8],
    /// At least [`SqliteHeaders::SHM_BYTES`]; empty where no process has the log open.
    pub shm: &'a [u8],
    /// Length of the log.
    pub wal_bytes: u64,
}

impl SqliteHeaders<'_> {
    /// Length of the header of a database file.
    pub const FILE_BYTES: usize = 100;
    /// Length of the header of a log.
    pub const WAL_BYTES: usize = 32;
    /// The two copies of the header of a log's index, and what follows them of checkpoints.
    pub const SHM_BYTES: usize = 48 + 48 + 40;

    /// Whether the index of the log was read in the middle of a change: its two copies differ.
    pub fn is_amid_change(&self) -> bool {
        self.shm.len() >= Self::SHM_BYTES && self.shm[..48] != self.shm[48..96]
    }

    /// Adds what they tell to a sample: the page count is that of the log where there is one.
    ///
    /// `false` where the first is not the header of an SQLite database. An index that was read in
    /// the middle of a change is left out.
    #[must_use]
    pub fn add_to(&self, sample: &mut CounterSample) -> bool {
        if self.file.len() < Self::FILE_BYTES || !self.file.starts_with(b"SQLite format 3\0") {
            return false;
        }
        let counters = sample.groups.entry(FILE.to_owned()).or_default();
        let mut add = |name: &str, value: u64| {
            counters.insert(name.to_owned(), CounterValue::Unsigned(value));
        };
        // 1 stands for 65536, which does not fit (fileformat.html §1.3.2).
        let page_size = u64::from(self.file[16]) << 8 | u64::from(self.file[17]);
        add("page_size", if page_size == 1 { 65_536 } else { page_size });
        // With a rollback journal each write transaction counts one; with a log only what writes to
        // the file itself, such as a checkpoint (fileformat.html §1.3.3 and §1.3.7).
        let has_log = self.file[18] == 2;
        let changes = if has_log { "file_changes" } else { "journal_transactions" };
        add(changes, big_endian(self.file, 24));
        add("page_count", big_endian(self.file, 28));
        add("freelist_pages", big_endian(self.file, 36));
        add("schema_changes", big_endian(self.file, 40));
        if self.wal.len() >= Self::WAL_BYTES {
            add("wal_restarts", big_endian(self.wal, 12));
            add("wal_bytes", self.wal_bytes);
        }
        self.add_index(counters);
        true
    }

    fn add_index(&self, counters: &mut CounterValues) {
        // isInit, at byte 12, is set once the index has been made.
        let is_whole = self.shm.len() >= Self::SHM_BYTES && !self.is_amid_change();
        if !is_whole || self.shm[12] == 0 {
            return;
        }
        let index = [
            ("wal_transactions", 8),
            ("wal_frames", 16),
            ("page_count", 20),
            ("wal_checkpointed_frames", 96),
        ];
        for (name, at) in index {
            let value = CounterValue::Unsigned(native(self.shm, at));
            counters.insert(name.to_owned(), value);
        }
    }
}

/// Four bytes of a file that is the same on all machines.
fn big_endian(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

/// Four bytes of a file that only processes of one machine share.
fn native(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Product;
    use dbtime_model::counters::CounterSource;

    fn sample() -> CounterSample {
        CounterSample::new(CounterSource { product: Product::Sqlite, version: None, url: None })
    }

    fn file() -> Vec<u8> {
        let mut file = vec![0; SqliteHeaders::FILE_BYTES];
        file[..16].copy_from_slice(b"SQLite format 3\0");
        file[16..18].copy_from_slice(&[0, 1]);
        file[24..28].copy_from_slice(&[0, 0, 1, 2]);
        file
    }

    fn shm() -> Vec<u8> {
        let mut shm = vec![0; SqliteHeaders::SHM_BYTES];
        for copy in [0, 48] {
            shm[copy + 8..copy + 12].copy_from_slice(&77u32.to_ne_bytes());
            shm[copy + 12] = 1;
            shm[copy + 20..copy + 24].copy_from_slice(&9u32.to_ne_bytes());
        }
        shm
    }

    fn of(headers: &SqliteHeaders<'_>, name: &str) -> Option<u64> {
        let mut sample = sample();
        assert!(headers.add_to(&mut sample));
        match sample.get(FILE, name) {
            Some(CounterValue::Unsigned(n)) => Some(*n),
            _ => None,
        }
    }

    #[test]
    fn headers_tell_sizes_and_changes() {
        let (file, shm) = (file(), shm());
        let headers = SqliteHeaders { file: &file, ..SqliteHeaders::default() };
        assert_eq!(of(&headers, "page_size"), Some(65_536));
        assert_eq!(of(&headers, "journal_transactions"), Some(258));
        assert_eq!((of(&headers, "page_count"), of(&headers, "wal_transactions")), (Some(0), None));
        let mut logged = file.clone();
        logged[18] = 2;
        let headers = SqliteHeaders { file: &logged, shm: &shm, ..headers };
        assert_eq!(of(&headers, "file_changes"), Some(258));
        assert_eq!(of(&headers, "journal_transactions"), None);
        assert_eq!(of(&headers, "page_count"), Some(9));
        assert_eq!(of(&headers, "wal_transactions"), Some(77));
    }

    #[test]
    fn half_an_index_is_left_out_and_no_database_refused() {
        let (file, mut shm) = (file(), shm());
        shm[8] ^= 1;
        let headers = SqliteHeaders { file: &file, shm: &shm, ..SqliteHeaders::default() };
        assert!(headers.is_amid_change());
        assert_eq!(of(&headers, "wal_transactions"), None);
        for bytes in [&b"SQLite format 3\0"[..], &[0; 200], &[]] {
            let other = SqliteHeaders { file: bytes, ..headers };
            assert!(!other.add_to(&mut sample()));
        }
    }
}
