//! What `/proc` says of a server's processes.

use dbtime_observe::process::all;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The processes of `program` that have made this folder their own, as servers do with their data
/// folder; a PostgreSQL server is many. Somebody who only looks around there is not among them.
pub(super) fn living_in(folder: &Path, program: &Path) -> Vec<u32> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    let leads_to = |pid: u32, link: &str, place: &Path| {
        fs::read_link(format!("/proc/{pid}/{link}")).is_ok_and(|found| found == place)
    };
    let lives_there = |pid: &u32| leads_to(*pid, "cwd", &folder) && leads_to(*pid, "exe", program);
    all().into_iter().filter(lives_there).collect()
}

/// Whether any process that this one may look at has made this folder, or one in it, its own.
pub(crate) fn is_inhabited(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let home = |pid: u32| fs::read_link(format!("/proc/{pid}/cwd"));
    all().into_iter().any(|pid| home(pid).is_ok_and(|home| home.starts_with(&folder)))
}

/// What PostgreSQL's processes share in memory. Killed, they cannot remove it, and it stays.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SharedProcesses {
    /// Those of POSIX.
    files: BTreeSet<PathBuf>,
    /// Those of System V, by their numbers.
    segments: BTreeSet<u32>,
}

impl SharedProcesses {
    /// What a process uses: proc(5), `/proc/PID/maps` and, of what it is just making,
    /// `/proc/PID/fd`. To know all of it, it is to stand still meanwhile.
    pub(super) fn note(&mut self, pid: u32) {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        self.note_maps(&maps);
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        let is_shared = |path: &PathBuf| path.starts_with("/dev/shm") && path.exists();
        let is_named = |path: &PathBuf| path.to_string_lossy().contains("/PostgreSQL.");
        self.files.extend(open.filter(is_shared).filter(is_named));
    }

    /// What the process shares that has the lock of a data folder and works there, as long as it is
    /// there: where it crashes, whoever has started it may remove the lock file with all that the
    /// folder holds.
    pub(super) fn note_owner(&mut self, data: &Path) {
        let lock = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let Some(pid) = lock.lines().next().and_then(owner) else { return };
        // The number in an old file may be anybody's by now.
        let home = fs::read_link(format!("/proc/{pid}/cwd"));
        if home.is_ok_and(|home| data.canonicalize().is_ok_and(|data| home == data)) {
            self.note(pid);
        }
    }

    /// What a process that has crashed has left in its data folder's lock file: its own number,
    /// below zero where it served a single user, stands first, and that of its segment at the end
    /// of the seventh line.
    pub(super) fn note_crashed(&mut self, pid: u32, data: &Path) {
        let lock = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let is_its = lock.lines().next().and_then(owner) == Some(pid);
        let segment = lock.lines().nth(6).and_then(|line| line.split_ascii_whitespace().nth(1));
        let segment = segment.filter(|_| is_its).and_then(|number| number.parse::<u32>().ok());
        self.segments.extend(segment);
    }

    fn note_maps(&mut self, maps: &str) {
        for line in maps.lines() {
            let file = line.find("/dev/shm/PostgreSQL.").map(|at| &line[at..]);
            self.files.extend(file.filter(|file| !file.ends_with(" (deleted)")).map(PathBuf::from));
            // Its number stands where files have that of their inode; its name always ends so.
            if line.contains(" /SYSV") {
                let number = line.split_ascii_whitespace().nth(4);
                self.segments.extend(number.and_then(|number| number.parse::<u32>().ok()));
            }
        }
    }

