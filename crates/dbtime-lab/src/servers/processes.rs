//! What `/proc` says of a server's processes.

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// When a process started. Unit: clock ticks since boot; with the number it names a process for
/// ever, because numbers are dealt anew. `None`: there is no such process.
/// Source: proc(5), field 22 of `/proc/PID/stat`.
pub(super) fn started_at(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

/// The processes of `program` that have made this folder their own, as servers do with their data
/// folder; a PostgreSQL server is many. Somebody who only looks around there is not among them.
pub(super) fn living_in(folder: &Path, program: &Path) -> Vec<u32> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let leads_to = |pid: u32, link: &str, place: &Path| {
        fs::read_link(format!("/proc/{pid}/{link}")).is_ok_and(|found| found == place)
    };
    let lives_there = |pid: &u32| leads_to(*pid, "cwd", &folder) && leads_to(*pid, "exe", program);
    numbers.filter(lives_there).collect()
}

/// PostgreSQL's files in shared memory that a process uses. Killed, it cannot remove them.
pub(super) fn shared_memory(pid: u32) -> BTreeSet<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let files =
        maps.lines().filter_map(|line| line.find("/dev/shm/PostgreSQL.").map(|at| &line[at..]));
    files.filter(|file| !file.ends_with(" (deleted)")).map(PathBuf::from).collect()
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
    fn this_process_is_found() {
        let own = std::process::id();
        assert!(started_at(own).is_some_and(|ticks| ticks > 0));
        assert_eq!(started_at(u32::MAX), None);
        assert_eq!(status_line(own, "Pid"), Some(own.to_string()));
        let folder = std::env::current_dir().expect("a folder");
        let program = std::env::current_exe().expect("a program");
        assert!(living_in(&folder, &program).contains(&own));
        assert!(living_in(&folder, Path::new("/bin/sh")).is_empty());
        assert!(living_in(Path::new("/nowhere"), &program).is_empty());
    }
}
