//! The end of the programs that scripts have started: they and what they have started in turn end
//! with dbtime.

use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::process::{EndWatch, all, parent_of, stands_still};
use rustix::process::Signal;
use std::thread;
use std::time::Duration;

/// So long it may take to stop all of them, and again until they have ended by themselves.
const PATIENCE: Nanos = Nanos::from_millis(500);

/// Who is whose child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChildProcess {
    pid: u32,
    parent: u32,
}

impl ChildProcess {
    /// `None`: it has ended, and was waited for.
    fn find(pid: u32) -> Option<Self> {
        Some(Self { pid, parent: parent_of(pid)? })
    }
}

/// A process that is to end.
struct EndingProcess {
    pid: u32,
    end: EndWatch,
}

impl EndingProcess {
    /// `None`: it has ended, and its number may be another's.
    fn of(child: ChildProcess) -> Option<Self> {
        // Watched first, looked at afterwards: where the number has become another's in between,
        // what is watched has ended, and gets no signal.
        let end = EndWatch::new(child.pid);
        (ChildProcess::find(child.pid) == Some(child)).then_some(Self { pid: child.pid, end })
    }
}

/// Ends the programs of scripts that run, with their descendants: those that do not end by SIGTERM
/// end by SIGKILL. None starts after that; who tries waits for the end of the process.
pub(crate) fn end_programs() {
    let shells = dbtime_script::abandon_programs();
    if shells.is_empty() {
        return;
    }
    let parent = std::process::id();
    let shells = shells.into_iter().map(|pid| ChildProcess { pid, parent });
    let programs = stop_all(shells.filter_map(EndingProcess::of).collect());
    // What has been stopped ends when it goes on.
    for kind in [Signal::TERM, Signal::CONT] {
        programs.iter().for_each(|program| program.end.signal(kind));
    }
    let begun = now();
    let is_left = |program: &EndingProcess| !program.end.wait(patience_left(begun));
    let mut left: Vec<_> = programs.into_iter().filter(is_left).collect();
    if left.is_empty() {
        return;
    }
    // With what they have started since.
    let new = new_descendants(&left);
    left.extend(new);
    left.iter().for_each(|program| program.end.signal(Signal::KILL));
}

fn patience_left(begun: MonoNanos) -> Nanos {
    Nanos(PATIENCE.0.saturating_sub((now() - begun).0))
}

/// Stops these processes and all their descendants, parents before their children: a process that
/// is stopped starts no further child, which could not be found once its parent has ended.
fn stop_all(mut programs: Vec<EndingProcess>) -> Vec<EndingProcess> {
    let begun = now();
    let mut count = 0;
    // Those of another user are not stopped, and may start others for ever.
    while count < programs.len() && patience_left(begun) > Nanos::ZERO {
        programs[count..].iter().for_each(|program| program.end.signal(Signal::STOP));
        await_standstill(&programs[count..], begun);
        count = programs.len();
        let new = new_descendants(&programs);
        programs.extend(new);
    }
    programs
}

/// Waits until these are stopped: one that has no CPU right now may be about to have a child.
fn await_standstill(programs: &[EndingProcess], begun: MonoNanos) {
    let runs =
        |program: &EndingProcess| !program.end.wait(Nanos::ZERO) && !stands_still(program.pid);
    while programs.iter().any(runs) && patience_left(begun) > Nanos::ZERO {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Descendants of these processes that are not among them, parents before their children.
fn new_descendants(members: &[EndingProcess]) -> Vec<EndingProcess> {
    let processes = processes();
    // The number of one that has ended may be another's, and so would be the children.
    let alive = members.iter().filter(|member| !member.end.wait(Nanos::ZERO));
    let found = descendants(alive.map(|member| member.pid).collect(), &processes);
    let is_new = |child: &ChildProcess| members.iter().all(|member| member.pid != child.pid);
    found.into_iter().filter(is_new).filter_map(EndingProcess::of).collect()
}

/// All descendants of these parents but the parents themselves, parents before their children.
fn descendants(mut parents: Vec<u32>, processes: &[ChildProcess]) -> Vec<ChildProcess> {
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(&parent) = parents.get(next) {
        for child in processes.iter().filter(|child| child.parent == parent) {
            if !parents.contains(&child.pid) {
                parents.push(child.pid);
                found.push(*child);
            }
        }
        next += 1;
    }
    found
}

/// All processes that there are.
fn processes() -> Vec<ChildProcess> {
    all().into_iter().filter_map(ChildProcess::find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_all_found_without_strangers() {
        let child = |(pid, parent)| ChildProcess { pid, parent };
        let processes = [(3, 2), (9, 1), (2, 1), (4, 3), (5, 2), (7, 9)].map(child);
        let pids = |parents: &[u32]| -> Vec<u32> {
            descendants(parents.to_vec(), &processes).iter().map(|child| child.pid).collect()
        };
        assert_eq!(pids(&[2]), [3, 5, 4]);
        assert_eq!(pids(&[2, 3]), [5, 4]);
        assert!(pids(&[8]).is_empty());
    }

    #[test]
    fn only_a_child_of_its_parent_is_to_end() {
        let (pid, parent) = (std::process::id(), std::os::unix::process::parent_id());
        let child = ChildProcess { pid, parent };
        assert!(processes().contains(&child));
        assert!(EndingProcess::of(child).is_some());
        assert!(EndingProcess::of(ChildProcess { pid, parent: pid }).is_none());
    }
}
