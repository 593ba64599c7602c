//! Folders that must not outlive the process: each is removed when it is dropped, and all of them
//! when the process ends without coming back to whoever has them.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Every folder that is in use.
static IN_USE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What the name of a temporary folder begins with, and the letters behind that.
const PREFIX: &str = "dbtime-";
const LETTERS: usize = 6;

/// A folder that is removed with all it holds, unless it is kept.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Bytes in the name of a temporary folder.
    pub const NAME_LENGTH: usize = PREFIX.len() + LETTERS;

    /// Makes this folder, which must not exist.
    pub fn create(path: PathBuf) -> io::Result<Self> {
        fs::create_dir(&path)?;
        Ok(Self::adopt(path))
    }

    /// Makes a folder with a name of its own among the system's temporary files.
    pub fn temporary() -> io::Result<Self> {
        Self::temporary_in(&std::env::temp_dir())
    }

    /// Makes a folder with a name of its own in `parent`; only its owner may look into it.
    pub fn temporary_in(parent: &Path) -> io::Result<Self> {
        let private = fs::Permissions::from_mode(0o700);
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(PREFIX).rand_bytes(LETTERS).permissions(private);
        let folder = builder.tempdir_in(parent)?;
        Ok(Self::adopt(folder.keep()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its final name; from then on it stays, for nothing is under the old name when this
    /// is dropped. Where something has the name, it keeps its own.
    pub fn keep_as(&self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }

    fn adopt(path: PathBuf) -> Self {
        in_use().push(path.clone());
        Self { path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        in_use().retain(|path| *path != self.path);
        remove(&self.path);
    }
}

/// Removes every folder in use. For a process that ends now.
pub fn remove_all() {
    in_use().drain(..).for_each(|path| remove(&path));
}

fn remove(path: &Path) {
    // Nothing more can be done about a folder that cannot be removed.
    let _ = fs::remove_dir_all(path);
}

fn in_use() -> MutexGuard<'static, Vec<PathBuf>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_unless_it_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let (half, whole) = (dir.path().join("half"), dir.path().join("whole"));
        let scratch = Scratch::create(half.clone()).expect("free");
        fs::write(scratch.path().join("x"), "half").expect("written");
        drop(scratch);
        assert!(!half.exists());
        Scratch::create(half.clone()).expect("free").keep_as(&whole).expect("renamed");
        assert!(!half.exists() && whole.exists());
        assert!(Scratch::create(whole).is_err());
    }
}
