//! Which statement it was that let a lock go. The request that did so is mostly over a moment
//! before the one that waited, and sometimes a moment after it: that one is held back for so long.

use dbtime_model::traced::TracedRequest;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Requests that are remembered: those of a tenth of a second, where there are very many. More
/// would not be in the processor's cache.
const MOST: usize = 4096;

/// How often requests are taken before one goes without its blocker's statement.
const ROUNDS: u8 = 3;

/// A request by its connection and its beginning.
type Key = (u64, u64);

/// What was seen lately, and what waits for more.
#[derive(Debug, Default)]
pub(super) struct Blockers {
    recent: FxHashMap<Key, Arc<str>>,
    order: VecDeque<Key>,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    request: TracedRequest,
    blocker: Key,
    rounds: u8,
}

impl Blockers {
    /// Takes a request in; what can go on goes to `out`. `blocker_start` is when the request began
    /// that ended its longest wait for a lock.
    pub(super) fn take(
        &mut self,
        request: TracedRequest,
        blocker_start: u64,
        out: &mut Vec<TracedRequest>,
    ) {
        self.remember((request.connection, request.start.0), &request.text);
        let blocker = request.blocker.as_ref().and_then(|blocker| blocker.connection);
        match blocker {
            Some(connection) => {
                let blocker = (connection, blocker_start);
                self.waiting.push(Waiting { request, blocker, rounds: 0 });
            }
            None => out.push(request),
        }
    }

    /// All that was there has been taken: who waited for what is known now goes on, and who has
    /// waited for long enough. At the end nobody waits any more.
    pub(super) fn settle(&mut self, is_end: bool, out: &mut Vec<TracedRequest>) {
        let Self { recent, waiting, .. } = self;
        for mut one in std::mem::take(waiting) {
            let statement = recent.get(&one.blocker);
            one.rounds += 1;
            if statement.is_none() && one.rounds < ROUNDS && !is_end {
                waiting.push(one);
                continue;
            }
            if let Some(blocker) = &mut one.request.blocker {
                blocker.statement = statement.cloned();
            }
            out.push(one.request);
        }
    }

    fn remember(&mut self, key: Key, text: &Arc<str>) {
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
        self.order.push_back(key);
        self.recent.insert(key, Arc::clone(text));
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::RawRequest;
    use super::super::layout::tests::{blocked_by, written};
    use super::super::sessions::Sessions;
    use super::*;

    fn request(connection: u64, text: &str, blocker: Option<u64>) -> TracedRequest {
        let waits = blocker.map_or(vec![], |blocker| blocked_by(9, blocker));
        let bytes = [waits, written(connection, 3, text.as_bytes(), |_| {})].concat();
        Sessions::default().take(&RawRequest::read(&bytes).expect("a request"))
    }

    /// The statements that blocked those that went on.
    fn blockers(out: &[TracedRequest]) -> Vec<Option<&str>> {
        let statement = |request: &TracedRequest| {
            request.blocker.as_ref().and_then(|blocker| blocker.statement.as_deref().map(str::len))
        };
        assert!(out.iter().all(|request| statement(request).is_none_or(|length| length > 0)));
        out.iter()
            .map(|request| request.blocker.as_ref().and_then(|b| b.statement.as_deref()))
            .collect()
    }

    #[test]
    fn a_blockers_statement_is_found_before_and_after() {
        let (mut blockers_seen, mut out) = (Blockers::default(), Vec::new());
        blockers_seen.take(request(2, "UPDATE t", Some(1)), 1, &mut out);
        blockers_seen.settle(false, &mut out);
        assert!(out.is_empty(), "it waits");
        blockers_seen.take(request(1, "COMMIT", None), 0, &mut out);
        blockers_seen.settle(false, &mut out);
        assert_eq!(blockers(&out), [None, Some("COMMIT")]);
        out.clear();
        blockers_seen.take(request(3, "DELETE", Some(1)), 1, &mut out);
        blockers_seen.settle(false, &mut out);
        assert_eq!(blockers(&out), [Some("COMMIT")]);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let (mut blockers_seen, mut out) = (Blockers::default(), Vec::new());
        for is_end in [false, true] {
            blockers_seen.take(request(2, "UPDATE t", Some(7)), 1, &mut out);
            (0..ROUNDS).for_each(|_| blockers_seen.settle(is_end, &mut out));
            assert_eq!(blockers(&std::mem::take(&mut out)), [None]);
        }
        for index in 0..2 * MOST as u64 {
            blockers_seen.take(request(index + 1, "x", None), 0, &mut out);
        }
        assert_eq!((blockers_seen.order.len(), blockers_seen.recent.len()), (MOST, MOST));
    }
}
