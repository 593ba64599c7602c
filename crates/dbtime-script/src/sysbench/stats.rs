//! What clients count while they run, and what a reporter reads meanwhile.
//!
//! ```text
//!   client 0 ─► [counters]─┐                 ┌─ histogram ◄─ shard 0
//!   client 1 ─► [counters]─┼──► Totals ◄─────┤
//!   client 2 ─► [counters]─┘                 └─ histogram ◄─ shard 1
//! ```
//!
//! A counter is written by the one thread that runs its client, without any locked instruction; a
//! reader may see one event in some counters and not yet in others, as with sysbench. Counters
//! only grow: an interval is the difference of two [`Totals`]. Nothing here knows the time.

use super::histogram::{Counts, Histogram};
use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds in a millisecond.
const MILLISECOND: f64 = 1e6;

/// What is counted besides events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Statements that returned rows.
    Read,
    /// Statements that changed rows.
    Write,
    /// All other statements.
    Other,
    /// Errors that were ignored.
    Error,
    /// Connections that were made again.
    Reconnect,
}

/// How many kinds there are.
const COUNTERS: usize = 5;

/// What one client counts: two cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Client {
    events: AtomicU64,
    latency_ns: AtomicU64,
    least_ns: AtomicU64,
    most_ns: AtomicU64,
    /// The period that `least_ns` and `most_ns` belong to.
    period: AtomicU64,
    counters: [AtomicU64; COUNTERS],
}

impl Default for Client {
    fn default() -> Self {
        Self {
            events: AtomicU64::new(0),
            latency_ns: AtomicU64::new(0),
            least_ns: AtomicU64::new(u64::MAX),
            most_ns: AtomicU64::new(0),
            period: AtomicU64::new(0),
            counters: Default::default(),
        }
    }
}

/// All clients' counters and all shards' histograms.
#[derive(Debug)]
pub struct Stats {
    clients: Box<[Client]>,
    shards: Box<[Histogram]>,
    period: AtomicU64,
}

impl Stats {
    /// Counters for `clients` that run on `shards` threads.
    pub fn new(clients: usize, shards: usize) -> Self {
        Self {
            clients: (0..clients).map(|_| Client::default()).collect(),
            shards: (0..shards).map(|_| Histogram::default()).collect(),
            period: AtomicU64::new(0),
        }
    }

    /// Counts an event that took `latency_ns`. Cost: some 20 ns, most of it for the histogram's
    /// logarithm; [`Self::count`] takes 2 ns. Called by the thread that runs this client, which
    /// is the only one of this shard.
    #[inline]
    pub fn event(&self, client: usize, shard: usize, latency_ns: u64) {
        let counters = &self.clients[client];
        add(&counters.events, 1);
        add(&counters.latency_ns, latency_ns);
        let period = self.period.load(Ordering::Relaxed);
        let is_first = counters.period.load(Ordering::Relaxed) != period;
        if is_first || latency_ns < counters.least_ns.load(Ordering::Relaxed) {
            counters.least_ns.store(latency_ns, Ordering::Relaxed);
        }
        if is_first || latency_ns > counters.most_ns.load(Ordering::Relaxed) {
            counters.most_ns.store(latency_ns, Ordering::Relaxed);
        }
        if is_first {
            counters.period.store(period, Ordering::Relaxed);
        }
        self.shards[shard].record(latency_ns as f64 / MILLISECOND);
    }

    /// Adds to a counter of a client. Called by the thread that runs this client.
    #[inline]
    pub fn count(&self, client: usize, counter: Counter, by: u64) {
        add(&self.clients[client].counters[counter as usize], by);
    }

    /// Begins a period: the least and the most latency are those since. The rest is told apart by
    /// [`Totals::since`].
    pub fn begin_period(&self) {
        self.period.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything counted so far.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let period = self.period.load(Ordering::Relaxed);
        self.clients.iter().for_each(|client| totals.add(client, period));
        self.shards.iter().for_each(|shard| totals.latencies.add(&shard.counts()));
        totals
    }
}

#[inline]
fn add(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

/// A client's share, for the fairness block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Its events.
    pub events: u64,
    /// What they took together. Unit: nanoseconds.
    pub latency_ns: u64,
}

/// What all clients had counted at one instant, or in the time between two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Events: transactions, where there is a database.
    pub events: u64,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// All other statements.
    pub other: u64,
    /// Errors that were ignored.
    pub errors: u64,
    /// Connections that were made again.
    pub reconnects: u64,
    /// What all events took together. Unit: nanoseconds.
    pub latency_ns: u64,
    /// The shortest event since the last [`Stats::begin_period`]; zero where there is none.
    /// Unit: nanoseconds.
    pub least_ns: u64,
    /// The longest; as the shortest.
    pub most_ns: u64,
    /// Latencies of all events, in milliseconds.
    pub latencies: Counts,
    /// Each client's share, by number.
    pub shares: Vec<Share>,
}

