//! What is held back until a network that is not there would have brought it.
//!
//! The driver does not spin for it: it would take the CPU of a server beside it. Its wake-ups are
//! late, by 90 µs on an idle virtual machine. Transfers are due so much earlier, as learnt from
//! those before, and on average they are held back for as long as they are to be.

use dbtime_model::{MonoNanos, Nanos};
use std::collections::VecDeque;

/// The share of an error by which the lead follows it, as a divisor.
const LEARNING: i64 = 16;

/// By no more than this is a wake-up late on a machine that has a CPU for it.
pub(super) const MAX_WAKE_LATENESS: Nanos = Nanos::from_micros(100);

/// Transfers of one direction, in the order in which they are due.
#[derive(Debug)]
pub(super) struct HeldTransfers {
    due: VecDeque<HeldTransfer>,
    /// How much earlier a wait for them ends. Unit: nanoseconds.
    lead: i64,
    /// The longest lead. What is late by more was not the wake-up's doing.
    max_lead: i64,
}

/// A transfer that is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldTransfer {
    pub(super) connection: u32,
    /// Of which of its sockets.
    pub(super) epoch: u32,
    /// When it should come.
    pub(super) at: MonoNanos,
}

impl HeldTransfers {
    /// None yet, which come by no more than that before their time.
    pub(super) fn new(max_lead: Nanos) -> Self {
        Self { due: VecDeque::new(), lead: 0, max_lead: max_lead.signed() }
    }

    /// Holds one back that is due no earlier than those before it.
    pub(super) fn hold(&mut self, transfer: HeldTransfer) {
        self.due.push_back(transfer);
    }

    /// One that is due; it is not returned again.
    pub(super) fn take_due(&mut self, present: MonoNanos) -> Option<HeldTransfer> {
        let next = self.next().filter(|next| *next <= present)?;
        let transfer = self.due.pop_front()?;
        let late = (present - next).signed() - (transfer.at - next).signed();
        let late = late.clamp(-self.max_lead, self.max_lead);
        self.lead = (self.lead + late / LEARNING).clamp(0, self.max_lead);
        Some(transfer)
    }

    /// When a wait for the next one ends.
    pub(super) fn next(&self) -> Option<MonoNanos> {
        let first = self.due.front()?;
        Some(first.at - Nanos(self.lead.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(connection: u32, at: MonoNanos) -> HeldTransfer {
        HeldTransfer { connection, epoch: 0, at }
    }

    #[test]
    fn transfers_are_due_one_after_the_other() {
        let mut held = HeldTransfers::new(Nanos(250));
        held.hold(due(3, MonoNanos(600)));
        held.hold(due(1, MonoNanos(700)));
        assert_eq!((held.next(), held.take_due(MonoNanos(599))), (Some(MonoNanos(600)), None));
        assert_eq!(held.take_due(MonoNanos(700)), Some(due(3, MonoNanos(600))));
        assert_eq!(held.take_due(MonoNanos(700)).map(|due| due.connection), Some(1));
        assert_eq!((held.take_due(MonoNanos(9_000)), held.next()), (None, None));
    }

    #[test]
    fn late_wake_ups_are_made_up_for() {
        let delay = Nanos(200_000);
        let mut held = HeldTransfers::new(Nanos(100_000));
        let mut sent_late = Vec::new();
        for number in 0..400u64 {
            let at = MonoNanos(number * 1_000_000);
            held.hold(due(0, at + delay));
            let woken = MonoNanos(held.next().expect("one").0 + 70_000 + number % 7 * 5_000);
            assert!(held.take_due(woken).is_some());
            sent_late.push((woken - at).signed() - delay.signed());
        }
        let last = &sent_late[200..];
        let mean = last.iter().sum::<i64>() / last.len() as i64;
        assert!(mean.abs() < 3_000, "{mean} ns late on average");
        // A pause of the driver is no wake-up, and is not made up for at once.
        held.hold(due(0, MonoNanos(1_000_200_000)));
        held.take_due(MonoNanos(2_000_000_000));
        assert!(held.lead < 100_000, "{}", held.lead);
    }
}
