//! Tables with headers a screen reader can follow; wide ones scroll within themselves, long ones
//! show their first rows and open for the others.

use crate::charts::escape;
use crate::format::counted;
use dbtime_model::record::CheckOutcome;
use std::fmt::Write;

/// How many rows are shown at once.
const MAX_ROWS: usize = 20;

/// A column heading; figures stand right.
pub(crate) enum HtmlHeading<'a> {
    Text(&'a str),
    Figure(&'a str),
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
pub(crate) struct HtmlTable<'a> {
    /// The markup in front of the rows.
    begin: String,
    heads: Vec<HtmlHeading<'a>>,
    /// The markup of what stands above the row that is added next.
    above: String,
    /// The markup of each row.
    rows: Vec<String>,
    /// The first row of each group, and the markup of its name.
    groups: Vec<(usize, String)>,
    /// So many of the last rows are shown at once, whatever stands before them.
    last: usize,
}

impl<'a> HtmlTable<'a> {
    /// A table; the caption says what it shows, and is empty where a heading does.
    pub(crate) fn new(caption: &str, heads: Vec<HtmlHeading<'a>>) -> Self {
        let caption = match caption {
            "" => String::new(),
            text => format!("<caption><span>{}</span></caption>", escape(text)),
        };
        let mut begin = format!("<div class=\"scroll\" tabindex=\"0\"><table>{caption}<thead><tr>");
        for head in &heads {
            let (class, text) = match head {
                HtmlHeading::Text(text) => ("", text),
                HtmlHeading::Figure(text) => (" class=\"n\"", text),
            };
            let _ = write!(begin, "<th scope=\"col\"{class}>{}</th>", escape(text));
        }
        begin.push_str("</tr></thead><tbody>");
        Self { begin, heads, above: String::new(), rows: Vec::new(), groups: Vec::new(), last: 0 }
    }

    /// The same with so many of the last rows in view.
    pub(crate) fn keeping(self, last: usize) -> Self {
        Self { last, ..self }
    }

    /// A row; its first cell heads it.
    pub(crate) fn row(&mut self, cells: Vec<HtmlCell>) {
        let row = std::mem::take(&mut self.above) + &self.line(cells);
        self.rows.push(row);
    }

    /// A line that goes on with the row that was added last.
    pub(crate) fn more(&mut self, cells: Vec<HtmlCell>) {
        let line = self.line(cells);
        self.add_to_last(line);
    }

    fn line(&self, cells: Vec<HtmlCell>) -> String {
        debug_assert_eq!(cells.len(), self.heads.len());
        let mut row = "<tr>".to_owned();
        for (index, (cell, head)) in cells.into_iter().zip(&self.heads).enumerate() {
            let figure = if matches!(head, HtmlHeading::Figure(_)) { "n " } else { "" };
            let class = format!("{figure}{}", cell.class);
            let class = match class.trim() {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            let (open, close) = if index == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
            let _ = write!(row, "<{open}{class}>{}</{close}>", cell.html);
        }
        row + "</tr>"
    }

    /// Adds what all rows that are added next belong to, across all columns.
    pub(crate) fn group(&mut self, text: &str) {
        let span = self.span(text, "strong");
        self.above.push_str(&span);
        self.groups.push((self.rows.len(), span));
    }

    /// Adds what the row that is added next is about, across all columns.
    pub(crate) fn above(&mut self, text: &str, class: &'static str) {
        let span = self.span(text, class);
        self.above.push_str(&span);
    }

    /// Adds more of the row that was added last, across all columns.
    pub(crate) fn below(&mut self, text: &str, class: &'static str) {
        let span = self.span(text, class);
        self.add_to_last(span);
    }

    fn add_to_last(&mut self, markup: String) {
        match self.rows.last_mut() {
            Some(row) => row.push_str(&markup),
            None => self.rows.push(markup),
        }
    }

    fn span(&self, text: &str, class: &str) -> String {
        let (columns, text) = (self.heads.len(), escape(text));
        format!("<tr><td colspan=\"{columns}\" class=\"{class}\">{text}</td></tr>")
    }

    /// All of it; rows behind the first [`MAX_ROWS`] are a click away, but for the last that are
    /// kept in view.
    pub(crate) fn finish(self) -> String {
        let (rows, last) = self.rows.split_at(self.rows.len().saturating_sub(self.last));
        let (shown, others) = rows.split_at(rows.len().min(MAX_ROWS));
        let mut out = self.with("", &[shown, last].concat());
        if !others.is_empty() {
            // A group that goes on behind them is named again.
            let last = self.groups.iter().rfind(|(first, _)| *first <= shown.len());
            let again = last.filter(|(first, _)| *first < shown.len());
            let number = counted(others.len() as u64, "more row");
            let _ = writeln!(
                out,
                "<details><summary>{number}</summary>\n{}</details>",
                self.with(again.map_or("", |(_, name)| name.as_str()), others)
            );
        }
        out
    }

    fn with(&self, group: &str, rows: &[String]) -> String {
        format!("{}{group}{}</tbody></table></div>\n", self.begin, rows.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_above_and_below_a_row_goes_with_it() {
        let mut table = HtmlTable::new("", vec![HtmlHeading::Text("Name")]);
        for row in 0..=MAX_ROWS {
            table.above(&format!("above {row}"), "strong");
            table.row(vec![HtmlCell::text(row.to_string())]);
            table.below(&format!("<below {row}>"), "dim");
        }
        let page = table.finish();
        let (shown, others) = page.split_once("<summary>1 more row</summary>").expect("a part");
        assert!(!shown.contains("above 20") && shown.contains("&lt;below 19&gt;"), "{shown}");
        assert!(others.contains("<td colspan=\"1\" class=\"strong\">above 20</td>"), "{others}");
        assert!(others.contains("&lt;below 20&gt;"), "{others}");
    }

    #[test]
    fn the_last_rows_are_in_view_where_they_are_kept() {
        let mut table = HtmlTable::new("", vec![HtmlHeading::Text("Name")]);
        (0..MAX_ROWS + 3).for_each(|row| table.row(vec![HtmlCell::text(row.to_string())]));
        let page = table.keeping(1).finish();
        let (shown, others) = page.split_once("<summary>2 more rows</summary>").expect("a part");
        assert!(shown.contains(">19</th>") && shown.contains(">22</th>"), "{shown}");
        assert!(others.contains(">21</th>") && !others.contains(">22</th>"), "{others}");
    }

    #[test]
    fn a_group_that_is_parted_is_named_in_both_parts() {
        let of = |groups: &[usize]| {
            let mut table = HtmlTable::new("", vec![HtmlHeading::Text("Name")]);
            for (number, rows) in groups.iter().enumerate() {
                table.group(&format!("group {number}"));
                (0..*rows).for_each(|row| table.row(vec![HtmlCell::text(row.to_string())]));
            }
            let page = table.finish();
            let (shown, others) = page.split_once("<details>").expect("two parts");
            [shown, others].map(|part| ["group 0", "group 1"].map(|it| part.matches(it).count()))
        };
        assert_eq!(of(&[MAX_ROWS - 2, 5]), [[1, 1], [0, 1]]);
        assert_eq!(of(&[MAX_ROWS, 5]), [[1, 0], [0, 1]]);
        assert_eq!(of(&[MAX_ROWS + 1, 5]), [[1, 0], [1, 1]]);
    }

    #[test]
    fn a_long_table_opens_for_what_is_behind_its_first_rows() {
        let of = |rows: usize| {
            let mut table = HtmlTable::new("Numbers", vec![HtmlHeading::Figure("Number")]);
            (0..rows).for_each(|row| table.row(vec![HtmlCell::text(row.to_string())]));
            table.finish()
        };
        assert!(!of(MAX_ROWS).contains("<details>"));
        let long = of(MAX_ROWS + 2);
        let (shown, others) = long.split_once("<details>").expect("a part to open");
        assert!(shown.contains(">19</th>") && !shown.contains(">20</th>"), "{shown}");
        assert!(others.starts_with("<summary>2 more rows</summary>"), "{others}");
        assert!(others.contains(">20</th>") && others.contains("<caption>"), "{others}");
    }
}
