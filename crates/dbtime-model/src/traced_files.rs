//! Waits of traced requests for files.

use crate::record::WaitedFile;
use crate::{Nanos, Part};
use serde::{Deserialize, Serialize};

/// Waits for a file, in one part of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWait {
    /// Which file.
    pub file: FileName,
    /// Which part of the response they were.
    pub part: Part,
    /// Waits for the file.
    pub count: u64,
    /// How long in all.
    #[serde(rename = "length_us")]
    pub length: Nanos,
}

/// What a file is called that was waited for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileName {
    /// Without its folder, which goes before it where it begins with a digit; at most 39 bytes.
    /// Of PostgreSQL it is what is in it, where that is known: `DATABASE/TABLE`.
    Named(String),
    /// Pages of some mapped file.
    Mapped,
    /// Several, or all for which there was no room.
    Others,
}

impl FileName {
    /// What it is in a record, and its name, which a file of its own alone has.
    pub fn kind_and_name(&self) -> (WaitedFile, Option<&str>) {
        match self {
            Self::Named(name) => (WaitedFile::Named, Some(name.as_str())),
            Self::Mapped => (WaitedFile::Mapped, None),
            Self::Others => (WaitedFile::Others, None),
        }
    }
}

/// Adds waits to others; those for the same file in the same part become one.
pub fn add_files(sums: &mut Vec<FileWait>, waits: &[FileWait]) {
    for wait in waits {
        match like(sums, wait) {
            Some(sum) => {
                sum.count = sum.count.saturating_add(wait.count);
                sum.length += wait.length;
            }
            None => sums.push(wait.clone()),
        }
    }
}

/// What has come to waits since they were `before`. A file whose row is not there any more, or has
/// begun anew, is among those of [`FileName::Others`] since.
pub(crate) fn files_since(now: &[FileWait], before: &[FileWait]) -> Vec<FileWait> {
    let mut waits = now.to_vec();
    for earlier in before {
        let other = FileWait { file: FileName::Others, ..earlier.clone() };
        let is_there = like(&mut waits, earlier).is_some_and(|wait| wait.count >= earlier.count);
        if let Some(wait) = like(&mut waits, if is_there { earlier } else { &other }) {
            wait.count = wait.count.saturating_sub(earlier.count);
            wait.length = wait.length - earlier.length;
        }
    }
    waits.retain(|wait| wait.count > 0);
    waits
}

fn like<'a>(waits: &'a mut [FileWait], key: &FileWait) -> Option<&'a mut FileWait> {
    waits.iter_mut().find(|wait| wait.file == key.file && wait.part == key.part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &str, part: Part, count: u64) -> FileWait {
        let file = FileName::Named(name.to_owned());
        FileWait { file, part, count, length: Nanos(10 * count) }
    }

    #[test]
    fn waits_for_one_file_in_one_part_are_together() {
        let mut sums = vec![wait("log", Part::Sync, 2)];
        add_files(&mut sums, &[wait("log", Part::Sync, 3), wait("log", Part::IoWrite, 1)]);
        assert_eq!(sums, [wait("log", Part::Sync, 5), wait("log", Part::IoWrite, 1)]);
        let since =
            files_since(&sums, &[wait("log", Part::Sync, 2), wait("log", Part::IoWrite, 1)]);
        assert_eq!(since, [wait("log", Part::Sync, 3)]);
    }

    #[test]
    fn a_file_that_has_lost_its_row_is_not_seen_again_as_others() {
        let others = |count| FileWait { file: FileName::Others, ..wait("", Part::Sync, count) };
        let before = [wait("a", Part::Sync, 5), wait("b", Part::Sync, 7), others(1)];
        let now = [wait("b", Part::Sync, 2), others(14)];
        let since = files_since(&now, &before);
        assert_eq!(since, [wait("b", Part::Sync, 2), others(1)]);
    }
}
