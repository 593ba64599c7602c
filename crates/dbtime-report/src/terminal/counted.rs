//! What the server counted during a run: what tells most, per transaction.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use crate::counted::{TITLE, row, sentences};
use dbtime_model::record::Run;

pub(super) fn section(run: &Run, page: &mut ReportPage) {
    let Some(info) = &run.record.counters else { return };
    page.heading(TITLE);
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
        page.text("none of the key counters counted anything", TextRole::Dim);
    } else {
        page.table(&table);
    }
    for sentence in sentences(info) {
        page.text(&sentence, TextRole::Dim);
    }
}
