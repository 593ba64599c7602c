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
//! only grow: an interval is the difference of two [`StatsTotals`]. Nothing here knows the time.

use super::histogram::{BucketCounts, SysbenchHistogram};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Nanoseconds in a millisecond.
const MILLISECOND: f64 = 1e6;

/// What is counted besides events, numbered as scripts number it (`SB_CNT_OTHER` is 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SysbenchCounter {
    /// Statements that returned no rows and changed none.
    Other = 0,
    /// Statements that returned a result set.
    Read = 1,
    /// Statements that changed rows.
    Write = 2,
    /// Transactions that the script itself counted.
    Transaction = 3,
    /// Errors that were ignored.
    Error = 4,
    /// Connections that were made again.
    Reconnect = 5,
    /// Bytes that the script itself counted as read.
    BytesRead = 6,
    /// Bytes that the script itself counted as written.
    BytesWritten = 7,
}

impl SysbenchCounter {
    /// Every counter, by its number.
    pub(crate) const ALL: [Self; COUNTERS] = [
        Self::Other,
        Self::Read,
        Self::Write,
        Self::Transaction,
        Self::Error,
        Self::Reconnect,
        Self::BytesRead,
        Self::BytesWritten,
    ];
}

/// How many kinds there are.
const COUNTERS: usize = 8;

/// What one client counts: two cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct ClientStats {
    begun: AtomicU64,
    events: AtomicU64,
    latency_ns: AtomicU64,
    least_ns: AtomicU64,
    most_ns: AtomicU64,
    /// The period that `least_ns` and `most_ns` belong to.
    period: AtomicU64,
    counters: [AtomicU64; COUNTERS],
}

