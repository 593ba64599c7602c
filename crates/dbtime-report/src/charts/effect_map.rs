//! The effect of each combination of two factors against the baseline, as a map.

use super::svg::{Svg, TextAnchor};
use crate::format::clean;
use crate::labels::distinct_labels;

/// A combination: the places of its levels.
pub(crate) struct EffectCell {
    /// Of the first factor, which goes to the right, and of the second.
    pub(crate) at: [usize; 2],
    /// The change and the ends of its interval, in percent; `None`: the baseline, or no runs.
    pub(crate) change_pct: Option<[f64; 3]>,
    /// What stands in it.
    pub(crate) text: String,
    /// What is shown of it on a pointer.
    pub(crate) tip: String,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 180.0;
const RIGHT: f64 = 880.0;
const TOP: f64 = 12.0;
const ROW: f64 = 46.0;
const WIDEST: f64 = 130.0;

/// Shades of a change, the largest of the map the darkest.
const SHADES: f64 = 6.0;

/// The map as SVG; `None` without cells. The names are those of the factors, the levels theirs.
pub(crate) fn effect_map(
    cells: &[EffectCell],
    names: [&str; 2],
    levels: [&[String]; 2],
    metric: &str,
) -> Option<String> {
    if cells.is_empty() || levels.iter().any(|levels| levels.is_empty()) {
        return None;
    }
    let [columns, rows] = levels.map(|levels| levels.len() as f64);
    let width = ((RIGHT - LEFT) / columns).min(WIDEST);
    let bottom = TOP + ROW * rows;
    let changes = cells.iter().filter_map(|cell| cell.change_pct);
    let most = changes.map(|[change, ..]| change.abs()).fold(0.0, f64::max);
    let title = format!("Change of {metric} against the baseline");
    let described = cells.iter().map(|cell| cell.tip.as_str()).collect::<Vec<_>>().join("; ");
    let mut svg = Svg::new("effects", (WIDTH, bottom + 64.0), &title, &described);
    for cell in cells {
        let [column, row] = cell.at.map(|place| place as f64);
        let at = (LEFT + width * column, TOP + ROW * row);
        draw(&mut svg, cell, at, width, most);
    }
    let of_columns = distinct_labels(levels[0], (width / 8.0) as usize);
    for (place, level) in of_columns.iter().enumerate() {
        let x = LEFT + width * (place as f64 + 0.5);
        svg.text((x, bottom + 18.0), TextAnchor::Middle, "tick", level);
    }
    for (place, level) in distinct_labels(levels[1], 22).iter().enumerate() {
        let y = TOP + ROW * (place as f64 + 0.5) + 4.0;
        svg.text((LEFT - 10.0, y), TextAnchor::End, "tick", level);
    }
    let [right, down] = names.map(clean);
    let axes = format!("to the right: {right}; down: {down}");
    let text = format!("{axes}; {title}, %; dot: its interval excludes 0");
    svg.text((WIDTH / 2.0, bottom + 46.0), TextAnchor::Middle, "caption", &text);
    Some(svg.finish())
}

fn draw(svg: &mut Svg, cell: &EffectCell, at: (f64, f64), width: f64, most: f64) {
    let size = (width - 3.0, ROW - 3.0);
    let change = cell.change_pct.map_or(0.0, |[change, ..]| change);
    let shade = if most > 0.0 { (SHADES * change.abs() / most).ceil() as u32 } else { 0 };
    match shade {
        0 => svg.rect(at, size, "hollow", &cell.tip),
        // More and less have colours of their own; the sign is written as well.
        _ if change < 0.0 => svg.rect(at, size, &format!("line-1 heat-{shade}"), &cell.tip),
        _ => svg.rect(at, size, &format!("line-0 heat-{shade}"), &cell.tip),
    }
    let middle = (at.0 + size.0 / 2.0, at.1 + size.1 / 2.0 + 4.0);
    svg.text(middle, TextAnchor::Middle, "", &cell.text);
    if cell.change_pct.is_some_and(|[_, low, high]| low > 0.0 || high < 0.0) {
        let corner = (at.0 + size.0 - 12.0, at.1 + 6.0);
        svg.rect(corner, (6.0, 6.0), "line-5", "its interval excludes 0");
    }
}
