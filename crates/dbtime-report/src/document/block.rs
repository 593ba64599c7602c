//! The blocks of a document, as data.

use crate::format::clean;
use crate::repeat;
use crate::terminal::{ReportTable, SHORT_FACT_LINES, TextCell, TextRole};

/// A piece of a document.
#[derive(Clone, Debug)]
pub(super) enum DocumentBlock {
    /// What the blocks behind it are about.
    Heading(String),
    /// Names, and what there is to say about each.
    Facts(Vec<DocumentFact>),
    /// A name, and a table beside it.
    FactTable {
        name: String,
        rows: ReportTable,
    },
    /// Running text.
    Paragraph {
        text: String,
        role: TextRole,
    },
    /// What must be known before any figure.
    Callout(String),
    /// Running text about all of it.
    Remark {
        text: String,
        role: TextRole,
    },
    /// Rows under headings.
    Table(DocumentTable),
    /// An empty line of text: what follows stands apart.
    Gap,
    Drawing(DocumentDrawing),
    /// What a page alone has: markup of our making.
    Markup(String),
    /// A command to be pasted into a shell.
    Command(DocumentCommand),
    /// Further blocks, which a page folds up.
    Folded(FoldedBlocks),
}

/// A name and what there is to say about it; without a name it goes on with the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentFact {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) role: TextRole,
    /// A short text has so many lines of it.
    pub(crate) short_lines: usize,
}

impl DocumentFact {
    pub(crate) fn new(name: &str, text: String) -> Self {
        let (name, short_lines) = (name.to_owned(), SHORT_FACT_LINES);
        Self { name, text, role: TextRole::Plain, short_lines }
    }

    /// The answer itself, or that there is none.
    pub(crate) fn verdict(name: &str, text: String) -> Self {
        Self { role: TextRole::Bold, ..Self::new(name, text) }
    }
}

/// A table, and how much of it is shown.
#[derive(Clone, Debug)]
pub(super) struct DocumentTable {
    /// What a page has above the headings.
    pub(super) caption: String,
    pub(super) rows: ReportTable,
    pub(super) limit: Option<RowLimit>,
}

impl DocumentTable {
    /// The table within its limit, and what stands below it.
    pub(super) fn limited(&self) -> (ReportTable, Option<&str>) {
        let limit = self.limit.as_ref().filter(|limit| limit.leaves_out(self.rows.height()));
        let Some(limit) = limit else { return (self.rows.clone(), None) };
        let mut rows = self.rows.first_rows(limit.most);
        match &limit.rest {
            RestOfRows::Text(text) => return (rows, Some(text)),
            RestOfRows::Cells(cells) => rows.row(cells.clone()),
            RestOfRows::LastRows(last, text) => {
                let all = &self.rows.rows;
                rows.rows.extend_from_slice(&all[all.len().saturating_sub(*last)..]);
                return (rows, Some(text));
            }
        }
        (rows, None)
    }
}

/// How many rows of a table text and Markdown show.
#[derive(Clone, Debug)]
pub(crate) struct RowLimit {
    /// So many.
    pub(crate) most: usize,
    /// What stands for the others.
    pub(crate) rest: RestOfRows,
}

impl RowLimit {
    /// Whether it leaves any of so many rows out.
    fn leaves_out(&self, height: usize) -> bool {
        let last = match &self.rest {
            RestOfRows::LastRows(last, _) => *last,
            RestOfRows::Cells(_) | RestOfRows::Text(_) => 0,
        };
        height > self.most.saturating_add(last)
    }

    pub(super) fn cleaned(self) -> Self {
        let rest = match self.rest {
            RestOfRows::Text(text) => RestOfRows::Text(clean(&text)),
            RestOfRows::LastRows(last, text) => RestOfRows::LastRows(last, clean(&text)),
            RestOfRows::Cells(cells) => {
                let cell = |cell: &TextCell| TextCell::new(clean(&cell.text), cell.ink);
                RestOfRows::Cells(cells.iter().map(cell).collect())
            }
        };
        Self { rest, ..self }
    }
}

/// What stands for the rows that are not shown.
#[derive(Clone, Debug)]
pub(crate) enum RestOfRows {
    /// A row of their sums.
    Cells(Vec<TextCell>),
    /// A sentence below the table.
    Text(String),
    /// So many of the last rows, which have one line each, and a sentence about the others.
    LastRows(usize, String),
}

/// What is drawn: of signs, or as charts where there can be any.
#[derive(Clone, Debug)]
pub(crate) struct DocumentDrawing {
    /// Above the lines.
    pub(crate) title: String,
    /// As they stand in a terminal; empty: it is a chart or nothing.
    pub(crate) lines: Vec<String>,
    /// Titles and SVG of our making, which a page has in place of the lines.
    pub(crate) charts: Vec<(String, String)>,
}

impl DocumentDrawing {
    pub(super) fn cleaned(self) -> Self {
        let lines = self.lines.iter().map(|line| clean(line)).collect();
        Self { title: clean(&self.title), lines, charts: self.charts }
    }
}

/// A command, below a heading.
#[derive(Clone, Debug)]
pub(super) struct DocumentCommand {
    pub(super) command: String,
    /// Where it was given.
    pub(super) folder: String,
}

impl DocumentCommand {
    /// Its lines, of at most `columns` columns but for longer words.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        repeat::command(&self.command, &self.folder, columns)
    }
}

/// Further blocks under a title of their own.
#[derive(Clone, Debug)]
pub(super) struct FoldedBlocks {
    pub(super) title: String,
    /// Whether a page shows them at once, and text at all.
    pub(super) open: bool,
    pub(super) blocks: Vec<DocumentBlock>,
}