    /// Removes it. What was removed by its owner is not there any more.
    pub(super) fn remove(&mut self) {
        for file in std::mem::take(&mut self.files) {
            let _ = fs::remove_file(file);
        }
        for segment in std::mem::take(&mut self.segments) {
            // No program that is forbidden `unsafe` can do it itself.
            let mut ipcrm = Command::new("ipcrm");
            ipcrm.args(["-m", &segment.to_string()]);
            let _ = ipcrm.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

/// Whose a lock file is, by its first line.
fn owner(first: &str) -> Option<u32> {
    first.trim().trim_start_matches('-').parse().ok()
}

/// Sends a signal; a process that is gone by now does not mind.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = number(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Sends a signal to all of a process group.
pub(super) fn signal_group(leader: u32, signal: Signal) {
    if let Some(leader) = number(leader) {
        let _ = kill_process_group(leader, signal);
    }
}

/// Whether any of a process group is left.
pub(super) fn is_group(leader: u32) -> bool {
    number(leader).is_some_and(|leader| test_kill_process_group(leader).is_ok())
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Whether a process stands still, or has ended.
pub(super) fn is_still(pid: u32) -> bool {
    status_line(pid, "State").is_none_or(|state| state.starts_with(['T', 'Z', 'X']))
}

/// A line `NAME:\tvalue` of `/proc/PID/status`.
pub(super) fn status_line(pid: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(':')?;
        Some(value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_that_crashed_has_shared_is_in_its_lock_file() {
        let data = tempfile::tempdir().expect("a folder");
        let lock = data.path().join("postmaster.pid");
        fs::write(&lock, "-4711\n/data\n1790000000\n5432\n/run\n\n  4194305    98304\n")
            .expect("written");
        let segments = |pid| {
            let mut shared = SharedProcesses::default();
            shared.note_crashed(pid, data.path());
            shared.segments
        };
        assert_eq!(segments(4711), BTreeSet::from([98_304]));
        assert_eq!(segments(4712), BTreeSet::new(), "that of another");
        fs::write(&lock, "4711\n").expect("written");
        assert_eq!(segments(4711), BTreeSet::new());
    }

    #[test]
    fn what_the_owner_of_a_lock_file_shares_is_known_before_it_crashes() {
        let data = tempfile::tempdir().expect("a folder");
        let mut shared = SharedProcesses::default();
        shared.note_owner(data.path());
        assert_eq!(shared, SharedProcesses::default(), "nobody has it");
        let name = format!("/dev/shm/PostgreSQL.dbtime-test-{}", std::process::id());
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 3>\"$0\"; exec sleep 900", name.as_str()]);
        let mut server = shell.current_dir(data.path()).spawn().expect("a shell");
        while !Path::new(&name).exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let lock_file = data.path().join("postmaster.pid");
        fs::write(&lock_file, format!("{}\n", std::process::id())).expect("written");
        shared.note_owner(data.path());
        assert_eq!(shared, SharedProcesses::default(), "somebody elsewhere");
        fs::write(&lock_file, format!("-{}\n/data\n", server.id())).expect("written");
        shared.note_owner(data.path());
        server.kill().expect("it was there");
        server.wait().expect("likewise");
        assert_eq!(shared.files, BTreeSet::from([PathBuf::from(&name)]));
        shared.remove();
        assert!(!Path::new(&name).exists());
    }

    #[test]
    fn this_process_is_found() {
        let own = std::process::id();
        assert_eq!(status_line(own, "Pid"), Some(own.to_string()));
        let folder = std::env::current_dir().expect("a folder");
        let program = std::env::current_exe().expect("a program");
        assert!(living_in(&folder, &program).contains(&own));
        assert!(living_in(&folder, Path::new("/bin/sh")).is_empty());
        assert!(living_in(Path::new("/nowhere"), &program).is_empty());
    }

    #[test]
    fn what_is_shared_is_known_by_the_maps() {
        let mut shared = SharedProcesses::default();
        shared.note_maps(
            "7f2a-7f2b rw-s 00000000 00:01 32790    /SYSV00998d5d (deleted)\n\
             7f2b-7f2c rw-s 00000000 00:19 5        /dev/shm/PostgreSQL.12\n\
             7f2c-7f2d rw-s 00000000 00:19 6        /dev/shm/PostgreSQL.13 (deleted)\n\
             7f2d-7f2e rw-s 00000000 00:01 1024     /dev/zero (deleted)\n",
        );
        assert_eq!(shared.files, BTreeSet::from(["/dev/shm/PostgreSQL.12".into()]));
        assert_eq!(shared.segments, BTreeSet::from([32790]));
    }
}
