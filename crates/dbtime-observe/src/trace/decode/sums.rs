//! What the kernel's side has added up.
//!
//! Its tables have little room. Before they are full, programs are told to add to rows of the other
//! side, and what is in those of this one is taken out, once nobody adds to them any more. With
//! fewer statements nothing is taken out: tables are read as they are.

use super::heavy_rows::HeavyRows;
use super::literals::{LiteralFilter, RawSql};
use super::returning_texts::ReturningTexts;
use super::sessions::text_of;
use crate::kernel_layout::capture::{TallyRow, ThreadName, TotalsRow};
use crate::kernel_layout::numbers::*;
use crate::kernel_layout::read_record;
use crate::trace::error::TraceError;
use crate::trace::kernel::grace::wait_for_programs;
use crate::trace::kernel::kernel_tables::{single, write};
use crate::trace::kernel::layout::RawRequest;
use crate::trace::kernel::loading::map;
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::kernel::sum_layout;
use dbtime_model::Parts;
use dbtime_model::traced_totals::{Preemption, TracedTotals};
use libbpf_rs::{Map, MapCore, MapFlags, Object};
use zerocopy::IntoBytes;

/// Parts that are waits for files.
const FILE_PARTS: std::ops::RangeInclusive<usize> = PART_IO_READ..=PART_SYNC;

/// The tables that are emptied, in the order of `enum emptied`.
const EMPTIED_TABLES: [&str; EMPTIED] = {
    let mut tables = [""; EMPTIED];
    tables[EMPTIED_TOTALS] = "totals";
    tables[EMPTIED_EXAMPLES] = "examples";
    tables[EMPTIED_FILES] = "files";
    tables
};

/// Whose rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SumRows {
    /// Those of one side, to which no program adds; they are taken out.
    TakenOut(u32),
    /// All of them, as they are.
    AsTheyAre,
}

impl SumRows {
    fn are_of(self, side: u32) -> bool {
        self == Self::AsTheyAre || self == Self::TakenOut(side)
    }

    /// A row: all of it, also what is added meanwhile; one that is to stay begins anew.
    fn read(self, table: &Map<'_>, key: &[u8], stays: bool) -> Result<Option<Vec<u8>>, TraceError> {
        if self == Self::AsTheyAre {
            return table.lookup(key, MapFlags::ANY).map_err(kernel_error);
        }
        if !stays {
            return table.lookup_and_delete(key).map_err(kernel_error);
        }
        let row = table.lookup(key, MapFlags::ANY).map_err(kernel_error)?;
        let nothing = vec![0; table.value_size() as usize];
        table.update(key, &nothing, MapFlags::ANY).map_err(kernel_error)?;
        Ok(row)
    }
}

/// What is in the kernel's tables, and what was taken out of them.
#[derive(Debug, Default)]
pub(crate) struct KernelSums {
    rows: HeavyRows,
    returning: ReturningTexts,
    /// To which programs add.
    side: u32,
    /// How many rows programs had made in each table at the last change of sides.
    made: [u32; EMPTIED],
    /// Whether the kernel does not tell where responses went.
    lacks_parts: bool,
}

