//! From what is captured to what the screen shows.

use crate::commands::trace::fingerprints::{Fingerprints, by_fingerprint};
use crate::commands::trace::wall_clock::WallClock;
use crate::exit::Failure;
use dbtime_machine::now;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_totals::{Totals, TracedTotals};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::Capture;
use dbtime_report::top::{LockParty, LockWait, LoginScene, Scene, Span};
use std::collections::VecDeque;
use std::sync::Arc;

/// Waits for locks that are kept, the latest.
const MOST_WAITS: usize = 2000;

/// Requests that are kept, the slowest.
const MOST_SLOW: usize = 200;

/// Intervals of which the throughput is kept.
const MOST_RATES: usize = 300;

/// What was counted at some instant.
#[derive(Clone, Default)]
struct Counted {
    at: MonoNanos,
    totals: TracedTotals,
}

impl Counted {
    fn now(totals: TracedTotals) -> Self {
        Self { at: now(), totals }
    }

    fn since(&self, before: &Self) -> Span {
        let since = self.totals.since(&before.totals);
        let mut statements: Vec<(String, Totals)> = by_fingerprint(&since);
        statements.retain(|(_, totals)| totals.count > 0);
        let all = since.all();
        let TracedTotals { preemptors, replaced, .. } = since;
        Span { length: self.at - before.at, statements, all, preemptors, replaced }
    }
}

pub(super) struct Feed {
    /// What they are called.
    pub(super) servers: Vec<String>,
    raw_sql: bool,
    clock: WallClock,
    first: Counted,
    last: Counted,
    rates: VecDeque<u64>,
    lock_waits: VecDeque<LockWait>,
    slowest: Vec<TracedRequest>,
    fingerprints: Fingerprints,
}

impl Feed {
    pub(super) fn new(raw_sql: bool, capture: &mut Capture) -> Result<Self, Failure> {
        let mut feed = Self {
            servers: Vec::new(),
            raw_sql,
            clock: WallClock::new(),
            first: Counted::default(),
            last: Counted::default(),
            rates: VecDeque::new(),
            lock_waits: VecDeque::new(),
            slowest: Vec::new(),
            fingerprints: Fingerprints::default(),
        };
        feed.restart(capture)?;
        Ok(feed)
    }

    /// Counts from now on.
    pub(super) fn restart(&mut self, capture: &mut Capture) -> Result<(), Failure> {
        self.first = Counted::now(capture.totals()?);
        self.last = self.first.clone();
        self.rates.clear();
        self.lock_waits.clear();
        self.slowest.clear();
        Ok(())
    }

    /// Takes requests in that have ended.
    pub(super) fn take(&mut self, requests: Vec<TracedRequest>) {
        let fastest = match self.slowest.len() {
            MOST_SLOW.. => self.slowest[MOST_SLOW - 1].response(),
            _ => Nanos::ZERO,
        };
        for request in requests {
            if let Some(wait) = self.lock_wait(&request) {
                self.lock_waits.truncate(MOST_WAITS - 1);
                self.lock_waits.push_front(wait);
            }
            if request.response() > fastest && !request.text.is_empty() {
                let text = self.fingerprints.of(&request.text);
                self.slowest.push(TracedRequest { text, ..request });
            }
        }
        self.slowest.sort_by_key(|request| std::cmp::Reverse(request.response()));
        self.slowest.truncate(MOST_SLOW);
    }

    fn lock_wait(&mut self, request: &TracedRequest) -> Option<LockWait> {
        let blocker = request.blocker.as_ref()?;
        let statement = blocker.statement.as_deref().unwrap_or_default();
        Some(LockWait {
            waiter: LockParty {
                connection: request.connection,
                server_id: request.server_id(),
                statement: self.may_be_shown(&request.text),
            },
            holder: blocker.connection.map(|connection| LockParty {
                connection,
                server_id: blocker.server_id,
                statement: self.may_be_shown(statement),
            }),
            lock: blocker.lock.as_deref().unwrap_or("lock").to_owned(),
            length: blocker.length,
        })
    }

    fn may_be_shown(&mut self, text: &str) -> String {
        if self.raw_sql { text.to_owned() } else { self.fingerprints.make(text).to_string() }
    }

    /// What there is to show now, and since the last time.
    pub(super) fn scene(&mut self, capture: &mut Capture) -> Result<Scene, Failure> {
        let counted = Counted::now(capture.totals()?);
        let (lately, whole) = (counted.since(&self.last), counted.since(&self.first));
        let rate = lately.all.count as f64 / lately.length.as_secs().max(1e-9);
        self.rates.truncate(MOST_RATES - 1);
        self.rates.push_front(rate as u64);
        self.last = counted;
        let mut connections = capture.connections()?;
        for one in &mut connections {
            one.request.text = Arc::from(self.may_be_shown(&one.request.text));
        }
        Ok(Scene {
            clock: self.clock.time(),
            servers: self.servers.clone(),
            lately,
            whole,
            rates: self.rates.iter().rev().copied().collect(),
            connections,
            lock_waits: self.lock_waits.iter().cloned().collect(),
            login: LoginScene::default(),
            slowest: self.slowest.clone(),
            ledger: capture.ledger()?,
        })
    }
}
