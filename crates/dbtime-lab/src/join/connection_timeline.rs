//! What is undecided on one connection: exchanges and requests, each in its own order.

use super::exchange_group::ExchangeGroup;
use super::served_request::ServedRequest;
use dbtime_model::MonoNanos;
use dbtime_model::exchange::StatementExchange;
use std::collections::VecDeque;

/// Later than everything: nothing more will come.
pub(super) const END_OF_TIME: MonoNanos = MonoNanos(u64::MAX);

/// The undecided of one connection.
#[derive(Debug, Default)]
pub(super) struct ConnectionTimeline {
    /// In the order in which they were sent.
    exchanges: VecDeque<StatementExchange>,
    /// How many of them, from the front, belong to transactions that are over: no statement will
    /// come that was under way with them.
    complete: usize,
    /// In the order of their starts.
    requests: VecDeque<ServedRequest>,
    /// Whether an exchange was ever seen on it.
    is_drivers: bool,
    /// Whether the server has ever served it under the driver's name for it.
    is_direct: bool,
}

/// The exchanges at the front that were under way together: `from` the first sent `until` the last
/// read.
#[derive(Clone, Copy, Debug)]
struct GroupSpan {
    exchanges: usize,
    from: MonoNanos,
    until: MonoNanos,
}

impl ConnectionTimeline {
    pub(super) fn push_exchange(&mut self, exchange: StatementExchange) {
        self.is_drivers = true;
        self.exchanges.push_back(exchange);
    }

    pub(super) fn push_request(&mut self, request: ServedRequest) {
        self.requests.push_back(request);
    }

    /// The server calls it as the driver does.
    pub(super) fn note_direct(&mut self) {
        self.is_direct = true;
    }

    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Takes over the requests of one that turns out to be this one.
    pub(super) fn take_requests(&mut self, other: Self) {
        self.requests.extend(other.requests);
    }

    /// A transaction is over. Exchanges of later ones may be here already.
    pub(super) fn complete(&mut self, transaction: u64) {
        let last = self.exchanges.iter().rposition(|exchange| exchange.transaction == transaction);
        self.complete = self.complete.max(last.map_or(0, |last| last + 1));
    }

    pub(super) fn is_drivers(&self) -> bool {
        self.is_drivers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exchanges.is_empty() && self.requests.is_empty()
    }

    /// How many exchanges and requests are undecided.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.exchanges.len() + self.requests.len()
    }

    /// Drops the requests at the front that no exchange contains, and returns how many there were.
    /// All that was read or had ended before `settled` is here.
    pub(super) fn drop_outside(&mut self, settled: MonoNanos) -> u64 {
        let mut dropped = 0;
        while self.is_front_outside(settled) {
            self.requests.pop_front();
            dropped += 1;
        }
        dropped
    }

    /// Whether no exchange contains the first request, nor will one that is still in flight. That
    /// is read after the end of its last request, however long before it was sent.
    fn is_front_outside(&self, settled: MonoNanos) -> bool {
        let Some(front) = self.requests.front() else { return false };
        if let Some(first) = self.exchanges.front() {
            return front.start < first.sent;
        }
        if front.end() >= settled {
            return false;
        }
        match self.requests.iter().find(|request| !request.is_preparation) {
            Some(next) => next.end() < settled,
            // What the driver has prepared it executes: that may be under way.
            None => !self.is_drivers || settled == END_OF_TIME,
        }
    }

    /// Moves the first exchanges, and the requests that they contain, to `group`, if no more of
    /// either side can come; whether it did. All that was read or had ended before `settled` is
    /// here. Requests before them must have been dropped.
    pub(super) fn next_group(&mut self, settled: MonoNanos, group: &mut ExchangeGroup) -> bool {
        let Some(span) = self.first_span() else { return false };
        let has_exchanges = span.exchanges < self.exchanges.len()
            || span.exchanges <= self.complete
            || settled == END_OF_TIME;
        let has_requests = self.requests.back().is_some_and(|last| last.start >= span.until)
            || span.until <= settled;
        if !(has_exchanges && has_requests) {
            return false;
        }
        group.clear();
        self.complete = self.complete.saturating_sub(span.exchanges);
        self.exchanges.drain(..span.exchanges).for_each(|exchange| group.push_exchange(exchange));
        let contained =
            self.requests.iter().take_while(|request| request.start < span.until).count();
        self.requests.drain(..contained).for_each(|request| group.push_request(request, span.from));
        group.next_taken = self.requests.front().and_then(|next| next.taken);
        true
    }

    /// Exchanges are under way together where one was sent before all ahead of it were answered.
    fn first_span(&self) -> Option<GroupSpan> {
        let first = self.exchanges.front()?;
        let mut span = GroupSpan { exchanges: 1, from: first.sent, until: first.read };
        for exchange in self.exchanges.iter().skip(1) {
            if exchange.sent >= span.until {
                break;
            }
            span.exchanges += 1;
            span.until = span.until.max(exchange.read);
        }
        Some(span)
    }
}
