//! Which transaction a shard has next: claimed from its part of the demand, or counted as never
//! begun once the run has ended.

use super::{Reactor, Shard};
use crate::drive::plan::{LoadDemand, LoadPlan};
use dbtime_load::program::Ticket;
use dbtime_load::queue::{ClaimResult, ClosedQueue, OpenQueue};
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome};

/// A shard's part of the demand.
pub(super) enum ShardQueue {
    Open(OpenQueue),
    Closed(ClosedQueue),
    Over,
}

impl ShardQueue {
    /// That of a shard of the plan's, from `start` on.
    pub(super) fn of(plan: &LoadPlan, start: MonoNanos, shard: u32) -> Self {
        let own = |total: u32| (shard..total).step_by(plan.shards as usize);
        match plan.open_queue(start, shard, plan.shards) {
            Some(queue) => Self::Open(queue),
            None => {
                let clients = match plan.demand {
                    LoadDemand::Closed { clients, .. } => clients,
                    LoadDemand::Open { .. } => 0,
                };
                plan.closed_queue(start, own(clients)).map_or(Self::Over, Self::Closed)
            }
        }
    }
}

/// The next transaction, due or not.
#[derive(Clone, Copy)]
pub(super) struct ClaimedTicket {
    pub(super) ticket: Ticket,
    pub(super) ready: MonoNanos,
    pub(super) think: Option<(OperationId, Nanos)>,
}

impl<R: Reactor> Shard<'_, R> {
    /// Whether nobody waits for a transaction that would begin now.
    pub(super) fn is_too_late(&self, claimed: &ClaimedTicket, present: MonoNanos) -> bool {
        self.plan.measure.is_some() && present >= self.end + self.plan.late_start
            || claimed.ticket.due < self.stop.instant() && self.stop.has_come(present)
    }

    /// Claims the next transaction; `None` when there is none to wait for yet.
    #[inline]
    pub(super) fn claim(&mut self, freed: MonoNanos, present: MonoNanos) -> Option<ClaimedTicket> {
        loop {
            if self.stop.has_come(present) {
                return self.give_up(present);
            }
            let claim = match &mut self.queue {
                ShardQueue::Open(queue) => queue.claim(freed),
                ShardQueue::Closed(queue) => queue.claim(present, false),
                ShardQueue::Over => return None,
            };
            match claim {
                ClaimResult::Run { ticket, ready, think } => {
                    return Some(ClaimedTicket { ticket, ready, think });
                }
                ClaimResult::Dropped(ticket) => {
                    let dropped = self.thread_recorder.dropped(&ticket, present);
                    // Whoever was free for it hears that it came too late.
                    if let Some((id, _)) = self.idle.first() {
                        self.connections[id as usize].session.ended(&dropped);
                    }
                }
                ClaimResult::Wait(until) => {
                    self.next_ready_at = until;
                    return None;
                }
                ClaimResult::Over => self.queue = ShardQueue::Over,
            }
        }
    }

    /// The run was ended from outside: counts what was due before that and claims no more.
    #[cold]
    fn give_up(&mut self, present: MonoNanos) -> Option<ClaimedTicket> {
        let stopped = self.stop.instant().min(self.end);
        let thread_recorder = &mut self.thread_recorder;
        let mut unfinished =
            |ticket| thread_recorder.not_sent(&ticket, Outcome::Unfinished, present);
        match std::mem::replace(&mut self.queue, ShardQueue::Over) {
            ShardQueue::Open(queue) => {
                queue.take_while(|ticket| ticket.due < stopped).for_each(&mut unfinished);
            }
            // A client with a connection of its own asks when it sends.
            ShardQueue::Closed(mut queue) if self.plan.is_pooled() => {
                queue.waiting(stopped).for_each(&mut unfinished);
            }
            ShardQueue::Closed(_) | ShardQueue::Over => {}
        }
        None
    }
}
