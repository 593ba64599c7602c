//! Statements that a session sends again and again: one for each row of another one's result.

use crate::logs::numbers::text_hash;
use dbtime_model::log_digest::SessionRepeats;
use rustc_hash::FxHashMap;

/// So often in a row is a repeat.
const FEWEST: u64 = 10;

/// A longer pause ends a row: what follows is of another request. Logs may have whole seconds
/// alone. Unit: microseconds.
const PAUSE_US: i64 = 1_000_000;

/// So many sessions are followed; the half that was quiet for longest makes way.
const MAX_SESSIONS: usize = 10_000;

/// So many texts of a row are remembered.
const MAX_TEXTS: usize = 64;

/// No repeats yet.
const NONE: SessionRepeats = SessionRepeats { rows: 0, count: 0, longest: 0, identical: 0 };

/// Follows sessions. A row is one class again and again (`A A A A`), or two that take turns
/// (`A B A B`), which is a row of each.
#[derive(Debug, Default)]
pub(super) struct RepeatFinder {
    sessions: FxHashMap<u64, SessionRow>,
    found: FxHashMap<u32, SessionRepeats>,
    /// How many statements there were.
    now: u64,
}

/// What a session has sent.
#[derive(Debug, Default)]
struct SessionRow {
    /// The class of the last statement, and of the one before.
    classes: [Option<u32>; 2],
    /// The row of the last class alone.
    single: RowLength,
    /// The row of both taking turns: of the last class, and of the one before.
    turns: [RowLength; 2],
    /// The hashes of the texts since nothing was repeated.
    texts: Vec<u64>,
    last_text: Option<u64>,
    /// When the last statement ended. Unit: microseconds; `None`: unknown.
    last_end_us: Option<i64>,
    last_used: u64,
}

/// How long a row is.
#[derive(Clone, Copy, Debug, Default)]
struct RowLength {
    count: u64,
    identical: u64,
}

impl RowLength {
    const ONE: Self = Self { count: 1, identical: 0 };

    fn add(&mut self, is_same: bool) {
        self.count += 1;
        self.identical += u64::from(is_same);
    }
}

impl RepeatFinder {
    /// Adds a statement of a session, which ran from when to when, to what it sent before.
    pub(super) fn add(
        &mut self,
        session: u64,
        interval_us: Option<(i64, i64)>,
        serial: u32,
        text: &[u8],
    ) {
        self.now += 1;
        if self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains_key(&session) {
            self.forget_quiet();
        }
        let row = self.sessions.entry(session).or_default();
        if row.is_over(interval_us) {
            row.end(&mut self.found);
            *row = SessionRow::default();
        }
        row.last_used = self.now;
        row.last_end_us = interval_us.map(|(_, end)| end);
        row.add(serial, text_hash(text), &mut self.found);
    }

    /// Ends all rows.
    pub(super) fn end(&mut self) {
        for row in self.sessions.values() {
            row.end(&mut self.found);
        }
        self.sessions.clear();
    }

    /// The repeats of a class.
    pub(super) fn repeats(&self, serial: u32) -> Option<SessionRepeats> {
        self.found.get(&serial).cloned()
    }

    /// Forgets classes that are no longer counted apart.
    pub(super) fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.found.retain(|serial, _| is_kept(*serial));
    }

    fn forget_quiet(&mut self) {
        let mut used: Vec<u64> = self.sessions.values().map(|row| row.last_used).collect();
        let middle = used.len() / 2;
        let (_, limit, _) = used.select_nth_unstable(middle);
        let limit = *limit;
        let quiet = self.sessions.extract_if(|_, row| row.last_used < limit);
        for (_, row) in quiet {
            row.end(&mut self.found);
        }
    }
}

impl SessionRow {
    /// Whether there is a pause between the last statement and one of this time.
    fn is_over(&self, interval_us: Option<(i64, i64)>) -> bool {
        match (self.last_end_us, interval_us) {
            (Some(last), Some((start, _))) => start.saturating_sub(last) > PAUSE_US,
            _ => false,
        }
    }

    fn add(&mut self, serial: u32, text: u64, found: &mut FxHashMap<u32, SessionRepeats>) {
        let [last, before] = self.classes;
        if last == Some(serial) {
            self.add_same(text, found);
        } else if before == Some(serial) {
            self.single = RowLength::ONE;
            self.turns.swap(0, 1);
            let is_same = self.is_same(text);
            self.turns[0].add(is_same);
            self.classes = [Some(serial), last];
        } else {
            let was_row = self.end(found);
            self.texts.clear();
            self.texts.extend(self.last_text);
            self.is_same(text);
            let before = if was_row { RowLength::default() } else { RowLength::ONE };
            self.single = RowLength::ONE;
            self.turns = [RowLength::ONE, before];
            self.classes = [Some(serial), last];
        }
        self.last_text = Some(text);
    }

