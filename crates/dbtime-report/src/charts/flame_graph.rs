//! Flame graphs, from the operation at the top to the innermost function at the bottom. A box is as
//! wide as what all stacks come to that go through it; neighbours stand in the order of their
//! names.

use super::svg::{Svg, TextAnchor};
use crate::format::{clean, percent};
use crate::stacks::StackView;
use dbtime_model::Part;
use std::collections::BTreeMap;

/// The width of the drawing, and the height of a row.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;

/// Narrower boxes are left out, with all below them.
const MIN_WIDTH: f64 = 1.0;

/// So many boxes are drawn at most, the widest; others are left out as narrow ones are.
const MAX_BOXES: usize = 300;

/// The width of a letter, and what a box needs to have a text.
const LETTER: f64 = 6.6;
const MIN_TEXT: f64 = 26.0;

/// Deeper rows are left out.
const MAX_ROWS: usize = 150;

/// Stacks by their frames.
#[derive(Debug, Default)]
struct FlameTree<'a> {
    weight: u64,
    below: BTreeMap<&'a str, FlameTree<'a>>,
}

impl<'a> FlameTree<'a> {
    fn of(view: &StackView<'a>) -> Self {
        let mut root = Self::default();
        for stack in view.stacks {
            let mut at = &mut root;
            at.weight = at.weight.saturating_add(stack.weight);
            for frame in stack.frames.iter().take(MAX_ROWS) {
                at = at.below.entry(frame).or_default();
                at.weight = at.weight.saturating_add(stack.weight);
            }
        }
        root
    }

    /// The weight from which boxes are drawn. A box weighs no more than the one above it, so that
    /// none is drawn below one that is not.
    fn least(&self) -> u64 {
        let mut weights = Vec::new();
        self.add_weights(&mut weights);
        weights.sort_unstable_by_key(|weight| std::cmp::Reverse(*weight));
        let narrow = (MIN_WIDTH / WIDTH * self.weight as f64).ceil() as u64;
        let first_left_out = weights.get(MAX_BOXES).copied();
        narrow.max(first_left_out.map_or(0, |weight| weight.saturating_add(1)))
    }

    fn add_weights(&self, weights: &mut Vec<u64>) {
        for one in self.below.values() {
            weights.push(one.weight);
            one.add_weights(weights);
        }
    }

    /// How many rows are drawn from a weight on.
    fn rows(&self, least: u64) -> usize {
        let drawn = self.below.values().filter(|one| one.weight >= least);
        drawn.map(|one| 1 + one.rows(least)).max().unwrap_or(0)
    }
}

/// The flame graph of stacks; `None`: there are none.
pub(crate) fn flame_graph(view: &StackView<'_>) -> Option<String> {
    let tree = FlameTree::of(view);
    if tree.weight == 0 {
        return None;
    }
    let least = tree.least();
    let height = ROW * tree.rows(least) as f64;
    let description = format!(
        "Flame graph: operations at the top, below them statements and functions, the innermost at \
         the bottom; as wide as they come to of {}",
        view.weight(tree.weight)
    );
    let svg = Svg::new(view.name, (WIDTH, height), view.title, &description);
    let mut drawing = FlameDrawing { view, svg, all: tree.weight, least };
    drawing.below(&tree, (0.0, 0.0), 0);
    Some(drawing.svg.finish())
}

struct FlameDrawing<'a, 'b> {
    view: &'a StackView<'b>,
    svg: Svg,
    all: u64,
    least: u64,
}

impl FlameDrawing<'_, '_> {
    /// Draws what is called by a box that begins there.
    fn below(&mut self, tree: &FlameTree<'_>, (mut x, y): (f64, f64), depth: usize) {
        for (name, one) in &tree.below {
            let width = WIDTH * one.weight as f64 / self.all as f64;
            if one.weight >= self.least {
                self.frame(name, one.weight, ((x, y), width), depth);
                self.below(one, (x, y + ROW), depth + 1);
            }
            x += width;
        }
    }

