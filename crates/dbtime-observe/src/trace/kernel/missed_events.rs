//! What the kernel has left out: it runs a program for one thread of a CPU at a time.

use super::kernel_features::STAND_INS;
use super::loading::THREADS;
use super::refusal::kernel_error;
use crate::trace::error::TraceError;
use libbpf_rs::{Object, Program, ProgramType};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Programs whose events lose no request where the kernel leaves them out: interrupts come upon
/// some of them on any kernel.
const LOSE_NO_REQUEST: [&str; 6] =
    ["on_bytes", "on_readable", "on_state", "on_exit", "on_timer", "on_timer_end"];

/// How many events no program was run for, of those that may lose a request.
///
/// # Errors
/// The kernel does not tell.
pub(crate) fn missed_events(object: &Object) -> Result<u64, TraceError> {
    let is_loaded = |name: &str| object.progs().any(|one| one.name() == name && one.autoload());
    let may_lose = |one: &Program<'_>| {
        one.prog_type() == ProgramType::Tracing
            && one.autoload()
            && may_lose_requests(&one.name().to_string_lossy(), is_loaded)
    };
    object.progs().filter(may_lose).map(|one| missed_runs(one.as_fd())).sum()
}

/// Whether a request may be lost where the kernel leaves this program out. What all that stand in
/// for each other were left out of they count themselves, by the switches of their CPU.
fn may_lose_requests(program: &str, is_loaded: impl Fn(&str) -> bool) -> bool {
    let counts_itself = STAND_INS.iter().any(|(first, others)| {
        (program == *first || others.contains(&program))
            && others.iter().all(|other| is_loaded(other))
            && is_loaded(THREADS[0])
    });
    !LOSE_NO_REQUEST.contains(&program) && !counts_itself
}

/// How often the kernel has left a program out.
fn missed_runs(program: BorrowedFd<'_>) -> Result<u64, TraceError> {
    let fields = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", program.as_raw_fd()));
    let fields = fields.map_err(kernel_error)?;
    let missed = fields.lines().find_map(|line| line.strip_prefix("recursion_misses:"));
    let missed = missed.and_then(|missed| missed.trim().parse().ok());
    missed.ok_or_else(|| kernel_error("it does not tell how often it has left programs out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_stand_in_for_each_other_count_what_they_miss() {
        let all = |_: &str| true;
        assert!(may_lose_requests("on_unix_send", all) && may_lose_requests("on_fork", all));
        assert!(!may_lose_requests("on_bytes", all) && !may_lose_requests("on_exit", all));
        for program in ["on_send", "on_send_fourth", "on_receive", "on_receive_second"] {
            assert!(!may_lose_requests(program, all), "{program}");
            // Without switches they cannot tell.
            assert!(may_lose_requests(program, |name| name != "on_switch"), "{program}");
        }
        assert!(may_lose_requests("on_send", |name| name != "on_send_third"));
    }
}
