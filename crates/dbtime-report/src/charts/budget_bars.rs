//! The budget as stacked bars: by operation on one scale of time, by percentile of each operation
//! and by response bucket in shares.

use super::Chart;
use super::stacked::{SegmentLabels, StackedBar, bar, legend};
use super::svg::escape;
use crate::format::{count, counted, percent, us};
use crate::means::PartMeans;
use crate::tail::{TailSlice, bands, buckets};
use dbtime_model::record::{OperationSummary, Run};
use std::fmt::Write;

/// Budget bars per operation.
pub(super) const BY_OPERATION: Chart = Chart {
    name: "budget-by-operation",
    title: "The budget of each operation",
    hint: "Bars are as long as the mean response, on one scale.",
    is_wide: true,
    draw: by_operation,
};

/// Budget bars per operation and band of percentiles.
pub(super) const BY_PERCENTILE: Chart = Chart {
    name: "budget-by-percentile",
    title: "The budget of each operation, by percentile",
    hint: "Bars are shares of the time. Bands end with a power-of-two bucket of the response, \
        where that is closest to 50, 90 and 99 % of the operation’s transactions: their names are \
        the percentiles that it came to.",
    is_wide: true,
    draw: by_percentile,
};

/// Budget bars per response bucket.
pub(super) const BY_BUCKET: Chart = Chart {
    name: "budget-by-bucket",
    title: "The budget by response time",
    hint: "A mean cannot explain a p99: each row is the transactions whose response fell \
        between two powers of two, and where their time went.",
    is_wide: true,
    draw: by_bucket,
};

/// Buckets with fewer transactions than this are marked as few.
const MIN_COUNT: u64 = 10;

/// How many transactions the budget of an operation is of, as its bars by percentile have it.
pub(super) fn measured(operation: &OperationSummary) -> u64 {
    let buckets = &operation.budget_buckets;
    let sum = buckets.iter().fold(0, |sum: u64, bucket| sum.saturating_add(bucket.count));
    if buckets.is_empty() { operation.count } else { sum }
}

fn by_operation(run: &Run) -> Option<String> {
    let budget = |o: &OperationSummary| {
        Some((o.name.clone(), measured(o), PartMeans::from(o.budget_us.as_ref()?)))
    };
    let operations: Vec<_> = run.record.operations.iter().filter_map(budget).collect();
    let full = operations.iter().map(|(_, _, means)| means.positive()).fold(0.0, f64::max);
    if full <= 0.0 {
        return None;
    }
    let mut out = String::from("<div class=\"bars\">");
    for (name, transactions, means) in &operations {
        let title = format!("Budget of {name}: mean {}", us(means.total));
        row(
            &mut out,
            name,
            &us(means.total),
            &format!("{} tx", count(*transactions)),
            &StackedBar {
                means,
                full_us: full,
                height: 30,
                title,
                labels: SegmentLabels::Within(450.0),
            },
        );
    }
    out.push_str(&legend(operations.iter().map(|(_, _, means)| means)));
    out.push_str("</div>");
    Some(out)
}

fn by_percentile(run: &Run) -> Option<String> {
    let operations = run.record.operations.iter();
    let banded: Vec<_> = operations.filter_map(|o| Some((&o.name, bands(o)?))).collect();
    if banded.is_empty() {
        return None;
    }
    let mut out = String::from("<div class=\"bars\">");
    for (name, (all, bands)) in &banded {
        let _ = write!(out, "<h3 class=\"bar-group\">{}</h3>", escape(name));
        share_row(&mut out, "all", all);
        for band in bands.iter().filter(|_| bands.len() > 1) {
            let (from, to) = band.percentiles;
            share_row(&mut out, &format!("{}–{} %", percentile(from), percentile(to)), &band.slice);
        }
    }
    let slices = banded.iter().flat_map(|(_, (all, bands))| {
        std::iter::once(&all.means).chain(bands.iter().map(|band| &band.slice.means))
    });
    out.push_str(&legend(slices));
    out.push_str("</div>");
    Some(out)
}

/// A percentile without its sign: as many digits as tell it from 100.
fn percentile(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One bar of shares with the mean response beside it.
fn share_row(out: &mut String, name: &str, slice: &TailSlice) {
    let span = format!("{}–{}", us(slice.from_us), us(slice.below_us));
    let few = if slice.means.count < MIN_COUNT { ", few" } else { "" };
    let title = title(slice, &span);
    let bar = StackedBar {
        means: &slice.means,
        full_us: slice.means.positive(),
        height: 24,
        title,
        labels: SegmentLabels::Within(450.0),
    };
    let note = format!("{} tx{few}", count(slice.means.count));
    row(out, name, &us(slice.means.total), &note, &bar);
}

fn by_bucket(run: &Run) -> Option<String> {
    let slices = buckets(run.record.operations.iter());
    if slices.is_empty() {
        return None;
    }
    let mut out = String::from("<div class=\"bars\">");
    for slice in &slices {
        let from = format!("{}–{}", us(slice.from_us), us(slice.below_us));
        let few = if slice.means.count < MIN_COUNT { ", few" } else { "" };
        let transactions = format!("{} tx{few}", count(slice.means.count));
        row(
            &mut out,
            &from,
            &percent(slice.share),
            &transactions,
            &StackedBar {
                means: &slice.means,
                full_us: slice.means.positive(),
                height: 26,
                title: title(slice, &from),
                labels: SegmentLabels::Within(450.0),
            },
        );
    }
    out.push_str(&legend(slices.iter().map(|slice| &slice.means)));
    out.push_str("</div>");
    Some(out)
}

fn title(slice: &TailSlice, from: &str) -> String {
    let transactions = counted(slice.means.count, "transaction");
    format!("Budget of the {transactions} with a response of {from}")
}

/// A bar with its name before and a figure behind it, which are of our making.
pub(super) fn row(out: &mut String, name: &str, figure: &str, note: &str, of: &StackedBar<'_>) {
    let _ = write!(
        out,
        "<div class=\"bar-row\"><div class=\"bar-name\">{}</div><div class=\"bar-box\">{}</div>\
         <div class=\"bar-figure\">{figure} <small>{note}</small></div></div>",
        escape(name),
        bar(of)
    );
}
