//! Splits one wait for a lock by what its holder did meanwhile, and the holder of that one's lock.
//!
//! ```text
//!   waiter   start ──────────[─────── wait ───────]── end
//!   holder     ── UPDATE: lock, cpu ──   ── COMMIT: cpu, sync ──
//!                                     └─ its client
//! ```
//!
//! Of a request its instants, its parts and the length of its longest wait for a lock are known,
//! but not when in it each of them was. So a wait is laid where the holder's statement ended, as
//! far as that is within the waiter's; and a statement that is partly in the wait has its parts in
//! it in proportion.

use super::holder_history::{ChainWait, HolderHistory, ServedSpan, TextNumber};
use super::own_connections::OwnConnections;
use dbtime_model::record::{ChainCause, MAX_CHAIN_DEPTH};
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts};
use std::collections::VecDeque;

/// Less than this share of a wait is not followed to further holders.
const MIN_SHARE: f64 = 0.001;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeStretch {
    pub(super) from: MonoNanos,
    pub(super) until: MonoNanos,
}

/// A part of a wait: along which holders, and what the last of them did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChainPiece {
    pub(super) holders: Vec<TextNumber>,
    pub(super) cause: ChainCause,
    /// Unit: nanoseconds.
    pub(super) ns: f64,
}

/// The pieces of a wait of a request that took so long: together as long as the wait.
pub(super) fn pieces(
    wait: &ChainWait,
    request: TimeStretch,
    history: &HolderHistory,
    own: &OwnConnections,
) -> Vec<ChainPiece> {
    let ns = wait.length.0 as f64;
    let least_ns = MIN_SHARE * ns;
    let mut walk = ChainWalk { history, own, holders: Vec::new(), pieces: Vec::new(), least_ns };
    walk.follow(wait, request, request, ns);
    walk.pieces
}

struct ChainWalk<'a> {
    history: &'a HolderHistory,
    /// Which connections are the run's.
    own: &'a OwnConnections,
    /// From the first one on.
    holders: Vec<TextNumber>,
    pieces: Vec<ChainPiece>,
    least_ns: f64,
}

