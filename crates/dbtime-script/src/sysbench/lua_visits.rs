//! Which client is inside Lua, for whoever watches that it comes back.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How often the clients of a thread have gone into Lua. One thread writes, any may read.
#[derive(Debug, Default)]
pub(super) struct LuaVisits {
    count: AtomicU64,
    /// The client inside plus one; zero: none is.
    inside: AtomicU32,
}

impl LuaVisits {
    /// The client that is inside at this moment, and the number of its visit.
    pub(super) fn inside(&self) -> Option<(u32, u64)> {
        let client = self.inside.load(Ordering::Relaxed).checked_sub(1)?;
        Some((client, self.count.load(Ordering::Relaxed)))
    }

    /// A client goes in.
    #[inline]
    pub(super) fn enter(&self, client: u32) {
        // There is one writer, so nothing is lost between the load and the store.
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.inside.store(client.wrapping_add(1), Ordering::Relaxed);
    }

    /// It has come back.
    #[inline]
    pub(super) fn leave(&self) {
        self.inside.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_lasts_until_its_client_comes_back() {
        let visits = LuaVisits::default();
        assert_eq!(visits.inside(), None);
        visits.enter(0);
        assert_eq!(visits.inside(), Some((0, 1)));
        visits.leave();
        visits.enter(7);
        assert_eq!(visits.inside(), Some((7, 2)));
    }
}
