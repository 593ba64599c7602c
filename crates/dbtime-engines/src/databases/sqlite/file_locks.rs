//! Locks other processes hold on the database, as the kernel lists them.
//!
//! Source: proc_locks(5); the lock bytes are those of SQLite's file format (sections 1.2 and
//! "WAL-mode file format", 2.2: the locks of the shared memory are 120 to 127, the write lock is
//! the first). Nothing here opens the database: closing a second descriptor of a file would drop
//! the process's POSIX locks on it.

use super::lock::LockHolder;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The lock bytes of the database file: PENDING, RESERVED, and the 510 SHARED ones.
const FILE_LOCKS: std::ops::RangeInclusive<u64> = 0x4000_0000..=0x4000_0000 + 511;
/// RESERVED and PENDING are the writer's; SHARED locks in read form stop only an EXCLUSIVE one.
const WRITER_LOCKS: std::ops::RangeInclusive<u64> = 0x4000_0000..=0x4000_0001;
const WAL_WRITE_LOCK: std::ops::RangeInclusive<u64> = 120..=120;

/// The file that lies beside the database, such as `PATH-wal`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Another process that holds a lock on the database which stops a writer, and where
/// `readers_count` also one that only reads.
#[cold]
pub(super) fn holder(path: &Path, readers_count: bool) -> Option<LockHolder> {
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let file = rustix::fs::stat(path).ok()?.st_ino;
    let shared_memory = rustix::fs::stat(beside(path, "-shm")).ok().map(|stat| stat.st_ino);
    let found = find(&locks, std::process::id(), |lock: &FileLock| {
        (Some(lock.inode) == shared_memory && lock.is_write && lock.overlaps(&WAL_WRITE_LOCK))
            || (lock.inode == file && lock.is_write && lock.overlaps(&FILE_LOCKS))
            || (lock.inode == file && lock.overlaps(&WRITER_LOCKS))
    });
    let reader = || {
        let reads = |lock: &FileLock| lock.inode == file && lock.overlaps(&FILE_LOCKS);
        readers_count.then(|| find(&locks, std::process::id(), reads)).flatten()
    };
    let pid = found.or_else(reader)?;
    Some(LockHolder::Process { pid, name: process_name(pid) })
}

/// One line of `/proc/locks`.
struct FileLock {
    is_write: bool,
    pid: u32,
    inode: u64,
    start: u64,
    end: u64,
}

impl FileLock {
    /// Reads `1: POSIX  ADVISORY  WRITE 1234 fd:00:5678 120 120`; lines of waiters (`->`) and of
    /// locks without an owner (pid -1) are none.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let _kind = fields.next().filter(|&kind| kind != "->")?;
        let _mode = fields.next()?;
        let is_write = fields.next()? == "WRITE";
        let pid = fields.next()?.parse().ok()?;
        // The device is not compared: some file systems show another one to stat(2).
        let inode = fields.next()?.rsplit(':').next()?.parse().ok()?;
        let start = fields.next()?.parse().ok()?;
        let end = fields.next()?;
        let end = if end == "EOF" { u64::MAX } else { end.parse().ok()? };
        Some(Self { is_write, pid, inode, start, end })
    }

    fn overlaps(&self, bytes: &std::ops::RangeInclusive<u64>) -> bool {
        self.start <= *bytes.end() && self.end >= *bytes.start()
    }
}

fn find(locks: &str, own_pid: u32, is_match: impl Fn(&FileLock) -> bool) -> Option<u32> {
    let foreign = |lock: &FileLock| lock.pid != own_pid && lock.pid != 0;
    locks
        .lines()
        .filter_map(FileLock::parse)
        .find(|lock| foreign(lock) && is_match(lock))
        .map(|l| l.pid)
}

fn process_name(pid: u32) -> [u8; 16] {
    let mut name = [0; 16];
    let text = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_else(|_| b"gone".to_vec());
    for (to, from) in name.iter_mut().zip(text.trim_ascii_end()) {
        *to = *from;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let locks = "1: POSIX  ADVISORY  WRITE 1234 fd:00:5678 120 120\n\
                     1: -> POSIX  ADVISORY  WRITE 99 fd:00:5678 120 120\n\
                     2: OFDLCK ADVISORY  READ -1 00:05:77 0 EOF\n\
                     3: POSIX  ADVISORY  READ 42 fd:00:5678 1073741826 1073742335\n\
                     4: FLOCK  ADVISORY  WRITE 7 fd:00:9 0 EOF\n";
        let parsed: Vec<FileLock> = locks.lines().filter_map(FileLock::parse).collect();
        assert_eq!(parsed.iter().map(|lock| lock.pid).collect::<Vec<_>>(), [1234, 42, 7]);
        let write = |lock: &FileLock| lock.is_write && lock.overlaps(&WAL_WRITE_LOCK);
        assert_eq!(find(locks, 1, write), Some(1234));
        assert_eq!(find(locks, 1234, |lock| lock.inode == 5678), Some(42));
        assert_eq!(find(locks, 1, |lock| lock.inode == 1), None);
    }
}
