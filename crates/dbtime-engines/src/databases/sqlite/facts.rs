//! What a record says about the database: version, settings, size, file system.

use super::connection::SqliteConnection;
use super::ffi;
use super::file_locks::beside;
use super::target::SqliteTarget;
use std::collections::BTreeMap;

/// The facts of a database as one of its connections sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqliteFacts {
    /// Version of the library.
    pub version: String,
    /// Every setting, read back.
    pub settings: BTreeMap<String, String>,
    /// Options the library was built with, such as `THREADSAFE=1`.
    pub compile_options: Vec<String>,
    /// Bytes of the database file and its log.
    pub data_bytes: u64,
    /// What the folder lies on: `ext4`, `tmpfs`, …
    pub file_system: String,
    /// Whether pages may be read by page fault (`mmap_size` above 0). Such reads cannot be timed:
    /// they are missing from `io_read` and stay unexplained, which the report must warn of.
    pub reads_by_page_fault: bool,
}

impl SqliteFacts {
    /// Reads them.
    pub fn of(connection: &SqliteConnection, target: &SqliteTarget) -> Self {
        let settings = connection.settings().clone();
        // Only stat(2): opening and closing the file would drop this process's locks on it.
        let bytes = |path| std::fs::metadata(path).map_or(0, |file| file.len());
        let map = settings.get("mmap_size").map_or("0", String::as_str);
        Self {
            version: ffi::library_version().to_owned(),
            compile_options: ffi::compile_options(),
            data_bytes: bytes(target.path.clone()) + bytes(beside(&target.path, "-wal")),
            file_system: file_system(target),
            reads_by_page_fault: !matches!(map, "0" | ""),
            settings,
        }
    }
}

/// Source: statfs(2) and `include/uapi/linux/magic.h`.
pub(super) fn file_system(target: &SqliteTarget) -> String {
    const NAMES: [(u64, &str); 10] = [
        (0xef53, "ext4"),
        (0x0102_1994, "tmpfs"),
        (0x5846_5342, "xfs"),
        (0x9123_683e, "btrfs"),
        (0x794c_7630, "overlayfs"),
        (0x2fc1_2fc1, "zfs"),
        (0xf2f5_2010, "f2fs"),
        (0x6969, "nfs"),
        (0xff53_4d42, "cifs"),
        (0x6573_5546, "fuse"),
    ];
    let Ok(stat) = rustix::fs::statfs(target.folder()) else { return "unknown".to_owned() };
    let magic = stat.f_type as u64 & 0xffff_ffff;
    let name = NAMES.iter().find(|(number, _)| *number == magic);
    name.map_or_else(|| format!("{magic:#x}"), |(_, name)| (*name).to_owned())
}
