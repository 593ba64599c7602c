//! Sampling what runs on each CPU: the kernel's own event that does it, as far as it has one.

use super::loading::{SAMPLER, program};
use super::refusal::kernel_error;
use crate::trace::error::TraceError;
use crate::trace::privilege::rights::is_admin;
use libbpf_rs::{Link, Object, num_possible_cpus};
use perf_event::Builder;
use perf_event::events::{Hardware, Software};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::IntoRawFd;

/// How often each CPU is sampled in a second: no multiple of what timers have, and rare enough to
/// cost less than 1 % of it.
const SAMPLES_PER_SECOND: u32 = 199;

/// The highest of the system's levels (`kernel.perf_event_paranoid`) at which CAP_PERFMON is
/// enough: kernels of Debian and Ubuntu have one above it, where it takes CAP_SYS_ADMIN.
const GUARDED_ABOVE: i32 = 2;

/// What samples are made by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSampling {
    /// The kernel's event.
    pub event: String,
    /// How often each CPU is sampled while it is busy. Unit: 1/s.
    pub per_second: u32,
}

/// Has all CPUs sampled: by the cycles that they count, else by a timer of the kernel.
///
/// # Errors
/// The kernel has neither, or does not let it.
pub(crate) fn sample_cpus(object: &mut Object) -> Result<(CpuSampling, Vec<Link>), TraceError> {
    let cycles = cpu_events(|| Builder::new(Hardware::CPU_CYCLES));
    let (event, opened) = match cycles {
        Ok(opened) => ("cycles", Ok(opened)),
        Err(_) => ("cpu-clock", cpu_events(|| Builder::new(Software::CPU_CLOCK))),
    };
    let opened = opened.map_err(|error| refusal(&error, guard_level(), is_admin()))?;
    let program = program(object, SAMPLER)?;
    let attach = |counter: perf_event::Counter| {
        // The link closes it.
        program.attach_perf_event(counter.into_raw_fd()).map_err(kernel_error)
    };
    let links = opened.into_iter().map(attach).collect::<Result<_, _>>()?;
    Ok((CpuSampling { event: event.to_owned(), per_second: SAMPLES_PER_SECOND }, links))
}

/// Whether the system lets nobody sample CPUs without CAP_SYS_ADMIN.
pub(crate) fn guards_events() -> bool {
    guard_level().is_some_and(is_guarded_at)
}

/// Whether it does at this level.
pub(crate) fn is_guarded_at(level: i32) -> bool {
    level > GUARDED_ABOVE
}

/// The system's level; `None`: it has none.
fn guard_level() -> Option<i32> {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    level.ok()?.trim().parse().ok()
}

/// Why there are no samples at this level of the system's, and what to do about it.
fn refusal(error: &io::Error, level: Option<i32>, is_admin: bool) -> TraceError {
    let level = level.filter(|level| *level > GUARDED_ABOVE && !is_admin);
    match level.filter(|_| error.kind() == io::ErrorKind::PermissionDenied) {
        Some(level) => TraceError::Refused(format!(
            "kernel.perf_event_paranoid is {level} here, where sampling CPUs takes CAP_SYS_ADMIN: \
             set it to {GUARDED_ABOVE} with `sudo sysctl kernel.perf_event_paranoid=\
             {GUARDED_ABOVE}`, or run dbtime as root"
        )),
        None => kernel_error(error),
    }
}

/// An event for each CPU that is there.
fn cpu_events<'a>(event: impl Fn() -> Builder<'a>) -> io::Result<Vec<perf_event::Counter>> {
    let cpus = num_possible_cpus().map_err(io::Error::other)?;
    let open = |cpu| {
        let mut builder = event();
        builder.any_pid().one_cpu(cpu).include_kernel().enabled(true);
        builder.sample_frequency(SAMPLES_PER_SECOND.into()).build()
    };
    // One that is off has none.
    let is_there = |opened: &io::Result<_>| match opened {
        Err(error) => error.raw_os_error() != Some(Errno::NODEV.raw_os_error()),
        Ok(_) => true,
    };
    (0..cpus).map(open).filter(is_there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_lets_nobody_sample_is_named_with_its_remedy() {
        let refused = io::Error::from(Errno::ACCESS);
        let told = refusal(&refused, Some(3), false).to_string();
        let words = ["perf_event_paranoid is 3", "CAP_SYS_ADMIN", "perf_event_paranoid=2`"];
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
        let others = [
            (Errno::ACCESS, Some(2), false),
            (Errno::ACCESS, Some(3), true),
            (Errno::ACCESS, None, false),
            (Errno::NOENT, Some(3), false),
        ];
        for (error, level, is_admin) in others {
            let told = refusal(&error.into(), level, is_admin).to_string();
            assert!(!told.contains("perf_event_paranoid"), "{told}");
        }
    }
}