impl Default for ClientStats {
    fn default() -> Self {
        Self {
            begun: AtomicU64::new(0),
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
pub struct SysbenchStats {
    clients: Box<[ClientStats]>,
    /// One of each thread.
    histograms: Mutex<Vec<Arc<SysbenchHistogram>>>,
    period: AtomicU64,
}

impl SysbenchStats {
    /// Counters for so many clients.
    pub(crate) fn new(clients: usize) -> Self {
        Self {
            clients: (0..clients).map(|_| ClientStats::default()).collect(),
            histograms: Mutex::default(),
            period: AtomicU64::new(0),
        }
    }

    /// A histogram for a thread, which alone records in it.
    pub(crate) fn histogram(&self) -> Arc<SysbenchHistogram> {
        let histogram = Arc::new(SysbenchHistogram::default());
        self.histograms().push(Arc::clone(&histogram));
        histogram
    }

    fn histograms(&self) -> MutexGuard<'_, Vec<Arc<SysbenchHistogram>>> {
        self.histograms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an event that has begun. Called by the thread that runs this client.
    #[inline]
    pub(crate) fn begun(&self, client: usize) {
        if let Some(client) = self.clients.get(client) {
            add(&client.begun, 1);
        }
    }

    /// Counts an event that took `latency_ns`, in the histogram of the thread that runs this
    /// client and calls this. Cost: some 5 ns.
    #[inline]
    pub(crate) fn event(&self, client: usize, histogram: &SysbenchHistogram, latency_ns: u64) {
        let Some(counters) = self.clients.get(client) else { return };
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
        histogram.record(latency_ns as f64 / MILLISECOND);
    }

    /// Adds to a counter of a client. Called by the thread that runs this client. What report hooks
    /// count, which are no client, is left out.
    #[inline]
    pub(crate) fn count(&self, client: usize, counter: SysbenchCounter, by: u64) {
        if let Some(client) = self.clients.get(client) {
            add(&client.counters[counter as usize], by);
        }
    }

    /// Begins a period: the least and the most latency are those since. The rest is told apart by
    /// [`StatsTotals::since`].
    pub fn begin_period(&self) {
        self.period.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything counted so far.
    pub fn totals(&self) -> StatsTotals {
        let mut totals = StatsTotals::default();
        let period = self.period.load(Ordering::Relaxed);
        self.clients.iter().for_each(|client| totals.add(client, period));
        self.histograms().iter().for_each(|one| totals.latencies.add(&one.counts()));
        totals
    }
}

#[inline]
fn add(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

/// A client's share, for the fairness block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientShare {
    /// Its events.
    pub events: u64,
    /// What they took together. Unit: nanoseconds.
    pub latency_ns: u64,
}

/// What all clients had counted at one instant, or in the time between two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatsTotals {
    /// Events that have begun.
    pub begun: u64,
    /// Events that have ended: transactions, where there is a database.
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
    /// The shortest event since the last [`SysbenchStats::begin_period`]; zero where there is none.
    /// Unit: nanoseconds.
    pub least_ns: u64,
    /// The longest; as the shortest.
    pub most_ns: u64,
    /// Latencies of all events, in milliseconds.
    pub latencies: BucketCounts,
    /// Each client's share, by number.
    pub shares: Vec<ClientShare>,
}

impl StatsTotals {
    fn add(&mut self, client: &ClientStats, period: u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let share =
            ClientShare { events: read(&client.events), latency_ns: read(&client.latency_ns) };
        self.shares.push(share);
        self.events += share.events;
        self.latency_ns += share.latency_ns;
        self.begun += read(&client.begun);
        let counted = |counter| read(&client.counters[counter as usize]);
        self.reads += counted(SysbenchCounter::Read);
        self.writes += counted(SysbenchCounter::Write);
        self.other += counted(SysbenchCounter::Other);
        self.errors += counted(SysbenchCounter::Error);
        self.reconnects += counted(SysbenchCounter::Reconnect);
        if share.events > 0 && read(&client.period) == period {
            let least = read(&client.least_ns);
            self.least_ns = if self.least_ns == 0 { least } else { self.least_ns.min(least) };
            self.most_ns = self.most_ns.max(read(&client.most_ns));
        }
    }

    /// What was counted since an earlier instant. The least and the most latency stay as they are.
    pub fn since(&self, earlier: &Self) -> Self {
        let nothing = ClientShare::default();
        let before = earlier.shares.iter().chain(std::iter::repeat(&nothing));
        let share = |(now, before): (&ClientShare, &ClientShare)| ClientShare {
            events: now.events - before.events,
            latency_ns: now.latency_ns - before.latency_ns,
        };
        Self {
            begun: self.begun - earlier.begun,
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

    /// What a counter has come to; nothing for those that no report shows.
    #[cfg(test)]
    pub(crate) fn get(&self, counter: SysbenchCounter) -> u64 {
        match counter {
            SysbenchCounter::Read => self.reads,
            SysbenchCounter::Write => self.writes,
            SysbenchCounter::Other => self.other,
            SysbenchCounter::Error => self.errors,
            SysbenchCounter::Reconnect => self.reconnects,
            SysbenchCounter::Transaction
            | SysbenchCounter::BytesRead
            | SysbenchCounter::BytesWritten => 0,
        }
    }

    /// Statements of all kinds.
    pub(crate) fn queries(&self) -> u64 {
        self.reads + self.writes + self.other
    }

    /// What an event took on average; zero where there is none. Unit: milliseconds.
    pub(crate) fn mean_ms(&self) -> f64 {
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
        let stats = SysbenchStats::new(2);
        let (one, two) = (stats.histogram(), stats.histogram());
        stats.event(0, &one, 3_000_000);
        stats.event(1, &two, 1_000_000);
        stats.event(1, &two, 2_000_000);
        stats.count(0, SysbenchCounter::Read, 14);
        stats.count(1, SysbenchCounter::Write, 4);
        stats.count(1, SysbenchCounter::Other, 2);
        stats.count(0, SysbenchCounter::Error, 1);
        stats.count(0, SysbenchCounter::Reconnect, 5);
        let totals = stats.totals();
        assert_eq!((totals.events, totals.queries(), totals.errors), (3, 20, 1));
        assert_eq!((totals.reads, totals.writes, totals.other), (14, 4, 2));
        assert_eq!((totals.least_ns, totals.most_ns, totals.reconnects), (1_000_000, 3_000_000, 5));
        assert_eq!(totals.mean_ms(), 2.0);
        assert_eq!(totals.latencies.total(), 3);
        assert_eq!(totals.shares[1], ClientShare { events: 2, latency_ns: 3_000_000 });
        assert_eq!(SysbenchStats::new(0).totals().mean_ms(), 0.0);
    }

    #[test]
    fn an_interval_is_a_difference_and_a_period_has_its_own_extremes() {
        let stats = SysbenchStats::new(2);
        let (one, two) = (stats.histogram(), stats.histogram());
        stats.event(0, &one, 9_000);
        stats.event(1, &two, 1_000);
        let earlier = stats.totals();
        stats.begin_period();
        assert_eq!((stats.totals().least_ns, stats.totals().most_ns), (0, 0));
        stats.event(0, &one, 5_000);
        let interval = stats.totals().since(&earlier);
        assert_eq!((interval.events, interval.latency_ns), (1, 5_000));
        assert_eq!((interval.least_ns, interval.most_ns), (5_000, 5_000));
        assert_eq!(interval.latencies.total(), 1);
        assert_eq!(interval.shares[1], ClientShare::default());
        assert_eq!(stats.totals().since(&StatsTotals::default()).shares[0].events, 2);
    }

    #[test]
    fn a_reader_on_another_thread_sees_every_event_in_the_end() {
        let stats = SysbenchStats::new(1);
        let histogram = stats.histogram();
        std::thread::scope(|scope| {
            let writer =
                scope.spawn(|| (0..10_000).for_each(|_| stats.event(0, &histogram, 1_000)));
            while !writer.is_finished() {
                assert!(stats.totals().events <= 10_000);
            }
        });
        assert_eq!((stats.totals().events, stats.totals().latencies.total()), (10_000, 10_000));
    }

    #[test]
    fn clients_do_not_share_a_cache_line() {
        assert_eq!(size_of::<ClientStats>(), 128);
    }
}
