//! The layers under the statements, and the calls on files.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::facts;
use crate::format::{NONE, bare_seconds, bytes, count, if_any, us};
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
    let caption = format!(
        "What an operation costs at each layer. m: measured, read off a clock or counter; d: \
         derived, computed from measured figures{}.",
        facts::layer_notes(&run.record.layers)
    );
    let mut table = HtmlTable::new(&caption, heads);
    for layer in &run.record.layers {
        let [each, relative] = facts::layer_quotients(layer);
        table.row(vec![
            HtmlCell::text(facts::layer_name(layer)),
            marked(if_any(layer.time_s, bare_seconds), layer.time_from),
            marked(if_any(layer.records, count), layer.records_from),
            marked(if_any(layer.operations, count), layer.operations_from),
            marked(each, Some(Provenance::Derived)),
            marked(relative, Some(Provenance::Derived)),
        ]);
    }
    let _ = writeln!(out, "<section><h2>Layers</h2>\n{}</section>", table.finish());
}

/// A figure with its origin.
fn marked(figure: String, from: Option<Provenance>) -> HtmlCell {
    if figure == NONE {
        return HtmlCell::none();
    }
    let (mark, name) = match from {
        Some(Provenance::Measured) => ("m", "measured"),
        Some(Provenance::Derived) => ("d", "derived"),
        None => return HtmlCell::text(figure),
    };
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
