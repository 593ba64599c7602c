//! Connections without a transaction, and which of them has the next one.

use dbtime_model::MonoNanos;
use std::collections::VecDeque;

/// Connections without a transaction, longest first, and since when they would have been without
/// one had the driver never been late. Those that are refused, or were let go, stand behind the
/// others.
pub(super) struct IdleConnections {
    queue: VecDeque<(u32, MonoNanos)>,
    /// How many of these are at the end: nobody looks at them again for each transaction.
    refused: usize,
}

impl IdleConnections {
    /// So many, idle from `start` on.
    pub(super) fn new(count: u32, start: MonoNanos) -> Self {
        Self { queue: (0..count).map(|id| (id, start)).collect(), refused: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.queue.iter().map(|&(id, _)| id)
    }

    /// Whose turn it is.
    #[inline]
    pub(super) fn first(&self) -> Option<(u32, MonoNanos)> {
        self.queue.front().copied()
    }

    /// Puts those that are refused, or were let go, behind those that are there.
    #[inline]
    pub(super) fn prefer_connected(&mut self, is_refused: impl Fn(u32) -> bool) {
        if self.refused > 0 && self.queue.back().is_some_and(|&(id, _)| !is_refused(id)) {
            // A connection could be made since: each of them has its turn again.
            self.refused = 0;
        }
        // Where all of them are refused they are in their order again.
        while self.refused < self.queue.len() && is_refused(self.queue[0].0) {
            self.queue.rotate_left(1);
            self.refused += 1;
        }
    }

    /// Takes this connection, where it is idle, or else the one whose turn it is.
    #[inline]
    pub(super) fn take(&mut self, own: Option<u32>) -> Option<u32> {
        let own = own.and_then(|own| self.ids().position(|id| id == own));
        let (id, _) = self.queue.remove(own.unwrap_or(0))?;
        self.refused = self.refused.min(self.queue.len());
        Some(id)
    }

    /// One is free again.
    #[inline]
    pub(super) fn push(&mut self, id: u32, freed: MonoNanos) {
        match self.refused {
            0 => self.queue.push_back((id, freed)),
            refused => self.queue.insert(self.queue.len() - refused, (id, freed)),
        }
    }

    /// Whoever was pushed last is idle no more.
    pub(super) fn take_back(&mut self) {
        if let Some(at) = (self.queue.len() - self.refused).checked_sub(1) {
            self.queue.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const AT: MonoNanos = MonoNanos(7);

    /// Whose turn it is, one after the other, each idle again at once.
    fn turns(
        idle: &mut IdleConnections,
        count: usize,
        is_refused: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let turn = |_| {
            idle.prefer_connected(&is_refused);
            let id = idle.take(None).expect("one is idle");
            idle.push(id, AT);
            id
        };
        (0..count).map(turn).collect()
    }

    #[test]
    fn refused_ones_have_their_turn_when_no_other_is_idle_or_one_was_made() {
        let mut idle = IdleConnections::new(5, AT);
        let is_odd = |id: u32| id % 2 == 1;
        assert_eq!(turns(&mut idle, 5, is_odd), [0, 2, 4, 0, 2]);
        for _ in 0..3 {
            idle.prefer_connected(is_odd);
            idle.take(None);
        }
        assert_eq!(turns(&mut idle, 3, is_odd), [1, 3, 1], "nobody else is idle");
        idle.push(4, AT);
        assert_eq!(turns(&mut idle, 2, is_odd), [4, 4]);
        assert_eq!(turns(&mut idle, 3, |_| false), [4, 3, 1], "one could be made");
        assert_eq!(turns(&mut idle, 3, |_| true), [4, 3, 1], "all are refused");
    }

    #[test]
    fn whoever_has_quit_is_the_one_that_was_served_last() {
        let mut idle = IdleConnections::new(3, AT);
        idle.prefer_connected(|id| id == 0);
        assert_eq!(idle.take(Some(2)), Some(2));
        idle.push(2, AT);
        idle.take_back();
        assert_eq!(idle.ids().collect::<Vec<_>>(), [1, 0]);
    }

    /// Thousands of them behind one that is there.
    #[test]
    fn refused_ones_cost_a_transaction_nothing() {
        let mut idle = IdleConnections::new(10_000, AT);
        let looks = Cell::new(0);
        let is_refused = |id: u32| {
            looks.set(looks.get() + 1);
            id > 0
        };
        assert!(turns(&mut idle, 1000, is_refused).iter().all(|id| *id == 0));
        assert!(looks.get() < 15_000, "{} looks", looks.get());
    }
}
