//! Deals transactions to whoever is free.
//!
//! Two queues, both pure: [`OpenQueue`] walks a schedule, [`ClosedQueue`] waits for its clients.
//! Whoever is free claims the next transaction ahead of its due instant and sleeps until then, so
//! that no dispatcher stands between the schedule and the database: `ready` is the later of the due
//! instant and the moment the claimant was free, whatever the machine did in between.

use crate::arrivals::{Arrival, STREAMS, Schedule};
use crate::program::Ticket;
use crate::random::{RandomStream, draw};
use crate::think::{ThinkTime, draw_pause};
use crate::workload::Mix;
pub use dbtime_model::spec::Backlog;
use dbtime_model::{MonoNanos, Nanos, OperationId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Whether a transaction that has waited this long is dropped.
fn gives_up(backlog: Backlog, waited: Nanos) -> bool {
    match backlog {
        Backlog::Wait => false,
        Backlog::Drop => waited > Nanos::ZERO,
        Backlog::Deadline(limit) => waited > limit,
    }
}

/// The answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimResult {
    /// Run this one, not before `ticket.due`.
    Run {
        /// The transaction.
        ticket: Ticket,
        /// The later of its due instant and the moment the claimant was free.
        ready: MonoNanos,
        /// The think time before it, and the operation it followed; closed loop only.
        think: Option<(OperationId, Nanos)>,
    },
    /// The backlog policy gave this one up: count it and claim again.
    Dropped(Ticket),
    /// Nobody is ready. Ask again at this instant, or when another client has been served.
    Wait(Option<MonoNanos>),
    /// No further transaction will come.
    Over,
}

/// Transactions of an open loop: due when a schedule says so.
#[derive(Clone, Debug)]
pub struct OpenQueue {
    schedule: Schedule,
    start: MonoNanos,
    backlog: Backlog,
    mix: Mix,
    seed: u64,
    /// Number of the first transaction.
    first: u64,
    /// This walker serves the streams `shard`, `shard + shards`, …
    shard: u64,
    shards: u64,
}

impl OpenQueue {
    /// The queue of one walker out of `shards`.
    pub fn new(
        schedule: Schedule,
        start: MonoNanos,
        backlog: Backlog,
        mix: Mix,
        seed: u64,
    ) -> Self {
        Self { schedule, start, backlog, mix, seed, first: 0, shard: 0, shards: 1 }
    }

    /// The same queue, for the streams of one shard out of so many.
    #[must_use]
    pub fn of_shard(mut self, shard: u64, shards: u64) -> Self {
        (self.shard, self.shards) = (shard, shards);
        self
    }

    /// The same queue, with transactions numbered from `first`.
    #[must_use]
    pub fn numbered_from(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// The next transaction for a claimant that is free since `freed`.
    #[inline]
    pub fn claim(&mut self, freed: MonoNanos) -> ClaimResult {
        let Some(ticket) = self.next() else { return ClaimResult::Over };
        let ready = ticket.due.max(freed);
        if gives_up(self.backlog, ready - ticket.due) {
            return ClaimResult::Dropped(ticket);
        }
        ClaimResult::Run { ticket, ready, think: None }
    }
}

/// What is left in the queue, for the count of the unfinished at the end of a run.
impl Iterator for OpenQueue {
    type Item = Ticket;

