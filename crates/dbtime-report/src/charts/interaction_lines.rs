//! A value over the levels of one factor, a line for each level of another: lines that run
//! alongside have no interaction.

use super::axis::AxisScale;
use super::plot_frame::{LEFT, RIGHT, SIZE, UPWARD, apart, below, caption, dot, values};
use super::svg::{Svg, TextAnchor};
use crate::format::clean;
use crate::labels::distinct_labels;

/// A level of the second factor.
pub(crate) struct InteractionLine {
    /// Its value.
    pub(crate) name: String,
    /// By the levels of the first factor: its mean, and its runs.
    pub(crate) places: Vec<(Option<f64>, Vec<f64>)>,
}

/// There are so many colours.
const COLORS: usize = 6;

/// The plot as SVG; `None` without values. The names are those of both factors and of the metric.
pub(crate) fn interaction_lines(
    lines: &[InteractionLine],
    levels: &[String],
    names: [&str; 3],
    shown: &dyn Fn(f64) -> String,
    is_time: bool,
) -> Option<String> {
    let places = || lines.iter().flat_map(|line| &line.places);
    let all = || places().flat_map(|(_, runs)| runs).copied();
    all().next()?;
    let y = AxisScale::near(all(), UPWARD);
    let x =
        |place: usize| LEFT + (place as f64 + 0.5) / levels.len().max(1) as f64 * (RIGHT - LEFT);
    let [first, second, metric] = names;
    let described = lines.iter().map(|line| words(line, levels, shown)).collect::<Vec<_>>();
    let mut svg = Svg::new("interaction", SIZE, metric, &described.join("; "));
    values(&mut svg, &y, is_time);
    let labels = distinct_labels(levels, 14);
    labels.iter().enumerate().for_each(|(place, level)| below(&mut svg, x(place), level));
    let mut ends = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let class = format!("line-{}", at % COLORS);
        let means = line.places.iter().enumerate();
        let means: Vec<Option<(f64, f64)>> =
            means.map(|(place, (mean, _))| Some((x(place), y.at((*mean)?)))).collect();
        svg.path(&means, &class);
        ends.extend(means.iter().rev().flatten().next().map(|(_, height)| (at, *height)));
        for (place, (_, runs)) in line.places.iter().enumerate() {
            for run in runs {
                let tip = format!("{}, {}: {}", line.name, levels[place], shown(*run));
                dot(&mut svg, (x(place), y.at(*run)), &class, &tip);
            }
        }
    }
    end_names(&mut svg, lines, &ends);
    let [first, second] = [first, second].map(clean);
    let axis = y.begin_note();
    let text = format!("{metric} over {first}, a line for each {second}; points: runs{axis}");
    caption(&mut svg, &text);
    Some(svg.finish())
}

/// The names of lines behind their ends, which are at these heights.
fn end_names(svg: &mut Svg, lines: &[InteractionLine], ends: &[(usize, f64)]) {
    let heights = apart(&ends.iter().map(|(_, height)| *height).collect::<Vec<_>>());
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    let names = distinct_labels(&names, 12);
    for ((at, _), height) in ends.iter().zip(heights) {
        svg.rect((RIGHT + 4.0, height - 3.0), (6.0, 6.0), &format!("line-{}", at % COLORS), "");
        svg.text((RIGHT + 14.0, height + 4.0), TextAnchor::Start, "label", &names[*at]);
    }
}

fn words(line: &InteractionLine, levels: &[String], shown: &dyn Fn(f64) -> String) -> String {
    let means = line.places.iter().zip(levels);
    let means = means.filter_map(|((mean, _), level)| Some(format!("{level} {}", shown((*mean)?))));
    format!("{}: {}", line.name, means.collect::<Vec<_>>().join(", "))
}
