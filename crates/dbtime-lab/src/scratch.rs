//! Folders that must not outlive the process: each is removed when it is dropped, all of them when
//! the process ends without coming back to whoever has them, and those of a process that was killed
//! when the next one makes folders in the same place.

use crate::mark::{self, FolderMark, OpenFolder};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Every folder that is in use. It is held while one is made, renamed or removed, and by whoever
/// ends the process, for ever: so that no folder is in the making, or half removed, at the end.
static IN_USE: Mutex<InUse> = Mutex::new(InUse { scratches: Vec::new(), made: Vec::new() });

struct InUse {
    /// To be removed with all they hold.
    scratches: Vec<PathBuf>,
    /// To be removed where they are empty; each list the innermost first.
    made: Vec<Vec<PathBuf>>,
}

/// How long whoever still writes into a folder may take to end.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(2);

/// Between two attempts to remove it.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// What the name of a temporary folder begins with, and the letters behind that.
const PREFIX: &str = "dbtime-";
const SUFFIX_LETTERS: usize = 6;

/// A folder that is removed with all it holds, unless it is kept.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    path: PathBuf,
    /// Says that it is in use; removed with it.
    mark: FolderMark,
}

impl ScratchFolder {
    /// Bytes in the name of a temporary folder.
    pub(crate) const NAME_LENGTH: usize = PREFIX.len() + SUFFIX_LETTERS;

    /// Makes this folder, which must not exist.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        let mut in_use = in_use();
        fs::create_dir(&path)?;
        in_use.adopt(path)
    }

    /// Makes a folder with a name of its own among the system's temporary files.
    pub(crate) fn temporary() -> io::Result<Self> {
        Self::temporary_in(&std::env::temp_dir())
    }

    /// Makes a folder with a name of its own in `parent`; only its owner may look into it.
    pub(crate) fn temporary_in(parent: &Path) -> io::Result<Self> {
        let private = fs::Permissions::from_mode(0o700);
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(PREFIX).rand_bytes(SUFFIX_LETTERS).permissions(private);
        sweep(parent, is_temporary);
        let mut in_use = in_use();
        let path = builder.tempdir_in(parent)?.keep();
        in_use.adopt(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its final name; from then on it stays, for nothing is under the old name when this
    /// is dropped. Where something has the name, it keeps its own.
    pub(crate) fn keep_as(&self, path: &Path) -> io::Result<()> {
        let _in_use = in_use();
        fs::rename(&self.path, path)?;
        // One that stayed would say nothing: it names the folder as it was called before.
        let _ = fs::remove_file(path.join(mark::NAME));
        Ok(())
    }

    /// What another process has open as long as the folder is in use there, beyond this one's end.
    pub(crate) fn hold(&self) -> io::Result<File> {
        self.mark.share()
    }
}

impl InUse {
    /// Takes a folder in that was just made.
    fn adopt(&mut self, path: PathBuf) -> io::Result<ScratchFolder> {
        let mark = FolderMark::put(&path).inspect_err(|_| remove(&path))?;
        self.scratches.push(path.clone());
        Ok(ScratchFolder { path, mark })
    }
}

/// Removes the folders in `parent` that dead processes of this user have left: those with a mark
/// among those whose name could be one.
pub(crate) fn sweep(parent: &Path, is_name: fn(&str) -> bool) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let is_named = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(is_name);
    for path in entries.filter(is_named).map(|entry| entry.path()) {
        // Nobody else sweeps it up meanwhile, nor does anybody use it.
        if let Some(_mark) = FolderMark::take_over(&path) {
            remove(&path);
        }
    }
}

fn is_temporary(name: &str) -> bool {
    name.len() == ScratchFolder::NAME_LENGTH && name.starts_with(PREFIX)
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let mut in_use = in_use();
        remove(&self.path);
        in_use.scratches.retain(|path| *path != self.path);
    }
}

/// Folders that were made for something to be put into, the innermost first. Each goes again if
/// nothing was.
#[derive(Debug)]
pub struct CreatedFolders(Vec<PathBuf>);

