//! The time budget: a transaction's response as the sum of named parts.
//!
//! Each part is measured on its own; only [`Part::Unexplained`] is a remainder, signed and always
//! shown.
//! A part that was not measured is absent (`null` in the record), never zero.

use crate::units::Nanos;

/// Where a stretch of a transaction's response went. The order is that of a transaction's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Part {
    /// Waiting for a free connection or worker.
    Queue,
    /// The driver was late.
    Lag,
    /// The driver's own time between an answer and the next statement.
    Client,
    /// Think time inside the transaction.
    Think,
    /// Pauses before a retry.
    Backoff,
    /// Request and response on their way.
    Wire,
    /// The request lay in the server's socket unread.
    ServerQueue,
    /// On a CPU in the database.
    Cpu,
    /// Runnable, but something else had the CPU.
    Runq,
    /// Waiting for a lock, naps taken to get one included.
    Lock,
    /// Blocked in reads.
    IoRead,
    /// Blocked in writes.
    IoWrite,
    /// Blocked in fsync or fdatasync.
    Sync,
    /// The server waited on the client in mid-statement.
    Net,
    /// Deliberate sleeps in the server.
    Sleep,
    /// Blocked elsewhere, with the place named.
    Other,
    /// Everything between wire and other as one measured number, where no tracer splits it.
    ServerAndWire,
    /// The signed remainder.
    Unexplained,
}

impl Part {
    /// Every part, in the order of a transaction's life.
    pub const ALL: [Self; PART_COUNT] = [
        Self::Queue,
        Self::Lag,
        Self::Client,
        Self::Think,
        Self::Backoff,
        Self::Wire,
        Self::ServerQueue,
        Self::Cpu,
        Self::Runq,
        Self::Lock,
        Self::IoRead,
        Self::IoWrite,
        Self::Sync,
        Self::Net,
        Self::Sleep,
        Self::Other,
        Self::ServerAndWire,
        Self::Unexplained,
    ];

    /// The name used in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Lag => "lag",
            Self::Client => "client",
            Self::Think => "think",
            Self::Backoff => "backoff",
            Self::Wire => "wire",
            Self::ServerQueue => "server_queue",
            Self::Cpu => "cpu",
            Self::Runq => "runq",
            Self::Lock => "lock",
            Self::IoRead => "io_read",
            Self::IoWrite => "io_write",
            Self::Sync => "sync",
            Self::Net => "net",
            Self::Sleep => "sleep",
            Self::Other => "other",
            Self::ServerAndWire => "server_and_wire",
            Self::Unexplained => "unexplained",
        }
    }

    /// What the part means, in a few words for a report.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Queue => "waiting for a free connection or worker",
            Self::Lag => "the driver was late",
            Self::Client => "the driver between two statements",
            Self::Think => "deliberate think time",
            Self::Backoff => "pauses before retries",
            Self::Wire => "on the way between client and server",
            Self::ServerQueue => "unread in the server's socket",
            Self::Cpu => "on a CPU in the database",
            Self::Runq => "runnable, but the CPU was taken",
            Self::Lock => "waiting for a lock",
            Self::IoRead => "blocked in reads",
            Self::IoWrite => "blocked in writes",
            Self::Sync => "blocked in fsync",
            Self::Net => "the server waiting on the client",
            Self::Sleep => "sleeping in the server",
            Self::Other => "blocked elsewhere",
            Self::ServerAndWire => "server and wire together",
            Self::Unexplained => "not explained by any part",
        }
    }
}

/// How many parts there are.
pub const PART_COUNT: usize = 18;

/// One signed number per part. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub [i64; PART_COUNT]);

impl Parts {
    /// The amount of one part.
    #[inline]
    pub fn get(&self, part: Part) -> i64 {
        self.0[part as usize]
    }

    /// Adds to one part.
    #[inline]
    pub fn add(&mut self, part: Part, ns: i64) {
        self.0[part as usize] += ns;
    }

    /// All in one part.
    #[inline]
    pub fn only(part: Part, ns: i64) -> Self {
        let mut parts = Self::default();
        parts.add(part, ns);
        parts
    }

    /// The part that all is in; `None` where there are several or none.
    #[inline]
    pub fn only_part(&self) -> Option<Part> {
        let first = self.0.iter().position(|&ns| ns != 0)?;
        let is_only = self.0[first + 1..].iter().all(|&ns| ns == 0);
        is_only.then(|| Part::ALL[first])
    }

    /// Adds every part of another set.
    #[inline]
    pub fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The sum of all parts, unexplained included.
    pub fn total(&self) -> i64 {
        self.0.iter().sum()
    }

    /// Sets `unexplained` to whatever `response` has beyond the other parts.
    #[inline]
    pub fn close(&mut self, response: Nanos) {
        self.0[Part::Unexplained as usize] = 0;
        self.0[Part::Unexplained as usize] = response.0.cast_signed() - self.total();
    }
}

/// Which parts a run measures at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSet(u32);

