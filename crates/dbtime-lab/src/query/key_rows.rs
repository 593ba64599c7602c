//! The rows that both forms return for one key, and how they relate.
//!
//! ```text
//!   digests of both ── the same ─────────────────────────────► identical
//!        │  the same rows ── A has no order ─────────────────► other order
//!        │        └── the same but for ties of A's order ────► equal up to ties, or order differs
//!        ├─ floating-point numbers: digests of 12 digits ────► equal up to rounding
//!        └─ rows are counted, and those that are too many kept ► duplicates differ, different
//! ```
//!
//! Each line but the first executes both forms again; none keeps a result.

use super::key_finding::{
    CHANGED_ALONE, KeyFinding, READ_ALIKE, TIED, UNKNOWN_ORDER, UNKNOWN_TIES, reads_alike,
    renamed_column, shown_column, shown_value,
};
use super::row_difference::{ExcessRows, RowCounts};
use super::row_digest::RowDigest;
use super::row_ties::TieDigest;
use super::session::{QuerySession, SessionForm};
use dbtime_engines::server::{RowVisitor, StatementAnswer};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::query::{RowsDifference, RowsOutcome};
use dbtime_sql::{LexicalRules, StatementOutline, StatementShapes};

/// What `NOW()` is in MySQL and MariaDB, so that it stands still between both forms.
const CLOCK_STOPPED: &str = "SET timestamp = UNIX_TIMESTAMP()";
const CLOCK_RUNNING: &str = "SET timestamp = DEFAULT";

/// Executes both forms for one key after the other, all of them on one state of the data.
pub(super) struct KeyComparer<'c, 's> {
    session: &'c mut QuerySession<'s>,
    forms: [&'c SessionForm; 2],
    /// A's.
    outline: &'c StatementOutline,
    rules: &'c LexicalRules,
    /// What is left of messages that repeat a statement.
    shapes: StatementShapes,
    /// Of all hashes.
    seed: u64,
    /// Whether the rows of a key were shown that differ: no others are looked for.
    has_shown: bool,
    /// Whether there is no transaction any more.
    is_lost: bool,
    /// That columns have other names.
    renamed: Option<String>,
}

/// Why the rows of a form could not be read.
struct UnreadRows {
    /// The database's code; empty: it did not fail.
    code: String,
    text: String,
}

impl<'c, 's> KeyComparer<'c, 's> {
    /// One for these forms, of which `outline` is A's.
    pub(super) fn new(
        session: &'c mut QuerySession<'s>,
        forms: [&'c SessionForm; 2],
        outline: &'c StatementOutline,
        rules: &'c LexicalRules,
    ) -> Self {
        let shapes = StatementShapes::of(forms.map(|form| form.text.native.as_str()), rules);
        // Hashes are compared within one check alone: nobody can prepare rows for this one.
        let seed = dbtime_machine::now().0;
        let (has_shown, is_lost, renamed) = (false, false, None);
        Self { session, forms, outline, rules, shapes, seed, has_shown, is_lost, renamed }
    }

    /// Lets all that follows see one state of the data. Returns how the database calls it; of forms
    /// that write nothing, since each execution is rolled back.
    ///
    /// # Errors
    /// What the database says.
    pub(super) fn open(&mut self) -> StatementAnswer<String> {
        if self.writes() {
            return Ok(String::new());
        }
        let view = self.session.begin_snapshot()?;
        if self.session.product.speaks_mysql() {
            // A server that refuses has a clock that goes on.
            let _ = self.session.table(CLOCK_STOPPED);
        }
        Ok(view.to_owned())
    }

    /// Ends it.
    pub(super) fn close(&mut self) {
        if self.writes() {
            return;
        }
        self.session.end_snapshot();
        if self.session.product.speaks_mysql() && !self.session.connection.is_given_up() {
            let _ = self.session.table(CLOCK_RUNNING);
        }
    }

    /// Whether a form writes: each execution is a transaction of its own then, since another one
    /// would find what it has written.
    fn writes(&self) -> bool {
        self.session.has_found_write() || self.forms.iter().any(|form| form.text.writes)
    }

    /// Whether nothing more can be executed.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost || self.session.connection.is_given_up()
    }

    /// That columns of the forms have other names; `None`: not so far.
    pub(super) fn renamed(&mut self) -> Option<String> {
        self.renamed.take()
    }

    /// A database's message without what may be a literal.
    pub(super) fn message(&self, failure: &DatabaseFailure) -> String {
        self.shapes.without_repeated(&failure.code, &failure.message).into_owned()
    }