    /// Adds one more of the last class.
    fn add_same(&mut self, text: u64, found: &mut FxHashMap<u32, SessionRepeats>) {
        // Two that take turns never come twice, and none belongs to two rows.
        if keep_rows(self.classes, self.turns, found) {
            self.single = RowLength::default();
        }
        self.turns = [RowLength::default(); 2];
        self.classes[1] = None;
        let is_same = self.is_same(text);
        self.single.add(is_same);
    }

    /// Whether the text was there before in the row; else it is remembered.
    fn is_same(&mut self, text: u64) -> bool {
        let is_same = self.texts.contains(&text);
        if !is_same && self.texts.len() < MAX_TEXTS {
            self.texts.push(text);
        }
        is_same
    }

    /// Keeps what was repeated, if anything was.
    fn end(&self, found: &mut FxHashMap<u32, SessionRepeats>) -> bool {
        let single = [self.single, RowLength::default()];
        let is_single = keep_rows(self.classes, single, found);
        is_single || keep_rows(self.classes, self.turns, found)
    }
}

/// Keeps those of the rows that are long enough, and returns whether any is.
fn keep_rows(
    classes: [Option<u32>; 2],
    rows: [RowLength; 2],
    found: &mut FxHashMap<u32, SessionRepeats>,
) -> bool {
    let mut is_any = false;
    for (class, row) in classes.into_iter().zip(rows) {
        let Some(class) = class.filter(|_| row.count >= FEWEST) else { continue };
        let repeats = found.entry(class).or_insert(NONE);
        repeats.rows += 1;
        repeats.count += row.count;
        repeats.longest = repeats.longest.max(row.count);
        repeats.identical += row.identical;
        is_any = true;
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The repeats of classes `A`, `B` and `C` in a session that sends these, each with its place
    /// as its text.
    fn repeats(sent: &str) -> [Option<SessionRepeats>; 3] {
        let mut finder = RepeatFinder::default();
        for (at, class) in sent.bytes().enumerate() {
            finder.add(1, None, u32::from(class), at.to_string().as_bytes());
        }
        finder.end();
        [b'A', b'B', b'C'].map(|class| finder.repeats(u32::from(class)))
    }

    fn rows(rows: u64, count: u64, longest: u64) -> Option<SessionRepeats> {
        Some(SessionRepeats { rows, count, longest, identical: 0 })
    }

    #[test]
    fn one_for_each_row_of_another_is_found() {
        let sent = format!("A{}A{}", "B".repeat(12), "B".repeat(30));
        assert_eq!(repeats(&sent), [None, rows(2, 42, 30), None]);
        assert_eq!(repeats(&"A".repeat(9)), [None, None, None]);
    }

    #[test]
    fn two_that_take_turns_are_two_rows() {
        assert_eq!(repeats(&"AB".repeat(10)), [rows(1, 10, 10), rows(1, 10, 10), None]);
        assert_eq!(repeats(&"ABC".repeat(20)), [None, None, None]);
        let then_one = format!("{}{}", "AB".repeat(10), "B".repeat(10));
        assert_eq!(repeats(&then_one), [rows(1, 10, 10), rows(2, 20, 10), None]);
    }

    #[test]
    fn the_same_text_again_is_identical() {
        let mut finder = RepeatFinder::default();
        for at in 0..20u32 {
            finder.add(1, None, 5, if at % 2 == 0 { b"same" } else { b"also" });
        }
        finder.end();
        assert_eq!(finder.repeats(5).map(|row| (row.count, row.identical)), Some((20, 18)));
    }

    #[test]
    fn a_pause_ends_a_row() {
        let rows_each = |pause_us: i64| {
            let mut finder = RepeatFinder::default();
            for at in 0..40i64 {
                let start = at * 100 + at / 20 * pause_us;
                finder.add(1, Some((start, start + 100)), 5, at.to_string().as_bytes());
            }
            finder.end();
            finder.repeats(5).map(|row| (row.rows, row.longest))
        };
        assert_eq!(rows_each(PAUSE_US), Some((1, 40)));
        assert_eq!(rows_each(PAUSE_US + 1), Some((2, 20)));
        let mut finder = RepeatFinder::default();
        for at in 0..40i64 {
            finder.add(1, Some((at * 2 * PAUSE_US, at * 2 * PAUSE_US)), 5, b"x");
        }
        finder.end();
        assert_eq!(finder.repeats(5), None);
    }

    #[test]
    fn sessions_are_apart_and_bounded() {
        let mut finder = RepeatFinder::default();
        for at in 0..12u64 {
            finder.add(1, None, 5, b"x");
            finder.add(2, None, 6 + (at % 3) as u32, b"x");
        }
        for session in 10..20_000 {
            finder.add(session, None, 9, b"x");
            assert!(finder.sessions.len() <= MAX_SESSIONS);
        }
        finder.end();
        assert_eq!(finder.repeats(5).map(|row| row.longest), Some(12));
        assert_eq!((finder.repeats(6), finder.repeats(9)), (None, None));
    }
}
