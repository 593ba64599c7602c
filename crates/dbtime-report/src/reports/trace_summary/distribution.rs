//! How many responses were how long, as lines of signs.

use crate::document::{DocumentDrawing, DrawnLines, ReportDocument};
use crate::terminal::PageStyle;
use dbtime_model::Nanos;
use dbtime_model::traced_totals::{COARSE_BUCKETS, TraceTotals, TracedTotals};

/// The longest bar, in signs.
const BAR_COLUMNS: u64 = 40;

/// The distribution of all responses as text; a zero step: powers of two.
pub fn trace_histogram(totals: &TracedTotals, step: Nanos) -> String {
    let title = "Response distribution, all statements (µs)";
    let mut document = ReportDocument::untitled("dbtime trace", title);
    distribution(title, &totals.all(), step, &mut document);
    document.text(PageStyle::default())
}

/// Rows from the first that counted something to the last, with an empty one at either end.
pub(super) fn distribution(
    title: &str,
    totals: &TraceTotals,
    step: Nanos,
    document: &mut ReportDocument,
) {
    let Some((first, last)) = totals.coarse.ends() else { return };
    let shown = first.saturating_sub(1)..=(last + 1).min(COARSE_BUCKETS - 1);
    let head = "           value  ------------- Distribution ------------- count".to_owned();
    let lines = [head].into_iter().chain(shown.map(|index| line(totals, step, index)));
    let (title, lines) = (title.to_owned(), DrawnLines::Fixed(lines.collect()));
    document.drawing(DocumentDrawing { title, lines, charts: Vec::new() });
}

fn line(totals: &TraceTotals, step: Nanos, index: u32) -> String {
    let value = match (step, index) {
        // The first power holds everything below two.
        (Nanos::ZERO, 0) => 0.0,
        (Nanos::ZERO, power) => (1u64 << power) as f64,
        (step, index) => step.as_micros() * f64::from(index),
    };
    let is_open = step > Nanos::ZERO && index + 1 == COARSE_BUCKETS;
    let value = format!("{}{value}", if is_open { ">= " } else { "" });
    let counted = totals.coarse.of(index);
    let bar = "@".repeat(bar_columns(counted, totals.count));
    format!("{value:>16} |{bar:<40} {counted}")
}

/// The length of a bar for so many of all; a recording may say that there are more of them.
fn bar_columns(counted: u64, all: u64) -> usize {
    let rounded = u128::from(counted) * u128::from(BAR_COLUMNS) + u128::from(all / 2);
    rounded.checked_div(all.into()).unwrap_or(0).min(BAR_COLUMNS.into()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bar_is_longer_than_the_whole() {
        let bars = [bar_columns(1, 0), bar_columns(1, 2), bar_columns(9, 2)];
        assert_eq!(bars, [0, 20, 40]);
    }
}
