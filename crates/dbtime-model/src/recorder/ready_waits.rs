//! How long transactions that were ready waited for a CPU before they were sent.

use crate::growing::growing;
use crate::units::Nanos;

/// Waits for a CPU between `ready` and `sent`, of transactions that run on the driver's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyWaits {
    /// While other transactions of the same process had the CPU: time of the application, and no
    /// lateness of the driver.
    pub own: Nanos,
    /// Whatever had it.
    pub all: Nanos,
}

growing! { ReadyWaits { own, all } }