    #[inline]
    fn next(&mut self) -> Option<Ticket> {
        loop {
            let Arrival { index, due } = self.schedule.next()?;
            if self.shards == 1 || index % STREAMS % self.shards == self.shard {
                let index = self.first + index;
                let operation = self.mix.pick(self.seed, index);
                return Some(Ticket { index, operation, due: self.start + due, client: 0 });
            }
        }
    }
}

/// What the clients of a closed loop do.
#[derive(Clone, Debug)]
pub struct ClientGroup {
    /// How many there are over all queues of the run.
    pub total: u32,
    /// When they first ask.
    pub start: MonoNanos,
    /// None asks from this instant on.
    pub end: MonoNanos,
    /// Number of the first transaction.
    pub first: u64,
    /// Transactions in all, over all clients and queues.
    pub transactions: Option<u64>,
    /// Think time after each operation, by [`OperationId`].
    pub think: Vec<Option<ThinkTime>>,
}

/// Transactions of a closed loop: due when a client has thought.
///
/// Beside what happens it follows what would have happened with a driver that is never late: there
/// workers and clients are free sooner, by a lead that grows with every lateness. How long a client
/// waits for a worker is taken from there. By the present instant alone all of it would come to be
/// the driver's, for the workers of that other driver would have been free long before.
///
/// Clients take turns by the present instants, which is not always their order there. Each is given
/// the worker that would be free last of those free by then: so none waits for another where there
/// are as many workers as clients.
#[derive(Clone, Debug)]
pub struct ClosedQueue {
    clients: ClientGroup,
    mix: Mix,
    seed: u64,
    /// When each free worker would have been free, soonest first. One that has served nobody yet is
    /// not among them.
    freed: Vec<MonoNanos>,
    /// Clients that are thinking or waiting, soonest first.
    ready_clients: BinaryHeap<Reverse<ReadyClient>>,
    /// The leads of the clients being served, by their numbers.
    served: FxHashMap<u32, Nanos>,
}

/// One client that will ask, or has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReadyClient {
    at: MonoNanos,
    client: u32,
    round: u64,
    think: Option<(OperationId, Nanos)>,
    /// So much sooner it would have asked a driver that is never late.
    lead: Nanos,
}

impl ClosedQueue {
    /// The queue of the clients `members` out of `clients.total`.
    pub fn new(
        clients: ClientGroup,
        members: impl IntoIterator<Item = u32>,
        mix: Mix,
        seed: u64,
    ) -> Self {
        let at = clients.start;
        let first =
            |client| Reverse(ReadyClient { at, client, round: 0, think: None, lead: Nanos::ZERO });
        let ready_clients = members.into_iter().map(first).collect();
        let (freed, served) = (Vec::new(), FxHashMap::default());
        Self { clients, mix, seed, freed, ready_clients, served }
    }

    /// The next transaction for a worker that is free. One that is not yet due is given only when
    /// `ahead` is set: fine for a claimant whose clients are all its own, while in a shared pool
    /// another client may come sooner, so there it must [`ClaimResult::Wait`].
    #[inline]
    pub fn claim(&mut self, now: MonoNanos, ahead: bool) -> ClaimResult {
        loop {
            let Some(&Reverse(ready_client)) = self.ready_clients.peek() else {
                return if self.served.is_empty() {
                    ClaimResult::Over
                } else {
                    ClaimResult::Wait(None)
                };
            };
            let number = self.number(&ready_client);
            let over = ready_client.at >= self.clients.end
                || self.clients.transactions.is_some_and(|limit| number >= limit);
            if over {
                self.ready_clients.pop();
                continue;
            }
            if ready_client.at > now && !ahead {
                return ClaimResult::Wait(Some(ready_client.at));
            }
            self.ready_clients.pop();
            let mut ticket = self.ticket(&ready_client, number);
            let ready = self.ready(&ready_client, now);
            if ahead {
                // A client with a server of its own asks when that is free.
                ticket.due = ready;
            }
            return ClaimResult::Run { ticket, ready, think: ready_client.think };
        }
    }

    /// When a worker could serve a client, which is served from now on.
    #[inline]
    fn ready(&mut self, client: &ReadyClient, now: MonoNanos) -> MonoNanos {
        let came = client.at - client.lead;
        let free_by_then = self.freed.partition_point(|freed| *freed <= came);
        let would_begin = match (free_by_then, self.freed.is_empty()) {
            (0, true) => came,
            (0, false) => self.freed.remove(0),
            (last, _) => {
                self.freed.remove(last - 1);
                came
            }
        };
        // Nobody waits beyond the present, whatever that driver would have done.
        let ready = (client.at + (would_begin - came)).min(now.max(client.at));
        self.served.insert(client.client, ready - would_begin);
        ready
    }

