//! The budget over what was swept: a bar for each combination, on one scale of time.

use super::budget_bars::{measured, row};
use super::stacked::{SegmentLabels, StackedBar, legend};
use super::svg::escape;
use super::sweep_lines::SweepLines;
use crate::format::{clean, counted, us};
use crate::means::PartMeans;
use std::fmt::Write;

/// More bars than this are for the table.
const MOST_BARS: usize = 40;

/// A combination: its line, its value, how many runs it is of, and their parts.
type SweptBudget<'a> = (&'a str, &'a str, usize, PartMeans);

/// The bars, of the runs that are valid; `None` with fewer than two, or too many.
pub(crate) fn sweep_budgets(lines: &SweepLines<'_>) -> Option<String> {
    let budgets = budgets(lines);
    let full = budgets.iter().map(|(.., means)| means.positive()).fold(0.0, f64::max);
    if budgets.len() < 2 || budgets.len() > MOST_BARS {
        return None;
    }
    let mut out = String::from("<div class=\"bars\">");
    for of_line in budgets.chunk_by(|a, b| a.0 == b.0) {
        if lines.lines.len() > 1 {
            let _ = write!(out, "<h3 class=\"bar-group\">{}</h3>", escape(of_line[0].0));
        }
        for (_, value, runs, means) in of_line {
            let name = clean(value);
            let bar = StackedBar {
                means,
                full_us: full,
                height: 26,
                title: format!("Budget with {name}: mean {}", us(means.total)),
                labels: SegmentLabels::Within(450.0),
            };
            row(&mut out, &name, &us(means.total), &counted(*runs as u64, "run"), &bar);
        }
    }
    out.push_str(&legend(budgets.iter().map(|(.., means)| means)));
    out.push_str("</div>");
    Some(out)
}

/// Those that have one, in the order of the charts.
fn budgets<'a>(lines: &'a SweepLines<'_>) -> Vec<SweptBudget<'a>> {
    let mut budgets = Vec::new();
    for (line, points) in &lines.lines {
        for of_value in points.chunk_by(|a, b| a.0 == b.0) {
            let valid = || of_value.iter().filter(|(_, run)| run.record.validity.valid);
            let operations = valid().flat_map(|(_, run)| &run.record.operations);
            let parts = operations.filter_map(|one| Some((one.budget_us.as_ref()?, measured(one))));
            let means = PartMeans::of(parts);
            if means.positive() > 0.0 {
                let value = lines.values[of_value[0].0].as_str();
                budgets.push((line.as_str(), value, valid().count(), means));
            }
        }
    }
    budgets
}
