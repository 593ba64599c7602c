//! Writes run folders: into a hidden folder beside the final one, renamed when whole.
//!
//! A run that is killed, or a disk that fills up, leaves no folder that could be taken for a run.

use crate::error::LabError;
use dbtime_model::record::{Run, csv, file};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A run folder in the making. Dropped before [`Store::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct Store {
    out: PathBuf,
    partial: Scratch,
    /// A folder that was made for the record.
    made: Option<Made>,
}

/// A folder that goes again if nothing was put into it.
#[derive(Debug)]
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        // Only an empty folder is removed by this.
        let _ = fs::remove_dir(&self.0);
    }
}

impl Store {
    /// Reserves `out`, so that a folder that cannot be written is known before the run.
    ///
    /// Errors: [`LabError::OutExists`], [`LabError::Record`].
    pub fn create(out: &Path) -> Result<Self, LabError> {
        if out.symlink_metadata().is_ok() {
            return Err(LabError::OutExists(out.to_owned()));
        }
        let name = out.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy());
        let parent = match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let partial = parent.join(format!(".{name}.partial-{}", std::process::id()));
        let failed = |source| LabError::Record { path: out.to_owned(), source };
        fs::create_dir_all(parent).map_err(failed)?;
        fs::create_dir(&partial).map_err(failed)?;
        Ok(Self { out: out.to_owned(), partial, committed: false })
    }

    /// A file of the folder to be filled while the run goes on.
    pub fn open(&self, name: &str) -> Result<impl Write + Send + use<>, LabError> {
        let file = File::create(self.partial.join(name)).map_err(|source| self.failed(source))?;
        Ok(BufWriter::new(file))
    }

    /// Writes another whole file of the folder.
    pub fn write(&self, name: &str, text: &str) -> Result<(), LabError> {
        self.write_synced(name, text).map_err(|source| self.failed(source))
    }

    /// Writes the run's own files, `run.json` last, and gives the folder its final name.
    pub fn commit(mut self, run: &Run) -> Result<PathBuf, LabError> {
        self.write(file::SERIES, &csv::series_text(&run.series))?;
        self.write(file::TRANSACTIONS, &csv::transactions_text(&run.transactions))?;
        let json = serde_json::to_string_pretty(&run.record).map_err(io::Error::other);
        let json = json.map_err(|source| self.failed(source))?;
        self.write(file::RUN, &(json + "\n"))?;
        // Only an empty folder would be replaced, and one that appeared meanwhile is not ours.
        if self.out.symlink_metadata().is_ok() {
            return Err(LabError::OutExists(self.out.clone()));
        }
        fs::rename(&self.partial, &self.out).map_err(|source| self.failed(source))?;
        self.committed = true;
        Ok(self.out.clone())
    }

    fn write_synced(&self, name: &str, text: &str) -> io::Result<()> {
        let mut file = File::create(self.partial.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn failed(&self, source: io::Error) -> LabError {
        LabError::Record { path: self.out.clone(), source }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing more can be done about a folder that cannot be removed either.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_store_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::create(&dir.path().join("run")).expect("free");
        store.write("x", "half").expect("written");
        drop(store);
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
    }

    #[test]
    fn a_record_reads_back_as_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("a/b");
        let mut run = Run::default();
        run.record.schema = dbtime_model::record::SCHEMA;
        run.record.throughput_tps = 12.5;
        run.series.push(dbtime_model::record::SeriesRow {
            phase: "measure".into(),
            ..Default::default()
        });
        let store = Store::create(&out).expect("free");
        assert_eq!(store.commit(&run).expect("committed"), out);
        assert_eq!(dbtime_model::record::read_run(&out).expect("whole"), run);
        assert!(matches!(Store::create(&out), Err(LabError::OutExists(_))));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_told_before_the_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("file");
        fs::write(&file, "").expect("written");
        assert!(matches!(Store::create(&file.join("run")), Err(LabError::Record { .. })));
    }
}