    /// The client of `ticket` has been served at `done`, its worker is free since `freed` by
    /// [`Sample::freed`]: it thinks, then asks again.
    ///
    /// [`Sample::freed`]: dbtime_model::Sample::freed
    #[inline]
    pub fn served(&mut self, ticket: &Ticket, done: MonoNanos, freed: MonoNanos) {
        let lead = self.served.remove(&ticket.client).unwrap_or(Nanos::ZERO);
        let freed = freed - lead;
        self.freed.insert(self.freed.partition_point(|other| *other <= freed), freed);
        let think = self.clients.think[ticket.operation.0 as usize].map(|think| {
            let bits = draw(self.seed, RandomStream::Think, ticket.index);
            (ticket.operation, draw_pause(think, bits))
        });
        self.ready_clients.push(Reverse(ReadyClient {
            at: done + think.map_or(Nanos::ZERO, |(_, pause)| pause),
            client: ticket.client,
            round: (ticket.index - self.clients.first) / u64::from(self.clients.total) + 1,
            think,
            lead: done - freed,
        }));
    }

    /// The client of a transaction that has been served asks no more.
    pub fn leave(&mut self, ticket: &Ticket) {
        self.ready_clients.retain(|Reverse(ready_client)| ready_client.client != ticket.client);
    }

    /// A claimed transaction was given up: its client asks no more.
    pub fn given_up(&mut self, ticket: &Ticket) {
        self.served.remove(&ticket.client);
    }

    /// Takes out those who asked before `end` and were not served, for the count of the unfinished
    /// at the end of a run.
    pub fn waiting(&mut self, end: MonoNanos) -> impl Iterator<Item = Ticket> {
        let end = end.min(self.clients.end);
        std::iter::from_fn(move || {
            loop {
                let Reverse(ready_client) = self.ready_clients.pop()?;
                let number = self.number(&ready_client);
                let counts = self.clients.transactions.is_none_or(|limit| number < limit);
                if ready_client.at < end && counts {
                    return Some(self.ticket(&ready_client, number));
                }
            }
        })
    }

    #[inline]
    fn ticket(&self, ready_client: &ReadyClient, number: u64) -> Ticket {
        let index = self.clients.first + number;
        let operation = self.mix.pick(self.seed, index);
        Ticket { index, operation, due: ready_client.at, client: ready_client.client }
    }

