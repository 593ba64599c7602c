//! Tables with headers a screen reader can follow; wide ones scroll within themselves.

use crate::charts::escape;
use dbtime_model::record::CheckOutcome;
use std::fmt::Write;

/// A column heading; figures stand right.
pub(crate) enum HtmlHeading {
    Text(&'static str),
    Figure(&'static str),
}

/// One cell: its markup and its class.
pub(crate) struct HtmlCell {
    html: String,
    class: &'static str,
}

impl HtmlCell {
    /// Text of the record or of ours, escaped.
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self { html: escape(text.as_ref()), class: "" }
    }

    /// Markup made here.
    pub(crate) fn html(html: String) -> Self {
        Self { html, class: "" }
    }

    /// The same with a class.
    pub(crate) fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    /// `PASSED`, `FAILED` or `UNDECIDED`.
    pub(crate) fn verdict(outcome: CheckOutcome) -> Self {
        let class = if outcome == CheckOutcome::Passed { "good" } else { "bad" };
        Self::text(crate::facts::verdict(outcome)).class(class)
    }

    /// Nothing to show.
    pub(crate) fn none() -> Self {
        Self::text(crate::format::NONE).class("dim")
    }
}

/// A table in the making.
pub(crate) struct HtmlTable {
    out: String,
    heads: Vec<HtmlHeading>,
}

impl HtmlTable {
    /// A table; the caption says what it shows, and is empty where a heading does.
    pub(crate) fn new(caption: &str, heads: Vec<HtmlHeading>) -> Self {
        let caption = match caption {
            "" => String::new(),
            text => format!("<caption><span>{}</span></caption>", escape(text)),
        };
        let mut out = format!("<div class=\"scroll\" tabindex=\"0\"><table>{caption}<thead><tr>");
        for head in &heads {
            let (class, text) = match head {
                HtmlHeading::Text(text) => ("", text),
                HtmlHeading::Figure(text) => (" class=\"n\"", text),
            };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(text));
        }
        out.push_str("</tr></thead><tbody>");
        Self { out, heads }
    }

    /// A row; its first cell heads it.
    pub(crate) fn row(&mut self, cells: Vec<HtmlCell>) {
        debug_assert_eq!(cells.len(), self.heads.len());
        self.out.push_str("<tr>");
        for (index, (cell, head)) in cells.into_iter().zip(&self.heads).enumerate() {
            let figure = if matches!(head, HtmlHeading::Figure(_)) { "n " } else { "" };
            let class = format!("{figure}{}", cell.class);
            let class = match class.trim() {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            let (open, close) = if index == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
            let _ = write!(self.out, "<{open}{class}>{}</{close}>", cell.html);
        }
        self.out.push_str("</tr>");
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</tbody></table></div>\n");
        self.out
    }
}
