//! How long transactions that were ready waited for a CPU before they were sent.

use crate::units::Nanos;
use std::ops::AddAssign;

/// Waits for a CPU between `ready` and `sent`, of transactions that run on the driver's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyWaits {
    /// While other transactions of the same process had the CPU: time of the application, and no
    /// lateness of the driver.
    pub own: Nanos,
    /// Whatever had it.
    pub all: Nanos,
}

impl AddAssign for ReadyWaits {
    #[inline]
    fn add_assign(&mut self, more: Self) {
        self.own += more.own;
        self.all += more.all;
    }
}
