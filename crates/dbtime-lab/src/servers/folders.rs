//! Where a private server lives: one folder for its socket and log, one for its data.
//!
//! The folder for the socket is always among the system's temporary files, so that its path stays
//! short and the log is not on a small memory disk. The data goes there too, unless it was given a
//! place of its own.

use super::account::ServerAccount;
use super::product::ServerPackage;
use crate::error::LabError;
use crate::scratch::ScratchFolder;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

/// What the kernel holds of a socket's path, without its final zero. Unit: bytes.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The longest name of a socket in its folder: PostgreSQL's, with its port.
const SOCKET_NAME: &str = "/.s.PGSQL.65535";

/// Where a server's folder goes when the usual place is too long or closed to the server's user.
const SHORT_ROOT: &str = "/tmp";

/// The folders of one server. Dropping it removes them.
pub(super) struct ServerFolders {
    run: ScratchFolder,
    data: Option<ScratchFolder>,
}

impl ServerFolders {
    /// Makes them, for `account` to write; the data in a folder in `data`, if given.
    ///
    /// Errors: nowhere to make them; each names the folder and what to set.
    pub(super) fn make(
        data: Option<&Path>,
        account: Option<&ServerAccount>,
    ) -> Result<Self, LabError> {
        let temporary = std::env::temp_dir();
        let places = [temporary.as_path(), Path::new(SHORT_ROOT)];
        let place = places.into_iter().find(|place| fits(place, account)).ok_or_else(|| {
            LabError::Target(format!(
                "neither {} nor {SHORT_ROOT} can hold a server's socket: set TMPDIR to a folder with a \
                 short path{}",
                temporary.display(),
                account.map_or(String::new(), |who| format!(" that user {} may enter", who.name)),
            ))
        })?;
        let run = own(place, account).map_err(|error| {
            let place = place.display();
            LabError::Target(format!("cannot make a folder in {place}: {error}; set TMPDIR"))
        })?;
        let data = data.map(|place| of_data(place, account)).transpose()?;
        Ok(Self { run, data })
    }

    /// Of its socket and its log.
    pub(super) fn run(&self) -> &Path {
        self.run.path()
    }

    /// Of its data; to be made by the server.
    pub(super) fn data(&self) -> PathBuf {
        self.data.as_ref().unwrap_or(&self.run).path().join("data")
    }

    /// What the server prints.
    pub(super) fn log(&self) -> PathBuf {
        self.run().join("server.log")
    }

    /// By which the product's own clients log in.
    pub(super) fn login(&self, package: &ServerPackage) -> PathBuf {
        self.run().join(package.login_file)
    }

    /// All of them, to be removed.
    pub(super) fn all(&self) -> Vec<&ScratchFolder> {
        std::iter::once(&self.run).chain(&self.data).collect()
    }
}

/// Whether a server's folder can be made in `place`: enterable, and short enough for sockets.
fn fits(place: &Path, account: Option<&ServerAccount>) -> bool {
    let name = "/".len() + ScratchFolder::NAME_LENGTH + SOCKET_NAME.len();
    let is_open = account.is_none_or(|account| account.may_enter(place));
    place.is_absolute() && is_open && place.as_os_str().len() + name <= MAX_SOCKET_PATH_BYTES
}

fn own(place: &Path, account: Option<&ServerAccount>) -> io::Result<ScratchFolder> {
    let folder = ScratchFolder::temporary_in(place)?;
    if let Some(account) = account {
        chown(folder.path(), Some(account.uid), Some(account.gid))?;
    }
    Ok(folder)
}

fn of_data(place: &Path, account: Option<&ServerAccount>) -> Result<ScratchFolder, LabError> {
    let shown = place.display();
    let absolute = place.canonicalize().map_err(|error| {
        LabError::Usage(format!("--server-data {shown}: {error}; name a folder that exists"))
    })?;
    if let Some(account) = account.filter(|account| !account.may_enter(&absolute)) {
        return Err(LabError::Target(format!(
            "--server-data {shown}: the server runs as user {}, who may not enter it; open it and \
             the folders above it (chmod a+x), or name another",
            account.name
        )));
    }
    own(&absolute, account).map_err(|error| {
        LabError::Target(format!(
            "--server-data {shown}: cannot make a folder in it: {error}; name a folder on a disk \
             with room that you may write"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_long_or_closed_place_does_not_hold_a_socket() {
        assert!(fits(Path::new("/tmp"), None));
        assert!(!fits(Path::new("tmp"), None));
        assert!(!fits(&Path::new("/tmp").join("x".repeat(80)), None));
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).expect("ours");
        let stranger = ServerAccount { name: "x".into(), uid: 4_000_000, gid: 4_000_000 };
        assert!(!fits(dir.path(), Some(&stranger)));
    }

    #[test]
    fn they_go_when_they_are_dropped() {
        let dir = tempfile::tempdir().expect("a folder");
        let folders = ServerFolders::make(Some(dir.path()), None).expect("a place");
        assert!(folders.data().starts_with(dir.path().canonicalize().expect("it is there")));
        let all: Vec<PathBuf> =
            folders.all().into_iter().map(|one| one.path().to_owned()).collect();
        assert!(all.len() == 2 && all.iter().all(|folder| folder.is_dir()));
        drop(folders);
        assert!(all.iter().all(|folder| !folder.exists()));
    }

    #[test]
    fn a_place_that_is_not_there_is_wrong_usage() {
        let error =
            ServerFolders::make(Some(Path::new("/nowhere/x")), None).err().expect("refused");
        assert!(matches!(&error, LabError::Usage(text) if text.contains("name a folder that")));
    }
}