impl KernelSums {
    /// What stands for a statement that has no row of its own has to be there before it is needed.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub(crate) fn prepare(object: &Object, lacks_parts: bool) -> Result<Self, TraceError> {
        let (empty, nothing) = (TotalsRow::default(), TallyRow::default());
        for side in 0..SIDES as u32 {
            for (cache, was_preempted) in (0..CACHES).flat_map(|c| [(c, false), (c, true)]) {
                let key = sum_layout::row_key(SHAPE_OTHER, was_preempted, cache, side);
                write(object, "totals", key.as_bytes(), empty.as_bytes())?;
            }
            for part in FILE_PARTS {
                let key = sum_layout::other_files(part, side);
                write(object, "files", key.as_bytes(), nothing.as_bytes())?;
            }
        }
        write(object, "preemptors", ThreadName::default().as_bytes(), nothing.as_bytes())?;
        Ok(Self { lacks_parts, ..Self::default() })
    }

    /// Empties the tables where one may be more than half full. To be called some times a second.
    ///
    /// # Errors
    /// The tables cannot be read.
    pub(crate) fn poll(&mut self, object: &Object) -> Result<(), TraceError> {
        let made: [u32; EMPTIED] = single(object, ".data.made")?;
        for (index, name) in EMPTIED_TABLES.into_iter().enumerate() {
            let new = made[index].wrapping_sub(self.made[index]);
            if new > map(object, name)?.max_entries() / 2 {
                self.made = made;
                return self.empty(object);
            }
        }
        Ok(())
    }

    fn empty(&mut self, object: &Object) -> Result<(), TraceError> {
        let full = self.side;
        self.side = (full + 1) % SIDES as u32;
        write(object, ".data.side", &0u32.to_ne_bytes(), &self.side.to_ne_bytes())?;
        wait_for_programs();
        take_in(&mut self.rows, object, SumRows::TakenOut(full))?;
        self.take_texts(object, full)?;
        self.rows.settle();
        Ok(())
    }

    /// Takes out what statements of a side look like.
    fn take_texts(&mut self, object: &Object, side: u32) -> Result<(), TraceError> {
        let (examples, rows) = (map(object, "examples")?, SumRows::TakenOut(side));
        for key in keys(&examples, |key| is_of(key, rows)) {
            let Some((row, _)) = sum_layout::row(&key) else { continue };
            let shape = row.shape;
            let example = rows.read(&examples, &key, false)?;
            if let Some(request) = example.as_deref().and_then(RawRequest::read) {
                let text = self.returning.keep(shape, &request);
                self.rows.name_new(shape, text);
            }
        }
        for shape in self.rows.without_text() {
            self.returning.of(shape).into_iter().for_each(|text| self.rows.name_new(shape, text));
        }
        Ok(())
    }

    /// What statements came to so far, but not who had the CPU.
    ///
    /// # Errors
    /// The tables cannot be read.
    pub(crate) fn totals(
        &self,
        object: &Object,
        literals: &mut LiteralFilter,
    ) -> Result<TracedTotals, TraceError> {
        let mut rows = self.rows.clone();
        take_in(&mut rows, object, SumRows::AsTheyAre)?;
        let examples = map(object, "examples")?;
        for shape in rows.without_text() {
            let text = example(&examples, shape)?.or_else(|| self.returning.of(shape));
            text.into_iter().for_each(|text| rows.name_new(shape, text));
        }
        let (mut statements, replaced) = (rows.statements(literals), rows.replaced());
        if self.lacks_parts {
            statements.iter_mut().for_each(|one| one.totals.parts = Parts::default());
        }
        Ok(TracedTotals { statements, replaced, ..TracedTotals::default() })
    }

    /// What a statement looks like, by the kernel's number of it; `None`: that is not known.
    pub(crate) fn text(&self, object: &Object, shape: u64) -> Option<RawSql> {
        let known = self.rows.text(shape).or_else(|| self.returning.of(shape));
        known.or_else(|| example(&map(object, "examples").ok()?, shape).ok()?)
    }

    /// How many statements there have been so far.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(crate) fn statements(&self, object: &Object) -> Result<u64, TraceError> {
        let rows = map(object, "totals")?;
        let mut count = self.rows.count();
        for key in rows.keys() {
            let row = rows.lookup(&key, MapFlags::ANY).map_err(kernel_error)?;
            let row = row.as_deref().and_then(read_record::<TotalsRow>);
            count += row.map_or(0, |row| row.count);
        }
        Ok(count)
    }
}

/// Adds what is in the kernel's rows. A file's row is made behind its statement's: files first, so
/// that of each the statement is there.
fn take_in(sums: &mut HeavyRows, object: &Object, rows: SumRows) -> Result<(), TraceError> {
    let (totals, files) = (map(object, "totals")?, map(object, "files")?);
    let mut waits = Vec::new();
    for key in keys(&files, |_| true) {
        let Some((shape, file, side)) = sum_layout::shape_file(&key) else { continue };
        if !rows.are_of(side) {
            continue;
        }
        let stays = shape == SHAPE_OTHER && !sum_layout::is_named(&file);
        let row = rows.read(&files, &key, stays)?;
        let tally = row.as_deref().and_then(read_record::<TallyRow>);
        waits.extend(tally.map(|tally| (shape, file, tally)));
    }
    for key in keys(&totals, |key| is_of(key, rows)) {
        let Some((which, _)) = sum_layout::row(&key) else { continue };
        let row = rows.read(&totals, &key, which.shape == SHAPE_OTHER)?;
        if let Some(totals) = row.as_deref().and_then(sum_layout::totals) {
            sums.add(which, &totals);
        }
    }
    waits.into_iter().for_each(|(shape, file, tally)| sums.add_file(shape, file, tally));
    Ok(())
}

/// Whether the key of a statement's row is one of these rows'.
fn is_of(key: &[u8], rows: SumRows) -> bool {
    sum_layout::row(key).is_some_and(|(_, side)| rows.are_of(side))
}

/// What the example of a shape looks like, on whichever side it is.
fn example(examples: &Map<'_>, shape: u64) -> Result<Option<RawSql>, TraceError> {
    for side in 0..SIDES as u32 {
        let key = sum_layout::row_key(shape, false, CACHE_NOT_SEARCHED, side);
        let row = examples.lookup(key.as_bytes(), MapFlags::ANY).map_err(kernel_error)?;
        if let Some(request) = row.as_deref().and_then(RawRequest::read) {
            return Ok(Some(text_of(&request)));
        }
    }
    Ok(None)
}

/// Keys of a table: all of them before one is deleted, for it would be gone on from there.
fn keys(table: &Map<'_>, is_selected: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    table.keys().filter(|key| is_selected(key)).collect()
}

/// Who had the CPU while statements could have run, longest first.
///
/// # Errors
/// The table cannot be read.
pub(crate) fn preemptors(object: &Object) -> Result<Vec<Preemption>, TraceError> {
    let table = map(object, "preemptors")?;
    let mut rows = Vec::new();
    for key in table.keys() {
        if let Some(row) = table.lookup(&key, MapFlags::ANY).map_err(kernel_error)? {
            rows.extend(sum_layout::preemption(&key, &row));
        }
    }
    rows.retain(|row| row.count > 0);
    rows.sort_by_key(|row| std::cmp::Reverse(row.length));
    Ok(rows)
}