    /// Executes both forms with a key and compares what they return.
    pub(super) fn compare(&mut self, key: &[SqlValue]) -> KeyFinding {
        let mut digests = [RowDigest::new(self.seed), RowDigest::new(self.seed)];
        let [a, b] = &mut digests;
        let answers = [self.run(0, key, a), self.run(1, key, b)];
        let found = match answers {
            [Ok(a), Ok(b)] => self.relate(key, &digests, [a, b]),
            [Err(a), Err(b)] if a.code == b.code && !a.code.is_empty() && !self.is_lost() => {
                let note = format!("for some keys both forms fail alike: {}", a.text);
                Ok(KeyFinding { note: Some(note), ..KeyFinding::default() })
            }
            [Err(unread), _] | [_, Err(unread)] => Err(unread),
        };
        found.unwrap_or_else(|unread| KeyFinding {
            refusal: Some(unread.text),
            ..KeyFinding::of(RowsOutcome::Unchecked, 0)
        })
    }

    /// Executes a form to its end. Returns how many rows it returned or changed.
    fn run(
        &mut self,
        side: usize,
        key: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> Result<u64, UnreadRows> {
        let form = self.forms[side];
        let failure = match self.session.execute(form, key, rows) {
            Ok(done) if done.unlisted_rows == 0 => return Ok(done.rows),
            Ok(done) => {
                let (name, unseen) = (&form.text.name, done.unlisted_rows);
                let text = format!("{name}: rows that are too long to be compared: {unseen}");
                return Err(UnreadRows { code: String::new(), text });
            }
            Err(failure) => failure,
        };
        let text = format!("{}: {}", form.text.name, self.message(&failure));
        // PostgreSQL executes nothing more in a transaction in which a statement has failed.
        if !self.is_lost() {
            self.close();
            self.is_lost = self.open().is_err();
        }
        Err(UnreadRows { code: failure.code, text })
    }

    /// How results with these digests relate, with what more executions bring to light.
    fn relate(
        &mut self,
        key: &[SqlValue],
        [a, b]: &[RowDigest; 2],
        changed: [u64; 2],
    ) -> Result<KeyFinding, UnreadRows> {
        let found = |outcome| Ok(KeyFinding::of(outcome, a.rows()));
        if a.columns().is_empty() && b.columns().is_empty() {
            return Ok(self.changed(key, [a, b], changed));
        }
        if a.columns().len() != b.columns().len() {
            let finding = self.differing(key, [a, b], RowsOutcome::ColumnsDiffer);
            let (columns_a, columns_b) = (a.columns().len(), b.columns().len());
            return Ok(finding.with_note(&format!("columns of A: {columns_a}, of B: {columns_b}")));
        }
        if self.renamed.is_none() {
            self.renamed = renamed_column(a.columns(), b.columns(), self.rules);
        }
        if a.is_identical(b) {
            return found(RowsOutcome::Identical);
        }
        if a.has_same_rows(b) {
            let (free, tied) = (RowsOutcome::OtherOrder, RowsOutcome::EqualUpToTies);
            return self.reordered(key, [a, b], free, tied);
        }
        if a.has_reals() || b.has_reals() {
            let mut rounded = [RowDigest::rounding(self.seed), RowDigest::rounding(self.seed)];
            self.run_both(key, &mut rounded)?;
            let [a, b] = &rounded;
            let outcome = RowsOutcome::EqualUpToRounding;
            if a.is_identical(b) {
                return found(outcome);
            }
            if a.has_same_rows(b) {
                return self.reordered(key, [a, b], outcome, outcome);
            }
        }
        self.others(key, [a, b])
    }

    /// Other rows, unless they are those that a `LIMIT` might have returned as well.
    fn others(
        &mut self,
        key: &[SqlValue],
        [a, b]: [&RowDigest; 2],
    ) -> Result<KeyFinding, UnreadRows> {
        let may_be_cut = self.outline.has_limit || self.outline.has_offset;
        let is_as_long = may_be_cut && a.rows() == b.rows();
        let ties = if is_as_long { self.ties(key, a.columns())? } else { Some(false) };
        if ties == Some(true) {
            return Ok(KeyFinding::of(RowsOutcome::EqualUpToTies, a.rows()).with_note(TIED));
        }
        let finding = self.different(key, [a, b])?;
        Ok(match ties.is_none() && self.outline.order_by.is_some() {
            true => finding.with_note(UNKNOWN_TIES),
            false => finding,
        })
    }

    /// What statements have changed that return no rows: as many need not be the same.
    fn changed(
        &self,
        key: &[SqlValue],
        digests: [&RowDigest; 2],
        [rows_a, rows_b]: [u64; 2],
    ) -> KeyFinding {
        if rows_a == rows_b {
            let refusal = Some(CHANGED_ALONE.to_owned());
            return KeyFinding { refusal, ..KeyFinding::of(RowsOutcome::Unchecked, rows_a) };
        }
        let difference = self.difference(key, digests, RowsOutcome::Different);
        let difference = Some(RowsDifference { rows_a, rows_b, ..difference });
        KeyFinding { difference, ..KeyFinding::of(RowsOutcome::Different, rows_a) }
    }

    /// The same rows in another order: `free` where A has none, `tied` where its order does not
    /// tell them apart.
    fn reordered(
        &mut self,
        key: &[SqlValue],
        [a, b]: [&RowDigest; 2],
        free: RowsOutcome,
        tied: RowsOutcome,
    ) -> Result<KeyFinding, UnreadRows> {
        if self.outline.order_by.is_none() {
            return Ok(KeyFinding::of(free, a.rows()));
        }
        let ties = self.ties(key, a.columns())?;
        if ties == Some(true) {
            return Ok(KeyFinding::of(tied, a.rows()).with_note(TIED));
        }
        if ties.is_none() {
            let refusal = Some(UNKNOWN_ORDER.to_owned());
            return Ok(KeyFinding { refusal, ..KeyFinding::of(free, a.rows()) });
        }
        Ok(self.differing(key, [a, b], RowsOutcome::OrderDiffers))
    }

    /// Whether results are the same but for rows that A's order does not tell apart; `None`: what
    /// it orders by is not in them, or it has no order.
    fn ties(&mut self, key: &[SqlValue], columns: &[String]) -> Result<Option<bool>, UnreadRows> {
        let outline = self.outline;
        let Some(terms) = &outline.order_by else { return Ok(None) };
        let order: Option<Vec<usize>> = terms.iter().map(|term| term.column(columns)).collect();
        let Some(order) = order else { return Ok(None) };
        let mut digests = [(); 2].map(|()| TieDigest::new(self.seed, order.clone()));
        self.run_both(key, &mut digests)?;
        let [a, b] = &digests;
        Ok(Some(a.is_same_up_to_ties(b, outline)))
    }

    /// What rows there are too many of on either side.
    fn different(
        &mut self,
        key: &[SqlValue],
        digests: [&RowDigest; 2],
    ) -> Result<KeyFinding, UnreadRows> {
        let mut counts = [RowCounts::new(self.seed), RowCounts::new(self.seed)];
        self.run_both(key, &mut counts)?;
        let [a, b] = &counts;
        let outcome = match a.has_same_distinct_rows(b) {
            true => RowsOutcome::DuplicatesDiffer,
            false => RowsOutcome::Different,
        };
        let finding = self.differing(key, digests, outcome);
        if a.is_cut() || b.is_cut() {
            let note = "which rows differ is looked for among a million different ones at most";
            return Ok(finding.with_note(note));
        }
        if self.has_shown {
            return Ok(finding);
        }
        let mut only = [ExcessRows::new(a, b), ExcessRows::new(b, a)];
        self.run_both(key, &mut only)?;
        self.has_shown = true;
        let [only_in_a, only_in_b] = only.map(ExcessRows::into_rows);
        let note = reads_alike(&only_in_a, &only_in_b).then(|| READ_ALIKE.to_owned());
        let difference = self.difference(key, digests, outcome);
        let difference = Some(RowsDifference { only_in_a, only_in_b, ..difference });
        Ok(KeyFinding { difference, note, ..finding })
    }

    /// Executes both forms once more.
    fn run_both(
        &mut self,
        key: &[SqlValue],
        [a, b]: &mut [impl RowVisitor; 2],
    ) -> Result<(), UnreadRows> {
        self.run(0, key, a)?;
        self.run(1, key, b)?;
        Ok(())
    }

    /// A finding with a difference of which no rows are known.
    fn differing(
        &self,
        key: &[SqlValue],
        digests: [&RowDigest; 2],
        outcome: RowsOutcome,
    ) -> KeyFinding {
        let difference = Some(self.difference(key, digests, outcome));
        KeyFinding { difference, ..KeyFinding::of(outcome, digests[0].rows()) }
    }

    /// A difference of which no rows are known.
    fn difference(
        &self,
        key: &[SqlValue],
        [a, b]: [&RowDigest; 2],
        outcome: RowsOutcome,
    ) -> RowsDifference {
        RowsDifference {
            outcome,
            key: key.iter().map(shown_value).collect(),
            rows_a: a.rows(),
            rows_b: b.rows(),
            columns: a.columns().iter().map(|name| shown_column(name, self.rules)).collect(),
            ..RowsDifference::default()
        }
    }
}
