//! Charts of a run as inline SVG: drawn here, readable without scripts, safe to print.
//!
//! A chart is one file with one function from a run to SVG, and one line in [`CHARTS`].
//! Colours come from the classes of the page's style sheet, so that one drawing serves light and
//! dark.

mod axis;
mod budget_bars;
mod cpu_over_time;
mod effect_map;
mod flame_graph;
mod forest_plot;
mod heat_map;
mod interaction_lines;
mod latency_curve;
mod load_over_time;
mod percentiles;
mod plot_frame;
mod response_over_time;
mod run_sequence;
mod scaling_curve;
mod server_strips;
mod stacked;
mod svg;
mod sweep_budgets;
mod sweep_lines;
mod throughput_over_time;
mod timeline;
mod transaction_timeline;

pub(crate) use effect_map::{EffectCell, effect_map};
pub(crate) use flame_graph::flame_graph;
pub(crate) use forest_plot::{ForestRow, ForestUnit, MOST_FALL_PCT, forest_plot, forest_reach};
pub(crate) use interaction_lines::{InteractionLine, interaction_lines};
pub(crate) use latency_curve::{LatencyPlace, latency_curve};
pub(crate) use load_over_time::{LoadPlot, LoadPoint, load_over_time};
pub(crate) use run_sequence::{SequencedRun, SequencedSide, run_sequence, side_letter};
pub(crate) use scaling_curve::{ScalingPoint, scaling_curve};
pub(crate) use stacked::{SegmentLabels, StackedBar, bar, legend};
pub(crate) use svg::escape;
pub(crate) use sweep_budgets::sweep_budgets;
pub(crate) use sweep_lines::{MAX_LINES, SWEEP_CHARTS, SweepLines, sort_values};
pub(crate) use transaction_timeline::{described, timeline, waits};

use dbtime_model::record::Run;

/// One chart.
#[derive(Clone, Copy, Debug)]
pub struct Chart {
    /// Short name; part of the ids in the page.
    pub name: &'static str,
    /// What stands above it.
    pub title: &'static str,
    /// What to look for in it.
    pub hint: &'static str,
    /// Whether it takes the whole width of the page: others stand in pairs.
    pub is_wide: bool,
    /// Draws it; `None` when the run holds nothing to draw.
    pub draw: fn(&Run) -> Option<String>,
}

/// The charts of a report, in reading order.
pub const CHARTS: &[Chart] = &[
    heat_map::CHART,
    percentiles::CHART,
    response_over_time::CHART,
    throughput_over_time::CHART,
    cpu_over_time::CHART,
    budget_bars::BY_OPERATION,
    budget_bars::BY_PERCENTILE,
    budget_bars::BY_BUCKET,
];
