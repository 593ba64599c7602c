//! The end of the programs that scripts have started: they and what they have started in turn end
//! with dbtime. What one has left in the background when it ended goes on, and is named where a
//! signal ended dbtime.

use crate::{interrupt, program_guard, screen};
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::process::{EndWatch, all, parent_of, stands_still, start_tick_of};
use dbtime_script::PROGRAM_MARK;
use rustix::process::{Pid, Signal, geteuid, getsid};
use std::os::unix::fs::MetadataExt;
use std::sync::Once;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io, iter};

/// So many of the processes that go on are named.
const MOST_NAMED: usize = 8;

/// So long it may take to stop all of them, and again until they have ended by themselves.
const PATIENCE: Nanos = Nanos::from_millis(500);

/// So long it is looked what goes on: the environment of a process that hangs in the kernel is not
/// to be had, and there may be tens of thousands.
const LOOK_TIME: Duration = Duration::from_millis(500);

/// It is looked once, by the thread that comes to the end first.
static LOOK: Once = Once::new();

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
pub(crate) struct EndingProcess {
    pid: u32,
    end: EndWatch,
}

impl EndingProcess {
    /// `None`: it has ended, and its number may be another's.
    fn of(child: ChildProcess) -> Option<Self> {
        Self::where_it_is(child.pid, || ChildProcess::find(child.pid) == Some(child))
    }

    /// The process that was started at a tick of the kernel's clock. `None`: it has ended.
    pub(crate) fn started_at(pid: u32, tick: u64) -> Option<Self> {
        Self::where_it_is(pid, || start_tick_of(pid) == Some(tick))
    }

    fn where_it_is(pid: u32, is_it: impl FnOnce() -> bool) -> Option<Self> {
        // Watched first, looked at afterwards: where the number has become another's in between,
        // what is watched has ended, and gets no signal.
        let end = EndWatch::new(pid);
        is_it().then_some(Self { pid, end })
    }

    /// Whether it has not ended yet.
    fn runs(&self) -> bool {
        !self.end.wait(Nanos::ZERO)
    }
}

/// Ends the programs of scripts that run, with their descendants. None starts after that; a thread
/// that tries waits for the end of the process.
pub(crate) fn end_programs() {
    let parent = std::process::id();
    let shells = dbtime_script::abandon_programs().into_iter();
    let shells = shells.map(|pid| ChildProcess { pid, parent });
    end_with_descendants(shells.filter_map(EndingProcess::of).collect());
}

/// Ends these processes with their descendants: those that do not end by SIGTERM end by SIGKILL.
pub(crate) fn end_with_descendants(programs: Vec<EndingProcess>) {
    let programs = stop_all(programs);
    // What has been stopped ends when it goes on.
    for kind in [Signal::TERM, Signal::CONT] {
        programs.iter().for_each(|program| program.end.signal(kind));
    }
    let begun = now();
    let is_left = |program: &EndingProcess| !program.end.wait(patience_left(begun));
    let left: Vec<_> = programs.into_iter().filter(is_left).collect();
    if !left.is_empty() {
        kill_with_descendants(left);
    }
}

/// Ends these processes by SIGKILL, with all that they have started.
pub(crate) fn kill_with_descendants(programs: Vec<EndingProcess>) {
    // One that is not stopped starts another child when it loses one, in the moment before its own
    // end.
    let programs = stop_all(programs);
    programs.iter().for_each(|program| program.end.signal(Signal::KILL));
    // Gone in a moment; one of another user hears nothing, and is waited for in vain.
    let begun = now();
    for program in &programs {
        program.end.wait(patience_left(begun));
    }
}

/// Names what goes on of what programs of scripts have left in the background, where a signal has
/// ended dbtime: a script that is cut short may not have ended its server.
pub(crate) fn name_survivors() {
    if interrupt::signal().is_none() || !program_guard::has_begun() {
        return;
    }
    LOOK.call_once(|| {
        let survivors = survivors(std::process::id(), LOOK_TIME);
        // A terminal that takes nothing is not waited for.
        if !survivors.is_empty() && screen::takes_output(io::stderr()) {
            screen::error(&survivor_words(&survivors));
        }
    });
}

fn survivor_words(survivors: &[String]) -> String {
    let named = survivors.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match survivors.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("still running in the background, left by programs of the script: {named}{more}")
}

