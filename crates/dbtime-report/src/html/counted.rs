//! What the server counted during a run: what tells most, per transaction.

use super::table::{Cell, Head, Table};
use crate::charts::escape;
use crate::counted::{TITLE, row, sentences};
use dbtime_model::record::Run;
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    let Some(info) = &run.record.counters else { return };
    let heads = vec![
        Head::Text("Counter"),
        Head::Figure("Each"),
        Head::Figure("In all"),
        Head::Text("What it counts"),
    ];
    let mut table = Table::new("Status counters that tell most, per transaction and in all", heads);
    for told in &info.telling {
        table.row(row(told).map(Cell::text).into());
    }
    let _ = write!(out, "<section><h2>{TITLE}</h2>\n{}", table.finish());
    for sentence in sentences(info) {
        let _ = write!(out, "<p class=\"dim note\">{}</p>", escape(&sentence));
    }
    out.push_str("</section>\n");
}
