//! The page that sections write on: headings, facts, wrapped text and tables, with or without ANSI.

use super::COLUMNS;
use super::charset::Charset;
use super::table::ReportTable;
use crate::format::{first_lines, width, wrap};
use std::borrow::Cow;

/// What a piece of text means; the colour follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextRole {
    /// Ordinary.
    #[default]
    Plain,
    /// The figure to look at.
    Bold,
    /// Beside the point.
    Dim,
    /// As required.
    Good,
    /// Doubtful.
    Warn,
    /// Not as required, or not to be trusted.
    Bad,
}

impl TextRole {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "1;31",
        }
    }
}

/// What a page is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStyle {
    /// Whether to colour with ANSI escapes; nothing is told by colour alone.
    pub color: bool,
    /// No line is longer, but for commands, which are never broken within a word.
    pub columns: usize,
    /// The signs it is written with.
    pub charset: Charset,
}

impl Default for PageStyle {
    fn default() -> Self {
        Self { color: false, columns: COLUMNS, charset: Charset::Utf8 }
    }
}

impl PageStyle {
    /// The same for a terminal of so many columns, which a report follows from 72 to 120.
    #[must_use]
    pub fn within(self, columns: usize) -> Self {
        Self { columns: columns.clamp(MIN_COLUMNS, MAX_COLUMNS), ..self }
    }
}

/// Text in the making.
pub(crate) struct ReportPage {
    out: String,
    style: PageStyle,
    /// Whether a fact has its first lines alone.
    is_short: bool,
}

/// Tables have too little room in fewer columns than this.
const MIN_COLUMNS: usize = 72;

/// A bar of fewer columns than this shows nothing.
const MIN_BAR_COLUMNS: usize = 10;

/// Lines longer than this are read with effort.
const MAX_COLUMNS: usize = 120;

/// The column at which the text of a fact begins.
const FACT_COLUMNS: usize = 16;

/// A fact or a title of a short report has no more lines.
pub(crate) const SHORT_FACT_LINES: usize = 2;

impl ReportPage {
    /// An empty page.
    pub(crate) fn new(style: PageStyle) -> Self {
        Self { out: String::new(), style, is_short: false }
    }

    /// The same with the first lines of each fact alone.
    pub(crate) fn shortened(self) -> Self {
        Self { is_short: true, ..self }
    }

    /// How many columns there are.
    pub(crate) fn columns(&self) -> usize {
        self.style.columns
    }

    /// How long the longest bar is that would be `columns` long on a page of the usual width: what
    /// a narrower page lacks, bars lack, for a bar that is cut lies.
    fn bar_columns(&self, columns: usize) -> usize {
        let lacking = COLUMNS.saturating_sub(self.columns());
        columns.saturating_sub(lacking).max(MIN_BAR_COLUMNS)
    }

    /// `text` in signs that can be shown.
    fn spelled<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.style.charset.spelled(text)
    }

    /// `text` in its colour.
    pub(crate) fn paint(&self, text: &str, ink: TextRole) -> String {
        if self.style.color && ink != TextRole::Plain && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code())
        } else {
            text.to_owned()
        }
    }

    /// The lines of a text that there is room for.
    fn kept(&self, lines: Vec<String>, columns: usize, most: usize) -> Vec<String> {
        if self.is_short { first_lines(lines, columns, most) } else { lines }
    }

    /// One line as it stands.
    pub(crate) fn line(&mut self, line: &str) {
        // What a layout has cut since.
        let line = self.style.charset.spelled(line.trim_end());
        self.out.push_str(&line);
        self.out.push('\n');
    }

    /// What the page is about, at its top: in as many lines as it takes, of a short one in two.
    pub(crate) fn title(&mut self, text: &str) {
        let lines = wrap(&self.spelled(text), self.columns());
        for line in self.kept(lines, self.columns(), SHORT_FACT_LINES) {
            let line = self.paint(&line, TextRole::Bold);
            self.line(&line);
        }
    }

    /// A heading, with an empty line above.
    pub(crate) fn heading(&mut self, title: &str) {
        let title = self.paint(title, TextRole::Bold);
        self.line("");
        self.line(&title);
    }

    /// Running text, wrapped and indented.
    pub(crate) fn text(&mut self, text: &str, ink: TextRole) {
        self.text_within(usize::MAX, text, ink);
    }

    /// What must be known before any figure: in as many lines as it takes, on a short page in two.
    pub(crate) fn callout(&mut self, text: &str) {
        self.text_within(SHORT_FACT_LINES, text, TextRole::Bad);
    }

    /// Running text, which takes no more than so many lines of a short report.
    fn text_within(&mut self, most: usize, text: &str, ink: TextRole) {
        let room = self.columns() - 2;
        let lines = wrap(&self.spelled(text), room);
        for line in self.kept(lines, room, most) {
            let line = self.paint(&line, ink);
            self.line(&format!("  {line}"));
        }
    }

    /// A name and what there is to say about it, with a hanging indent.
    pub(crate) fn fact(&mut self, name: &str, text: &str, ink: TextRole) {
        self.fact_within(SHORT_FACT_LINES, name, text, ink);
    }

    /// The same, which takes no more than so many lines of a short report.
    pub(crate) fn fact_within(&mut self, most: usize, name: &str, text: &str, ink: TextRole) {
        let room = self.columns() - FACT_COLUMNS;
        // A name that goes beyond its column has a blank behind it all the same.
        let beyond = (width(name) + 3).saturating_sub(FACT_COLUMNS);
        if beyond > room / 2 {
            let name = self.paint(name, TextRole::Dim);
            self.line(&format!("  {name}"));
            return self.fact_within(most, "", text, ink);
        }
        // What stands in for that keeps the first line as short as there is room.
        let filled = format!("{}{}", "x".repeat(beyond), self.spelled(text));
        let lines = self.kept(wrap(&filled, room), room, most);
        for (index, line) in lines.into_iter().enumerate() {
            let (name, line) = match index {
                0 => (name, line.get(beyond..).unwrap_or_default()),
                _ => ("", line.as_str()),
            };
            let pad = " ".repeat(FACT_COLUMNS.saturating_sub(2 + width(name)).max(1));
            let (name, line) = (self.paint(name, TextRole::Dim), self.paint(line, ink));
            self.line(&format!("  {name}{pad}{line}"));
        }
    }

    /// A table with bars that there is room for, in signs that can be shown.
    fn fitted(&self, table: &ReportTable) -> ReportTable {
        let table = table.clone().barred(|columns| self.bar_columns(columns));
        table.spelled(|text| self.spelled(text).into_owned())
    }

    /// A name and a table beside it.
    pub(crate) fn fact_table(&mut self, name: &str, table: &ReportTable) {
        let table = self.fitted(table);
        let room = self.columns() - FACT_COLUMNS;
        for (index, line) in
            table.lines(room, |text, ink| self.paint(text, ink)).into_iter().enumerate()
        {
            let name = if index == 0 { name } else { "" };
            let pad = " ".repeat(FACT_COLUMNS.saturating_sub(2 + width(name)));
            let name = self.paint(name, TextRole::Dim);
            self.line(&format!("  {name}{pad}{line}"));
        }
    }

    /// A table, indented.
    pub(crate) fn table(&mut self, table: &ReportTable) {
        let table = self.fitted(table);
        for line in table.lines(self.columns() - 2, |text, ink| self.paint(text, ink)) {
            self.line(&format!("  {line}"));
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}
