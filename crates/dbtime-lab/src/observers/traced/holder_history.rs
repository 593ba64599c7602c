//! What each connection of the server did lately: whoever waits for its lock waits for that.

use dbtime_model::traced::{Blocker, TracedRequest};
use dbtime_model::{MonoNanos, Nanos, Parts, ServerQueueParts};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// More requests than this are not kept: 300 bytes each, two seconds of a very busy server.
const MAX_SPANS: usize = 50_000;

/// Statements beyond this many are one: there are few without their literals.
const MAX_STATEMENTS: usize = 2_000;

/// The number of a statement in a [`StatementTexts`], and whether somebody else executed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextNumber(u32);

impl TextNumber {
    /// This bit is set of a statement of no connection of the run.
    const OUTSIDE: u32 = 1 << 31;

    /// The same as a statement of somebody else.
    pub(super) fn outside(self) -> Self {
        Self(self.0 | Self::OUTSIDE)
    }

    pub(super) fn is_outside(self) -> bool {
        self.0 & Self::OUTSIDE != 0
    }
}

/// Texts of statements by number.
#[derive(Debug, Default)]
pub(super) struct StatementTexts {
    texts: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, TextNumber>,
}

impl StatementTexts {
    const OTHERS: TextNumber = TextNumber(TextNumber::OUTSIDE - 1);

    pub(super) fn number(&mut self, text: &Arc<str>) -> TextNumber {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        if self.texts.len() >= MAX_STATEMENTS {
            return Self::OTHERS;
        }
        let number = TextNumber(self.texts.len() as u32);
        self.texts.push(text.clone());
        self.numbers.insert(text.clone(), number);
        number
    }

    /// `None`: one of those that have no number of their own.
    pub(super) fn text(&self, number: TextNumber) -> Option<&str> {
        self.texts.get((number.0 & !TextNumber::OUTSIDE) as usize).map(|text| &**text)
    }
}

/// A wait for a lock, as far as it goes into chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainWait {
    /// The connection that let go; `None`: none that is watched.
    pub(super) holder: Option<u64>,
    /// Its statement then, where it is known.
    pub(super) statement: Option<TextNumber>,
    /// Whether a thread let go.
    pub(super) was_released: bool,
    /// How long before that the holder's transaction had begun, where it had several statements.
    pub(super) transaction: Option<Nanos>,
    pub(super) length: Nanos,
}

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServedSpan {
    /// When it lay in the server's socket alone; its start, where that is not known. From then on
    /// nothing waits for its client.
    pub(super) arrival: MonoNanos,
    pub(super) start: MonoNanos,
    pub(super) end: MonoNanos,
    pub(super) statement: TextNumber,
    /// Closed against its response.
    pub(super) parts: Parts,
    /// What its thread waited for from its arrival to its start.
    pub(super) queue_parts: Option<ServerQueueParts>,
    pub(super) wait: Option<ChainWait>,
}

/// The latest requests of all connections.
#[derive(Debug, Default)]
pub(super) struct HolderHistory {
    connections: FxHashMap<u64, VecDeque<ServedSpan>>,
    /// The connections of what is kept, in the order in which it came.
    order: VecDeque<u64>,
    pub(super) texts: StatementTexts,
}

impl HolderHistory {
    /// Keeps what a request did. Those of a connection come in the order of their starts.
    pub(super) fn add(&mut self, request: &TracedRequest) {
        let mut parts = request.parts;
        parts.close(request.response());
        let spans = self.connections.get(&request.connection);
        let free = spans.and_then(VecDeque::back).map_or(MonoNanos(0), |last| last.end);
        let span = ServedSpan {
            arrival: request.arrival().max(free).min(request.start),
            start: request.start,
            end: request.end,
            statement: self.texts.number(&request.text),
            parts,
            queue_parts: request.queue_parts,
            wait: request.blocker.as_ref().map(|blocker| self.wait(blocker)),
        };
        self.keep(request.connection, span);
    }

    pub(super) fn keep(&mut self, connection: u64, span: ServedSpan) {
        self.connections.entry(connection).or_default().push_back(span);
        self.order.push_back(connection);
        if self.order.len() > MAX_SPANS {
            self.forget_first();
        }
    }

    /// A wait for a lock, with its statement among the texts.
    pub(super) fn wait(&mut self, blocker: &Blocker) -> ChainWait {
        ChainWait {
            holder: blocker.connection,
            statement: blocker.statement.as_ref().map(|text| self.texts.number(text)),
            was_released: blocker.thread.is_some(),
            transaction: blocker.transaction.as_ref().map(|transaction| transaction.length),
            length: blocker.length,
        }
    }

    fn forget_first(&mut self) {
        let Some(connection) = self.order.pop_front() else { return };
        if let Some(spans) = self.connections.get_mut(&connection) {
            spans.pop_front();
            if spans.is_empty() {
                self.connections.remove(&connection);
            }
        }
    }

    /// What is kept of a connection, in the order of starts.
    pub(super) fn spans(&self, connection: u64) -> Option<&VecDeque<ServedSpan>> {
        self.connections.get(&connection)
    }
}
