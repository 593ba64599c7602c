//! What the programs of a thread have counted, readable while they run.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What is counted, numbered as scripts number it (`SB_CNT_OTHER` is 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Statements that returned no rows and changed none.
    Other = 0,
    /// Statements that returned a result set.
    Read = 1,
    /// Statements that changed rows.
    Write = 2,
    /// Transactions that the script itself counted.
    Transaction = 3,
    /// Statements that failed, ignored or not.
    Error = 4,
    /// Connections made again after they were lost.
    Reconnect = 5,
    /// Bytes that the script itself counted as read.
    BytesRead = 6,
    /// Bytes that the script itself counted as written.
    BytesWritten = 7,
}

impl Counter {
    /// Every counter, by its number.
    pub const ALL: [Self; 8] = [
        Self::Other,
        Self::Read,
        Self::Write,
        Self::Transaction,
        Self::Error,
        Self::Reconnect,
        Self::BytesRead,
        Self::BytesWritten,
    ];
}

/// The counters of one thread, and how far it has come. One thread writes, any may read.
#[derive(Debug, Default)]
pub struct Counters {
    counts: [AtomicU64; Counter::ALL.len()],
    resumed: AtomicU64,
    /// The client inside Lua plus one; zero: none is.
    inside: AtomicU32,
}

impl Counters {
    /// Counts one.
    #[inline]
    pub fn add(&self, counter: Counter) {
        let count = &self.counts[counter as usize];
        // There is one writer, so nothing is lost between the load and the store.
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// How many there are.
    pub fn get(&self, counter: Counter) -> u64 {
        self.counts[counter as usize].load(Ordering::Relaxed)
    }

    /// How often a client was resumed. One that stands still while [`Self::inside`] names a client
    /// says that its script never comes back.
    pub fn resumed(&self) -> u64 {
        self.resumed.load(Ordering::Relaxed)
    }

    /// The client that is inside Lua at this moment.
    pub fn inside(&self) -> Option<u32> {
        self.inside.load(Ordering::Relaxed).checked_sub(1)
    }

    /// A client enters Lua.
    #[inline]
    pub(super) fn enter(&self, client: u32) {
        self.resumed.store(self.resumed() + 1, Ordering::Relaxed);
        self.inside.store(client.wrapping_add(1), Ordering::Relaxed);
    }

    /// It has come back.
    #[inline]
    pub(super) fn leave(&self) {
        self.inside.store(0, Ordering::Relaxed);
    }
}

/// The sums over all threads, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals(pub [u64; Counter::ALL.len()]);

impl Totals {
    /// How many there are.
    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Adds what a thread has counted.
    pub(super) fn add(&mut self, counters: &Counters) {
        for counter in Counter::ALL {
            self.0[counter as usize] += counters.get(counter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_numbered_as_scripts_number_them() {
        let counters = Counters::default();
        for (index, counter) in Counter::ALL.into_iter().enumerate() {
            assert_eq!(counter as usize, index);
            (0..=index).for_each(|_| counters.add(counter));
        }
        let mut totals = Totals::default();
        totals.add(&counters);
        totals.add(&counters);
        assert_eq!(totals.get(Counter::Error), 10);
        counters.enter(0);
        assert_eq!((counters.resumed(), counters.inside()), (1, Some(0)));
        counters.leave();
        assert_eq!(counters.inside(), None);
    }
}
