//! Whether a Unix socket is the one that is meant: its server may see other folders than this
//! process, and have bound it by another name.

use rustix::fs::{Mode, OFlags, ResolveFlags, Stat, fstat, openat2, stat};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a socket that was bound by a name may be the one of this path.
pub(super) fn is_same_name(path: &Path, bound: &Path) -> bool {
    match is_abstract(path) {
        true => bound == path,
        false => bound.file_name() == path.file_name() && !is_abstract(bound),
    }
}

/// Whether the socket that a process has bound by a name is the one of this path. A name means what
/// it does to the process, and where nothing has that path here, it is the name that is meant.
pub(super) fn is_same_socket(path: &Path, process: u32, bound: &Path) -> bool {
    match stat(path) {
        Ok(here) if !is_abstract(path) => file_of(process, bound) == Some(id(&here)),
        _ => bound == path,
    }
}

/// Whether it is a name that lies in no folder.
fn is_abstract(path: &Path) -> bool {
    path.as_os_str().as_bytes().starts_with(b"@")
}

/// Which file a process calls so. Links lead where they lead it.
fn file_of(process: u32, name: &Path) -> Option<(u64, u64)> {
    let from = if name.is_absolute() { "root" } else { "cwd" };
    let (flags, mode) = (OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let folder = format!("/proc/{process}/{from}");
    let folder = rustix::fs::open(folder, flags | OFlags::DIRECTORY, mode).ok()?;
    let found = openat2(folder, name, flags, mode, ResolveFlags::IN_ROOT).ok()?;
    fstat(found).ok().map(|found| id(&found))
}

fn id(file: &Stat) -> (u64, u64) {
    (file.st_dev, file.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_name_is_compared_as_a_whole_or_where_it_lies_in_a_folder_by_its_end() {
        let is_same = |path: &str, bound: &str| is_same_name(Path::new(path), Path::new(bound));
        assert!(is_same("/srv/s/.s.PGSQL.5432", "/run/postgresql/.s.PGSQL.5432"));
        assert!(!is_same("/srv/s/.s.PGSQL.5432", "/srv/s/.s.PGSQL.5433"));
        assert!(is_same("@db", "@db") && !is_same("@db", "@db2") && !is_same("/run/@db", "@db"));
    }

    #[test]
    fn a_socket_is_known_by_its_file_however_it_is_called() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        std::os::unix::fs::symlink(at("a"), at("link")).expect("a link");
        let _listeners = ["a/s", "b/s"].map(|name| UnixListener::bind(at(name)).expect("a socket"));
        let own = std::process::id();
        assert!(is_same_socket(&at("a/s"), own, &at("link/s")));
        assert!(!is_same_socket(&at("a/s"), own, &at("b/s")), "another of that name");
        assert!(!is_same_socket(&at("a/s"), own, &at("none/s")));
        // By the name alone where nothing is there: in another mount namespace something may be.
        assert!(is_same_socket(&at("none/s"), own, &at("none/s")));
        assert!(!is_same_socket(&at("none/s"), own, &at("a/s")));
    }
}
