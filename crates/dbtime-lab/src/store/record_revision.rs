//! New contents for the record of a run: each file beside the old one, and in its place at last.

use super::{PARTIAL, run_files, write_synced};
use crate::error::LabError;
use dbtime_model::record::{Run, file};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A revision in the making. Dropped before [`RecordRevision::commit`], it leaves the record as it
/// was.
#[derive(Debug)]
pub(crate) struct RecordRevision {
    folder: PathBuf,
    /// What may have to be taken away.
    partial: Vec<PathBuf>,
}

impl RecordRevision {
    /// Of the run in this folder.
    ///
    /// Errors: [`LabError::Record`]: nothing can be written there.
    pub(crate) fn begin(folder: &Path) -> Result<Self, LabError> {
        let mut revision = Self { folder: folder.to_owned(), partial: Vec::new() };
        // Known before the work is done.
        let tried = revision.file(file::RUN);
        write_synced(&tried, "").map_err(|source| revision.failed(source))?;
        Ok(revision)
    }

    /// Where a file of the record is until it has its name.
    pub(crate) fn file(&mut self, name: &str) -> PathBuf {
        let path = self.partial(name);
        if !self.partial.contains(&path) {
            self.partial.push(path.clone());
        }
        path
    }

    /// Writes the run's own files and puts all into their places, `run.json` last: a reader finds
    /// each old or new, whole.
    ///
    /// Errors: [`LabError::Record`].
    pub(crate) fn commit(mut self, run: &Run) -> Result<(), LabError> {
        self.replace(run).map_err(|source| self.failed(source))
    }

    fn replace(&mut self, run: &Run) -> io::Result<()> {
        let files = run_files(run)?;
        for (name, text) in &files {
            write_synced(&self.file(name), text)?;
        }
        let statements = self.partial(file::STATEMENTS);
        match statements.exists() {
            true => fs::rename(statements, self.folder.join(file::STATEMENTS))?,
            // Those of another join are not these.
            false => match fs::remove_file(self.folder.join(file::STATEMENTS)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
        }
        for (name, _) in files {
            fs::rename(self.partial(name), self.folder.join(name))?;
        }
        Ok(())
    }

    fn partial(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".{name}{PARTIAL}{}", std::process::id()))
    }

    fn failed(&self, source: io::Error) -> LabError {
        LabError::Record { path: self.folder.clone(), source }
    }
}

impl Drop for RecordRevision {
    fn drop(&mut self) {
        for path in &self.partial {
            // What has its place is not there any more.
            let _ = fs::remove_file(path);
        }
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

        let mut dropped = RecordRevision::begin(&out).expect("writable");
        fs::write(dropped.file(file::STATEMENTS), "half").expect("written");
        assert_eq!(files(), count + 2);
        drop(dropped);
        assert_eq!((files(), read_run(&out).expect("whole")), (count, before));

        let mut revision = RecordRevision::begin(&out).expect("writable");
        fs::write(revision.file(file::STATEMENTS), "whole").expect("written");
        run.record.throughput_tps = 7.0;
        revision.commit(&run).expect("committed");
        assert_eq!((files(), read_run(&out).expect("whole")), (count + 1, run));
        let gone = RecordRevision::begin(&dir.path().join("none")).expect_err("no folder");
        assert!(gone.to_string().contains("cannot write the record"), "{gone}");
    }
}
