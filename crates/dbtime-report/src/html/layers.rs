//! The layers under the statements, and the calls on files.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::facts;
use crate::format::{bare_seconds, bytes, count, us};
use dbtime_model::record::{Provenance, Run};
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    layers(run, out);
    files(run, out);
}

fn layers(run: &Run, out: &mut String) {
    if run.record.layers.is_empty() {
        return;
    }
    let figures = ["Time (sec)", "# of Recs", "# of Ops", "Time per op (nsec)", "Relative"];
    let mut heads = vec![HtmlHeading::Text("Layer")];
    heads.extend(figures.map(HtmlHeading::Figure));
    let caption = "What an operation costs at each layer. m: measured, read off a clock or \
        counter; d: derived, computed from measured figures.";
    let mut table = HtmlTable::new(caption, heads);
    for layer in &run.record.layers {
        let [each, relative] = facts::layer_quotients(layer);
        table.row(vec![
            HtmlCell::text(&layer.name),
            marked(bare_seconds(layer.time_s), layer.time_from),
            marked(count(layer.records), layer.records_from),
            marked(count(layer.operations), layer.operations_from),
            marked(each, Provenance::Derived),
            marked(relative, Provenance::Derived),
        ]);
    }
    let _ = writeln!(out, "<section><h2>Layers</h2>\n{}</section>", table.finish());
}

/// A figure with its origin.
fn marked(figure: String, from: Provenance) -> HtmlCell {
    let (mark, name) = match from {
        Provenance::Measured => ("m", "measured"),
        Provenance::Derived => ("d", "derived"),
    };
    if figure == crate::format::NONE {
        return HtmlCell::none();
    }
    HtmlCell::html(format!("{figure} <abbr class=\"mark\" title=\"{name}\">{mark}</abbr>"))
}

fn files(run: &Run, out: &mut String) {
    if run.record.files.is_empty() {
        return;
    }
    let mut heads = vec![HtmlHeading::Text("File"), HtmlHeading::Text("Call")];
    heads.extend(["Count", "Bytes", "Time in all", "Each", "Max"].map(HtmlHeading::Figure));
    let mut table = HtmlTable::new("Calls on files, whole window", heads);
    for file in &run.record.files {
        let some = |text: Option<String>| text.map_or_else(HtmlCell::none, HtmlCell::text);
        table.row(vec![
            HtmlCell::text(&file.file),
            HtmlCell::text(&file.call),
            HtmlCell::text(count(file.count)),
            some((file.bytes > 0).then(|| bytes(file.bytes))),
            HtmlCell::text(facts::wall(file.wall_s)),
            HtmlCell::text(facts::each_call(file)),
            some(file.max_us.map(us)),
        ]);
    }
    let _ = writeln!(out, "<section><h2>Files</h2>\n{}</section>", table.finish());
}
