//! What traced statements come to in all: counts, parts and distributions, added up where they end.

use crate::traced::QueryCache;
use crate::traced_files::{FileWait, add_files, files_since};
use crate::units::count_sum;
use crate::{LogHistogram, Nanos, Part, Parts, ServerQueueParts, SparseCounts};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// Buckets of the coarse distribution.
pub const COARSE_BUCKETS: u32 = 40;

/// What the statements of one kind come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTotals {
    /// How many have ended.
    pub count: u64,
    /// Their responses together.
    #[serde(rename = "response_us")]
    pub response: Nanos,
    /// Those that were answered with an error.
    pub errors: u64,
    /// The longest response.
    #[serde(rename = "longest_us")]
    pub longest: Nanos,
    /// How often something was executed, of PostgreSQL's clients; 0 elsewhere.
    #[serde(default)]
    pub executes: u64,
    /// Of how many it is known how long they lay in the socket.
    #[serde(default)]
    pub queued: u64,
    /// How long these did, together, before their responses.
    #[serde(default, rename = "server_queue_us")]
    pub server_queue: Nanos,
    /// What of that their threads could not run.
    #[serde(default, rename = "server_queue_parts_us")]
    pub queue_parts: ServerQueueParts,
    /// Where their responses went.
    pub parts: Parts,
    /// The files that they waited for, in no order. Of statements that share a text but not how
    /// they fared, one has them all.
    #[serde(default)]
    pub files: Vec<FileWait>,
    /// Responses.
    #[serde(rename = "fine")]
    pub responses: LogHistogram,
    /// Responses by powers of two microseconds: below 2 µs, below 4 µs, …; or by equal steps. The
    /// last holds all that is longer.
    pub coarse: SparseCounts,
}

impl TraceTotals {
    /// Whether there are some, of whose responses no part was measured.
    pub fn lack_parts(&self) -> bool {
        self.count > 0 && self.parts.are_unknown()
    }

    /// Adds what others came to.
    pub fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.response += other.response;
        self.errors = self.errors.saturating_add(other.errors);
        self.longest = self.longest.max(other.longest);
        self.executes = self.executes.saturating_add(other.executes);
        self.queued = self.queued.saturating_add(other.queued);
        self.server_queue += other.server_queue;
        self.queue_parts += other.queue_parts;
        self.parts.add_all(&other.parts);
        add_files(&mut self.files, &other.files);
        self.responses.merge(&other.responses);
        self.coarse.add(&other.coarse);
    }

    /// What has come since they were `before`. The longest of that is not kept: it is the upper end
    /// of the highest bucket with something new in it, at most 12.5 % above.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        let responses = self.responses.since(&before.responses);
        Self {
            count: self.count.saturating_sub(before.count),
            response: self.response - before.response,
            errors: self.errors.saturating_sub(before.errors),
            longest: responses.max().min(self.longest),
            executes: self.executes.saturating_sub(before.executes),
            queued: self.queued.saturating_sub(before.queued),
            server_queue: self.server_queue - before.server_queue,
            queue_parts: self.queue_parts - before.queue_parts,
            parts: self.parts.since(&before.parts),
            files: files_since(&self.files, &before.files),
            responses,
            coarse: self.coarse.since(&before.coarse),
        }
    }

    /// The mean response; `None` where there is none.
    pub fn mean(&self) -> Option<Nanos> {
        self.response.0.checked_div(self.count).map(Nanos)
    }

    /// The longest response; `None` where there is none.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.longest)
    }

    /// The response that a share of all stay at or below: the upper end of its bucket, at most
    /// 12.5 % above, and never above the longest. `None` where there is none.
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let is_known = self.responses.count() > 0;
        is_known.then(|| self.responses.quantile(share).min(self.longest))
    }
}

/// Who had the CPU while statements could have run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preemption {
    /// The thread's name; `None`: of these waits no name is known, or the table had no room.
    pub name: Option<String>,
    /// How often; 0 where that is not counted.
    pub count: u64,
    /// For how long in all.
    #[serde(rename = "length_us")]
    pub length: Nanos,
}

