//! Snapshots of loaded data: files that are restored for each run instead of being loaded anew.
//!
//! A snapshot is the files of a database that was shut down properly, in a folder of its own whose
//! name follows from all that decides what is in them: product, settings, workload, scale and seed.
//! It gets that name when it is whole, so that what has it can be restored.

use crate::digest::digest;
use crate::error::LabError;
use crate::scratch::{CreatedFolders, ScratchFolder};
use dbtime_engines::drive::plan::RunStop;
use serde::Serialize;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The files, in the folder of a snapshot.
const DATA: &str = "data";

/// What they are, beside them.
const CONTENT: &str = "snapshot.json";

/// Digits of the hash that are a snapshot's name.
const NAME_LENGTH: usize = 16;

/// Where snapshots are kept, and the rows that are wanted of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotRequest {
    /// The folder of all snapshots; made where it is missing.
    pub folder: PathBuf,
    /// The workload's name.
    pub workload: String,
    /// The text of its file.
    pub source: String,
    /// How many times its base size.
    pub scale: u64,
    /// What the rows are drawn from.
    pub seed: u64,
}

/// Why there is no run where Ctrl-C ended a copy of its data.
pub(crate) const INTERRUPTED: LabError =
    LabError::Interrupted("while data were copied for a snapshot: nothing was measured");

/// What is in a snapshot, as `snapshot.json` has it.
#[derive(Debug, Serialize)]
struct SnapshotContent<'a> {
    /// Version of the program that loaded it.
    dbtime: &'static str,
    /// Product, version and binary.
    engine: &'a str,
    settings: &'a [(String, String)],
    workload: &'a str,
    /// SHA-256 of the workload's text, in hexadecimal.
    source: String,
    scale: u64,
    seed: u64,
}

/// One snapshot, which may not be there yet.
#[derive(Clone, Debug)]
pub(crate) struct DataSnapshot {
    /// Its folder.
    path: PathBuf,
    /// What stands in [`CONTENT`].
    content: String,
}

impl SnapshotRequest {
    /// The snapshot of these rows in this database.
    pub(crate) fn of(&self, engine: &str, settings: &[(String, String)]) -> DataSnapshot {
        let content = SnapshotContent {
            dbtime: env!("CARGO_PKG_VERSION"),
            engine,
            settings,
            workload: &self.workload,
            source: digest(self.source.as_bytes()),
            scale: self.scale,
            seed: self.seed,
        };
        // Only texts and numbers are in it.
        let content = serde_json::to_string_pretty(&content).unwrap_or_default() + "\n";
        let name = &digest(content.as_bytes())[..NAME_LENGTH];
        DataSnapshot { path: self.folder.join(name), content }
    }
}

impl DataSnapshot {
    /// The snapshot of a data folder without a row, as it is when its server has made it.
    pub(crate) fn of_new_data(folder: &Path, engine: &str, settings: &[(String, String)]) -> Self {
        let [workload, source] = [String::new(), String::new()];
        let none =
            SnapshotRequest { folder: folder.to_owned(), workload, source, scale: 0, seed: 0 };
        none.of(engine, settings)
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be restored.
    pub(crate) fn is_there(&self) -> bool {
        self.path.join(CONTENT).is_file()
    }

    /// Keeps a file, or a folder with all it holds. Nobody may write to it meanwhile. `stop` ends
    /// that early.
    ///
    /// Errors: it cannot be read, or not be written here; then nothing of it is left.
    pub(crate) fn keep(&self, from: &Path, stop: &RunStop) -> io::Result<()> {
        let half = ScratchFolder::temporary_in(self.folder())?;
        copy_all(from, &half.path().join(DATA), &|_| go_on(stop))?;
        fs::write(half.path().join(CONTENT), &self.content)?;
        sync(half.path())?;
        match half.keep_as(&self.path) {
            // Another run was faster.
            Err(_) if self.is_there() => Ok(()),
            kept => kept,
        }
    }

    /// The folder of all snapshots.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Keeps loaded data: see [`DataSnapshot::keep`].
    ///
    /// Errors: [`LabError::Target`] when it cannot be written, [`LabError::Interrupted`]; then
    /// nothing of it is left.
    pub(crate) fn save(&self, from: &Path, stop: &RunStop) -> Result<(), LabError> {
        self.keep(from, stop).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => INTERRUPTED,
            _ => LabError::Target(format!(
                "cannot keep a snapshot of the data in {}: {error}; make room there, or have the \
                 data loaded for each run",
                self.folder().display()
            )),
        })
    }

    /// Restores it under a path that is not there yet. Each file and folder is handed to `adopt`
    /// when it was made. Returns when all of it is on the disk.
    ///
    /// Errors: it cannot be read, or not be written there.
    pub(crate) fn restore(
        &self,
        to: &Path,
        adopt: &dyn Fn(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        copy_all(&self.path.join(DATA), to, adopt)?;
        // Or the disk would still be busy with it when something is measured.
        sync(to)
    }

    /// What is the matter with it, and what helps.
    pub(crate) fn unusable(&self, why: &str) -> LabError {
        let path = self.path.display();
        LabError::Target(format!(
            "the snapshot {path} cannot be restored: {why}; if its files are damaged, remove \
             them: the next run makes others"
        ))
    }

    /// That the tables of the workload are not in it, or not whole.
    pub(crate) fn incomplete(&self, workload: &str) -> LabError {
        self.unusable(&format!("it has no whole data of {workload}"))
    }
}

