//! Waiting until nobody uses any more what was taken out of use.

use rustix::thread::{MembarrierCommand, membarrier};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a program may still run that has begun before: they take microseconds, and the
/// hypervisor's share.
const MAX_RUN_TIME: Duration = Duration::from_millis(5);

/// The same where a thread was pre-empted within one, and has to get its CPU once more.
const MAX_PREEMPTED_TIME: Duration = Duration::from_millis(100);

/// What the kernel waits for takes longer than this.
const NO_WAIT: Duration = Duration::from_micros(10);

/// Waits until programs have ended that run now. The kernel can wait for just that (15 ms or so),
/// but does not on a machine with one CPU, or with CPUs without a tick: there time alone does.
pub(crate) fn wait_for_programs() {
    sleep(MAX_RUN_TIME);
    let begun = Instant::now();
    if membarrier(MembarrierCommand::Global).is_err() || begun.elapsed() < NO_WAIT {
        sleep(MAX_PREEMPTED_TIME);
    }
}
