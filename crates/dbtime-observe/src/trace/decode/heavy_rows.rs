//! What statements came to, in as many rows as there is room for: those of the lightest are given
//! to others, and what they had goes to the row of all that have none. Nothing is lost in the sum,
//! and of what a row may lack the most is known.
//!
//! Heavy is what took long in all, as far as it may be known: with what a statement may have lost
//! when it lost a row before. So whatever is heavy keeps its row, or gets one as it comes again.

use super::literals::{LiteralFilter, RawSql};
use super::lost_weights::{LostWeights, StatementWeight};
use crate::kernel_layout::capture::{FileRow, TallyRow};
use crate::kernel_layout::numbers::{SHAPE_NOT_KNOWN, SHAPE_OTHER, SHAPES};
use crate::trace::kernel::fields::file_wait;
use crate::trace::kernel::sum_layout::{self, RowKey};
use dbtime_model::Nanos;
use dbtime_model::traced::QueryCache;
use dbtime_model::traced_totals::{
    ReplacedStatements, RowNumber, StatementName, StatementTotals, TraceTotals,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Rows of statements, and of files that they waited for.
const MAX_ROWS: (usize, usize) = (4096, 4096);

/// Where there is no room, this part of it is made free at a time: one row at a time would be found
/// among all of them, and half of them at a time would be too heavy.
const FREED_SHARE: usize = 8;

/// A statement with a row.
#[derive(Clone, Debug, Default)]
struct HeavyRow {
    /// How often rows had been replaced when it got this one.
    since: u64,
    /// At most what had been lost of it by then.
    lacks: StatementWeight,
    text: Option<RawSql>,
    kinds: Vec<(bool, QueryCache, TraceTotals)>,
    files: BTreeMap<FileRow, TallyRow>,
}

impl HeavyRow {
    fn weight(&self) -> StatementWeight {
        let of =
            |totals: &TraceTotals| StatementWeight { calls: totals.count, time: totals.response };
        self.kinds.iter().fold(StatementWeight::default(), |sum, (.., totals)| sum.plus(of(totals)))
    }

    fn kind(&mut self, was_preempted: bool, cache: QueryCache) -> &mut TraceTotals {
        let known = self.kinds.iter().position(|kind| (kind.0, kind.1) == (was_preempted, cache));
        let at = known.unwrap_or_else(|| {
            self.kinds.push((was_preempted, cache, TraceTotals::default()));
            self.kinds.len() - 1
        });
        &mut self.kinds[at].2
    }

    fn add_file(&mut self, file: FileRow, tally: TallyRow) {
        let sum = self.files.entry(file).or_default();
        sum.count += tally.count;
        sum.length = sum.length.saturating_add(tally.length);
    }

    fn add_all(&mut self, other: Self) {
        for (was_preempted, cache, totals) in other.kinds {
            self.kind(was_preempted, cache).add(&totals);
        }
        other.files.into_iter().for_each(|(file, tally)| self.add_file(file, tally));
    }
}

#[derive(Clone, Debug)]
pub(crate) struct HeavyRows {
    room: (usize, usize),
    rows: HashMap<u64, HeavyRow>,
    lost: LostWeights,
    /// How often there was no room.
    times: u64,
    replaced: u64,
    /// The most that any statement has lost.
    most: StatementWeight,
    /// What the kernel's table had no room for.
    overflow: StatementWeight,
}

impl Default for HeavyRows {
    fn default() -> Self {
        Self::with_room(MAX_ROWS)
    }
}

impl HeavyRows {
    /// So many rows of statements, and of files.
    fn with_room(room: (usize, usize)) -> Self {
        Self {
            room,
            rows: HashMap::new(),
            lost: LostWeights::default(),
            times: 0,
            replaced: 0,
            most: StatementWeight::default(),
            overflow: StatementWeight::default(),
        }
    }

    /// Adds what some statements came to.
    pub(crate) fn add(&mut self, key: RowKey, totals: &TraceTotals) {
        if totals.count == 0 {
            return;
        }
        if key.shape == SHAPE_OTHER {
            let more = StatementWeight { calls: totals.count, time: totals.response };
            self.overflow = self.overflow.plus(more);
        }
        self.row(key.shape).kind(key.was_preempted, key.cache).add(totals);
    }

    fn row(&mut self, shape: u64) -> &mut HeavyRow {
        let (lost, since) = (&self.lost, self.times);
        self.rows.entry(shape).or_insert_with(|| match shape {
            SHAPE_OTHER..SHAPES => HeavyRow::default(),
            _ => HeavyRow { since, lacks: lost.of(shape), ..HeavyRow::default() },
        })
    }

    /// Adds waits of statements for a file. Without a row they are among those of the others.
    pub(super) fn add_file(&mut self, shape: u64, file: FileRow, tally: TallyRow) {
        let shape = if self.rows.contains_key(&shape) { shape } else { SHAPE_OTHER };
        if tally.count > 0 {
            self.row(shape).add_file(file, tally);
        }
    }

    /// Statements of which it is not known what they look like.
    pub(super) fn without_text(&self) -> Vec<u64> {
        let own = self.rows.iter().filter(|(shape, _)| **shape >= SHAPES);
        own.filter(|(_, row)| row.text.is_none()).map(|(shape, _)| *shape).collect()
    }

    /// What a statement looks like that has a row.
    pub(crate) fn text(&self, shape: u64) -> Option<RawSql> {
        self.rows.get(&shape)?.text.clone()
    }

    /// Says what a statement looks like, if it has a row and no text.
    pub(super) fn name_new(&mut self, shape: u64, text: RawSql) {
        if let Some(row) = self.rows.get_mut(&shape) {
            row.text.get_or_insert(text);
        }
    }

    /// Makes room where there are more rows than that.
    pub(super) fn settle(&mut self) {
        let heaviness = |row: &HeavyRow| row.weight().plus(row.lacks).time;
        let own = self.rows.iter().filter(|(shape, _)| **shape >= SHAPES);
        let rows = own.map(|(shape, row)| (heaviness(row), *shape)).collect();
        let leaving = lightest(rows, self.room.0);
        self.times += u64::from(!leaving.is_empty());
        leaving.into_iter().for_each(|shape| self.replace(shape));
        let files = self.rows.iter().flat_map(|(shape, row)| {
            let named = row.files.iter().filter(|(file, _)| sum_layout::is_named(file));
            named.map(|(file, tally)| (Nanos(tally.length), (*shape, *file)))
        });
        let files = files.collect();
        for (shape, file) in lightest(files, self.room.1) {
            self.replace_file(shape, file);
        }
    }

    fn replace(&mut self, shape: u64) {
        let Some(row) = self.rows.remove(&shape) else { return };
        self.most = self.most.or_more(self.lost.add(shape, row.weight()));
        self.replaced += 1;
        self.row(SHAPE_OTHER).add_all(row);
    }

    /// What a file's row has goes to the statement's further files.
    fn replace_file(&mut self, shape: u64, file: FileRow) {
        let Some(row) = self.rows.get_mut(&shape) else { return };
        if let Some(tally) = row.files.remove(&file) {
            row.add_file(sum_layout::further_files(&file), tally);
        }
    }

    /// How many statements there are.
    pub(crate) fn count(&self) -> u64 {
        self.rows.values().map(|row| row.weight().calls).sum()
    }

    /// What they came to, in no order. Of those that share a row the waits for files are with those
    /// that were not pre-empted and not looked for in a cache.
    pub(crate) fn statements(&self, literals: &mut LiteralFilter) -> Vec<StatementTotals> {
        let mut statements = Vec::new();
        for (shape, row) in &self.rows {
            let mut row = row.clone();
            if !row.files.is_empty() {
                let files = row.files.iter().filter_map(|(file, tally)| file_wait(file, *tally));
                row.kind(false, QueryCache::NotAsked).files = files.collect();
            }
            let text = row.text.as_ref().map(|text| literals.fingerprint(text));
            let (name, since) = (name(*shape, text), row.since);
            let number = RowNumber { statement: *shape, since };
            statements.extend(row.kinds.into_iter().map(|(was_preempted, cache, totals)| {
                StatementTotals { name: name.clone(), was_preempted, cache, row: number, totals }
            }));
        }
        statements
    }

    /// What replacing rows may have cost; `None` where none was.
    pub(crate) fn replaced(&self) -> Option<ReplacedStatements> {
        let most = self.most.plus(self.overflow);
        let replaced = ReplacedStatements {
            rows: self.replaced,
            most_calls: most.calls,
            most_time: most.time,
        };
        (replaced != ReplacedStatements::default()).then_some(replaced)
    }
}

/// Those that go where there are more than there is room for.
fn lightest<T: Ord>(mut rows: Vec<(Nanos, T)>, room: usize) -> Vec<T> {
    if rows.len() <= room {
        return Vec::new();
    }
    let leaving = rows.len() - (room - room / FREED_SHARE);
    rows.select_nth_unstable(leaving - 1);
    rows.truncate(leaving);
    rows.into_iter().map(|(_, which)| which).collect()
}

fn name(shape: u64, text: Option<Arc<str>>) -> StatementName {
    match (shape, text) {
        (SHAPE_NOT_KNOWN, _) => StatementName::PreparedBefore,
        (_, Some(text)) => StatementName::Text(text),
        _ => StatementName::Other,
    }
}

#[cfg(test)]
mod tests;