impl PartSet {
    /// The set of the given parts.
    pub const fn of(parts: &[Part]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < parts.len() {
            bits |= 1 << parts[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    /// Whether the part is measured.
    pub fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Sums of the parts over a number of transactions (or statements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// How many transactions were added.
    pub count: u64,
    /// The sum of their responses. Unit: nanoseconds.
    pub response_ns: u64,
    /// The sum of |unexplained| over single transactions. Unit: nanoseconds.
    pub unexplained_abs_ns: u64,
    /// The sums of their parts.
    pub sums: Parts,
}

impl Budget {
    /// Adds one transaction whose parts were closed against its response.
    #[inline]
    pub fn add(&mut self, response: Nanos, parts: &Parts) {
        self.count += 1;
        self.response_ns += response.0;
        self.unexplained_abs_ns += parts.get(Part::Unexplained).unsigned_abs();
        self.sums.add_all(parts);
    }

    /// Adds another budget. Merging is the same as having added its transactions here.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.response_ns += other.response_ns;
        self.unexplained_abs_ns += other.unexplained_abs_ns;
        self.sums.add_all(&other.sums);
    }

    /// Σ |unexplained| / Σ response over single transactions; zero when nothing was added.
    pub fn error(&self) -> f64 {
        if self.response_ns == 0 {
            return 0.0;
        }
        self.unexplained_abs_ns as f64 / self.response_ns as f64
    }

    /// The mean of a part per transaction. Unit: nanoseconds.
    pub fn mean_ns(&self, part: Part) -> f64 {
        self.sums.get(part) as f64 / self.count.max(1) as f64
    }
}

/// How many power-of-two response buckets there are: bucket `b` holds `2^(b-1) <= ns < 2^b`.
pub(crate) const BUCKET_COUNT: usize = 48;

/// Budgets by power-of-two response bucket: a mean cannot explain a p99, these can.
#[derive(Clone, Debug)]
pub struct BudgetCells(Box<[Budget; BUCKET_COUNT]>);

impl Default for BudgetCells {
    fn default() -> Self {
        Self(Box::new([Budget::default(); BUCKET_COUNT]))
    }
}

impl BudgetCells {
    /// The bucket a response falls into; the last one also holds everything above 2^47 ns (39 h).
    #[inline]
    pub fn bucket(response: Nanos) -> usize {
        ((64 - response.0.leading_zeros()) as usize).min(BUCKET_COUNT - 1)
    }

    /// Adds one transaction.
    #[inline]
    pub fn add(&mut self, response: Nanos, parts: &Parts) {
        self.0[Self::bucket(response)].add(response, parts);
    }

    /// Adds another set of cells.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            mine.merge(theirs);
        }
    }

    /// The cells that hold anything, with the exclusive upper edge of each in nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Nanos, &Budget)> {
        let cells = self.0.iter().enumerate().filter(|(_, cell)| cell.count > 0);
        cells.map(|(bucket, cell)| (Nanos(1 << bucket), cell))
    }

    /// All cells together.
    pub fn total(&self) -> Budget {
        let mut total = Budget::default();
        for cell in self.0.iter() {
            total.merge(cell);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn part_order_matches_the_array() {
        for (index, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, index);
        }
    }

    #[test]
    fn the_only_part_is_the_one_that_is_not_zero() {
        for part in Part::ALL {
            assert_eq!(Parts::only(part, -3).only_part(), Some(part));
        }
        assert_eq!(Parts::default().only_part(), None);
        let mut two = Parts::only(Part::Cpu, 5);
        two.add(Part::Unexplained, 1);
        assert_eq!(two.only_part(), None);
    }

    #[test]
    fn errors_of_opposite_sign_do_not_cancel() {
        let mut budget = Budget::default();
        for cpu in [900, 1100] {
            let mut parts = Parts::default();
            parts.add(Part::Cpu, cpu);
            parts.close(Nanos(1000));
            budget.add(Nanos(1000), &parts);
        }
        assert_eq!(budget.sums.get(Part::Unexplained), 0);
        assert!((budget.error() - 0.1).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn parts_always_add_up(response in 0u64..1 << 50, amounts in prop::collection::vec(-1000i64..1 << 40, PART_COUNT)) {
            let mut parts = Parts::default();
            for (part, ns) in Part::ALL.into_iter().zip(amounts) {
                parts.add(part, ns);
            }
            parts.close(Nanos(response));
            prop_assert_eq!(parts.total(), response.cast_signed());
        }

        #[test]
        fn merged_cells_equal_one_set(a in prop::collection::vec(0u64..1 << 50, 0..50), b in prop::collection::vec(0u64..1 << 50, 0..50)) {
            let fill = |values: &[u64]| {
                let mut cells = BudgetCells::default();
                for &ns in values {
                    let mut parts = Parts::default();
                    parts.close(Nanos(ns));
                    cells.add(Nanos(ns), &parts);
                }
                cells
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            let whole = fill(&[a, b].concat());
            prop_assert_eq!(merged.iter().collect::<Vec<_>>(), whole.iter().collect::<Vec<_>>());
        }
    }
}
