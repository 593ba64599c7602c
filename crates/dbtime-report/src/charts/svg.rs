//! Writing SVG: a handful of elements, every number finite, every text escaped.

use crate::format::{clean, finite};
use std::fmt::Write;

/// Text that can neither end an element nor an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate, to a tenth: never NaN, infinite or in exponent notation.
pub(crate) fn num(value: f64) -> String {
    let text = format!("{:.1}", finite(value).clamp(-1e6, 1e6));
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// A drawing with a fixed coordinate system that scales with the page.
pub(crate) struct Svg {
    out: String,
}

impl Svg {
    /// A drawing of `width` × `height`; `name` makes its ids, `title` and `description` tell it to
    /// those who cannot see it.
    pub(crate) fn new(name: &str, size: (f64, f64), title: &str, description: &str) -> Self {
        let (title, description) = (escape(title), escape(description));
        let (width, height) = (num(size.0), num(size.1));
        Self {
            out: format!(
                "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
                 aria-labelledby=\"{name}-title {name}-desc\">\
                 <title id=\"{name}-title\">{title}</title>\
                 <desc id=\"{name}-desc\">{description}</desc>"
            ),
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(num);
        self.push(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    pub(crate) fn text(&mut self, at: (f64, f64), anchor: TextAnchor, class: &str, text: &str) {
        let anchor = match anchor {
            TextAnchor::Start => "start",
            TextAnchor::Middle => "middle",
            TextAnchor::End => "end",
        };
        let (x, y, text) = (num(at.0), num(at.1), escape(text));
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// A rectangle; a `tip` is shown while the pointer rests on it.
    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), class: &str, tip: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0.max(0.0), size.1.max(0.0)].map(num);
        let tip =
            if tip.is_empty() { String::new() } else { format!("<title>{}</title>", escape(tip)) };
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\">{tip}</rect>"
        ));
    }

    /// A line through the points, broken at every `None`; a single point becomes a dot.
    pub(crate) fn path(&mut self, points: &[Option<(f64, f64)>], class: &str) {
        let mut d = String::new();
        for run in points.split(Option::is_none) {
            for (index, (x, y)) in run.iter().flatten().enumerate() {
                let _ = write!(d, "{}{} {}", if index == 0 { 'M' } else { 'L' }, num(*x), num(*y));
            }
            if let [Some((x, y))] = run {
                // A path of one point is invisible, one of no length with round ends is a dot.
                let _ = write!(d, "L{} {}", num(*x), num(*y));
            }
        }
        self.push(format_args!("<path class=\"line {class}\" d=\"{d}\"/>"));
    }

    /// An outlined diamond around a point.
    pub(crate) fn diamond(&mut self, at: (f64, f64), size: f64, class: &str) {
        let half = size / 2.0;
        let corners = [(0.0, -half), (half, 0.0), (0.0, half), (-half, 0.0), (0.0, -half)];
        self.path(&corners.map(|(right, down)| Some((at.0 + right, at.1 + down))), class);
    }

    /// The area between two lines, given by `(x, lower, upper)`.
    pub(crate) fn area(&mut self, points: &[(f64, f64, f64)], class: &str) {
        if points.is_empty() {
            return;
        }
        let upper = points.iter().map(|(x, _, y)| (x, y));
        let lower = points.iter().rev().map(|(x, y, _)| (x, y));
        let mut d = String::new();
        for (index, (x, y)) in upper.chain(lower).enumerate() {
            let _ = write!(d, "{}{} {}", if index == 0 { 'M' } else { 'L' }, num(*x), num(*y));
        }
        self.push(format_args!("<path class=\"{class}\" d=\"{d}Z\"/>"));
    }

    /// A closed shape; `path` is of numbers made by [`num`].
    pub(crate) fn filled(&mut self, path: &str, class: &str) {
        self.push(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        self.out.write_fmt(element).expect("writing to memory");
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>");
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_always_finite_and_plain() {
        let shown = [1.0, 1.26, f64::NAN, f64::INFINITY, 1e300, -0.04].map(num);
        assert_eq!(shown, ["1", "1.3", "0", "0", "1000000", "-0"]);
    }

    #[test]
    fn nothing_in_a_text_ends_an_element() {
        assert_eq!(escape("<a href='x'>&\"\u{7}"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}");
    }
}
