//! `null`: a database that does nothing, to measure the driver itself.
//!
//! It answers at once, or after a service time. Nothing leaves the process.

use crate::plan::{Driven, Plan, SecondSink, Stop};
use crate::shard::{Answer, Event, Happened, Reactor, Shard};
use crate::wait::{precise_timers, wait_until};
use dbtime_load::program::Value;
use dbtime_load::random::{Stream, draw};
use dbtime_load::think::Think;
use dbtime_model::{MonoNanos, Nanos, StatementId, clock, now};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a null database is, so to speak: `null:` or `null:?service=exp:1ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NullTarget {
    /// How long it takes over each statement; `None`: it answers at once.
    pub service: Option<Think>,
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
        let refuse = || NullTargetError(text.to_owned());
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
    service: Option<Think>,
    seed: u64,
    submitted: u64,
    /// Connections that will answer, soonest first.
    answering: BinaryHeap<Reverse<(MonoNanos, u32)>>,
}

impl Reactor for NullReactor {
    #[inline]
    fn now(&self) -> MonoNanos {
        now()
    }

    #[inline]
    fn submit(&mut self, connection: u32, _: StatementId, _: &[Value], _: bool) -> Option<Answer> {
        let Some(service) = self.service else { return Some(Answer::of(1)) };
        self.submitted += 1;
        let takes = service.draw(draw(self.seed, Stream::Data, self.submitted));
        self.answering.push(Reverse((now() + takes, connection)));
        None
    }

    fn wait(&mut self, until: MonoNanos, events: &mut Vec<Event>) {
        let first = self.answering.peek().map_or(until, |Reverse((at, _))| *at);
        let present = wait_until(first.min(until), true, |_| false);
        while let Some(&Reverse((at, connection))) = self.answering.peek() {
            if at > present {
                break;
            }
            self.answering.pop();
            let kind = Happened::Answered(Answer::of(1));
            events.push(Event { connection, at: present, kind });
        }
    }

    fn first_row(&self, _: u32) -> &[Value] {
        &[Value::Integer(1)]
    }

    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        (clock::thread_cpu(), None)
    }
}

/// Drives the plan on null connections and blocks until all shards have ended.
pub fn drive(
    plan: &Plan,
    target: NullTarget,
    sink: impl Fn(u32) -> Box<dyn SecondSink>,
    started: impl Fn(MonoNanos),
    stop: &Stop,
) -> Driven {
    // Shards need a moment to set up their connections before the first transaction is due.
    let start = now() + Nanos::from_millis(5) + Nanos::from_micros(u64::from(plan.servers));
    let threads = std::thread::scope(|scope| {
        let shards: Vec<_> = (0..plan.shards)
            .map(|id| {
                let sink = sink(id);
                let work = move || {
                    precise_timers();
                    let seed = plan.seed.wrapping_add(id.into());
                    let service = target.service;
                    let answering = BinaryHeap::with_capacity(plan.servers as usize);
                    let reactor = NullReactor { service, seed, submitted: 0, answering };
                    let shard = Shard::new(plan, id, start, reactor, sink, stop);
                    wait_until(start, true, |at| at >= stop.instant());
                    shard.run().0
                };
                let named = std::thread::Builder::new().name(format!("shard {id}"));
                named.spawn_scoped(scope, work).expect("a thread can be started")
            })
            .collect();
        started(start);
        let joined = shards
            .into_iter()
            .map(|shard| shard.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect()
    });
    Driven::gather(plan, start, threads)
}
