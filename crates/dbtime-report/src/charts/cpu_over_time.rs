//! CPU over the run: this process, the others, what the hypervisor took, and the run queue.

use super::Chart;
use super::axis::{AxisScale, plain_tick};
use super::svg::TextAnchor;
use super::timeline::{BOTTOM, LEFT, RIGHT, TOP, TimeBin, Timeline, bins};
use crate::format::percent;
use dbtime_model::record::{Run, SeriesRow};

/// See the file.
pub(super) const CHART: Chart = Chart {
    name: "cpu-over-time",
    title: "CPU over the run",
    hint: "Percent of one CPU, stacked. Foreign and stolen CPU is time this run could not have.",
    is_wide: false,
    draw,
};

/// Above it the CPU, below it the run queue on a scale of its own.
const MIDDLE: f64 = 150.0;

/// How many CPUs the record speaks of; at least one.
fn cpus(run: &Run) -> f64 {
    f64::from(run.record.environment.cpus.max(1))
}

/// The figures of a second from the bottom of the stack up, in percent of one CPU.
fn stack(row: &SeriesRow, cpus: f64) -> [f64; 5] {
    // The record has steal in percent of all CPUs.
    let server = row.server_pct.unwrap_or(0.0);
    [row.usr_pct, row.sys_pct, server, row.foreign_pct, row.steal_pct * cpus]
        .map(crate::format::finite)
}

/// The layers from the bottom up; in the style sheet each is `cpu-` and its name.
const NAMES: [&str; 5] = ["usr", "sys", "server", "foreign", "steal"];

/// The layers that were measured: of a server that could not be seen there is nothing to say.
fn layers(run: &Run) -> Vec<usize> {
    let sees_server = run.series.iter().any(|row| row.server_pct.is_some());
    (0..NAMES.len()).filter(|layer| sees_server || NAMES[*layer] != "server").collect()
}

fn draw(run: &Run) -> Option<String> {
    let cpus = cpus(run);
    let most = bins(run).iter().map(|bin| sums(bin, cpus)[4]).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let capacity = cpus * 100.0;
    // With the capacity far away, a chart up to it would show a flat line.
    let show_capacity = capacity <= most * 4.0;
    let top = if show_capacity { most.max(capacity) } else { most };
    let y = AxisScale::linear(top, (MIDDLE, TOP));
    let mut timeline = Timeline::new(run, CHART.name, CHART.title, &described(run, cpus))?;
    timeline.grid(&y, plain_tick);
    let layers = layers(run);
    for &index in &layers {
        timeline.band(&y, &format!("cpu-{}", NAMES[index]), |bin| {
            let sums = sums(bin, cpus);
            (if index == 0 { 0.0 } else { sums[index - 1] }, sums[index])
        });
    }
    if show_capacity {
        timeline.svg.line((LEFT, y.at(capacity)), (RIGHT, y.at(capacity)), "capacity");
        let text = format!("{cpus:.0} CPU{}", if cpus > 1.0 { "s" } else { "" });
        timeline.svg.text((RIGHT + 6.0, y.at(capacity) + 4.0), TextAnchor::Start, "tick", &text);
    }
    run_queue(&mut timeline);
    key(&mut timeline, &layers);
    timeline.tips(|bin| tip(bin, cpus, &layers));
    Some(timeline.svg.finish())
}

/// The heights of the stack's layers in one bin.
fn sums(bin: &TimeBin<'_>, cpus: f64) -> [f64; 5] {
    let mut sum = 0.0;
    std::array::from_fn(|layer| {
        sum += bin.mean(|row| stack(row, cpus)[layer]).max(0.0);
        sum
    })
}

/// The means over the run in words.
fn described(run: &Run, cpus: f64) -> String {
    let seconds = run.series.len().max(1) as f64;
    let mean =
        |layer: usize| run.series.iter().map(|row| stack(row, cpus)[layer]).sum::<f64>() / seconds;
    let shown = layers(run).into_iter().map(|i| format!("{} {}", NAMES[i], percent(mean(i))));
    let shown: Vec<_> = shown.collect();
    format!("CPU in percent of one CPU, mean over the run: {}.", shown.join(", "))
}

/// The run queue as a strip under the stack.
fn run_queue(timeline: &mut Timeline<'_>) {
    let longest = |bin: &TimeBin<'_>| bin.worst(|row| f64::from(row.run_queue));
    let most = timeline.bins.iter().map(longest).fold(0.0, f64::max);
    let y = AxisScale::linear(most, (BOTTOM, MIDDLE + 16.0));
    timeline.svg.line((LEFT, MIDDLE), (RIGHT, MIDDLE), "axis");
    timeline.band(&y, "run-queue", |bin| (0.0, longest(bin)));
    let tick = |value| (LEFT - 7.0, y.at(value) + 4.0);
    timeline.svg.text(tick(most), TextAnchor::End, "tick", &plain_tick(most));
    timeline.svg.text((RIGHT + 6.0, BOTTOM), TextAnchor::Start, "tick", "run queue");
}

/// The key stands at the right, from the top of the stack down.
fn key(timeline: &mut Timeline<'_>, layers: &[usize]) {
    for (place, name) in layers.iter().rev().map(|layer| NAMES[*layer]).enumerate() {
        let at = MIDDLE - 58.0 + 17.0 * place as f64;
        timeline.svg.rect((RIGHT + 6.0, at - 9.0), (10.0, 10.0), &format!("cpu-{name}"), "");
        timeline.svg.text((RIGHT + 20.0, at), TextAnchor::Start, "tick", name);
    }
}

fn tip(bin: &TimeBin<'_>, cpus: f64, layers: &[usize]) -> String {
    let mean = |layer: usize| bin.mean(|row| stack(row, cpus)[layer]);
    let shown = layers.iter().map(|&layer| format!("{} {}", NAMES[layer], percent(mean(layer))));
    let queue = bin.worst(|row| f64::from(row.run_queue));
    format!("{}, run queue {queue:.0}", shown.collect::<Vec<_>>().join(", "))
}