/// The processes that programs of a process's scripts have started, as `4711 (sleep)`, as far as
/// they are found in time.
fn survivors(of: u32, limit: Duration) -> Vec<String> {
    found_within(limit, move |found| {
        let (mark, tick) = (format!("{PROGRAM_MARK}={of}"), start_tick_of(of));
        // An older one was another's, which had the number before.
        let is_later = |pid: &u32| start_tick_of(*pid) >= tick;
        let candidates = all().into_iter().filter(may_be_ours).filter(is_later);
        for name in candidates.filter_map(|pid| marked(pid, &mark)) {
            // Its time is over.
            if found.send(name).is_err() {
                return;
            }
        }
    })
}

/// The processes of this user or session with a variable in their environment, `NAME=value`: their
/// numbers and the ticks at which they were started, the last numbers first, without this process,
/// as far as they are found in time.
pub(crate) fn processes_with(variable: Vec<u8>) -> Vec<(u32, u64)> {
    let own = std::process::id();
    found_within(LOOK_TIME, move |found| {
        let others = all().into_iter().rev().filter(|pid| *pid != own).filter(may_be_ours);
        let with_it = others.filter(|pid| has_variable(*pid, &variable));
        for process in with_it.filter_map(|pid| Some((pid, start_tick_of(pid)?))) {
            // Its time is over.
            if found.send(process).is_err() {
                return;
            }
        }
    })
}

/// What a search on a thread of its own finds in this time; nothing where there can be no thread.
fn found_within<T: Send + 'static>(
    limit: Duration,
    search: impl FnOnce(Sender<T>) + Send + 'static,
) -> Vec<T> {
    let (sender, found) = channel();
    let end = Instant::now() + limit;
    let searcher = thread::Builder::new().name("survivors".to_owned());
    if searcher.spawn(move || search(sender)).is_err() {
        return Vec::new();
    }
    let rest = || end.saturating_duration_since(Instant::now());
    iter::from_fn(|| found.recv_timeout(rest()).ok()).collect()
}

/// Whether a process is of this user or this session: what a script starts is, and nothing of
/// others is read, where that were allowed.
fn may_be_ours(pid: &u32) -> bool {
    let is_of_user = || {
        let folder = fs::metadata(format!("/proc/{pid}"));
        folder.is_ok_and(|folder| folder.uid() == geteuid().as_raw())
    };
    let is_of_session = || {
        let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| getsid(Some(pid)).is_ok_and(|session| getsid(None) == Ok(session)))
    };
    is_of_user() || is_of_session()
}

/// Whether the environment of a process has a variable. Those of other users cannot be read.
fn has_variable(pid: u32, variable: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ"));
    environment.is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == variable))
}

/// A process with its name, where its environment has a mark.
fn marked(pid: u32, mark: &str) -> Option<String> {
    if !has_variable(pid, mark.as_bytes()) {
        return None;
    }
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(format!("{pid} ({})", String::from_utf8_lossy(&name).trim_end()))
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
    let moves = |program: &EndingProcess| program.runs() && !stands_still(program.pid);
    while programs.iter().any(moves) && patience_left(begun) > Nanos::ZERO {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Descendants of these processes that are not among them, parents before their children.
fn new_descendants(members: &[EndingProcess]) -> Vec<EndingProcess> {
    let processes = processes();
    // The number of one that has ended may be another's, and so would be the children.
    let alive = members.iter().filter(|member| member.runs());
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
    fn what_goes_on_is_known_by_its_mark() {
        let own = std::process::id();
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("600").env(PROGRAM_MARK, own.to_string()).spawn();
        let child = child.as_mut().expect("it starts");
        let named = format!("{} (sleep)", child.id());
        // Where all are looked at, none of the time is waited for.
        let found = || survivors(own, Duration::from_secs(600));
        assert!(found().contains(&named));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        assert!(!found().contains(&named));
        let several = vec![named; MOST_NAMED + 2];
        assert!(survivor_words(&several[..1]).ends_with("(sleep)"));
        assert!(survivor_words(&several).ends_with("(sleep) and 2 more"));
    }

    #[test]
    fn a_process_that_cannot_be_looked_at_holds_up_no_end() {
        let (_held, release) = channel::<()>();
        let found = found_within(Duration::from_secs(1), move |found| {
            found.send("4711 (sleep)".to_owned()).expect("it is waited for");
            // Nothing comes: this goes on until the test has ended.
            let _ = release.recv();
            let _ = found.send("4712 (late)".to_owned());
        });
        assert_eq!(found, ["4711 (sleep)"]);
        assert!(may_be_ours(&std::process::id()));
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
