//! The run delay of the calling thread: time it was runnable and something else had the CPU.

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

/// The `schedstat` file of the thread that opened it.
///
/// Source: Documentation/scheduler/sched-stats.rst of the kernel; needs CONFIG_SCHED_INFO. A
/// reading costs about 1 µs. It does not bring the scheduler's accounts up to date, so it ends no
/// time slice, and the run delay of a running thread is exact without that.
#[derive(Debug)]
pub struct Schedstat(OwnedFd);

impl Schedstat {
    /// Of the calling thread; `None` where the kernel does not tell.
    pub fn open() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open("/proc/thread-self/schedstat", flags, Mode::empty()).ok()?;
        let schedstat = Self(file);
        // Without scheduler information all fields are zero.
        schedstat.run_delay().is_some().then_some(schedstat)
    }

    /// Run delay since the thread's birth. Unit: nanoseconds.
    pub fn run_delay(&self) -> Option<u64> {
        let mut text = [0_u8; 64];
        let length = rustix::io::pread(&self.0, &mut text, 0).ok()?;
        let mut fields = text.get(..length)?.split(|&byte| byte == b' ');
        fields.nth(1)?.iter().try_fold(0_u64, |number, &byte| match byte {
            b'0'..=b'9' => Some(number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'))),
            _ => None,
        })
    }
}
