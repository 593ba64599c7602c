//! The blocks of a document, as data.

use crate::format::clean;
use crate::repeat;
use crate::terminal::{ReportTable, SHORT_FACT_LINES, TextCell, TextColumn, TextRole};
use std::iter::once;

/// A piece of a document.
#[derive(Clone, Debug)]
pub(super) enum DocumentBlock {
    /// What the blocks behind it are about.
    Heading(String),
    /// Names, and what there is to say about each.
    Facts(Vec<DocumentFact>),
    /// A name, and a table beside it.
    FactTable { name: String, rows: ReportTable },
    /// Running text.
    Paragraph { text: String, role: TextRole },
    /// What must be known before any figure.
    Callout(String),
    /// Running text about all of it.
    Remark { text: String, role: TextRole },
    /// Rows under headings.
    Table(DocumentTable),
    /// An empty line of text: what follows stands apart.
    Gap,
    /// Shares of a whole.
    Bars(DocumentBars),
    /// What is drawn.
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

/// Shares of a whole under headings: names, figures, and a bar for each.
#[derive(Clone, Debug)]
pub(crate) struct DocumentBars {
    /// Above the name and the figures.
    pub(crate) headings: Vec<&'static str>,
    pub(crate) rows: Vec<BarRow>,
    /// Columns of a bar of the whole in text.
    pub(crate) columns: usize,
}

impl DocumentBars {
    pub(super) fn cleaned(&self) -> Self {
        let row = |row: &BarRow| BarRow {
            name: clean(&row.name),
            figures: row.figures.iter().map(|text| clean(text)).collect(),
            share: row.share,
        };
        Self { rows: self.rows.iter().map(row).collect(), ..self.clone() }
    }

    /// The table in which a bar is of signs.
    pub(super) fn table(&self) -> ReportTable {
        let mut headings = self.headings.iter();
        let name = headings.next().copied().unwrap_or_default();
        let figures = headings.map(|heading| TextColumn::figure(heading));
        let columns = once(TextColumn::text(name)).chain(figures);
        let mut table = ReportTable::new(columns.chain(once(TextColumn::text(""))).collect());
        for row in &self.rows {
            let signs = |share: f64| (share * self.columns as f64).round() as usize;
            let bar = "█".repeat(row.filled().map_or(0, signs));
            let cells = once(row.name.clone()).chain(row.figures.iter().cloned());
            table.row(cells.chain(once(bar)).map(TextCell::from).collect());
        }
        table
    }
}

/// A line of bars.
#[derive(Clone, Debug)]
pub(crate) struct BarRow {
    pub(crate) name: String,
    /// As many as there are headings behind the first.
    pub(crate) figures: Vec<String>,
    /// Of the whole, 1 for all of it; `None`: without a bar.
    pub(crate) share: Option<f64>,
}

impl BarRow {
    /// How much of the bar is filled. Shape: from 0 to 1.
    pub(super) fn filled(&self) -> Option<f64> {
        self.share.filter(|share| share.is_finite()).map(|share| share.clamp(0.0, 1.0))
    }
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
