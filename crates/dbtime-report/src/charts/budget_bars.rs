//! The budget as stacked bars: by operation on one scale of time, by response bucket in shares.

use super::Chart;
use super::stacked::{SegmentLabels, StackedBar, bar, legend};
use super::svg::escape;
use crate::format::{count, percent, us};
use crate::means::PartMeans;
use crate::tail::{TailSlice, buckets};
use dbtime_model::record::{OperationSummary, Run};
use std::fmt::Write;

/// Budget bars per operation.
pub(super) const BY_OPERATION: Chart = Chart {
    name: "budget-by-operation",
    title: "The budget of each operation",
    hint: "Bars are as long as the mean response, on one scale.",
    draw: by_operation,
};

/// Budget bars per response bucket.
pub(super) const BY_BUCKET: Chart = Chart {
    name: "budget-by-bucket",
    title: "The budget by response time",
    hint: "A mean cannot explain a p99: each row is the transactions whose response fell \
        between two powers of two, and where their time went.",
    draw: by_bucket,
};

/// Buckets with fewer transactions than this are marked as few.
const MIN_COUNT: u64 = 10;

fn by_operation(run: &Run) -> Option<String> {
    let budget = |o: &OperationSummary| {
        Some((o.name.clone(), o.count, PartMeans::from(o.budget_us.as_ref()?)))
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
    format!("Budget of the {} transactions with a response of {from}", count(slice.means.count))
}

fn row(out: &mut String, name: &str, figure: &str, note: &str, of: &StackedBar<'_>) {
    let _ = write!(
        out,
        "<div class=\"bar-row\"><div class=\"bar-name\">{}</div><div class=\"bar-box\">{}</div>\
         <div class=\"bar-figure\">{figure} <small>{note}</small></div></div>",
        escape(name),
        bar(of)
    );
}
