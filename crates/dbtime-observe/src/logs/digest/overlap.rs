//! What ran beside the slowest records of each class.

use super::overlap_table::OverlapTable;
use rustc_hash::FxHashMap;

/// So many records are remembered.
const REMEMBERED: usize = 16_384;

/// So many of them are looked at for a slow one.
const LOOKED_BACK: usize = 256;

/// So many slow ones are remembered, for records that end after them.
const SLOW_ONES: usize = 64;

/// Of so many classes, those that had slow ones first, it is known what ran beside them.
const MAX_TABLES: usize = 20_000;

/// A record by its class and its time. Unit: microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordSpan {
    /// The number of its class.
    pub(super) serial: u32,
    pub(super) start_us: i64,
    pub(super) end_us: i64,
}

impl RecordSpan {
    /// For how long both ran; `None`: they did not. Unit: microseconds.
    pub(super) fn beside_us(&self, other: &Self) -> Option<u64> {
        let start = self.start_us.max(other.start_us);
        let end = self.end_us.min(other.end_us);
        (start < end).then(|| end.abs_diff(start))
    }
}

/// Finds what ran beside slow records. Records come in the order of their ends, so that what ends
/// before a slow one is behind it, and what ends after it is still to come.
#[derive(Debug, Default)]
pub(super) struct OverlapFinder {
    recent: SpanRing<REMEMBERED>,
    slow: SpanRing<SLOW_ONES>,
    /// No slow one that is remembered ended later.
    slow_until_us: Option<i64>,
    tables: FxHashMap<u32, OverlapTable>,
}

impl OverlapFinder {
    /// Adds a record, which may be one of the slowest of its class.
    pub(super) fn add(&mut self, span: RecordSpan, is_slow: bool) {
        if self.slow_until_us.is_some_and(|until| span.start_us < until) {
            for slow in self.slow.newest().filter(|slow| slow.serial != span.serial) {
                if let Some(us) = slow.beside_us(&span) {
                    self.tables.entry(slow.serial).or_default().add(span.serial, us);
                }
            }
        }
        if is_slow && self.has_room(span.serial) {
            let table = self.tables.entry(span.serial).or_default();
            let before = self.recent.newest().take(LOOKED_BACK);
            for other in before.filter(|other| other.serial != span.serial) {
                if let Some(us) = span.beside_us(other) {
                    table.add(other.serial, us);
                }
            }
            self.slow.push(span);
            self.slow_until_us = self.slow_until_us.max(Some(span.end_us));
        }
        self.recent.push(span);
    }

    fn has_room(&self, serial: u32) -> bool {
        self.tables.len() < MAX_TABLES || self.tables.contains_key(&serial)
    }

    /// What ran beside a class.
    pub(super) fn table(&self, serial: u32) -> Option<&OverlapTable> {
        self.tables.get(&serial)
    }

    /// Forgets classes that are no longer counted apart.
    pub(super) fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.tables.retain(|serial, _| is_kept(*serial));
    }
}

/// The last spans.
#[derive(Debug)]
struct SpanRing<const SIZE: usize> {
    spans: Vec<RecordSpan>,
    /// Where the next one goes.
    next: usize,
}

impl<const SIZE: usize> Default for SpanRing<SIZE> {
    fn default() -> Self {
        Self { spans: Vec::new(), next: 0 }
    }
}

impl<const SIZE: usize> SpanRing<SIZE> {
    fn push(&mut self, span: RecordSpan) {
        if self.spans.len() < SIZE {
            self.spans.push(span);
        } else {
            self.spans[self.next] = span;
        }
        self.next = (self.next + 1) % SIZE;
    }

    /// The spans, newest first.
    fn newest(&self) -> impl Iterator<Item = &RecordSpan> {
        let (behind, before) = self.spans.split_at(self.next.min(self.spans.len()));
        behind.iter().rev().chain(before.iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn span(serial: u32, start_us: i64, end_us: i64) -> RecordSpan {
        RecordSpan { serial, start_us, end_us }
    }

    fn beside(finder: &OverlapFinder, serial: u32) -> Vec<(u32, u64, u64)> {
        let table = finder.table(serial).map(OverlapTable::most).unwrap_or_default();
        table.iter().map(|slot| (slot.serial, slot.count, slot.time_us)).collect()
    }

    #[test]
    fn what_ends_before_and_after_a_slow_record_is_found() {
        //   class 1   ····├──────────┤·········
        //   class 2   ├──────┤··················
        //   class 3   ··········├───────────┤···
        let mut finder = OverlapFinder::default();
        finder.add(span(2, 0, 70), false);
        finder.add(span(1, 40, 150), true);
        finder.add(span(3, 100, 220), false);
        finder.add(span(4, 150, 230), false);
        assert_eq!(beside(&finder, 1), [(3, 1, 50), (2, 1, 30)]);
        assert!(beside(&finder, 2).is_empty());
    }

    #[test]
    fn the_same_class_is_not_beside_itself() {
        let mut finder = OverlapFinder::default();
        finder.add(span(1, 0, 70), false);
        finder.add(span(1, 0, 80), true);
        finder.add(span(1, 0, 90), false);
        assert!(beside(&finder, 1).is_empty());
    }

    #[test]
    fn rings_keep_the_last_ones() {
        let mut ring = SpanRing::<4>::default();
        (0..10).for_each(|serial| ring.push(span(serial, 0, 1)));
        let serials: Vec<u32> = ring.newest().map(|span| span.serial).collect();
        assert_eq!(serials, [9, 8, 7, 6]);
    }

    #[test]
    fn classes_that_were_merged_are_forgotten() {
        let mut finder = OverlapFinder::default();
        finder.add(span(2, 0, 70), false);
        finder.add(span(1, 40, 150), true);
        finder.retain(|serial| serial != 1);
        assert!(finder.table(1).is_none());
    }
}