impl ChainWalk<'_> {
    /// Splits `ns` of a wait in a request by what the holder did in it, as far as that is `within`.
    fn follow(&mut self, wait: &ChainWait, request: TimeStretch, within: TimeStretch, ns: f64) {
        let Some(holder) = wait.holder else {
            let is_thread = wait.was_released;
            let cause = if is_thread { ChainCause::ServerThread } else { ChainCause::Nobody };
            return self.push(cause, ns);
        };
        if self.holders.len() >= MAX_CHAIN_DEPTH || ns < self.least_ns {
            return self.push_let_go(holder, wait, ChainCause::Part(Part::Lock), ns);
        }
        let Some(spans) = self.history.spans(holder) else {
            return self.push_let_go(holder, wait, ChainCause::NotKnown, ns);
        };
        let release = release(spans, wait, request);
        let placed = place(wait, request, release);
        let stretch = placed.within(within).unwrap_or(placed);
        let begun = match (wait.transaction, release) {
            (Some(length), _) => placed.until - length,
            (None, Some(release)) => release.start,
            (None, None) => stretch.until,
        };
        self.split((holder, spans), stretch, begun, ns);
    }

    /// Splits `ns` by what a connection did in a stretch; what was before its transaction had begun
    /// is not known.
    fn split(
        &mut self,
        (holder, spans): (u64, &VecDeque<ServedSpan>),
        stretch: TimeStretch,
        begun: MonoNanos,
        ns: f64,
    ) {
        let whole = (stretch.until - stretch.from).0.max(1) as f64;
        let share = |length: Nanos| ns * length.0 as f64 / whole;
        let (from, mut until) = (stretch.from.max(begun), stretch.until);
        let mut is_latest = true;
        for span in spans.iter().rev() {
            if until <= from {
                break;
            }
            if span.arrival < until {
                let end = span.end.min(until).max(from);
                // Behind the latest that has come there may be one under way.
                let between = match is_latest {
                    true => ChainCause::NotKnown,
                    false => ChainCause::Part(Part::Client),
                };
                self.push_at(self.executed(holder, span), between, share(until - end));
                let start = span.start.max(from).min(end);
                let within = TimeStretch { from: start, until: end };
                self.split_span(holder, span, within, share(end - start));
                let arrival = span.arrival.max(from).min(start);
                self.split_queue(holder, span, share(start - arrival));
                until = arrival;
            }
            is_latest = false;
        }
        self.push(ChainCause::NotKnown, ns - share(stretch.until - until.min(stretch.until)));
    }

    /// Splits `ns` in proportion to the parts of a request of a connection.
    fn split_span(&mut self, holder: u64, span: &ServedSpan, within: TimeStretch, ns: f64) {
        let statement = self.executed(holder, span);
        let positive = |part: &Part| span.parts.get(*part) > 0;
        let parts = || span.parts.measured().iter().filter(positive);
        let whole = parts().map(|part| span.parts.get(part)).fold(0, i64::saturating_add);
        if ns <= 0.0 || whole <= 0 {
            return self.push_at(statement, ChainCause::Part(Part::Unexplained), ns);
        }
        for part in parts() {
            let length = span.parts.get(part);
            let share = |length: i64| ns * length as f64 / whole as f64;
            let wait = span.wait.filter(|_| part == Part::Lock);
            let followed = wait.map_or(0, |wait| wait.length.signed().min(length));
            if let Some(wait) = wait {
                self.holders.push(statement);
                let request = TimeStretch { from: span.start, until: span.end };
                self.follow(&wait, request, within, share(followed));
                self.holders.pop();
            }
            let cause = ChainCause::Part(part.whole().unwrap_or(part));
            self.push_at(statement, cause, share(length - followed));
        }
    }

    /// Splits `ns` in proportion to what a request waited for in the server's socket.
    fn split_queue(&mut self, holder: u64, span: &ServedSpan, ns: f64) {
        let mut parts = Parts::default();
        let whole = span.start - span.arrival;
        ServerQueueParts::divide(span.queue_parts.as_ref(), whole, &mut parts);
        for part in parts.measured().iter() {
            let share = ns * parts.get(part) as f64 / whole.0.max(1) as f64;
            let cause = ChainCause::Part(part.whole().unwrap_or(part));
            self.push_at(self.executed(holder, span), cause, share);
        }
    }

    /// A piece of a wait of which no more is known than who let go.
    fn push_let_go(&mut self, holder: u64, wait: &ChainWait, cause: ChainCause, ns: f64) {
        match wait.statement {
            Some(statement) => self.push_at(self.of(holder, statement), cause, ns),
            None => self.push(cause, ns),
        }
    }

    /// The statement of a request of a connection.
    fn executed(&self, holder: u64, span: &ServedSpan) -> TextNumber {
        self.of(holder, span.statement)
    }

    /// A statement as one of that connection.
    fn of(&self, holder: u64, statement: TextNumber) -> TextNumber {
        match self.own.is_outside(holder) {
            true => statement.outside(),
            false => statement,
        }
    }

    fn push_at(&mut self, holder: TextNumber, cause: ChainCause, ns: f64) {
        self.holders.push(holder);
        self.push(cause, ns);
        self.holders.pop();
    }

    fn push(&mut self, cause: ChainCause, ns: f64) {
        if ns <= 0.0 {
            return;
        }
        let is_same =
            |piece: &&mut ChainPiece| piece.cause == cause && piece.holders == self.holders;
        match self.pieces.iter_mut().find(is_same) {
            Some(piece) => piece.ns += ns,
            None => self.pieces.push(ChainPiece { holders: self.holders.clone(), cause, ns }),
        }
    }
}

impl TimeStretch {
    /// What of it is within another one.
    fn within(self, other: Self) -> Option<Self> {
        let (from, until) = (self.from.max(other.from), self.until.min(other.until));
        (from < until).then_some(Self { from, until })
    }
}