/// Makes the folder of snapshots, which `named` has named, before anything is loaded for one. It
/// goes again where none is kept.
///
/// Errors: [`LabError::Target`] when it cannot be made, or is no folder.
pub(crate) fn make_place(named: &str, folder: &Path) -> Result<CreatedFolders, LabError> {
    CreatedFolders::folder(folder).map_err(|error| {
        LabError::Target(format!(
            "{named} {}: {error}; name a folder that exists or can be made",
            folder.display()
        ))
    })
}

/// Copies a file, or a folder with all it holds. Each is handed to `adopt` when it was made.
///
/// Errors: one cannot be read or written, or is something else.
pub(crate) fn copy_all(
    from: &Path,
    to: &Path,
    adopt: &dyn Fn(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let kind = from.symlink_metadata()?;
    if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()), adopt)?;
        }
        fs::set_permissions(to, kind.permissions())?;
    } else if kind.is_file() {
        // With its mode; where the file system can share blocks, that is all it does.
        fs::copy(from, to)?;
    } else {
        let why = format!("{} is neither a file nor a folder", from.display());
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    adopt(to)
}

/// Whether a copy goes on, for each of its files.
///
/// Errors: [`io::ErrorKind::Interrupted`] where `stop` ends it.
pub(crate) fn go_on(stop: &RunStop) -> io::Result<()> {
    match stop.is_set() {
        true => Err(io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}

/// Waits until all of the file system is on the disk.
fn sync(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(path)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn request(folder: &Path) -> SnapshotRequest {
        let [workload, source] = ["atm", "name = \"atm\""].map(str::to_owned);
        SnapshotRequest { folder: folder.to_owned(), workload, source, scale: 1, seed: 7 }
    }

    #[test]
    fn what_was_saved_is_restored_with_its_modes() {
        let dir = tempfile::tempdir().expect("a folder");
        let data = dir.path().join("data");
        fs::create_dir_all(data.join("base/1")).expect("made");
        fs::set_permissions(data.join("base"), fs::Permissions::from_mode(0o700)).expect("ours");
        fs::write(data.join("base/1/t"), "rows").expect("written");
        let place = dir.path().join("new/snapshots");
        let _made = make_place("--snapshots", &place).expect("made");
        let snapshot = request(&place).of("x 1", &[]);
        assert!(!snapshot.is_there());
        let stop = RunStop::default();
        snapshot.save(&data, &stop).expect("saved");
        assert!(snapshot.is_there());
        // Whoever comes second keeps the first.
        snapshot.save(&data, &stop).expect("saved");
        fs::remove_dir_all(&data).expect("removed");
        let seen = std::cell::RefCell::new(0);
        let adopt = |_: &Path| {
            *seen.borrow_mut() += 1;
            Ok(())
        };
        snapshot.restore(&data, &adopt).expect("restored");
        assert_eq!(*seen.borrow(), 4);
        assert_eq!(fs::read_to_string(data.join("base/1/t")).expect("there"), "rows");
        let mode = fs::metadata(data.join("base")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // Nothing is left of the second.
        let kept = fs::read_dir(dir.path().join("new/snapshots")).expect("there").count();
        assert_eq!(kept, 1);
    }

    #[test]
    fn other_data_have_another_snapshot() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = request(dir.path());
        let file = dir.path().join("file");
        fs::write(&file, "rows").expect("written");
        let [none, page] = [vec![], vec![("innodb_page_size".to_owned(), "4k".to_owned())]];
        wanted.of("x 1", &none).save(&file, &RunStop::default()).expect("saved");
        assert!(wanted.of("x 1", &none).is_there());
        assert!(!wanted.of("x 1", &page).is_there());
        assert!(!wanted.of("x 2", &none).is_there());
        assert!(!SnapshotRequest { seed: 8, ..wanted.clone() }.of("x 1", &none).is_there());
        assert!(!SnapshotRequest { scale: 2, ..wanted.clone() }.of("x 1", &none).is_there());
        let source = "name = \"other\"".to_owned();
        assert!(!SnapshotRequest { source, ..wanted }.of("x 1", &none).is_there());
    }

    #[test]
    fn what_cannot_be_kept_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("snapshots");
        let made = make_place("--snapshots", &folder).expect("made");
        let snapshot = request(&folder).of("x 1", &[]);
        let stop = RunStop::default();
        let error = snapshot.save(&dir.path().join("none"), &stop);
        let error = error.expect_err("there is nothing").to_string();
        stop.at(dbtime_machine::now());
        let file = dir.path().join("file");
        fs::write(&file, "rows").expect("written");
        let interrupted = snapshot.save(&file, &stop).expect_err("it is to end");
        assert!(matches!(interrupted, LabError::Interrupted(_)), "{interrupted}");
        drop(made);
        assert!(error.contains("have the data loaded for each run"), "{error}");
        assert!(!folder.exists());
        fs::write(&folder, "").expect("written");
        let error = make_place("--snapshots", &folder).expect_err("a file").to_string();
        assert!(error.contains("--snapshots") && error.contains("name a folder"), "{error}");
    }
}
