//! As whom a server runs.
//!
//! PostgreSQL refuses to run as root, and no other server should run as root: started by root,
//! every server runs as the user that its packages made for it, else as `nobody`. Started by
//! anybody else it runs as that user.

use super::product::ServerPackage;
use crate::error::LabError;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Where the users of this machine are listed.
const USERS: &str = "/etc/passwd";

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerAccount {
    /// Its login, the first field of a line of [`USERS`].
    pub(super) name: String,
    /// Number.
    pub(super) uid: u32,
    /// Number of its group.
    pub(super) gid: u32,
}

impl ServerAccount {
    /// As whom a server of `package` is started; `None`: as whoever runs dbtime.
    ///
    /// Errors: root runs dbtime and there is nobody to become.
    pub(super) fn of(package: &ServerPackage) -> Result<Option<Self>, LabError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let users = fs::read_to_string(USERS).unwrap_or_default();
        let names = [package.system_user, "nobody"];
        let account = names.iter().find_map(|name| Self::read(&users, name));
        account.map(Some).ok_or_else(|| {
            LabError::Target(format!(
                "{} does not run as root, and {USERS} has neither {} nor {}: add one of \
                 these users, or run dbtime as another user",
                package.product, names[0], names[1]
            ))
        })
    }

    /// Whether it may pass through this folder and all above it, by owner, group and mode.
    pub(super) fn may_enter(&self, folder: &Path) -> bool {
        folder
            .ancestors()
            .all(|folder| fs::metadata(folder).is_ok_and(|found| self.may_use(&found)))
    }

    /// Whether it may execute this file, or pass through this folder.
    pub(super) fn may_use(&self, found: &fs::Metadata) -> bool {
        let bit = if self.uid == found.uid() {
            0o100
        } else if self.gid == found.gid() {
            0o010
        } else {
            0o001
        };
        found.mode() & bit != 0
    }

    fn read(users: &str, name: &str) -> Option<Self> {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (found, _password) = (fields.next()?, fields.next()?);
            let (uid, gid) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            (found == name && uid != 0).then(|| Self { name: name.to_owned(), uid, gid })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn users_are_found_by_name_and_never_root() {
        let users = "root:x:0:0::/root:/bin/sh\nmysql:x:0:0::/:/bin/sh\n\
                     bad\npostgres:x:101:104:PostgreSQL,,,:/var/lib/postgresql:/bin/bash\n";
        let account = ServerAccount::read(users, "postgres").expect("a user");
        assert_eq!((account.uid, account.gid), (101, 104));
        assert_eq!(ServerAccount::read(users, "mysql"), None);
        assert_eq!(ServerAccount::read(users, "nobody"), None);
    }

    #[test]
    fn a_folder_is_closed_by_any_folder_above_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        let owner = fs::metadata(dir.path()).expect("its facts");
        let other = ServerAccount { name: "x".into(), uid: owner.uid() + 1, gid: owner.gid() + 1 };
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).expect("ours");
        assert!(!other.may_enter(&inner));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let is_open_above = other.may_enter(dir.path());
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o711)).expect("ours");
        assert_eq!(other.may_enter(&inner), is_open_above);
        let group = ServerAccount { gid: owner.gid(), ..other };
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o701)).expect("ours");
        assert!(!group.may_enter(&inner));
    }
}