/// The request in which the holder let go: the latest of its statement that was there before the
/// waiter's request had ended, and did not end before the wait could have.
fn release<'a>(
    spans: &'a VecDeque<ServedSpan>,
    wait: &ChainWait,
    request: TimeStretch,
) -> Option<&'a ServedSpan> {
    let earliest = request.from + wait.length;
    let could = spans.iter().rev().take_while(|span| span.end >= earliest);
    let mut before = could.filter(|span| span.start < request.until);
    before.find(|span| wait.statement.is_none_or(|statement| statement == span.statement))
}

/// Where in a request a wait was: until the holder's statement ended, as far as that is possible.
fn place(wait: &ChainWait, request: TimeStretch, release: Option<&ServedSpan>) -> TimeStretch {
    let length = wait.length.min(request.until - request.from);
    let ended = release.map_or(request.until, |span| span.end);
    let until = ended.max(request.from + length).min(request.until);
    TimeStretch { from: until - length, until }
}

#[cfg(test)]
mod tests {
    use super::super::holder_history::StatementTexts;
    use super::*;
    use std::sync::Arc;

    /// A history with texts.
    struct ChainScene {
        history: HolderHistory,
    }

    impl ChainScene {
        fn new() -> Self {
            Self { history: HolderHistory::default() }
        }

        fn text(&mut self, text: &str) -> TextNumber {
            self.history.texts.number(&Arc::from(text))
        }

        /// A request of a connection; what its parts leave of it is CPU.
        fn served(
            &mut self,
            connection: u64,
            text: &str,
            (start, end): (u64, u64),
            parts: &[(Part, i64)],
            wait: Option<ChainWait>,
        ) {
            let statement = self.text(text);
            let mut parts = Parts::of(parts);
            parts.add(Part::Cpu, (end - start).cast_signed() - parts.total());
            let (start, end) = (MonoNanos(start), MonoNanos(end));
            let (arrival, queue_parts) = (start, None);
            let span = ServedSpan { arrival, start, end, statement, parts, queue_parts, wait };
            self.history.keep(connection, span);
        }

        /// A request that lay in the socket before it was read, and was throttled so long there.
        fn queued(
            &mut self,
            connection: u64,
            text: &str,
            [arrival, start, end]: [u64; 3],
            throttled: u64,
        ) {
            let throttled = Nanos(throttled);
            let span = ServedSpan {
                arrival: MonoNanos(arrival),
                start: MonoNanos(start),
                end: MonoNanos(end),
                statement: self.text(text),
                parts: Parts::only(Part::Cpu, (end - start).cast_signed()),
                queue_parts: Some(ServerQueueParts { throttled, ..ServerQueueParts::default() }),
                wait: None,
            };
            self.history.keep(connection, span);
        }

        fn wait(&mut self, holder: u64, text: &str, length: u64, transaction: u64) -> ChainWait {
            ChainWait {
                holder: Some(holder),
                statement: Some(self.text(text)),
                was_released: true,
                transaction: Some(Nanos(transaction)),
                length: Nanos(length),
            }
        }

        /// The pieces in words, the longest first; together they are the wait.
        fn pieces(&self, wait: &ChainWait, (from, until): (u64, u64)) -> Vec<(String, f64)> {
            let request = TimeStretch { from: MonoNanos(from), until: MonoNanos(until) };
            let pieces = pieces(wait, request, &self.history, &OwnConnections::default());
            let sum: f64 = pieces.iter().map(|piece| piece.ns).sum();
            assert!((sum - wait.length.0 as f64).abs() < 1e-6, "{sum}: {pieces:?}");
            let mut words: Vec<_> =
                pieces.iter().map(|piece| (self.words(piece), piece.ns.round())).collect();
            words.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            words
        }

        fn words(&self, piece: &ChainPiece) -> String {
            let texts: &StatementTexts = &self.history.texts;
            let names = piece.holders.iter().filter_map(|number| texts.text(*number));
            let cause = serde_json::to_string(&piece.cause).expect("a text");
            names.chain([cause.trim_matches('"')]).collect::<Vec<_>>().join(" < ")
        }
    }

