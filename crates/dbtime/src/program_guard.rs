//! Ends the programs of scripts when dbtime is gone without having done so: killed, or crashed.
//!
//! Another process of dbtime holds one end of a pipe, and gets a line for each program: its process
//! and the tick at which that was started. That the pipe closes is how it learns that dbtime is
//! gone, however that came about. There is none as long as scripts start nothing.

use crate::exit::ProcessExit;
use crate::program_end::{EndingProcess, end_with_descendants};
use crate::screen;
use dbtime_observe::process::{close_inherited, start_tick_of};
use dbtime_observe::trace::HeldSignals;
use dbtime_script::{ProgramWatch, watch_programs};
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The first argument that makes this program a guard.
pub(crate) const COMMAND: &str = "program-guard";

/// So many programs may all have ended before any is forgotten.
const FEW_PROGRAMS: usize = 64;

/// The guard of this process, once a script has started a program; `None`: there can be none.
static GUARD: OnceLock<Option<Child>> = OnceLock::new();

/// Has the programs guarded that scripts start from now on.
pub(crate) fn install() {
    watch_programs(ProgramWatch { starting: begin, started: add });
}

/// Whether a script has started a program.
pub(crate) fn has_begun() -> bool {
    GUARD.get().is_some()
}

/// Starts the guard, unless it is there.
fn begin() {
    let note = |error: &io::Error| {
        screen::note(&format!(
            "dbtime: programs of the script will outlive a kill of dbtime: {error}"
        ));
    };
    GUARD.get_or_init(|| start().inspect_err(note).ok());
}

fn start() -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("dbtime").arg(COMMAND).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // What ends dbtime by its process group must not end this.
    let guard = command.process_group(0).spawn()?;
    if let Some(orders) = &guard.stdin {
        // A guard that was stopped must not block dbtime.
        rustix::io::ioctl_fionbio(orders, true)?;
    }
    Ok(guard)
}

/// Puts a program under guard.
fn add(pid: u32) {
    let guard = GUARD.get().and_then(Option::as_ref);
    let Some(mut orders) = guard.and_then(|guard| guard.stdin.as_ref()) else { return };
    // One that has ended already needs none.
    let Some(program) = GuardedProgram::find(pid) else { return };
    // A guard that was killed, or reads nothing, guards no more: the program runs all the same.
    let _ = orders.write_all(format!("{}\n", program.line()).as_bytes());
}

/// Is the guard of the dbtime that has started this process, until that is gone.
pub(crate) fn serve() -> ProcessExit {
    close_inherited();
    // It outlives dbtime: a signal to both must not end it.
    let _held = HeldSignals::hold();
    // Instead of that of the link it was started by.
    let _ = rustix::thread::set_name(c"dbtime-guard");
    let programs = programs_of(io::stdin().lock().lines().map_while(Result::ok));
    end_with_descendants(programs.into_iter().filter_map(GuardedProgram::process).collect());
    ProcessExit::Fine
}

/// The programs of all lines, without most of those that have ended.
fn programs_of(lines: impl Iterator<Item = String>) -> Vec<GuardedProgram> {
    let mut programs = Vec::new();
    let mut most = FEW_PROGRAMS;
    for line in lines {
        // Not at each line: all of them are looked at.
        if programs.len() >= most {
            programs.retain(GuardedProgram::is_there);
            most = 2 * programs.len() + FEW_PROGRAMS;
        }
        programs.extend(GuardedProgram::of(&line));
    }
    programs
}

/// A program by its process and the tick at which that was started. Another process may have the
/// number long before the guard ends anything, and not the tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GuardedProgram {
    pid: u32,
    tick: u64,
}

impl GuardedProgram {
    /// `None`: it has ended, and was waited for.
    fn find(pid: u32) -> Option<Self> {
        Some(Self { pid, tick: start_tick_of(pid)? })
    }

    /// By its line; `None`: it is none.
    fn of(line: &str) -> Option<Self> {
        let (pid, tick) = line.split_once(' ')?;
        Some(Self { pid: pid.parse().ok()?, tick: tick.parse().ok()? })
    }

    fn line(self) -> String {
        format!("{} {}", self.pid, self.tick)
    }

    /// Whether it has not ended, or was not waited for.
    fn is_there(&self) -> bool {
        Self::find(self.pid) == Some(*self)
    }

    /// `None`: it has ended.
    fn process(self) -> Option<EndingProcess> {
        EndingProcess::started_at(self.pid, self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_start() {
        let own = GuardedProgram::find(std::process::id()).expect("it runs");
        assert_eq!(GuardedProgram::of(&own.line()), Some(own));
        assert!(own.is_there() && own.process().is_some());
        let other = GuardedProgram { tick: own.tick + 1, ..own };
        assert!(!other.is_there() && other.process().is_none(), "it has its number alone");
        assert!(["", "1", "1 x"].into_iter().all(|line| GuardedProgram::of(line).is_none()));
    }

    #[test]
    fn programs_that_have_ended_are_forgotten() {
        let own = GuardedProgram::find(std::process::id()).expect("it runs");
        let ended = GuardedProgram { tick: own.tick + 1, ..own };
        let ended = std::iter::repeat_n(ended.line(), 1000);
        let known = programs_of(std::iter::once(own.line()).chain(ended));
        assert_eq!(known[0], own);
        assert!(known.len() <= 2 + FEW_PROGRAMS, "{}", known.len());
    }
}