    /// Number of a client's transaction: clients take turns, so that a number of transactions is
    /// split evenly and every number belongs to one client whatever the timing.
    #[inline]
    fn number(&self, ready_client: &ReadyClient) -> u64 {
        ready_client.round * u64::from(self.clients.total) + u64::from(ready_client.client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Arrivals, Rate};
    use dbtime_model::{Outcome, Sample};

    fn open(backlog: Backlog) -> OpenQueue {
        let schedule = Schedule::new(Rate::Constant(1000.0), Arrivals::Burst(1), 1, None, Some(4));
        OpenQueue::new(schedule, MonoNanos(0), backlog, Mix::single(), 1)
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn ready_is_the_later_of_due_and_free() {
        let mut queue = open(Backlog::Wait);
        let claims = [0, 5 * MS].map(|freed| match queue.claim(MonoNanos(freed)) {
            ClaimResult::Run { ticket, ready, .. } => (ticket.due.0, ready.0),
            other => panic!("{other:?}"),
        });
        assert_eq!(claims, [(0, 0), (MS, 5 * MS)]);
    }

    #[test]
    fn policies_give_up_what_nobody_was_free_for() {
        // A claimant is free again at 2.5 ms: due 0 and 1 ms have waited 2.5 and 1.5 ms.
        let freed = MonoNanos(5 * MS / 2);
        let outcome = |backlog| {
            let mut queue = open(backlog);
            std::iter::from_fn(|| match queue.claim(freed) {
                ClaimResult::Over => None,
                ClaimResult::Dropped(_) => Some('d'),
                _ => Some('r'),
            })
            .collect::<String>()
        };
        assert_eq!(outcome(Backlog::Wait), "rrrr");
        assert_eq!(outcome(Backlog::Drop), "dddr");
        assert_eq!(outcome(Backlog::Deadline(Nanos::from_millis(1))), "ddrr");
    }

    #[test]
    fn shards_share_one_schedule_without_overlap() {
        let all = |shard, shards| {
            let schedule =
                Schedule::new(Rate::Constant(1e5), Arrivals::Poisson, 9, None, Some(5000));
            OpenQueue::new(schedule, MonoNanos(7), Backlog::Wait, Mix::single(), 9)
                .of_shard(shard, shards)
                .collect::<Vec<_>>()
        };
        let mut dealt: Vec<Ticket> = (0..3).flat_map(|shard| all(shard, 3)).collect();
        dealt.sort_by_key(|ticket| ticket.index);
        assert_eq!(dealt, all(0, 1));
    }

    fn clients(total: u32, transactions: Option<u64>, think: Option<ThinkTime>) -> ClientGroup {
        let (start, end) = (MonoNanos(0), MonoNanos(100 * MS));
        ClientGroup { total, start, end, first: 0, transactions, think: vec![think] }
    }

    #[test]
    fn a_pool_serves_the_client_that_asks_first() {
        let think = Some(ThinkTime::Fixed(Nanos::from_millis(3)));
        let mut queue = ClosedQueue::new(clients(2, None, think), 0..2, Mix::single(), 1);
        let ClaimResult::Run { ticket: a, .. } = queue.claim(MonoNanos(0), false) else {
            panic!("client 0 asks at the start");
        };
        queue.served(&a, MonoNanos(MS), MonoNanos(MS));
        let ClaimResult::Run { ticket: b, ready, .. } = queue.claim(MonoNanos(MS), false) else {
            panic!("client 1 has asked at the start");
        };
        assert_eq!((b.client, b.due, ready), (1, MonoNanos(0), MonoNanos(MS)));
        let wait = queue.claim(MonoNanos(MS), false);
        assert_eq!(wait, ClaimResult::Wait(Some(MonoNanos(4 * MS))));
    }

    #[test]
    fn a_number_of_transactions_is_kept_whatever_the_timing() {
        let mut queue = ClosedQueue::new(clients(3, Some(10), None), 0..3, Mix::single(), 1);
        let mut indexes = Vec::new();
        while let ClaimResult::Run { ticket, .. } = queue.claim(MonoNanos(0), true) {
            indexes.push(ticket.index);
            let done = MonoNanos(ticket.index * 17 % 5);
            queue.served(&ticket, done, done);
        }
        indexes.sort_unstable();
        assert_eq!(indexes, (0..10).collect::<Vec<_>>());
    }

    /// What so many workers measure that serve so many clients, once all have been served: the
    /// driver sends each transaction so late, and the database takes 1 ms.
    fn driven(workers: usize, clients_of: u32, late: impl Fn(u64) -> Nanos) -> Vec<Sample> {
        let group = clients(clients_of, None, None);
        let mut queue = ClosedQueue::new(group, 0..clients_of, Mix::single(), 1);
        let mut free = vec![MonoNanos(0); workers];
        let mut samples = Vec::new();
        let mut busy: Vec<(MonoNanos, Ticket, MonoNanos)> = Vec::new();
        while samples.len() < 60 {
            free.sort();
            while let Some(&now) = free.first() {
                let ClaimResult::Run { ticket, ready, .. } = queue.claim(now, false) else { break };
                let sent = now.max(ready) + late(ticket.index);
                busy.push((sent + Nanos(MS), ticket, ready));
                free.remove(0);
            }
            busy.sort_by_key(|(done, ..)| Reverse(*done));
            let (done, ticket, ready) = busy.pop().expect("a worker is busy");
            let sample = Sample {
                operation: ticket.operation,
                outcome: Outcome::Completed,
                due: ticket.due,
                ready,
                sent: done - Nanos(MS),
                done,
                late: Nanos::ZERO,
                retries: 0,
            };
            queue.served(&ticket, done, sample.freed(Nanos::ZERO));
            free.push(done);
            samples.push(sample);
        }
        samples.split_off(2 * clients_of as usize)
    }

    #[test]
    fn a_late_driver_is_no_queue_and_a_queue_is_no_late_driver() {
        // Two workers and six clients: on time each would wait for 2 ms, and is sent 1 ms late.
        for sample in driven(2, 6, |_| Nanos(MS)) {
            let figures = [sample.response(), sample.queue(), sample.lag()];
            assert_eq!(figures.map(|figure| figure.0 / MS), [6, 2, 3]);
        }
    }

    #[test]
    fn nobody_queues_where_there_are_as_many_workers_as_clients() {
        // Each is late by another time, so that the order on time would be another one.
        for sample in driven(4, 4, |index| Nanos(MS * (index * 7 % 5))) {
            assert_eq!(sample.queue(), Nanos::ZERO, "{sample:?}");
        }
    }
}