    #[test]
    fn a_wait_is_split_by_what_the_holder_did_in_it() {
        let mut scene = ChainScene::new();
        scene.served(1, "update", (1_000, 2_000), &[], None);
        scene.served(1, "commit", (4_000, 9_000), &[(Part::Sync, 4_500)], None);
        // From 1,500 on; the statement is over at 9,200.
        let wait = scene.wait(1, "commit", 7_500, 8_000);
        let expected = [
            ("commit < sync".to_owned(), 4_500.0),
            ("update < client".to_owned(), 2_000.0),
            ("commit < cpu".to_owned(), 500.0),
            ("update < cpu".to_owned(), 500.0),
        ];
        assert_eq!(scene.pieces(&wait, (1_400, 9_200)), expected);
    }

    /// Its client has done all that it could.
    #[test]
    fn while_the_next_request_of_the_holder_lies_in_the_socket_it_is_not_its_client() {
        let mut scene = ChainScene::new();
        scene.served(1, "update", (1_000, 2_000), &[], None);
        scene.queued(1, "commit", [2_500, 4_000, 5_000], 600);
        let wait = scene.wait(1, "commit", 4_000, 8_000);
        let expected = [
            ("commit < cpu".to_owned(), 1_000.0),
            ("update < cpu".to_owned(), 1_000.0),
            ("commit < server_queue".to_owned(), 900.0),
            ("commit < throttled".to_owned(), 600.0),
            ("update < client".to_owned(), 500.0),
        ];
        assert_eq!(scene.pieces(&wait, (1_000, 5_000)), expected);
        // What it has locked itself it has locked since it was read.
        let alone = ChainWait { transaction: None, length: Nanos(800), ..wait };
        assert_eq!(scene.pieces(&alone, (4_100, 5_000)), [("commit < cpu".to_owned(), 800.0)]);
    }

    #[test]
    fn what_the_holder_waited_for_is_followed() {
        let mut scene = ChainScene::new();
        scene.served(1, "commit", (0, 6_000), &[(Part::Sync, 6_000)], None);
        let first = scene.wait(1, "commit", 6_000, 6_000);
        scene.served(2, "update", (0, 6_000), &[(Part::Lock, 6_000)], Some(first));
        scene.served(2, "commit", (6_000, 10_000), &[(Part::Sync, 4_000)], None);
        let wait = scene.wait(2, "commit", 10_000, 10_000);
        let expected =
            [("update < commit < sync".to_owned(), 6_000.0), ("commit < sync".to_owned(), 4_000.0)];
        assert_eq!(scene.pieces(&wait, (0, 10_000)), expected);
    }

    #[test]
    fn what_was_not_seen_is_not_known() {
        let mut scene = ChainScene::new();
        scene.served(1, "commit", (5_000, 9_000), &[], None);
        // The holder's transaction began at 5,000 and has waited for nobody.
        let wait = scene.wait(1, "commit", 8_000, 4_000);
        let expected = [("commit < cpu".to_owned(), 4_000.0), ("not_known".to_owned(), 4_000.0)];
        assert_eq!(scene.pieces(&wait, (1_000, 9_000)), expected);
        let nobody = ChainWait { holder: None, was_released: false, ..wait };
        assert_eq!(scene.pieces(&nobody, (0, 9_000)), [("nobody".to_owned(), 8_000.0)]);
        let thread = ChainWait { holder: None, ..wait };
        assert_eq!(scene.pieces(&thread, (0, 9_000)), [("server_thread".to_owned(), 8_000.0)]);
        let unseen = ChainWait { holder: Some(7), ..wait };
        assert_eq!(scene.pieces(&unseen, (0, 9_000)), [("commit < not_known".to_owned(), 8_000.0)]);
    }

    #[test]
    fn those_that_wait_for_each_other_end_at_the_depth() {
        let mut scene = ChainScene::new();
        for connection in 1..=20 {
            let next = scene.wait(connection % 20 + 1, "update", 1_000, 1_000);
            scene.served(connection, "update", (0, 1_000), &[(Part::Lock, 1_000)], Some(next));
        }
        let wait = scene.wait(1, "update", 1_000, 1_000);
        let pieces = scene.pieces(&wait, (0, 1_000));
        let chain = ["update"; MAX_CHAIN_DEPTH + 1].join(" < ") + " < lock";
        assert_eq!(pieces, [(chain, 1_000.0)]);
    }
}
