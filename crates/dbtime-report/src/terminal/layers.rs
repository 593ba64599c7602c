//! The layers under the statements, and the calls on files.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use crate::facts;
use crate::format::{NONE, bare_seconds, bytes, clean, count, if_any, us};
use dbtime_model::record::{Provenance, Run};

/// The table of layered costs, every cell marked as measured or derived.
pub(super) fn section(run: &Run, page: &mut ReportPage) {
    if run.record.layers.is_empty() {
        return;
    }
    page.heading("Layers");
    let figures = ["Time (sec)", "# of Recs", "# of Ops", "Time per op (nsec)", "Relative"];
    let columns = figures.into_iter().map(TextColumn::figure);
    let mut table =
        ReportTable::new([TextColumn::text("Layer")].into_iter().chain(columns).collect());
    for layer in &run.record.layers {
        let [each, relative] = facts::layer_quotients(layer);
        table.row(vec![
            clean(&facts::layer_name(layer)).into(),
            marked(&if_any(layer.time_s, bare_seconds), layer.time_from),
            marked(&if_any(layer.records, count), layer.records_from),
            marked(&if_any(layer.operations, count), layer.operations_from),
            marked(&each, Some(Provenance::Derived)),
            marked(&relative, Some(Provenance::Derived)),
        ]);
    }
    page.table(&table);
    let marks =
        "m measured: read off a clock or counter; d derived: computed from measured figures";
    page.text(&format!("{marks}{}", facts::layer_notes(&run.record.layers)), TextRole::Dim);
}

/// A figure with its origin; nothing has none.
fn marked(figure: &str, from: Option<Provenance>) -> TextCell {
    match from.filter(|_| figure != NONE) {
        // As wide as a mark, so that dashes stand below figures.
        None => format!("{figure}  ").into(),
        Some(from) => format!("{figure} {}", mark(from)).into(),
    }
}

fn mark(from: Provenance) -> char {
    match from {
        Provenance::Measured => 'm',
        Provenance::Derived => 'd',
    }
}

/// Calls by file and kind.
pub(super) fn files(run: &Run, page: &mut ReportPage) {
    if run.record.files.is_empty() {
        return;
    }
    page.heading("Files");
    let mut table = ReportTable::new(vec![
        TextColumn::text("File"),
        TextColumn::text("Call"),
        TextColumn::figure("Count"),
        TextColumn::figure("Bytes"),
        TextColumn::figure("Time in all"),
        TextColumn::figure("Each"),
        TextColumn::figure("Max"),
    ]);
    for file in &run.record.files {
        let moved = if file.bytes == 0 { NONE.to_owned() } else { bytes(file.bytes) };
        table.row(vec![
            clean(&file.file).into(),
            clean(&file.call).into(),
            count(file.count).into(),
            moved.into(),
            facts::wall(file.wall_s).into(),
            facts::each_call(file).into(),
            file.max_us.map_or(NONE.to_owned(), us).into(),
        ]);
    }
    page.table(&table);
}
