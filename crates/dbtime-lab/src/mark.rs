//! The mark of a folder that is not to outlive its process, by which the next one knows what a
//! process that was killed has left.
//!
//! A mark is a file in the folder. It is locked as long as somebody has it who will remove the
//! folder: dbtime, or the watchdog of its server after it. The lock goes with its holder, however
//! that one ends and whatever number it has where, which makes it safe among containers too. The
//! text is for people, and for what no lock tells: a folder that was copied, or another machine's.

use crate::servers::is_inhabited;
use dbtime_observe::process::{boot_id, start_tick_of};
use rustix::fs::{Mode, OFlags};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file's name.
pub(crate) const NAME: &str = ".dbtime";

/// What a mark begins with.
const HEAD: &str = "dbtime removes this folder";

/// A folder's mark, and the lock that says that it is still somebody's.
#[derive(Debug)]
pub(crate) struct FolderMark(File);

impl FolderMark {
    /// Marks a folder, which has none, as this process's.
    ///
    /// Errors: the file cannot be written.
    pub(crate) fn put(folder: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let mut file = options.open(folder.join(NAME))?;
        // Before there is a text to be believed. Where a file system has no locks, nobody will be
        // able to lock it later either, and the folder is never taken for left behind.
        let _ = file.lock();
        let own = std::process::id();
        file.write_all(text(folder, own, start_tick_of(own).unwrap_or(0)).as_bytes())?;
        Ok(Self(file))
    }

    /// The lock for another process, which keeps it beyond this one's end.
    pub(crate) fn share(&self) -> io::Result<File> {
        self.0.try_clone()
    }

    /// The mark of a folder that belongs to this user and whose process is certainly dead, taken
    /// over; `None` where any of that is not so.
    pub(crate) fn take_over(folder: &Path) -> Option<Self> {
        let open = OpenFolder::folder(folder).ok()?;
        let owner = open.file.metadata().ok()?.uid();
        let own = rustix::process::geteuid().as_raw();
        // Started by root, a server has a user of its own, who has its folder. The mark is ours.
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?;
        let mut options = File::options();
        let file = options.read(true).write(true).custom_flags(flags).open(open.path(NAME));
        let mut file = file.ok()?;
        let facts = file.metadata().ok()?;
        if (owner != own && own != 0) || facts.uid() != own || !facts.is_file() {
            return None;
        }
        let mut found = String::new();
        file.read_to_string(&mut found).ok()?;
        let is_dead = names_ended_process(&found, folder) && file.try_lock().is_ok();
        (is_dead && !is_inhabited(folder)).then_some(Self(file))
    }
}

/// A folder that was opened: paths in it stay in it, whatever takes its name.
pub(crate) struct OpenFolder {
    file: File,
}

impl OpenFolder {
    pub(crate) fn folder(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { file: rustix::fs::open(path, flags, Mode::empty())?.into() })
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        Path::new("/proc/self/fd").join(self.file.as_raw_fd().to_string()).join(name)
    }
}

/// What stands in the mark of a folder of this process.
fn text(folder: &Path, pid: u32, started: u64) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let (boot, machine) = (boot_id(), machine());
    let mut text = format!("{HEAD}\nname {name}\npid {pid}\nstarted {started}\nboot {boot}\n");
    // Writing into a `String` cannot fail.
    let _ = writeln!(text, "machine {machine}");
    text
}

/// Whether a text is the mark of this very folder, made by a process that is not there any more.
fn names_ended_process(text: &str, folder: &Path) -> bool {
    let mut lines = text.lines();
    let is_ours = lines.next() == Some(HEAD);
    let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let fields = (field("name"), field("pid"), field("started"), field("boot"), field("machine"));
    let (Some(name), Some(pid), Some(started), Some(then), Some(there)) = fields else {
        return false;
    };
    let (Ok(pid), Ok(started)) = (pid.parse::<u32>(), started.parse::<u64>()) else {
        return false;
    };
    let is_this = folder.file_name().is_some_and(|own| own.to_string_lossy() == name);
    // Numbers are dealt anew; with its start one names a process for ever.
    let is_alive = then == boot_id() && start_tick_of(pid) == Some(started);
    // Another machine's processes cannot be seen from here; this one's are gone since it started.
    let is_here = then == boot_id() || (!there.is_empty() && there == machine());
    is_ours && is_this && is_here && !is_alive
}

