//! New contents for the record of a run: each file beside the old one, and in its place at last.

use super::{PARTIAL, is_partial_name, run_files, write_synced};
use crate::error::LabError;
use crate::scratch::{self, ScratchFolder};
use dbtime_model::record::{Run, file};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A revision in the making. Dropped before [`RecordRevision::commit`], it leaves the record as it
/// was.
#[derive(Debug)]
pub(crate) struct RecordRevision {
    folder: PathBuf,
    partial: ScratchFolder,
}

impl RecordRevision {
    /// Of the run in this folder. What a killed revision has left there goes.
    ///
    /// Errors: [`LabError::Record`]: nothing can be written there.
    pub(crate) fn begin(folder: &Path) -> Result<Self, LabError> {
        scratch::sweep(folder, is_partial_name);
        let partial = folder.join(format!(".revision{PARTIAL}{}", std::process::id()));
        let partial = ScratchFolder::create(partial)
            .map_err(|source| LabError::Record { path: folder.to_owned(), source })?;
        Ok(Self { folder: folder.to_owned(), partial })
    }

    /// Where a file of the record is until it has its place.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.partial.path().join(name)
    }

    /// Writes the run's own files and puts all into their places, `run.json` last: a reader finds
    /// each old or new, whole.
    ///
    /// Errors: [`LabError::Record`].
    pub(crate) fn commit(self, run: &Run) -> Result<(), LabError> {
        self.replace(run).map_err(|source| LabError::Record { path: self.folder.clone(), source })
    }

    fn replace(&self, run: &Run) -> io::Result<()> {
        let files = run_files(run)?;
        for (name, text) in &files {
            write_synced(&self.file(name), text.as_bytes())?;
        }
        // Those of another join are not these. Statements of other transactions than the table has
        // make no record: they are gone before it changes.
        for name in [file::STATEMENTS, file::TRANSACTION_STATEMENTS] {
            match fs::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let statements = self.file(file::STATEMENTS);
        if statements.exists() {
            fs::rename(statements, self.folder.join(file::STATEMENTS))?;
        }
        for (name, _) in files {
            fs::rename(self.file(name), self.folder.join(name))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::RunStore;
    use dbtime_model::record::read_run;

    #[test]
    fn a_record_is_as_it_was_until_all_is_there() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("r");
        let mut run = Run::default();
        run.record.schema = dbtime_model::record::SCHEMA;
        RunStore::create(&out).expect("free").commit(&run).expect("committed");
        let before = read_run(&out).expect("whole");
        let files = || fs::read_dir(&out).expect("readable").count();
        let count = files();

        let dropped = RecordRevision::begin(&out).expect("writable");
        fs::write(dropped.file(file::STATEMENTS), "half").expect("written");
        assert_eq!(files(), count + 1);
        drop(dropped);
        assert_eq!((files(), read_run(&out).expect("whole")), (count, before));

        let revision = RecordRevision::begin(&out).expect("writable");
        fs::write(revision.file(file::STATEMENTS), "whole").expect("written");
        run.record.throughput_tps = 7.0;
        revision.commit(&run).expect("committed");
        assert_eq!((files(), read_run(&out).expect("whole")), (count + 1, run));
        let gone = RecordRevision::begin(&dir.path().join("none")).expect_err("no folder");
        assert!(gone.to_string().contains("cannot write the record"), "{gone}");
    }

    #[test]
    fn nothing_stays_of_what_a_revision_has_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("r");
        let mut run = Run::default();
        run.record.schema = dbtime_model::record::SCHEMA;
        run.transactions = vec![Default::default()];
        run.transactions[0].kept = "slowest".to_owned().into();
        run.transactions[0].statements = vec![Default::default()];
        RunStore::create(&out).expect("free").commit(&run).expect("committed");
        fs::write(out.join(file::STATEMENTS), "of another join").expect("written");
        run.transactions.clear();
        RecordRevision::begin(&out).expect("writable").commit(&run).expect("committed");
        assert_eq!(read_run(&out).expect("whole"), run);
        assert!(!out.join(file::STATEMENTS).exists());
    }
}