/// What a row of statements is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StatementName {
    /// By the text of the first of them; one of the others differs in literals.
    Text(Arc<str>),
    /// Prepared before they could be seen.
    PreparedBefore,
    /// Several in one request of PostgreSQL's, in recordings from before they were told apart.
    Several,
    /// All that have no row of their own.
    Other,
}

/// Which row of the tables it is, while servers are watched: in a row of its own a statement is
/// another one each time that it has got one. The default is the row of all that have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RowNumber {
    /// The kernel's number of the statement.
    pub statement: u64,
    /// How often rows had been replaced when it got this one.
    pub since: u64,
}

/// What it means that there were more statements than rows: the lightest, by the time that they
/// took, were replaced by others, and what they came to went to those that have no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedStatements {
    /// How many rows were replaced.
    pub rows: u64,
    /// No statement without a row was called more often, and no row lacks more calls that came
    /// before it was there.
    pub most_calls: u64,
    /// The same of responses, together.
    #[serde(rename = "most_us")]
    pub most_time: Nanos,
}

/// What statements come to that have the same text but for literals, and fared alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementTotals {
    /// Which they are.
    pub name: StatementName,
    /// Whether they had to wait for a CPU that another one took.
    pub was_preempted: bool,
    /// What became of them in the query cache.
    pub cache: QueryCache,
    /// Which row that is; recordings do not know.
    #[serde(skip)]
    pub row: RowNumber,
    /// What they come to.
    pub totals: TraceTotals,
}

impl StatementTotals {
    /// A row of which nothing is known yet.
    pub fn nothing_of(name: StatementName) -> Self {
        let (row, totals) = (RowNumber::default(), TraceTotals::default());
        Self { name, was_preempted: false, cache: QueryCache::NotAsked, row, totals }
    }
}

/// Waits of a statement for a lock, of a millisecond or more each, by who let it go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWaitTotals {
    /// The statement that waited.
    pub statement: StatementName,
    /// What the server calls the lock, where it does.
    pub lock: Option<Cow<'static, str>>,
    /// Who let it go; `None`: nobody did, or nobody of whom anything is known.
    pub holder: Option<TracedLockHolder>,
    /// How often.
    pub count: u64,
    /// For how long in all.
    #[serde(rename = "length_us")]
    pub length: Nanos,
    /// The longest.
    #[serde(rename = "longest_us")]
    pub longest: Nanos,
}

/// Who let a lock go.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TracedLockHolder {
    /// The connection, by dbtime's number.
    pub connection: u64,
    /// What the server calls it, where that is known.
    pub server_id: Option<u64>,
    /// Whether its client had gone by then.
    pub has_left: bool,
    /// The statement that let it go.
    pub statement: StatementName,
}

/// Everything that was traced, in sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedTotals {
    /// In no order; a text may be there several times.
    pub statements: Vec<StatementTotals>,
    /// Who pre-empted them, longest first.
    pub preemptors: Vec<Preemption>,
    /// Whose locks they waited for, longest first.
    #[serde(default)]
    pub lock_waits: Vec<LockWaitTotals>,
    /// What replacing rows may have cost; `None`: no row was.
    #[serde(default)]
    pub replaced: Option<ReplacedStatements>,
}

impl TracedTotals {
    /// Statements of some kind, together.
    pub fn of(&self, is_one: impl Fn(&StatementTotals) -> bool) -> TraceTotals {
        let mut sum = TraceTotals::default();
        self.statements.iter().filter(|row| is_one(row)).for_each(|row| sum.add(&row.totals));
        sum
    }

    /// All statements.
    pub fn all(&self) -> TraceTotals {
        self.of(|_| true)
    }

