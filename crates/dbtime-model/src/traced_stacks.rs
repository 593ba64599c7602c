//! Where threads were while they served requests.

use crate::{Nanos, Part};
use serde::{Deserialize, Serialize};

/// Where a request was, so often and for so long. Both stacks are numbers of the tracer's table; 0:
/// there was none, or it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedStack {
    /// The part of the response. [`Part::Cpu`]: it was sampled on a CPU; else it had left that to
    /// wait.
    pub part: Part,
    /// In the server's program.
    pub user: u64,
    /// In the kernel.
    pub kernel: u64,
    /// Samples, or waits.
    pub count: u64,
    /// How long the waits were in all; of samples nothing.
    pub length: Nanos,
}

impl TracedStack {
    /// Adds what was there before to what has come to the same place.
    pub fn add_to(self, sums: &mut Vec<Self>) {
        let is_same = |sum: &&mut Self| {
            (sum.part, sum.user, sum.kernel) == (self.part, self.user, self.kernel)
        };
        match sums.iter_mut().find(is_same) {
            Some(sum) => {
                sum.count = sum.count.saturating_add(self.count);
                sum.length += self.length;
            }
            None => sums.push(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_at_one_place_is_one_row() {
        let wait = |part, user, length| {
            let (kernel, count, length) = (3, 1, Nanos(length));
            TracedStack { part, user, kernel, count, length }
        };
        let mut sums = Vec::new();
        for one in [wait(Part::Sync, 1, 10), wait(Part::Lock, 1, 5), wait(Part::Sync, 1, 7)] {
            one.add_to(&mut sums);
        }
        let both = TracedStack { count: 2, ..wait(Part::Sync, 1, 17) };
        assert_eq!(sums, [both, wait(Part::Lock, 1, 5)]);
    }
}
