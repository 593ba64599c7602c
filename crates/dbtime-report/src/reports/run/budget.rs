//! The time budget as bars, and how it differs in the slow tail.

use super::RunView;
use crate::budget_story;
use crate::document::ReportDocument;
use crate::format::{NONE, count, counted, percent, signed_us, us};
use crate::html::chip;
use crate::means::PartMeans;
use crate::tail::{self, ResponseTail, TailSlice};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::Part;
use dbtime_model::record::RunRecord;

/// What the parts of the mean are headed with.
pub(super) const TITLE: &str = "Where the time goes";

/// How long the bar of a whole response is.
const BAR_COLUMNS: usize = 22;

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let record = &view.run.record;
    // The answer above has why there is none.
    let Some(budget) = &record.budget_us else { return };
    document.heading(TITLE);
    let means = PartMeans::from(budget);
    document.captioned_table("Mean per transaction", &chart(&means), None);
    notes(record, &means, document);
}

fn chart(means: &PartMeans) -> ReportTable {
    let columns = [TextColumn::text("Part"), TextColumn::text("")];
    let figures = [TextColumn::figure("Mean"), TextColumn::figure("Share"), TextColumn::text("")];
    let mut table = ReportTable::new(columns.into_iter().chain(figures).collect());
    for (part, amount) in means.present() {
        let share = means.share(part);
        let unexplained = part == Part::Unexplained;
        let ink = if unexplained { TextRole::Warn } else { TextRole::Plain };
        let figure = if unexplained { signed_us(amount) } else { us(amount) };
        table.row(vec![
            TextCell::new(part.name(), ink).drawn(chip(part)),
            TextCell::new(part.meaning(), TextRole::Dim),
            TextCell::new(figure, ink),
            TextCell::new(share.map_or(NONE.into(), percent), ink),
            TextCell::bar(share.unwrap_or(0.0) / 100.0, BAR_COLUMNS, ink),
        ]);
    }
    table.row(vec![
        TextCell::new("total", TextRole::Bold),
        TextCell::new("mean response of those measured", TextRole::Dim),
        TextCell::new(
            if means.total > 0.0 { us(means.total) } else { NONE.into() },
            TextRole::Bold,
        ),
        TextCell::new(if means.total > 0.0 { "100 %" } else { NONE }, TextRole::Bold),
        "".into(),
    ]);
    table
}

fn notes(record: &RunRecord, means: &PartMeans, document: &mut ReportDocument) {
    let list = |parts: Vec<Part>| parts.into_iter().map(Part::name).collect::<Vec<_>>().join(", ");
    let zero = means.zero();
    if !zero.is_empty() {
        document.paragraph(&format!("measured and zero: {}", list(zero)), TextRole::Dim);
    }
    let missing = means.not_measured();
    if !missing.is_empty() {
        document.paragraph(&format!("not measured: {}", list(missing)), TextRole::Dim);
    }
    let how: Vec<_> = budget_story::notes(record).collect();
    if !how.is_empty() {
        document.paragraph(&how.join("; "), TextRole::Dim);
    }
}

pub(super) fn tail_section(view: &RunView<'_>, document: &mut ReportDocument) {
    let Some(tail) = tail::tail(&view.run.record.operations) else {
        return;
    };
    document.heading("Why the slow ones are slow");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Part"),
        TextColumn::figure("All"),
        TextColumn::figure("").optional(),
        TextColumn::figure("Around the\nmedian"),
        TextColumn::figure("").optional(),
        TextColumn::figure(&format!("The slowest\n{}", percent(tail.slow.share))),
        TextColumn::figure("").optional(),
        TextColumn::figure("Slowest −\nmedian"),
    ]);
    let slices = [&tail.all, &tail.median, &tail.slow];
    table.row(span_row(slices));
    for part in Part::ALL {
        let present = |slice: &&TailSlice| slice.means.get(part).is_some_and(|us| us != 0.0);
        if slices.iter().any(present) {
            table.row(part_row(part, slices));
        }
    }
    let total = |slice: &TailSlice| TextCell::new(us(slice.means.total), TextRole::Bold);
    let extra = tail.slow.means.total - tail.median.means.total;
    let mut row = vec![TextCell::new("total", TextRole::Bold)];
    row.extend(slices.into_iter().flat_map(|slice| [total(slice), "".into()]));
    row.push(TextCell::new(signed_us(extra), TextRole::Bold));
    table.row(row);
    document.captioned_table(&caption(&tail), &table, None);
}

/// Which transactions the columns are of.
fn caption(tail: &ResponseTail) -> String {
    let ResponseTail { median, slow, .. } = tail;
    format!(
        "Around the median: the {} of {}–{}. Slowest: the {} ({}) from {} up.",
        counted(median.means.count, "transaction"),
        us(median.from_us),
        us(median.below_us),
        counted(slow.means.count, "transaction"),
        percent(slow.share),
        us(slow.from_us)
    )
}

fn span_row(slices: [&TailSlice; 3]) -> Vec<TextCell> {
    let [all, median, slow] = slices;
    let dim = |text: String| TextCell::new(text, TextRole::Dim);
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

fn part_row(part: Part, slices: [&TailSlice; 3]) -> Vec<TextCell> {
    let amount = |slice: &TailSlice| slice.means.get(part);
    let extra = amount(slices[2]).unwrap_or(0.0) - amount(slices[1]).unwrap_or(0.0);
    let whole = slices[2].means.total - slices[1].means.total;
    let mut row = vec![TextCell::from(part.name()).drawn(chip(part))];
    for slice in slices {
        let figure = |us_: f64| if part == Part::Unexplained { signed_us(us_) } else { us(us_) };
        row.push(amount(slice).map_or(NONE.into(), |us| figure(us).into()));
        row.push(TextCell::new(
            slice.means.share(part).map_or(NONE.into(), percent),
            TextRole::Dim,
        ));
    }
    // What makes a slow one slow is what it has more of.
    let ink = if whole > 0.0 && extra / whole >= 0.25 { TextRole::Bold } else { TextRole::Plain };
    row.push(TextCell::new(signed_us(extra), ink));
    row
}