    /// Who pre-empted them, longest first, and as the last what is left of `runq_preempted`: idle
    /// CPUs, and those whose names are not known. All rows are that part, where it was measured;
    /// requests that are under way or were aborted may already have added to those with names.
    pub fn preemptions(&self) -> Vec<Preemption> {
        let (mut rows, others): (Vec<_>, Vec<_>) =
            self.preemptors.iter().cloned().partition(|row| row.name.is_some());
        let sum = |rows: &[Preemption]| rows.iter().map(|row| row.length).sum::<Nanos>();
        let (count, length) = match self.all().parts.measured_duration(Part::RunqPreempted) {
            // How often it was is not counted.
            Some(whole) => (0, whole - sum(&rows)),
            None => (count_sum(others.iter().map(|row| row.count)), sum(&others)),
        };
        if length > Nanos::ZERO {
            rows.push(Preemption { name: None, count, length });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::tests::bucket;

    fn totals(lengths: &[u64]) -> TraceTotals {
        let mut totals = TraceTotals::default();
        for &length in lengths {
            totals.count += 1;
            totals.response.0 += length;
            totals.longest = totals.longest.max(Nanos(length));
            totals.responses.add(bucket(length), 1);
            totals.coarse.add_to((length / 1000).max(1).ilog2(), 1);
        }
        totals
    }

    #[test]
    fn quantiles_are_within_a_bucket_and_never_above_the_longest() {
        let lengths: Vec<u64> = (1..=1000).map(|n| n * 1000).collect();
        let totals = totals(&lengths);
        for (share, exact) in [(0.5, 500_000), (0.99, 990_000), (0.999, 999_000)] {
            let found = totals.quantile(share).expect("some").0;
            assert!((exact..=exact + exact / 8).contains(&found), "{share} {found}");
        }
        assert_eq!(totals.quantile(1.0), Some(Nanos(1_000_000)));
        assert_eq!(totals.mean(), Some(Nanos(500_500)));
        assert_eq!(TraceTotals::default().quantile(0.5), None);
        assert_eq!(TraceTotals::default().mean(), None);
        assert_eq!((totals.max(), TraceTotals::default().max()), (Some(Nanos(1_000_000)), None));
    }

    #[test]
    fn what_has_come_since_is_what_was_added() {
        let before = totals(&[1000, 2000, 9_000_000]);
        let added = totals(&[3000, 4000]);
        let mut after = before.clone();
        after.add(&added);
        let since = after.since(&before);
        assert!(since.longest >= added.longest && since.longest.0 <= 4500, "{:?}", since.longest);
        assert_eq!(TraceTotals { longest: added.longest, ..since }, added);
        assert_eq!(after.since(&after).longest, Nanos::ZERO);
        assert_eq!(after.since(&TraceTotals::default()), after);
    }

    #[test]
    fn who_had_the_cpu_and_what_has_no_name_are_the_part() {
        let row = |name: Option<&str>, length| Preemption {
            name: name.map(str::to_owned),
            count: 2,
            length: Nanos(length),
        };
        let lost = |ns| {
            let parts = Parts::of(&[(Part::RunqPreempted, ns)]);
            let totals = TraceTotals { parts, ..TraceTotals::default() };
            StatementTotals { totals, ..StatementTotals::nothing_of(StatementName::Other) }
        };
        let preemptors = vec![row(None, 700), row(Some("sh"), 300), row(Some("ls"), 50)];
        let known = [row(Some("sh"), 300), row(Some("ls"), 50)];
        let of = |statements| {
            let totals = TracedTotals {
                statements,
                preemptors: preemptors.clone(),
                ..TracedTotals::default()
            };
            totals.preemptions()
        };
        let rest = Preemption { count: 0, ..row(None, 2_000) };
        assert_eq!(of(vec![lost(2_000), lost(350)]), [&known[..], &[rest]].concat());
        // Some of those with names had it before a request that is under way.
        assert_eq!(of(vec![lost(320)]), known);
        assert_eq!(of(Vec::new()), [&known[..], &[row(None, 700)]].concat());
    }

    #[test]
    fn sums_add_up() {
        let row = |was_preempted, lengths: &[u64]| StatementTotals {
            was_preempted,
            totals: totals(lengths),
            ..StatementTotals::nothing_of(StatementName::Other)
        };
        let statements = vec![row(false, &[1000, 2000]), row(true, &[4_000_000])];
        let totals = TracedTotals { statements, ..TracedTotals::default() };
        assert_eq!(totals.of(|row| row.was_preempted).count, 1);
        let all = totals.all();
        assert_eq!((all.count, all.longest), (3, Nanos(4_000_000)));
        assert_eq!(all.coarse.iter().map(|(_, count)| count).sum::<u64>(), 3);
        assert_eq!(all.responses.count(), 3);
    }
}
