//! What the server counted during a run: what tells most, per transaction.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::escape;
use crate::counted::{TITLE, row, sentences};
use dbtime_model::record::Run;
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    let Some(info) = &run.record.counters else { return };
    let heads = vec![
        HtmlHeading::Text("Counter"),
        HtmlHeading::Figure("Each"),
        HtmlHeading::Figure("In all"),
        HtmlHeading::Text("What it counts"),
    ];
    let mut table = HtmlTable::new("Key status counters, per transaction and in all", heads);
    for counter in &info.key_counters {
        table.row(row(counter).map(HtmlCell::text).into());
    }
    let _ = write!(out, "<section><h2>{TITLE}</h2>\n{}", table.finish());
    for sentence in sentences(info) {
        let _ = write!(out, "<p class=\"dim note\">{}</p>", escape(&sentence));
    }
    out.push_str("</section>\n");
}
