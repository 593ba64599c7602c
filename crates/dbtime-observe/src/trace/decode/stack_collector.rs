//! Stacks of requests that are not over.

use crate::trace::kernel::stack_records::StackEvent;
use dbtime_model::traced_stacks::TracedStack;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// So many events of a request are kept with their instants: what lies behind its answer is none of
/// it, and is not more than that.
const LATEST: usize = 16;

/// What has come of stacks, until the requests do whose they are.
#[derive(Debug, Default)]
pub(crate) struct StackCollector {
    /// By connection: it serves one request at a time.
    connections: FxHashMap<u64, PendingStacks>,
}

#[derive(Debug, Default)]
struct PendingStacks {
    /// When the request began.
    start: u64,
    latest: VecDeque<StackEvent>,
    /// What was before those.
    sums: Vec<TracedStack>,
}

impl StackCollector {
    pub(crate) fn put(&mut self, event: StackEvent) {
        let pending = self.connections.entry(event.connection).or_default();
        if pending.start != event.start {
            // Of the one before nothing more comes.
            *pending = PendingStacks { start: event.start, ..PendingStacks::default() };
        }
        if pending.latest.len() == LATEST
            && let Some(earliest) = pending.latest.pop_front()
        {
            earliest.stack.add_to(&mut pending.sums);
        }
        pending.latest.push_back(event);
    }

    /// The stacks of a request that is over, those behind its end left out.
    pub(crate) fn take(&mut self, connection: u64, start: u64, end: u64) -> Vec<TracedStack> {
        if self.connections.is_empty() {
            return Vec::new();
        }
        let pending = self.connections.remove(&connection).filter(|one| one.start == start);
        let Some(PendingStacks { latest, mut sums, .. }) = pending else { return Vec::new() };
        let own = latest.into_iter().filter(|event| event.at < end);
        own.for_each(|event| event.stack.add_to(&mut sums));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::{Nanos, Part};

    fn wait(connection: u64, start: u64, at: u64) -> StackEvent {
        let length = Nanos(5);
        let stack = TracedStack { part: Part::Lock, user: 1, kernel: 2, count: 1, length };
        StackEvent { connection, start, at, stack }
    }

    fn counts(stacks: &[TracedStack]) -> Vec<(u64, Nanos)> {
        stacks.iter().map(|stack| (stack.count, stack.length)).collect()
    }

    #[test]
    fn a_request_has_what_was_before_its_end() {
        let mut collector = StackCollector::default();
        let waits = LATEST as u64 * 3;
        (0..waits).for_each(|number| collector.put(wait(1, 100, 100 + number)));
        collector.put(wait(2, 100, 101));
        let last = 100 + waits - 1;
        let own = collector.take(1, 100, last);
        assert_eq!(counts(&own), [(waits - 1, Nanos(5 * (waits - 1)))]);
        assert_eq!(counts(&collector.take(1, 100, last)), []);
        assert_eq!(counts(&collector.take(2, 100, 200)), [(1, Nanos(5))]);
    }

    #[test]
    fn what_belongs_to_another_request_is_not_counted() {
        let mut collector = StackCollector::default();
        collector.put(wait(1, 100, 120));
        collector.put(wait(1, 200, 220));
        assert_eq!(counts(&collector.take(1, 100, 190)), []);
        collector.put(wait(1, 200, 220));
        assert_eq!(counts(&collector.take(1, 200, 290)), [(1, Nanos(5))]);
        assert_eq!(collector.connections.len(), 0);
    }
}
