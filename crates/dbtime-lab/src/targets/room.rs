//! Whether what is to be loaded fits where it goes.

use crate::error::LabError;
use dbtime_load::workload::Workload;
use std::path::Path;

/// A place that data goes to.
pub(super) struct DiskRoom<'a> {
    /// Any folder on its file system.
    pub(super) folder: &'a Path,
    /// How the folder is called for its user.
    pub(super) name: String,
    /// Bytes that become free as the load begins: of what it replaces.
    pub(super) freed: u64,
    /// Where else the data could go, as the end of a sentence.
    pub(super) elsewhere: &'a str,
}

/// The bytes of a workload's data with indexes, by a rule of thumb.
pub(super) fn estimate(workload: &Workload, scale: u64) -> u64 {
    workload.size(scale).iter().fold(0, |sum, table| sum.saturating_add(table.bytes))
}

impl DiskRoom<'_> {
    /// Refuses data that cannot fit: a quarter less than the estimate, which is the least that any
    /// database was seen to take, is more than there is room for.
    ///
    /// Errors: [`LabError::Target`]. A file system that does not tell its space refuses nothing.
    pub(super) fn check(&self, workload: &Workload, scale: u64) -> Result<(), LabError> {
        let needed = estimate(workload, scale);
        let Ok(found) = rustix::fs::statvfs(self.folder) else { return Ok(()) };
        let free = found.f_bavail.saturating_mul(found.f_frsize).saturating_add(self.freed);
        // One without blocks, such as /proc, holds no data whatever its size.
        if found.f_blocks == 0 || needed - needed / 4 <= free {
            return Ok(());
        }
        let (workload, needed, free) = (&workload.name, megabytes(needed), megabytes(free));
        Err(LabError::Target(format!(
            "no room left for {workload} at scale {scale}: it needs about {needed}, and {free} are \
             free in {}; free space there, take a smaller --scale, or {}",
            self.name, self.elsewhere
        )))
    }
}

/// `12 MB`, `3.4 GB`, `120 TB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    let (unit, name) = match bytes {
        ..1e9 => (1e6, "MB"),
        1e9..1e12 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    let number = bytes / unit;
    let digits = usize::from(number < 10.0 && unit > 1e6);
    format!("{number:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: u64, freed: u64) -> Result<(), String> {
        let workload = Workload::find("atm").expect("shipped");
        let folder = tempfile::tempdir().expect("a folder");
        let name = "here".to_owned();
        let room = DiskRoom { folder: folder.path(), name, freed, elsewhere: "go away" };
        room.check(&workload, scale).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_fit_is_refused_with_what_it_needs() {
        assert_eq!(check(1, 0), Ok(()));
        let error = check(100_000_000, 0).expect_err("a petabyte");
        let words = ["atm at scale 100000000", "needs about 1201 TB", "free in here", "or go away"];
        assert!(words.iter().all(|words| error.contains(words)), "{error}");
        // What it replaces makes room.
        assert_eq!(check(100_000_000, 1 << 60), Ok(()));
    }

    #[test]
    fn sizes_have_a_fitting_unit() {
        for (bytes, text) in [(0, "0 MB"), (12_400_000, "12 MB"), (3_440_000_000, "3.4 GB")] {
            assert_eq!(megabytes(bytes), text);
        }
    }
}
