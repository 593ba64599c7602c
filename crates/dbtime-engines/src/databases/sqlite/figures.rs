//! What a worker counted: calls on files, page-cache accesses, statements, waits for locks.
//!
//! Plain numbers without ties to a thread: taken from each worker at both ends of the window,
//! subtracted, merged, and turned into records.

use super::file_wait::FileAttribution;
use super::lock::LockAttribution;
use dbtime_model::named_variants;
use dbtime_model::record::FileIo;

named_variants! {
    /// Kinds of file SQLite opens.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum SqliteFileKind {
        /// The database itself.
        Database = "database",
        /// Its write-ahead log.
        Wal = "wal",
        /// Its rollback journal.
        Journal = "journal",
        /// Temporary databases, their journals and statement journals.
        Temporary = "temporary",
        /// Anything else, such as a super-journal.
        Other = "other",
    }
}

named_variants! {
    /// Kinds of call on a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum VfsCall {
        /// Reads a page, a header or a log frame.
        Read = "read",
        /// Writes one.
        Write = "write",
        /// fsync or fdatasync.
        Sync = "sync",
        /// Shortens or lengthens the file.
        Truncate = "truncate",
        /// Removes the file, and may sync its folder.
        Delete = "delete",
        /// Opens or creates it.
        Open = "open",
        /// Closes it.
        Close = "close",
        /// Takes a lock on the file.
        Lock = "lock",
        /// Gives one back.
        Unlock = "unlock",
        /// Takes or gives back a lock on the shared memory of the write-ahead log.
        ShmLock = "shm_lock",
        /// Maps a piece of that shared memory.
        ShmMap = "shm_map",
        /// Asks for a page of the memory map.
        Fetch = "fetch",
    }
}

impl VfsCall {
    /// Whether calls of this kind are timed; the others never block and are only counted.
    pub(crate) fn is_timed(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::Sync | Self::Truncate | Self::Delete | Self::Open
        )
    }
}

/// Calls of one kind on one kind of file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFigures {
    /// How many calls there were.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Wall time in them. Unit: nanoseconds.
    pub wall_ns: u64,
    /// The longest of them. Unit: nanoseconds.
    pub max_ns: u64,
}

/// Calls by kind of file and kind of call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoFigures(pub [[CallFigures; VfsCall::ALL.len()]; SqliteFileKind::ALL.len()]);

impl IoFigures {
    /// Calls of one kind on one kind of file.
    pub fn get(&self, file: SqliteFileKind, call: VfsCall) -> CallFigures {
        self.0[file as usize][call as usize]
    }

    /// Calls of one kind on all files.
    pub(crate) fn over_files(&self, call: VfsCall) -> CallFigures {
        SqliteFileKind::ALL.into_iter().fold(CallFigures::default(), |mut sum, file| {
            sum.merge(&self.get(file, call));
            sum
        })
    }

    /// The records of all calls that were made.
    pub fn records(&self) -> Vec<FileIo> {
        let pairs =
            SqliteFileKind::ALL.into_iter().flat_map(|file| VfsCall::ALL.map(|call| (file, call)));
        let made = pairs.filter(|&(file, call)| self.get(file, call).count > 0);
        made.map(|(file, call)| {
            let figures = self.get(file, call);
            FileIo {
                file: file.name().to_owned(),
                call: call.name().to_owned(),
                count: figures.count,
                bytes: figures.bytes,
                wall_s: call.is_timed().then_some(figures.wall_ns as f64 / 1e9),
                max_us: call.is_timed().then_some(figures.max_ns as f64 / 1e3),
            }
        })
        .collect()
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            mine.merge(theirs);
        }
    }
}

impl CallFigures {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.wall_ns += other.wall_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// Accesses to SQLite's page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheFigures {
    /// Pages found.
    pub hits: u64,
    /// Pages that had to be read.
    pub misses: u64,
    /// Pages written to the log or database.
    pub writes: u64,
    /// Pages written in mid-transaction because the cache was full.
    pub spills: u64,
}

/// Everything one worker counted in the window, or all workers together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerFigures {
    /// Statements executed, failed ones included.
    pub statements: u64,
    /// Rows they returned or changed.
    pub rows: u64,
    /// Page-cache accesses.
    pub cache: CacheFigures,
    /// Calls on files; all zero without the timing VFS.
    pub io: IoFigures,
    /// Naps taken because a lock was held.
    pub naps: u64,
    /// Wall time of those naps. Unit: nanoseconds.
    pub nap_ns: u64,
    /// The naps by who waited and who held the lock.
    pub waits: Vec<LockAttribution>,
    /// Waits of measured statements for files, by who waited and for which.
    pub file_waits: Vec<FileAttribution>,
}

impl WorkerFigures {
    /// Readings of the thread clock that these statements would have taken, had all of them been
    /// sampled: one before and one after each statement and each timed call.
    pub fn readings(&self) -> u64 {
        let timed = VfsCall::ALL.into_iter().filter(|call| call.is_timed());
        2 * (self.statements + timed.map(|call| self.io.over_files(call).count).sum::<u64>())
    }

    /// Adds what another worker counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.statements += other.statements;
        self.rows += other.rows;
        self.cache.hits += other.cache.hits;
        self.cache.misses += other.cache.misses;
        self.cache.writes += other.cache.writes;
        self.cache.spills += other.cache.spills;
        self.io.merge(&other.io);
        self.naps += other.naps;
        self.nap_ns += other.nap_ns;
        for wait in &other.waits {
            LockAttribution::add_to(&mut self.waits, wait);
        }
        for wait in &other.file_waits {
            FileAttribution::add_to(&mut self.file_waits, wait);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_were_made_are_recorded() {
        let mut io = IoFigures::default();
        io.0[SqliteFileKind::Wal as usize][VfsCall::Sync as usize] =
            CallFigures { count: 23, bytes: 0, wall_ns: 5_000, max_ns: 700 };
        io.0[SqliteFileKind::Database as usize][VfsCall::Lock as usize].count = 3;
        let records = io.records();
        assert_eq!(records.len(), 2);
        assert_eq!((records[0].call.as_str(), records[0].wall_s), ("lock", None));
        assert_eq!((records[1].file.as_str(), records[1].max_us), ("wal", Some(0.7)));
    }

    #[test]
    fn merging_adds_and_keeps_the_longest() {
        let mut a = CallFigures { count: 1, bytes: 10, wall_ns: 5, max_ns: 5 };
        a.merge(&CallFigures { count: 2, bytes: 20, wall_ns: 9, max_ns: 7 });
        assert_eq!(a, CallFigures { count: 3, bytes: 30, wall_ns: 14, max_ns: 7 });
    }
}
