//! The budget in figures, part by part, for all transactions, the ordinary and the slow.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::budget_story;
use crate::charts::escape;
use crate::format::{NONE, counted, percent, signed_us, us};
use crate::means::PartMeans;
use crate::tail::{self, ResponseTail};
use dbtime_model::Part;
use dbtime_model::record::{Run, RunRecord};
use std::fmt::Write;

/// The colour of a part as a small square.
fn swatch(part: Part) -> String {
    format!("<i class=\"swatch p-{}\" aria-hidden=\"true\"></i>", part.name())
}

/// A part's colour and name, never parted by the end of a line.
pub(super) fn chip(part: Part) -> String {
    format!("<span class=\"chip\">{}{}</span>", swatch(part), part.name())
}

pub(super) fn section(run: &Run, out: &mut String) {
    let record = &run.record;
    let Some(budget) = &record.budget_us else {
        return;
    };
    let means = PartMeans::from(budget);
    out.push_str("<section class=\"meanings\"><h2>Where the time goes</h2>\n");
    out.push_str(&table(&means, tail::tail(&record.operations).as_ref()));
    notes(record, &means, out);
    out.push_str("</section>\n");
}

fn table(means: &PartMeans, tail: Option<&ResponseTail>) -> String {
    let mut heads = vec![
        HtmlHeading::Text("Part"),
        HtmlHeading::Text("Meaning"),
        HtmlHeading::Figure("Mean"),
        HtmlHeading::Figure("Share"),
    ];
    let mut caption = "Mean per transaction. ".to_owned();
    if let Some(tail) = tail {
        heads.extend(["Around the median", "Slowest", "Slowest − median"].map(HtmlHeading::Figure));
        let _ = write!(
            caption,
            "Around the median: the {} of {}–{}. Slowest: the {} ({}) from {} up.",
            counted(tail.median.means.count, "transaction"),
            us(tail.median.from_us),
            us(tail.median.below_us),
            counted(tail.slow.means.count, "transaction"),
            percent(tail.slow.share),
            us(tail.slow.from_us)
        );
    }
    let mut table = HtmlTable::new(&caption, heads);
    for part in Part::ALL {
        let anywhere = tail.is_some_and(|t| t.slow.means.get(part).is_some_and(|us| us != 0.0));
        if means.present().iter().any(|(present, _)| *present == part) || anywhere {
            table.row(row(means, tail, part));
        }
    }
    table.row(total(means, tail));
    table.finish()
}

fn row(means: &PartMeans, tail: Option<&ResponseTail>, part: Part) -> Vec<HtmlCell> {
    let figure = |us_: f64| if part == Part::Unexplained { signed_us(us_) } else { us(us_) };
    let cell = |means: &PartMeans| HtmlCell::text(means.get(part).map_or(NONE.to_owned(), figure));
    let mut cells = vec![
        HtmlCell::html(chip(part)),
        HtmlCell::text(part.meaning()).class("dim"),
        cell(means),
        HtmlCell::text(means.share(part).map_or(NONE.to_owned(), percent)),
    ];
    if let Some(ResponseTail { median, slow, .. }) = tail {
        let get = |means: &PartMeans| means.get(part).unwrap_or(0.0);
        let extra = get(&slow.means) - get(&median.means);
        let whole = slow.means.total - median.means.total;
        let class = if whole > 0.0 && extra / whole >= 0.25 { "strong" } else { "" };
        cells.extend([
            cell(&median.means),
            cell(&slow.means),
            HtmlCell::text(signed_us(extra)).class(class),
        ]);
    }
    cells
}

fn total(means: &PartMeans, tail: Option<&ResponseTail>) -> Vec<HtmlCell> {
    let strong = |text: String| HtmlCell::text(text).class("strong");
    let mut cells = vec![
        HtmlCell::text("total"),
        HtmlCell::text("mean response of those measured").class("dim"),
        strong(if means.total > 0.0 { us(means.total) } else { NONE.to_owned() }),
        strong(if means.total > 0.0 { "100 %".to_owned() } else { NONE.to_owned() }),
    ];
    if let Some(ResponseTail { median, slow, .. }) = tail {
        let extra = slow.means.total - median.means.total;
        cells.extend([us(median.means.total), us(slow.means.total), signed_us(extra)].map(strong));
    }
    cells
}

fn notes(record: &RunRecord, means: &PartMeans, out: &mut String) {
    let list = |parts: Vec<Part>| parts.into_iter().map(Part::name).collect::<Vec<_>>().join(", ");
    let mut notes = Vec::new();
    let (zero, missing) = (means.zero(), means.not_measured());
    if !zero.is_empty() {
        notes.push(format!("Measured and zero: {}.", list(zero)));
    }
    if !missing.is_empty() {
        notes.push(format!("Not measured: {}.", list(missing)));
    }
    notes.extend(budget_story::notes(record).map(|how| {
        let mut how = how;
        how[..1].make_ascii_uppercase();
        format!("{how}.")
    }));
    let _ = writeln!(out, "<p class=\"dim note\">{}</p>", escape(&notes.join(" ")));
}