impl CreatedFolders {
    /// Makes a folder and those above it, as far as they are missing.
    pub(crate) fn folder(path: &Path) -> io::Result<Self> {
        let mut in_use = in_use();
        // A link that leads nowhere is there.
        let is_missing = |folder: &&Path| folder.symlink_metadata().is_err();
        let named = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing: Vec<PathBuf> = named.take_while(is_missing).map(Path::to_owned).collect();
        let made = fs::create_dir_all(path);
        if made.is_err() {
            remove_empty(&missing);
        }
        made?;
        in_use.made.push(missing.clone());
        Ok(Self(missing))
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        let mut in_use = in_use();
        remove_empty(&self.0);
        in_use.made.retain(|folders| *folders != self.0);
    }
}

/// Removes every folder in use. Nobody makes another one after that: who tries waits for the end
/// of the process.
pub(crate) fn abandon() {
    let in_use = in_use();
    in_use.scratches.iter().for_each(|path| remove(path));
    in_use.made.iter().for_each(|folders| remove_empty(folders));
    std::mem::forget(in_use);
}

/// Removes a folder with all it holds.
fn remove(path: &Path) {
    let begun = Instant::now();
    while let Err(error) = remove_all(path) {
        let is_gone = path.symlink_metadata().is_err();
        // Somebody adds to it, or removes it too.
        let may_go =
            matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound);
        // Nothing more can be done about a folder that cannot be removed.
        if is_gone || !may_go || begun.elapsed() > REMOVAL_TIMEOUT {
            break;
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// The mark goes last: should this be cut off too, the next one goes on.
fn remove_all(path: &Path) -> io::Result<()> {
    let folder = OpenFolder::folder(path)?;
    for entry in fs::read_dir(folder.path(""))? {
        let entry = entry?;
        let inner = folder.path(entry.file_name());
        match entry.file_type()?.is_dir() {
            _ if entry.file_name() == mark::NAME => {}
            true => fs::remove_dir_all(inner)?,
            false => fs::remove_file(inner)?,
        }
    }
    fs::remove_dir_all(path)
}

fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        // Only an empty folder is removed by this.
        let _ = fs::remove_dir(folder);
    }
}

fn in_use() -> MutexGuard<'static, InUse> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_unless_it_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let (half, whole) = (dir.path().join("half"), dir.path().join("whole"));
        let scratch = ScratchFolder::create(half.clone()).expect("free");
        fs::write(scratch.path().join("x"), "half").expect("written");
        drop(scratch);
        assert!(!half.exists());
        ScratchFolder::create(half.clone()).expect("free").keep_as(&whole).expect("renamed");
        assert!(!half.exists() && whole.exists());
        assert!(ScratchFolder::create(whole).is_err());
    }

    #[test]
    fn a_folder_goes_while_somebody_still_writes_into_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let scratch = ScratchFolder::create(dir.path().join("busy")).expect("free");
        let folder = scratch.path().to_owned();
        let write = |n: u32| fs::write(folder.join(n.to_string()), "more");
        (0..100).for_each(|n| write(n).expect("written"));
        std::thread::scope(|scope| {
            // Until there is nowhere to write any more, and for an eighth of the patience at most:
            // the rest is for removing what was written, how much follows from the disk.
            let begun = Instant::now();
            scope.spawn(move || {
                (100..).find(|n| write(*n).is_err() || begun.elapsed() > REMOVAL_TIMEOUT / 8)
            });
            drop(scratch);
        });
        assert!(!folder.exists());
    }

    #[test]
    fn folders_above_go_unless_something_is_in_them() {
        let dir = tempfile::tempdir().expect("a folder");
        let (outer, inner) = (dir.path().join("a"), dir.path().join("a/b/c"));
        drop(CreatedFolders::folder(&inner).expect("made"));
        assert!(!outer.exists());
        let made = CreatedFolders::folder(&inner).expect("made");
        fs::write(dir.path().join("a/b/x"), "kept").expect("written");
        drop(made);
        assert!(!inner.exists() && dir.path().join("a/b/x").exists());
        fs::write(dir.path().join("file"), "").expect("written");
        assert!(CreatedFolders::folder(&dir.path().join("file/b")).is_err());
    }
}
