//! `null`: a database that does nothing, to measure the driver itself.
//!
//! It answers at once, or after a service time. Nothing leaves the process.

use crate::drive::observer::LoadObserver;
use crate::drive::plan::{LoadPlan, LoadResult, RunStop};
use crate::drive::shard::{
    self, AnswerDelay, Completion, CompletionKind, CompletionSource, ConnectedShard, DriveError,
    Reactor, ScriptConnections, StatementConnections, StatementResult,
};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::program::SqlValue;
use dbtime_load::random::{RandomStream, draw};
use dbtime_load::results::ResultSets;
use dbtime_load::think::{ThinkTime, draw_pause};
use dbtime_machine::wait::PreciseWaiter;
use dbtime_machine::{clock, now};
use dbtime_model::secret_text::first_word;
use dbtime_model::{MonoNanos, Nanos, StatementId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a null database is, so to speak: `null:` or `null:?service=exp:1ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NullTarget {
    /// How long it takes over each statement; `None`: it answers at once.
    pub service: Option<ThinkTime>,
}

/// Why a text is no null target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no null target: write null: or null:?service=1ms (also exp:1ms, uniform:1ms..2ms)"
)]
pub struct NullTargetError(String);

impl std::str::FromStr for NullTarget {
    type Err = NullTargetError;

    fn from_str(text: &str) -> Result<Self, NullTargetError> {
        let refuse = || NullTargetError(first_word(text));
        let rest = text.strip_prefix("null").ok_or_else(refuse)?;
        match rest.strip_prefix(':').unwrap_or(rest) {
            "" => Ok(Self::default()),
            query => {
                let service = query.strip_prefix("?service=").ok_or_else(refuse)?;
                Ok(Self { service: Some(service.parse().map_err(|_| refuse())?) })
            }
        }
    }
}

/// One shard's null connections.
struct NullReactor {
    service: Option<ThinkTime>,
    seed: u64,
    submitted: u64,
    connections: u32,
    results: ResultSets,
    waiter: PreciseWaiter,
    /// Connections that will answer, soonest first.
    answering: BinaryHeap<Reverse<(MonoNanos, u32)>>,
}

impl CompletionSource for NullReactor {
    #[inline]
    fn now(&self) -> MonoNanos {
        now()
    }

    fn wait(&mut self, until: MonoNanos, _: bool, events: &mut Vec<Completion>) {
        let first = self.answering.peek().map_or(until, |Reverse((at, _))| *at);
        let present = self.waiter.wait_until(first.min(until), || true, || {}, |_| false);
        while let Some(&Reverse((at, connection))) = self.answering.peek() {
            if at > present {
                break;
            }
            self.answering.pop();
            let kind = CompletionKind::Answered(StatementResult::of(1));
            // What is late here is the driver: the database keeps its time.
            let late = AnswerDelay::of_wait(present - at);
            events.push(Completion { connection, at: present, late, kind });
        }
    }
}

impl StatementConnections for NullReactor {
    #[inline]
    fn submit(
        &mut self,
        connection: u32,
        _: StatementId,
        _: &[SqlValue],
        _: bool,
    ) -> Option<StatementResult> {
        let Some(service) = self.service else { return Some(StatementResult::of(1)) };
        self.submitted += 1;
        let takes = draw_pause(service, draw(self.seed, RandomStream::Data, self.submitted));
        self.answering.push(Reverse((now() + takes, connection)));
        None
    }

    fn first_row(&self, _: u32) -> &[SqlValue] {
        &[SqlValue::Integer(1)]
    }
}

impl ScriptConnections for NullReactor {
    fn add_connection(&mut self) -> Option<u32> {
        self.connections += 1;
        Some(self.connections - 1)
    }

    fn perform(&mut self, connection: u32, op: ConnectionOp<'_>) -> Option<StatementResult> {
        match op {
            ConnectionOp::Query(_)
            | ConnectionOp::QueryWith { .. }
            | ConnectionOp::Execute { .. }
            | ConnectionOp::Pipeline(_)
            | ConnectionOp::Copy { .. } => self.submit(connection, StatementId(0), &[], false),
            _ => Some(StatementResult::at_once()),
        }
    }

    /// One row of one column, whatever was asked.
    fn results(&mut self, _: u32) -> &mut ResultSets {
        self.results.clear();
        self.results.begin_set();
        self.results.push_column(b"1");
        self.results.push_value(Some(b"1"));
        self.results.end_row();
        &mut self.results
    }
}

impl Reactor for NullReactor {
    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        (clock::thread_cpu(), None)
    }
}

/// Drives the plan on null connections and blocks until all shards have ended.
///
/// # Errors
/// When no shard could be started, or a script failed.
pub fn drive(
    plan: &LoadPlan,
    target: NullTarget,
    observer: &dyn LoadObserver,
    stop: &RunStop,
) -> Result<LoadResult, DriveError> {
    let shard = AtomicU64::new(0);
    let make = |connections| {
        let reactor = NullReactor {
            service: target.service,
            seed: plan.seed.wrapping_add(shard.fetch_add(1, Ordering::Relaxed)),
            submitted: 0,
            connections: connections as u32,
            results: ResultSets::default(),
            waiter: PreciseWaiter::new(plan.shards),
            answering: BinaryHeap::with_capacity(connections),
        };
        Ok(ConnectedShard { reactor, up: connections, failure: None })
    };
    shard::drive(plan, make, observer, stop)
}
