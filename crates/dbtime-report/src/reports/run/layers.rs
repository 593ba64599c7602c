//! The layers under the statements, and the calls on files.

use super::RunView;
use crate::document::{ReportDocument, RowLimit};
use crate::facts;
use crate::format::{NONE, bare_seconds, bytes, count, if_any, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::record::Provenance;

/// The table of layered costs, every cell marked as measured or derived.
pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let layers = &view.run.record.layers;
    if layers.is_empty() {
        return;
    }
    document.heading("Layers");
    let figures = ["Time (sec)", "# of Recs", "# of Ops", "Time per op (nsec)", "Relative"];
    let columns = figures.into_iter().map(TextColumn::figure);
    let mut table =
        ReportTable::new([TextColumn::text("Layer")].into_iter().chain(columns).collect());
    for layer in layers {
        let [each, relative] = facts::layer_quotients(layer);
        table.row(vec![
            facts::layer_name(layer).into(),
            marked(&if_any(layer.time_s, bare_seconds), layer.time_from),
            marked(&if_any(layer.records, count), layer.records_from),
            marked(&if_any(layer.operations, count), layer.operations_from),
            marked(&each, Some(Provenance::Derived)),
            marked(&relative, Some(Provenance::Derived)),
        ]);
    }
    document.captioned_table("What an operation costs at each layer", &table, None);
    let marks =
        "m measured: read off a clock or counter; d derived: computed from measured figures";
    document.paragraph(&format!("{marks}{}", facts::layer_notes(layers)), TextRole::Dim);
}

/// A figure with its origin; nothing has none.
fn marked(figure: &str, from: Option<Provenance>) -> TextCell {
    match from.filter(|_| figure != NONE) {
        // As wide as a mark, so that dashes stand below figures.
        None => format!("{figure}  ").into(),
        Some(from) => {
            let (mark, name) = mark(from);
            let hover = format!("{figure} <abbr class=\"mark\" title=\"{name}\">{mark}</abbr>");
            TextCell::from(format!("{figure} {mark}")).drawn(hover)
        }
    }
}

/// A sign, and what it stands for.
fn mark(from: Provenance) -> (char, &'static str) {
    match from {
        Provenance::Measured => ('m', "measured"),
        Provenance::Derived => ('d', "derived"),
    }
}

/// Calls by file and kind.
pub(super) fn files(view: &RunView<'_>, document: &mut ReportDocument) {
    let files = &view.run.record.files;
    if files.is_empty() {
        return;
    }
    document.heading("Files");
    let mut table = ReportTable::new(vec![
        TextColumn::text("File"),
        TextColumn::text("Call"),
        TextColumn::figure("Count"),
        TextColumn::figure("Bytes"),
        TextColumn::figure("Time in all"),
        TextColumn::figure("Each"),
        TextColumn::figure("Max"),
    ]);
    for file in files {
        let moved = if file.bytes == 0 { NONE.to_owned() } else { bytes(file.bytes) };
        table.row(vec![
            file.file.as_str().into(),
            file.call.as_str().into(),
            count(file.count).into(),
            moved.into(),
            facts::wall(file.wall_s).into(),
            facts::each_call(file).into(),
            if_any(file.max_us, us).into(),
        ]);
    }
    let limit = Some(RowLimit::of_page_alone());
    document.captioned_table("Calls on files, whole window", &table, limit);
}
