//! What the kernel's side has added up.

use super::TraceError;
use super::layout::RawRequest;
use super::loading::map;
use super::refusal::kernel;
use super::sessions::text_of;
use super::sum_layout;
use dbtime_model::Nanos;
use dbtime_model::traced_files::add_files;
use dbtime_model::traced_totals::{StatementName, StatementTotals, Totals, TracedTotals};
use libbpf_rs::{Map, MapCore, MapFlags, Object};

/// `enum shape`.
const OTHER: u64 = 0;
const NOT_KNOWN: u64 = 1;
const SEVERAL: u64 = 2;

/// What is there for sums alone.
pub(super) const TABLES: [&str; 4] = ["totals", "examples", "prepared_shapes", "files"];

/// Parts that are waits for files: `PART_IO_READ` to `PART_SYNC`.
const FILE_PARTS: std::ops::RangeInclusive<u8> = 4..=6;

/// Bytes of `struct row`.
const ROW: usize = 16;

/// What stands for a statement that has no row of its own has to be there before it is needed.
pub(super) fn prepare(object: &Object) -> Result<(), TraceError> {
    let totals = map(object, "totals")?;
    let empty = vec![0; totals.value_size() as usize];
    for index in 0..6u32 {
        let mut row = [0; ROW];
        row[8..12].copy_from_slice(&(index % 2).to_ne_bytes());
        row[12..16].copy_from_slice(&(index / 2).to_ne_bytes());
        totals.update(&row, &empty, MapFlags::ANY).map_err(kernel)?;
    }
    let preemptors = map(object, "preemptors")?;
    preemptors.update(&[0; 16], &[0; 16], MapFlags::ANY).map_err(kernel)?;
    let files = map(object, "files")?;
    for part in FILE_PARTS {
        let key = sum_layout::other_files(part);
        files.update(&key, &[0; 16], MapFlags::ANY).map_err(kernel)?;
    }
    Ok(())
}

/// What statements came to so far.
///
/// # Errors
/// The sums cannot be read.
pub(super) fn totals(object: &Object) -> Result<TracedTotals, TraceError> {
    let (rows, examples) = (map(object, "totals")?, map(object, "examples")?);
    let (mut statements, mut shapes) = (Vec::new(), Vec::new());
    for key in rows.keys() {
        let Some(bytes) = rows.lookup(&key, MapFlags::ANY).map_err(kernel)? else { continue };
        let totals = sum_layout::totals(&bytes);
        if totals.count > 0 {
            statements.push(statement(&key, totals, &examples)?);
            shapes.push(sum_layout::row(&key).0);
        }
    }
    let preemptors = tallies(object, "preemptors", |name, row| {
        let row = sum_layout::preemption(name, row);
        Some((row.count, row.length, row))
    })?;
    let files = tallies(object, "files", |file, row| {
        let (shape, wait) = sum_layout::shape_file(file, row)?;
        Some((wait.count, wait.length, (shape, wait)))
    })?;
    for (shape, wait) in files {
        let index = shapes.iter().position(|known| *known == shape).unwrap_or_else(|| {
            // All files for which there was no room, or a statement that has come meanwhile.
            statements.push(StatementTotals::nothing_of(StatementName::Other));
            shapes.push(shape);
            shapes.len() - 1
        });
        add_files(&mut statements[index].totals.files, &[wait]);
    }
    Ok(TracedTotals { statements, preemptors })
}

/// The rows of a table with how often they were and how long, longest first.
fn tallies<T>(
    object: &Object,
    name: &str,
    read: impl Fn(&[u8], &[u8]) -> Option<(u64, Nanos, T)>,
) -> Result<Vec<T>, TraceError> {
    let table = map(object, name)?;
    let mut rows = Vec::new();
    for key in table.keys() {
        if let Some(row) = table.lookup(&key, MapFlags::ANY).map_err(kernel)? {
            rows.extend(read(&key, &row).filter(|(count, ..)| *count > 0));
        }
    }
    rows.sort_by_key(|(_, length, _)| std::cmp::Reverse(*length));
    Ok(rows.into_iter().map(|(.., row)| row).collect())
}

/// How many statements there have been so far.
pub(super) fn statements(object: &Object) -> Result<u64, TraceError> {
    let rows = map(object, "totals")?;
    let mut count = 0;
    for key in rows.keys() {
        let row = rows.lookup(&key, MapFlags::ANY).map_err(kernel)?;
        count += row.map_or(0, |row| sum_layout::totals(&row).count);
    }
    Ok(count)
}

fn statement(
    key: &[u8],
    totals: Totals,
    examples: &Map<'_>,
) -> Result<StatementTotals, TraceError> {
    let (shape, was_preempted, cache) = sum_layout::row(key);
    let name = match shape {
        OTHER => StatementName::Other,
        NOT_KNOWN => StatementName::PreparedBefore,
        SEVERAL => StatementName::Several,
        _ => {
            let example = examples.lookup(&shape.to_ne_bytes(), MapFlags::ANY).map_err(kernel)?;
            let request = example.as_deref().and_then(RawRequest::read);
            request.map_or(StatementName::Other, |request| StatementName::Text(text_of(&request)))
        }
    };
    Ok(StatementTotals { name, was_preempted, cache, totals })
}
