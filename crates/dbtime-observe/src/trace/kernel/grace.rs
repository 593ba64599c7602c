//! Waiting until nobody uses any more what was taken out of use.

use rustix::thread::{MembarrierCommand, membarrier};
use std::time::Duration;

/// How long a program may still run that has begun before: they take microseconds, and the
/// hypervisor's share.
const MAX_RUN_TIME: Duration = Duration::from_millis(5);

/// Waits until programs have ended that run now. The kernel can wait for just that (15 ms or so),
/// but does not on a machine with one CPU, or with CPUs without a tick: there time alone does.
pub(crate) fn wait_for_programs() {
    std::thread::sleep(MAX_RUN_TIME);
    let _ = membarrier(MembarrierCommand::Global);
}
