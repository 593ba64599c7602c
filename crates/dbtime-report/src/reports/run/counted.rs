//! What the server counted during a run: what tells most, per transaction.

use super::RunView;
use crate::counted::{TITLE, row, sentences};
use crate::document::ReportDocument;
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let Some(info) = &view.run.record.counters else { return };
    document.heading(TITLE);
    let mut table = ReportTable::new(vec![
        TextColumn::text("Counter"),
        TextColumn::figure("Each"),
        TextColumn::figure("In all"),
        TextColumn::text("What it counts"),
    ]);
    for counter in &info.key_counters {
        let [name, each, all, meaning] = row(counter);
        let [all, meaning] = [all, meaning].map(|text| TextCell::new(text, TextRole::Dim));
        table.row(vec![name.into(), each.into(), all, meaning]);
    }
    if table.is_empty() {
        document.paragraph("none of the key counters counted anything", TextRole::Dim);
    } else {
        let caption = "Key status counters, per transaction and in all";
        document.captioned_table(caption, &table, None);
    }
    for sentence in sentences(info) {
        document.paragraph(&sentence, TextRole::Dim);
    }
}
