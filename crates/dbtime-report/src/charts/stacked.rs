//! A stacked bar of parts that is as wide as the page, whatever that is.
//!
//! Widths are percentages, so labels keep their size on a phone; a segment that may have one is a
//! drawing of its own, so that a label can never run over its neighbour.

use super::svg::{escape, num};
use crate::format::{percent, signed_us, us};
use crate::means::PartMeans;
use dbtime_model::Part;
use std::fmt::Write;

/// How a bar is to be drawn.
pub(crate) struct StackedBar<'a> {
    pub(crate) means: &'a PartMeans,
    /// The value the full width stands for. Unit: microseconds.
    pub(crate) full_us: f64,
    /// Unit: pixels.
    pub(crate) height: u32,
    /// What it shows, for those who cannot see it.
    pub(crate) title: String,
    /// Whether segments carry their names.
    pub(crate) labels: SegmentLabels,
}

/// Whether segments carry their names where there is room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SegmentLabels {
    /// The bar is at least so many pixels wide on a page that is not narrow.
    Within(f64),
    Hidden,
}

/// The least width of a bar on a narrow page. Unit: pixels.
const PHONE_WIDTH: f64 = 300.0;

/// One bar. A negative `unexplained` has no room in it and stands in the figures only.
pub(crate) fn bar(bar: &StackedBar<'_>) -> String {
    let title = escape(&bar.title);
    let (means, height) = (bar.means, bar.height);
    let mut out = format!(
        "<svg class=\"bar\" width=\"100%\" height=\"{height}\" role=\"img\" aria-label=\"{title}\">\
         <title>{title}</title><desc>{}</desc>",
        escape(&described(means))
    );
    let full = if bar.full_us > 0.0 { bar.full_us } else { 1.0 };
    let mut from = 0.0;
    for (part, us) in means.present() {
        let width = us.max(0.0) / full * 100.0;
        if width <= 0.0 || from >= 100.0 {
            continue;
        }
        let width = width.min(100.0 - from);
        segment(&mut out, bar, part, (from, width));
        from += width;
    }
    out.push_str("</svg>");
    out
}

fn segment(out: &mut String, bar: &StackedBar<'_>, part: Part, (from, width): (f64, f64)) {
    let name = part.name();
    let figure = escape(&figure(bar.means, part));
    // Three digits: a segment of a thousandth of the page is still where it belongs.
    let place = format!("x=\"{from:.3}%\" width=\"{width:.3}%\" height=\"100%\"");
    let SegmentLabels::Within(room) = bar.labels else {
        // A page has hundreds of these.
        let _ = write!(
            out,
            "<rect class=\"part p-{name}\" {place}><title>{name} {figure}</title></rect>"
        );
        return;
    };
    let _ = write!(
        out,
        "<svg {place}><title>{name} {figure}: {}</title>\
         <rect class=\"part p-{name}\" width=\"100%\" height=\"100%\"/>",
        escape(part.meaning())
    );
    let columns = [room, PHONE_WIDTH].map(|room| (width / 100.0 * room - 12.0) / 7.6);
    label(out, part, &share(bar.means, part), columns, bar.height);
    out.push_str("</svg>");
}

/// The name and share if both fit, else the name, else nothing; apart for desk and phone.
fn label(out: &mut String, part: Part, share: &str, columns: [f64; 2], height: u32) {
    let long = format!("{} {share}", part.name());
    let y = num(f64::from(height) / 2.0 + 4.5);
    let fitting = |columns: f64| {
        let texts = [long.as_str(), part.name()];
        texts.into_iter().find(|text| text.chars().count() as f64 <= columns)
    };
    let [desk, phone] = columns.map(fitting);
    let mut write = |class: &str, text: &str| {
        let _ = write!(
            out,
            "<text class=\"in p-{}-ink {class}\" x=\"7\" y=\"{y}\">{text}</text>",
            part.name()
        );
    };
    match (desk, phone) {
        (Some(desk), Some(phone)) if desk == phone => write("", desk),
        (desk, phone) => {
            desk.into_iter().for_each(|text| write("desk", text));
            phone.into_iter().for_each(|text| write("phone", text));
        }
    }
}

fn share(means: &PartMeans, part: Part) -> String {
    means.share(part).map_or(String::new(), percent)
}

/// What the colours mean: every part that any of the bars shows.
pub(crate) fn legend<'a>(bars: impl Iterator<Item = &'a PartMeans>) -> String {
    let bars: Vec<_> = bars.collect();
    let mut out = String::from("<ul class=\"legend\">");
    for part in Part::ALL {
        if bars.iter().any(|means| means.get(part).is_some_and(|us| us > 0.0)) {
            let (name, meaning) = (part.name(), part.meaning());
            let _ = write!(
                out,
                "<li title=\"{}\"><i class=\"swatch p-{name}\" aria-hidden=\"true\"></i>\
                 {name}</li>",
                escape(meaning)
            );
        }
    }
    out.push_str("</ul>");
    out
}

/// A part's amount and share.
fn figure(means: &PartMeans, part: Part) -> String {
    let amount = means.get(part).unwrap_or(0.0);
    let amount = if part == Part::Unexplained { signed_us(amount) } else { us(amount) };
    format!("{amount} ({})", share(means, part))
}

/// All parts in words.
fn described(means: &PartMeans) -> String {
    let parts = means.present().into_iter();
    let parts: Vec<_> =
        parts.map(|(part, _)| format!("{} {}", part.name(), figure(means, part))).collect();
    format!("{} in all: {}", us(means.total), parts.join(", "))
}
