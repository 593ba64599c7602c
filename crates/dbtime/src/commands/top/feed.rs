//! From what is captured to what the screen shows.

use crate::exit::CommandFailure;
use dbtime_lab::tracing::TraceSession;
use dbtime_machine::now;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_totals::{TraceTotals, TracedTotals};
use dbtime_model::{MonoNanos, Nanos, WireProtocol};
use dbtime_report::terminal::by_fingerprint;
use dbtime_report::top::{LockParty, LockWait, LoginScene, SceneServer, Span, TopScene};
use std::collections::{HashMap, VecDeque};

/// Waits for locks that are kept, the latest.
const MAX_WAITS: usize = 2000;

/// Requests that are kept, the slowest.
const MAX_SLOW: usize = 200;

/// Intervals of which the throughput is kept.
const MAX_RATES: usize = 300;

/// What was counted at some instant.
#[derive(Clone, Default)]
struct TraceSnapshot {
    at: MonoNanos,
    totals: TracedTotals,
}

impl TraceSnapshot {
    fn now(totals: TracedTotals) -> Self {
        Self { at: now(), totals }
    }

    fn since(&self, before: &Self) -> Span {
        let since = self.totals.since(&before.totals);
        let mut statements: Vec<(String, TraceTotals)> = by_fingerprint(&since);
        statements.retain(|(_, totals)| totals.count > 0);
        let all = since.all();
        let (preemptors, replaced) = (since.preemptions(), since.replaced);
        Span { length: self.at - before.at, statements, all, preemptors, replaced }
    }
}

pub(super) struct TopFeed {
    /// What they are called.
    pub(super) servers: Vec<SceneServer>,
    first: TraceSnapshot,
    last: TraceSnapshot,
    rates: VecDeque<u64>,
    lock_waits: VecDeque<LockWait>,
    slowest: Vec<TracedRequest>,
}

impl TopFeed {
    pub(super) fn new(session: &mut TraceSession) -> Result<Self, CommandFailure> {
        let mut feed = Self {
            servers: Vec::new(),
            first: TraceSnapshot::default(),
            last: TraceSnapshot::default(),
            rates: VecDeque::new(),
            lock_waits: VecDeque::new(),
            slowest: Vec::new(),
        };
        feed.restart(session)?;
        Ok(feed)
    }

    /// Counts from now on.
    pub(super) fn restart(&mut self, session: &mut TraceSession) -> Result<(), CommandFailure> {
        self.first = TraceSnapshot::now(session.totals()?);
        self.last = self.first.clone();
        self.rates.clear();
        self.lock_waits.clear();
        self.slowest.clear();
        Ok(())
    }

    /// Takes requests in that have ended.
    pub(super) fn take(&mut self, requests: Vec<TracedRequest>) {
        let fastest = match self.slowest.len() {
            MAX_SLOW.. => self.slowest[MAX_SLOW - 1].response(),
            _ => Nanos::ZERO,
        };
        for request in requests {
            if let Some(wait) = lock_wait(&request) {
                self.lock_waits.truncate(MAX_WAITS - 1);
                self.lock_waits.push_front(wait);
            }
            if request.response() > fastest && !request.text.is_empty() {
                self.slowest.push(request);
            }
        }
        self.slowest.sort_by_key(|request| std::cmp::Reverse(request.response()));
        self.slowest.truncate(MAX_SLOW);
    }

    /// What there is to show now, and since the last time.
    pub(super) fn scene(&mut self, session: &mut TraceSession) -> Result<TopScene, CommandFailure> {
        let counted = TraceSnapshot::now(session.totals()?);
        let (lately, whole) = (counted.since(&self.last), counted.since(&self.first));
        let rate = lately.all.count as f64 / lately.length.as_secs().max(1e-9);
        self.rates.truncate(MAX_RATES - 1);
        self.rates.push_front(rate as u64);
        self.last = counted;
        let connections = session.connections()?;
        self.find_servers(&connections);
        Ok(TopScene {
            clock: session.clock(),
            servers: self.servers.clone(),
            lately,
            whole,
            rates: self.rates.iter().rev().copied().collect(),
            connections,
            lacks_connections: session.lacks_activities(),
            prior: session.prior()?,
            watched_for: now() - session.since(),
            lock_waits: self.lock_waits.iter().cloned().collect(),
            login: LoginScene::default(),
            slowest: self.slowest.clone(),
            ledger: session.ledger()?,
        })
    }

    /// Finds out on which servers waits were, where requests do not say so.
    fn find_servers(&mut self, connections: &[LiveConnection]) {
        let server = |one: &LiveConnection| Some((one.request.connection, one.server?));
        let servers: HashMap<u64, u32> = connections.iter().filter_map(server).collect();
        for wait in self.lock_waits.iter_mut().filter(|wait| wait.server.is_none()) {
            wait.server = servers.get(&wait.waiter.connection).copied();
        }
    }
}

/// A request's longest wait for a lock.
fn lock_wait(request: &TracedRequest) -> Option<LockWait> {
    let blocker = request.blocker.as_ref()?;
    let statement = blocker.statement.as_deref().unwrap_or_default();
    Some(LockWait {
        // A process of PostgreSQL's is not the server.
        server: (request.protocol == WireProtocol::Mysql).then_some(request.process),
        waiter: LockParty {
            connection: request.connection,
            server_id: request.server_id(),
            statement: request.text.to_string(),
        },
        holder: blocker.connection.map(|connection| LockParty {
            connection,
            server_id: blocker.server_id,
            statement: statement.to_owned(),
        }),
        lock: blocker.lock.as_deref().unwrap_or("lock").to_owned(),
        length: blocker.length,
    })
}
