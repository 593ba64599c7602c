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

/// The guard of this process, once a script has started a program; `None`: there can be none.
static GUARD: OnceLock<Option<Child>> = OnceLock::new();

/// Has the programs guarded that scripts start from now on.
pub(crate) fn install() {
    watch_programs(ProgramWatch { starting: begin, started: add });
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
    let Some(tick) = start_tick_of(pid) else { return };
    // A guard that was killed, or reads nothing, guards no more: the program runs all the same.
    let _ = orders.write_all(format!("{pid} {tick}\n").as_bytes());
}

/// Is the guard of the dbtime that has started this process, until that is gone.
pub(crate) fn serve() -> ProcessExit {
    close_inherited();
    // It outlives dbtime: a signal to both must not end it.
    let _held = HeldSignals::hold();
    let mut programs: Vec<EndingProcess> = Vec::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        programs.retain(EndingProcess::runs);
        programs.extend(program_of(&line));
    }
    end_with_descendants(programs);
    ProcessExit::Fine
}

/// The program of a line; `None`: it has ended.
fn program_of(line: &str) -> Option<EndingProcess> {
    let (pid, tick) = line.split_once(' ')?;
    EndingProcess::started_at(pid.parse().ok()?, tick.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_start() {
        let pid = std::process::id();
        let tick = start_tick_of(pid).expect("it runs");
        assert!(program_of(&format!("{pid} {tick}")).is_some_and(|program| program.runs()));
        assert!(program_of(&format!("{pid} {}", tick + 1)).is_none(), "another with its number");
        assert!(program_of("").is_none() && program_of("1").is_none());
    }
}
