//! Which client is inside Lua, for whoever watches that it comes back.

use dbtime_load::script::ScriptVisit;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// How often the clients of a thread have gone into Lua. One thread writes, any may read.
#[derive(Debug, Default)]
pub(super) struct LuaVisits {
    count: AtomicU64,
    /// The client inside plus one; zero: none is.
    inside: AtomicU32,
    /// Whether it waits for a program that it has started.
    awaits_program: AtomicBool,
}

impl LuaVisits {
    /// The client that is inside at this moment.
    pub(super) fn inside(&self) -> Option<ScriptVisit> {
        let client = self.inside.load(Ordering::Relaxed).checked_sub(1)?;
        Some(ScriptVisit {
            client,
            number: self.count.load(Ordering::Relaxed),
            awaits_program: self.awaits_program.load(Ordering::Relaxed),
        })
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

    /// The client inside waits for a program, which `run` runs. Where none is inside, it is one
    /// that was left open, and the state ends.
    pub(super) fn await_program<T>(&self, run: impl FnOnce() -> T) -> T {
        self.awaits_program.store(true, Ordering::Relaxed);
        let is_left = self.inside().is_none();
        if is_left {
            self.enter(ScriptVisit::NO_CLIENT);
        }
        let ended = run();
        if is_left {
            self.leave();
        }
        self.awaits_program.store(false, Ordering::Relaxed);
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_lasts_until_its_client_comes_back() {
        let visit = |client, number| Some(ScriptVisit { client, number, awaits_program: false });
        let visits = LuaVisits::default();
        assert_eq!(visits.inside(), None);
        visits.enter(0);
        assert_eq!(visits.inside(), visit(0, 1));
        visits.leave();
        visits.enter(7);
        assert_eq!(visits.inside(), visit(7, 2));
        let awaited = visits.await_program(|| visits.inside());
        assert!(awaited.is_some_and(|visit| visit.awaits_program));
        assert_eq!(visits.inside(), visit(7, 2));
        visits.leave();
        let awaited = visits.await_program(|| visits.inside()).expect("a visit of its own");
        assert_eq!((awaited.client, awaited.awaits_program), (ScriptVisit::NO_CLIENT, true));
        assert_eq!(visits.inside(), None);
    }
}
