//! The journal as a file: one process writes it, and every line is on the disk before what it
//! speaks of goes on.

use crate::error::LabError;
use crate::store::NOFOLLOW;
use dbtime_model::bounded_file::recorded_from;
use dbtime_model::study::{JournalEvent, StudyHistory, StudyReadError, read_journal, study_file};
use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The journal of a study that goes on.
#[derive(Debug)]
pub(super) struct JournalFile {
    path: PathBuf,
    file: File,
    /// Whether there was none before it was opened.
    is_new: bool,
}

impl JournalFile {
    /// Opens the journal in a folder, which it makes where there is none, and returns what has
    /// happened. Half a last line is cut off.
    ///
    /// Errors: another process has it, it cannot be read or written, or it is damaged.
    pub(super) fn open(folder: &Path) -> Result<(Self, StudyHistory), LabError> {
        let path = folder.join(study_file::JOURNAL);
        let failed = |source: io::Error| LabError::Record { path: path.clone(), source };
        let is_new = path.symlink_metadata().is_err();
        let mut options = File::options();
        let options = options.read(true).append(true).create(true).custom_flags(NOFOLLOW);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(LabError::Target(format!(
                    "another dbtime is at work on {}: wait for it, or end it",
                    folder.display()
                )));
            }
            // A file system without locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let text = recorded_from(&mut file).map_err(failed)?;
        let damaged = |reason: String| {
            LabError::Study(StudyReadError::Journal { path: path.clone(), reason })
        };
        let journal = read_journal(&text).map_err(|error| damaged(error.to_string()))?;
        let history =
            StudyHistory::replay(&journal.events).map_err(|error| damaged(error.to_string()))?;
        if journal.whole < text.len() {
            file.set_len(journal.whole as u64).map_err(failed)?;
            file.seek(SeekFrom::End(0)).map_err(failed)?;
        }
        // The name of a new file is on the disk with its folder.
        file.sync_all().and_then(|()| File::open(folder)?.sync_all()).map_err(failed)?;
        Ok((Self { path, file, is_new }, history))
    }

    /// Takes away a journal that was made where there was none, and has nothing in it: the study is
    /// refused, and left as it was found.
    pub(super) fn discard_new(self) {
        if self.is_new {
            // An empty one says the same as none.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Appends an event, and blocks until it is on the disk.
    ///
    /// Errors: it cannot be written; half a line may be left, which the next reader forgives.
    pub(super) fn append(&mut self, event: &JournalEvent) -> Result<(), LabError> {
        let line = serde_json::to_string(event).map_err(io::Error::other);
        let written = line.and_then(|line| {
            self.file.write_all((line + "\n").as_bytes())?;
            self.file.sync_data()
        });
        written.map_err(|source| LabError::Record { path: self.path.clone(), source })
    }
}

/// Brings everything in a folder to the disk, and its name.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()?;
    folder.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::study::{StudySession, StudyTrial, TrialOutcome};

    fn events() -> [JournalEvent; 3] {
        [
            JournalEvent::SessionBegun(StudySession { number: 1, ..StudySession::default() }),
            JournalEvent::RunBegun(StudyTrial { run: 1, ..StudyTrial::default() }),
            JournalEvent::RunEnded {
                run: 1,
                outcome: TrialOutcome::Valid,
                reason: None,
                files: Default::default(),
                at: String::new(),
            },
        ]
    }

    #[test]
    fn cut_at_any_byte_it_goes_on_behind_the_last_whole_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(study_file::JOURNAL);
        let (mut journal, _) = JournalFile::open(folder.path()).expect("new");
        events().iter().for_each(|event| journal.append(event).expect("written"));
        drop(journal);
        let whole = std::fs::read(&path).expect("a file");
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let (mut journal, history) = JournalFile::open(folder.path()).expect("forgiven");
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(history.runs.len(), usize::from(lines >= 2), "{cut}");
            events()[lines..].iter().for_each(|event| journal.append(event).expect("written"));
            drop(journal);
            assert_eq!(std::fs::read(&path).expect("a file"), whole, "{cut}");
        }
    }

    #[test]
    fn one_process_writes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = JournalFile::open(folder.path()).expect("new");
        let error = JournalFile::open(folder.path()).expect_err("locked").to_string();
        assert!(error.contains("another dbtime is at work"), "{error}");
        drop(first);
        JournalFile::open(folder.path()).expect("free again");
    }

    #[test]
    fn a_link_in_its_place_is_not_written_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let [journal, theirs] =
            [study_file::JOURNAL, "theirs"].map(|name| folder.path().join(name));
        std::fs::write(&theirs, "half a line").expect("written");
        std::os::unix::fs::symlink(&theirs, journal).expect("a link");
        JournalFile::open(folder.path()).expect_err("refused");
        assert_eq!(std::fs::read_to_string(theirs).expect("there"), "half a line");
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(study_file::JOURNAL), "{}\n").expect("written");
        let error = JournalFile::open(folder.path()).expect_err("damaged").to_string();
        assert!(error.contains("line 1 is damaged") && error.contains("restore it"), "{error}");
    }
}
