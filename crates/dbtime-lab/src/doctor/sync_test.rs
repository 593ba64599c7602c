//! How long a sync of one overwritten page takes on the data's file system.

use dbtime_machine::now;
use dbtime_model::Nanos;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How many pages are overwritten and synced.
const SYNCS: usize = 50;

/// How long that may take in all; a disk that turns does most of them within it.
pub(super) const MOST: Nanos = Nanos::from_millis(300);

/// What a database writes at once.
const PAGE: [u8; 4096] = [0x5a; 4096];

/// How long syncs took, the shortest first. Shape: never empty.
#[derive(Debug)]
pub(super) struct SyncTimes(pub(super) Vec<Nanos>);

impl SyncTimes {
    pub(super) fn median(&self) -> Nanos {
        self.0[self.0.len() / 2]
    }

    pub(super) fn longest(&self) -> Nanos {
        self.0[self.0.len() - 1]
    }
}

/// Overwrites and syncs a page in a file of this folder that has no name, 50 times or for 0.3 s.
///
/// Errors: why it could not, in a sentence without a full stop.
pub(super) fn run(folder: Option<&Path>) -> Result<SyncTimes, String> {
    let folder = folder.ok_or("no data folder is named: give it with --data")?;
    timed(folder)
        .map_err(|error| format!("no file can be written in {}: {error}", folder.display()))
}

fn timed(folder: &Path) -> io::Result<SyncTimes> {
    let file: File = tempfile::tempfile_in(folder)?;
    file.write_all_at(&PAGE, 0)?;
    file.sync_all()?;
    let begun = now();
    let mut times = Vec::with_capacity(SYNCS);
    while times.len() < SYNCS && (times.is_empty() || now() - begun < MOST) {
        let before = now();
        file.write_all_at(&PAGE, 0)?;
        file.sync_data()?;
        times.push(now() - before);
    }
    times.sort_unstable();
    Ok(SyncTimes(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_timed_and_a_folder_that_is_not_there_is_named_as_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let times = run(Some(folder.path())).expect("timed");
        assert!((1..=SYNCS).contains(&times.0.len()) && times.0.is_sorted());
        assert!(times.median() <= times.longest());
        let missing = run(Some(&folder.path().join("absent"))).expect_err("refused");
        assert!(missing.starts_with("no file can be written in /"), "{missing}");
        assert!(run(None).expect_err("refused").contains("--data"));
    }
}
