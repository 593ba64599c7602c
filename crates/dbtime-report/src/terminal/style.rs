//! The page that sections write on: headings, facts, wrapped text and tables, with or without ANSI.

use super::table::Table;
use super::{COLUMNS, TerminalOptions};
use crate::format::{width, wrap};

/// What a piece of text means; the colour follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ink {
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

impl Ink {
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

/// Text in the making.
pub(crate) struct Page {
    out: String,
    options: TerminalOptions,
}

/// The column at which the text of a fact begins.
const FACT: usize = 16;

impl Page {
    pub(crate) fn new(options: TerminalOptions) -> Self {
        Self { out: String::new(), options }
    }

    /// `text` in its colour.
    pub(crate) fn paint(&self, text: &str, ink: Ink) -> String {
        if self.options.color && ink != Ink::Plain && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code())
        } else {
            text.to_owned()
        }
    }

    /// Whether the reader asked for the server's threads.
    pub(crate) fn wants_threads(&self) -> bool {
        self.options.threads
    }

    /// Whether the reader asked for the histogram.
    pub(crate) fn wants_histogram(&self) -> bool {
        self.options.histogram
    }

    /// One line as it stands.
    pub(crate) fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// A heading, with an empty line above.
    pub(crate) fn heading(&mut self, title: &str) {
        let title = self.paint(title, Ink::Bold);
        self.line("");
        self.line(&title);
    }

    /// Running text, wrapped and indented.
    pub(crate) fn text(&mut self, text: &str, ink: Ink) {
        for line in wrap(text, COLUMNS - 2) {
            let line = self.paint(&line, ink);
            self.line(&format!("  {line}"));
        }
    }

    /// A name and what there is to say about it, with a hanging indent.
    pub(crate) fn fact(&mut self, name: &str, text: &str, ink: Ink) {
        for (index, line) in wrap(text, COLUMNS - FACT).into_iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let pad = " ".repeat(FACT.saturating_sub(2 + width(name)));
            let (name, line) = (self.paint(name, Ink::Dim), self.paint(&line, ink));
            self.line(&format!("  {name}{pad}{line}"));
        }
    }

    /// A table, indented.
    pub(crate) fn table(&mut self, table: &Table) {
        for line in table.lines(COLUMNS - 2, |text, ink| self.paint(text, ink)) {
            self.line(&format!("  {line}"));
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}
