//! The time budget as bars, and how it differs in the slow tail.

use super::bars::bar;
use super::style::{Ink, Page};
use super::table::{Cell, Column, Table};
use crate::format::{NONE, count, percent, signed_us, us};
use crate::means::Means;
use crate::story;
use crate::tail::{self, Slice};
use dbtime_model::Part;
use dbtime_model::record::{Run, RunRecord};

/// How long the bar of a whole response is.
const BAR: usize = 22;

pub(super) fn section(run: &Run, page: &mut Page) {
    let record = &run.record;
    page.heading("Where the time goes");
    let Some(budget) = &record.budget_us else {
        page.text(&story::where_it_goes(record), Ink::Dim);
        return;
    };
    let means = Means::from(budget);
    page.table(&chart(&means, page.bar_columns(BAR)));
    notes(record, &means, page);
}

fn chart(means: &Means, longest: usize) -> Table {
    let columns = [Column::text("Part"), Column::text("")];
    let figures = [Column::figure("Mean"), Column::figure("Share"), Column::text("")];
    let mut table = Table::new(columns.into_iter().chain(figures).collect());
    for (part, amount) in means.present() {
        let share = means.share(part);
        let unexplained = part == Part::Unexplained;
        let ink = if unexplained { Ink::Warn } else { Ink::Plain };
        let figure = if unexplained { signed_us(amount) } else { us(amount) };
        table.row(vec![
            Cell::new(part.name(), ink),
            Cell::new(part.meaning(), Ink::Dim),
            Cell::new(figure, ink),
            Cell::new(share.map_or(NONE.into(), percent), ink),
            Cell::new(bar(share.unwrap_or(0.0) / 100.0, longest), ink),
        ]);
    }
    table.row(vec![
        Cell::new("total", Ink::Bold),
        Cell::new("mean response of those measured", Ink::Dim),
        Cell::new(if means.total > 0.0 { us(means.total) } else { NONE.into() }, Ink::Bold),
        Cell::new(if means.total > 0.0 { "100 %" } else { NONE }, Ink::Bold),
        "".into(),
    ]);
    table
}

fn notes(record: &RunRecord, means: &Means, page: &mut Page) {
    let list = |parts: Vec<Part>| parts.into_iter().map(Part::name).collect::<Vec<_>>().join(", ");
    let zero = means.zero();
    if !zero.is_empty() {
        page.text(&format!("measured and zero: {}", list(zero)), Ink::Dim);
    }
    let missing = means.not_measured();
    if !missing.is_empty() {
        page.text(&format!("not measured: {}", list(missing)), Ink::Dim);
    }
    let how = [
        story::sampling(record),
        story::partly_measured(record),
        story::budget_error(record),
        story::measuring_cost(record),
    ];
    let how: Vec<_> = how.into_iter().flatten().collect();
    if !how.is_empty() {
        page.text(&how.join("; "), Ink::Dim);
    }
}

pub(super) fn tail_section(run: &Run, page: &mut Page) {
    let Some(tail) = tail::tail(&run.record.operations) else {
        return;
    };
    page.heading("Why the slow ones are slow");
    let mut table = Table::new(vec![
        Column::text("Part"),
        Column::figure("All"),
        Column::figure("").optional(),
        Column::figure("Around the\nmedian"),
        Column::figure("").optional(),
        Column::figure(&format!("The slowest\n{}", percent(tail.slow.share))),
        Column::figure("").optional(),
        Column::figure("Slowest −\nmedian"),
    ]);
    let slices = [&tail.all, &tail.median, &tail.slow];
    table.row(span_row(slices));
    for part in Part::ALL {
        let present = |slice: &&Slice| slice.means.get(part).is_some_and(|us| us != 0.0);
        if slices.iter().any(present) {
            table.row(part_row(part, slices));
        }
    }
    let total = |slice: &Slice| Cell::new(us(slice.means.total), Ink::Bold);
    let extra = tail.slow.means.total - tail.median.means.total;
    let mut row = vec![Cell::new("total", Ink::Bold)];
    row.extend(slices.into_iter().flat_map(|slice| [total(slice), "".into()]));
    row.push(Cell::new(signed_us(extra), Ink::Bold));
    table.row(row);
    page.table(&table);
}

fn span_row(slices: [&Slice; 3]) -> Vec<Cell> {
    let [all, median, slow] = slices;
    let dim = |text: String| Cell::new(text, Ink::Dim);
    vec![
        dim("response".to_owned()),
        dim(format!("{} tx", count(all.means.count))),
        "".into(),
        dim(format!("{}–{}", us(median.from_us), us(median.below_us))),
        "".into(),
        dim(format!("≥ {}", us(slow.from_us))),
        "".into(),
        "".into(),
    ]
}

fn part_row(part: Part, slices: [&Slice; 3]) -> Vec<Cell> {
    let amount = |slice: &Slice| slice.means.get(part);
    let extra = amount(slices[2]).unwrap_or(0.0) - amount(slices[1]).unwrap_or(0.0);
    let whole = slices[2].means.total - slices[1].means.total;
    let mut row = vec![part.name().into()];
    for slice in slices {
        let figure = |us_: f64| if part == Part::Unexplained { signed_us(us_) } else { us(us_) };
        row.push(amount(slice).map_or(NONE.into(), |us| figure(us).into()));
        row.push(Cell::new(slice.means.share(part).map_or(NONE.into(), percent), Ink::Dim));
    }
    // What makes a slow one slow is what it has more of.
    let ink = if whole > 0.0 && extra / whole >= 0.25 { Ink::Bold } else { Ink::Plain };
    row.push(Cell::new(signed_us(extra), ink));
    row
}