    fn frame(&mut self, name: &str, weight: u64, (at, width): ((f64, f64), f64), depth: usize) {
        let share = percent(100.0 * weight as f64 / self.all as f64);
        let tip = format!("{name}: {}, {share}", self.view.weight(weight));
        let class = self.class(name, depth);
        self.svg.rect(at, (width - 0.6, ROW - 1.0), &class, &tip);
        if width >= MIN_TEXT {
            let text = shortened(name, ((width - 6.0) / LETTER) as usize);
            self.svg.text((at.0 + 3.0, at.1 + 12.0), TextAnchor::Start, "frame", &text);
        }
    }

    fn class(&self, name: &str, depth: usize) -> String {
        let kind = match depth {
            0 => "flame-operation",
            1 => "flame-statement",
            2 if self.view.is_waiting => {
                let part = Part::ALL.into_iter().find(|part| part.name() == name);
                let part = part.unwrap_or(Part::Other).name();
                return format!("flame flame-part p-{part}");
            }
            _ if name.starts_with('[') => "flame-unknown",
            _ if name.ends_with("_[k]") => "flame-kernel",
            _ => "flame-program",
        };
        format!("flame {kind}")
    }
}

fn shortened(name: &str, letters: usize) -> String {
    let name = clean(name);
    match name.chars().count() > letters {
        true => name.chars().take(letters.saturating_sub(1)).chain(['…']).collect(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::tests::run;

    fn drawn(off_cpu: &str) -> Option<String> {
        let run = run(None, off_cpu);
        let views = StackView::of(&run);
        views.first().and_then(flame_graph)
    }

    #[test]
    fn boxes_are_as_wide_as_what_goes_through_them() {
        let svg = drawn("a;s;lock;main;f 300\na;s;lock;main;g 100\nb;s;sync;main 800");
        let svg = svg.expect("a drawing");
        let boxes: Vec<&str> = svg.split("<rect ").skip(1).collect();
        assert_eq!(boxes.len(), 10);
        let of = |name: &str| {
            let tip = format!("<title>{name}: ");
            *boxes.iter().find(|one| one.contains(&tip)).expect(name)
        };
        let width = |name: &str, width: &str, x: &str| {
            let has = |text: String| assert!(of(name).contains(&text), "{name}: {}", of(name));
            has(format!("width=\"{width}\""));
            has(format!(" x=\"{x}\""));
        };
        width("a", "399.4", "0");
        width("b", "799.4", "400");
        width("f", "299.4", "0");
        width("g", "99.4", "300");
        assert!(of("g").contains("100 µs, 8.3 %") && of("g").contains("flame-program"));
        assert!(
            of("sync").contains("flame-part p-sync") && svg.contains("viewBox=\"0 0 1200 85\"")
        );
    }

    #[test]
    fn what_is_too_narrow_or_too_deep_is_left_out() {
        let deep = format!("a;s;lock;{} 5000", ["f"; 400].join(";"));
        let svg = drawn(&format!("{deep}\na;s;lock;tiny 1")).expect("a drawing");
        assert!(!svg.contains("tiny") && svg.matches("<rect ").count() == MAX_ROWS);
        assert_eq!(drawn("a;s;lock;f 0"), None);
        let hostile = drawn("a;s;lock;<script>\u{202e} 5").expect("a drawing");
        assert!(!hostile.contains("<script>") && !hostile.contains('\u{202e}'));
    }

    #[test]
    fn of_many_boxes_the_widest_are_drawn() {
        let many = (0..900).map(|n| format!("a;s;lock;f{n:03} {}", 10_000 + n));
        let svg = drawn(&many.collect::<Vec<_>>().join("\n")).expect("a drawing");
        assert_eq!(svg.matches("<rect ").count(), MAX_BOXES);
        assert!(svg.contains("<title>f899: ") && !svg.contains("<title>f000: "));
        assert!(svg.contains("viewBox=\"0 0 1200 68\""), "four rows");
    }

    #[test]
    fn texts_fit_their_boxes() {
        assert_eq!(shortened("trans_commit", 6), "trans…");
        assert_eq!(shortened("fsync", 5), "fsync");
    }
}