/// Names the machine, where it has a name: machine-id(5).
fn machine() -> String {
    fs::read_to_string("/etc/machine-id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this name with this mark, whose process has ended.
    fn marked(parent: &Path, name: &str, text: &str) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).expect("free");
        fs::write(folder.join(NAME), text).expect("written");
        folder
    }

    /// The text of a process that had this process's number before it.
    fn dead(folder: &str) -> String {
        text(Path::new(folder), std::process::id(), 0)
    }

    #[test]
    fn only_what_is_certainly_left_behind_is_taken_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let own = std::process::id();
        let alive = text(Path::new("alive"), own, start_tick_of(own).expect("alive"));
        let is_taken = |name: &str, text: &str| {
            FolderMark::take_over(&marked(dir.path(), name, text)).is_some()
        };
        assert!(is_taken("left", &dead("left")));
        assert!(!is_taken("alive", &alive));
        assert!(!is_taken("copy", &dead("left")), "a copy is somebody's");
        assert!(!is_taken("empty", ""));
        assert!(!is_taken("foreign", "keep this folder\n"));
        assert!(!is_taken("cut", &dead("cut")[..HEAD.len() + 10]));
        let elsewhere =
            dead("elsewhere").replace(&boot_id(), "another").replace("machine ", "machine x");
        assert!(!is_taken("elsewhere", &elsewhere));
        fs::create_dir(dir.path().join("bare")).expect("free");
        assert!(FolderMark::take_over(&dir.path().join("bare")).is_none());
        assert!(FolderMark::take_over(&dir.path().join("absent")).is_none());
    }

    #[test]
    fn a_lock_keeps_a_folder_whatever_its_mark_says() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = marked(dir.path(), "held", &dead("held"));
        // As by a process that another container sees under another number.
        let held = File::options().write(true).open(folder.join(NAME)).expect("there");
        held.lock().expect("a lock");
        let shared = FolderMark(held).share().expect("for a watchdog");
        assert!(FolderMark::take_over(&folder).is_none());
        drop(shared);
        // A process that another test starts has it until it is its own program.
        let begun = std::time::Instant::now();
        while FolderMark::take_over(&folder).is_none() {
            assert!(begun.elapsed().as_secs() < 20, "nobody holds it any more");
        }
    }

    #[test]
    fn a_folder_that_somebody_lives_in_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = marked(dir.path(), "home", &dead("home"));
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("60").current_dir(&folder).spawn().expect("it starts");
        assert!(FolderMark::take_over(&folder).is_none());
        child.kill().expect("it was alive");
        child.wait().expect("it ends");
        assert!(FolderMark::take_over(&folder).is_some());
    }

    #[test]
    fn links_and_what_is_another_users_stay() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = marked(dir.path(), "left", &dead("left"));
        std::os::unix::fs::symlink(&folder, dir.path().join("link")).expect("made");
        assert!(FolderMark::take_over(&dir.path().join("link")).is_none());
        let linked = marked(dir.path(), "linked", "");
        fs::write(dir.path().join("text"), dead("linked")).expect("written");
        fs::remove_file(linked.join(NAME)).expect("there");
        std::os::unix::fs::symlink(dir.path().join("text"), linked.join(NAME)).expect("made");
        assert!(FolderMark::take_over(&linked).is_none());
        // Only root can give something away.
        if std::os::unix::fs::chown(folder.join(NAME), Some(65534), None).is_ok() {
            assert!(FolderMark::take_over(&folder).is_none());
        }
    }
}