impl Totals {
    fn add(&mut self, client: &Client, period: u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let share = Share { events: read(&client.events), latency_ns: read(&client.latency_ns) };
        self.shares.push(share);
        self.events += share.events;
        self.latency_ns += share.latency_ns;
        let [reads, writes, other, errors, reconnects] = client.counters.each_ref().map(read);
        self.reads += reads;
        self.writes += writes;
        self.other += other;
        self.errors += errors;
        self.reconnects += reconnects;
        if share.events > 0 && read(&client.period) == period {
            let least = read(&client.least_ns);
            self.least_ns = if self.least_ns == 0 { least } else { self.least_ns.min(least) };
            self.most_ns = self.most_ns.max(read(&client.most_ns));
        }
    }

    /// What was counted since an earlier instant. The least and the most latency stay as they are.
    pub fn since(&self, earlier: &Self) -> Self {
        let nothing = Share::default();
        let before = earlier.shares.iter().chain(std::iter::repeat(&nothing));
        let share = |(now, before): (&Share, &Share)| Share {
            events: now.events - before.events,
            latency_ns: now.latency_ns - before.latency_ns,
        };
        Self {
            events: self.events - earlier.events,
            reads: self.reads - earlier.reads,
            writes: self.writes - earlier.writes,
            other: self.other - earlier.other,
            errors: self.errors - earlier.errors,
            reconnects: self.reconnects - earlier.reconnects,
            latency_ns: self.latency_ns - earlier.latency_ns,
            least_ns: self.least_ns,
            most_ns: self.most_ns,
            latencies: self.latencies.since(&earlier.latencies),
            shares: self.shares.iter().zip(before).map(share).collect(),
        }
    }

    /// Statements of all kinds.
    pub fn queries(&self) -> u64 {
        self.reads + self.writes + self.other
    }

    /// What an event took on average; zero where there is none. Unit: milliseconds.
    pub fn mean_ms(&self) -> f64 {
        if self.events == 0 {
            0.0
        } else {
            self.latency_ns as f64 / MILLISECOND / self.events as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_the_sum_of_all_clients() {
        let stats = Stats::new(2, 1);
        stats.event(0, 0, 3_000_000);
        stats.event(1, 0, 1_000_000);
        stats.event(1, 0, 2_000_000);
        stats.count(0, Counter::Read, 14);
        stats.count(1, Counter::Write, 4);
        stats.count(1, Counter::Other, 2);
        stats.count(0, Counter::Error, 1);
        stats.count(0, Counter::Reconnect, 5);
        let totals = stats.totals();
        assert_eq!((totals.events, totals.queries(), totals.errors), (3, 20, 1));
        assert_eq!((totals.reads, totals.writes, totals.other), (14, 4, 2));
        assert_eq!((totals.least_ns, totals.most_ns, totals.reconnects), (1_000_000, 3_000_000, 5));
        assert_eq!(totals.mean_ms(), 2.0);
        assert_eq!(totals.latencies.total(), 3);
        assert_eq!(totals.shares[1], Share { events: 2, latency_ns: 3_000_000 });
        assert_eq!(Stats::new(0, 0).totals().mean_ms(), 0.0);
    }

    #[test]
    fn an_interval_is_a_difference_and_a_period_has_its_own_extremes() {
        let stats = Stats::new(2, 2);
        stats.event(0, 0, 9_000);
        stats.event(1, 1, 1_000);
        let earlier = stats.totals();
        stats.begin_period();
        assert_eq!((stats.totals().least_ns, stats.totals().most_ns), (0, 0));
        stats.event(0, 0, 5_000);
        let interval = stats.totals().since(&earlier);
        assert_eq!((interval.events, interval.latency_ns), (1, 5_000));
        assert_eq!((interval.least_ns, interval.most_ns), (5_000, 5_000));
        assert_eq!(interval.latencies.total(), 1);
        assert_eq!(interval.shares[1], Share::default());
        assert_eq!(stats.totals().since(&Totals::default()).shares[0].events, 2);
    }

    #[test]
    fn a_reader_on_another_thread_sees_every_event_in_the_end() {
        let stats = Stats::new(1, 1);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..10_000).for_each(|_| stats.event(0, 0, 1_000)));
            while !writer.is_finished() {
                assert!(stats.totals().events <= 10_000);
            }
        });
        assert_eq!((stats.totals().events, stats.totals().latencies.total()), (10_000, 10_000));
    }

    #[test]
    fn clients_do_not_share_a_cache_line() {
        assert_eq!(size_of::<Client>(), 128);
    }
}
