//! The end of the programs that scripts have started: they and what they have started in turn end
//! with dbtime.

use dbtime_machine::now;
use dbtime_model::Nanos;
use dbtime_observe::process::EndWatch;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// So long all of them together may take to end by themselves.
const PATIENCE: Nanos = Nanos::from_millis(500);

/// Who is whose child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChildProcess {
    pid: u32,
    parent: u32,
}

/// Ends the programs of scripts that run, with their descendants: those that do not end by SIGTERM
/// end by SIGKILL. None starts after that; who tries waits for the end of the process.
pub(crate) fn end_programs() {
    let mut shells = dbtime_script::abandon_programs();
    if shells.is_empty() {
        return;
    }
    let (processes, parent) = (children(), std::process::id());
    // One may have ended in this moment, and its number be another's.
    shells.retain(|&pid| processes.contains(&ChildProcess { pid, parent }));
    let programs = stop_all(shells);
    let ends: Vec<_> = programs.iter().map(|&pid| EndWatch::new(pid)).collect();
    // What has been stopped ends when it goes on.
    for kind in [Signal::TERM, Signal::CONT] {
        programs.iter().for_each(|&pid| signal(pid, kind));
    }
    let begun = now();
    let has_ended = |end: &EndWatch| end.wait(Nanos(PATIENCE.0.saturating_sub((now() - begun).0)));
    let left = programs.iter().zip(&ends).filter(|&(_, end)| !has_ended(end));
    let left: Vec<u32> = left.map(|(&pid, _)| pid).collect();
    if left.is_empty() {
        return;
    }
    // With what they have started since.
    family(left, &children()).into_iter().for_each(|pid| signal(pid, Signal::KILL));
}

/// Stops these processes and all their descendants, parents before their children: a process that
/// is stopped starts no further child, which could not be found once its parent has ended.
fn stop_all(mut programs: Vec<u32>) -> Vec<u32> {
    let mut count = 0;
    while count < programs.len() {
        programs[count..].iter().for_each(|&pid| signal(pid, Signal::STOP));
        count = programs.len();
        programs = family(programs, &children());
    }
    programs
}

/// These processes and all their descendants, parents before their children.
fn family(mut members: Vec<u32>, children: &[ChildProcess]) -> Vec<u32> {
    let mut next = 0;
    while let Some(&parent) = members.get(next) {
        let own = children.iter().filter(|child| child.parent == parent).map(|child| child.pid);
        let new: Vec<u32> = own.filter(|pid| !members.contains(pid)).collect();
        members.extend(new);
        next += 1;
    }
    members
}

/// All processes that there are: `/proc/PID/stat`, proc(5).
fn children() -> Vec<ChildProcess> {
    let child = |pid: u32| {
        // The name may have any bytes, also blanks and brackets.
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some(ChildProcess { pid, parent })
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(child).collect()
}

/// Sends a signal. A process that has ended, or belongs to another user, gets none.
fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_whole_and_has_no_strangers() {
        let child = |(pid, parent)| ChildProcess { pid, parent };
        let children = [(3, 2), (9, 1), (2, 1), (4, 3), (5, 2), (7, 9)].map(child);
        assert_eq!(family(vec![2], &children), [2, 3, 5, 4]);
        assert_eq!(family(vec![2, 3], &children), [2, 3, 5, 4]);
        assert_eq!(family(vec![8], &children), [8]);
    }

    #[test]
    fn this_process_is_its_parents_child() {
        let pid = std::process::id();
        let parent = std::os::unix::process::parent_id();
        assert!(children().contains(&ChildProcess { pid, parent }));
    }
}
