//! What the server counted during a run: what tells most, per transaction.

use super::style::{Ink, Page};
use super::table::{Cell, Column, Table};
use crate::counted::{TITLE, row, sentences};
use dbtime_model::record::Run;

pub(super) fn section(run: &Run, page: &mut Page) {
    let Some(info) = &run.record.counters else { return };
    page.heading(TITLE);
    let mut table = Table::new(vec![
        Column::text("Counter"),
        Column::figure("Each"),
        Column::figure("In all"),
        Column::text("What it counts"),
    ]);
    for told in &info.telling {
        let [name, each, all, meaning] = row(told);
        let [all, meaning] = [all, meaning].map(|text| Cell::new(text, Ink::Dim));
        table.row(vec![name.into(), each.into(), all, meaning]);
    }
    if table.is_empty() {
        page.text("none of the counters that tell most counted anything", Ink::Dim);
    } else {
        page.table(&table);
    }
    for sentence in sentences(info) {
        page.text(&sentence, Ink::Dim);
    }
}
