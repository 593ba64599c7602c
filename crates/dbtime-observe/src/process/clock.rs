//! The CPU clock of another process.

use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use nix::time::ClockId;
use nix::unistd::Pid;
use std::time::Duration;

/// A reading that took longer than this was interrupted, and is dated badly.
const PROMPT: Nanos = Nanos::from_micros(10);

/// How often a reading that was interrupted is repeated.
const READINGS: u32 = 5;

/// CPU time of a process, all threads and the ended ones included, and the instant it was read;
/// `None` when there is no such process.
///
/// Source: clock_getcpuclockid(3), which needs no permission. Cost: about 1 µs.
pub(super) fn read(pid: u32) -> Option<(MonoNanos, Nanos)> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    let mut best: Option<(Nanos, MonoNanos, Nanos)> = None;
    for _ in 0..READINGS {
        let before = now();
        let cpu = Duration::from(clock.now().ok()?);
        let width = now() - before;
        if best.is_none_or(|(narrowest, ..)| width < narrowest) {
            let cpu = Nanos(u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX));
            best = Some((width, before + Nanos(width.0 / 2), cpu));
        }
        if width <= PROMPT {
            break;
        }
    }
    best.map(|(_, at, cpu)| (at, cpu))
}

/// CPU time of a process; `None` when there is no such process.
pub(crate) fn cpu_time(pid: u32) -> Option<Nanos> {
    read(pid).map(|(_, cpu)| cpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_machine::clock;

    #[test]
    fn the_own_clock_is_the_own_clock() {
        let before = clock::process_cpu();
        let (at, cpu) = read(std::process::id()).expect("this process");
        assert!(before <= cpu && cpu <= clock::process_cpu() && at <= now());
    }

    #[test]
    fn there_is_no_clock_without_a_process() {
        assert_eq!(read(u32::MAX), None);
        assert_eq!(read(4_194_305), None, "above the largest pid there can be");
    }
}
